"""The three curves behind every law: values independent of keys, values tied to keys, compound free Poisson."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from ..equations import compound, independent, tied
from ..equations.temperature import score_variance_excess
from ..errors import ConvergenceError
from ..free import algebra
from ..free.leaves import Atomic, FreePoisson
from ..free.nodes import Node
from ..free.tied_scores import TiedScores
from ..solvers.bisection import bisect
from ..solvers.curve import Array, RationalCurve, SpectralCurve, argument_above, argument_below

if TYPE_CHECKING:
    from .precise_curves import PreciseCurve


def _critical_roots(
    margins: dict[float, Array],
    multiplicity: Counter[float],
    slope: tuple[Array, Array],
    log_slope: tuple[Array, Array],
) -> Array:
    """Zeros of Σ_a w'/(a − w) + s'/s, from polynomials with the highest power first. (laws.edges)

    a − w = margins[a]/D, w' = slope[0]/(slope[1] D), s'/s = log_slope[0]/log_slope[1]. Zeros of a − w, where λ = 0,
    never enter.
    """
    total = np.convolve(np.convolve(log_slope[0], slope[1]), _product(margins.values()))
    front = np.convolve(log_slope[1], slope[0])
    for a, count in multiplicity.items():
        others = _product(margin for b, margin in margins.items() if b != a)
        total = np.polyadd(total, count * np.convolve(front, others))
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        scaled = total / total[np.argmax(total != 0)]  # as np.roots does
    if not np.isfinite(scaled).all():
        raise ConvergenceError("the equation of the edges overflows; the ratios are too extreme", result=total)
    return np.roots(total)


def _product(polynomials: Iterable[Array]) -> Array:
    result = np.ones(1)
    for polynomial in polynomials:
        result = np.convolve(result, polynomial)
    return result


_NEGLIGIBLE = 1e-20
_NEGLIGIBLE_Q = 1e-16
_TOTAL_RATE_ROUNDING = 4 * np.finfo(float).eps


def _variances(beta: float) -> tuple[float, float, float]:
    """θ1, θ2 and θ1 − θ2; e^{θ2} would carry the rounding of β² times θ2, which is therefore put right."""
    theta2 = beta * beta
    lost = float(Fraction(beta) ** 2 - Fraction(theta2))
    theta1, excess = math.expm1(theta2), score_variance_excess(math, theta2)
    return theta1 + (theta1 + 1) * lost, theta2, excess + theta1 * lost


def _widened(node: Node, constant: float, widths: Sequence[float]) -> Node:
    """constant · μ ⊠ MP_{1/a} for every width a: μ ⊠ MP_{1/a} = a π(μ, 1/a) + (1 − a) δ_0. (free.laws)"""
    for a in widths:
        node = algebra.part(algebra.compound(node, 1 / a), a)
    return algebra.affine(node, constant, 0.0)


class IndependentCurve(RationalCurve):
    """Values independent of keys: C ∏ (1 − w/a)/v with w = (1−c)v + cv/(1 + cv/t). (laws.independent-lambda)"""

    def __init__(self, constant: float, widths: Sequence[float], beta: float, gamma_key: float):
        theta1, theta2, excess = _variances(beta)
        super().__init__(math.log(constant) + math.log(theta1), widths)
        self._given = (constant, self.widths, beta, gamma_key)
        self._shape = (theta2 / theta1, excess / theta1, gamma_key)
        with np.errstate(all="ignore"):  # ratios too extreme for double precision are refused by the law
            self.p_end = independent.parameter(np, self.w_max, *self._shape)

    def w(self, p: Array, distance: Array) -> Array:
        return independent.degrees_of_freedom(np, p, *self._shape)

    def w_slope(self, p: Array, distance: Array) -> Array:
        return independent.degrees_of_freedom_slope(np, p, *self._shape)

    def w_curvature(self, p: Array, distance: Array) -> Array:
        return independent.degrees_of_freedom_curvature(np, p, *self._shape)

    def w_gap(self, p: Array, distance: Array) -> Array:
        return independent.degrees_of_freedom_gap(np, p, distance, self.p_end, *self._shape)

    def log_scale(self, p: Array, distance: Array) -> Array:
        return np.log(p)

    def scale_log_slope(self, p: Array, distance: Array) -> Array:
        return 1 / p

    def scale_log_curvature(self, p: Array, distance: Array, unit: Array | float = 1.0) -> Array:
        return -((unit / p) ** 2)

    def potential_argument(self, p: Array, distance: Array) -> Array:
        # log s = log v, Λ = (1−c) v + t log(1 + cv/t)
        c, noise, t = self._shape
        return noise * p.imag + t * argument_above(1 + c * p / t) - argument_above(p)

    def potential_deficit(self, p: Array, distance: Array) -> Array:
        c, noise, t = self._shape
        return self.w_max * argument_above(p) - noise * p.imag - t * argument_above(1 + c * p / t)

    def precise(self) -> PreciseCurve:
        from .precise_curves import PreciseIndependentCurve

        return PreciseIndependentCurve(*self._given)

    def expression(self) -> Node:
        constant, (_, *widths), beta, gamma_key = self._given
        _, theta2, excess = _variances(beta)
        return _widened(FreePoisson(theta2 / gamma_key, gamma_key, excess), constant, widths)

    def cumulant_series(self, order: int) -> tuple[Array, tuple[float, ...], float]:
        c, _, t = self._shape
        unit = max(c / t, 1.0)
        return np.array(independent.series(order, unit, *self._shape)), self.widths, math.log(unit)

    def critical_roots(self, v: Array, distance: Array) -> Array:
        c, noise, t = self._shape
        c = c if c * self.p_end > _NEGLIGIBLE * t else 0.0  # scores that cannot be told from noise move no edge
        end = 1 + c * self.p_end / t
        denominator = np.polyadd([1.0], c / t * v)
        gap = np.convolve(distance, np.polyadd([c / end], noise * denominator))  # (w_max − w)(1 + cv/t)
        multiplicity = Counter(self.widths)
        margins = {a: np.polyadd(gap, (a - self.w_max) * denominator) for a in multiplicity}
        slope = np.polyadd([c], noise * np.convolve(denominator, denominator))
        return _critical_roots(margins, multiplicity, (slope, denominator), (np.ones(1), v))


class TiedCurve(RationalCurve):
    """Values equal to keys: C ∏ (1 − w/a)/s(q), w = hq(k − (1+a)q)/(1−q²), s Koebe's function. (laws.tied-lambda)

    The widths are those of ``outer``, h and γ_K.
    """

    def __init__(self, constant: float, outer: Sequence[float], beta: float, heads: float, gamma_key: float):
        super().__init__(math.log(constant), (*outer, heads, gamma_key))
        self._given = (outer, beta, heads, gamma_key)
        self._constant = constant
        a = gamma_key / heads
        _, self._theta2, self._score_excess = _variances(beta)
        self._shape = (heads, a, a * (self._score_excess / self._theta2))
        with np.errstate(over="ignore", invalid="ignore"):
            self.p_end, self._rest_end = tied.parameter(np, self.w_max, *self._shape)

    def rest(self, p: Array, distance: Array) -> Array:
        return self._rest_end + distance

    def w(self, p: Array, distance: Array) -> Array:
        return tied.degrees_of_freedom(np, p, self.rest(p, distance), *self._shape)

    def w_slope(self, p: Array, distance: Array) -> Array:
        return tied.degrees_of_freedom_slope(np, p, self.rest(p, distance), *self._shape)

    def w_curvature(self, p: Array, distance: Array) -> Array:
        return tied.degrees_of_freedom_curvature(np, p, self.rest(p, distance), *self._shape)

    def w_gap(self, p: Array, distance: Array) -> Array:
        rest = self.rest(p, distance)
        return tied.degrees_of_freedom_gap(np, p, rest, distance, self.p_end, self._rest_end, *self._shape)

    def log_scale(self, p: Array, distance: Array) -> Array:
        return np.log(tied.scale(np, p, self.rest(p, distance), self._theta2))

    def scale_log_slope(self, p: Array, distance: Array) -> Array:
        return tied.scale_log_slope(np, p, self.rest(p, distance))

    def scale_log_curvature(self, p: Array, distance: Array, unit: Array | float = 1.0) -> Array:
        return tied.scale_log_curvature(np, p, self.rest(p, distance), unit)

    def potential_argument(self, p: Array, distance: Array) -> Array:
        # log s = log q − 2 log(1−q) − log θ2, Λ = h (excess q/(1−q) − (1+a) log(1−q))
        h, a, excess = self._shape
        rest = self.rest(p, distance)
        angle = argument_below(rest)
        return h * (excess * (p / rest).imag - (1 + a) * angle) - argument_above(p) + 2 * angle

    def potential_deficit(self, p: Array, distance: Array) -> Array:
        h, a, excess = self._shape
        rest = self.rest(p, distance)
        angle = argument_below(rest)
        return self.w_max * (argument_above(p) - 2 * angle) - h * (excess * (p / rest).imag - (1 + a) * angle)

    def precise(self) -> PreciseCurve:
        from .precise_curves import PreciseTiedCurve

        return PreciseTiedCurve(*self._given)

    def expression(self) -> Node:
        (_, *widths), _, heads, _ = self._given
        scores = TiedScores(self._score_excess, self._theta2, self._shape[1])
        return _widened(algebra.compound(scores, heads), self._constant, widths)

    def cumulant_series(self, order: int) -> tuple[Array, tuple[float, ...], float]:
        h, a, excess = self._shape
        largest = (1 + math.sqrt(a)) ** 2
        series = tied.series(order, largest, h, a, excess)
        return np.array(series), self.widths[:-2], math.log(self._theta2 / a * largest) + math.log(excess + largest)

    def critical_roots(self, q: Array, distance: Array) -> Array:
        h, a, excess = self._shape
        small = 0.0 if self.p_end < _NEGLIGIBLE_Q else 1.0  # beside 1: scores that cannot be told from noise
        rest = np.polyadd([self._rest_end], small * distance)  # 1 − q
        above = np.polyadd([1.0], small * q)
        product = np.convolve(rest, above)
        numerator = np.polyadd(excess * np.polyadd([1.0], small * self.p_end * q), (1 + a) * self._rest_end * rest)
        gap = np.convolve(distance, h / (self._rest_end * (1 + self.p_end)) * numerator)  # (w_max − w)(1 − q²)
        multiplicity = Counter(self.widths)
        margins = {b: np.polyadd(gap, (b - self.w_max) * product) for b in multiplicity}
        square = np.polyadd([1.0], small * np.convolve(q, q))
        slope = h * np.polyadd(excess * square, (1 + a) * np.convolve(rest, rest))
        return _critical_roots(margins, multiplicity, (slope, product), (above, np.convolve(q, rest)))


class CompoundCurve(SpectralCurve):
    """Compound free Poisson π(μ, t): λ = (1 − w)/v, w = t ∫ v y/(1 + v y) dμ, p = v/(1 + v). (laws.compound-lambda)

    v is in units of the inverse mean of the positive jumps. For a given λ in the lower half-plane the equation has one
    root in the upper half-plane (Silverstein and Bai 1995), so a root there is the branch whatever the path.
    """

    unique_above = True

    def __init__(self, jumps: Array, weights: Array, total: Fraction):
        if abs(total - 1) < _TOTAL_RATE_ROUNDING:
            total = Fraction(1)  # a rate such as 4/3 times a share such as 3/4
        self._given = (jumps, weights, total)
        self.block = max(1000, 1_000_000 // jumps.size)
        descending = np.argsort(-jumps)
        jumps, weights = jumps[descending], weights[descending]
        rates = float(total) * (weights / math.fsum(weights))
        mean = float(np.average(jumps, weights=rates))
        self._shape = (jumps / mean, rates)
        # Σ rates − 1 of none, the largest, the two largest … jumps, rounded once: where it is small much hangs on it
        scale = total / sum(map(Fraction, weights.tolist()))
        sums = accumulate(map(Fraction, weights.tolist()), initial=Fraction(0))
        self._excess = np.array([float(scale * part - 1) for part in sums])
        super().__init__(float(np.log(mean)), (1.0,), min(1.0, float(total)))
        self._spare = np.maximum(-self._excess[-1:], 0.0)
        self.p_end, self._rest_end = 1.0, 0.0
        if self._excess[-1] > 0:  # each to relative precision
            self.p_end = float(bisect(lambda p: self._beyond_one(p, 1 - p), np.zeros(1), np.ones(1))[0])
            self._rest_end = float(bisect(lambda rest: -self._beyond_one(1 - rest, rest), np.zeros(1), np.ones(1))[0])

    @property
    def hard_edge_order(self) -> int:
        return 2 if self._excess[-1] == 0 else 1

    def _beyond_one(self, p: Array, rest: Array) -> Array:
        """w − 1, where jumps that count by more than half are taken from Σ rates − 1."""
        jumps, rates = self._shape
        jumps, rest = p[:, None] * jumps, rest[:, None]
        most = jumps > rest
        terms = rates * np.where(most, -rest, jumps) / (rest + jumps)
        return np.asarray(self._excess[most.sum(1)] + terms.sum(1))

    def rest(self, p: Array, distance: Array) -> Array:
        return self._rest_end + distance

    def _sum(self, part: Callable[..., Array], p: Array, distance: Array, *rest: Array | float) -> Array:
        """Over the jumps, of a function of :mod:`rmt_attention.equations.compound`."""
        arguments = (p[..., None], self.rest(p, distance)[..., None], *rest)
        return np.asarray(part(np, *arguments, *self._shape).sum(-1))

    def w(self, p: Array, distance: Array) -> Array:
        return self._sum(compound.degrees_of_freedom, p, distance)

    def w_slope(self, p: Array, distance: Array) -> Array:
        return self._sum(compound.degrees_of_freedom_slope, p, distance)

    def w_curvature(self, p: Array, distance: Array) -> Array:
        return self._sum(compound.degrees_of_freedom_curvature, p, distance)

    def w_gap(self, p: Array, distance: Array) -> Array:
        end = (distance[..., None], self.p_end, self._rest_end)
        return self._sum(compound.degrees_of_freedom_gap, p, distance, *end)

    def log_scale(self, p: Array, distance: Array) -> Array:
        return np.log(p / self.rest(p, distance))

    def scale_log_slope(self, p: Array, distance: Array) -> Array:
        return 1 / (p * self.rest(p, distance))

    def scale_log_curvature(self, p: Array, distance: Array, unit: Array | float = 1.0) -> Array:
        return (unit / self.rest(p, distance)) ** 2 - (unit / p) ** 2

    def potential_argument(self, p: Array, distance: Array) -> Array:
        # log s = log v, Λ = Σ rates · log(1 + v y)
        jumps, rates = self._shape
        v = p / self.rest(p, distance)
        return (rates * argument_above(1 + v[..., None] * jumps)).sum(-1) - argument_above(v)

    def potential_deficit(self, p: Array, distance: Array) -> Array:
        # log(1 + v y) = log v + log(y + 1/v)
        jumps, rates = self._shape
        inverse = self.rest(p, distance) / p
        beyond = max(self._excess[-1], 0.0)  # Σ rates − w_max
        return beyond * argument_below(inverse) - (rates * argument_below(jumps + inverse[..., None])).sum(-1)

    def precise(self) -> PreciseCurve:
        from .precise_curves import PreciseCompoundCurve

        return PreciseCompoundCurve(*self._given)

    def expression(self) -> Node:
        jumps, weights, total = self._given
        locations, where = np.unique(jumps, return_inverse=True)
        weights = np.bincount(where, weights=weights / math.fsum(weights))
        return algebra.compound(Atomic(locations, weights), float(total))

    def cumulant_series(self, order: int) -> tuple[Array, tuple[float, ...], float]:
        jumps, rates = self._shape
        unit = jumps.max()
        return (rates * (jumps / unit) ** np.arange(1, order + 1)[:, None]).sum(1), self.widths, math.log(unit)

    def critical_points(self) -> tuple[Array, Array]:
        """Real zeros of dλ/dv: Σ rates (y/(y − ω))² = 1 at ω = −1/v (Silverstein and Choi 1995). (laws.edges)

        The sum is monotone left of the smallest and right of the largest jump, one zero each, and convex between two
        neighbouring jumps, where it has two zeros if its minimum is below 1 and none otherwise.
        """
        jumps, rates = self._shape

        def excess(omega: Array) -> Array:
            omega = omega[:, None]
            most, room = jumps > np.abs(omega), jumps - omega  # 1 is taken from what is nearly 1, as for w
            share = np.where(most, (omega / room) * ((2 * jumps - omega) / room), (jumps / room) ** 2)
            return np.asarray(self._excess[most.sum(1)] + (rates * share).sum(1))

        def slope(omega: Array) -> Array:
            room = jumps - omega[:, None]
            return (rates * (jumps / room) ** 2 / room).sum(1)

        ends, first = np.unique(jumps, return_inverse=True)
        reach = ends[-1] * (1 + np.sqrt(rates.sum()))  # beyond it every term is small enough
        outer = [bisect(lambda x: -excess(x), ends[-1:], ends[-1:] + reach)]
        if self._excess[-1] != 0:  # else ω = 0, where λ = 0
            outer.append(bisect(excess, ends[:1] - reach, ends[:1]))
        left, right = ends[:-1], ends[1:]
        # the least of the two neighbouring terms alone; from 1 on there is no gap
        weight = np.cbrt(np.bincount(first, weights=rates))
        least = (weight[:-1] * np.cbrt(left / right) ** 2 + weight[1:]) ** 3 / (1 - left / right) ** 2
        left, right = left[least < 1], right[least < 1]
        lowest = bisect(slope, left, right)
        with np.errstate(divide="ignore"):
            open_gap = excess(lowest) < 0
        left, right, lowest = left[open_gap], right[open_gap], lowest[open_gap]
        inner = [bisect(lambda x: -excess(x), left, lowest), bisect(excess, lowest, right)]
        omega = np.concatenate(outer + inner)
        p = 1 / (1 - np.where(omega == 1, np.nextafter(1, 0), omega))  # p = ∞ at ω = 1
        distance = self.p_end - p if self._rest_end > self.p_end else -omega * p - self._rest_end  # by the smaller end
        return p, distance
