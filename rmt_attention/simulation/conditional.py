"""The covariance of a row of the Gaussian equivalent, given one draw of keys, values and output weights."""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import blas, eigvalsh
from threadpoolctl import threadpool_limits

from ..equations.temperature import score_variance_excess
from ..layer import AttentionLayer
from .projections import Matrix, Projections
from .rank import output_weights_rank
from .streams import SeedKey


def row_covariance_eigenvalues(layer: AttentionLayer, key: SeedKey, replicate: int) -> Matrix:
    """The d_out eigenvalues, ascending, of Σ_VO, the covariance of a row over n. (laws.compound)

    Σ_VO = (1/n) Σ_r O_rᵀ V_rᵀ (θ2 K_r K_rᵀ/d_key + (θ1−θ2) I) V_r O_r for orthonormal tokens. Zeros that the dimensions
    force are exact.
    """
    n = layer.n_tokens
    with threadpool_limits(1):
        projections = Projections(layer, key, replicate)
        gram = np.zeros((layer.d_out, layer.d_out), order="F")
        for index, head in enumerate(layer.heads):
            arrays = projections.head(index)
            noise = math.sqrt(score_variance_excess(math, head.beta**2))
            factor: Matrix = np.linalg.qr(arrays.value, mode="r")  # type: ignore[assignment]
            score = (arrays.key.T @ arrays.value) * (head.beta / math.sqrt(head.d_key))
            rows = np.vstack([score, noise * factor]) @ projections.output_weights(index)
            gram = blas.dsyrk(1 / n, rows.T, 1.0, gram, lower=1, overwrite_c=1)
        rank = min(layer.d_out, output_weights_rank(layer, n))
        values = np.maximum(eigvalsh(gram, lower=True, overwrite_a=True, check_finite=False), 0.0)
    values[: layer.d_out - rank] = 0.0
    return np.asarray(values)
