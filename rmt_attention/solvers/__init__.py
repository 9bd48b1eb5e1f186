"""Loops that solve the equations: real root, continuation in the complex plane, support."""
