"""Declarative definitions of the experiments that the command line runs."""
