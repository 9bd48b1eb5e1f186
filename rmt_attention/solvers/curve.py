"""What a solver needs to know of a law: a curve p ↦ (λ, w) on which everything is explicit.

For a law ν on [0, ∞) let w(λ) = ∫ x/(x+λ) dν. Every law of the package has an explicit parametrisation

    λ(p) = C ∏_a (1 − w(p)/a) / s(p),      (laws.curve)

with w and s rational in p. The half-axis λ > 0 is 0 < p < p_end, λ falling from ∞ to 0, and the upper half-plane of
z = −λ is part of the upper half-plane of p.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def argument_above(value: Array) -> Array:
    """arg in [0, π] of numbers in the closed upper half-plane, a negative real number counting as its limit."""
    return np.arctan2(np.abs(value.imag), value.real)


def argument_below(value: Array) -> Array:
    """arg in [−π, 0] of numbers in the closed lower half-plane."""
    return -np.arctan2(np.abs(value.imag), value.real)


@dataclass(frozen=True)
class CurvePoint:
    """Values on the curve at an array of parameters."""

    w: Array
    margins: Array  # a − w for each width a, first axis over widths
    log_slope: Array  # dlog λ/dp


class SpectralCurve(ABC):
    """A curve (laws.curve): subclasses give w, s and their derivatives; see the module's text."""

    log_constant: float
    widths: tuple[float, ...]
    w_max: float
    p_end: float
    unique_above: bool = False  # whether every root in the upper half-plane is on the physical branch

    @abstractmethod
    def w(self, p: Array, distance: Array) -> Array:
        """w(p); ``distance`` is p_end − p, kept apart because it cancels near the end."""

    @abstractmethod
    def w_slope(self, p: Array, distance: Array) -> Array:
        """dw/dp."""

    @abstractmethod
    def w_gap(self, p: Array, distance: Array) -> Array:
        """w_max − w(p)."""

    @abstractmethod
    def log_scale(self, p: Array, distance: Array) -> Array:
        """log s(p), for complex p up to a multiple of 2πi."""

    @abstractmethod
    def scale_log_slope(self, p: Array, distance: Array) -> Array:
        """dlog s/dp."""

    @abstractmethod
    def potential_argument(self, p: Array, distance: Array) -> Array:
        """Im(Λ − log s) on the closed upper half-plane, where Λ = ∫ w dlog s from p = 0; 0 on (0, p_end)."""

    @abstractmethod
    def cumulant_series(self, order: int) -> tuple[Array, tuple[float, ...]]:
        """Coefficients m_1 … m_order of u(ζ) = Σ m_k ζ^k and the widths b, where z = C ∏_b (1 + u/b)/ζ. (laws.moments)

        All coefficients are positive, so moments built from them lose nothing. C is that of (laws.curve).
        """

    @abstractmethod
    def critical_parameters(self) -> Array:
        """Parameters at which dλ/dp = 0, real and complex, possibly with spurious ones."""

    def point(self, p: Array, distance: Array) -> CurvePoint:
        """w, the margins a − w and dlog λ/dp at p."""
        margins = self._margins(p, distance)
        slope = -self.w_slope(p, distance) * (1 / margins).sum(0) - self.scale_log_slope(p, distance)
        return CurvePoint(self.w(p, distance), margins, slope)

    def _margins(self, p: Array, distance: Array) -> Array:
        spare = np.array([a - self.w_max for a in self.widths])
        return self.w_gap(p, distance) + spare.reshape((-1,) + (1,) * p.ndim)

    def log_ridge(self, p: Array, distance: Array) -> Array:
        """log λ(p); for complex p the imaginary part is right up to a multiple of 2π."""
        widths = np.array(self.widths).reshape((-1,) + (1,) * p.ndim)
        logs = np.log(self._margins(p, distance) / widths).sum(0)
        return self.log_constant + logs - self.log_scale(p, distance)

    def upper_mass(self, p: Array, distance: Array) -> Array:
        """ν((x, ∞)) at the parameter of x from above, by the logarithmic potential. (laws.cdf)

        U(z) = ∫ log(z − x) dν = Σ_a [−w + (1−a) log(1−w/a)] − log s + Λ + constant, and Im U(x + i0) = π ν((x, ∞)).
        """
        w = self.w(p, distance)
        imaginary = np.full(p.shape, np.pi)
        for a, margin in zip(self.widths, self._margins(p, distance), strict=True):
            imaginary = imaginary - w.imag + (1 - a) * argument_below(margin)
        return (imaginary + self.potential_argument(p, distance)) / np.pi
