"""What a solver needs to know of a law: a curve p ↦ (λ, w) on which everything is explicit.

For a law ν on [0, ∞) let w(λ) = ∫ x/(x+λ) dν. Every law of the package has an explicit parametrisation

    λ(p) = C ∏_a (1 − w(p)/a) / s(p),      (laws.curve)

with w and s rational in p. The half-axis λ > 0 is 0 < p < p_end, λ falling from ∞ to 0, and the upper half-plane of
z = −λ is part of the upper half-plane of p.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
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


def _log_product(factors: Array) -> Array:
    """log of the product over the first axis, in pairs: four factors of 1e-75 would underflow together."""
    pairs = [factors[index : index + 2].prod(0) for index in range(0, len(factors), 2)]
    with np.errstate(divide="ignore"):  # −∞ at the ends of the curve
        return sum((np.log(pair) for pair in pairs[1:]), start=np.log(pairs[0]))


class SpectralCurve(ABC):
    """A curve (laws.curve): subclasses give w, s and their derivatives; see the module's text."""

    p_end: float
    block = 50_000  # points solved together where there may be millions: it bounds the memory
    unique_above: bool = False  # whether every root in the upper half-plane is on the physical branch

    def __init__(self, log_constant: float, widths: Sequence[float], w_max: float | None = None) -> None:
        self.log_constant = log_constant
        self.widths = tuple(float(a) for a in widths)
        self.w_max = min(self.widths) if w_max is None else w_max
        self._spare = np.array([a - self.w_max for a in self.widths])
        self._log_factor = log_constant - float(np.log(self.widths).sum())

    @property
    def hard_edge_order(self) -> int:
        """g with density ∝ x^{−1+1/g} at 0: the number of widths equal to the smallest; 1 if there is a gap."""
        return sum(a == self.w_max for a in self.widths)

    @abstractmethod
    def w(self, p: Array, distance: Array) -> Array:
        """w(p); ``distance`` is p_end − p, kept apart because it cancels near the end."""

    @abstractmethod
    def w_slope(self, p: Array, distance: Array) -> Array:
        """dw/dp."""

    @abstractmethod
    def w_curvature(self, p: Array, distance: Array) -> Array:
        """d²w/dp²."""

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
    def scale_log_curvature(self, p: Array, distance: Array, unit: Array | float = 1.0) -> Array:
        """d²log s/dp² times unit²."""

    @abstractmethod
    def potential_argument(self, p: Array, distance: Array) -> Array:
        """Im(Λ − log s) on the closed upper half-plane, where Λ = ∫ w dlog s from p = 0; 0 on (0, p_end)."""

    @abstractmethod
    def potential_deficit(self, p: Array, distance: Array) -> Array:
        """Im(w_max log s − Λ) on the closed upper half-plane, to relative precision next to p_end."""

    @abstractmethod
    def precise(self) -> Any:
        """The same curve in mpmath, at the working precision of the moment: a PreciseCurve of laws.precise_curves."""

    @abstractmethod
    def expression(self) -> Any:
        """The law as an expression of free probability: a Node of :mod:`rmt_attention.free.nodes`."""

    @abstractmethod
    def cumulant_series(self, order: int) -> tuple[Array, tuple[float, ...], float]:
        """Coefficients of u(ζ) = Σ u_j ζ^j, j = 1 … order, and the widths b with z = C ∏_b (1 + u/b)/ζ. (laws.moments)

        Given are u_j/unit^j, the widths and log unit; the unit keeps them from overflow. All are positive, so moments
        built from them lose nothing. C is that of (laws.curve).
        """

    @abstractmethod
    def critical_points(self) -> tuple[Array, Array]:
        """p and p_end − p at the zeros of dlog λ/dp, real and (except where unique_above) complex. (laws.edges)"""

    def log_curvature(self, p: Array, distance: Array, unit: Array | float = 1.0) -> Array:
        """d²log λ/dp² times unit²; where dlog λ/dp = 0 the second derivative in τ if the unit is dp/dτ."""
        margins = self.margins(p, distance)
        slope = self.w_slope(p, distance) * unit
        bend = self.w_curvature(p, distance) * unit * unit * (1 / margins).sum(0)
        bend = bend + ((slope / margins) ** 2).sum(0)
        return -bend - self.scale_log_curvature(p, distance, unit)

    def margins(self, p: Array, distance: Array) -> Array:
        """a − w for every width a, without cancellation."""
        return self.w_gap(p, distance) + self._spare.reshape((-1,) + (1,) * p.ndim)

    def rest(self, p: Array, distance: Array) -> Array:
        """1 − p."""
        return 1 - p

    def log_ridge(self, p: Array, distance: Array) -> Array:
        """log λ(p); for complex p the imaginary part is right up to a multiple of 2π."""
        return self._log_factor + _log_product(self.margins(p, distance)) - self.log_scale(p, distance)

    def log_ridge_and_slope(self, p: Array, distance: Array) -> tuple[Array, Array]:
        """log λ(p), as above, and dlog λ/dp."""
        margins = self.margins(p, distance)
        value = self._log_factor + _log_product(margins) - self.log_scale(p, distance)
        slope = -self.w_slope(p, distance) * (1 / margins).sum(0) - self.scale_log_slope(p, distance)
        return value, slope

    def rounding(self, p: Array, distance: Array) -> Array:
        """Rounding error to expect of log λ(p): of the logarithms it is made of."""
        margins = np.abs(np.log(np.abs(self.margins(p, distance)))).sum(0)
        sizes = 1 + abs(self._log_factor) + margins + np.abs(self.log_scale(p, distance))
        return np.asarray(4 * np.finfo(float).eps * sizes)

    def upper_mass(self, p: Array, distance: Array) -> Array:
        """ν((x, ∞)) at the parameter of x from above, by the logarithmic potential. (laws.cdf)

        U(z) = ∫ log(z − x) dν = Σ_a [−w + (1−a) log(1−w/a)] − log s + Λ + constant, and Im U(x + i0) = π ν((x, ∞)).
        """
        w = self.w(p, distance)
        imaginary = np.full(p.shape, np.pi)
        for a, margin in zip(self.widths, self.margins(p, distance), strict=True):
            imaginary = imaginary - w.imag + (1 - a) * argument_below(margin)
        return (imaginary + self.potential_argument(p, distance)) / np.pi

    def lower_mass(self, p: Array, distance: Array) -> Array:
        """ν((0, x]) there, to relative precision where it is small at the bottom of the support. (laws.cdf-below)"""
        margins = self.margins(p, distance)
        spare = np.broadcast_to(self._spare.reshape((-1,) + (1,) * p.ndim), margins.shape)
        turned = (spare * argument_below(margins)).sum(0)
        total = self.potential_deficit(p, distance) + turned - len(self.widths) * self.w_gap(p, distance).imag
        return np.asarray(total / np.pi)


class RationalCurve(SpectralCurve):
    """A curve whose critical points are the roots of one polynomial of moderate degree."""

    @abstractmethod
    def critical_roots(self, p: Array, distance: Array) -> Array:
        """Zeros of dlog λ/dp in a variable y, for p and p_end − p given as polynomials in y, highest power first."""

    def critical_points(self) -> tuple[Array, Array]:
        """All zeros of dlog λ/dp, real and complex. (laws.edges)

        Roots of a polynomial are accurate where its variable is small. Two small scales occur: near p_end when widths
        nearly agree, and near 0 when γ_K is small; so both centres are used, each for the roots nearer to it, and
        Newton steps on dlog λ/dp itself finish.
        """
        end = self.p_end
        from_zero = end * self.critical_roots(np.array([end, 0.0]), np.array([-end, end]))
        from_end = end * self.critical_roots(np.array([-end, end]), np.array([end, 0.0]))
        outer = from_zero[np.abs(from_zero) <= np.abs(end - from_zero)]
        inner = from_end[np.abs(from_end) < np.abs(end - from_end)]
        p = np.concatenate([outer, end - inner]).astype(complex)
        distance = np.concatenate([end - outer, inner]).astype(complex)
        centred = np.arange(p.size) < outer.size
        with np.errstate(all="ignore"):
            for _ in range(3):
                step = self.log_ridge_and_slope(p, distance)[1] / self.log_curvature(p, distance)
                small = np.abs(step) < 1e-3 * np.minimum(np.abs(p), np.abs(distance))
                step = np.where(small, step, 0.0)
                p = np.where(centred, p - step, end - (distance + step))
                distance = np.where(centred, end - p, distance + step)
        return p, distance
