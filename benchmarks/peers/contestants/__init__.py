"""One module per contestant of the benchmark of laws; each imports its package and numpy only and is run by serve.py.

A module has ``PACKAGES``, the distributions whose versions count; ``solve(law, x, **settings)``, which builds the law
and answers with its densities at x and its support, None if it finds none; and ``SETTINGS``, the accuracies that it
offers, each with how many points to ask for where they are slow. A package that keeps results between calls has
``forget()``, which is called before the clock starts.
"""
