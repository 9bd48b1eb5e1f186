"""The real axis of a law: gaps, bulks and edges, found by bisection and proved by the mass that each cell holds.

μ((x, ∞)) is known in closed form at every solved point (free.mass). Between two of them lies

* a gap if both are outside the support and the masses agree up to the marks between;
* a piece of a bulk if both are inside and the density integrates to the difference of the masses;
* an edge if one is inside: a critical point z′ = 0 reached from the outside point by Newton steps, beyond which the
  density integrates to the rest.

Cells for which none holds are halved. (free.cells)
"""

from __future__ import annotations

from collections.abc import Sequence
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
_LUMP = 1e-12  # mass times width, over the deviation of the law, below which a cell around a mark is one point
_NARROW = 8 * EPS  # relative width of a cell that is not halved any more
_ROUNDS = 120
_STEPS = 30  # to a critical point
_CLOSE = 1e-9  # relative step after which one more leaves rounding only
_CELLS = 3000
_FLOOR = 1e-250  # of the top: smallest x looked at
_DEEP = 1e-13  # mass below the lowest point for which lower ones are not needed
_SPREAD = 4.0  # ratio of the ends from which a cell is seen in log x
_NEXT = 1 / 16  # ratio of distances from an edge from which a stretch begins next to it
_DULL = 1e-3  # of the width, below which points without digits are left out
_BLURRED = 1e-9  # error of the mass from which a point has too few

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
        self._known_edges: dict[tuple[int, int], Edge | None] = {}
        self._thin()
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
        roots = roots.take(self._usable(roots) | (roots.z.real > _DULL * self._width))
        while node.low == 0 and roots.inside[0] and roots.z[0].real > _FLOOR * node.high:
            if self._below(roots.z[0].real, self._mass(roots)[0]) < _DEEP:
                break
            lower = max((1e-30 if node.sharp else 0.1) * roots.z[0].real, 0.5 * _FLOOR * node.high)
            deep, reached = self._step_down(roots, lower)
            if not reached or not self._usable(deep)[0]:
                break
            roots = deep.joined(roots)
        return roots

    def _usable(self, roots: Roots) -> Array:
        """Where rounding leaves digits of z and of the mass."""
        return self.sub.sharp(roots) & (self._blur(roots) < _BLURRED)

    def _step_down(self, roots: Roots, lower: float) -> tuple[Roots, bool]:
        """A root at ``lower``, by way of points between."""
        first = roots.take(np.array([0]))
        x, ratio = first.z.real[0], 0.1
        while x > lower and ratio < 0.99:
            goal = np.array([max(x * ratio, lower) + 0j])
            scale = goal.real[0] / x
            root, found = self.sub.attempt(goal, self.sub.scaled(first.z, first.parameters, scale))
            if found[0]:
                first, x, ratio = root, goal.real[0], ratio**2 if ratio > 1e-12 else ratio
            else:
                ratio = ratio**0.5
        return first, bool(x <= lower)

    def _mass(self, roots: Roots) -> Array:
        return self.sub.argument(roots.parameters) / np.pi

    def _blur(self, roots: Roots) -> Array:
        """Rounding error of the mass: where z is off by its noise, the potential is by G times as much."""
        point, trace = self.sub.at(roots.parameters)
        with np.errstate(all="ignore"):
            return np.asarray(4 * (point.noise / np.abs(point.F.value) + trace.blur))

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
            # its mean, if the mass grows like a power of x
            point, _ = self.sub.at(self.parameters[:, :1])
            power = float(self.sub.density(self.x[:1], point)[0] * self.x[0]) / max(below, EPS)
            middle = self.x[:1] * power / (1 + power)
            self._add(start, self.x[0], "lump", self.above[0], middle, np.array([below]))
        elif self.inside[0] or abs(below) > _MASS:
            raise self._failed(f"a mass of {below:.3g} lies below {self.x[0]:.6g}")
        elif start < self.x[0]:
            self._add(start, self.x[0], "gap", self.above[0])

    def _add(
        self, low: float, high: float, kind: str, above: float, nodes: Array = _NONE, masses: Array = _NONE
    ) -> None:
        none = np.empty((self.sub.node.leaves, 0))
        self.cells.append(Cell(float(low), float(high), kind, nodes, masses, none, float(above)))

    def _thin(self) -> None:
        """Leave out points inside that lie next to an edge: the cell at the edge can reach further."""
        flips = np.flatnonzero(self.inside[1:] != self.inside[:-1])
        side = np.where(self.inside[flips + 1], 1, -1)
        outer, inner = flips + (side < 0), flips + (side > 0)
        edges = self._edges(outer, inner)
        kept = np.ones(self.x.size, bool)
        for edge, start, near, far in zip(edges, outer, inner, inner + side, strict=True):
            if edge is None or not 0 <= far < self.x.size or not self.inside[far]:
                continue
            distances = edge.side * (self.x[[start, near, far]] - edge.x)
            if distances[0] < 0 < distances[1] < _NEXT * distances[2] and not self._marked(
                *np.sort([edge.x, self.x[far]])
            ):
                kept[near] = False
        place = np.cumsum(kept) - 1
        moved = zip(outer.tolist(), np.where(kept[inner], inner, inner + side).tolist(), edges, strict=True)
        self._known_edges = {(int(place[start]), int(place[end])): edge for start, end, edge in moved}
        self.x, self.inside, self.parameters = self.x[kept], self.inside[kept], self.parameters[:, kept]
        self.above, self.blur = self.above[kept], self.blur[kept]

    def _between_scales(self, a: Array, b: Array) -> Array:
        """Where to divide stretches that begin much closer to an edge than they are long; elsewhere NaN."""
        places = np.array([edge.x for edge in self._known_edges.values() if edge is not None])
        hints = np.full(a.shape, np.nan)
        if not places.size:
            return hints
        below, above = a[:, None] - places, places - b[:, None]
        which = np.where(np.maximum(below, above) >= 0, np.maximum(below, above), np.inf).argmin(1)
        rows = np.arange(a.size)
        near = np.maximum(below, above)[rows, which]
        far = near + (b - a)
        close = (near > 0) & (near < _NEXT * far)
        sign = np.where(below[rows, which] > 0, 1, -1)
        hints[close] = places[which[close]] + sign[close] * np.sqrt(near[close] * far[close])
        return hints

    def _divide(self) -> None:
        node = self.sub.node
        lo = np.arange(self.x.size - 1)
        hi = lo + 1
        for _ in range(_ROUNDS):
            a, b = self.x[lo], self.x[hi]
            below, above = self.inside[lo], self.inside[hi]
            allowed, marked = self._allowed(a, b), self._between(a, b)
            mass, blur = self._held(lo, hi, marked), allowed + self.blur[lo] + self.blur[hi]
            done: Array = ~below & ~above & (np.abs(mass) <= blur)
            self._level(lo[done], hi[done], marked[done])
            mass, blur = self._held(lo, hi, marked), allowed + self.blur[lo] + self.blur[hi]
            for k in np.flatnonzero(done):
                self._add(a[k], b[k], "gap", self.above[hi[k]])
            bulk = np.flatnonzero(below & above & ~self._marked(a, b))
            if bulk.size:
                done[bulk] = self._bulk(lo[bulk], hi[bulk], mass[bulk], blur[bulk])
            hints = np.full(lo.size, np.nan)
            rims = np.flatnonzero(below ^ above)
            if rims.size:
                done[rims], hints[rims] = self._rims(lo[rims], hi[rims], mass[rims], blur[rims])
            rest = bulk[~done[bulk]]
            hints[rest] = self._between_scales(a[rest], b[rest])
            lump = (b - a) <= _NARROW * np.maximum(np.abs(a), np.abs(b))
            lump |= self._marked(a, b) & ((b - a) * np.abs(mass) <= _LUMP * node.variance**0.5)
            for k in np.flatnonzero(lump & ~done):
                inner = [x for x in self.marks if a[k] < x < b[k]]
                middle = np.array([inner[0] if inner else (a[k] + b[k]) / 2])
                self._add(a[k], b[k], "lump", self.above[hi[k]], middle, mass[k : k + 1])
            done |= lump
            lo, hi, hints = lo[~done], hi[~done], hints[~done]
            if not lo.size:
                return
            if lo.size > _CELLS:
                raise self._failed(f"more than {_CELLS} cells are needed near {self.x[lo[0]]:.6g}")
            new = self._halve(lo, hi, hints)
            lo, hi = np.concatenate([lo, new]), np.concatenate([new, hi])
        raise self._failed(f"{lo.size} stretches of the axis are not resolved, the first at {self.x[lo[0]]:.6g}")

    def _held(self, lo: Array, hi: Array, marked: Array) -> Array:
        """Mass between points but for the marks'."""
        return np.asarray(self.above[lo] - self.above[hi] - marked)

    def _level(self, lo: Array, hi: Array, marked: Array) -> None:
        """The masses above both ends of gaps from that which is known better."""
        first = self.blur[lo] <= self.blur[hi]
        self.above[hi[first]] = (self.above[lo] - marked)[first]
        self.above[lo[~first]] = (self.above[hi] + marked)[~first]
        self.blur[lo] = self.blur[hi] = np.minimum(self.blur[lo], self.blur[hi])

    def _allowed(self, a: Array, b: Array) -> Array:
        """By how much masses may differ: less where it would show in the variance."""
        node = self.sub.node
        away = np.maximum(np.abs(a - node.mean), np.abs(b - node.mean))
        return np.asarray(_MASS * np.minimum(1.0, node.variance / away**2))

    def _halve(self, lo: Array, hi: Array, hints: Array) -> Array:
        """Numbers of new points between, at the hints where there are some."""
        a, b = self.x[lo], self.x[hi]
        with np.errstate(invalid="ignore"):
            middle = np.where((a > 0) & (b > 2 * _SPREAD * a), np.sqrt(a) * np.sqrt(b), a + (b - a) / 2)
        middle = np.where(np.isnan(hints), middle, hints)
        for mark in self.marks:
            middle = np.where(middle == mark, middle + (b - a) / 16, middle)
        near = np.where(np.abs(middle - a) < np.abs(b - middle), lo, hi)
        guess = self._towards(near, middle + 0j)
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

    def _towards(self, which: Array, z: Array) -> Array:
        """Guesses at z from solved points."""
        return self.sub.towards(self.x[which] + 0j, self.parameters[:, which], z)

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
        guess = self._towards(near, z)
        far = np.repeat(wide, _NODES, axis=1).ravel()
        if far.any():
            start = self.x[near[far]]
            guess[:, far] = self.sub.scaled(start + 0j, self.parameters[:, near[far]], z[far].real / start)
        roots, found = self.sub.attempt_inside(z, guess)
        masses = roots.density.reshape(nodes.shape) * weights
        good = found.reshape(nodes.shape).all(1) & (np.abs(masses.sum(1) - mass) <= blur)
        masses = self._telescoping(masses, mass)
        parameters = roots.parameters.reshape(-1, *nodes.shape)
        for k in np.flatnonzero(good):
            kind = "log" if wide[k, 0] else "bulk"
            low, high, above = float(a[k, 0]), float(b[k, 0]), float(self.above[hi[k]])
            self.cells.append(Cell(low, high, kind, nodes[k], masses[k], parameters[:, k], above))
        return good

    def _telescoping(self, masses: Array, mass: Array) -> Array:
        """Masses that add up to that of their cell, where rounding blurs it by more than it may differ."""
        total = masses.sum(1)
        with np.errstate(all="ignore"):
            ratio = np.where((np.abs(total - mass) > _MASS) & (total > 0), mass / total, 1.0)
            return np.asarray(masses * ratio[:, None])

    def _rims(self, lo: Array, hi: Array, mass: Array, blur: Array) -> tuple[Array, Array]:
        """Cells from a gap into a bulk: which hold one edge, and where to look else."""
        side = np.where(self.inside[hi], 1, -1)
        outer, inner = np.where(side > 0, lo, hi), np.where(side > 0, hi, lo)
        edges = self._edges(outer, inner)
        done, hints = np.zeros(lo.size, bool), np.full(lo.size, np.nan)
        anchor = np.array([np.nan if edge is None else edge.x for edge in edges])
        x, start = self.x[inner], self.x[outer]
        between = ~np.isnan(anchor) & ~self._marked(np.minimum(anchor, x), np.maximum(anchor, x))
        rows = np.flatnonzero(between)
        if not rows.size:
            return done, hints
        near = rows[np.abs(x[rows] - anchor[rows]) > np.abs(anchor[rows] - start[rows]) / 8]
        hints[near] = anchor[near] + (x[near] - anchor[near]) / 4
        kept = [edge for edge, here in zip(edges, between, strict=True) if here and edge is not None]
        x, start, anchor, side = x[rows], start[rows], anchor[rows], side[rows]
        reach = np.sqrt(np.abs(x - anchor))
        t = reach[:, None] * (1 + _T) / 2
        nodes = anchor[:, None] + side[:, None] * t * t
        first = self.guess_from_edges(kept, np.repeat(np.arange(rows.size), _NODES), nodes.ravel())
        guess, far = first.copy(), (t > 0.6 * reach[:, None]).ravel()
        guess[:, far] = self._towards(np.repeat(inner[rows], _NODES)[far], nodes.ravel()[far] + 0j)
        roots, found = self.sub.attempt_inside(nodes.ravel() + 0j, guess)
        # next to a flat edge rounding hides the branch: the expansion there, which the mass has to confirm
        hidden = np.flatnonzero(~found)
        if hidden.size:
            roots.parameters[:, hidden] = first[:, hidden]
            roots.density[hidden] = self.sub.expanded(nodes.ravel()[hidden], first[:, hidden]).density
        masses = roots.density.reshape(nodes.shape) * reach[:, None] * _W * t
        good = (found | ~far).reshape(nodes.shape).all(1) & (np.abs(masses.sum(1) - mass[rows]) <= blur[rows])
        masses = self._telescoping(masses, mass[rows])
        good &= (side[:, None] * (nodes - start[:, None]) > 0).all(1) & (side[:, None] * (x[:, None] - nodes) > 0).all(
            1
        )
        parameters = roots.parameters.reshape(-1, *nodes.shape)
        for k in np.flatnonzero(good):
            self._add_rim(kept[k], float(x[k]), outer[rows[k]], inner[rows[k]], nodes[k], masses[k], parameters[:, k])
        done[rows[good]] = True
        return done, hints

    def _add_rim(
        self, edge: Edge, x: float, outer: int, inner: int, nodes: Array, masses: Array, parameters: Array
    ) -> None:
        """The gap up to an edge, and the bulk from there to x."""
        start, at_edge = float(self.x[outer]), float(self.above[outer])
        if edge.side > 0:
            at_edge -= float(self._between(start, edge.x))
            self._add(start, edge.x, "gap", at_edge)
            low, high, above = edge.x, x, float(self.above[inner])
        else:
            self._add(edge.x, start, "gap", at_edge)
            low, high, above = x, edge.x, at_edge + float(self._between(edge.x, start))
        self.cells.append(Cell(low, high, "edge", nodes, masses, parameters, above, edge))

    def guess_from_edges(self, edges: Sequence[Edge], which: Array, x: Array) -> Array:
        """Parameters inside the support next to the edges of these numbers, to first order."""
        places, parameters = np.array([edge.x for edge in edges]), np.array([edge.parameters for edge in edges]).T
        turns = np.array([edge.turn for edge in edges]).T
        return self.sub.predict(parameters[:, which], turns[:, which] * np.sqrt(np.abs(x - places[which])))

    def _edges(self, outer: Array, inner: Array) -> list[Edge | None]:
        """The edges between neighbouring points outside and inside the support; worked out once for each pair."""
        keys = list(zip(outer.tolist(), inner.tolist(), strict=True))
        new = [key for key in dict.fromkeys(keys) if key not in self._known_edges]
        if new:
            self._known_edges.update(zip(new, self._critical(*np.array(new).T), strict=True))
        return [self._known_edges[key] for key in keys]

    def _critical(self, outer: Array, inner: Array) -> list[Edge | None]:
        """Newton steps to z′ = 0 along the real curve, from both points, or rather from the real part inside."""
        a, b = self.x[outer], self.x[inner]
        sides = np.tile(np.where(b > a, 1, -1), 2)
        low, high = np.tile(np.minimum(a, b), 2), np.tile(np.maximum(a, b), 2)
        now = self.parameters[:, np.append(inner, outer)].real.astype(complex)
        alive, close = np.ones(sides.size, bool), np.zeros(sides.size, bool)
        for _ in range(_STEPS):
            point, trace = self.sub.at(now, bends=True)
            with np.errstate(all="ignore"):
                move = (trace.rate * (-point.z.slope / self.sub.bend(point, now))).real
            alive &= np.isfinite(move).all(0)
            ending = close | ~alive
            now = np.where(alive, self.sub.onto_curve(self.sub.predict(now, np.where(alive, move, 0.0))), now)
            close = np.abs(move).max(0) <= _CLOSE * np.abs(now).max(0)
            if ending.all():  # one more step after the first small one
                break
        point, trace = self.sub.at(now, bends=True)
        with np.errstate(all="ignore"):
            root = np.sqrt(2 * sides / point.z.bend + 0j)
            root = np.where((point.F.slope * root).imag < 0, -root, root)  # F maps the upper half-plane into itself
        x = point.z.value.real
        good = alive & close & np.isfinite(root) & (x > low) & (x < high)
        result: list[Edge | None] = [None] * outer.size
        for k in np.flatnonzero(good)[::-1]:
            result[k % outer.size] = Edge(float(x[k]), now[:, k], trace.rate[:, k] * root[k], int(sides[k]))
        return result

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
