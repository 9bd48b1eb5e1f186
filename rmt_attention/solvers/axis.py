"""The physical branch on the spectrum itself, at many points: a proved net of nodes, then one Newton solve for all.

The rim Im L = −π of (laws.branch) above one interval of the support is covered by discs in each of which the branch is
the only root:

* Koebe discs around nodes, each node reached from its neighbour by a proved step;
* at an edge L_e, where the branch is univalent in σ = √(L − L_e), one disc |σ| < √R, R the distance from L_e to the
  next singularity, which covers all points next to the edge, however close;
* where the support starts at 0 and g widths meet, the branch is univalent in σ = λ^{1/g}: one disc covers all small x.

(laws.axis)
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..errors import ConvergenceError
from .continuation import (
    NEWTON_TOLERANCE,
    OFF_AXIS,
    QUARTER,
    STEP,
    TOUCHING,
    UNPROVED_STEP,
    ComplexRoot,
    check_residual,
    continue_to_angle,
    evaluate,
    newton,
    polish,
    unique_root,
)
from .critical import PINCH, CriticalValues
from .curve import Array, SpectralCurve
from .real_root import LARGEST_RESIDUAL
from .support import Edge, Interval

_RIM = -1j * np.pi
# For |σ| ≤ 0.14 of the disc at 0 growth and rotation theorems give |Δτ| ≤ 0.42 from the leading term, inside a quarter.
_ZERO_STEP, _ZERO_BOUND = 0.14, 0.42
_ZERO_EXACT = -41.0  # log |σ| over that step below which the leading term is all; the margins' product may underflow
_ZERO_SHARE = 1e-60  # distance from p_end, relative, where the constant of the leading term is read off
_MOST_NODES = 5000
_NEARLY_A_ROOT = 1e-3  # |log λ(p) − log λ|


@dataclass(frozen=True)
class _EdgeDisc:
    """The disc at an edge: τ ≈ τ_e + slope·σ, σ = √|log x − log x_e|, for |log x − log x_e| ≤ reach."""

    log_x: float
    tau: complex
    slope: complex
    reach: float
    bound: float  # radius of the uniqueness disc in τ
    skipped: float  # points closer than this need no proof: the edge itself, or a point where two intervals touch


@dataclass(frozen=True)
class _ZeroDisc:
    """The disc at x = 0: p_end − p ≈ p_end · exp((log λ − shift)/order) for log x ≤ log_reach."""

    order: int
    shift: float
    log_reach: float


@dataclass
class AxisNet:
    """Discs that cover one interval of the support of a curve."""

    curve: SpectralCurve
    interval: Interval
    critical: CriticalValues
    _logs: NDArray[np.float64] = field(init=False)
    _tau: NDArray[np.complex128] = field(init=False)

    def __post_init__(self) -> None:
        low = -np.inf if self.interval.low is None else self.interval.low.log_x
        self._nearby = self.critical.inside(low, self.interval.high.log_x)
        self._step = UNPROVED_STEP if self.curve.unique_above else STEP
        self._high = self._edge_disc(self.interval.high)
        self._low = None if self.interval.low is None else self._edge_disc(self.interval.low)
        self._zero = self._zero_disc() if self._low is None else None
        right = self._high.log_x - max(self._high.reach, self._high.skipped)
        if self._low is not None:
            left = self._low.log_x + max(self._low.reach, self._low.skipped)
        else:
            left = self._zero.log_reach if self._zero is not None else -np.inf
        self._walk(min(left, right), right)

    def _edge_disc(self, edge: Edge) -> _EdgeDisc:
        curve, p, distance = self.curve, np.array(edge.p, dtype=complex), np.array(edge.distance, dtype=complex)
        curvature = complex(curve.log_curvature(p, distance, p * (distance / curve.p_end)))  # in τ
        tau = complex(np.log(p / distance))
        if tau.imag < 0:
            tau = tau.conjugate()
        log_x = edge.log_x
        radius = float(self._nearby.without(log_x).radius(np.array([log_x + _RIM]))[0])
        side = -1 if edge is self.interval.high else 1  # the interior lies at log x_e + side·σ²
        slope = complex(np.sqrt(2 * side / curvature + 0j))
        if (tau + 1e-3 * slope).imag < 0 or (tau.imag > 1 and slope.imag > 0):
            slope = -slope
        if edge.pinched:
            return _EdgeDisc(log_x, tau, 0j, 0.0, 0.0, 30 * PINCH)
        return _EdgeDisc(log_x, tau, slope, self._step**2 * radius, abs(slope) * np.sqrt(radius) / 4, TOUCHING)

    def _zero_disc(self) -> _ZeroDisc:
        curve = self.curve
        order = curve.hard_edge_order
        distance = np.array(curve.p_end * _ZERO_SHARE)
        shift = float(curve.log_ridge(curve.p_end - distance, distance)) - order * float(np.log(_ZERO_SHARE))
        nearest = self._nearby.lowest()
        return _ZeroDisc(order, shift, nearest + order * float(np.log(_ZERO_STEP)))

    def _walk(self, left: float, right: float) -> None:
        """Nodes from the middle of [left, right] outwards to both ends, every step proved."""
        middle = (left + right) / 2
        start = continue_to_angle(self.curve, np.array([middle]), np.array([-np.pi]), self.critical).tau[0]
        logs, tau = np.array([middle, middle]), np.array([start, start])
        slope = 1 / evaluate(self.curve, tau, logs + _RIM)[1]
        ends, direction = np.array([left, right]), np.array([-1.0, 1.0])
        all_logs, all_tau = [logs[:1]], [tau[:1]]
        walking = np.array([True, True])
        while walking.any():
            if len(all_logs) > _MOST_NODES:
                raise ConvergenceError(
                    f"no net of {_MOST_NODES} nodes covers the spectrum up to x = {self.interval.high.x:.6g};"
                    " edges nearest to it are closer than double precision resolves",
                    result=(logs, tau),
                )
            rows = np.flatnonzero(walking)
            here = logs[rows] + _RIM
            radius = self._nearby.radius(here)
            stride = self._step * radius
            last = stride >= np.abs(ends[rows] - logs[rows])
            target = np.where(last, ends[rows], logs[rows] + direction[rows] * stride) + _RIM
            bound = QUARTER * radius * np.abs(slope[rows])
            guess = tau[rows] + slope[rows] * (target - here)
            found, rate = newton(self.curve, guess, target, bound * NEWTON_TOLERANCE)
            near = np.ones(rows.shape, dtype=bool)
            if self.curve.unique_above:  # no disc: Newton may have been stopped on its way
                near = np.abs(evaluate(self.curve, found, target)[0]) < _NEARLY_A_ROOT
            reached, _ = self._proved(found.copy(), near, tau[rows], bound, target)
            other = reached != found
            if other.any():
                rate[other] = 1 / evaluate(self.curve, reached[other], target[other])[1]
            logs[rows], tau[rows], slope[rows] = target.real, reached, rate
            all_logs.append(target.real)
            all_tau.append(reached)
            walking[rows] = ~last
        flat = np.concatenate(all_logs)
        order = np.argsort(flat)
        self._logs, self._tau = flat[order], np.concatenate(all_tau)[order]
        self._slope = 1 / evaluate(self.curve, self._tau, self._logs + _RIM)[1]
        self._bound = self._nearby.radius(self._logs + _RIM) * np.abs(self._slope) / 4

    def _proved(
        self, found: Array, converged: NDArray[np.bool_], centre: Array, bound: Array, target: Array
    ) -> tuple[Array, NDArray[np.float64]]:
        """``found`` where it is the only root of its disc; elsewhere the branch by the longer way along |λ| = x.

        Also the root's distance from the centre over the radius of the disc: NaN where there is no disc.
        """
        if self.curve.unique_above:
            good = unique_root(self.curve, found, target) & (np.sin(found.imag) > OFF_AXIS)
            disc = np.zeros(found.shape)
        else:
            disc = np.where(np.isinf(bound), np.nan, np.abs(found - centre) / bound)
            good = disc <= 1
        rows = np.flatnonzero(~(good & converged | np.isinf(bound)))
        if rows.size:
            logs = target.real[rows]
            root = continue_to_angle(self.curve, logs, np.full(logs.shape, -np.pi), self.critical)
            found[rows], disc[rows] = root.tau, root.disc
        return found, disc

    def solve(self, logs: NDArray[np.float64]) -> ComplexRoot:
        """The branch at x = exp(logs), inside the interval."""
        node = np.clip(np.searchsorted(self._logs, logs), 1, max(self._logs.size - 1, 1))
        node = np.minimum(node, self._logs.size - 1)
        node -= (node > 0) & (logs - self._logs[node - 1] < self._logs[node] - logs)
        centre, bound = self._tau[node], self._bound[node]
        guess = centre + self._slope[node] * (logs - self._logs[node])
        expanded = np.zeros(logs.shape, dtype=bool)  # so near an edge or 0 that the leading term is the answer
        for edge in (self._low, self._high):
            if edge is not None:
                offset = np.abs(logs - edge.log_x)
                near = offset < edge.reach
                centre, bound = np.where(near, edge.tau, centre), np.where(near, edge.bound, bound)
                guess = np.where(near, edge.tau + edge.slope * np.sqrt(offset), guess)
                bound = np.where(offset < edge.skipped, np.inf, bound)
                expanded |= near & (offset < edge.skipped)
        if self._zero is not None:
            near = logs < self._zero.log_reach
            with np.errstate(invalid="ignore"):  # where p_end − p underflows nothing is proved from here
                guess[near] = (self._zero.shift - logs[near] - _RIM) / self._zero.order  # log p_end/(p_end − p)
            centre, bound = np.where(near, guess, centre), np.where(near, _ZERO_BOUND, bound)
            expanded |= logs < self._zero.log_reach + self._zero.order * _ZERO_EXACT
        disc, residual = np.where(np.isinf(bound), np.nan, 0.0), np.zeros(logs.shape)
        rows = np.flatnonzero(~expanded) if expanded.any() else slice(None)
        guess[rows], residual[rows], disc[rows] = self._polished(guess[rows], centre[rows], bound[rows], logs[rows])
        touching = np.isinf(bound) & (residual < PINCH)  # three real roots in a gap too narrow to count as one
        check_residual(np.where(touching, 0.0, residual), logs)
        return ComplexRoot.at(self.curve, guess, residual, disc, self._logs.size)

    def _polished(
        self, guess: Array, centre: Array, bound: Array, logs: NDArray[np.float64]
    ) -> tuple[Array, NDArray[np.float64], NDArray[np.float64]]:
        """Proved roots from guesses, their residuals, and distances from the centres over the radii of the discs."""
        target = logs + _RIM
        tau, _ = newton(self.curve, guess, target, np.minimum(bound, 1e-6) * NEWTON_TOLERANCE)
        polished, residual = polish(self.curve, tau, target)
        tau, disc = self._proved(polished.copy(), residual < LARGEST_RESIDUAL, centre, bound, target)
        again = np.flatnonzero(tau != polished)
        residual[again] = np.abs(evaluate(self.curve, tau[again], target[again])[0])
        return tau, residual, disc

    def log_density(self, logs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Density of log x at x = exp(logs): Im w/π."""
        return self.solve(logs).w_imag / np.pi
