"""Laws as trees of operations, each a curve in the parameters of its leaves.

With F = 1/G and R = z − F, the R-transform at G, a law is a curve s ↦ (F, R, z). (free.curve)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .jets import Jet

__all__ = ["EPS", "Array", "Link", "Marks", "Node", "Operation", "Point", "Trace", "angle", "merged"]

Array = NDArray[Any]
Marks = tuple[tuple[float, float], ...]
# From the error of a leaf's parameter, where it can be the branch in the half-plane, and where outside the support.
Evidence = Callable[[Array], tuple[Array, Array]]
EPS = float(np.finfo(float).eps)
_TIE = 16 * EPS  # masses below it are 0


class Point:
    """F, R, z and, for laws on [0, ∞), V = zG − μ({0}) as jets in the parameter of the first leaf.

    ``noise`` is the rounding error of z. V keeps its digits at x = 0, where z → 0 with V. R is worked out if asked for.
    """

    __slots__ = ("F", "V", "_R", "noise", "z")

    def __init__(self, F: Jet, R: Jet | Callable[[], Jet], z: Jet, V: Jet | None, noise: Array) -> None:
        self.F, self._R, self.z, self.V, self.noise = F, R, z, V, noise

    @property
    def R(self) -> Jet:  # noqa: N802
        if not isinstance(self._R, Jet):
            self._R = self._R()
        return self._R


@dataclass(frozen=True, slots=True)
class Link:
    """One subordination function: ``inner`` at ``outer``, both in the upper (sheet 1) or lower (−1) half-plane.

    At the own one of a leaf ``inner`` is its parameter, which inside the support has to be off the axis. A law inside
    the expression may be moved by less than rounding from where it is asked for.
    """

    additive: bool
    sheet: int
    inner: Jet
    outer: Jet
    own: bool = False


@dataclass
class Trace:
    """One evaluation of a tree at all its leaf parameters, one row each.

    To first order the equations of the tree hold after moves ``offset + rate δ`` of the leaves, δ that of the first.
    ``blur`` is the rounding error of the potential that comes from convolutions inside: noise over |F| of their laws.
    """

    parameters: Array
    bends: bool
    offset: Array = field(init=False)
    rate: Array = field(init=False)
    blur: Array | float = 0.0
    links: list[Link] = field(default_factory=list)
    evidence: list[tuple[int, Evidence]] = field(default_factory=list)  # of leaves, by row

    def __post_init__(self) -> None:
        self.offset, self.rate = np.zeros_like(self.parameters), np.ones_like(self.parameters)


class Node(ABC):
    """A law with compact support as a tree of operations; immutable."""

    mean: float
    variance: float
    low: float  # bounds of the support
    high: float
    leaves: int
    marks: Marks  # locations and masses of the atoms; mass 0 where one is about to form
    sharp = False  # whether the parameter resolves z to relative precision at z → 0

    @property
    def extent(self) -> float:
        """Width of the bounds of the support; the size of the location for a point mass."""
        return self.high - self.low or abs(self.high) or 1.0

    @cached_property
    def zero_mass(self) -> float:
        return sum(mass for x, mass in self.marks if x == 0)

    @cached_property
    def nonzero_mass(self) -> float:
        """1 − μ({0}); set by laws that have it to relative precision, so that products of shares tie as they should."""
        return 1 - self.zero_mass

    @abstractmethod
    def at(self, trace: Trace, row: int, sheet: int) -> Point:
        """The point with the leaf parameters from ``row`` on."""

    @abstractmethod
    def start(self, z: Array, out: Array, row: int) -> None:
        """Approximate leaf parameters for z far from the support, into the rows of ``out``."""

    @abstractmethod
    def argument(self, trace: Trace, row: int, sheet: int) -> tuple[Array, Point]:
        """Im ∫ log(z − x) dμ on the closed half-plane of the sheet, where the tree's equations hold. (free.mass)"""

    @abstractmethod
    def scales(self) -> list[tuple[float, float]]:
        """For every leaf, centre and radius beyond which it is the inverse of its parameter that moves steadily."""


class Operation(Node):
    """An operation on one law."""

    additive: bool | None = None  # how z subordinates that of the child, if not by an affine map
    turn = 1  # −1 where the child is on the other half-plane

    def __init__(self, child: Node) -> None:
        self.child, self.leaves = child, child.leaves

    @abstractmethod
    def image(self, inner: Point) -> Point:
        """The point from that of the child."""

    def at(self, trace: Trace, row: int, sheet: int) -> Point:
        inner = self.child.at(trace, row, sheet * self.turn)
        point = self.image(inner)
        if self.additive is not None:
            trace.links.append(Link(self.additive, sheet, inner.z, point.z))
        return point

    def scales(self) -> list[tuple[float, float]]:
        return self.child.scales()

    def excess(self, F: Jet, z: Jet) -> Jet | None:
        """V, from F and z."""
        return (z * F.inverse()).affine(1.0, -self.zero_mass) if self.low >= 0 else None


def angle(sheet: int, value: Array) -> Array:
    """Argument on the closed half-plane of the sheet."""
    return np.asarray(sheet * np.arctan2(np.maximum(sheet * value.imag, 0.0), value.real))


def merged(marks: Iterable[tuple[float, float]]) -> Marks:
    """Masses by location, ascending; negative ones are none and rounding is 0."""
    found: dict[float, float] = {}
    for x, mass in marks:
        if mass > -_TIE:
            found[x] = found.get(x, 0.0) + (mass if mass > _TIE else 0.0)
    return tuple(sorted(found.items()))
