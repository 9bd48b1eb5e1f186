"""w(λ) for λ > 0: one monotone equation in one unknown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import ConvergenceError
from .curve import Array, SpectralCurve

_EPS = np.finfo(float).eps


@dataclass(frozen=True)
class RealRoot:
    """Solution of λ(p) = λ on 0 < p < p_end.

    The branch is certain: log λ(p) is strictly decreasing on the whole interval, so the root is unique, and the
    bracket that encloses it is carried through the iteration.
    """

    tau: Array
    p: Array
    distance: Array
    w: Array
    gap: Array
    slope: Array  # dw/dλ
    residual: float
    steps: int
    status: str


def solve_ridge(curve: SpectralCurve, ridge: NDArray[np.float64], max_steps: int = 200) -> RealRoot:
    """Solve log λ(p) = log ridge in τ = log(p/(p_end − p)) by Newton steps kept inside a shrinking bracket.

    The logit keeps p and p_end − p, hence w and w_max − w, to full relative precision. (laws.curve)
    """
    target = np.log(ridge)
    low, high = np.full(target.shape, -745.0), np.full(target.shape, 745.0)
    tau = np.zeros(target.shape)
    tolerance = 8 * _EPS * (1 + np.abs(target))
    steps = 0
    while True:
        steps += 1
        share, rest = 1 / (1 + np.exp(-tau)), 1 / (1 + np.exp(tau))
        p, distance = curve.p_end * share, curve.p_end * rest
        error = curve.log_ridge(p, distance) - target
        slope = curve.point(p, distance).log_slope * p * rest
        low, high = np.where(error > 0, tau, low), np.where(error < 0, tau, high)
        step = -error / slope
        unfinished = (np.abs(error) > tolerance) & (np.abs(step) > 4 * _EPS * (1 + np.abs(tau)))
        if not unfinished.any():
            break
        if steps >= max_steps:
            raise ConvergenceError(
                f"w(λ) not converged after {steps} steps: worst |log λ(p) − log λ| = {np.abs(error).max():.3g};"
                " the layer's widths may be too extreme for double precision",
                result=(tau, error),
            )
        proposal = tau + step
        inside = (proposal > low) & (proposal < high)
        tau = np.where(unfinished, np.where(inside, proposal, (low + high) / 2), tau)
    point = curve.point(p, distance)
    slope_in_ridge = curve.w_slope(p, distance) / (point.log_slope * ridge)
    return RealRoot(
        tau,
        p,
        distance,
        point.w,
        curve.w_gap(p, distance),
        slope_in_ridge,
        float(np.abs(error).max(initial=0)),
        steps,
        "converged: the residual is at rounding level and the root is bracketed",
    )
