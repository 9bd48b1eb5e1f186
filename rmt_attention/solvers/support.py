"""Support of the absolutely continuous part: edges as critical values, spurious ones rejected by continuation."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..errors import ConvergenceError
from .continuation import continue_to_angle, evaluate
from .critical import PINCH, CriticalValues
from .curve import SpectralCurve

_PINCH_SCALE = 1e-5  # in log x: where the cube root is looked for, and at a hundredth of it
_ROUNDING = 100 * np.finfo(float).eps  # of log λ; it moves τ by that over |dL/dτ|


@dataclass(frozen=True)
class Edge:
    """An end x = −λ(p) > 0 of an interval of the support, at the real critical point p.

    ``pinched`` marks a point where two intervals touch, up to a distance of 1e-9 in log x.
    """

    log_x: float
    p: float
    distance: float  # p_end − p
    pinched: bool = False

    @property
    def x(self) -> float:
        return float(np.exp(self.log_x))


@dataclass(frozen=True)
class Interval:
    """A closed interval of the support; ``low`` is None where it starts at 0."""

    low: Edge | None
    high: Edge


def support_intervals(curve: SpectralCurve, critical: CriticalValues) -> tuple[tuple[Interval, ...], float]:
    """Closed intervals of the a.c. part, and the mass that lies outside all of them: 0 up to rounding. (laws.edges)

    Between two neighbouring candidates the density is positive throughout or zero throughout; its value at the
    geometric midpoint, reached by the proved continuation, decides, and candidates inside a bulk or a gap drop out.
    Candidates within 1e-9 of each other, in log x, are judged together: if the density vanishes there on both sides
    like a cube root, two intervals touch.
    """
    if not critical.rim.size:
        raise ConvergenceError("no edge was found; the ratios are too extreme for double precision", result=critical)
    clusters = _clusters(critical.rim)
    first, last = critical.rim[clusters[:, 0]], critical.rim[clusters[:, 1]]
    middles = np.concatenate([[first[0] - 1], (first[1:] + last[:-1]) / 2, [last[-1] + 1]])
    root = continue_to_angle(curve, middles, np.full(middles.shape, -np.pi), critical)
    rounding = _ROUNDING * (1 + np.abs(middles)) / np.abs(evaluate(curve, root.tau, middles - 1j * np.pi)[1])
    filled = np.sin(root.tau.imag) > rounding  # Im τ is 0 or π exactly where p is real
    intervals: list[Interval] = []
    low: Edge | None = None
    for index, (start, stop) in enumerate(clusters):
        left, right = filled[index], filled[index + 1]
        gap = index if right else index + 1  # the middle beside the cluster where the parameter is real
        edge = _edge(critical, start, stop, root.distance[gap] if left != right else None)
        if left and (not right or _is_pinch(curve, critical, start, stop, middles[index : index + 2])):
            edge = replace(edge, pinched=bool(right))
            intervals.append(Interval(low, edge))
            low = edge
        elif right and not left:
            low = edge
    above = curve.upper_mass(root.p, root.distance)
    # ν((x, ∞)) is w_max below everything, 0 above, and the same at two neighbouring points of one gap
    levels = np.concatenate([[curve.w_max], above, [0.0]])
    empty = np.concatenate([[True], ~filled, [True]])
    lost = np.abs(np.diff(levels))[empty[1:] & empty[:-1]].max(initial=0.0)
    return tuple(intervals), float(lost)


def _clusters(logs: NDArray[np.float64]) -> NDArray[np.int64]:
    """First and last index of each run of candidates closer than PINCH."""
    breaks = np.flatnonzero(np.diff(logs) > PINCH)
    return np.column_stack([np.append(0, breaks + 1), np.append(breaks, logs.size - 1)])


def _edge(critical: CriticalValues, start: int, stop: int, beside: complex | None) -> Edge:
    """The candidate of a cluster whose parameter is nearest to the real one found in the gap beside it."""
    choice = start
    if beside is not None and stop > start:
        choice = start + int(np.argmin(np.abs(critical.rim_distances[start : stop + 1] - beside.real)))
    return Edge(float(critical.rim[choice]), float(critical.rim_p[choice]), float(critical.rim_distances[choice]))


def _is_pinch(
    curve: SpectralCurve, critical: CriticalValues, start: int, stop: int, around: NDArray[np.float64]
) -> bool:
    """Whether the density, positive on both sides of a cluster, vanishes there like a cube root."""
    if start == stop and not critical.rim_pinched[start]:
        return False
    near = min(_PINCH_SCALE, float(np.abs(around - critical.rim[start]).min()) / 2)
    logs = critical.rim[start] - near * np.array([1.0, 0.01])
    root = continue_to_angle(curve, logs, np.full(2, -np.pi), critical)
    return bool(root.w_imag[1] < root.w_imag[0] / 2)
