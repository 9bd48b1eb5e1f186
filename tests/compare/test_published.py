"""Table D.2 of Hayase and Karakida (2026): softmax against its Gaussian equivalent, same weights, ten draws. Seed 0."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from rmt_attention import AttentionLayer, Estimate, compare, sample_spectrum

PUBLISHED = Path(__file__).parent.parent / "data" / "published.json"
TEXT = json.loads(PUBLISHED.read_text(encoding="utf-8"), parse_float=Decimal)
TABLE = {row["name"]: row for row in TEXT["table_D2"]}
DRAWS = TEXT["defaults"]["draws"]


def _last_digit(number: Decimal) -> float:
    return 10.0 ** int(number.as_tuple().exponent)


def _reproduces(found: Estimate, factor: float, published: tuple[Decimal, Decimal]) -> bool:
    """95 % intervals overlap, and ours is at most three times theirs plus half of its last printed digit."""
    centre, half = (float(number) for number in published)
    own = factor * found.half_width()
    return own <= 3 * half + _last_digit(published[1]) / 2 and abs(factor * found.value - centre) <= own + half


def _layer(name: str) -> AttentionLayer:
    layer = AttentionLayer.from_preset(name)
    row: dict[str, Any] = TABLE[name]
    assert (layer.n_tokens, layer.d_model, layer.n_heads) == (row["n"], row["d"], row["heads"])
    assert (layer.heads[0].d_key, layer.heads[0].d_value, layer.d_out) == (row["d_key"], row["d_key"], row["d"])
    assert len(set(layer.key_groups)) == len(set(layer.value_groups)) == row["kv_heads"]
    assert layer.key_value_correlation == (row["sharing"] == "key = value")
    assert layer.beta == float(TEXT["defaults"]["beta"])
    return layer


@pytest.mark.parametrize(
    "name",
    [
        "BERT-base",
        "DINOv3-L/16",
        pytest.param("ModernBERT-large", marks=pytest.mark.slow),
        pytest.param("Kayyam 1.2B", marks=pytest.mark.full),
        pytest.param("Falcon-7B", marks=pytest.mark.full),
    ],
)
def test_the_published_distances_are_reproduced(name: str) -> None:
    samples = sample_spectrum(_layer(name), "output", ("softmax", "gaussian"), replicates=DRAWS)
    found = compare(samples["softmax"], samples["gaussian"])
    print(f"{name}: relative W1 {100 * found.relative_w1.value:.3f} ± {100 * found.relative_w1.half_width():.3f} %")
    print(f"{name}: KS {found.ks.value:.5f} ± {found.ks.half_width():.5f}")
    row = TABLE[name]
    assert _reproduces(found.relative_w1, 100, row["relative_w1_percent"])
    assert _reproduces(found.ks, 1, row["ks"])
    # negative control: the row of the next model is not reproduced
    other = TABLE["DINOv3-L/16" if name != "DINOv3-L/16" else "BERT-base"]
    assert not _reproduces(found.ks, 1, other["ks"])


@pytest.mark.parametrize("name", TABLE)
def test_presets_have_the_dimensions_of_the_table(name: str) -> None:
    _layer(name)
