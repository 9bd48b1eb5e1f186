"""The law object: everything a user asks of a limiting law, answered from its curve."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import ConvergenceError
from ..solvers.axis import AxisNet
from ..solvers.continuation import continue_to_angle
from ..solvers.critical import CriticalValues
from ..solvers.curve import SpectralCurve
from ..solvers.quadrature import LONGEST_BLIND, LONGEST_PANEL, support_nodes
from ..solvers.quantile import invert_cdf
from ..solvers.real_root import solve_ridge
from ..solvers.support import Interval, support_intervals
from ..spectra import Atom, check_numbers

__all__ = ["SpectralLaw"]


class SpectralLaw:
    """A limiting law ν of squared singular values on [0, ∞).

    Given by a curve p ↦ (λ, w) on which w(λ) = ∫ x/(x+λ) dν is explicit (derivations/02-explicit-laws.md). Everything
    below is exact up to rounding: no smoothing of the density, no quadrature in the cdf. Build one with
    :func:`rmt_attention.limit_law`, :func:`rmt_attention.conditional_law` or a function of
    :mod:`rmt_attention.laws`.

    Methods raise ValueError on NaN or a negative ridge and :class:`rmt_attention.ConvergenceError` if the branch of a
    point cannot be proved.
    """

    def __init__(self, curve: SpectralCurve, name: str, scale: float = 1.0) -> None:
        self._curve = curve
        self._scale = scale
        self.name = name

    def __repr__(self) -> str:
        return f"<SpectralLaw {self.name}: mean {self.mean:.6g}>"

    # Algebraic quantities --------------------------------------------------------------------------------------------

    @cached_property
    def mean(self) -> float:
        """First moment."""
        return self.moment(1)

    def moment(self, k: int) -> float:
        """∫ x^k dν for an integer 0 ≤ k ≤ 60, by Lagrange inversion; every term is positive. (laws.moments)"""
        if isinstance(k, bool) or k not in range(61):
            raise ValueError(f"k={k!r}: must be an integer from 0 to 60")
        k = int(k)
        if k == 0:
            return 1.0
        series, widths = self._curve.cumulant_series(k)
        # m_k = (1/k) [ζ^{k−1}] u'(ζ) (C ∏(1 + u/b))^k.
        product = np.zeros(k)
        product[0] = 1.0
        shifted = np.concatenate([[0.0], series])[:k]
        for width in widths:
            factor = shifted / width
            factor[0] += 1
            product = np.convolve(product, factor)[:k]
        power = np.zeros(k)
        power[0] = 1.0
        for _ in range(k):
            power = np.convolve(power, product)[:k]
        derivative = series * np.arange(1, k + 1)
        coefficient = float(np.convolve(derivative, power)[k - 1]) / k
        return coefficient * float(np.exp(k * self._curve.log_constant)) * self._scale**k

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """The atom at 0, of mass 1 − w(0⁺), if there is one."""
        mass = 1 - self._curve.w_max
        return (Atom(0.0, mass),) if mass > 0 else ()

    # The real axis λ > 0 ---------------------------------------------------------------------------------------------

    def degrees_of_freedom(self, ridge: ArrayLike) -> NDArray[np.float64]:
        """w(λ) = ∫ x/(x+λ) dν for λ ≥ 0, the effective degrees of freedom per token; w(0) = 1 − mass at 0.

        Same shape as ``ridge``. w = 1 + λ G(−λ).
        """
        penalty = check_numbers("ridge", ridge, minimum=0.0) / self._scale
        nothing = penalty < np.finfo(float).tiny  # w differs from its limit by less than rounding long before
        result = np.where(nothing, self._curve.w_max, 0.0)
        inside = ~nothing & np.isfinite(penalty)
        if inside.any():
            result[inside] = solve_ridge(self._curve, penalty[inside]).w
        return result

    # The spectrum ----------------------------------------------------------------------------------------------------

    @cached_property
    def _critical(self) -> CriticalValues:
        return CriticalValues.of(self._curve)

    @cached_property
    def support(self) -> tuple[tuple[float, float], ...]:
        """Closed intervals that carry the absolutely continuous part, ascending; atoms are not part of it.

        Intervals closer to each other than 1e-9 in log x count as touching and are given as one.
        """
        joined: list[tuple[float, float]] = []
        for low, high in self._pieces:
            if joined and joined[-1][1] == low:
                low = joined.pop()[0]
            joined.append((low, high))
        return tuple(joined)

    @cached_property
    def _intervals(self) -> tuple[Interval, ...]:
        intervals = support_intervals(self._curve, self._critical)
        lowest, highest = intervals[0].low, intervals[-1].high
        ends = [(highest.log_x + 1, 0.0)] + ([] if lowest is None else [(lowest.log_x - 1, self._curve.w_max)])
        outside = continue_to_angle(
            self._curve, np.array([log for log, _ in ends]), np.full(len(ends), -np.pi), self._critical
        )
        mass = self._curve.upper_mass(outside.p, outside.distance)
        lost = float(np.abs(mass - [expected for _, expected in ends]).max())
        if not lost < 1e-9:
            raise ConvergenceError(
                f"{self.name}: mass {lost:.3g} lies outside the edges found; the ratios are too extreme for double"
                " precision",
                result=intervals,
            )
        return intervals

    @cached_property
    def _pieces(self) -> tuple[tuple[float, float], ...]:
        """Ends of the intervals, touching ones apart."""
        return tuple(
            (0.0 if one.low is None else one.low.x * self._scale, one.high.x * self._scale) for one in self._intervals
        )

    @cached_property
    def _nets(self) -> tuple[AxisNet, ...]:
        return tuple(AxisNet(self._curve, one, self._critical) for one in self._intervals)

    @property
    def edges(self) -> tuple[float, ...]:
        """Ends of the support intervals other than 0, ascending; the last is the top edge."""
        return tuple(end for interval in self.support for end in interval if end > 0)

    def density(self, x: ArrayLike) -> NDArray[np.float64]:
        """Density of the absolutely continuous part, −Im G(x + i0)/π; it integrates to 1 − the atom's mass.

        0 outside the support and at its edges; inf at x = 0 when the support starts there.
        """
        points = check_numbers("x", x)
        result = np.zeros(points.shape)
        for (low, high), net in zip(self._pieces, self._nets, strict=True):
            inside = (points > low) & (points < high)
            if inside.any():
                root = net.solve(np.log(points[inside] / self._scale))
                result[inside] = np.maximum(root.w_imag, 0.0) / (np.pi * points[inside])
        if self.support[0][0] == 0:
            result[points == 0] = np.inf
        return result

    def cdf(self, x: ArrayLike) -> NDArray[np.float64]:
        """ν([0, x]), right-continuous, the atom included.

        Closed form: π ν((x, ∞)) is the imaginary part of the logarithmic potential at x + i0. (laws.cdf)
        """
        points = check_numbers("x", x)
        atom = 1 - self._curve.w_max
        result = np.where(points < 0, 0.0, np.where(points >= self.support[-1][1], 1.0, atom))
        for (low, high), net in zip(self._pieces, self._nets, strict=True):
            inside = (points > low) & (points < high)
            if inside.any():
                root = net.solve(np.log(points[inside] / self._scale))
                result[inside] = np.clip(1 - self._curve.upper_mass(root.p, root.distance), atom, 1.0)
        for ((_, low), (high, _)), level in zip(pairwise(self._pieces), self._gap_levels, strict=True):
            result[(points >= low) & (points <= high)] = level
        return result

    @cached_property
    def _gap_levels(self) -> NDArray[np.float64]:
        """cdf in each gap between two intervals, or where they touch."""
        # Next to a point where intervals touch F differs from its value there by (1e-9)^{4/3}.
        middles = [
            np.sqrt(low * high) if low < high else low * (1 - 1e-9) for (_, low), (high, _) in pairwise(self._pieces)
        ]
        if not middles:
            return np.zeros(0)
        root = self._on_axis(np.array(middles))
        return 1 - self._curve.upper_mass(root.p, root.distance)

    def quantile(self, q: ArrayLike) -> NDArray[np.float64]:
        """Smallest x with cdf(x) ≥ q, for 0 ≤ q ≤ 1: 0 up to the mass of the atom, the top edge at 1. (laws.cdf)

        On a gap the left edge. q = 0 gives the smallest point of the law.
        """
        levels = check_numbers("q", q, minimum=0.0)
        if (levels > 1).any():
            raise ValueError(f"q={float(levels[levels > 1].flat[0])!r}: must be in [0, 1]")
        atom = 1 - self._curve.w_max
        result = np.zeros(levels.shape)
        starts = self.cdf(np.array([low for low, _ in self._pieces]))
        stops = np.append(starts[1:], 1.0)
        for (_, high), net, start, stop in zip(self._pieces, self._nets, starts, stops, strict=True):
            inside = (levels > start) & (levels < stop)
            result[levels >= stop] = high
            if inside.any():
                result[inside] = np.exp(invert_cdf(self._curve, net, levels[inside])) * self._scale
        if not atom > 0:
            result[levels == 0] = self._pieces[0][0]
        return result

    def sample(self, size: int | tuple[int, ...], rng: np.random.Generator) -> NDArray[np.float64]:
        """Independent draws from the law, atoms included, by exact inversion of the cdf."""
        if not isinstance(rng, np.random.Generator):
            raise ValueError(f"rng={rng!r}: must be a numpy Generator")
        return self.quantile(rng.random(size))

    def expectation(self, function: Callable[[NDArray[np.float64]], ArrayLike]) -> float:
        """∫ f dν, atoms included, for a vectorised function that is smooth on (0, ∞) and finite at 0. (laws.quadrature)

        Double-exponential rules on each interval of the support: square-root edges, densities that diverge at 0 and
        gaps about to close are no exception. Panels are halved until the mass, which is known, comes out to 1e-11, or
        ConvergenceError is raised. For functions as smooth as x/(x+λ) or x² the relative error is then about as small.
        """
        longest = LONGEST_BLIND if self._curve.unique_above else LONGEST_PANEL
        for _ in range(8):
            parts = [
                (logs, weights * net.solve(logs).w_imag / np.pi)
                for interval, net in zip(self._intervals, self._nets, strict=True)
                for logs, weights in [support_nodes(interval, self._critical, longest)]
            ]
            missing = abs(sum(float(weights.sum()) for _, weights in parts) - self._curve.w_max)
            if missing < 1e-11:
                break
            longest /= 2
        else:
            raise ConvergenceError(f"{self.name}: quadrature leaves a mass of {missing:.3g}", result=parts)
        total = sum(atom.mass * float(np.asarray(function(np.array([atom.location])))[0]) for atom in self.atoms)
        for logs, weights in parts:
            total += float((np.asarray(function(np.exp(logs) * self._scale)) * weights).sum())
        return total

    def _on_axis(self, points: NDArray[np.float64]):  # type: ignore[no-untyped-def]
        logs = np.log(points / self._scale)
        return continue_to_angle(self._curve, logs, np.full(logs.shape, -np.pi), self._critical)

    def cauchy(self, z: ArrayLike) -> NDArray[np.complex128]:
        """G(z) = ∫ dν/(z − x) for z ≠ 0; on the support the limit from above, so that density = −Im G/π."""
        points = np.asarray(z, dtype=complex)
        if np.isnan(points).any():
            raise ValueError(f"z={complex(points[np.isnan(points)].flat[0])!r}: must not be NaN")
        if (points == 0).any():
            raise ValueError("z=0: must be nonzero; see atoms and degrees_of_freedom for the behaviour at 0")
        finite = np.isfinite(points)
        if not finite.all():
            result = np.zeros(points.shape, dtype=complex)
            result[finite] = self.cauchy(points[finite])
            return result
        flat = (points / self._scale).ravel()
        upper = np.where(flat.imag < 0, flat.conj(), flat)
        angle = np.where(upper.imag == 0, np.where(upper.real > 0, -np.pi, 0.0), np.angle(upper) - np.pi)
        root = continue_to_angle(self._curve, np.log(np.abs(upper)), angle, self._critical)
        values = (1 - root.w) / upper
        values = np.where(flat.imag < 0, values.conj(), values)
        return np.asarray(values / self._scale, dtype=complex).reshape(points.shape)

    # New laws from this one ------------------------------------------------------------------------------------------

    def scaled(self, factor: float) -> SpectralLaw:
        """Law of factor·x, factor > 0."""
        if not 0 < factor < np.inf:
            raise ValueError(f"factor={factor!r}: must be finite and > 0")
        return SpectralLaw(self._curve, f"{factor:g} × {self.name}", self._scale * factor)

    def normalized(self) -> SpectralLaw:
        """Law of x/mean, of mean one."""
        return SpectralLaw(self._curve, f"mean-one {self.name}", self._scale / self.mean)
