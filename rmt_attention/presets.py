"""Dimensions of public models, as constructor arguments of AttentionLayer."""

from __future__ import annotations

from typing import Any

PRESETS: dict[str, dict[str, Any]] = {
    "BERT-base": {"n_tokens": 512, "d_model": 768, "heads": 12, "d_key": 64},
    "ModernBERT-large": {"n_tokens": 1024, "d_model": 1024, "heads": 16, "d_key": 64},
    "DINOv3-L/16": {"n_tokens": 261, "d_model": 1024, "heads": 16, "d_key": 64},
    "LLaDA-8B": {"n_tokens": 4096, "d_model": 4096, "heads": 32, "d_key": 128},
    "GPT-3 175B": {"n_tokens": 2048, "d_model": 12288, "heads": 96, "d_key": 128},
    "Falcon-7B": {"n_tokens": 2048, "d_model": 4544, "heads": 71, "d_key": 64, "kv_groups": 1},
    "Kayyam 1.2B": {"n_tokens": 2048, "d_model": 2048, "heads": 32, "d_key": 64, "key_value_correlation": 1.0},
}
"""Rows of table D.2 of Hayase and Karakida (2026): n, d, h, d_K = d_V and sharing; d_out = d, β = 1."""


def preset_fields(name: str) -> dict[str, Any]:
    """Constructor arguments of a preset; the name is matched without regard to case."""
    for known, arguments in PRESETS.items():
        if known.casefold() == str(name).casefold():
            return arguments
    raise ValueError(f"preset={name!r}: unknown; presets are {', '.join(PRESETS)}")
