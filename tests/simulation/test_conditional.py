"""The covariance of a row of the Gaussian equivalent given keys, values and output weights. Seed 0."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.linalg import block_diag

from rmt_attention import AttentionLayer, Orthonormal
from rmt_attention.simulation.conditional import row_covariance_eigenvalues
from rmt_attention.simulation.streams import seed_key

from ..statistics import mean
from .fixed import FixedWeights, output
from .layers import LAYERS
from .oracles import WrittenOut

KEY = seed_key(0)
INDEPENDENT_QUERIES = {
    name: layer
    for name, layer in LAYERS.items()
    if isinstance(layer.inputs, Orthonormal) and layer.query_groups == tuple(range(layer.n_heads))
} | {
    "values and outputs shared, wide values": AttentionLayer(
        12, 16, heads=3, d_key=5, d_value=15, value_groups=1, output_groups=1, d_out=30
    )
}


def _row_covariance(draw: WrittenOut) -> np.ndarray:
    """(1/n) W^Oᵀ V_⊕ᵀ Σ_G V_⊕ W^O with the block matrices formed whole."""
    layer = draw.layer
    n, blocks = layer.n_tokens, []
    for r, head in enumerate(layer.heads):
        theta2 = head.beta**2
        blocks.append(theta2 * draw.key_covariance(r) + (math.exp(theta2) - 1 - theta2) * np.eye(n))
    values = block_diag(*draw.value)
    return draw.output_weights.T @ values.T @ block_diag(*blocks) @ values @ draw.output_weights / n


@pytest.mark.parametrize("name", INDEPENDENT_QUERIES)
def test_eigenvalues_are_those_of_the_whole_block_matrices(name: str) -> None:
    layer = INDEPENDENT_QUERIES[name]
    for replicate in range(2):
        covariance = _row_covariance(WrittenOut(layer, 0, replicate))
        expected = np.linalg.eigvalsh(covariance)
        found = row_covariance_eigenvalues(layer, KEY, replicate)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * expected[-1])
        rank = np.linalg.matrix_rank(covariance, tol=1e-11 * expected[-1])
        assert np.count_nonzero(found == 0) == layer.d_out - rank


def test_the_eigenvalues_see_the_temperature_of_each_head() -> None:
    """Negative control: equal temperatures in place of unequal ones change them."""
    layer = LAYERS["unequal heads"]
    same = layer.replace(heads=[type(head)(head.d_key, head.d_value, 1.0) for head in layer.heads])
    own, other = (row_covariance_eigenvalues(one, KEY, 0) for one in (layer, same))
    assert np.abs(own - other).max() > 0.01 * own.max()


def test_rows_of_the_output_given_the_weights_have_this_covariance() -> None:
    """4000 draws of queries and noise, all rows; eigenvalues one by one as variances along eigenvectors."""
    layer = AttentionLayer(10, 12, heads=2, d_key=3, d_value=4, d_out=5, beta=0.8)
    covariance = _row_covariance(WrittenOut(layer, 0, 0))
    values, vectors = np.linalg.eigh(covariance)
    drawn = np.concatenate([output(FixedWeights(layer, 0, draw), "gaussian") for draw in range(4000)])
    squares = (drawn @ vectors) ** 2 * 10  # rows are N(0, Σ_VO/n)
    for column, expected in zip(squares.T, values, strict=True):
        assert mean(column).agrees_with(expected)
        assert not mean(column).agrees_with(1.05 * expected)  # negative control
