"""The real axis of a law: gaps, bulks and edges, found by bisection and proved by the mass that each cell holds.

μ((x, ∞)) is known in closed form at every solved point (free.mass). Between two of them lies

* a gap if both are outside the support and the masses agree up to the marks between;
* a piece of a bulk if both are inside and the density integrates to the difference of the masses;
* an edge if one is inside: a critical point z′ = 0 reached from the outside point by Newton steps, beyond which the
  density integrates to the rest.

Cells for which none holds are halved. (free.cells)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..errors import ConvergenceError
from .nodes import EPS, Array
from .subordination import Roots, Subordination

__all__ = ["GAUSS", "Axis", "Cell"]

_FIRST = 40  # cells to begin with
_NODES = 12  # of the Gauss rule of a cell
_MASS = 1e-12  # by which masses may differ
_LUMP = 1e-12  # mass times width, over the width of the law, below which a cell around a mark is one point
_NARROW = 8 * EPS  # relative width of a cell that is not halved any more
_ROUNDS = 120
_STEPS = 30  # to a critical point
_CELLS = 3000
_FLOOR = 1e-250  # of the top: smallest x looked at
_DEEP = 1e-13  # mass below the lowest point for which lower ones are not needed
_SPREAD = 4.0  # ratio of the ends from which a cell is seen in log x
_DULL = 1e-3  # of the width, below which points without digits are left out

_NONE = np.empty(0)
GAUSS = _T, _W = np.polynomial.legendre.leggauss(_NODES)


@dataclass(frozen=True)
class Cell:
    """A stretch of the axis: x = anchor + side t² ("edge"), eᵗ ("log"), t ("bulk", "lump"); "gap" has no nodes."""

    low: float
    high: float
    kind: str
    nodes: Array
    masses: Array
    parameters: Array
    above: float  # mass above ``high``
    edge: Edge | None = None

    def coordinate(self, x: Array) -> Array:
        """t, increasing with x."""
        if self.edge is not None:
            return self.edge.side * np.sqrt(np.abs(x - self.edge.x))
        return np.log(x) if self.kind == "log" else x

    def location(self, t: Array) -> tuple[Array, Array]:
        """x and dx/dt."""
        if self.edge is not None:
            return self.edge.x + self.edge.side * t * t, 2 * np.abs(t)
        if self.kind == "log":
            x = np.exp(t)
            return x, x
        return t, np.ones_like(t)


@dataclass(frozen=True)
class Edge:
    """End of a bulk, which lies above it for ``side`` = 1 and below for −1."""

    x: float
    parameters: Array
    turn: Array  # parameters − those here ≈ turn √|x − edge| inside the support
    side: int


class Axis:
    """Cells that cover the support, ascending."""

    def __init__(self, sub: Subordination, name: str) -> None:
        self.sub, self.name = sub, name
        node = sub.node
        self.marks = [x for x, _ in node.marks]
        self._masses = [mass for _, mass in node.marks]
        self._width = node.extent
        roots = self._first()
        order = np.argsort(roots.z.real)
        roots = roots.take(order)
        self.x, self.parameters, self.inside = roots.z.real, roots.parameters, roots.inside
        self.above, self.blur = self._mass(roots), self._blur(roots)
        self.cells: list[Cell] = []
        self._bottom()
        self._divide()
        self.cells.sort(key=lambda cell: (cell.low, cell.high))

    def _failed(self, cause: str) -> ConvergenceError:
        return ConvergenceError(f"{self.name}: {cause}; compare with a law of slightly changed parameters", result=self)

    # Cells -----------------------------------------------------------------------------------------------------------

    def _first(self) -> Roots:
        """Chebyshev-like points over the bounds of the support; more towards 0 where the support may reach it."""
        node = self.sub.node
        low, high = node.low - 1e-3 * self._width, node.high + 1e-3 * self._width
        x = low + (high - low) * (1 - np.cos(np.pi * np.arange(_FIRST + 1) / _FIRST)) / 2
        if node.low > 0:
            x = np.append(node.low * (1 - 1e-3), x[x > node.low])
        elif node.low == 0:
            x = x[x > 0]
            x = np.concatenate([x[0] * np.array([1e-9, 1e-6, 1e-3, 0.1]), x])
        for mark in self.marks:
            x = np.where(x == mark, x + 1e-9 * self._width, x)
        roots, found = self.sub.solve(x + 0j)
        if not found.any():
            raise self._failed("no point of the axis could be solved")
        roots = roots.take(found)
        roots = roots.take(self.sub.sharp(roots) | (roots.z.real > _DULL * self._width))
        while node.low == 0 and node.sharp and roots.inside[0] and roots.z[0].real > _FLOOR * node.high:
            if self._below(roots.z[0].real, self._mass(roots)[0]) < _DEEP:
                break
            lower = max(1e-30 * roots.z[0].real, 0.5 * _FLOOR * node.high)
            deep, reached = self._step_down(roots, lower)
            if not reached:
                break
            roots = deep.joined(roots)
        return roots

    def _step_down(self, roots: Roots, lower: float) -> tuple[Roots, bool]:
        """A root at ``lower``, by way of points between."""
        first = roots.take(np.array([0]))
        x, ratio = first.z.real[0], 0.1
        while x > lower and ratio < 0.99:
            goal = np.array([max(x * ratio, lower) + 0j])
            scale = goal.real[0] / x
            root, found = self.sub.attempt(goal, self.sub.scaled(first, scale))
            if found[0]:
                first, x, ratio = root, goal.real[0], ratio**2 if ratio > 1e-12 else ratio
            else:
                ratio = ratio**0.5
        return first, bool(x <= lower)

    def _mass(self, roots: Roots) -> Array:
        return self.sub.argument(roots.parameters) / np.pi

    def _blur(self, roots: Roots) -> Array:
        """Rounding error of the mass: where z is off by its noise, the potential is by G times as much."""
        point, _ = self.sub.at(roots.parameters)
        with np.errstate(all="ignore"):
            return 4 * point.noise / np.abs(point.F.value)

    def _between(self, low: Array | float, high: Array | float) -> Array:
        """Mass of the marks between."""
        total = np.zeros(np.shape(low))
        for x, mass in zip(self.marks, self._masses, strict=True):
            total += mass * ((x > low) & (x < high))
        return total

    def _marked(self, low: Array, high: Array) -> Array:
        found = np.zeros(np.shape(low), bool)
        for x in self.marks:
            found |= (x > low) & (x < high)
        return found

    def _below(self, x: float, above: float) -> float:
        """Mass below x but for marks."""
        return float(1 - above - self._between(-np.inf, x))

    def _bottom(self) -> None:
        """What lies below the first point."""
        below = self._below(self.x[0], self.above[0])
        start = 0.0 if self.sub.node.low == 0 else self.x[0]
        if self.inside[0] and start < self.x[0]:
            self._add(start, self.x[0], "lump", self.above[0], np.array([self.x[0] / 4]), np.array([below]))
        elif self.inside[0] or abs(below) > _MASS:
            raise self._failed(f"a mass of {below:.3g} lies below {self.x[0]:.6g}")
        elif start < self.x[0]:
            self._add(start, self.x[0], "gap", self.above[0])

    def _add(
        self, low: float, high: float, kind: str, above: float, nodes: Array = _NONE, masses: Array = _NONE
    ) -> None:
        none = np.empty((self.sub.node.leaves, 0))
        self.cells.append(Cell(float(low), float(high), kind, nodes, masses, none, float(above)))

    def _divide(self) -> None:
        lo = np.arange(self.x.size - 1)
        hi = lo + 1
        for _ in range(_ROUNDS):
            a, b = self.x[lo], self.x[hi]
            below, above = self.inside[lo], self.inside[hi]
            mass = self.above[lo] - self.above[hi] - self._between(a, b)
            blur = _MASS + self.blur[lo] + self.blur[hi]
            done: Array = ~below & ~above & (np.abs(mass) <= blur)
            for k in np.flatnonzero(done):
                self._add(a[k], b[k], "gap", self.above[hi[k]])
            bulk = np.flatnonzero(below & above & ~self._marked(a, b))
            if bulk.size:
                done[bulk] = self._bulk(lo[bulk], hi[bulk], mass[bulk], blur[bulk])
            for k in np.flatnonzero(below ^ above):
                done[k] = self._edge(lo[k], hi[k], mass[k], blur[k])
            lump = (b - a) <= _NARROW * np.maximum(np.abs(a), np.abs(b))
            lump |= self._marked(a, b) & ((b - a) * np.abs(mass) <= _LUMP * self._width)
            for k in np.flatnonzero(lump & ~done):
                inner = [x for x in self.marks if a[k] < x < b[k]]
                middle = np.array([inner[0] if inner else (a[k] + b[k]) / 2])
                self._add(a[k], b[k], "lump", self.above[hi[k]], middle, mass[k : k + 1])
            done |= lump
            lo, hi = lo[~done], hi[~done]
            if not lo.size:
                return
            if lo.size > _CELLS:
                raise self._failed(f"more than {_CELLS} cells are needed near {self.x[lo[0]]:.6g}")
            new = self._halve(lo, hi)
            lo, hi = np.concatenate([lo, new]), np.concatenate([new, hi])
        raise self._failed(f"{lo.size} stretches of the axis are not resolved, the first at {self.x[lo[0]]:.6g}")

    def _halve(self, lo: Array, hi: Array) -> Array:
        """Numbers of new points between."""
        a, b = self.x[lo], self.x[hi]
        with np.errstate(invalid="ignore"):
            middle = np.where((a > 0) & (b > 2 * _SPREAD * a), np.sqrt(a) * np.sqrt(b), a + (b - a) / 2)
        for mark in self.marks:
            middle = np.where(middle == mark, middle + (b - a) / 16, middle)
        near = np.where(np.abs(middle - a) < np.abs(b - middle), lo, hi)
        guess = self.sub.towards(self._roots(near), middle + 0j)[0]
        roots, found = self.sub.solve(middle + 0j, guess)
        for share in (0.37, 0.71, 0.11):  # next to an edge or a mark: elsewhere then
            rest = np.flatnonzero(~found)
            if rest.size:
                middle[rest] = a[rest] + share * (b[rest] - a[rest])
                more, found[rest] = self.sub.solve(middle[rest] + 0j)
                roots.parameters[:, rest], roots.inside[rest] = more.parameters, more.inside
        if not found.all():
            raise self._failed(f"no root could be proved near {middle[~found][0]:.6g}")
        new = self.x.size + np.arange(middle.size)
        self.x = np.append(self.x, middle)
        self.parameters = np.concatenate([self.parameters, roots.parameters], axis=1)
        self.inside = np.append(self.inside, roots.inside)
        self.above = np.append(self.above, self._mass(roots))
        self.blur = np.append(self.blur, self._blur(roots))
        return new

    def _roots(self, which: Array) -> Roots:
        return Roots(self.x[which] + 0j, self.parameters[:, which], self.inside[which])

    def _bulk(self, lo: Array, hi: Array, mass: Array, blur: Array) -> Array:
        a, b = self.x[lo][:, None], self.x[hi][:, None]
        wide = (a > 0) & (b > _SPREAD * a)
        half = (b - a) / 2
        nodes, weights = a + half * (1 + _T), half * _W
        if wide.any():
            with np.errstate(all="ignore"):
                ratio = np.log(b / a) / 2
                spread = a * np.exp(ratio * (1 + _T))
            nodes, weights = np.where(wide, spread, nodes), np.where(wide, ratio * _W * spread, weights)
        near = np.where(_T < 0, lo[:, None], hi[:, None]).ravel()
        z = nodes.ravel() + 0j
        start = self._roots(near)
        guess = self.sub.towards(start, z)[0]
        far = np.repeat(wide, _NODES, axis=1).ravel()
        if far.any():
            guess[:, far] = self.sub.scaled(start.take(far), z[far].real / start.z[far].real)
        roots, found = self.sub.attempt(z, guess)
        found &= roots.inside
        masses = self.sub.density(roots).reshape(nodes.shape) * weights
        good = found.reshape(nodes.shape).all(1) & (np.abs(masses.sum(1) - mass) <= blur)
        parameters = roots.parameters.reshape(-1, *nodes.shape)
        for k in np.flatnonzero(good):
            kind = "log" if wide[k, 0] else "bulk"
            low, high, above = float(a[k, 0]), float(b[k, 0]), float(self.above[hi[k]])
            self.cells.append(Cell(low, high, kind, nodes[k], masses[k], parameters[:, k], above))
        return good

    def _edge(self, lo: int, hi: int, mass: float, blur: float) -> bool:
        outside, inner = (lo, hi) if self.inside[hi] else (hi, lo)
        a, b = self.x[lo], self.x[hi]
        edge = self._critical(self.parameters[:, outside].real, 1 if self.inside[hi] else -1)
        if edge is None or not a < edge.x < b or self._marked(*sorted((edge.x, self.x[inner]))):
            return False
        x = self.x[inner]
        reach = np.sqrt(abs(x - edge.x))
        t = reach * (1 + _T) / 2
        nodes = edge.x + edge.side * t * t
        if not ((nodes > a) & (nodes < b)).all():
            return False
        start = self.guess_from_edge(edge, nodes)
        guess, far = start.copy(), t > 0.6 * reach
        guess[:, far] = self.sub.towards(self._roots(np.full(far.sum(), inner)), nodes[far] + 0j)[0]
        roots, found = self.sub.attempt(nodes + 0j, guess)
        found &= roots.inside
        if not found[far].all():
            return False
        # next to a flat edge rounding hides the branch: the expansion there, which the mass has to confirm
        roots = Roots(roots.z, np.where(found, roots.parameters, start), np.ones(t.size, bool))
        masses = self.sub.density(roots) * reach * _W * t
        if abs(masses.sum() - mass) > blur:
            return False
        at_edge = float(self.above[outside])
        if edge.side > 0:
            at_edge -= float(self._between(a, edge.x))
            self._add(a, edge.x, "gap", at_edge)
            low, high, above = edge.x, float(x), float(self.above[inner])
        else:
            self._add(edge.x, b, "gap", self.above[outside])
            low, high, above = float(x), edge.x, at_edge + float(self._between(edge.x, b))
        self.cells.append(Cell(low, high, "edge", nodes, masses, roots.parameters, above, edge))
        return True

    def guess_from_edge(self, edge: Edge, x: Array) -> Array:
        """Parameters inside the support next to an edge, to first order."""
        t = np.sqrt(np.abs(x - edge.x))
        return self.sub.predict(np.repeat(edge.parameters[:, None], t.size, axis=1), edge.turn[:, None] * t)

    def _critical(self, parameters: Array, side: int) -> Edge | None:
        """Newton steps to z′ = 0 from real parameters, along the curve."""
        now = parameters[:, None].astype(complex)
        for step in range(_STEPS):
            point, trace = self.sub.at(now, bends=True)
            with np.errstate(all="ignore"):
                move = (trace.rate * (-point.z.slope / self.sub.bend(point, now))).real
            if not np.isfinite(move).all():
                return None
            now = self.sub.onto_curve(self.sub.predict(now, move))
            close = np.abs(move).max() <= 1e-14 * np.abs(now).max()
            if close or (step == _STEPS - 1 and (np.abs(move) <= 1e-9 * np.abs(now)).all()):
                break
        else:
            return None
        point, trace = self.sub.at(now, bends=True)
        bend = point.z.bend[0]
        if not np.isfinite(bend) or bend == 0:
            return None
        root = np.sqrt(2 * side / bend + 0j)
        if (point.F.slope[0] * root).imag < 0:  # F maps the upper half-plane into itself
            root = -root
        return Edge(float(point.z.value[0].real), now[:, 0], trace.rate[:, 0] * root, side)

    # What the cells say ----------------------------------------------------------------------------------------------

    @cached_property
    def intervals(self) -> tuple[tuple[float, float], ...]:
        """The support, touching cells joined."""
        found: list[list[float]] = []
        for number, cell in enumerate(self.cells):
            hollow = cell.kind == "lump" and number > 0 and abs(cell.masses[0]) <= _MASS
            if cell.kind == "gap" or hollow:
                continue
            if found and cell.low <= found[-1][1]:
                found[-1][1] = cell.high
            else:
                found.append([cell.low, cell.high])
        return tuple((low, high) for low, high in found)
