"""The curves of the laws in mpmath, with w and s as plain quotients of polynomials or sums over jumps. (laws.precise)

None of the rearrangements that double precision needs is used: precision pays for cancellation. Everything is computed
at the working precision, from parameters that are taken as the doubles they are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from mpmath import mp
from numpy.typing import NDArray

from ..errors import ConvergenceError
from ..solvers.precise import (
    Polynomial,
    derivative,
    follow_root,
    polynomial_roots,
    power,
    product,
    quotient_series,
    smallest_root,
    total,
    value,
    zero_of_decreasing,
)

_FAR = 1000  # the branch is the small root where it is this many times smaller than every other one
_STEPS = 2000


def argument(number: Any) -> Any:
    """arg in [0, π] of the mirror image in the closed upper half-plane."""
    return mp.atan2(abs(mp.im(number)), mp.re(number))


def thetas(beta: float) -> tuple[Any, Any]:
    """θ1 − θ2 and θ2, the cancellation paid for by digits."""
    with mp.workdps(2 * mp.dps + 40):
        theta2 = mp.mpf(beta) ** 2
        return mp.expm1(theta2) - theta2, theta2


class PreciseCurve(ABC):
    """λ = C ∏_a (1 − w/a)/s at the working precision."""

    def __init__(self, constant: Any, widths: Sequence[float]) -> None:
        self.constant = constant
        self.widths = [mp.mpf(a) for a in widths]
        self.w_max = min(self.widths)

    @abstractmethod
    def w(self, p: Any) -> Any:
        """w(p)."""

    @abstractmethod
    def ridge(self, p: Any) -> Any:
        """λ(p)."""

    @abstractmethod
    def ridge_log_slope(self, p: Any) -> Any:
        """dlog λ/dp."""

    @abstractmethod
    def between(self, share: Any, rest: Any) -> Any:
        """The point of the half-axis λ > 0 at share = 1 − rest of the way from λ = ∞ to λ = 0."""

    @abstractmethod
    def potential_argument(self, p: Any) -> Any:
        """Im(Λ − log s) on the closed upper half-plane, Λ = ∫ w dlog s."""

    @abstractmethod
    def branch(self, z: Any) -> tuple[Any, Any]:
        """p at Im z ≥ 0, on the real axis the limit from above, and a distance within which no other root lies."""

    @abstractmethod
    def critical_points(self) -> list[Any]:
        """All real p with dλ/dp = 0, λ ≠ 0."""

    @abstractmethod
    def series(self, order: int) -> tuple[Polynomial, Polynomial]:
        """w(p) and pλ(p) up to p^order."""

    def at_ridge(self, ridge: Any) -> Any:
        """p at λ > 0: the zero of a decreasing function of the logit."""
        target, nothing = mp.log(ridge), ridge * mp.mpf(10) ** (-mp.dps)

        def point(tau: Any) -> Any:
            return self.between(1 / (1 + mp.exp(-tau)), 1 / (1 + mp.exp(tau)))

        return point(zero_of_decreasing(lambda tau: mp.log(max(mp.re(self.ridge(point(tau))), nothing)) - target))

    def polished(self, p: Any, z: Any, radius: Any) -> Any:
        """The root at z near p, by Newton steps until they no longer shrink; the radius is that of :meth:`branch`."""
        start, last = p, mp.inf
        for _ in range(_STEPS):
            step = mp.log(-self.ridge(p) / z) / self.ridge_log_slope(p)
            if not abs(step) < last:
                break
            p, last = p - step, abs(step)
        if not abs(p - start) < radius / 2:
            raise ConvergenceError(f"the root at z = {mp.nstr(z, 12)} was lost in polishing", result=p)
        return p

    def upper_mass(self, p: Any) -> Any:
        """ν((x, ∞)) at the parameter of x + i0. (laws.cdf)"""
        w = self.w(p)
        imaginary = mp.pi + self.potential_argument(p)
        for a in self.widths:
            imaginary -= mp.im(w) + (1 - a) * argument(1 - w / a)
        return imaginary / mp.pi

    def moment(self, k: int) -> Any:
        """∫ x^k dν = (−1)^{k−1} (1/k) [p^{k−1}] w′(p) (pλ(p))^k, by Lagrange inversion of 1/λ = p/(pλ)."""
        w, reduced = self.series(k)
        coefficient = product(derivative(w), power(reduced[:k], k, k))[k - 1]
        return (-1) ** (k - 1) * coefficient / k


class PreciseRationalCurve(PreciseCurve):
    """w = N/D, λ = top/bottom with polynomials of moderate degree: every root is at hand.

    ``weights`` are two polynomials proportional to 1/D and to s′/s, for the critical equation
    Σ_a w′/(a − w) + s′/s = 0.
    """

    def __init__(
        self,
        constant: Any,
        widths: Sequence[float],
        w: tuple[Polynomial, Polynomial],
        ridge: tuple[Any, Polynomial],
        weights: tuple[Polynomial, Polynomial],
    ) -> None:
        super().__init__(constant, widths)
        self._numerator, self._denominator = w
        self._margins = {a: self._margin(a) for a in self.widths}
        self._top = product([ridge[0]], *(self._margin(a, 1 / a) for a in self.widths))
        self._bottom = ridge[1]
        self._weights = weights
        # the smallest positive zero of w_max − w
        linear = [mp.re(root) for root in polynomial_roots(self._margins[self.w_max]) if mp.re(root) > 0]
        self.end = min(linear)

    def _margin(self, a: Any, factor: Any = 1) -> Polynomial:
        """factor (a D − N)."""
        return total([factor * a * d for d in self._denominator], [-factor * n for n in self._numerator])

    def w(self, p: Any) -> Any:
        return value(self._numerator, p) / value(self._denominator, p)

    def ridge(self, p: Any) -> Any:
        return value(self._top, p) / value(self._bottom, p)

    def ridge_log_slope(self, p: Any) -> Any:
        top, bottom = self._top, self._bottom
        return value(derivative(top), p) / value(top, p) - value(derivative(bottom), p) / value(bottom, p)

    def between(self, share: Any, rest: Any) -> Any:
        return self.end * share

    def branch(self, z: Any) -> tuple[Any, Any]:
        far = abs(z) + self.constant
        while True:
            start = mp.re(z) + far * mp.j
            roots, index = smallest_root(self._equation(start))
            if all(abs(roots[index]) * _FAR < abs(root) for j, root in enumerate(roots) if j != index):
                break
            far *= 10
        p, radius = follow_root(self._equation, start, z, roots, index)
        if mp.im(z) == 0 and abs(mp.im(p)) < radius / 4:
            p = mp.re(p)  # the mirror image of a root is a root, and there is no other so near
        return p, radius

    def _equation(self, z: Any) -> Polynomial:
        """top + z·bottom, which vanishes where λ = −z."""
        return total(self._top, [z * b for b in self._bottom])

    def critical_points(self) -> list[Any]:
        wronskian = total(
            product(derivative(self._numerator), self._denominator),
            product([-mp.one], self._numerator, derivative(self._denominator)),
        )
        distinct = list(self._margins.values())
        equation = product(self._weights[1], *distinct)
        for a, count in Counter(self.widths).items():
            others = [margin for b, margin in self._margins.items() if b != a]
            equation = total(equation, product([mp.mpf(count)], wronskian, self._weights[0], *others))
        tiny = mp.mpf(10) ** (-mp.dps // 2)
        return [mp.re(p) for p in polynomial_roots(equation) if abs(mp.im(p)) < tiny * abs(p)]

    def series(self, order: int) -> tuple[Polynomial, Polynomial]:
        return (
            quotient_series(self._numerator, self._denominator, order + 1),
            quotient_series(self._top, self._bottom[1:], order + 1),
        )


class PreciseIndependentCurve(PreciseRationalCurve):
    """Values independent of keys, p = v. (laws.independent-lambda)"""

    def __init__(self, constant: float, widths: Sequence[float], beta: float, gamma_key: float) -> None:
        excess, theta2 = thetas(beta)
        theta1, t = excess + theta2, mp.mpf(gamma_key)
        c, noise = theta2 / theta1, excess / theta1
        self._shape = (c, noise, t)
        one = [mp.one, c / t]
        numerator = total([mp.zero, c], product([mp.zero, noise], one))
        full = mp.mpf(constant) * theta1
        bottom = product([mp.zero, mp.one], *[one] * len(widths))
        super().__init__(full, widths, (numerator, one), (full, bottom), ([mp.zero, mp.one], one))

    def potential_argument(self, p: Any) -> Any:
        c, noise, t = self._shape
        return noise * mp.im(p) + t * argument(1 + c * p / t) - argument(p)


class PreciseTiedCurve(PreciseRationalCurve):
    """Values equal to keys, p = q. (laws.tied-lambda)"""

    def __init__(self, outer: Sequence[float], beta: float, heads: float, gamma_key: float) -> None:
        noise, theta2 = thetas(beta)
        h, a = mp.mpf(heads), mp.mpf(gamma_key) / mp.mpf(heads)
        excess = a * noise / theta2
        self._shape = (h, a, excess)
        widths = (*outer, heads, gamma_key)
        numerator = [mp.zero, h * (1 + a + excess), -h * (1 + a)]
        low, high = [mp.one, -mp.one], [mp.one, mp.one]  # 1 − q, 1 + q
        # s has (1 − q)² below, which cancels two of the factors 1 − q² of the margins
        bottom = product([mp.zero, mp.one], *[low] * (len(widths) - 2), *[high] * len(widths))
        weights = ([mp.zero, mp.one], product(high, high))
        full = mp.mpf(outer[1]) / mp.mpf(gamma_key) if len(outer) > 1 else mp.one  # γ_O/γ_K with output weights
        super().__init__(full, widths, (numerator, product(low, high)), (full * theta2, bottom), weights)

    def potential_argument(self, p: Any) -> Any:
        h, a, excess = self._shape
        angle = -argument(1 - p)
        return h * (excess * mp.im(p / (1 - p)) - (1 + a) * angle) - argument(p) + 2 * angle


class PreciseCompoundCurve(PreciseCurve):
    """Compound free Poisson law, p = v, λ = (1 − w)/v. (laws.compound-lambda)

    No polynomial, since there may be thousands of jumps; but a root in the upper half-plane is the only one there.
    """

    def __init__(self, jumps: NDArray[np.float64], weights: NDArray[np.float64], total: Fraction) -> None:
        super().__init__(mp.one, (1.0,))
        rate, shares = mp.mpf(total.numerator) / total.denominator, [mp.mpf(share) for share in weights.tolist()]
        self._pairs = [(mp.mpf(y), rate * share / sum(shares)) for y, share in zip(jumps.tolist(), shares, strict=True)]
        self._rate, self.w_max = rate, min(mp.one, rate)
        self._unit = 1 / max(y for y, _ in self._pairs)
        self._end: Any = None

    def w(self, p: Any) -> Any:
        return sum(r * (p * y) / (1 + p * y) for y, r in self._pairs)

    def ridge(self, p: Any) -> Any:
        return (1 - self.w(p)) / p

    def ridge_log_slope(self, p: Any) -> Any:
        return -sum(r * y / (1 + p * y) ** 2 for y, r in self._pairs) / (1 - self.w(p)) - 1 / p

    def between(self, share: Any, rest: Any) -> Any:
        if self._rate <= 1:
            return self._unit * share / rest
        if self._end is None:
            self._end = mp.exp(zero_of_decreasing(lambda log_v: 1 - self.w(mp.exp(log_v))))
        return self._end * share

    def potential_argument(self, p: Any) -> Any:
        return sum(r * argument(1 + p * y) for y, r in self._pairs) - argument(p)

    def branch(self, z: Any) -> tuple[Any, Any]:
        here = mp.re(z) + 100 * (abs(z) + sum(r * y for y, r in self._pairs) + 1 / self._unit) * mp.j
        v, stride = -1 / here, mp.mpf(1) / 2
        while stride * abs(z - here) > mp.eps * abs(z):
            there = z if stride == 1 else here + (z - here) * stride
            found = self._newton(v, there)
            if found is not None and self._proved(found, there):
                if there == z:
                    real = mp.im(z) == 0 and not self._off_axis(found)
                    return (mp.re(found) if real else found), abs(found)
                v, here, stride = found, there, min(2 * stride, mp.one)
            else:
                stride /= 2
        raise ConvergenceError(f"no root found at z = {mp.nstr(z, 12)}, which may be an edge of the support", result=v)

    def polished(self, p: Any, z: Any, radius: Any) -> Any:
        """As for other curves, and proved once more."""
        v = super().polished(p, z, radius)
        if not self._proved(v, z):
            raise ConvergenceError(f"the root at z = {mp.nstr(z, 12)} was lost in polishing", result=v)
        return v

    def _newton(self, v: Any, z: Any) -> Any | None:
        """A root near v, or None if the steps do not settle."""
        last = mp.inf
        for _ in range(40):
            ratio = -self.ridge(v) / z
            if ratio == 0:
                return None
            step = mp.log(ratio) / self.ridge_log_slope(v)
            if not abs(step) < last:
                return None
            v, last = v - step, abs(step)
            if last < abs(v) * mp.mpf(10) ** (-mp.dps * 2 // 3):
                return v
        return None

    def _off_axis(self, v: Any) -> bool:
        return bool(mp.im(v) > abs(v) * mp.mpf(10) ** (-mp.dps // 2))

    def _proved(self, v: Any, z: Any) -> bool:
        """In the upper half-plane, or for real z real and between two bulks, where z increases with v.

        The criteria of Silverstein and Bai (1995) and Silverstein and Choi (1995).
        """
        if self._off_axis(v):
            return True
        at = mp.re(v)
        return bool(
            mp.im(z) == 0
            and all(1 + at * y != 0 for y, _ in self._pairs)
            and sum(r * (at * y / (1 + at * y)) ** 2 for y, r in self._pairs) < 1
        )

    def critical_points(self) -> list[Any]:
        """v = −1/ω with Σ r (y/(y − ω))² = 1: one ω on either side of all jumps, two or none between neighbours."""
        merged: Counter[Any] = Counter()
        for y, r in self._pairs:
            merged[y] += r
        jumps = sorted(merged)

        def excess(base: Any, offset: Any) -> Any:
            """Of ω = base + offset, which may differ by less than the precision."""
            return sum(r * (y / (y - base - offset)) ** 2 for y, r in merged.items()) - 1

        def slope(base: Any, offset: Any) -> Any:
            return sum(r * y * y / (y - base - offset) ** 3 for y, r in merged.items())

        def inside(low: Any, high: Any, decreasing: Callable[[Any, Any], Any]) -> Any:
            def parts(tau: Any) -> tuple[Any, Any]:
                room = (high - low) / (1 + mp.exp(abs(tau)))
                return (low, room) if tau < 0 else (high, -room)

            return mp.fsum(parts(zero_of_decreasing(lambda tau: decreasing(*parts(tau)))))

        def increasing(base: Any, offset: Any) -> Any:
            return -excess(base, offset)

        reach = jumps[-1] * (2 + 2 * mp.sqrt(sum(merged.values())))
        omega = [inside(jumps[0] - reach, jumps[0], increasing), inside(jumps[-1], jumps[-1] + reach, excess)]
        for left, right in pairwise(jumps):
            # the least of the two neighbouring terms alone
            two = (mp.cbrt(merged[left] * left**2) + mp.cbrt(merged[right] * right**2)) ** 3 / (right - left) ** 2
            if two < 1:
                lowest = inside(left, right, lambda *at: -slope(*at))
                if excess(lowest, 0) < 0:
                    omega += [inside(left, lowest, excess), inside(lowest, right, increasing)]
        return [-1 / at for at in omega if at != 0]

    def series(self, order: int) -> tuple[Polynomial, Polynomial]:
        w = [mp.zero] + [(-1) ** (k - 1) * sum(r * y**k for y, r in self._pairs) for k in range(1, order + 1)]
        return w, total([mp.one], [-a for a in w])
