"""The cdf of a limiting law at many points: one table, then interpolation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..laws import SpectralLaw

_NODES = 257  # per interval, to begin with
_TOLERANCE = 1e-9
_ROUNDS = 12

Array = NDArray[np.float64]


class TabulatedCdf:
    """F(x) of a law to 1e-8, from F and its exact derivative at nodes that crowd at the edges.

    On an interval [a, b] of the support x = a + (b−a) sin⁴(φ/2), or b sin⁸(φ/2) if a = 0. F is smooth in φ, at
    square-root edges and also where the density diverges at 0 like x^{−1+1/k}, k ≤ 4, and flat at both ends. Between
    nodes F is a cubic; a cell is halved for as long as the cubic misses F at its middle, next to a gap that is about
    to open for instance.
    """

    def __init__(self, law: SpectralLaw) -> None:
        self._pieces = [(low, high, *self._table(law, low, high)) for low, high in law.support]

    def _table(self, law: SpectralLaw, low: float, high: float) -> tuple[Array, Array, Array]:
        angle = np.linspace(0, np.pi, _NODES)
        value, slope = self._evaluate(law, low, high, angle)
        fresh = np.arange(_NODES - 1)  # cells whose middle has not been tried
        for _ in range(_ROUNDS):
            middle = (angle[fresh] + angle[fresh + 1]) / 2
            found, found_slope = self._evaluate(law, low, high, middle)
            # the halves of a cell will be 16 times better than the cell
            poor = np.abs(_cubic(angle, value, slope, fresh, middle) - found) > 16 * _TOLERANCE
            order = np.argsort(np.concatenate([angle, middle]), kind="stable")
            angle = np.concatenate([angle, middle])[order]
            value = np.concatenate([value, found])[order]
            slope = np.concatenate([slope, found_slope])[order]
            if not poor.any():
                break
            start = np.searchsorted(angle, middle[poor])
            fresh = np.unique(np.concatenate([start - 1, start]))
        return angle, value, slope

    @staticmethod
    def _power(low: float) -> int:
        return 8 if low == 0 else 4

    def _evaluate(self, law: SpectralLaw, low: float, high: float, angle: Array) -> tuple[Array, Array]:
        """F and dF/dφ."""
        power = self._power(low)
        sine, cosine = np.sin(angle / 2), np.cos(angle / 2)
        x = np.where(angle >= np.pi, high, low + (high - low) * sine**power)
        slope = np.zeros(angle.shape)
        inner = (angle > 0) & (angle < np.pi)
        stretch = (high - low) * power / 2 * sine[inner] ** (power - 1) * cosine[inner]
        slope[inner] = law.density(x[inner]) * stretch
        return law.cdf(x), slope

    def ends(self) -> Array:
        """Ends of the support intervals."""
        return np.array([end for low, high, *_ in self._pieces for end in (low, high)])

    def __call__(self, x: Array) -> Array:
        """F(x); x below the first interval gets the atom at 0 (0 for x < 0)."""
        result = np.where(x < 0, 0.0, self._pieces[0][3][0])
        for low, high, angle, value, slope in self._pieces:
            share = np.clip((x - low) / (high - low), 0.0, 1.0)
            at = 2 * np.arcsin(share ** (1 / self._power(low)))
            cell = np.clip(np.searchsorted(angle, at, side="right") - 1, 0, angle.size - 2)
            result = np.where((x >= low) & (x >= 0), _cubic(angle, value, slope, cell, at), result)
        return result


def _cubic(angle: Array, value: Array, slope: Array, cell: NDArray[np.int64], at: Array) -> Array:
    """Cubic Hermite interpolation in the given cells."""
    step = angle[cell + 1] - angle[cell]
    t = (at - angle[cell]) / step
    left, right = value[cell], value[cell + 1]
    smooth = t * t * (3 - 2 * t)
    return left + smooth * (right - left) + t * (1 - t) * step * ((1 - t) * slope[cell] - t * slope[cell + 1])
