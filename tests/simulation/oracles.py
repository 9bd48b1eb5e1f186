"""Multi-head attention written out: tokens, d × width weights, n × n matrices per head, the whole of W^O.

Shares with the package only the random streams, which are its definition of a draw.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from rmt_attention import AttentionLayer, GaussianInputs
from rmt_attention.simulation.streams import Role, seed_key, stream

Matrix = NDArray[np.float64]


class WrittenOut:
    """One replicate of a layer with every matrix formed in full."""

    def __init__(self, layer: AttentionLayer, seed: int | np.random.SeedSequence = 0, replicate: int = 0) -> None:
        self.layer = layer
        self._key = seed_key(seed)
        self._replicate = replicate
        n, d = layer.n_tokens, layer.d_model
        if isinstance(layer.inputs, GaussianInputs):
            self.tokens = self._normal("tokens", 0, n, d)
        else:
            self.tokens = math.sqrt(d) * np.eye(n, d)
        heads = range(layer.n_heads)
        self.query = [self.tokens @ self._weights("query", layer.query_groups[r], layer.heads[r].d_key) for r in heads]
        self.key = [self.tokens @ self._weights("key", layer.key_groups[r], layer.heads[r].d_key) for r in heads]
        self.value = [self.tokens @ self._value_weights(r) for r in heads]
        total = sum(head.d_value for head in layer.heads)
        blocks = [self._normal("output", layer.output_groups[r], layer.heads[r].d_value, layer.d_out) for r in heads]
        self.output_weights = np.vstack(blocks) / math.sqrt(total)

    def _normal(self, role: Role, index: int, rows: int, columns: int) -> Matrix:
        return stream(self._key, self._replicate, role, index).standard_normal((rows, columns))

    def _weights(self, role: Role, index: int, width: int) -> Matrix:
        """d × width with N(0, 1/d) entries; rows that orthonormal tokens never see are left at zero."""
        d = self.layer.d_model
        seen = d if isinstance(self.layer.inputs, GaussianInputs) else self.layer.n_tokens
        return np.vstack([self._normal(role, index, seen, width), np.zeros((d - seen, width))]) / math.sqrt(d)

    def _value_weights(self, r: int) -> Matrix:
        layer, width = self.layer, self.layer.heads[r].d_value
        correlation = layer.key_value_correlation
        own = self._weights("value", layer.value_groups[r], width)
        if not correlation:
            return own
        return correlation * self._weights("key", layer.key_groups[r], width) + math.sqrt(1 - correlation**2) * own

    def scores(self, r: int) -> Matrix:
        return self.query[r] @ self.key[r].T / math.sqrt(self.layer.heads[r].d_key)

    def attention(self, r: int, model: str = "softmax", centered: bool = False) -> Matrix:
        """A_r, or P + Y_r/√n for the other models; minus P if centred."""
        n, beta, scores = self.layer.n_tokens, self.layer.heads[r].beta, self.scores(r)
        average = np.ones((n, n)) / n
        function = np.exp(beta * scores - beta**2 / 2) - 1
        if model == "softmax":
            matrix = softmax(beta * scores, axis=1)
        elif model == "exponential":
            matrix = average + function / n
        elif model == "exponential-centered":
            gram, sigma = self.tokens @ self.tokens.T / self.layer.d_model, self.key_covariance(r)
            expected = np.exp(beta**2 / 2 * (np.diag(gram)[:, None] * np.diag(sigma) - 1)) - 1
            matrix = average + (function - expected) / n
        elif model == "gaussian":
            noise_variance = math.exp(beta**2) - 1 - beta**2
            noise = self._normal("noise", r, n, n)
            matrix = average + (beta * scores + math.sqrt(noise_variance) * noise) / n
        else:
            raise ValueError(model)
        return matrix - average if centered else matrix

    def key_covariance(self, r: int) -> Matrix:
        """Σ = K Kᵀ/d_key."""
        return self.key[r] @ self.key[r].T / self.layer.heads[r].d_key

    def observable(self, name: str, model: str = "softmax", centered: bool = True) -> Matrix:
        n, h = self.layer.n_tokens, self.layer.n_heads
        attention = [self.attention(r, model, centered) for r in range(h)]
        if name == "attention":
            return math.sqrt(n / h) * np.hstack(attention)
        if name == "head-average":
            return math.sqrt(n * h) * np.mean(attention, axis=0)
        values = np.hstack([matrix @ value for matrix, value in zip(attention, self.value, strict=True)])
        return values if name == "values" else values @ self.output_weights


def squared_singular_values(matrix: Matrix) -> Matrix:
    """All n eigenvalues of M Mᵀ, ascending, from a singular value decomposition."""
    values = np.zeros(matrix.shape[0])
    found = np.linalg.svd(matrix, compute_uv=False)[::-1] ** 2
    values[values.size - found.size :] = found
    return values


def numerical_rank(matrix: Matrix) -> int:
    """Number of singular values that are not rounding errors."""
    return int(np.linalg.matrix_rank(matrix, tol=1e-10 * np.linalg.norm(matrix, 2)))
