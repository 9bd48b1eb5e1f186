"""The spectrum of an expression: densities, masses, levels and integrals from the solved cells of the axis."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..errors import ConvergenceError
from .axis import GAUSS, Axis, Cell
from .nets import CellNet
from .nodes import EPS, Array, Node
from .subordination import Roots, Subordination

__all__ = ["FreeSpectrum"]

_STEPS = 80  # of a quantile
_FLAT = 0.01  # power of x that counts as constant


class FreeSpectrum:
    """Takes and gives vectors, without checks."""

    def __init__(self, node: Node, name: str) -> None:
        self.node, self.name = node, name
        self.sub = Subordination(node)
        self.atoms = [(x, mass) for x, mass in node.marks if mass > 0]
        self._rules: dict[int, tuple[Array, Array]] = {}

    @cached_property
    def axis(self) -> Axis:
        """The cells."""
        return Axis(self.sub, self.name)

    @cached_property
    def _lows(self) -> Array:
        return np.array([cell.low for cell in self.axis.cells])

    @cached_property
    def _kinds(self) -> Array:
        """Of every cell, "solved" where it has roots; "gap" beyond all."""
        return np.array([*("solved" if cell.parameters.size else cell.kind for cell in self.axis.cells), "gap"])

    @cached_property
    def _net(self) -> CellNet:
        return CellNet(self.axis, [cell for cell in self.axis.cells if cell.parameters.size])

    @cached_property
    def _places(self) -> Array:
        """Of every cell, its number among the solved ones."""
        return np.cumsum([cell.parameters.size > 0 for cell in self.axis.cells]) - 1

    def _index(self, x: Array) -> Array:
        """Numbers of the cells that hold the points; −1 beyond all."""
        index = np.searchsorted(self._lows, x, side="right") - 1
        inside = (index >= 0) & (x < self.axis.cells[-1].high)
        return np.where(inside, index, -1)

    # Roots -----------------------------------------------------------------------------------------------------------

    def proved(self, roots: Roots, found: Array) -> Roots:
        """The roots, if all are proved."""
        if not found.all():
            missing = roots.z[~found]
            raise ConvergenceError(
                f"{self.name}: the branch at z={complex(missing[0])!r} could not be proved;"
                " ask for a point further from edges and atoms",
                result=missing,
            )
        return roots

    def roots(self, z: Array) -> Roots:
        """Anywhere in the closed upper half-plane but at atoms."""
        axis = z.imag == 0
        if not axis.any():
            return self.proved(*self.sub.solve(z))
        if axis.all():
            return self.axis_roots(z.real)
        both = self.proved(*self.sub.solve(z[~axis])).joined(self.axis_roots(z.real[axis]))
        return both.take(np.argsort(np.argsort(axis, kind="stable"), kind="stable"))

    def axis_roots(self, x: Array) -> Roots:
        """At real x, from the solved points of the cell where there are some."""
        index = self._index(x)
        guess, edges = np.full((self.node.leaves, x.size), np.nan, complex), np.zeros(x.size, bool)
        rows = np.flatnonzero(self._kinds[index] == "solved")
        if rows.size:
            guess[:, rows], edges[rows] = self._net.guess(x[rows], self._places[index[rows]])
        roots, found = self.sub.solve(x + 0j, guess)
        hidden = np.flatnonzero(~found & edges)  # next to a flat edge rounding hides the branch: the expansion there
        if hidden.size:
            more = self.sub.expanded(x[hidden], guess[:, hidden])
            roots.parameters[:, hidden], roots.inside[hidden] = more.parameters, True
            roots.density[hidden], found[hidden] = more.density, True
        return self.proved(roots, found)

    # Densities and masses --------------------------------------------------------------------------------------------

    def density(self, x: Array) -> Array:
        """0 outside the support."""
        result = np.zeros(x.shape)
        index = self._index(x)
        kinds = self._kinds[index]
        for row in np.flatnonzero(kinds == "lump"):  # too narrow to be seen into: its mean density
            cell = self.axis.cells[index[row]]
            result[row] = max(cell.masses[0], 0.0) / (cell.high - cell.low)
        solved = np.flatnonzero(kinds == "solved")
        if solved.size:
            result[solved] = self.axis_roots(x[solved]).density
        if self.node.low == 0 and (kinds[x == 0] == "lump").any():
            result[x == 0] = self._density_at_zero()
        return result

    def _density_at_zero(self) -> float:
        """By the power of x that the density is next to 0."""
        first, second = self.density(self.axis.cells[0].high * np.array([2.0, 20.0]))
        power = np.log10(second / first) if first and second else 1.0
        return float(np.inf if power < -_FLAT else 0.0 if power > _FLAT else first)

    def cdf(self, x: Array) -> Array:
        """μ((−∞, x])."""
        index = self._index(x)
        result = np.where(x < self.axis.cells[0].low, 0.0, 1.0)
        rows = np.flatnonzero(index >= 0)
        kinds = self._kinds[index[rows]]
        for row in rows[kinds != "solved"]:
            result[row] = self._cdf_of_cell(self.axis.cells[index[row]], x[row])
        solved = rows[kinds == "solved"]
        if solved.size:
            result[solved] = self._below(self.axis_roots(x[solved]))
        return np.clip(result, 0.0, 1.0)

    def _below(self, roots: Roots) -> Array:
        return 1 - self.sub.argument(roots.parameters) / np.pi

    def _cdf_of_cell(self, cell: Cell, x: float) -> float:
        """In a gap or where a cell is too narrow to be seen into: its mass then lies evenly."""
        atoms = sum(mass for location, mass in self.atoms if x < location < cell.high)
        rest = cell.masses[0] * (cell.high - x) / (cell.high - cell.low) if cell.kind == "lump" else 0.0
        return float(1 - cell.above - atoms - rest)

    # Levels ----------------------------------------------------------------------------------------------------------

    def quantile(self, q: Array) -> Array:
        """Smallest x with cdf(x) ≥ q."""
        result = np.full(q.shape, np.nan)
        left = np.ones(q.shape, bool)
        for x, start, stop, cell in self._stretches:
            here = left & (q <= stop)
            rows = np.flatnonzero(here)
            left &= ~here
            if cell is None:
                result[rows] = x
            elif cell.kind == "lump":
                share = np.clip((q[rows] - start) / max(stop - start, EPS), 0.0, 1.0)
                result[rows] = cell.low + share * (cell.high - cell.low)
            elif rows.size:
                result[rows] = self._invert(cell, q[rows], start, stop)
        result[left] = self._stretches[-1][0]
        return result

    @cached_property
    def _stretches(self) -> list[tuple[float, float, float, Cell | None]]:
        """Parts of the law in order: right end, cdf before and after, and the cell unless it is an atom."""
        found: list[tuple[float, float, float, Cell | None]] = []
        level = 0.0
        for cell in self.axis.cells:
            for x, mass in self.atoms:
                if cell.low <= x < cell.high:
                    found.append((x, level, level + mass, None))
                    level += mass
            if cell.kind != "gap":
                stop = max(1 - cell.above, level)
                found.append((cell.high, level, stop, cell))
                level = stop
        return found

    def _invert(self, cell: Cell, levels: Array, start: float, stop: float) -> Array:
        """Safeguarded Newton steps in the coordinate of the cell."""
        low, high = cell.coordinate(np.array([cell.low, cell.high]))
        order = np.argsort(cell.nodes)
        t, masses = cell.coordinate(cell.nodes[order]), cell.masses[order]
        before = start + np.cumsum(masses) - masses / 2
        now = np.interp(levels, np.concatenate([[start], before, [stop]]), np.concatenate([[low], t, [high]]))
        left, right = np.full(levels.shape, low), np.full(levels.shape, high)
        rows = np.arange(levels.size)
        for _ in range(_STEPS):
            x, rate = cell.location(now[rows])
            roots = self.axis_roots(np.clip(x, cell.low, cell.high))
            miss = levels[rows] - self._below(roots)
            left[rows], right[rows] = (
                np.where(miss > 0, now[rows], left[rows]),
                np.where(miss > 0, right[rows], now[rows]),
            )
            with np.errstate(all="ignore"):
                step = miss / (roots.density * rate)
            goal = now[rows] + step
            inside = (goal > left[rows]) & (goal < right[rows])
            goal = np.where(inside, goal, (left[rows] + right[rows]) / 2)
            done = (np.abs(miss) <= 2 * EPS) | (np.abs(goal - now[rows]) <= 2 * EPS * np.abs(now[rows]))
            now[rows[~done]] = goal[~done]
            rows = rows[~done]
            if not rows.size:
                break
        return np.clip(cell.location(now)[0], cell.low, cell.high)

    # Integrals -------------------------------------------------------------------------------------------------------

    def quadrature(self, level: int) -> tuple[Array, Array]:
        """Points and weights, atoms points of their own: the rules of the cells, all halved ``level`` times."""
        if level not in self._rules:
            cells = self.axis.cells
            x, weights = zip(*(self._rule(cell, level) for cell in cells), strict=True)
            self._rules[level] = (
                np.concatenate([[x for x, _ in self.atoms], *x]),
                np.concatenate([[mass for _, mass in self.atoms], *weights]),
            )
        return self._rules[level]

    def _rule(self, cell: Cell, level: int) -> tuple[Array, Array]:
        if level == 0 or not cell.parameters.size:
            return cell.nodes, cell.masses
        low, high = cell.coordinate(np.array([cell.low, cell.high]))
        half = (high - low) / 2 ** (level + 1)
        t = (low + half * (2 * np.arange(2**level)[:, None] + 1 + GAUSS[0])).ravel()
        x, rate = cell.location(t)
        density = self.axis_roots(np.clip(x, cell.low, cell.high)).density
        return x, density * rate * half * np.tile(GAUSS[1], 2**level)
