"""Nodes that integrate over a support: double-exponential rules in log x, cut where the density turns sharply."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from .critical import CriticalValues
from .support import Interval

Array = NDArray[np.float64]

_NODES = 72  # on either side of the middle of a panel
_REACH = 3.3  # range of the tanh–sinh variable: weights are below 1e-17 of the largest beyond it
_SHARP = 0.75  # a critical value nearer to the axis than this, in log x, gets a panel boundary beside it
LONGEST_PANEL = 12.0  # in log x
LONGEST_BLIND = 0.25  # the same to begin with where complex critical values are not known
_DEEPEST = 690.0  # log of the largest over the smallest x


def support_nodes(interval: Interval, critical: CriticalValues, longest: float) -> tuple[Array, Array]:
    """log x and weights d(log x) on one interval of the support. (laws.quadrature)

    tanh–sinh rules converge like exp(−N/log N) whatever the powers of the integrand at both ends of a panel, so
    square-root edges and x^{−1+1/g} at 0 need no special case. A critical value just off the axis makes the density
    turn on a scale equal to its distance; a boundary beside it turns that into an end-point feature. No finite panel is
    longer than ``longest``: where complex critical values are not known, it has to be short throughout.
    """
    high = interval.high.log_x
    low = -np.inf if interval.low is None else interval.low.log_x
    beyond = critical.inside(low, high).beyond
    near = beyond[beyond.imag > -np.pi - _SHARP].real
    deepest = max(low, high - _DEEPEST)
    cuts = np.unique(near[(near > deepest + 1e-9) & (near < high - 1e-9)])
    pieces = [_panel(a, b, longest) for a, b in itertools.pairwise([low, *cuts, high])]
    logs, weights = (np.concatenate(part) for part in zip(*pieces, strict=True))
    kept = (logs > deepest) & (logs < high)
    return logs[kept], weights[kept]


def _panel(low: float, high: float, longest: float) -> tuple[Array, Array]:
    if np.isinf(low):
        # high − exp(t − e^{−t}): decay at −∞, any power at the upper end
        t = np.linspace(-4.0, 7.5, 4 * _NODES + 1)
        depth = np.exp(t - np.exp(-t))
        return high - depth, (t[1] - t[0]) * depth * (1 + np.exp(-t))
    ends = np.linspace(low, high, max(1, int(np.ceil((high - low) / longest))) + 1)
    t = np.linspace(-_REACH, _REACH, 2 * _NODES + 1)
    share = 1 / (1 + np.exp(-np.pi * np.sinh(t)))
    weight = (t[1] - t[0]) * np.pi * np.cosh(t) * share * share[::-1]
    length = np.diff(ends)[:, None]
    # each node from its nearer end, so that none is rounded onto the other
    logs = np.where(t < 0, ends[:-1, None] + length * share, ends[1:, None] - length * share[::-1])
    return logs.ravel(), (length * weight).ravel()
