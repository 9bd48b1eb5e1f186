"""Laws with an explicit curve in one parameter: finitely many atoms, free Poisson and semicircle laws."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .jets import Jet
from .nodes import EPS, Array, Link, Node, Point, Trace, angle

__all__ = ["Atomic", "FreePoisson", "Semicircle"]


class Atomic(Node):
    """Σ w_i δ_{x_i}; the parameter is z."""

    leaves, sharp = 1, True

    def __init__(self, locations: Array, weights: Array) -> None:
        self.locations, self.weights = locations, weights
        self.mean = float(weights @ locations)
        self.variance = float(weights @ (locations - self.mean) ** 2)
        self.low, self.high = float(locations.min()), float(locations.max())
        self.marks = tuple(zip(locations.tolist(), weights.tolist(), strict=True))
        self._columns = np.array([weights, weights * locations, weights * (locations != 0)]).T
        centres = np.append(locations, self.mean)
        self._levers = weights * (locations - centres[:, None])

    def at(self, trace: Trace, row: int, sheet: int) -> Point:
        z = trace.parameters[row]
        away = z[..., None] - self.locations
        which = np.abs(away).argmin(-1)
        near = away[np.arange(z.size), which]
        q = near[..., None] / away  # at most 1 in modulus, so nothing overflows
        square = q * q
        S, T, rest = (q @ self._columns).T  # Σ w q, Σ w x q, Σ_{x≠0} w q
        S2, T2 = (square @ self._columns[:, :2]).T
        inverse, scale = 1 / S, 1 / near

        def levers() -> tuple[Array, Array, Array | None]:
            """R′ and R″ by Σ w (x − c) qᵏ about the nearest location or, far out, the mean: nothing cancels then."""
            lever = self._levers[np.where(np.abs(near) < self.high - self.low, which, -1)]
            C1, C2 = (lever * q).sum(-1), (lever * square).sum(-1)
            change = (C1 * S2 - C2 * S) * inverse * inverse * scale
            if not trace.bends:
                return T * inverse, change, None
            cube = square * q
            S3 = cube @ self._columns[:, 0]
            turn = ((lever * cube).sum(-1) * S - C1 * S3) * inverse * scale
            return T * inverse, change, 2 * inverse * scale * (turn + S2 * change)

        bend_F = bend_V = None
        R: Jet | Callable[[], Jet] = lambda: Jet(*levers())  # noqa: E731
        if trace.bends:
            R = Jet(*levers())
            bend_F, bend_V = -R.bend, 2 * (square * q @ self._columns[:, 1]) * scale**3
        V = Jet(z * rest * scale, -T2 * scale * scale, bend_V) if self.low >= 0 else None
        own = Jet.parameter(z, trace.bends)
        trace.links.append(Link(True, sheet, own, own, own=True))
        return Point(Jet(near * inverse, S2 * inverse * inverse, bend_F), R, own, V, EPS * np.abs(z))

    def start(self, z: Array, out: Array, row: int) -> None:
        out[row] = z

    def argument(self, trace: Trace, row: int, sheet: int) -> tuple[Array, Point]:
        return angle(sheet, trace.parameters[row][..., None] - self.locations) @ self.weights, self.at(
            trace, row, sheet
        )

    def scales(self) -> list[tuple[float, float]]:
        return [(self.mean, 3 * self.extent)]


class FreePoisson(Node):
    """Shift b + free Poisson law of jump c > 0 and rate t: R = b + tcF/(F − c). (free.poisson)

    The parameter is δ = F − F(0), where F(0) is F at z = 0, for a law on [0, ∞), else F − c:

        z = F + m + v/(F − c) = δ (F − F₁)/(F − c),   m = b + tc,  v = tc².
    """

    leaves = 1

    def __init__(self, jump: float, rate: float, shift: float) -> None:
        self.jump, self.rate, self.shift = jump, rate, shift
        self.mean, self.variance = rate * jump + shift, rate * jump**2
        self.low, self.high = (jump * (1 + sign * rate**0.5) ** 2 + shift for sign in (-1, 1))
        self._anchor()
        if rate < 1:
            self.low = min(shift, self.low)
        self.marks = ((shift, max(1 - rate, 0.0)),) if rate <= 1 else ()
        if shift == 0:
            self.nonzero_mass = min(rate, 1.0)
            self._base, self._other = (0.0, jump * (1 - rate)) if rate <= 1 else (jump * (1 - rate), 0.0)

    def _anchor(self) -> None:
        self._root = self.variance**0.5
        self._anchored = self.sharp = self.low >= 0 and (self.rate >= 1 or self.shift >= 0)
        self._base = self.jump
        if self._anchored:
            root = (self.low * self.high) ** 0.5
            below = self.jump + self.mean + root  # −2(F(0) − c)
            self._base, self._other = self.jump - below / 2, self.jump - 2 * self.variance / below
            self._short = -(self.low + root) / 2  # F(0) − c + √v

    def at(self, trace: Trace, row: int, sheet: int) -> Point:
        delta = trace.parameters[row]
        F = self._base + delta
        D = delta + (self._base - self.jump)
        inverse = 1 / D
        kick = self.variance * inverse
        change = -kick * inverse
        bend = -2 * change * inverse if trace.bends else None
        R = Jet(self._transform(F, inverse, kick), change, bend)
        if self._anchored:
            value = delta * (F - self._other) * inverse
            z = Jet(value, (delta + self._short) * (D - self._root) * inverse * inverse, bend)
            noise = 4 * EPS * np.abs(value)
            if self.zero_mass:
                W = self.rate * inverse
                V = Jet(delta * W, -W * self.jump * inverse, 2 * W * self.jump * inverse**2 if trace.bends else None)
            else:
                one = Jet(F, np.ones_like(F), np.zeros_like(F) if trace.bends else None)
                V = z * one.inverse()
        else:
            z = Jet(delta + (self.jump + self.mean) + kick, 1 + change, bend)
            noise = EPS * (np.abs(delta) + abs(self.jump + self.mean) + np.abs(kick))
            V = None
        trace.links.append(Link(True, sheet, Jet.parameter(delta, trace.bends), z, own=True))
        return Point(Jet(F, np.ones_like(F), np.zeros_like(F) if trace.bends else None), R, z, V, noise)

    def _transform(self, F: Array, inverse: Array, kick: Array) -> Array:
        return np.asarray(self.shift + self.rate * self.jump * (F * inverse))

    def start(self, z: Array, out: Array, row: int) -> None:
        out[row] = z - self.mean - self._base

    def argument(self, trace: Trace, row: int, sheet: int) -> tuple[Array, Point]:
        point = self.at(trace, row, sheet)
        delta = trace.parameters[row]
        D, t = delta + (self._base - self.jump), self.rate
        first = t * angle(sheet, D) + (1 - t) * angle(sheet, delta if self._base == 0 else point.F.value)
        return first + t * (self.jump / D).imag, point

    def scales(self) -> list[tuple[float, float]]:
        return [(self.jump - self._base, 6 * self._root)]


class Semicircle(FreePoisson):
    """Semicircle law, R = m + v/F: the limit of many small jumps."""

    def __init__(self, mean: float, variance: float) -> None:
        self.jump, self.rate, self.shift = 0.0, np.inf, 0.0
        self.mean, self.variance = mean, variance
        self.low, self.high = mean - 2 * variance**0.5, mean + 2 * variance**0.5
        self.marks = ()
        self._anchor()

    def _transform(self, F: Array, inverse: Array, kick: Array) -> Array:
        return np.asarray(self.mean + kick)

    def argument(self, trace: Trace, row: int, sheet: int) -> tuple[Array, Point]:
        point = self.at(trace, row, sheet)
        F = point.F.value
        return angle(sheet, F) + (self.variance / (2 * F * F)).imag, point
