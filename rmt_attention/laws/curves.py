"""The three curves behind every law: values independent of keys, values tied to keys, compound free Poisson."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np
from numpy.polynomial import Polynomial

from ..equations import compound, independent, tied
from ..solvers.bisection import bisect
from ..solvers.curve import Array, SpectralCurve, argument_above, argument_below


def _distinct(widths: Sequence[float]) -> dict[float, int]:
    return {a: sum(b == a for b in widths) for a in sorted(set(widths))}


def _critical_roots(
    numerator: Polynomial, denominator: Polynomial, scale: tuple[Polynomial, Polynomial], widths: Sequence[float]
) -> Array:
    """Zeros of Σ_a w'/(a − w) + s'/s for w = numerator/denominator and s'/s = scale[0]/scale[1]. (laws.edges)

    Zeros of a − w themselves (where λ = 0) cancel between the two terms and never enter.
    """
    wronskian = numerator.deriv() * denominator - numerator * denominator.deriv()
    factors = {a: a * denominator - numerator for a in _distinct(widths)}
    product = Polynomial([1.0])
    for factor in factors.values():
        product *= factor
    total = scale[0] * denominator * product
    for a, multiplicity in _distinct(widths).items():
        others = Polynomial([1.0])
        for b, factor in factors.items():
            others = others * factor if b != a else others
        total = total + multiplicity * scale[1] * wronskian * others
    return total.roots()


class IndependentCurve(SpectralCurve):
    """Values independent of keys: C ∏ (1 − w/a)/v with w = (1−c)v + cv/(1 + cv/t). (laws.independent-lambda)"""

    def __init__(self, log_constant: float, widths: Sequence[float], fraction: float, noise: float, gamma_key: float):
        self.log_constant = log_constant
        self.widths = tuple(float(a) for a in widths)
        self.w_max = min(self.widths)
        self._shape = (fraction, noise, gamma_key)
        self.p_end = independent.parameter(np, self.w_max, *self._shape)

    def w(self, p: Array, distance: Array) -> Array:
        return independent.degrees_of_freedom(np, p, *self._shape)

    def w_slope(self, p: Array, distance: Array) -> Array:
        return independent.degrees_of_freedom_slope(np, p, *self._shape)

    def w_gap(self, p: Array, distance: Array) -> Array:
        return independent.degrees_of_freedom_gap(np, p, distance, self.p_end, *self._shape)

    def log_scale(self, p: Array, distance: Array) -> Array:
        return np.log(p)

    def scale_log_slope(self, p: Array, distance: Array) -> Array:
        return 1 / p

    def potential_argument(self, p: Array, distance: Array) -> Array:
        # log s = log v, Λ = (1−c) v + t log(1 + cv/t)
        c, noise, t = self._shape
        return noise * p.imag + t * argument_above(1 + c * p / t) - argument_above(p)

    def cumulant_series(self, order: int) -> tuple[Array, tuple[float, ...]]:
        c, noise, t = self._shape
        series = t * (c / t) ** np.arange(1, order + 1)
        series[0] += noise
        return series, self.widths

    def critical_parameters(self) -> Array:
        c, noise, t = self._shape
        # In units of p_end, so that the coefficients stay comparable.
        v = Polynomial([0.0, self.p_end])
        denominator = 1 + (c / t) * v
        roots = _critical_roots(
            noise * v * denominator + c * v, denominator, (Polynomial([1.0]), Polynomial([0.0, 1.0])), self.widths
        )
        return self.p_end * roots


class TiedCurve(SpectralCurve):
    """Values equal to keys: C ∏ (1 − w/a)/s(q), w = hq(k − (1+a)q)/(1−q²), s Koebe's function. (laws.tied-lambda)

    ``widths`` must contain h and γ_K.
    """

    def __init__(
        self,
        log_constant: float,
        widths: Sequence[float],
        heads: float,
        gamma_key: float,
        theta2: float,
        noise_ratio: float,
    ):
        self.log_constant = log_constant
        self.widths = tuple(float(width) for width in widths)
        self.w_max = min(self.widths)
        a = gamma_key / heads
        self._inner = (float(heads), float(gamma_key))
        self._theta2 = theta2
        self._shape = (heads, a, a * noise_ratio)
        self.p_end = tied.parameter(np, self.w_max, *self._shape)

    def w(self, p: Array, distance: Array) -> Array:
        return tied.degrees_of_freedom(np, p, *self._shape)

    def w_slope(self, p: Array, distance: Array) -> Array:
        return tied.degrees_of_freedom_slope(np, p, *self._shape)

    def w_gap(self, p: Array, distance: Array) -> Array:
        return tied.degrees_of_freedom_gap(np, p, distance, self.p_end, *self._shape)

    def log_scale(self, p: Array, distance: Array) -> Array:
        return np.log(p) - 2 * np.log(1 - p) - np.log(self._theta2)

    def scale_log_slope(self, p: Array, distance: Array) -> Array:
        return tied.scale_log_slope(np, p)

    def potential_argument(self, p: Array, distance: Array) -> Array:
        # log s = log q − 2 log(1−q) − log θ2, Λ = h (excess q/(1−q) − (1+a) log(1−q))
        h, a, excess = self._shape
        angle = argument_below(1 - p)
        return h * (excess * (p / (1 - p)).imag - (1 + a) * angle) - argument_above(p) + 2 * angle

    def cumulant_series(self, order: int) -> tuple[Array, tuple[float, ...]]:
        # u = h ∫ ζφ/(1−ζφ) dπ_a with φ(x) = (θ2/a)(x² + excess·x): its coefficients are h ∫ φ^k dπ_a.
        h, a, excess = self._shape
        wishart = [
            sum(comb(j, i) * comb(j, i - 1) / j * a**i for i in range(1, j + 1)) for j in range(1, 2 * order + 1)
        ]
        series = [
            h * (self._theta2 / a) ** k * sum(comb(k, j) * excess ** (k - j) * wishart[k + j - 1] for j in range(k + 1))
            for k in range(1, order + 1)
        ]
        outer = list(self.widths)
        for width in self._inner:
            outer.remove(width)
        return np.array(series), tuple(outer)

    def critical_parameters(self) -> Array:
        h, a, excess = self._shape
        q = Polynomial([0.0, self.p_end])
        numerator = h * q * (excess + (1 + a) * (1 - q))
        unit = 1 / self.p_end  # d/dq from d/d(q/p_end)
        scale = (1 + q, unit * q * (1 - q))
        roots = _critical_roots(numerator, 1 - q * q, scale, self.widths)
        return self.p_end * roots


class CompoundCurve(SpectralCurve):
    """Compound free Poisson π(μ, t): λ = (1 − w)/v, w = t ∫ v y/(1 + v y) dμ, p = v/(1 + v). (laws.compound-lambda)

    v is in units of the inverse mean of the positive jumps. For a given λ in the lower half-plane the equation has one
    root in the upper half-plane (Silverstein and Bai 1995), so a root there is the branch whatever the path.
    """

    unique_above = True

    def __init__(self, jumps: Array, rates: Array):
        if not jumps.size:
            raise ValueError("jumps: all are zero, the law is a point mass at 0")
        mean = float(np.average(jumps, weights=rates))
        self._shape = (jumps / mean, rates)
        self.log_constant = float(np.log(mean))
        total = float(rates.sum())
        self.widths = (1.0,)
        self.w_max = min(1.0, total)
        self.p_end = 1.0 if total <= 1 else float(bisect(lambda p: self._excess(p), np.zeros(1), np.ones(1))[0])

    def _excess(self, p: Array) -> Array:
        return compound.degrees_of_freedom(np, p, 1 - p, *self._shape) - 1

    def _rest(self, distance: Array) -> Array:
        return (1 - self.p_end) + distance

    def w(self, p: Array, distance: Array) -> Array:
        return compound.degrees_of_freedom(np, p, self._rest(distance), *self._shape)

    def w_slope(self, p: Array, distance: Array) -> Array:
        return compound.degrees_of_freedom_slope(np, p, self._rest(distance), *self._shape)

    def w_gap(self, p: Array, distance: Array) -> Array:
        return compound.degrees_of_freedom_gap(np, p, self._rest(distance), distance, self.p_end, *self._shape)

    def log_scale(self, p: Array, distance: Array) -> Array:
        return np.log(p / self._rest(distance))

    def scale_log_slope(self, p: Array, distance: Array) -> Array:
        return 1 / (p * self._rest(distance))

    def potential_argument(self, p: Array, distance: Array) -> Array:
        # log s = log v, Λ = Σ rates · log(1 + v y)
        jumps, rates = self._shape
        v = p / self._rest(distance)
        return (rates * argument_above(1 + v[..., None] * jumps)).sum(-1) - argument_above(v)

    def cumulant_series(self, order: int) -> tuple[Array, tuple[float, ...]]:
        jumps, rates = self._shape
        return (rates * jumps ** np.arange(1, order + 1)[:, None]).sum(1), self.widths

    def critical_parameters(self) -> Array:
        """Real zeros of dλ/dv: Σ rates (y/(y − ω))² = 1 at ω = −1/v (Silverstein and Choi 1995). (laws.edges)

        The sum is monotone left of the smallest and right of the largest jump, one zero each, and convex between two
        neighbouring jumps, where it has two zeros if its minimum is below 1 and none otherwise.
        """
        jumps, rates = self._shape
        jumps, first = np.unique(jumps, return_inverse=True)
        rates = np.bincount(first, weights=rates)

        def excess(omega: Array) -> Array:
            return (rates * (jumps / (jumps - omega[:, None])) ** 2).sum(1) - 1

        def slope(omega: Array) -> Array:
            return (rates * jumps**2 / (jumps - omega[:, None]) ** 3).sum(1)

        reach = jumps[-1] * (1 + np.sqrt(rates.sum()))  # beyond it every term is small enough
        outer_low = np.array([jumps[0] - reach, jumps[-1]])
        outer_high = np.array([jumps[0], jumps[-1] + reach])
        outer = [
            bisect(excess, outer_low[:1], outer_high[:1]),
            bisect(lambda x: -excess(x), outer_low[1:], outer_high[1:]),
        ]
        left, right = jumps[:-1], jumps[1:]
        lowest = bisect(slope, left, right)
        with np.errstate(divide="ignore"):
            open_gap = excess(lowest) < 0
        left, right, lowest = left[open_gap], right[open_gap], lowest[open_gap]
        inner = [bisect(lambda x: -excess(x), left, lowest), bisect(excess, lowest, right)]
        omega = np.concatenate(outer + inner)
        return 1 / (1 - np.where(omega == 1, np.nextafter(1, 0), omega))  # p = ∞ at ω = 1
