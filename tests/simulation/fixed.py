"""Projections of which some arrays are held fixed, for laws given those arrays."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rmt_attention import AttentionLayer
from rmt_attention.simulation.models import HeadModels
from rmt_attention.simulation.projections import HeadArrays, Matrix, Projections
from rmt_attention.simulation.sampling import _pass_over_heads
from rmt_attention.simulation.streams import Role, seed_key, stream

FRESH: tuple[Role, ...] = ("query", "noise", "exact-rows", "covariance-rows")
"""What a Gaussian model draws given keys, values and output weights."""


class FixedWeights(Projections):
    """Keys, values and output weights of replicate ``fixed``; queries and noise of replicate ``fresh``."""

    def __init__(self, layer: AttentionLayer, fixed: int, fresh: int, seed: int = 0) -> None:
        super().__init__(layer, seed_key(seed), fixed)
        self._fresh = fresh

    def stream(self, role: Role, index: int = 0) -> np.random.Generator:
        return stream(self._key, self._fresh if role in FRESH else self._replicate, role, index)


class GivenArrays(FixedWeights):
    """FixedWeights with some of Q, K, V of every head replaced by given matrices."""

    def __init__(self, layer: AttentionLayer, arrays: Mapping[str, Matrix], fresh: int = 0) -> None:
        super().__init__(layer, 0, fresh)
        self._arrays = dict(arrays)

    def head(self, index: int) -> HeadArrays:
        own = super().head(index)
        chosen = {name: self._arrays.get(name, getattr(own, name)) for name in ("query", "key", "value")}
        return HeadArrays(index, own.head, **chosen)


def output(projections: Projections, model: str) -> Matrix:
    """The centred output of a model (n × d_out) on these projections."""
    accumulated = _pass_over_heads(projections.layer, "output", (model,), True, projections)[model]
    return np.asarray(accumulated.matrix)  # type: ignore[union-attr]


def rows(projections: Projections, model: str) -> Matrix:
    """Y of head 0 (n × n)."""
    return HeadModels(projections, 0).full(model, centered=True)
