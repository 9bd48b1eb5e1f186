"""The law object: everything a user asks of a limiting law, answered from its curve."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import ConvergenceError
from ..free.algebra import affine, part
from ..free.free_law import FreeLaw
from ..solvers.continuation import ComplexRoot
from ..solvers.curve import SpectralCurve
from ..solvers.integral import refined_integral
from ..solvers.quantile import invert_cdf
from ..solvers.real_root import LARGEST_RESIDUAL, solve_ridge
from ..spectra import (
    Atom,
    check_complex,
    check_draws,
    check_levels,
    check_numbers,
    check_order,
    check_positive,
)
from .moments import curve_moment
from .singular_values import SingularValueLaw
from .solution import Solution
from .spectrum import CurveSpectrum

if TYPE_CHECKING:
    from .gradients import LawGradients
    from .precise import PreciseLaw

__all__ = ["SpectralLaw"]


_SMALLEST, _LARGEST = math.log(sys.float_info.min), math.log(sys.float_info.max)
_LOW = 0.5  # levels of the cdf below which it is summed from the bottom
_NOTHING = 600.0  # w differs from its limit by less than rounding at λ = C exp(−600), whatever the order of the tie


class SpectralLaw:
    """A limiting law ν of squared singular values on [0, ∞).

    Given by a curve p ↦ (λ, w) on which w(λ) = ∫ x/(x+λ) dν is explicit (derivations/02-explicit-laws.md). Everything
    below is exact up to rounding: no smoothing of the density, no quadrature in the cdf. Build one with
    :func:`rmt_attention.limit_law`, :func:`rmt_attention.conditional_law` or a function of
    :mod:`rmt_attention.laws`.

    Methods raise ValueError on NaN or a negative ridge and :class:`rmt_attention.ConvergenceError` if the branch of a
    point cannot be proved.
    """

    def __init__(
        self,
        curve: SpectralCurve,
        name: str,
        *,
        factor: float = 1.0,
        mean_one: bool = False,
        ratio: float = 1.0,
        family: tuple[str, tuple[float, ...]] | None = None,
    ) -> None:
        # Off 0, ν is the law of the curve over ``ratio``, x times ``factor`` and over the mean of ν if ``mean_one``.
        if not 0 < curve.p_end < math.inf:
            raise ConvergenceError(
                f"{name}: the parameter at λ = 0 comes out as {curve.p_end:.6g}; the ratios are too extreme for double"
                " precision",
                result=curve.p_end,
            )
        self._curve = curve
        self._spectrum = CurveSpectrum(curve, name)
        self._factor, self._mean_one, self._ratio = factor, mean_one, ratio
        self._family = family  # name and values of the parameters in laws.families
        self._scale = factor / (curve_moment(curve, 1) / ratio) if mean_one else factor
        self._mass = min(curve.w_max / ratio, 1.0)  # off 0
        self.name = name

    def __repr__(self) -> str:
        return f"<SpectralLaw {self.name}: mean {self.mean:.6g}>"

    # Algebraic quantities --------------------------------------------------------------------------------------------

    @cached_property
    def mean(self) -> float:
        """First moment."""
        return self.moment(1)

    def moment(self, k: int) -> float:
        """∫ x^k dν for an integer 0 ≤ k ≤ 60, by Lagrange inversion; every term is positive. (laws.moments)

        inf if it exceeds the largest double.
        """
        order = check_order(k, 60)
        return 1.0 if order == 0 else curve_moment(self._curve, order, math.log(self._scale)) / self._ratio

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """The atom at 0, of mass 1 − w(0⁺), if there is one."""
        return (Atom(0.0, 1 - self._mass),) if self._mass < 1 else ()

    @property
    def hard_edge_order(self) -> int:
        """g with f(x) ∝ x^{−1+1/g} as x → 0: how many widths equal the smallest; 1 if the support starts above 0."""
        return self._curve.hard_edge_order

    # The real axis λ > 0 ---------------------------------------------------------------------------------------------

    def degrees_of_freedom(self, ridge: ArrayLike) -> NDArray[np.float64]:
        """w(λ) = ∫ x/(x+λ) dν for λ ≥ 0, the effective degrees of freedom per token; w(0) = 1 − mass at 0.

        Same shape as ``ridge``. w = 1 + λ G(−λ).
        """
        penalty = self._own_units(check_numbers("ridge", ridge, minimum=0.0))
        with np.errstate(divide="ignore"):
            nothing = np.log(penalty) < self._curve.log_constant - _NOTHING
        result = np.where(nothing, self._mass, 0.0)
        inside = ~nothing & np.isfinite(penalty)
        if inside.any():
            result[inside] = solve_ridge(self._curve, penalty[inside]).w / self._ratio
        return np.minimum(result, self._mass)

    def _own_units(self, ridge: NDArray[np.float64]) -> NDArray[np.float64]:
        with np.errstate(over="ignore"):  # inf: w = 0 long before
            return ridge / self._scale

    def complement(self, ridge: ArrayLike) -> NDArray[np.float64]:
        """1 − w(λ)/w(0) for λ ≥ 0, to full relative precision however small λ is.

        For a compound law whose total rate is within 4 ε of 1, and so counts as 1, it is that of rate 1.
        """
        penalty = self._own_units(check_numbers("ridge", ridge, minimum=0.0))
        result = np.where(np.isinf(penalty), 1.0, 0.0)
        inside = (penalty > 0) & np.isfinite(penalty)
        if inside.any():
            solved = np.maximum(penalty[inside], sys.float_info.min)  # margins multiply to nothing below
            below = (penalty[inside] / solved) ** (1 / self.hard_edge_order)
            result[inside] = solve_ridge(self._curve, solved).gap / self._curve.w_max * below
        return result

    # The spectrum ----------------------------------------------------------------------------------------------------

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
    def _pieces(self) -> tuple[tuple[float, float], ...]:
        """Ends of the intervals, touching ones apart."""
        intervals = self._spectrum.intervals
        extreme = [edge.log_x + math.log(self._scale) for one in intervals for edge in (one.low, one.high) if edge]
        if not min(extreme) >= _SMALLEST or not max(extreme) <= _LARGEST:
            raise ConvergenceError(
                f"{self.name}: edges from exp({min(extreme):.6g}) to exp({max(extreme):.6g}) leave double precision",
                result=intervals,
            )
        return tuple(
            (0.0 if one.low is None else one.low.x * self._scale, one.high.x * self._scale) for one in intervals
        )

    def _inside(self, points: NDArray[np.float64]) -> NDArray[np.int64]:
        """Index of the interval in whose interior a point lies, −1 elsewhere."""
        index = np.full(points.shape, -1)
        for number, (low, high) in enumerate(self._pieces):
            index[(points > low) & (points < high)] = number
        return index

    def _axis_root(self, points: NDArray[np.float64], index: NDArray[np.int64]) -> ComplexRoot:
        return self._spectrum.root(np.log(points / self._scale), np.full(points.shape, -np.pi), index)

    @property
    def edges(self) -> tuple[float, ...]:
        """Ends of the support intervals other than 0, ascending; the last is the top edge."""
        return tuple(end for interval in self.support for end in interval if end > 0)

    def critical_parameters(self) -> tuple[NDArray[np.float64], ...]:
        """At every edge, ascending: p where dλ/dp = 0, 1 − p, a − w for every width a of the curve, and w or NaN.

        w is for edges next to p_end: it, not p, has to stay if the law changes, for small margins to keep their digits.
        """
        intervals = self._spectrum.intervals
        ends = [end for one in intervals for end in (one.low, one.high) if end is not None and not end.pinched]
        p, distance = np.array([end.p for end in ends]), np.array([end.distance for end in ends])
        margins = self._curve.margins(p, distance)
        close = np.abs(margins).min(0) < 0.1 * self._curve.w_max
        w = np.where(close, self._curve.w(p, distance), np.nan)
        return p, self._curve.rest(p, distance), margins, w

    def density(self, x: ArrayLike) -> NDArray[np.float64]:
        """Density of the absolutely continuous part, −Im G(x + i0)/π; it integrates to 1 − the atom's mass.

        0 outside the support and at its edges; inf at x = 0 when the support starts there.
        """
        points = check_numbers("x", x)
        result = np.zeros(points.shape)
        index = self._inside(points)
        inside = index >= 0
        if inside.any():
            root = self._axis_root(points[inside], index[inside])
            result[inside] = np.maximum(root.w_imag, 0.0) / self._ratio / np.pi / points[inside]
        if self.support[0][0] == 0:
            result[points == 0] = np.inf
        return result

    def cdf(self, x: ArrayLike) -> NDArray[np.float64]:
        """ν([0, x]), right-continuous, the atom included.

        Closed form: π ν((x, ∞)) is the imaginary part of the logarithmic potential at x + i0; small values where the
        support starts at 0 have their digits too. (laws.cdf) (laws.cdf-below)
        """
        points = check_numbers("x", x)
        atom = 1 - self._mass
        result = np.where(points < 0, 0.0, np.where(points >= self.support[-1][1], 1.0, atom))
        for ((_, low), (high, _)), mass in zip(pairwise(self._pieces), self._spectrum.gap_masses, strict=True):
            result[(points >= low) & (points <= high)] = 1 - mass / self._ratio
        index = self._inside(points)
        inside = index >= 0
        if inside.any():
            root = self._axis_root(points[inside], index[inside])
            below = 1 - self._curve.upper_mass(root.p, root.distance) / self._ratio
            lower = atom + self._curve.lower_mass(root.p, root.distance) / self._ratio
            result[inside] = np.clip(np.where((index[inside] == 0) & (below < _LOW), lower, below), atom, 1.0)
        return result

    def quantile(self, q: ArrayLike) -> NDArray[np.float64]:
        """Smallest x with cdf(x) ≥ q, for 0 ≤ q ≤ 1: 0 up to the mass of the atom, the top edge at 1. (laws.cdf)

        On a gap the left edge. q = 0 gives the smallest point of the law.
        """
        levels = check_levels(q)
        result = np.zeros(levels.shape)
        starts = self.cdf(np.array([low for low, _ in self._pieces]))
        stops = np.append(starts[1:], 1.0)
        pieces = zip(self._pieces, self._spectrum.nets, starts, stops, strict=True)
        for number, ((_, high), net, start, stop) in enumerate(pieces):
            inside = (levels > start) & (levels < stop)
            result[levels >= stop] = high
            rows = np.flatnonzero(inside)
            for first in range(0, rows.size, self._curve.block):
                part = rows[first : first + self._curve.block]
                mass = (levels.flat[part] - (1 - self._mass)) * self._ratio
                result.flat[part] = np.exp(invert_cdf(self._curve, net, mass, lowest=number == 0)) * self._scale
        if not self.atoms:
            result[levels == 0] = self._pieces[0][0]
        return result

    def sample(self, size: int | Sequence[int] | None, rng: np.random.Generator) -> NDArray[np.float64]:
        """Independent draws from the law, atoms included, by exact inversion of the cdf."""
        check_draws(size, rng)
        return self.quantile(rng.random(size))

    def expectation(self, function: Callable[[NDArray[np.float64]], ArrayLike]) -> float:
        """∫ f dν, atoms included, for a vectorised function that is smooth on (0, ∞) and finite at 0. (laws.quadrature)

        Double-exponential rules on each interval of the support: square-root edges, densities that diverge at 0 and
        gaps about to close are no exception. Panels are halved until each agrees with every other of its nodes, and the
        mass, which is known, has to come out to 1e-11 of all, or ConvergenceError is raised. The integral is taken with
        half the steps as well, and halved again, until two agree to 1e-10 of ∫ |f| dν; the error of the last, which is
        returned, is then about the square of that. ConvergenceError if none do: f has jumps, kinks or turns too fast.
        """
        return refined_integral(self._quadrature, function, self.name)

    @cached_property
    def quadrature(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Points x and weights with ∫ f dν ≈ Σ weight · f(x), the atom a point of its own.

        Right to rounding for functions as smooth in log x as x² or x/(x+λ), at any λ; :meth:`expectation` tells.
        """
        return self._quadrature(0)

    def _quadrature(self, level: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        logs, masses = self._spectrum.quadrature(level)
        x = np.append([atom.location for atom in self.atoms], np.exp(logs) * self._scale)
        return x, np.append([atom.mass for atom in self.atoms], masses / self._ratio)

    def cauchy(self, z: ArrayLike) -> NDArray[np.complex128]:
        """G(z) = ∫ dν/(z − x) for z ≠ 0; on the support the limit from above, so that density = −Im G/π."""
        points = check_complex("z", z)
        result = np.zeros(points.shape, dtype=complex)
        finite = np.isfinite(points)
        if finite.any():
            root = self._root(points[finite])
            # 1 − w as the atom plus what w lacks of its largest value: nothing cancels as z → 0
            gap = self._curve.w_gap(root.p, root.distance) / self._ratio
            result[finite] = (1 - self._mass + gap) / 4 / (points[finite] / 4)  # |z|² does not overflow
        return result

    def solve(self, z: ArrayLike) -> Solution:
        """w = ∫ x/(x − z) dν at z ≠ 0 with residual, error estimate and proof of the branch. (laws.branch)

        On the positive axis the limit from above. λ = −z: negative z are ridges. Im w/(πz) is the density.
        """
        points = check_complex("z", z)
        if np.isinf(points).any():
            raise ValueError(f"z={complex(points[np.isinf(points)].flat[0])!r}: must be finite")
        flat = points.ravel()
        root = self._root(flat)
        spread = root.residual + self._curve.rounding(root.p, root.distance)  # of log λ
        slope = self._curve.log_ridge_and_slope(root.p, root.distance)[1]
        with np.errstate(divide="ignore"):  # at an edge
            rate = np.abs(self._curve.w_slope(root.p, root.distance) / slope)
        carried = rate * spread / self._ratio
        x = np.where((flat.imag == 0) & (flat.real > 0), flat.real, np.nan)
        w = root.w / self._ratio
        w_imag = np.maximum(root.w_imag, 0.0) / self._ratio
        rounding = 4 * np.finfo(float).eps
        return Solution(
            z=points,
            w=np.asarray(w, dtype=complex).reshape(points.shape),
            density=(w_imag / np.pi / x).reshape(points.shape),
            residual=root.residual.reshape(points.shape),
            error=(carried + rounding * np.abs(w)).reshape(points.shape),
            density_error=((carried + rounding * w_imag) / np.pi / x).reshape(points.shape),
            disc=root.disc.reshape(points.shape),
            steps=root.steps,
            status="converged: every residual is "
            + ("at rounding level" if root.residual.max(initial=0.0) < LARGEST_RESIDUAL else "below 1e-9")
            + " and "
            + ("every root is proved" if not np.isnan(root.disc).any() else "every root off the edges is proved")
            + " to be the branch",
        )

    def _root(self, z: NDArray[np.complex128]) -> ComplexRoot:
        """The branch at a vector of finite z ≠ 0: by the nets on the spectrum, by continuation elsewhere."""
        with np.errstate(divide="ignore", over="ignore"):
            logs = np.log(np.abs(z) / self._scale)
        outside = ~((logs >= _SMALLEST) & (logs <= _LARGEST))
        if outside.any():
            raise ConvergenceError(
                f"{self.name}: z={complex(z[outside][0])!r} is beyond double precision in units of the law's scale",
                result=z,
            )
        angle = -np.abs(np.angle(-z))
        spectrum = (z.imag == 0) & (z.real > 0)
        index = np.full(z.shape, -1)
        if spectrum.any():
            angle[spectrum] = -np.pi
            index[spectrum] = self._inside(z.real[spectrum])
        root = self._spectrum.root(logs, angle, index)
        below, gap = z.imag < 0, spectrum & (index < 0)

        def settled(value: NDArray[np.complex128]) -> NDArray[np.complex128]:
            return np.where(gap, value.real, np.where(below, value.conj(), value))

        return replace(
            root,
            p=settled(root.p),
            distance=settled(root.distance),
            w=settled(root.w),
            w_imag=np.where(gap, 0.0, root.w_imag),
        )

    # Other precision -------------------------------------------------------------------------------------------------

    def precise(self, digits: int = 40) -> PreciseLaw:
        """The same law to any number of digits in mpmath, by another route to the branch. (laws.precise)

        Parameters of the law count as the doubles they are, except that a total rate within 4 ε of 1 of a compound law
        is 1. Methods of the result take one number at a time.

        Examples
        --------
        >>> from rmt_attention.laws import attention_law
        >>> print(attention_law(1.0, 1, 1.0).precise(30).edges[-1])
        9.00954255037540866803013653193
        """
        from .precise import PreciseLaw

        return PreciseLaw(
            self._curve, self.name, digits, factor=self._factor, mean_one=self._mean_one, ratio=self._ratio
        )

    @cached_property
    def gradients(self) -> LawGradients:
        """Derivatives of w, edges and moments in β and every ratio. (laws.gradients)

        Examples
        --------
        >>> from rmt_attention.laws import output_law
        >>> slopes = output_law(1.0, 12, 0.75, 0.75, 1.0).gradients.degrees_of_freedom(0.1)
        >>> {name: round(float(slope), 6) for name, slope in slopes.items()}
        {'beta': 0.303339, 'heads': 0.000335, 'gamma_key': 0.021851, 'gamma_value': 0.341303, 'gamma_out': 0.187363}
        """
        from .gradients import LawGradients

        if self._family is None:
            raise ValueError(f"{self.name}: has no β and ratios to differentiate in")
        return LawGradients(self, *self._family)

    def expression(self) -> FreeLaw:
        """The same law as an expression of free probability, to be combined with others.

        With ρ the free Poisson law of jump θ2/γ_K and rate γ_K shifted by θ1 − θ2, laws of values independent of keys
        are C ρ ⊠ MP_{1/h} ⊠ MP_{1/γ_V} ⊠ MP_{1/γ_O}, those of values tied to keys C π(μ_KV, h) ⊠ MP_{1/γ_O}, as far as
        the widths are there, and compound laws π(μ, t); scaled, normalised or turned into companions like the law
        itself. (free.laws)

        Returns
        -------
        FreeLaw
            Equal to this law up to rounding, by other equations.

        Raises
        ------
        ConvergenceError
            Where the variance overflows, from about β = 18 on.

        Examples
        --------
        >>> from rmt_attention.laws import tied_values_law
        >>> law = tied_values_law(1.0, 12, 0.75)
        >>> print(f"{law.cdf(30.0):.12f} {law.expression().cdf(30.0):.12f}")
        0.836073734701 0.836073734701
        """
        try:
            node = affine(part(self._curve.expression(), 1 / self._ratio), self._scale, 0.0)
        except OverflowError:
            raise ConvergenceError(f"{self.name}: its variance leaves double precision", result=self) from None
        return FreeLaw(node, self.name)

    # New laws from this one ------------------------------------------------------------------------------------------

    def scaled(self, factor: float) -> SpectralLaw:
        """Law of factor·x, factor > 0."""
        check_positive("factor", factor)
        if not all(sys.float_info.min <= size * factor < np.inf for size in (self._factor, self._scale)):
            raise ValueError(f"factor={factor!r}: scales the law out of the range of double precision")
        return self._changed(f"{factor:g} × {self.name}", factor=self._factor * factor)

    def normalized(self) -> SpectralLaw:
        """Law of x/mean, of mean one."""
        return self._changed(f"mean-one {self.name}", factor=1.0, mean_one=True)

    def companion(self, ratio: float) -> SpectralLaw:
        """Law of MᵀM when this is the law of MMᵀ and M has ``ratio`` columns per row. (laws.companion)

        The two share their nonzero eigenvalues: ν/ratio + (1 − 1/ratio) δ_0. ``ratio`` is γ_O for the output, h for
        attention, γ_V for values, 1 for the head average; it must be ≥ w(0), the share of nonzero eigenvalues.
        """
        check_positive("ratio", ratio)
        if ratio < self._mass:
            raise ValueError(f"ratio={ratio!r}: must be ≥ {self._mass!r}, the share of nonzero eigenvalues")
        factor = self._factor / ratio if self._mean_one else self._factor  # the scale stays
        return self._changed(f"companion of {self.name}", factor=factor, ratio=self._ratio * ratio)

    def singular_values(self) -> SingularValueLaw:
        """Law of √x."""
        return SingularValueLaw(self)

    def _changed(self, name: str, **changes: Any) -> SpectralLaw:
        kept = {"factor": self._factor, "mean_one": self._mean_one, "ratio": self._ratio, "family": self._family}
        law = SpectralLaw(self._curve, name, **{**kept, **changes})
        law._spectrum = self._spectrum  # worked out once
        return law
