"""rmtool (Rao and Edelman's polynomial method): roots of the law's polynomial, candidates for edges.

An interval between two candidates belongs to the support where the density found in it is positive.
"""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Any

import numpy as np
import rmtool
from sympy import Rational
from sympy.core.cache import clear_cache

PACKAGES = ("rmtool", "sympy", "numpy")
SETTINGS: list[dict[str, Any]] = [{"settings": {}}]

warnings.filterwarnings("ignore", message="All roots returned")


def forget() -> None:
    """What sympy remembers, about a quarter of the time in the first task, a tenth in the second."""
    clear_cache()


def exact(value: float) -> Rational:
    """The decimal number that was meant: floats would come in as fractions of large numbers."""
    return Rational(str(value))


def solve(law: dict[str, Any], x: np.ndarray) -> tuple[np.ndarray, Any]:
    """Densities at x and the support."""
    *others, last = law["variances"]
    if law["kind"] == "atoms":
        start = rmtool.atomLmz([exact(t) for t in law["locations"]], [exact(w) for w in law["weights"]])
    else:
        start = rmtool.wishartpol(exact(others.pop(0)))
    for variance in (*others, last):
        start = rmtool.AtimesWish(start, exact(variance))
    found = rmtool.Lmz2pdf(start, x)
    density = found.best_density()
    support: list[list[float]] = []
    for low, high in pairwise(np.unique(found.multipleroots)):
        inside = density[(x > low) & (x < high)]
        if inside.size and np.median(inside) > 0:
            if support and support[-1][1] == low:
                support[-1][1] = high
            else:
                support.append([low, high])
    return density, support
