"""How many eigenvalues are exactly zero, by counting dimensions and shared matrices; never by a threshold."""

from __future__ import annotations

from ..layer import AttentionLayer


def matrix_rank(layer: AttentionLayer, observable: str, model: str, centered: bool) -> int:
    """Rank that the dimensions and the sharing allow; reached almost surely.

    A centred softmax matrix has (A − P)1 = 0, so that it and the values it acts on have rank at most n − 1. Heads with
    the same queries and keys have one attention matrix, except in the Gaussian models, where each has its own noise:
    together they give at most its rank, and heads that share output weights at most the rank of those.
    """
    n = layer.n_tokens
    attention = n - 1 if model == "softmax" and centered else n
    if observable == "head-average":
        return attention
    by_attention: dict[object, dict[int, int]] = {}
    for index, head in enumerate(layer.heads):
        own = index if model.startswith("gaussian") else (layer.query_groups[index], layer.key_groups[index], head.beta)
        width = min(head.d_value, layer.d_model, attention)
        by_attention.setdefault(own, {})[layer.value_groups[index]] = width
    if observable == "attention":
        return min(n, len(by_attention) * attention)
    seen = sum(min(attention, layer.d_model, sum(widths.values())) for widths in by_attention.values())
    if observable == "values":
        return min(n, seen)
    return min(n, seen, layer.d_out, output_weights_rank(layer, attention))


def output_weights_rank(layer: AttentionLayer, tokens: int) -> int:
    """Σ over distinct output weights of the rank that the values before them allow; values have ``tokens`` rows."""
    by_output: dict[int, dict[int, int]] = {}
    for head, values, output in zip(layer.heads, layer.value_groups, layer.output_groups, strict=True):
        by_output.setdefault(output, {})[values] = min(head.d_value, layer.d_model, tokens)
    return sum(min(layer.heads[output].d_value, sum(widths.values())) for output, widths in by_output.items())
