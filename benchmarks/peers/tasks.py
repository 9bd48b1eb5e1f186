"""Laws to be found, points in their supports, and their densities and edges to 60 digits.

The reference shares nothing with the package: all roots of the law's polynomial by mpmath. Inside the support of either
kind of law one pair of them is not real, so there is nothing to choose.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from inspect import signature
from itertools import pairwise
from typing import Any

import numpy as np
from mpmath import mp
from numpy.typing import NDArray

DIGITS = 60
NEAR = 1e-3  # relative distance to an edge below which a point counts as near it

Polynomial = list[Any]  # coefficients, highest power first


def times(p: Polynomial, q: Polynomial) -> Polynomial:
    product = [mp.zero] * (len(p) + len(q) - 1)
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            product[i + j] += a * b
    return product


def plus(p: Polynomial, q: Polynomial) -> Polynomial:
    size = max(len(p), len(q))
    p, q = [mp.zero] * (size - len(p)) + p, [mp.zero] * (size - len(q)) + q
    return [a + b for a, b in zip(p, q, strict=True)]


def slope(p: Polynomial) -> Polynomial:
    return [a * (len(p) - 1 - i) for i, a in enumerate(p[:-1])]


def value(p: Polynomial, at: Any) -> Any:
    return reduce(lambda sum_, a: sum_ * at + a, p)


def all_roots(p: Polynomial) -> list[Any]:
    """By mpmath, whose newer versions take ascending coefficients."""
    ascending = "asc" in signature(mp.polyroots).parameters
    given, order = (p[::-1], {"asc": True}) if ascending else (p, {})
    return list(mp.polyroots(given, maxsteps=500, extraprec=2 * DIGITS, **order))


@dataclass(frozen=True)
class LawTask:
    """Atoms ⊠ MP_y, or MP_y ⊠ MP_y′: MP_y has mean 1 and variance y; no mass lies in atoms."""

    title: str
    variances: tuple[float, ...]
    locations: tuple[float, ...] = ()
    weights: tuple[float, ...] = ()

    @property
    def law(self) -> dict[str, Any]:
        """What contestants are told."""
        kind = "atoms" if self.locations else "product"
        return {"kind": kind, "locations": self.locations, "weights": self.weights, "variances": self.variances}

    @cached_property
    def curve(self) -> tuple[Polynomial, Polynomial]:
        """Numerator and denominator of x as a function of a parameter, of doubles taken as they are.

        Atoms: s = (1 − y)/x + y G in x = 1/s + y Σ w t/(1 − t s), so that the density is |Im s|/(π y). Two
        Marchenko–Pastur laws: ψ = x G − 1 in x = (1 + ψ)(1 + y ψ)(1 + y′ ψ)/ψ, and the density is |Im ψ|/(π x).
        """
        with mp.workdps(DIGITS):
            one = mp.one
            if not self.locations:
                return reduce(times, [[mp.mpf(y), one] for y in self.variances], [one, one]), [one, mp.zero]
            (y,), total = self.variances, sum(map(mp.mpf, self.weights))
            factors = [[mp.mpf(t), -one] for t in self.locations]  # t s − 1
            whole = reduce(times, factors)
            share: Polynomial = [mp.zero]
            for i, (t, w) in enumerate(zip(self.locations, self.weights, strict=True)):
                others = reduce(times, factors[:i] + factors[i + 1 :], [one])
                share = plus(share, times([mp.mpf(w) / total * mp.mpf(t), mp.zero], others))
            return plus(whole, [-mp.mpf(y) * a for a in share]), times([one, mp.zero], whole)

    @cached_property
    def edges(self) -> tuple[Any, ...]:
        """Values of x at real critical points of the curve, those between which the density is positive."""
        top, bottom = self.curve
        with mp.workdps(DIGITS):
            critical = plus(times(slope(top), bottom), [-a for a in times(top, slope(bottom))])
            while abs(critical[0]) < mp.mpf(10) ** (10 - DIGITS):
                critical = critical[1:]
            roots = all_roots(critical)
            real = [mp.re(one) for one in roots if abs(mp.im(one)) < mp.mpf(10) ** (-DIGITS // 2)]
            x = sorted(value(top, one) / value(bottom, one) for one in real)
            x = [one for one in x if one > 0]
            ends = [end for low, high in pairwise(x) if self.density((low + high) / 2) > 0 for end in (low, high)]
            return tuple(one for one in ends if ends.count(one) == 1)

    @property
    def support(self) -> list[tuple[float, float]]:
        """Intervals between edges, as doubles."""
        ends = list(map(float, self.edges))
        return list(zip(ends[::2], ends[1::2], strict=True))

    def density(self, x: Any) -> Any:
        """Density at x, at 60 digits."""
        top, bottom = self.curve
        with mp.workdps(DIGITS):
            roots = all_roots(plus(top, [-mp.mpf(x) * a for a in bottom]))
            most = max(abs(mp.im(one)) for one in roots)
            if most < mp.mpf(10) ** (-DIGITS // 2):
                return mp.zero
            return most / mp.pi / (mp.mpf(self.variances[0]) if self.locations else mp.mpf(x))

    def points(self, count: int, seed: int) -> NDArray[np.float64]:
        """A third within 1e-6, relatively, of an edge, the rest anywhere in the support; none outside."""
        rng = np.random.default_rng(seed)
        sides = [(end, sign) for low, high in self.support for end, sign in ((low, 1), (high, -1))]
        near = [sides[i % len(sides)] for i in range(count // 3)]
        close = np.array([end * (1 + sign * 10.0 ** rng.uniform(-13, -6)) for end, sign in near])
        low, high = np.array(self.support)[rng.integers(0, len(self.support), count - close.size)].T
        x = rng.permutation(np.concatenate([close, low + (high - low) * rng.uniform(1e-9, 1 - 1e-9, low.size)]))
        if not all(any(a < one < b for a, b in zip(self.edges[::2], self.edges[1::2], strict=True)) for one in x):
            raise AssertionError(f"{self.title}: a point outside the support")
        return x

    def inside(self, x: NDArray[np.float64]) -> NDArray[np.bool_]:
        """True at points that are not near an edge."""
        ends = np.array(list(map(float, self.edges)))
        return np.asarray((np.abs(x[:, None] / ends - 1) > NEAR).all(1))


TASKS = {
    "atoms": LawTask("(0.2 δ₁ + 0.4 δ₃ + 0.4 δ₁₀) ⊠ MP₀.₁", (0.1,), (1.0, 3.0, 10.0), (0.2, 0.4, 0.4)),
    "product": LawTask("MP₀.₅ ⊠ MP₀.₂₅", (0.5, 0.25)),
}
