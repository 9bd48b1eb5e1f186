"""Queries, keys, values and output weights of one replicate, drawn head by head."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..inputs import GaussianInputs
from ..layer import AttentionLayer, Head
from .streams import Role, SeedKey, stream

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class HeadArrays:
    """One head: Q, K (n × d_key) and V (n × d_value) of the model's definition. (model.heads)"""

    index: int
    head: Head
    query: Matrix
    key: Matrix
    value: Matrix


class Projections:
    """The weights of one replicate applied to its tokens.

    For orthonormal tokens X = √d [I_n, 0] a projection X W is the first n rows of a standard normal d × width matrix;
    only those rows are drawn. Keys and values shared by consecutive heads are projected once.
    """

    def __init__(self, layer: AttentionLayer, key: SeedKey, replicate: int) -> None:
        self.layer = layer
        self._key = key
        self._replicate = replicate
        self._last: dict[Role, tuple[int, Matrix]] = {}

    @cached_property
    def tokens(self) -> Matrix | None:
        """X/√d (n × d), or None for orthonormal tokens."""
        if not isinstance(self.layer.inputs, GaussianInputs):
            return None
        shape = (self.layer.n_tokens, self.layer.d_model)
        return self.stream("tokens").standard_normal(shape) / math.sqrt(self.layer.d_model)

    @cached_property
    def row_variance(self) -> Matrix:
        """B_ii = |x_i|²/d of each token."""
        if self.tokens is None:
            return np.ones(self.layer.n_tokens)
        return np.asarray(np.einsum("ij,ij->i", self.tokens, self.tokens))

    def stream(self, role: Role, index: int = 0) -> np.random.Generator:
        """Generator of one array of this replicate."""
        return stream(self._key, self._replicate, role, index)

    def project(self, role: Role, index: int, width: int) -> Matrix:
        """X W for a d × width matrix W of N(0, 1/d) entries with its own stream."""
        rows = self.layer.n_tokens if self.tokens is None else self.layer.d_model
        weights = self.stream(role, index).standard_normal((rows, width))
        return weights if self.tokens is None else self.tokens @ weights

    def _shared(self, role: Role, index: int, width: int) -> Matrix:
        last = self._last.get(role)
        if last is None or last[0] != index:
            self._last[role] = last = (index, self.project(role, index, width))
        return last[1]

    def head(self, index: int) -> HeadArrays:
        """Q_r, K_r, V_r of head r = index, with V_r = τ K_r + √(1−τ²) V′_r."""
        layer, head = self.layer, self.layer.heads[index]
        query = self._shared("query", layer.query_groups[index], head.d_key)
        key = self._shared("key", layer.key_groups[index], head.d_key)
        correlation = layer.key_value_correlation
        if correlation == 1:
            return HeadArrays(index, head, query, key, key)
        value = self._shared("value", layer.value_groups[index], head.d_value)
        if correlation:
            value = correlation * key + math.sqrt((1 - correlation) * (1 + correlation)) * value
        return HeadArrays(index, head, query, key, value)

    def output_weights(self, index: int) -> Matrix:
        """The rows of W^O that belong to head r = index: d_value × d_out, entries N(0, 1/Σ d_value)."""
        total = sum(head.d_value for head in self.layer.heads)
        shape = (self.layer.heads[index].d_value, self.layer.d_out)
        return self.stream("output", self.layer.output_groups[index]).standard_normal(shape) / math.sqrt(total)
