"""The law of an expression of free probability: its spectrum and transforms, answered from its curve."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import ConvergenceError
from ..spectra import Atom, check_complex, check_draws, check_levels, check_numbers, check_order, check_values, shown
from .axis import LAST_COEFFICIENTS, Axis, Cell
from .nodes import EPS, Array, Node
from .subordination import Roots, Subordination

__all__ = ["FreeLaw"]

_LARGEST_ORDER = 30
_CIRCLE = 1.15  # radius over that of the spectrum
_POINTS = 140  # on half of the circle: the trapezoidal rule leaves 1.15^{−280}
_NEAR = 0.5  # of √distance of the first node to the edge, within which guesses come from the edge
_STEPS = 80  # of a quantile
_UNRESOLVED = 1e-7  # of ∫ |f|: largest error of an integral


class FreeLaw:
    """A law with compact support, built from atoms by free convolutions, powers and compound Poisson laws.

    The spectrum is divided into cells whose mass is confirmed against the closed form (free.cells), each to 1e-12, or
    to what rounding leaves of it next to an atom; densities and the cdf are solved at every x asked for, without
    smoothing.

    Methods raise ValueError on NaN and :class:`rmt_attention.ConvergenceError` if the branch of a point cannot be
    proved.
    """

    def __init__(self, node: Node, name: str) -> None:
        self.node, self.name = node, name
        self._sub = Subordination(node)

    def __repr__(self) -> str:
        return f"<FreeLaw {self.name}: mean {self.mean:.6g}, variance {self.variance:.6g}>"

    # Closed forms ----------------------------------------------------------------------------------------------------

    @property
    def mean(self) -> float:
        """First moment, the first free cumulant."""
        return self.node.mean

    @property
    def variance(self) -> float:
        """Second free cumulant."""
        return self.node.variance

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """Point masses, ascending."""
        return tuple(Atom(x, mass) for x, mass in self.node.marks if mass > 0)

    def moment(self, k: int) -> float:
        """∫ x^k dμ for an integer 0 ≤ k ≤ 30, as the mean of z^{k+1} G(z) over a circle around the spectrum.

        Right to about 1e-14 · 1.15^k of the k-th power of the largest |x|.
        """
        order = check_order(k, _LARGEST_ORDER)
        if order < 2:
            return self.mean if order else 1.0
        if order == 2:
            return self.variance + self.mean**2
        z, transform = self._circle
        return float((z ** (order + 1) * transform).real.mean())

    @cached_property
    def _circle(self) -> tuple[Array, Array]:
        radius = _CIRCLE * (max(abs(self.node.low), abs(self.node.high)) or 1.0)
        z = radius * np.exp(1j * np.pi * (np.arange(_POINTS) + 0.5) / _POINTS)
        return z, self.cauchy(z)

    # Transforms ------------------------------------------------------------------------------------------------------

    def cauchy(self, z: ArrayLike) -> NDArray[np.complex128]:
        """G(z) = ∫ dμ/(z − x); on the support the limit from above, so that density = −Im G/π; ∞ at an atom."""
        points = check_complex("z", z, zero=True)
        flat = points.ravel()
        result = np.zeros(flat.shape, dtype=complex)
        atom = (flat.imag == 0) & np.isin(flat.real, [one.location for one in self.atoms])
        result[atom] = np.inf
        axis = np.flatnonzero((flat.imag == 0) & np.isfinite(flat) & ~atom)
        off = np.flatnonzero((flat.imag != 0) & np.isfinite(flat))
        if axis.size:
            roots, found = self._axis_roots(flat.real[axis])
            self._all(found, flat[axis])
            result[axis] = self._transform(roots)
        if off.size:
            roots, found = self._sub.solve(flat.real[off] + 1j * np.abs(flat.imag[off]))
            self._all(found, flat[off])
            value = self._transform(roots)
            result[off] = np.where(flat.imag[off] > 0, value, value.conj())
        return result.reshape(points.shape)

    def _transform(self, roots: Roots) -> Array:
        point, _ = self._sub.at(roots.parameters)
        with np.errstate(all="ignore"):
            value = np.asarray(1 / point.F.value)
        real = (roots.z.imag == 0) & ~roots.inside
        return np.where(real, value.real + 0j, value)

    def _all(self, found: Array, z: Array) -> None:
        if not found.all():
            raise ConvergenceError(
                f"{self.name}: the branch at z={complex(z[~found][0])!r} could not be proved;"
                " ask for a point further from edges and atoms",
                result=z[~found],
            )

    def degrees_of_freedom(self, ridge: ArrayLike) -> NDArray[np.float64]:
        """w(λ) = ∫ x/(x+λ) dμ for λ ≥ 0 and a law on [0, ∞); w(0) = 1 − mass at 0."""
        penalty = check_numbers("ridge", ridge, minimum=0.0)
        if self.node.low < 0:
            raise ValueError(f"{self.name}: has mass below 0, where x/(x+λ) has poles")
        result = np.where(np.isinf(penalty), 0.0, 1 - self.node.zero_mass)
        inside = (penalty > 0) & np.isfinite(penalty)
        if inside.any():
            z = -penalty[inside] + 0j
            roots, found = self._sub.solve(z)
            self._all(found, z)
            point, _ = self._sub.at(roots.parameters)
            result[inside] = -(point.R.value / point.F.value).real
        return result

    # The spectrum ----------------------------------------------------------------------------------------------------

    @cached_property
    def _axis(self) -> Axis:
        return Axis(self._sub, self.name)

    @property
    def support(self) -> tuple[tuple[float, float], ...]:
        """Closed intervals that carry the absolutely continuous part, ascending; atoms are not part of it."""
        return self._axis.intervals

    @property
    def edges(self) -> tuple[float, ...]:
        """Ends of the support intervals, ascending."""
        return tuple(end for interval in self.support for end in interval)

    def density(self, x: ArrayLike) -> NDArray[np.float64]:
        """Density of the absolutely continuous part, −Im G(x + i0)/π; 0 outside the support and at its edges."""
        points = check_numbers("x", x)
        flat = points.ravel()
        result = np.zeros(flat.shape)
        index = self._index(flat)
        for row in np.flatnonzero(self._kind(index) == "lump"):  # too narrow to be seen into: its mean density
            cell = self._axis.cells[index[row]]
            result[row] = max(cell.masses[0], 0.0) / (cell.high - cell.low)
        solved = np.flatnonzero(self._kind(index) == "solved")
        if solved.size:
            roots, found = self._axis_roots(flat[solved])
            self._all(found, flat[solved])
            result[solved] = self._sub.density(roots)
        return result.reshape(points.shape)

    def _index(self, x: Array) -> Array:
        """Numbers of the cells that hold the points; −1 beyond all."""
        index = np.searchsorted(self._lows, x, side="right") - 1
        inside = (index >= 0) & (x < self._axis.cells[-1].high)
        return np.where(inside, index, -1)

    @cached_property
    def _lows(self) -> Array:
        return np.array([cell.low for cell in self._axis.cells])

    def _kind(self, index: Array) -> Array:
        kinds = np.array([*("solved" if cell.parameters.size else cell.kind for cell in self._axis.cells), "gap"])
        return kinds[index]

    def _axis_roots(self, x: Array) -> tuple[Roots, Array]:
        """Roots at real x, from the solved points of the cell where there are some."""
        guess = np.full((self.node.leaves, x.size), np.nan, complex)
        index = self._index(x)
        edges = np.zeros(x.size, bool)
        for number in np.unique(index[self._kind(index) == "solved"]):
            cell = self._axis.cells[number]
            rows = np.flatnonzero(index == number)
            order = np.argsort(cell.nodes)
            nodes, parameters = cell.nodes[order], cell.parameters[:, order]
            right = np.clip(np.searchsorted(nodes, x[rows]), 1, nodes.size - 1)
            left = right - 1
            near = np.where(x[rows] - nodes[left] < nodes[right] - x[rows], left, right)
            start = Roots(nodes[near] + 0j, parameters[:, near], np.ones(near.size, bool))
            guess[:, rows] = self._sub.towards(start, x[rows] + 0j)[0]
            if cell.kind == "log":
                guess[:, rows] = self._sub.scaled(start, x[rows] / nodes[near])
            if cell.edge is not None:
                distance = np.abs(x[rows] - cell.edge.x)
                close = np.sqrt(distance) < _NEAR * np.sqrt(np.abs(nodes - cell.edge.x).min())
                guess[:, rows[close]] = self._axis.guess_from_edge(cell.edge, x[rows[close]])
                edges[rows[close]] = True
        roots, found = self._sub.solve(x + 0j, guess)
        hidden = ~found & edges  # next to a flat edge rounding hides the branch: the expansion there
        return Roots(roots.z, np.where(hidden, guess, roots.parameters), roots.inside | hidden), found | hidden

    def cdf(self, x: ArrayLike) -> NDArray[np.float64]:
        """μ((−∞, x]), right-continuous: π μ((x, ∞)) is the imaginary part of ∫ log(z − x) dμ at x + i0. (free.mass)"""
        points = check_numbers("x", x)
        flat = points.ravel()
        index = self._index(flat)
        result = np.where(flat < self._axis.cells[0].low, 0.0, 1.0)
        rows = np.flatnonzero(index >= 0)
        for row in rows[self._kind(index[rows]) != "solved"]:
            result[row] = self._cdf_of_cell(self._axis.cells[index[row]], flat[row])
        solved = rows[self._kind(index[rows]) == "solved"]
        if solved.size:
            roots, found = self._axis_roots(flat[solved])
            self._all(found, flat[solved])
            result[solved] = 1 - self._sub.argument(roots.parameters) / np.pi
        return np.clip(result, 0.0, 1.0).reshape(points.shape)

    def _cdf_of_cell(self, cell: Cell, x: float) -> float:
        """In a gap or where a cell is too narrow to be seen into: its mass then lies evenly."""
        atoms = sum(one.mass for one in self.atoms if x < one.location < cell.high)
        rest = cell.masses[0] * (cell.high - x) / (cell.high - cell.low) if cell.kind == "lump" else 0.0
        return float(1 - cell.above - atoms - rest)

    def quantile(self, q: ArrayLike) -> NDArray[np.float64]:
        """Smallest x with cdf(x) ≥ q, for 0 ≤ q ≤ 1: an atom's location for its levels, the left end of a gap."""
        levels = check_levels(q)
        flat = levels.ravel()
        result = np.full(flat.shape, np.nan)
        left = np.ones(flat.shape, bool)
        for x, start, stop, cell in self._stretches:
            here = left & (flat <= stop)
            rows = np.flatnonzero(here)
            left &= ~here
            if cell is None:
                result[rows] = x
            elif cell.kind == "lump":
                share = np.clip((flat[rows] - start) / max(stop - start, EPS), 0.0, 1.0)
                result[rows] = cell.low + share * (cell.high - cell.low)
            elif rows.size:
                result[rows] = self._invert(cell, flat[rows], start, stop)
        result[left] = self._stretches[-1][0]
        return result.reshape(levels.shape)

    @cached_property
    def _stretches(self) -> list[tuple[float, float, float, Cell | None]]:
        """Parts of the law in order: right end, cdf before and after, and the cell unless it is an atom."""
        found: list[tuple[float, float, float, Cell | None]] = []
        level = 0.0
        atoms = list(self.atoms)
        for cell in self._axis.cells:
            inner = [one for one in atoms if cell.low <= one.location < cell.high]
            for one in inner:
                found.append((one.location, level, level + one.mass, None))
                level += one.mass
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
            x = np.clip(x, cell.low, cell.high)
            roots, found = self._axis_roots(x)
            self._all(found, x)
            miss = levels[rows] - (1 - self._sub.argument(roots.parameters) / np.pi)
            left[rows], right[rows] = (
                np.where(miss > 0, now[rows], left[rows]),
                np.where(miss > 0, right[rows], now[rows]),
            )
            with np.errstate(all="ignore"):
                step = miss / (self._sub.density(roots) * rate)
            goal = now[rows] + step
            inside = (goal > left[rows]) & (goal < right[rows])
            goal = np.where(inside, goal, (left[rows] + right[rows]) / 2)
            done = (np.abs(miss) <= 2 * EPS) | (np.abs(goal - now[rows]) <= 2 * EPS * np.abs(now[rows]))
            now[rows[~done]] = goal[~done]
            rows = rows[~done]
            if not rows.size:
                break
        return np.clip(cell.location(now)[0], cell.low, cell.high)

    def sample(self, size: int | Sequence[int] | None, rng: np.random.Generator) -> NDArray[np.float64]:
        """Independent draws from the law, atoms included, by inversion of the cdf."""
        check_draws(size, rng)
        return self.quantile(rng.random(size))

    def expectation(self, function: Callable[[NDArray[np.float64]], ArrayLike]) -> float:
        """∫ f dμ, atoms included, for a vectorised function that is smooth on the support. (free.cells)

        About as good as the mass of the cells for functions as smooth over the law as x² is. In every cell the
        last Legendre coefficients of f tell what the rule misses, about their square over the largest |f|; where that
        is more than 1e-7 of ∫ |f| dμ, f has jumps, kinks or turns too fast, and ConvergenceError is raised.
        """
        if not callable(function):
            raise ValueError(f"function={shown(function)}: must be a function of an array of x")
        x, weights = self.quadrature
        values = np.broadcast_to(check_values("function", function(x), x), x.shape)
        start, missed = len(self.atoms), 0.0
        for cell in self._axis.cells:
            here = values[start : start + cell.nodes.size]
            start += cell.nodes.size
            if cell.parameters.size and here.any():
                last = float(np.abs(LAST_COEFFICIENTS @ here).max())
                missed += float(np.abs(cell.masses).sum()) * last**2 / float(np.abs(here).max())
        if missed > _UNRESOLVED * float(np.abs(values * weights).sum()):
            raise ConvergenceError(
                f"{self.name}: ∫ f is not resolved by {x.size} points, which miss about {missed:.3g}; f must be smooth"
                " on the support: split it at jumps and kinks, or sum over quantiles",
                result=float(values @ weights),
            )
        return float(values @ weights)

    @cached_property
    def quadrature(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Points x and weights of :meth:`expectation`: ∫ f dμ = Σ weight · f(x), atoms points of their own."""
        x = np.concatenate([[one.location for one in self.atoms], *(cell.nodes for cell in self._axis.cells)])
        weights = np.concatenate([[one.mass for one in self.atoms], *(cell.masses for cell in self._axis.cells)])
        return x, weights
