"""Statistical tests over replicates: Student-t intervals of stated false-alarm probability, extrapolation in 1/n.

The replicate is the sample unit; eigenvalues of one matrix are rigid and never treated as a sample. Tests that use this
module draw with seed 0, chosen once and never searched for. A test with k comparisons at false-alarm probability p
fails by chance with probability at most k·p.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

FALSE_ALARM = 1e-4
"""Probability that one comparison fails although nothing is wrong: the 99.99 % interval."""


@dataclass(frozen=True)
class Measured:
    """An estimate with its standard error and the degrees of freedom behind that error."""

    value: float
    error: float
    degrees: float

    def half_width(self, false_alarm: float = FALSE_ALARM) -> float:
        """Half-width of the two-sided Student-t interval that misses the truth with this probability."""
        return float(stdtrit(self.degrees, 1 - false_alarm / 2)) * self.error

    def agrees_with(self, expected: float, false_alarm: float = FALSE_ALARM) -> bool:
        """Whether the interval contains a number."""
        return abs(self.value - expected) <= self.half_width(false_alarm)

    def __sub__(self, other: Measured) -> Measured:
        """Difference of independent estimates (Welch)."""
        return combine((1.0, -1.0), (self, other))

    def __str__(self) -> str:
        return f"{self.value:.6g} ± {self.error:.2g}"


def mean(values: ArrayLike) -> Measured:
    """Mean of independent replicates."""
    array = np.asarray(values, dtype=float).ravel()
    return Measured(float(array.mean()), float(array.std(ddof=1)) / math.sqrt(array.size), array.size - 1)


def combine(factors: Sequence[float], parts: Sequence[Measured]) -> Measured:
    """Σ factor·part of independent estimates, with the degrees of freedom of Welch and Satterthwaite."""
    variances = [(factor * part.error) ** 2 for factor, part in zip(factors, parts, strict=True)]
    total = sum(variances)
    spread = sum(variance**2 / part.degrees for variance, part in zip(variances, parts, strict=True))
    value = sum(factor * part.value for factor, part in zip(factors, parts, strict=True))
    return Measured(value, math.sqrt(total), total**2 / spread if spread else math.inf)


def extrapolate(sizes: Sequence[int], parts: Sequence[Measured]) -> tuple[Measured, Measured]:
    """Value at 1/n = 0 and slope in 1/n of the weighted least-squares line through independent estimates."""
    design = np.stack([np.ones(len(sizes)), 1 / np.asarray(sizes, dtype=float)], axis=1)
    weights = np.array([part.error**-2 for part in parts])
    solution = np.linalg.solve(design.T @ (weights[:, None] * design), design.T * weights)
    return combine(solution[0], parts), combine(solution[1], parts)
