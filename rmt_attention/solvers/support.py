"""Support of the absolutely continuous part: edges as critical values, spurious ones rejected by continuation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .continuation import continue_to_angle
from .curve import SpectralCurve

_REAL = 1e-7  # relative imaginary part below which a critical point counts as real
_ZERO_DENSITY = 1e-9  # Im w / |w| at the middle of a gap is rounding; in a bulk of relative width δ it is about √δ


def real_critical_points(curve: SpectralCurve) -> NDArray[np.float64]:
    """Candidate edges: x = −λ(p) > 0 at real critical p, ascending."""
    p = np.asarray(curve.critical_parameters(), dtype=complex)
    p = p[np.abs(p.imag) <= _REAL * np.abs(p)].real + 0j
    with np.errstate(all="ignore"):
        logs = curve.log_ridge(p, curve.p_end - p)
    negative = np.isfinite(logs) & (np.cos(logs.imag) < 0)  # λ < 0
    return np.unique(np.exp(logs.real[negative]))


def support_intervals(curve: SpectralCurve, singularities: NDArray[np.complex128]) -> tuple[tuple[float, float], ...]:
    """Closed intervals of the a.c. part. (laws.edges)

    Between two neighbouring candidates the density is positive throughout or zero throughout; its value at the
    geometric midpoint, reached by the proved continuation, decides, and candidates inside a bulk or a gap drop out.
    """
    edges = real_critical_points(curve)
    logs = np.log(edges)
    middles = np.concatenate([[logs[0] - 1], (logs[1:] + logs[:-1]) / 2])
    root = continue_to_angle(curve, middles, np.full(middles.shape, -np.pi), singularities)
    filled = root.w.imag > _ZERO_DENSITY * np.abs(root.w)
    left = np.concatenate([[0.0], edges[:-1]])
    intervals: list[tuple[float, float]] = []
    for a, b, inside in zip(left, edges, filled, strict=True):
        if inside and intervals and intervals[-1][1] == a:
            intervals[-1] = (intervals[-1][0], float(b))
        elif inside:
            intervals.append((float(a), float(b)))
    return tuple(intervals)
