"""Small layers of every shape that the simulation distinguishes."""

from __future__ import annotations

from rmt_attention import AttentionLayer, GaussianInputs, Head

LAYERS: dict[str, AttentionLayer] = {
    "nothing shared": AttentionLayer(24, 30, heads=3, d_key=5, d_value=7, d_out=20, beta=0.9),
    "one head, n = d": AttentionLayer(20, 20, heads=1, d_key=6, d_value=20, d_out=20),
    "values narrower than n": AttentionLayer(24, 24, heads=4, d_key=3, d_value=2, d_out=40),
    "values wider than n": AttentionLayer(12, 16, heads=2, d_key=4, d_value=15, d_out=18),
    "total width n exactly": AttentionLayer(24, 30, heads=4, d_key=6, d_value=6, d_out=24),
    "output narrower than the values": AttentionLayer(24, 30, heads=4, d_key=6, d_value=6, d_out=5),
    "grouped queries": AttentionLayer(24, 30, heads=4, d_key=5, query_groups=2, d_out=20),
    "grouped keys": AttentionLayer(24, 30, heads=4, d_key=5, key_groups=2, d_out=20),
    "grouped values": AttentionLayer(24, 30, heads=4, d_key=5, value_groups=(0, 1, 0, 1), d_out=20),
    "grouped outputs": AttentionLayer(24, 30, heads=4, d_key=5, output_groups=2, d_out=20),
    "one output matrix": AttentionLayer(24, 30, heads=4, d_key=5, output_groups=1, d_out=20),
    "multi-query": AttentionLayer(24, 30, heads=4, d_key=5, kv_groups=1, d_out=20),
    "keys and values in interleaved groups": AttentionLayer(
        24, 30, heads=4, d_key=5, key_groups=(0, 1, 1, 0), value_groups=(0, 0, 1, 1), d_out=30
    ),
    "tied": AttentionLayer(24, 30, heads=3, d_key=5, key_value_correlation=1.0, d_out=20),
    "tied in groups": AttentionLayer(24, 30, heads=4, d_key=5, key_value_correlation=1.0, kv_groups=2, d_out=20),
    "partly tied": AttentionLayer(24, 30, heads=3, d_key=5, key_value_correlation=0.6, d_out=20),
    "unequal heads": AttentionLayer(24, 30, heads=(Head(5, 7, 0.5), Head(3, 4, 1.5), Head(8, 2, 1.0)), d_out=20),
    "unequal heads that share an output": AttentionLayer(
        24, 30, heads=(Head(5, 6, 0.5), Head(3, 6, 1.5), Head(5, 4, 1.0)), d_out=20, output_groups=(0, 0, 2)
    ),
    "Gaussian tokens, n < d": AttentionLayer(24, 30, heads=3, d_key=5, d_value=7, d_out=20, inputs=GaussianInputs()),
    "Gaussian tokens, n > d": AttentionLayer(24, 8, heads=2, d_key=5, d_value=10, d_out=20, inputs=GaussianInputs()),
    "Gaussian tokens, tied in groups": AttentionLayer(
        24, 8, heads=4, d_key=5, d_out=20, kv_groups=2, key_value_correlation=1.0, inputs=GaussianInputs()
    ),
    "Gaussian tokens, partly tied": AttentionLayer(
        24, 30, heads=2, d_key=5, d_out=20, key_value_correlation=0.6, inputs=GaussianInputs()
    ),
}
"""Layers by name, all with n ≤ 24."""
