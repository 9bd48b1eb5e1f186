"""Measurements of accuracy and speed; each module is a program, run from the repository's root."""
