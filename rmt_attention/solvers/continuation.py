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
from .curve import Array, SpectralCurve
from .real_root import solve_ridge

_STEP = 0.17  # below 3 − 2√2
_UNPROVED_STEP = 0.6  # for curves whose roots in the upper half-plane are unique, where the end point is the proof
_TOUCHING = 1e-13  # a point closer to an edge than this, in log x, is the edge itself
_NEWTON_TOLERANCE = 1e-3  # of the disc's radius, along the way; the last point is polished to rounding


@dataclass(frozen=True)
class ComplexRoot:
    """Parameters at λ = exp(log_radius + i·angle), −π ≤ angle ≤ 0, on the physical branch."""

    p: Array
    distance: Array
    w: Array
    residual: NDArray[np.float64]  # |log λ(p) − log λ|
    steps: int
    status: str


def singular_logs(curve: SpectralCurve) -> NDArray[np.complex128]:
    """Logarithms of all critical values of λ(p), on the rim Im L = −π and beyond it."""
    p = np.asarray(curve.critical_parameters(), dtype=complex)
    with np.errstate(all="ignore"):
        values = curve.log_ridge(p, curve.p_end - p)
    values = values[np.isfinite(values)]
    angle = np.mod(values.imag + np.pi, 2 * np.pi)  # in [0, 2π): the distance beyond the rim, up to rounding
    logs = values.real + 1j * (-np.pi - angle)
    mirrored = values.real + 1j * (-np.pi - np.mod(2 * np.pi - angle, 2 * np.pi))
    return np.concatenate([logs, mirrored])


def continue_to_angle(
    curve: SpectralCurve,
    log_radius: NDArray[np.float64],
    angle: NDArray[np.float64],
    singularities: NDArray[np.complex128],
    max_steps: int = 2000,
) -> ComplexRoot:
    """Follow the branch from λ = e^{log_radius} > 0 to λ = e^{log_radius + i angle}, −π ≤ angle ≤ 0."""
    tau = solve_ridge(curve, np.exp(log_radius)).tau.astype(complex)
    position = np.zeros(log_radius.shape)
    step_length = _UNPROVED_STEP if curve.unique_above else _STEP
    rows = np.flatnonzero(angle < 0)
    steps = 0
    while rows.size and steps < max_steps:
        steps += 1
        here = log_radius[rows] + 1j * position[rows]
        radius = _radius(here, singularities)
        stride = np.where(radius < _TOUCHING, np.pi, step_length * radius)
        arrive = np.maximum(position[rows] - stride, angle[rows])
        target = log_radius[rows] + 1j * arrive
        slope = 1 / _log_slope(curve, tau[rows])
        within = radius * np.abs(slope) / 4
        found = _newton(curve, tau[rows] + slope * (target - here), target, within * _NEWTON_TOLERANCE)
        if curve.unique_above:
            proved = found.imag > -within
        else:
            proved = (np.abs(found - tau[rows]) <= within) | (radius < _TOUCHING)
        if not proved.all():
            worst = rows[np.argmin(proved)]
            raise ConvergenceError(
                f"the branch at |λ| = {np.exp(log_radius[worst]):.6g} could not be proved on its way to the spectrum;"
                " two edges of the support may coincide to rounding",
                result=(tau, position),
            )
        tau[rows], position[rows] = found, arrive
        rows = rows[position[rows] > angle[rows]]
    if rows.size:
        raise ConvergenceError(
            f"{rows.size} points not reached after {max_steps} steps;"
            " the edges nearest to them are closer than double precision resolves",
            result=(tau, position),
        )
    end = log_radius + 1j * angle
    tau = _polish(curve, tau, end)
    p, distance = _parameters(curve, tau)
    return ComplexRoot(
        p,
        distance,
        curve.w(p, distance),
        np.abs(_log_ratio(curve, tau, end)),
        steps,
        "converged: every step stayed inside the disc where the root is unique",
    )


def _parameters(curve: SpectralCurve, tau: Array) -> tuple[Array, Array]:
    return curve.p_end / (1 + np.exp(-tau)), curve.p_end / (1 + np.exp(tau))


def _log_slope(curve: SpectralCurve, tau: Array) -> Array:
    """dlog λ/dτ."""
    p, distance = _parameters(curve, tau)
    return curve.point(p, distance).log_slope * p * distance / curve.p_end


def _log_ratio(curve: SpectralCurve, tau: Array, target: Array) -> Array:
    """log λ(p(τ)) − target, its imaginary part reduced to [−π, π)."""
    difference = curve.log_ridge(*_parameters(curve, tau)) - target
    return difference.real + 1j * (np.mod(difference.imag + np.pi, 2 * np.pi) - np.pi)


def _radius(here: Array, singularities: Array) -> NDArray[np.float64]:
    """Radius of a disc around L on which the branch is analytic and injective."""
    to_rim = np.pi - np.abs(here.imag)
    if not singularities.size:
        return to_rim
    to_singularity = np.abs(here[:, None] - singularities).min(axis=1)
    return np.minimum(np.maximum(to_rim, to_singularity), np.pi)


def _newton(curve: SpectralCurve, tau: Array, target: Array, tolerance: Array) -> Array:
    for _ in range(12):
        step = _log_ratio(curve, tau, target) / _log_slope(curve, tau)
        tau = tau - step
        if (np.abs(step) <= tolerance).all():
            break
    return tau


def _polish(curve: SpectralCurve, tau: Array, target: Array) -> Array:
    """Newton steps for as long as the residual falls."""
    ratio = _log_ratio(curve, tau, target)
    for _ in range(8):
        proposal = tau - ratio / _log_slope(curve, tau)
        new_ratio = _log_ratio(curve, proposal, target)
        better = np.abs(new_ratio) < np.abs(ratio)
        if not better.any():
            break
        tau, ratio = np.where(better, proposal, tau), np.where(better, new_ratio, ratio)
    return tau
