"""Roots of increasing functions on an array of brackets."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .curve import Array


def bisect(increasing: Callable[[Array], Array], low: Array, high: Array) -> Array:
    """Zeros of an increasing function in [low, high], by halving until the ends are neighbouring doubles.

    Poles at the ends are allowed: only values strictly inside are asked for.
    """
    low, high = np.array(low, dtype=float), np.array(high, dtype=float)
    while low.size:
        middle = low + (high - low) / 2
        moving = (middle > low) & (middle < high)
        if not moving.any():
            break
        below = np.zeros(low.shape, dtype=bool)
        below[moving] = increasing(middle[moving]) < 0
        low, high = np.where(moving & below, middle, low), np.where(moving & ~below, middle, high)
    return low
