"""The layer description: every rule of validation, derived numbers, copies and plain-data forms."""

from __future__ import annotations

import dataclasses
import json
import math
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from rmt_attention import AttentionLayer, GaussianInputs, Head, Orthonormal
from rmt_attention.presets import PRESETS

PUBLISHED = json.loads((Path(__file__).parent / "data" / "published.json").read_text())["table_D2"]
NAN, INF = float("nan"), float("inf")


def _layer(**changes: Any) -> AttentionLayer:
    arguments: dict[str, Any] = {"n_tokens": 6, "d_model": 8, "heads": 4, **changes}
    return AttentionLayer(**arguments)


# Validation ----------------------------------------------------------------------------------------------------------

SIZES = ("n_tokens", "d_model", "heads", "d_key", "d_value", "d_out")
GROUPS = ("query_groups", "key_groups", "value_groups", "output_groups", "kv_groups")
NOT_A_TEMPERATURE = (0, 0.0, -1, NAN, INF, True)
UNIT = r"must be a number in \[0, 1\]"

Rule = tuple[dict[str, Any], str]
SIZE_RULES: list[Rule] = [
    *(
        ({name: value}, f"{name}={value}: must be an integer ≥ 1")
        for name in SIZES
        for value in (0, -2, 2.0, 2.5, True)
    ),
    ({"n_tokens": "6"}, "n_tokens='6': must be an integer"),
    ({"n_tokens": None}, "n_tokens=None: must be an integer"),
    ({"n_tokens": 1}, "n_tokens=1: must be ≥ 2"),
    ({"n_tokens": 9}, "n_tokens=9: must be ≤ d_model=8 for Orthonormal"),
    ({"heads": 3}, "heads=3: must divide d_model=8 when d_key is not given"),
]
HEAD_RULES: list[Rule] = [
    ({"heads": []}, r"heads=\[\]: must be an integer ≥ 1 or a non-empty sequence of Head"),
    ({"heads": [Head(2, 2), 3]}, "non-empty sequence of Head"),
    ({"heads": "ab"}, "heads='ab': .*sequence of Head"),
    ({"heads": [Head(2, 2)], "d_key": 2}, "d_key=2: must be absent when heads is a sequence"),
    ({"heads": [Head(2, 2)], "d_value": 2}, "d_value=2: must be absent when heads is a sequence"),
    ({"heads": [Head(2, 2)], "beta": 1.0}, "beta=1.0: must be absent when heads is a sequence"),
]
TEMPERATURE_RULES: list[Rule] = [
    *(({"beta": value}, f"beta={value}: must be a finite number > 0.*exactly zero") for value in NOT_A_TEMPERATURE),
    ({"beta": "warm"}, "beta='warm': must be a finite number > 0"),
    *(({"beta": value}, rf"beta={value}: must be at most 26.*overflow") for value in (26.1, 700.0)),
    *(({"beta": value}, rf"beta={value}: must be ≥ 1e-06.*rounding") for value in (1e-200, 1e-150, 1e-100)),
]
GROUP_RULES: list[Rule] = [
    *(({name: 3}, f"{name}=3: must divide the number of heads, 4") for name in GROUPS),
    *(({"query_groups": value}, f"query_groups={value}: must be an integer ≥ 1") for value in (0, -1, 2.0, True)),
    ({"key_groups": [0, 0, 1]}, r"key_groups=\[0, 0, 1\]: names 3 heads, the layer has 4"),
    ({"output_groups": [0, 0.5, 1, 1]}, r"output_groups=\[0, 0\.5, 1, 1\]: .*name a matrix by an integer"),
    ({"kv_groups": 2, "key_groups": 2}, "key_groups=2: must be absent when kv_groups=2 is given"),
    ({"kv_groups": 2, "value_groups": 1}, "value_groups=1: must be absent when kv_groups=2 is given"),
    ({"heads": [Head(2, 3), Head(1, 3)], "query_groups": 1}, r"query_groups=\(0, 0\): heads 0 and 1 .*widths 2 and 1"),
    ({"heads": [Head(2, 3), Head(1, 3)], "key_groups": 1}, r"key_groups=\(0, 0\): heads 0 and 1 .*widths 2 and 1"),
    ({"heads": [Head(2, 3), Head(2, 4)], "value_groups": 1}, r"value_groups=\(0, 0\): .*widths 3 and 4"),
    ({"heads": [Head(2, 3), Head(2, 4)], "output_groups": [5, 5]}, r"output_groups=\(0, 0\): .*widths 3 and 4"),
]
TYING_RULES: list[Rule] = [
    *(({"key_value_correlation": tau}, f"key_value_correlation={tau}: {UNIT}") for tau in (-0.1, 1.1, NAN, True)),
    ({"key_value_correlation": "full"}, f"key_value_correlation='full': {UNIT}"),
    ({"key_value_correlation": 1.0, "d_value": 3}, "key_value_correlation=1.0: needs d_value = d_key .*=3, d_key=2"),
    (
        {"key_value_correlation": 0.5, "key_groups": 2, "value_groups": 4},
        "key_value_correlation=0.5: needs equal key and value groups",
    ),
    ({"key_value_correlation": 0.5, "value_groups": 2}, "key_value_correlation=0.5: needs equal key and value groups"),
]
INPUT_RULES: list[Rule] = [
    ({"inputs": "gaussian"}, r"inputs='gaussian': must be one of Orthonormal\(\), GaussianInputs\(\)"),
]
REFUSED = SIZE_RULES + HEAD_RULES + TEMPERATURE_RULES + GROUP_RULES + TYING_RULES + INPUT_RULES


@pytest.mark.parametrize(("changes", "message"), REFUSED, ids=lambda value: str(value)[:60])
def test_what_breaks_a_rule_is_refused_by_field_value_and_rule(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        _layer(**changes)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("beta", [0, -1.0, NAN, 27.0, 1e-100])
def test_a_head_has_the_same_rules_for_its_temperature(beta: float) -> None:
    with pytest.raises(ValueError, match=rf"beta={beta}"):
        Head(2, 2, beta)


@pytest.mark.parametrize("field", ["d_key", "d_value"])
def test_a_head_has_the_same_rules_for_its_widths(field: str) -> None:
    with pytest.raises(ValueError, match=f"{field}=0: must be an integer ≥ 1"):
        Head(**{"d_key": 2, "d_value": 2, field: 0})


def test_an_unknown_argument_is_refused() -> None:
    with pytest.raises(TypeError, match="width"):
        _layer(width=3)


def test_gaussian_inputs_allow_more_tokens_than_dimensions() -> None:
    assert _layer(n_tokens=50, inputs=GaussianInputs()).gamma_out == 8 / 50


def test_the_extreme_temperatures_allowed_give_finite_numbers() -> None:
    for beta in (1e-6, 26.0):
        layer = _layer(beta=beta)
        for number in (layer.theta1, layer.theta2, layer.theta_noise, layer.linear_fraction):
            assert 0 < number < INF


# Defaults and derived numbers ----------------------------------------------------------------------------------------


def test_widths_default_to_the_usual_transformer() -> None:
    layer = AttentionLayer(6, 8, 4)
    assert layer.heads == (Head(2, 2, 1.0),) * 4
    assert layer.d_out == 8
    assert layer.inputs == Orthonormal()
    assert layer.key_value_correlation == 0
    assert layer.query_groups == layer.key_groups == layer.value_groups == layer.output_groups == (0, 1, 2, 3)
    assert AttentionLayer(6, 8, 4, d_key=5).heads[0] == Head(5, 5, 1.0)
    assert AttentionLayer(6, 8, 3, d_key=5, d_value=1, beta=2).heads[0] == Head(5, 1, 2.0)


def test_numbers_of_numpy_are_taken_as_plain_numbers() -> None:
    layer = AttentionLayer(np.int64(6), np.int32(8), np.int8(4), beta=np.float64(0.5), d_out=np.uint16(3))
    assert layer == AttentionLayer(6, 8, 4, beta=0.5, d_out=3)
    for value in (layer.n_tokens, layer.d_model, layer.d_out, layer.heads[0].d_key):
        assert type(value) is int
    assert type(layer.heads[0].beta) is float


def test_ratios_are_total_widths_over_tokens() -> None:
    layer = AttentionLayer(10, 40, [Head(3, 5), Head(4, 1), Head(8, 2)], d_out=7)
    assert (layer.n_heads, layer.gamma_key, layer.gamma_value, layer.gamma_out) == (3, 1.5, 0.8, 0.7)


@pytest.mark.parametrize("beta", [1e-6, 1e-3, 0.3, 1.0, 2.5, 5.0])
def test_the_variances_are_right_to_the_last_digits(beta: float) -> None:
    layer = _layer(beta=beta)
    with mp.workdps(350):
        theta2 = mpf(beta) ** 2
        theta1 = mp.expm1(theta2)
        exact = {"theta1": theta1, "theta2": theta2, "theta_noise": theta1 - theta2}
        exact["linear_fraction"] = theta2 / theta1
        for name, value in exact.items():
            # Rounding β² moves e^{β²} by β² ε/2, and no number here by more than 2 + β² times ε/2.
            tolerance = 3e-16 * (2 + beta**2)
            assert abs(mpf(getattr(layer, name)) / value - 1) < tolerance, name
    # negative control at small β: the plain difference has no correct digit
    if beta == 1e-6:
        assert abs((layer.theta1 - layer.theta2) / layer.theta_noise - 1) > 1e-6


def test_numbers_that_need_one_temperature_refuse_unequal_ones() -> None:
    layer = AttentionLayer(6, 8, [Head(2, 2, 0.5), Head(2, 2, 1.5)])
    for name in ("beta", "theta1", "theta2", "theta_noise", "linear_fraction"):
        with pytest.raises(ValueError, match=re.escape("[0.5, 1.5]")):
            getattr(layer, name)
    assert not layer.has_equal_heads
    assert AttentionLayer(6, 8, [Head(2, 3, 0.5), Head(1, 2, 0.5)]).theta2 == 0.25


# d = 8, four heads of d_key = 2, d_value = 3, d_out = 5: one matrix of queries or keys has 16 weights, of values 24,
# of outputs 15.
PARAMETERS = [
    ({}, 4 * 16 + 4 * 16 + 4 * 24 + 4 * 15),
    ({"kv_groups": 2}, 4 * 16 + 2 * 16 + 2 * 24 + 4 * 15),
    ({"kv_groups": 1}, 4 * 16 + 16 + 24 + 4 * 15),
    ({"key_groups": 1}, 4 * 16 + 16 + 4 * 24 + 4 * 15),
    ({"query_groups": [0, 1, 1, 0]}, 2 * 16 + 4 * 16 + 4 * 24 + 4 * 15),
    ({"output_groups": 2}, 4 * 16 + 4 * 16 + 4 * 24 + 2 * 15),
    ({"d_value": 2, "key_value_correlation": 1.0}, 4 * 16 + 4 * 16 + 4 * 10),
    ({"d_value": 2, "key_value_correlation": 0.5}, 4 * 16 + 4 * 16 + 4 * 16 + 4 * 10),
    ({"d_value": 2, "kv_groups": 2, "key_value_correlation": 1.0}, 4 * 16 + 2 * 16 + 4 * 10),
]


@pytest.mark.parametrize(("changes", "expected"), PARAMETERS, ids=str)
def test_parameters_count_each_distinct_matrix_once(changes: dict[str, Any], expected: int) -> None:
    layer = _layer(**{"d_key": 2, "d_value": 3, "d_out": 5, **changes})
    assert layer.n_parameters == expected


def test_parameters_of_unequal_heads_add_up() -> None:
    layer = AttentionLayer(6, 8, [Head(2, 3), Head(2, 1), Head(1, 1)], d_out=5, key_groups=[0, 0, 1])
    assert layer.n_parameters == 8 * (2 + 2 + 1) + 8 * (2 + 1) + 8 * (3 + 1 + 1) + 5 * (3 + 1 + 1)


def test_groups_name_the_first_head_of_each_matrix() -> None:
    layer = _layer(query_groups=2, key_groups=[7, 3, 7, 3], value_groups=1, output_groups=(1, 1, 0, 0))
    assert layer.query_groups == (0, 0, 2, 2)
    assert layer.key_groups == (0, 1, 0, 1)
    assert layer.value_groups == (0, 0, 0, 0)
    assert layer.output_groups == (0, 0, 2, 2)
    assert _layer(kv_groups=2) == _layer(key_groups=2, value_groups=2) == _layer(kv_groups=[9, 9, 4, 4])


def test_tied_values_follow_the_groups_of_the_keys() -> None:
    layer = _layer(key_groups=2, key_value_correlation=1)
    assert layer.value_groups == (0, 0, 2, 2)
    assert type(layer.key_value_correlation) is float


# Presets -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", PUBLISHED, ids=lambda row: row["name"])
def test_a_preset_is_its_row_of_the_published_table(row: dict[str, Any]) -> None:
    layer = AttentionLayer.from_preset(row["name"])
    assert (layer.n_tokens, layer.d_model, layer.n_heads) == (row["n"], row["d"], row["heads"])
    assert layer.heads[0] == Head(row["d_key"], row["d_key"], 1.0)
    assert layer.has_equal_heads
    assert layer.d_out == row["d"]
    assert len(set(layer.key_groups)) == len(set(layer.value_groups)) == row["kv_heads"]
    assert len(set(layer.query_groups)) == len(set(layer.output_groups)) == row["heads"]
    assert layer.key_value_correlation == (1.0 if row["sharing"] == "key = value" else 0.0)
    assert layer.inputs == Orthonormal()


def test_presets_and_published_rows_are_the_same_list() -> None:
    assert list(PRESETS) == [row["name"] for row in PUBLISHED]


def test_a_preset_is_found_in_any_case_and_takes_changes() -> None:
    assert AttentionLayer.from_preset("bert-BASE") == AttentionLayer.from_preset("BERT-base")
    assert AttentionLayer.from_preset("BERT-base", beta=0.5, n_tokens=128).gamma_key == 6.0


def test_an_unknown_preset_is_refused_with_the_list() -> None:
    with pytest.raises(ValueError, match=r"preset='GPT-5': unknown; presets are BERT-base, .*Kayyam 1\.2B"):
        AttentionLayer.from_preset("GPT-5")


# Copies, equality, hashing -------------------------------------------------------------------------------------------


def test_a_layer_is_frozen_hashable_and_equal_by_content() -> None:
    layer = _layer()
    with pytest.raises(dataclasses.FrozenInstanceError):
        layer.n_tokens = 3  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        layer.heads[0].beta = 3.0  # type: ignore[misc]
    same = _layer(heads=[Head(2, 2)] * 4, d_out=8)
    assert same == layer
    assert hash(same) == hash(layer)
    assert len({layer, same, _layer(beta=2.0)}) == 2


def test_a_layer_survives_pickling() -> None:
    layer = AttentionLayer(6, 8, [Head(2, 3, 0.5), Head(1, 2)], inputs=GaussianInputs())
    assert pickle.loads(pickle.dumps(layer)) == layer


def test_replace_changes_what_is_named_and_keeps_the_rest() -> None:
    layer = _layer(d_value=3, d_out=5, kv_groups=2, beta=0.7, inputs=GaussianInputs())
    changed = layer.replace(n_tokens=30)
    assert changed.n_tokens == 30
    assert changed.replace(n_tokens=6) == layer
    assert layer.replace() == layer
    assert layer.replace(beta=2.0).heads == (Head(2, 3, 2.0),) * 4
    assert layer.replace(d_key=7).heads == (Head(7, 3, 0.7),) * 4
    assert layer.replace(kv_groups=1).key_groups == layer.replace(kv_groups=1).value_groups == (0, 0, 0, 0)
    assert layer.replace(key_groups=4).value_groups == (0, 0, 2, 2)
    assert layer.replace(d_value=2, key_value_correlation=1.0).key_value_correlation == 1


def test_replacing_heads_drops_the_groups_that_counted_them() -> None:
    layer = _layer(kv_groups=2, d_out=5)
    assert layer.replace(heads=2).key_groups == (0, 1)
    assert layer.replace(heads=8, kv_groups=2).key_groups == (0, 0, 0, 0, 4, 4, 4, 4)
    unequal = layer.replace(heads=[Head(1, 1), Head(2, 2)])
    assert unequal.heads == (Head(1, 1), Head(2, 2))
    assert unequal.d_out == 5
    assert unequal.replace(heads=4, d_key=2).heads == (Head(2, 2),) * 4


def test_replace_refuses_what_it_cannot_do() -> None:
    unequal = AttentionLayer(6, 8, [Head(1, 1), Head(2, 2)])
    with pytest.raises(ValueError, match="heads: have different widths"):
        unequal.replace(beta=2.0)
    with pytest.raises(ValueError, match="width=3: no such field; fields are beta, d_key"):
        unequal.replace(width=3)
    with pytest.raises(ValueError, match="n_tokens=9: must be ≤ d_model=8"):
        unequal.replace(n_tokens=9)
    assert unequal.replace(n_tokens=5).heads == unequal.heads


# Plain data and TOML -------------------------------------------------------------------------------------------------


def _group_strategy(n_heads: int, widths: list[int]) -> st.SearchStrategy[list[int] | None]:
    """Assignments of heads to matrices in which only heads of equal width share."""
    labels = st.lists(st.integers(0, 2), min_size=n_heads, max_size=n_heads)
    return st.none() | labels.map(lambda names: [10 * width + name for width, name in zip(widths, names, strict=True)])


@st.composite
def layers(draw: st.DrawFn) -> AttentionLayer:
    betas = st.floats(1e-6, 26.0, allow_nan=False) | st.just(1.0)
    n_heads = draw(st.integers(1, 5))
    heads = [Head(draw(st.integers(1, 4)), draw(st.integers(1, 4)), draw(betas)) for _ in range(n_heads)]
    if draw(st.booleans()):
        heads = heads[:1] * n_heads
    tie = draw(st.booleans())
    if tie:
        heads = [Head(head.d_key, head.d_key, head.beta) for head in heads]
    keys, values = [head.d_key for head in heads], [head.d_value for head in heads]
    key_groups = draw(_group_strategy(n_heads, keys))
    n_tokens, gaussian = draw(st.integers(2, 40)), draw(st.booleans())
    return AttentionLayer(
        n_tokens,
        draw(st.integers(1 if gaussian else n_tokens, 80)),
        heads,
        d_out=draw(st.none() | st.integers(1, 50)),
        query_groups=draw(_group_strategy(n_heads, keys)),
        key_groups=key_groups,
        value_groups=key_groups if tie else draw(_group_strategy(n_heads, values)),
        output_groups=draw(_group_strategy(n_heads, values)),
        key_value_correlation=draw(st.floats(0, 1)) if tie else 0.0,
        inputs=GaussianInputs() if gaussian else Orthonormal(),
    )


@settings(deadline=None, max_examples=150)
@given(layers())
def test_every_layer_round_trips_through_plain_data_json_toml_and_pickle(layer: AttentionLayer) -> None:
    assert AttentionLayer.from_dict(layer.to_dict()) == layer
    assert AttentionLayer.from_dict(json.loads(json.dumps(layer.to_dict()))) == layer
    assert AttentionLayer.from_toml(layer.to_toml()) == layer
    assert pickle.loads(pickle.dumps(layer)) == layer
    assert layer.replace(n_tokens=layer.n_tokens) == layer
    assert hash(AttentionLayer.from_toml(layer.to_toml())) == hash(layer)


@settings(deadline=None, max_examples=100)
@given(layers())
def test_derived_numbers_of_every_layer_are_consistent(layer: AttentionLayer) -> None:
    n = layer.n_tokens
    assert layer.gamma_key * n == pytest.approx(sum(head.d_key for head in layer.heads))
    assert layer.gamma_value * n == pytest.approx(sum(head.d_value for head in layer.heads))
    assert layer.gamma_out * n == pytest.approx(layer.d_out)
    unshared = layer.d_model * sum(2 * head.d_key + head.d_value for head in layer.heads)
    unshared += layer.d_out * sum(head.d_value for head in layer.heads)
    assert 0 < layer.n_parameters <= unshared
    for groups in (layer.query_groups, layer.key_groups, layer.value_groups, layer.output_groups):
        assert all(groups[first] == first <= head for head, first in enumerate(groups))


def test_a_toml_document_written_by_hand_is_read() -> None:
    text = """
    n_tokens = 6
    d_model = 8
    kv_groups = [0, 1]
    inputs = "gaussian"
    [[heads]]
    d_key = 2
    d_value = 3
    beta = 0.5
    [[heads]]
    d_key = 1
    d_value = 2
    """
    expected = AttentionLayer(6, 8, [Head(2, 3, 0.5), Head(1, 2)], inputs=GaussianInputs())
    assert AttentionLayer.from_toml(text) == expected
    assert AttentionLayer.from_toml("n_tokens = 6\nd_model = 8\nheads = 4\nbeta = 2").beta == 2


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"n_tokens": 6, "heads": 2}, "d_model: missing"),
        ({"d_model": 6, "heads": 2}, "n_tokens: missing"),
        ({"n_tokens": 6, "d_model": 8}, "heads: missing"),
        ({"n_tokens": 6, "d_model": 8, "heads": 2, "width": 3}, "width=3: no such field"),
        ({"layer": {"n_tokens": 6}}, "layer=.*no such field .fields of a layer are in no table"),
        ({"n_tokens": 6, "d_model": 8, "heads": [{"d_key": 2}]}, r"heads=.*needs d_key, d_value and optionally beta"),
        (
            {"n_tokens": 6, "d_model": 8, "heads": [{"d_key": 2, "d_value": 2, "depth": 1}]},
            "heads=.*needs d_key, d_value",
        ),
        ({"n_tokens": 6, "d_model": 8, "heads": [3]}, "heads=.*needs d_key, d_value"),
        ({"n_tokens": 6, "d_model": 8, "heads": "two"}, "heads='two'"),
        ({"n_tokens": 6, "d_model": 8, "heads": [{"d_key": 0, "d_value": 2}]}, "d_key=0: must be an integer ≥ 1"),
        ({"n_tokens": 6, "d_model": 8, "heads": 2, "inputs": "uniform"}, "inputs=.*orthonormal, gaussian"),
        ({"n_tokens": 6, "d_model": 8, "heads": 2, "inputs": 3}, "inputs=3"),
    ],
    ids=lambda value: str(value)[:70],
)
def test_plain_data_that_is_no_layer_is_refused_by_field(data: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        AttentionLayer.from_dict(data)
    assert "\n" not in str(caught.value)


def test_text_that_is_no_toml_is_refused_in_one_line() -> None:
    with pytest.raises(ValueError, match="valid TOML") as caught:
        AttentionLayer.from_toml("heads = = 3")
    assert "\n" not in str(caught.value)


def test_reading_plain_data_leaves_it_unchanged() -> None:
    data = {"n_tokens": 6, "d_model": 8, "heads": [{"d_key": 2, "d_value": 2}], "inputs": {"kind": "gaussian"}}
    before = json.dumps(data)
    AttentionLayer.from_dict(data)
    assert json.dumps(data) == before


def test_settings_of_the_theory_hold_in_units_of_the_layer() -> None:
    # h identical heads: γ_K = h d_K/n; c = β²/(e^{β²} − 1)
    layer = AttentionLayer(100, 200, 5, d_key=20, d_value=10, d_out=150, beta=0.8)
    assert (layer.gamma_key, layer.gamma_value, layer.gamma_out) == (1.0, 0.5, 1.5)
    assert layer.linear_fraction == pytest.approx(0.64 / math.expm1(0.64), rel=1e-15, abs=0)
