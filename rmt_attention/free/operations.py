"""Operations on laws as operations on their curves s ↦ (F, R, z), F = 1/G, R = z − F.

μ^{⊞t}       F = F1,              R = t R1,           z = z1 + (t − 1) R1
μ^{⊠t}       the factor R1^{t−1} on F, R and z
μ ⊞ λ        F = F1,              R = R1 + R_λ(F),    z = z1 + R_λ(F),   λ free Poisson or semicircular
π(μ, t)      F = z1,              R = t z1 u1,        z = F + R
a μ + b      F = a F1,            R = a R1 + b,       z = a z1 + b
"""

from __future__ import annotations

import numpy as np

from .jets import Jet, where
from .leaves import FreePoisson
from .nodes import EPS, Array, Link, Node, Operation, Point, Trace, angle, merged


def has_zero(node: Node) -> bool:
    """Whether 0 is an atom or about to be one."""
    return any(x == 0 for x, _ in node.marks)


class Affine(Operation):
    """a μ + b, a ≠ 0. (free.affine)"""

    def __init__(self, child: Node, factor: float, offset: float) -> None:
        super().__init__(child)
        self.factor, self.offset, self.turn = factor, offset, 1 if factor > 0 else -1
        self.mean, self.variance = factor * child.mean + offset, factor**2 * child.variance
        self.low, self.high = sorted((factor * child.low + offset, factor * child.high + offset))
        self.marks = merged((factor * x + offset, mass) for x, mass in child.marks)
        self._dilation = factor > 0 and offset == 0
        if self._dilation:
            self.nonzero_mass = child.nonzero_mass
        self.sharp = self._dilation and child.sharp

    def image(self, inner: Point) -> Point:
        a, b = self.factor, self.offset
        F, z = inner.F.affine(a), inner.z.affine(a, b)
        noise = abs(a) * inner.noise
        if b:
            noise = noise + EPS * (np.abs(z.value - b) + abs(b))
        return Point(F, lambda: inner.R.affine(a, b), z, inner.V if self._dilation else self.excess(F, z), noise)

    def start(self, z: Array, out: Array, row: int) -> None:
        self.child.start((z - self.offset) / self.factor, out, row)

    def argument(self, trace: Trace, row: int, sheet: int) -> tuple[Array, Point]:
        value, inner = self.child.argument(trace, row, sheet * self.turn)
        return value + (np.pi * sheet if self.factor < 0 else 0.0), self.image(inner)


class Noisy(Operation):
    """μ ⊞ a free Poisson or semicircle law. (free.sum)"""

    additive = True

    def __init__(self, child: Node, noise: FreePoisson) -> None:
        super().__init__(child)
        self.noise = noise
        self.mean, self.variance = child.mean + noise.mean, child.variance + noise.variance
        self.low, self.high = child.low + noise.low, child.high + noise.high
        self.marks = merged((x + y, p + q - 1) for x, p in child.marks for y, q in noise.marks)

    def image(self, inner: Point) -> Point:
        F, law = inner.F, self.noise
        kick = F.affine(1.0, -law.jump).inverse()
        extra = (F * kick).affine(law.rate * law.jump, law.shift) if law.jump else kick.affine(law.variance, law.mean)
        z = inner.z + extra
        carried = inner.noise * np.abs(F.slope / inner.z.slope) + EPS * np.abs(F.value)
        noise = (
            inner.noise + EPS * (np.abs(inner.z.value) + np.abs(extra.value)) + carried * np.abs(extra.slope / F.slope)
        )
        return Point(F, inner.R + extra, z, self.excess(F, z), noise)

    def start(self, z: Array, out: Array, row: int) -> None:
        self.child.start(z - self.noise.mean, out, row)

    def argument(self, trace: Trace, row: int, sheet: int) -> tuple[Array, Point]:
        value, inner = self.child.argument(trace, row, sheet)
        F, law = inner.F.value, self.noise
        if law.jump:
            D = F - law.jump
            value = value + law.rate * (angle(sheet, D) - angle(sheet, F) + (law.jump / D).imag)
        else:
            value = value + (law.variance / (2 * F * F)).imag
        return value, self.image(inner)


class CompoundPoisson(Operation):
    """π(μ, t), of free cumulants t ∫ xᵏ dμ. (free.compound)"""

    additive = True

    def __init__(self, child: Node, rate: float) -> None:
        super().__init__(child)
        self.rate = rate
        self.mean, self.variance = rate * child.mean, rate * (child.variance + child.mean**2)
        spread = (1 + rate**0.5) ** 2
        self.low, self.high = min(0.0, child.low * spread), max(0.0, child.high * spread)
        if child.low > 0 and rate > 1:
            self.low = child.low * (rate**0.5 - 1) ** 2
        jumps = rate * child.nonzero_mass
        self.marks = merged([(0.0, 1 - jumps)])
        self.nonzero_mass = jumps if self.zero_mass else 1.0
        self._surplus = 0.0 if self.marks else jumps - 1
        self.sharp = child.sharp and not self._surplus

    def image(self, inner: Point) -> Point:
        F = inner.z

        def transform() -> Jet:
            return (F * inner.R * inner.F.inverse()).affine(self.rate)

        if inner.V is None:
            R = transform()
            z = F + R
            return Point(F, R, z, None, inner.noise + EPS * (np.abs(F.value) + np.abs(R.value)))
        V = inner.V.affine(self.rate, -self._surplus)  # 1 − atom + t u
        z = F * V.affine(1.0, self.zero_mass)
        relative = inner.noise / np.abs(F.value) + 4 * EPS
        return Point(F, transform, z, V, relative * np.abs(z.value) + EPS * self._surplus * np.abs(F.value))

    def start(self, z: Array, out: Array, row: int) -> None:
        self.child.start(z - self.mean, out, row)

    def argument(self, trace: Trace, row: int, sheet: int) -> tuple[Array, Point]:
        value, inner = self.child.argument(trace, row, sheet)
        u = inner.R.value / inner.F.value if inner.V is None else inner.V.value
        return self.rate * (value + u.imag) + (1 - self.rate) * angle(sheet, inner.z.value), self.image(inner)


class Part(Operation):
    """t μ + (1 − t) δ_0, μ on [0, ∞), t ≤ 1/(1 − μ({0})). (free.part)"""

    def __init__(self, child: Node, share: float) -> None:
        super().__init__(child)
        self.share = share
        self.mean = share * child.mean
        self.variance = share * (child.variance + child.mean**2) - self.mean**2
        self.low, self.high = (0.0 if share < 1 else child.low), child.high
        rest = share * child.nonzero_mass
        zero = [(0.0, 1 - rest)] if share < 1 or has_zero(child) else []
        self.marks = merged([*zero, *((x, share * p) for x, p in child.marks if x)])
        self.nonzero_mass = rest if self.zero_mass else 1.0
        self.sharp = child.sharp

    def image(self, inner: Point) -> Point:
        assert inner.V is not None
        V = inner.V.affine(self.share)
        F = inner.z * V.affine(1.0, self.zero_mass).inverse()

        def transform() -> Jet:  # where nothing cancels
            u = (inner.R * inner.F.inverse()).affine(self.share)
            return where(np.abs(u.value) < 0.5, F * u, inner.z + F.affine(-1.0))

        return Point(F, transform, inner.z, V, inner.noise)

    def start(self, z: Array, out: Array, row: int) -> None:
        self.child.start(z, out, row)

    def argument(self, trace: Trace, row: int, sheet: int) -> tuple[Array, Point]:
        value, inner = self.child.argument(trace, row, sheet)
        return self.share * value + (1 - self.share) * angle(sheet, inner.z.value), self.image(inner)


class AdditivePower(Operation):
    """μ^{⊞t}, t > 1. (free.powers)"""

    additive = True

    def __init__(self, child: Node, exponent: float) -> None:
        super().__init__(child)
        self.exponent = exponent
        self.mean, self.variance = exponent * child.mean, exponent * child.variance
        self.low, self.high = exponent * child.low, exponent * child.high
        self.marks = merged((exponent * x, exponent * mass - (exponent - 1)) for x, mass in child.marks)

    def image(self, inner: Point) -> Point:
        extra = inner.R.affine(self.exponent - 1)
        z = inner.z + extra
        noise = inner.noise + EPS * (np.abs(inner.z.value) + np.abs(extra.value))
        return Point(inner.F, inner.R.affine(self.exponent), z, self.excess(inner.F, z), noise)

    def start(self, z: Array, out: Array, row: int) -> None:
        self.child.start(z - (self.exponent - 1) * self.child.mean, out, row)

    def argument(self, trace: Trace, row: int, sheet: int) -> tuple[Array, Point]:
        value, inner = self.child.argument(trace, row, sheet)
        return self.exponent * value - (self.exponent - 1) * angle(sheet, inner.F.value), self.image(inner)


class MultiplicativePower(Operation):
    """μ^{⊠t}, t > 1, μ on [0, ∞). (free.powers)"""

    def __init__(self, child: Node, exponent: float) -> None:
        super().__init__(child)
        self.exponent = exponent
        self.mean = child.mean**exponent
        self.variance = exponent * child.variance * child.mean ** (2 * exponent - 2)
        self.low, self.high = child.low**exponent, child.high**exponent
        self.marks = merged(
            (x**exponent, exponent * mass - (exponent - 1)) if x else (x, mass) for x, mass in child.marks
        )
        self.sharp, self.nonzero_mass = child.sharp, child.nonzero_mass

    def at(self, trace: Trace, row: int, sheet: int) -> Point:
        inner = self.child.at(trace, row, sheet)
        point = self.image(inner)
        trace.links.append(Link(False, sheet, inner.z, point.z))
        trace.evidence.append((row, lambda error: self._not_wound(inner, sheet)))
        return point

    def _not_wound(self, inner: Point, sheet: int) -> tuple[Array, Array]:
        """Whether arg z, as the sum arg z1 + (t − 1) arg R1, is in [0, π] and not a turn below."""
        total = angle(sheet, inner.z.value) + (self.exponent - 1) * np.angle(inner.R.value)
        good = np.asarray(sheet * total > -np.pi / 2)
        return good, good

    def image(self, inner: Point) -> Point:
        factor = inner.R.power(self.exponent - 1)
        z = inner.z * factor
        noise = inner.noise * np.abs(factor.value) + 4 * EPS * np.abs(z.value)
        return Point(inner.F * factor, inner.R * factor, z, inner.V, noise)

    def start(self, z: Array, out: Array, row: int) -> None:
        self.child.start(z / self.child.mean ** (self.exponent - 1), out, row)

    def argument(self, trace: Trace, row: int, sheet: int) -> tuple[Array, Point]:
        value, inner = self.child.argument(trace, row, sheet)
        turned = angle(sheet, inner.F.value / inner.R.value)
        return self.exponent * value - (self.exponent - 1) * turned, self.image(inner)
