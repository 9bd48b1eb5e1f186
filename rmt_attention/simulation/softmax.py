"""Softmax of the rows of a matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def exponentiate_rows(scaled: NDArray[np.float64]) -> NDArray[np.float64]:
    """Replace each entry by exp(entry − row maximum), in place, and return the row sums. (model.softmax)"""
    scaled -= scaled.max(axis=1, keepdims=True)
    np.exp(scaled, out=scaled)
    return scaled.sum(axis=1)


def softmax_rows(scores: ArrayLike, beta: float = 1.0) -> NDArray[np.float64]:
    """softmax(beta · scores) along the last axis of an n × m matrix, the row maximum subtracted first.

    Never overflows: at any beta each row sums to one, the largest score getting the largest weight. (model.softmax)
    """
    scaled = np.array(scores, dtype=float) * beta
    if scaled.ndim != 2 or not np.isfinite(scaled).all():
        raise ValueError("scores: must be a matrix of finite numbers, also after multiplication by beta")
    scaled /= exponentiate_rows(scaled)[:, None]
    return scaled
