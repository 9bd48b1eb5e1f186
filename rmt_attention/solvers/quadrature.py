"""Nodes that integrate over a support: double-exponential rules in log x on panels that are halved until they agree."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from .critical import CriticalValues
from .support import Interval

Array = NDArray[np.float64]

_NODES = 72  # on either side of the middle of a panel
_REACH = 3.3  # range of the tanh–sinh variable: weights are below 1e-17 of the largest beyond it
_SHARP = 0.75  # a critical value nearer to the axis than this, in log x, gets a panel boundary beside it
_LONGEST = 12.0  # first panels, in log x
_SHORTEST = 1e-9
_BELOW = 3.0  # in log x: the panel that reaches down to x = 0 gives up this much when it is too coarse
_SPACING = 0.25  # of its nodes, in log x: 1/(x + λ) is integrated to exp(−2π²/spacing)
_CUT_OFF = 40.0  # its depth over the order of the hard edge: e^{−40} of its mass lies below
_AGREE, _ROUNDING = 1e-13, 4e-15  # relative errors of a panel
_COARSE = 1e-12  # of all mass: largest error of every other node, whatever the extrapolated error of all
_NOTHING = 1e-17  # of all mass: next to bulks about to part densities are known to rounding^{1/3} only, of little mass
_ROUNDS, _MOST = 60, 500  # halvings, and panels halved together
_DEEPEST = 690.0  # log of the largest over the smallest x


def support_masses(
    interval: Interval,
    critical: CriticalValues,
    density: Callable[[Array], Array],
    order: int,
    total: float,
    level: int = 0,
) -> tuple[Array, Array]:
    """log x and masses of nodes on one interval of the support; ``density`` is that of log x. (laws.quadrature)

    If the interval starts at 0, the density is at most like x^{1/order} there; ``total`` is the mass of all intervals.
    Steps are halved ``level`` times.

    tanh–sinh rules converge like exp(−N/log N) whatever the powers of the integrand at both ends of a panel, so
    square-root edges and x^{−1+1/g} at 0 need no special case. A critical value just off the axis makes the density
    turn on a scale equal to its distance; a boundary beside it turns that into an end-point feature. The rule with
    every other and with every fourth node tells how fast a panel converges, from which its error is extrapolated
    geometrically: right where convergence is algebraic, cautious where it is exponential. A small feature can converge
    later than what dominates the first two differences, so the second has to be small as well. Too large an error
    halves the panel.
    """
    high = interval.high.log_x
    low = -np.inf if interval.low is None else interval.low.log_x
    beyond = critical.inside(low, high).beyond
    near = beyond[beyond.imag > -np.pi - _SHARP].real
    deepest = max(low, high - _DEEPEST)
    cuts = np.unique(near[(near > deepest + 1e-9) & (near < high - 1e-9)])

    def accepted(logs: Array, weights: Array) -> tuple[Array, NDArray[np.bool_]]:
        inside = (logs > deepest) & (logs < high)
        masses = np.zeros(logs.shape)
        masses[inside] = weights[inside] * density(logs[inside])
        sums = masses.sum(1)
        half = 2 * masses[:, ::2].sum(1)
        coarse, fine = np.abs(4 * masses[:, ::4].sum(1) - half), np.abs(half - sums)
        converging = (fine * fine <= _AGREE * sums * coarse) & (fine <= _COARSE * total)
        return masses, converging | (fine <= np.maximum(_ROUNDING * sums, _NOTHING * total))

    found: list[tuple[Array, Array]] = []
    panels = []
    for start, stop in pairwise([low, *cuts, high]):
        if np.isfinite(start):
            panels.append(np.linspace(start, stop, int(np.ceil((stop - start) / _LONGEST)) + 1))
            continue
        for _ in range(_ROUNDS):
            logs, weights = _semi_infinite(stop, _CUT_OFF * order, _SPACING / 2**level)
            masses, good = accepted(logs, weights)
            if good.all() or stop - _BELOW < deepest:
                break
            panels.append(np.array([stop - _BELOW, stop]))
            stop -= _BELOW
        found.append((logs[0], masses[0]))
    ends = np.concatenate([np.column_stack([cut[:-1], cut[1:]]) for cut in panels] or [np.zeros((0, 2))])
    for last in range(_ROUNDS, 0, -1):
        if not ends.size:
            break
        logs, weights = _finite(ends, _NODES << level)
        masses, good = accepted(logs, weights)
        good |= (np.diff(ends)[:, 0] < _SHORTEST) | (last == 1) | (len(ends) > _MOST)  # or the density is but noise
        found.append((logs[good].ravel(), masses[good].ravel()))
        left, right = ends[~good].T
        middle = (left + right) / 2
        ends = np.concatenate([np.column_stack([left, middle]), np.column_stack([middle, right])])
    logs, masses = (np.concatenate(part) for part in zip(*found, strict=True))
    ascending = np.argsort(logs)
    ascending = ascending[masses[ascending] > 0]
    return logs[ascending], masses[ascending]


def _semi_infinite(high: float, deepest: float, spacing: float) -> tuple[Array, Array]:
    """high − log(1 + exp(t − e^{−t})): equal steps towards −∞, any power at the upper end."""
    t = np.arange(-4.0, deepest, spacing)
    growth = np.exp(t - np.exp(-t))
    return (high - np.log1p(growth))[None], (spacing * growth / (1 + growth) * (1 + np.exp(-t)))[None]


def _finite(ends: Array, nodes: int) -> tuple[Array, Array]:
    """tanh–sinh, one row for each panel."""
    t = np.linspace(-_REACH, _REACH, 2 * nodes + 1)
    share = 1 / (1 + np.exp(-np.pi * np.sinh(t)))
    weight = (t[1] - t[0]) * np.pi * np.cosh(t) * share * share[::-1]
    length = np.diff(ends)
    # each node from its nearer end, so that none is rounded onto the other
    logs = np.where(t < 0, ends[:, :1] + length * share, ends[:, 1:] - length * share[::-1])
    return logs, length * weight
