"""The physical branch off the positive axis, by continuation along a circle |λ| = constant.

In L = log λ the law is analytic on the strip |Im L| < π, whose lower rim is the spectrum approached from above
(z = −λ = x + i0). Let τ = log(p/(p_end − p)); τ(L) is univalent because λ(p(L)) = e^L. Koebe's theorems then give a
step length and a uniqueness disc that PROVE the branch: with R the distance from L to the nearest singularity, at most
π,

* a step |ΔL| ≤ (3 − 2√2) R moves τ by at most R |τ'|/4 (growth theorem), and
* inside |Δτ| < R |τ'|/4 no other root of λ(p(τ)) = λ exists (quarter theorem),

so a root found there is the continuation and no other. Singularities lie on the rim (critical values of λ(p)) or, where
a disc reaches across the rim, at complex critical values. The start, Im L = 0, is the unique root for λ > 0.
(laws.branch)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import ConvergenceError
from .critical import CriticalValues
from .curve import Array, SpectralCurve
from .real_root import LARGEST_RESIDUAL, solve_ridge

STEP = 0.17  # below 3 − 2√2
UNPROVED_STEP = 0.6  # for curves whose roots in the upper half-plane are unique, where the end point is the proof
_ROUNDING = 4 * np.finfo(float).eps
_SHORTEST_STEP = 1e-3
_LARGEST = 700.0  # of τ, before its exponential overflows
_NEXT_TO_AXIS = 1e-6  # angle of λ
OFF_AXIS = 1e-9  # sin Im τ of a real parameter, up to rounding
TOUCHING = 1e-12  # a point closer to an edge than this, in log x, is the edge itself
NEWTON_TOLERANCE = 1e-3  # of the disc's radius, along the way; the last point is polished to rounding
QUARTER = 0.247  # of R |τ'|: τ' is taken as near as that to the root, which by the distortion theorem is 1 % at most


@dataclass(frozen=True)
class ComplexRoot:
    """Parameters at λ = exp(log_radius + i·angle), −π ≤ angle ≤ 0, on the physical branch."""

    tau: Array
    p: Array
    distance: Array
    w: Array
    w_imag: NDArray[np.float64]  # Im w to relative precision, also next to p_end, where w itself is almost real
    residual: NDArray[np.float64]  # |log λ(p) − log λ|
    disc: NDArray[np.float64]  # how far into its uniqueness disc the root lies, as a share of the radius: see Solution
    steps: int

    @classmethod
    def at(
        cls,
        curve: SpectralCurve,
        tau: Array,
        residual: NDArray[np.float64],
        disc: NDArray[np.float64],
        steps: int,
    ) -> ComplexRoot:
        """The root at given τ, reflected where rounding has taken it out of the closed upper half-plane.

        What is made of arguments of p alone, the cdf above all, is stationary only if all of it is seen from one side.
        """
        p, distance = curve_parameters(curve, tau)
        p = np.where(np.abs(distance) < np.abs(p), curve.p_end - distance, p)  # Im p to relative precision
        below = np.sin(tau.imag) < 0
        p, distance = np.where(below, p.conj(), p), np.where(below, distance.conj(), distance)
        w = curve.w(p, distance)
        w_imag = np.where(np.abs(distance) < np.abs(p), -curve.w_gap(p, distance).imag, w.imag)
        return cls(tau, p, distance, w, w_imag, residual, disc, steps)


def continue_to_angle(
    curve: SpectralCurve,
    log_radius: NDArray[np.float64],
    angle: NDArray[np.float64],
    critical: CriticalValues,
    max_steps: int = 2000,
) -> ComplexRoot:
    """Follow the branch from λ = e^{log_radius} > 0 to λ = e^{log_radius + i angle}, −π ≤ angle ≤ 0."""
    with np.errstate(over="ignore"):  # then it does not converge
        tau = solve_ridge(curve, np.exp(log_radius)).tau.astype(complex)
    position = np.zeros(log_radius.shape)
    step_length = np.full(log_radius.shape, UNPROVED_STEP if curve.unique_above else STEP)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = 1 / evaluate(curve, tau, log_radius + 0j)[1]
    rows = np.flatnonzero(angle < 0)
    disc = np.zeros(log_radius.shape)
    centre, bound = tau.copy(), np.full(log_radius.shape, np.inf)  # of the disc of the last step
    steps = 0
    while rows.size and steps < max_steps:
        steps += 1
        here = log_radius[rows] + 1j * position[rows]
        radius = critical.radius(here)
        stride = np.where(radius < TOUCHING, np.pi, step_length[rows] * radius)
        arrive = np.maximum(position[rows] - stride, angle[rows])
        target = log_radius[rows] + 1j * arrive
        within = QUARTER * radius * np.abs(slope[rows])
        guess = tau[rows] + slope[rows] * (target - here)
        found, rate = newton(curve, guess, target, within * NEWTON_TOLERANCE)
        if curve.unique_above:
            proved = unique_root(curve, found, target) | (radius < TOUCHING)
            step_length[rows[~proved]] /= 2  # a root on another sheet: come nearer first
            rows, found, rate, arrive = rows[proved], found[proved], rate[proved], arrive[proved]
            proved = step_length >= _SHORTEST_STEP
        else:
            share = np.where(radius < TOUCHING, np.nan, np.abs(found - tau[rows]) / within)
            centre[rows], bound[rows] = tau[rows], np.where(radius < TOUCHING, np.inf, within)
            disc[rows] = np.maximum(disc[rows], share)
            proved = ~(share > 1)
        if not proved.all():
            raise _unproved(log_radius[np.argmin(proved) if curve.unique_above else rows[np.argmin(proved)]], tau)
        tau[rows], slope[rows], position[rows] = found, rate, arrive
        rows = np.flatnonzero(position > angle)
    if rows.size:
        raise ConvergenceError(
            f"{rows.size} points not reached after {max_steps} steps;"
            " the edges nearest to them are closer than double precision resolves",
            result=(tau, position),
        )
    end = log_radius + 1j * angle
    tau, residual = polish(curve, tau, end)
    check_residual(residual, log_radius)
    kept = np.abs(tau - centre) <= bound  # polishing has not left the disc
    if curve.unique_above:
        kept = unique_root(curve, tau, end) | (angle == 0) | (critical.radius(end) < TOUCHING)
    if not kept.all():
        raise _unproved(log_radius[np.argmin(kept)], tau)
    return ComplexRoot.at(curve, tau, residual, disc, steps)


def _unproved(log_radius: float, result: Array) -> ConvergenceError:
    return ConvergenceError(
        f"the branch at |λ| = {np.exp(log_radius):.6g} could not be proved on its way to the spectrum;"
        " two edges of the support may coincide to rounding",
        result=result,
    )


def unique_root(curve: SpectralCurve, tau: Array, target: Array) -> NDArray[np.bool_]:
    """Where τ is the branch of a curve with ``unique_above``, whatever the path that led to it. (laws.branch)

    That is so for every p in the upper half-plane (Silverstein and Bai 1995), on the rim for real p with λ decreasing
    in p (Silverstein and Choi 1995), and for λ > 0 between 0 and p_end. Next to the real axis, where p is real up to
    rounding, the latter two decide: off an edge p moves in proportion to λ, next to one it is off the axis. A point
    whose next Newton step may lead to the axis is not a root yet.
    """
    ratio, rate = evaluate(curve, tau, target)
    with np.errstate(divide="ignore", invalid="ignore"):
        off_axis = np.sin(tau.imag) > np.maximum(OFF_AXIS, 2 * np.abs(ratio / rate))
    inside = (tau.imag > -OFF_AXIS) & (tau.imag < np.pi + OFF_AXIS)
    p, distance = curve_parameters(curve, tau)
    slope = curve.log_ridge_and_slope(p, distance)[1].real  # λ falls where log |λ| rises, λ < 0
    below, above = target.imag <= _NEXT_TO_AXIS - np.pi, target.imag >= -_NEXT_TO_AXIS
    return inside & (off_axis | (below & (slope > 0)) | (above & (slope < 0)))


def check_residual(residual: NDArray[np.float64], logs: NDArray[np.float64]) -> None:
    """ConvergenceError unless |log λ(p) − log λ| is at rounding level everywhere."""
    if residual.size and not residual.max() < LARGEST_RESIDUAL:
        worst = int(np.argmax(residual))
        raise ConvergenceError(
            f"Newton's iteration at |λ| = {np.exp(logs[worst]):.6g} stopped at a residual of {residual[worst]:.3g};"
            " the ratios or β may be too extreme for double precision",
            result=residual,
        )


def curve_parameters(curve: SpectralCurve, tau: Array) -> tuple[Array, Array]:
    """p and p_end − p at τ = log(p/(p_end − p))."""
    beyond = np.where(tau.real > _LARGEST, tau.real - _LARGEST, 0.0)
    if beyond.any():
        p, distance = curve_parameters(curve, tau - beyond)
        return p, distance * np.exp(-beyond)
    growth = np.exp(tau)
    distance = curve.p_end / (1 + growth)
    return growth * distance, distance


@np.errstate(divide="ignore", over="ignore", invalid="ignore")  # the residual is checked at the end
def evaluate(curve: SpectralCurve, tau: Array, target: Array) -> tuple[Array, Array]:
    """log λ − target, its imaginary part reduced to [−π, π), and dlog λ/dτ."""
    p, distance = curve_parameters(curve, tau)
    value, slope = curve.log_ridge_and_slope(p, distance)
    difference = value - target
    turns = np.round(difference.imag / (2 * np.pi))
    return difference - 2j * np.pi * turns, slope * (p * (distance / curve.p_end))


@np.errstate(divide="ignore", over="ignore", invalid="ignore")
def newton(curve: SpectralCurve, tau: Array, target: Array, tolerance: Array) -> tuple[Array, Array]:
    """τ after Newton steps to within the tolerance, and dτ/dlog λ before the last of them."""
    for _ in range(12):
        ratio, slope = evaluate(curve, tau, target)
        rate = 1 / slope
        step = ratio * rate
        tau = tau - step
        if (np.abs(step) <= tolerance).all():
            break
    return tau, rate


@np.errstate(divide="ignore", over="ignore", invalid="ignore")
def polish(curve: SpectralCurve, tau: Array, target: Array) -> tuple[Array, NDArray[np.float64]]:
    """Newton steps for as long as the residual falls; τ and |log λ − target|."""
    ratio, slope = evaluate(curve, tau, target)
    for _ in range(6):
        proposal = tau - ratio / slope
        new_ratio, new_slope = evaluate(curve, proposal, target)
        better = np.abs(new_ratio) < np.abs(ratio)
        tau = np.where(better, proposal, tau)
        ratio, slope = np.where(better, new_ratio, ratio), np.where(better, new_slope, slope)
        if not (better & (np.abs(ratio) > _ROUNDING * (1 + np.abs(target)))).any():
            break
    return tau, np.abs(ratio)
