"""w(λ) for λ > 0: one monotone equation in one unknown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import ConvergenceError
from .curve import Array, SpectralCurve

_EPS = np.finfo(float).eps
LARGEST_RESIDUAL = 1e-10  # of log λ


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
    residual: NDArray[np.float64]  # |log λ(p) − log λ|
    steps: int


@np.errstate(divide="ignore", over="ignore", invalid="ignore")  # a number that is not finite is not a root
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
        small = np.exp(-np.abs(tau))
        small, large = small / (1 + small), 1 / (1 + small)
        share, rest = np.where(tau > 0, large, small), np.where(tau > 0, small, large)
        p, distance = curve.p_end * share, curve.p_end * rest
        value, slope_in_p = curve.log_ridge_and_slope(p, distance)
        error, slope = value - target, slope_in_p * p * rest
        low, high = np.where(error > 0, tau, low), np.where(error < 0, tau, high)
        step = -error / slope
        unfinished = ~((np.abs(error) <= tolerance) | (np.abs(step) <= 4 * _EPS * (1 + np.abs(tau))))  # NaN is not done
        if not unfinished.any():
            break
        if steps >= max_steps:
            raise ConvergenceError(
                f"w(λ) not converged after {steps} steps: worst |log λ(p) − log λ| = {np.abs(error).max():.3g};"
                " the ratios or β may be too extreme for double precision",
                result=(tau, error),
            )
        proposal = tau + step
        inside = (proposal > low) & (proposal < high)
        tau = np.where(unfinished, np.where(inside, proposal, (low + high) / 2), tau)
    if error.size and not np.abs(error).max() < LARGEST_RESIDUAL:
        worst = int(np.argmax(np.abs(error)))
        raise ConvergenceError(
            f"w(λ) at λ = {ridge.flat[worst]:.6g} of the law's own units has a residual of {error.flat[worst]:.3g};"
            " the ratios or β may be too extreme for double precision",
            result=(tau, error),
        )
    return RealRoot(
        tau,
        p,
        distance,
        curve.w(p, distance),
        curve.w_gap(p, distance),
        np.abs(error),
        steps,
    )
