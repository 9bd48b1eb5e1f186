"""What reports of all commands have in common: a layer in a few words, numbers that JSON can hold."""

from __future__ import annotations

import math

from ..inputs import inputs_to_dict
from ..laws import SpectralLaw
from ..layer import AttentionLayer


def finite(number: float) -> float | None:
    """The number, or None for what JSON cannot hold."""
    return number if math.isfinite(number) else None


def plain_law(law: SpectralLaw) -> dict[str, object]:
    """Name, mean, atoms and support of a law as plain data."""
    return {
        "name": law.name,
        "mean": law.mean,
        "atoms": [{"location": atom.location, "mass": atom.mass} for atom in law.atoms],
        "support": [list(interval) for interval in law.support],
    }


def layer_sizes(layer: AttentionLayer, separator: str = " ") -> str:
    """Numbers of tokens and heads, widths and β in one line."""
    head = layer.heads[0]
    widths = [f"d_key={head.d_key}", f"d_value={head.d_value}", f"β={head.beta:g}"]
    parts = [f"n={layer.n_tokens}", f"d={layer.d_model}", f"h={layer.n_heads}"]
    parts += widths if layer.has_equal_heads else ["unequal heads"]
    return separator.join([*parts, f"d_out={layer.d_out}"])


def layer_sharing(layer: AttentionLayer) -> str:
    """Which matrices heads share, how values depend on keys, and the inputs, in a few words."""
    kinds = [
        f"{name} matrices: {len(set(groups))}"
        for name, groups in (
            ("query", layer.query_groups),
            ("key", layer.key_groups),
            ("value", layer.value_groups),
            ("output", layer.output_groups),
        )
        if len(set(groups)) < layer.n_heads
    ]
    if layer.key_value_correlation:
        tied = layer.key_value_correlation == 1
        kinds.append("value = key" if tied else f"value–key correlation {layer.key_value_correlation:g}")
    return f"{', '.join(kinds) or 'nothing shared'}, {inputs_to_dict(layer.inputs)['kind']} inputs"
