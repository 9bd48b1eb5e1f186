"""R- and S-transforms at real arguments: points of the curve where G or zG − 1 has a given value. (free.transforms)

The real branch beyond the support, from infinity to the edge, is one to one in either quantity and free of
singularities, so Newton steps along it end at the one point there is; where they do is proved again by its branch.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import ConvergenceError
from .jets import Jet
from .nodes import EPS, Array, Point
from .spectrum import FreeSpectrum

__all__ = ["r_range", "r_transform", "s_range", "s_transform"]

_STEPS = 400
_CLOSE = 1e-9
_FIRST = 0.3  # ratio of the first step
_AT_END = 1e-9  # of the distance from mean to edge: points so close to the edge have no branch to prove


def _end(spectrum: FreeSpectrum, side: int) -> tuple[float, float, float]:
    """Where the law ends above (side 1) or below (−1), and F and u beyond it."""
    cells = [cell for cell in spectrum.axis.cells if cell.kind != "gap"]
    cell = max(cells, key=lambda one: side * (one.low + one.high), default=None)
    atoms = [side * x for x, _ in spectrum.atoms]
    if cell is None:
        return side * max(atoms), 0.0, side * np.inf
    x = cell.high if side > 0 else cell.low
    inner = cell.low if side > 0 else cell.high
    if atoms and max(atoms) >= side * (inner if cell.kind == "lump" else x):
        return side * max(atoms), 0.0, side * np.inf
    if cell.edge is not None:
        point = spectrum.sub.at(cell.edge.parameters[:, None])[0]
    elif x:
        point = spectrum.sub.at(spectrum.axis_roots(np.array([x])).parameters)[0]
    else:  # where the density diverges at 0, F is a power of z there, else it has a limit, by extrapolation in √z
        top = spectrum.axis.cells[-1].high
        one, four, far = spectrum.sub.transform(spectrum.roots(-top * np.array([1e-9, 4e-9, 1e-6]) + 0j)).real
        F = 2 / one - 1 / four
        return (0.0, F, -1.0) if abs(one) < 2 * abs(far) else (0.0, 0.0, -1.0)
    F = float(point.F.value[0].real)
    return x, F, float(point.R.value[0].real) / F if F else side * np.inf


def r_range(spectrum: FreeSpectrum) -> tuple[float, float]:
    """Values of G below and above the support, next to it: the open interval where R is defined."""
    low, high = (_end(spectrum, side)[1] for side in (-1, 1))
    return (1 / low if low else -np.inf), (1 / high if high else np.inf)


def s_range(spectrum: FreeSpectrum) -> tuple[float, float]:
    """Values of zG − 1 at 0 from below and next to the top of the support: the open interval where S is defined."""
    return spectrum.node.zero_mass - 1, _end(spectrum, 1)[2]


def r_transform(spectrum: FreeSpectrum, g: Array) -> Array:
    """R(g) inside the range."""
    result = np.full(g.shape, spectrum.node.mean)
    for side in (-1, 1):
        rows = np.flatnonzero(side * g > 0)
        if rows.size:
            point = _inverse(spectrum, side, lambda point: point.F, 1 / g[rows], 1 / g[rows] + spectrum.node.mean)
            result[rows] = point.R.value.real
    return result


def s_transform(spectrum: FreeSpectrum, u: Array) -> Array:
    """S(u) = 1/R at zG − 1 = u inside the range."""
    mean, share = spectrum.node.mean, 1 - spectrum.node.zero_mass
    result = np.full(u.shape, 1 / mean)

    def below(point: Point) -> Jet:  # V/|u|, from ∞ far out to 0 at x = 0, with its digits
        assert point.V is not None
        return (point.V * point.F * point.R.inverse()).affine(-1.0)

    sides: tuple[tuple[int, Callable[[Point], Jet], Callable[[Array], Array]], ...] = (
        (-1, below, lambda u: -(u + share) / u),
        (1, lambda point: point.F * point.R.inverse(), lambda u: 1 / u),
    )
    for side, quantity, value in sides:
        rows = np.flatnonzero(side * u > 0)
        if rows.size:
            point = _inverse(spectrum, side, quantity, value(u[rows]), mean / u[rows] + mean)
            result[rows] = 1 / point.R.value.real
    return result


def _inverse(spectrum: FreeSpectrum, side: int, quantity: Callable[[Point], Jet], goal: Array, far: Array) -> Point:
    """The point beyond the support on this side where the quantity, infinite far out, has these values."""
    sub, node = spectrum.sub, spectrum.node
    away = node.mean + side * 4 * node.extent
    z = np.where(side * (far - away) > 0, far, away) + 0j
    parameters = np.empty((node.leaves, z.size), complex)
    node.start(z, parameters, 0)
    parameters, done = sub.newton(z, parameters, 60)
    parameters = parameters.real.astype(complex)
    now = quantity(sub.at(parameters)[0]).value.real
    ratio = np.full(z.size, _FIRST)
    end = _end(spectrum, side)[0]
    rows = np.flatnonzero(done)
    done = np.zeros(z.size, bool)
    for _ in range(_STEPS):
        if not rows.size:
            break
        final = (now[rows] * ratio[rows] - goal[rows]) * np.sign(goal[rows]) <= 0
        aim = np.where(final, goal[rows], now[rows] * ratio[rows])
        moved, good = _newton(spectrum, quantity, aim, parameters[:, rows])
        there = sub.at(moved)[0]
        good &= (there.z.value.imag == 0) & (side * (there.z.value.real - end) >= -16 * there.noise)
        taken = rows[good]
        parameters[:, taken], now[taken], ratio[taken] = moved[:, good], aim[good], _FIRST
        done[rows[good & final]] = True
        ratio[rows[~good]] = np.sqrt(ratio[rows[~good]])
        rows = rows[~(good & final) & (ratio[rows] < 1 - 1e-4)]
    point = sub.at(parameters)[0]
    x = point.z.value.real
    proof = sub.proved(x + 0j, parameters)[1] & (side * (x - end) > 0)
    done &= proof | (np.abs(x - end) <= _AT_END * abs(end - node.mean))
    if not done.all():
        raise ConvergenceError(
            f"{spectrum.name}: no branch of the transform could be proved at {goal[~done][0]:.6g}", result=point
        )
    return point


def _newton(spectrum: FreeSpectrum, quantity: Callable[[Point], Jet], goal: Array, guess: Array) -> tuple[Array, Array]:
    """Real parameters with these values of the quantity, and where the steps have converged."""
    now, good = guess, np.zeros(goal.size, bool)
    for _ in range(8):
        point, trace = spectrum.sub.at(now)
        value = quantity(point)
        with np.errstate(all="ignore"):
            move = (trace.offset + trace.rate * ((goal - value.value) / value.slope)).real
        now = spectrum.sub.predict(now, move)
        if good.all():
            break
        good = (np.abs(move) <= np.maximum(_CLOSE * np.abs(now), EPS * spectrum.sub.radii)).all(0)
    return now, good
