"""Plain numpy: eigenvalues of companion matrices of the law's polynomial at every x, all in one batch.

The root with the largest imaginary part counts as the physical one. There are no edges and no atoms.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

PACKAGES = ("numpy",)
SETTINGS: list[dict[str, Any]] = [{"settings": {}}]


def roots(polynomials: np.ndarray) -> np.ndarray:
    """All roots of polynomials with real coefficients, highest power first, one a row."""
    monic = polynomials / polynomials[:, :1]
    degree = monic.shape[1] - 1
    matrices = np.zeros((monic.shape[0], degree, degree))
    matrices[:, 0, :] = -monic[:, 1:]
    matrices[:, np.arange(1, degree), np.arange(degree - 1)] = 1.0
    return np.linalg.eigvals(matrices)


def solve(law: dict[str, Any], x: np.ndarray) -> tuple[np.ndarray, None]:
    """Densities at x."""
    if law["kind"] == "atoms":  # x = −1/u + y Σ w t/(1 + t u), density Im u/(π y)
        (y,) = law["variances"]
        factors = [np.array([t, 1.0]) for t in law["locations"]]
        whole = reduce(np.polymul, factors)
        rest = np.zeros(1)
        for i, (t, w) in enumerate(zip(law["locations"], law["weights"], strict=True)):
            rest = np.polyadd(rest, y * w * t * reduce(np.polymul, factors[:i] + factors[i + 1 :], np.ones(1)))
        constant = np.polysub(np.polymul([1.0, 0.0], rest), whole)
        constant = np.concatenate([np.zeros(whole.size + 1 - constant.size), constant])
        slope = np.append(-whole, 0.0)
        return roots(constant + x[:, None] * slope).imag.max(1) / (np.pi * y), None
    constant = reduce(np.polymul, [np.array([y, 1.0]) for y in law["variances"]], np.ones(2))
    slope = np.zeros(constant.size)  # (1 + ψ) ∏ (1 + y ψ) = x ψ, density |Im ψ|/(π x)
    slope[-2] = -1.0
    return roots(constant + x[:, None] * slope).imag.max(1) / (np.pi * x), None
