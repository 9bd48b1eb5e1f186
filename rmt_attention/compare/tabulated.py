"""The cdf of a limiting law at many points: one table, then interpolation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..laws import SpectralLaw

_NODES = 513  # per interval; cubic Hermite in the angle below


class TabulatedCdf:
    """F(x) of a law, from F and its exact derivative at nodes that crowd at the edges.

    On an interval [a, b] of the support x = a + (b−a) sin⁴(φ/2), or b sin⁸(φ/2) if a = 0. F is smooth in φ, at
    square-root edges and also where the density diverges at 0 like x^{−1+1/k}, k ≤ 4, and flat at both ends.
    """

    def __init__(self, law: SpectralLaw) -> None:
        self._intervals = [(low, high, 8 if low == 0 else 4) for low, high in law.support]
        self._angle = np.linspace(0, np.pi, _NODES)
        self._values, self._slopes = [], []
        for low, high, power in self._intervals:
            sine, cosine = np.sin(self._angle[1:-1] / 2), np.cos(self._angle[1:-1] / 2)
            x = low + (high - low) * sine**power
            slope = law.density(x) * (high - low) * power / 2 * sine ** (power - 1) * cosine
            ends = law.cdf(np.array([low, high]))
            self._values.append(np.concatenate([ends[:1], law.cdf(x), ends[1:]]))
            self._slopes.append(np.concatenate([[0.0], slope, [0.0]]))

    def ends(self) -> NDArray[np.float64]:
        """Ends of the support intervals."""
        return np.array([end for low, high, _ in self._intervals for end in (low, high)])

    def __call__(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """F(x); x below the first interval gets the atom at 0 (0 for x < 0)."""
        result = np.where(x < 0, 0.0, self._values[0][0])
        step = self._angle[1]
        for (low, high, power), values, slopes in zip(self._intervals, self._values, self._slopes, strict=True):
            share = np.clip((x - low) / (high - low), 0.0, 1.0)
            angle = 2 * np.arcsin(share ** (1 / power))
            cell = np.minimum((angle / step).astype(int), _NODES - 2)
            t = angle / step - cell
            left, right = values[cell], values[cell + 1]
            bend_left, bend_right = step * slopes[cell], step * slopes[cell + 1]
            smooth = t * t * (3 - 2 * t)
            inside = left + smooth * (right - left) + t * (1 - t) * ((1 - t) * bend_left - t * bend_right)
            result = np.where(x >= low, np.where(x < 0, 0.0, inside), result)
        return result
