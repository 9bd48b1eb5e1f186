"""The one singular value of uncentred attention that stands apart, and its prediction."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from ..layer import AttentionLayer, Head, check_layer
from ..simulation.sampling import output_with_common_row
from ..simulation.streams import seed_key
from ..spectra import Estimate


@dataclass(frozen=True)
class OutlierComparison:
    """s_1/√d_out of the uncentred output, its prediction, and their relative difference, over replicates.

    ``expected_bias`` is the part of the relative difference that second-order perturbation theory expects.
    """

    measured: Estimate
    predicted: Estimate
    relative_difference: Estimate
    expected_bias: float


def _key_weight_variance(head: Head) -> float:
    """Var(g)/(E g)² of g = exp(β² χ²_d/(2d)), d = d_key: (1−β²/d)^d (1−2β²/d)^{−d/2} − 1; inf for d ≤ 2β²."""
    d, theta2 = head.d_key, head.beta**2
    if d <= 2 * theta2:
        return math.inf
    return math.expm1(d * math.log1p(-theta2 / d) - d / 2 * math.log1p(-2 * theta2 / d))


def compare_outlier(
    layer: AttentionLayer,
    *,
    replicates: int = 1,
    seed: int | np.random.SeedSequence = 0,
    progress: Callable[[int, int], None] | None = None,
) -> OutlierComparison:
    """Largest singular value of MHA(X) against ‖1ᵀ[V_1, …, V_h] W^O‖/√(n d_out). (model.outlier)

    The prediction uses the values and output weights of the same draw. The rank-one part 1 mᵀ, m the mean output row,
    has singular value θ = √n ‖m‖. The centred part E adds (‖E‖²/n)(1 + 1/γ_O + 1/γ_V)/(2θ²) to s_1/θ − 1 on average,
    and the larger weight of longer keys, common to all rows, adds half the relative variance of
    exp(β²|k|²/(2 d_key)), about β⁴/(4 d_key).

    Source: Hayase and Karakida (2026), section 3; the second-order term is derived in
    derivations/01-model-and-equivalence.md.
    """
    from scipy.sparse.linalg import svds

    check_layer(layer)
    if isinstance(replicates, bool) or not isinstance(replicates, (int, np.integer)) or replicates < 1:
        raise ValueError(f"replicates={replicates!r}: must be an integer ≥ 1")
    key = seed_key(seed)
    measured, predicted, bias = [], [], []
    n, d_out = layer.n_tokens, layer.d_out
    weight_bias = float(np.average([_key_weight_variance(head) for head in layer.heads])) / 2
    for replicate in range(replicates):
        centered, row = output_with_common_row(layer, key, replicate)
        theta = math.sqrt(n) * float(np.linalg.norm(row))
        noise = float((centered**2).sum()) / n
        centered += row
        with threadpool_limits(1):
            if min(n, d_out) > 2:
                top = float(svds(centered, k=1, v0=np.ones(min(n, d_out)), return_singular_vectors=False)[0])
            else:
                top = float(np.linalg.norm(centered, 2))
        measured.append(top / math.sqrt(d_out))
        predicted.append(theta / math.sqrt(d_out))
        bias.append(noise * (1 + 1 / layer.gamma_out + 1 / layer.gamma_value) / (2 * theta**2) + weight_bias)
        if progress is not None:
            progress(replicate + 1, replicates)
    relative = np.array(measured) / np.array(predicted) - 1
    return OutlierComparison(
        Estimate.from_values(measured),
        Estimate.from_values(predicted),
        Estimate.from_values(relative),
        float(np.mean(bias)),
    )
