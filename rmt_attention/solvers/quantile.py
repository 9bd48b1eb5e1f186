"""The inverse of the cdf on one interval of the support."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..errors import ConvergenceError
from .axis import AxisNet
from .curve import SpectralCurve

_ROUNDS = 100
_CDF_ROUNDING = 4e-16
_DEEPEST = -1e4  # log x at levels of the smallest double; x itself may be less than that


def invert_cdf(curve: SpectralCurve, net: AxisNet, mass: NDArray[np.float64], *, lowest: bool) -> NDArray[np.float64]:
    """log x where the mass below is given, strictly between those at both ends of the net's interval.

    Newton steps in ℓ = log x, where dF/dℓ = Im w/π, inside a bracket that halves when a step leaves it. On the lowest
    interval they are steps for log F, which is ℓ/g where the support starts at 0, and the mass, off 0, counts to
    relative precision. (laws.cdf)
    """
    high = np.full(mass.shape, net.interval.high.log_x)
    low = np.full(mass.shape, _DEEPEST if net.interval.low is None else net.interval.low.log_x)
    logs = (low + high) / 2 if net.interval.low is not None else high - 1.0
    rows = np.arange(mass.size)
    for _ in range(_ROUNDS):
        root = net.solve(logs[rows])
        if lowest:
            found = curve.lower_mass(root.p, root.distance)
        else:
            found = curve.w_max - curve.upper_mass(root.p, root.distance)
        error = found - mass[rows]
        low[rows] = np.where(error < 0, logs[rows], low[rows])
        high[rows] = np.where(error > 0, logs[rows], high[rows])
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            change = found * np.log(found / mass[rows]) if lowest else error
            proposal = logs[rows] - np.pi * change / root.w_imag
        inside = (proposal > low[rows]) & (proposal < high[rows])
        following = np.where(inside, proposal, (low[rows] + high[rows]) / 2)
        moved = np.abs(following - logs[rows]) > 1e-15 * (1 + np.abs(following))
        going = (np.abs(error) > _CDF_ROUNDING * (mass[rows] if lowest else 1.0)) & moved
        logs[rows[going]] = following[going]
        rows = rows[going]
        if not rows.size:
            return logs
    raise ConvergenceError(
        f"quantile not reached after {_ROUNDS} steps at a mass of {mass[rows[0]]:.6g}", result=(low, high)
    )
