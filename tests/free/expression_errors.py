"""What the law of a random expression gets wrong: against closed forms, its own inverse, and random matrices."""

from __future__ import annotations

import math
import time

import numpy as np
from numpy.typing import NDArray

from rmt_attention.free import FreeLaw
from rmt_attention.free.operations import Affine

from .expressions import ExpressionSet, matrix_eigenvalues, shown

SECONDS = "seconds"
LIMITS = {
    "mass": 1e-8,
    "mean": 1e-8,
    "second free cumulant": 1e-8,
    "third moment": 1e-7,
    "density below 0": 0.0,
    "cdf of quantile": 1e-9,
}
MATRIX_LIMITS = {"cdf against the matrix": 0.02, "a wrong law passes": 0.0}
SIZE = 600  # of a matrix
_STRETCH, _WRONG = 1.3, 0.03  # a law stretched about its mean by as much has to be further away


def law_errors(one: ExpressionSet) -> dict[str, float]:
    """Errors of one expression, and the time it took."""
    node = one.node()
    start = time.perf_counter()
    law = FreeLaw(node, shown(node))
    x, weights = law.quadrature
    deviation = math.sqrt(node.variance)
    third = law.moment(3)
    levels = one.rng().random(20)
    points = law.quantile(levels)
    off = ~np.isin(points, [atom.location for atom in law.atoms])
    grid = np.linspace(node.low, node.high, 200)
    return {
        "mass": abs(float(weights.sum()) - 1),
        "mean": abs(float(weights @ x) - node.mean) / max(abs(node.mean), deviation),
        "second free cumulant": abs(float(weights @ (x - node.mean) ** 2) / node.variance - 1),
        # by the circle, right to its rounding on the bound of the support
        "third moment": abs(float(weights @ x**3) - third) / max(abs(third), 1e-6 * max(-node.low, node.high) ** 3),
        "density below 0": max(0.0, -float(law.density(grid).min())),
        "cdf of quantile": _missed(law, points[off], levels[off]),
        SECONDS: time.perf_counter() - start,
    }


def _missed(law: FreeLaw, points: NDArray[np.float64], levels: NDArray[np.float64]) -> float:
    """How far levels are from what the cdf takes within rounding of each point."""
    rounding = 4 * np.finfo(float).eps * (np.abs(points) + math.sqrt(law.variance))
    below, above = law.cdf(points - rounding), law.cdf(points + rounding)
    return float(np.maximum(below - levels, levels - above).max(initial=0.0))


def matrix_errors(one: ExpressionSet) -> dict[str, float]:
    """Distances of the cdf from that of one random matrix: of the law, and whether a wrong law is as near."""
    node = one.node()
    eigenvalues = np.sort(matrix_eigenvalues(node, SIZE, one.rng()))
    wrong = Affine(node, _STRETCH, (1 - _STRETCH) * node.mean)
    return {
        "cdf against the matrix": distance(FreeLaw(node, shown(node)), eigenvalues),
        "a wrong law passes": float(distance(FreeLaw(wrong, "wrong"), eigenvalues) <= _WRONG),
    }


def distance(law: FreeLaw, eigenvalues: NDArray[np.float64]) -> float:
    """Largest difference of the cdfs at the eigenvalues, but next to atoms of the law."""
    width = eigenvalues[-1] - eigenvalues[0]
    far = np.ones(eigenvalues.shape, bool)
    for atom in law.atoms:
        far &= np.abs(eigenvalues - atom.location) > 1e-9 * width
    x = eigenvalues[far]
    n = eigenvalues.size
    above, below = np.searchsorted(eigenvalues, x, side="right") / n, np.searchsorted(eigenvalues, x) / n
    cdf = law.cdf(x)
    return float(np.maximum(above - cdf, cdf - below).max())
