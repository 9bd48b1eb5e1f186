"""Integrals against a law by a rule that can be refined until two of its values agree."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import ConvergenceError
from ..spectra import check_values, shown

__all__ = ["refined_integral"]

_LEVELS, _AGREEMENT = 6, 1e-10  # steps are halved at most 5 times, until two values agree to this share of ∫ |f|

Rule = Callable[[int], tuple[NDArray[np.float64], NDArray[np.float64]]]


def refined_integral(rule: Rule, function: Callable[[NDArray[np.float64]], ArrayLike], name: str) -> float:
    """Σ weight · f(x) over points and weights of ``rule(level)``, the first that agrees with the level before.

    ValueError unless f is a vectorised function, finite at all points; ConvergenceError if no two levels agree.
    """
    if not callable(function):
        raise ValueError(f"function={shown(function)}: must be a function of an array of x")
    previous = math.nan
    for level in range(_LEVELS):
        x, weights = rule(level)
        terms = check_values("function", function(x), x) * weights
        value = float(terms.sum())
        if abs(value - previous) <= _AGREEMENT * float(np.abs(terms).sum()):
            return value
        change, previous = abs(value - previous), value
    raise ConvergenceError(
        f"{name}: ∫ f still changes by {change:.3g} with {x.size} points; f must be smooth on the support: split it at"
        " jumps and kinks, or sum over quantiles",
        result=value,
    )
