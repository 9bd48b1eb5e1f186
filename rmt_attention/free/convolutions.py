"""Free convolutions of two laws as operations on their curves s ↦ (F, R, z), F = 1/G, R = z − F.

μ1 ⊞ μ2      F1 = F2,             R = R1 + R2,        z = z1 + R2 = z2 + R1
μ1 ⊠ μ2      u1 = u2, u = R/F,    R = R1 R2,          z = z1 R2 = z2 R1,      F = F1 R2 = F2 R1
"""

from __future__ import annotations

import numpy as np

from .jets import Jet, where
from .nodes import EPS, Array, Link, Node, Point, Trace, angle, merged

__all__ = ["Product", "Sum"]


class _Convolution(Node):
    """An operation on two laws."""

    def __init__(self, one: Node, other: Node) -> None:
        self.one, self.other = one, other
        self.leaves = one.leaves + other.leaves

    def scales(self) -> list[tuple[float, float]]:
        return self.one.scales() + self.other.scales()

    def _blur(self, trace: Trace, one: Point, other: Point) -> None:
        both = one.noise / np.abs(one.F.value) + other.noise / np.abs(other.F.value)
        trace.blur = np.maximum(trace.blur, both)

    def _match(self, trace: Trace, row: int, one: Jet, other: Jet) -> tuple[Array, Array, Array | None]:
        """Moves of the second parameter that make the two quantities equal, to first order and for every first one."""
        offset = (one.value - other.value) / other.slope
        rate = one.slope / other.slope
        curvature = None
        if one.bend is not None:
            curvature = (one.bend - other.bend * rate * rate) / other.slope
        rows = slice(row + self.one.leaves, row + self.leaves)
        trace.offset[rows] += trace.rate[rows] * offset
        trace.rate[rows] *= rate
        return offset, rate, curvature


class Sum(_Convolution):
    """μ1 ⊞ μ2. (free.sum)"""

    def __init__(self, one: Node, other: Node) -> None:
        super().__init__(one, other)
        self.mean, self.variance = one.mean + other.mean, one.variance + other.variance
        self.low, self.high = one.low + other.low, one.high + other.high
        self.marks = merged((x + y, p + q - 1) for x, p in one.marks for y, q in other.marks)

    def at(self, trace: Trace, row: int, sheet: int) -> Point:
        one = self.one.at(trace, row, sheet)
        other = self.other.at(trace, row + self.one.leaves, sheet)
        self._blur(trace, one, other)
        first, second = one.F, other.F
        pole = np.abs(other.z.value - self.other.mean) < 0.5 * np.abs(second.value)  # G next to 0
        if pole.any():
            first, second = where(pole, first.inverse(), first), where(pole, second.inverse(), second)
        moves = self._match(trace, row, first, second)
        R2, z2 = other.R.moved(*moves), other.z.moved(*moves)
        z = where(np.abs(one.z.value) < np.abs(z2.value), one.z + R2, z2 + one.R)
        trace.links += [Link(True, sheet, one.z, z), Link(True, sheet, z2, z)]
        noise = np.minimum(
            one.noise + EPS * (np.abs(one.z.value) + np.abs(R2.value)),
            other.noise + EPS * (np.abs(z2.value) + np.abs(one.R.value)),
        )
        carried = one.noise * np.abs(one.F.slope / one.z.slope) + EPS * np.abs(one.F.value)
        noise = noise + carried * np.abs(other.R.slope / other.F.slope)
        return Point(one.F, one.R + R2, z, self._excess(one.F, z), noise)

    def start(self, z: Array, out: Array, row: int) -> None:
        self.one.start(z - self.other.mean, out, row)
        self.other.start(z - self.one.mean, out, row + self.one.leaves)

    def argument(self, trace: Trace, row: int, sheet: int) -> tuple[Array, Point]:
        first, one = self.one.argument(trace, row, sheet)
        second, other = self.other.argument(trace, row + self.one.leaves, sheet)
        z = one.z + other.R
        point = Point(one.F, one.R + other.R, z, self._excess(one.F, z), one.noise)
        return first + second - angle(sheet, one.F.value), point

    def _excess(self, F: Jet, z: Jet) -> Jet | None:
        return (z * F.inverse()).affine(1.0, -self.zero_mass) if self.low >= 0 else None


class Product(_Convolution):
    """μ1 ⊠ μ2 (free.product), both on [0, ∞); the first is the one that matters most at 0."""

    def __init__(self, one: Node, other: Node) -> None:
        if (one.zero_mass, one.sharp) < (other.zero_mass, other.sharp):
            one, other = other, one
        super().__init__(one, other)
        self.mean = one.mean * other.mean
        self.variance = one.mean**2 * other.variance + other.mean**2 * one.variance
        self.low, self.high = one.low * other.low, one.high * other.high
        rest = [(x * y, p + q - 1) for x, p in one.marks for y, q in other.marks if x and y]
        zero = [(0.0, one.zero_mass)] if any(x == 0 for x, _ in one.marks + other.marks) else []
        self.marks = merged([*zero, *rest])
        self.sharp, self.nonzero_mass = one.sharp, one.nonzero_mass
        self._behind = one.zero_mass - other.zero_mass

    def at(self, trace: Trace, row: int, sheet: int) -> Point:
        one = self.one.at(trace, row, sheet)
        other = self.other.at(trace, row + self.one.leaves, sheet)
        self._blur(trace, one, other)
        assert one.V is not None
        assert other.V is not None
        # u = V − (1 − atom); far out, where u → 0, its inverse
        first, second = one.V, other.V.affine(1.0, -self._behind)
        far = ~(np.abs(first.value) < 0.5 * (1 - self.one.zero_mass))
        if far.any():
            first = where(far, one.F * one.R.inverse(), first)
            second = where(far, other.F * other.R.inverse(), second)
        moves = self._match(trace, row, first, second)
        R2, z2 = other.R.moved(*moves), other.z.moved(*moves)
        z = one.z * R2
        trace.links += [Link(False, sheet, one.z, z), Link(False, sheet, z2, z)]
        size = np.abs(z.value)
        carried = one.noise * np.abs(first.slope / one.z.slope) + EPS * (np.abs(first.value) + np.abs(second.value))
        if self._behind:
            carried = carried + EPS
        noise = (
            one.noise * np.abs(R2.value) + 4 * EPS * size + carried * np.abs(other.R.slope / second.slope * one.z.value)
        )
        return Point(one.F * R2, one.R * R2, z, one.V, noise)

    def start(self, z: Array, out: Array, row: int) -> None:
        self.one.start(z / self.other.mean, out, row)
        self.other.start(z / self.one.mean, out, row + self.one.leaves)

    def argument(self, trace: Trace, row: int, sheet: int) -> tuple[Array, Point]:
        first, one = self.one.argument(trace, row, sheet)
        second, other = self.other.argument(trace, row + self.one.leaves, sheet)
        turned = angle(sheet, one.F.value / one.R.value)
        return first + second - turned, Point(one.F * other.R, one.R * other.R, one.z * other.R, one.V, one.noise)
