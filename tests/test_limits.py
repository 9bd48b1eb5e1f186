"""limit_law and conditional_law: which law a layer has, and refusals that name the field. Seed 0."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from rmt_attention import (
    AttentionLayer,
    GaussianInputs,
    Head,
    UnsupportedLayerError,
    conditional_law,
    laws,
    limit_law,
)
from rmt_attention.laws import SpectralLaw
from rmt_attention.simulation import OBSERVABLES
from rmt_attention.simulation.conditional import row_covariance_eigenvalues
from rmt_attention.simulation.streams import seed_key

LAYER = AttentionLayer(60, 80, heads=4, d_key=9, d_value=12, d_out=50, beta=0.9)
X = np.linspace(0.01, 20, 50)


def _equal(one: SpectralLaw, other: SpectralLaw) -> None:
    np.testing.assert_array_equal(one.degrees_of_freedom(X), other.degrees_of_freedom(X))
    assert one.mean == other.mean
    assert one.atoms == other.atoms


# Which law -----------------------------------------------------------------------------------------------------------


def test_each_observable_has_its_law_at_the_ratios_of_the_layer() -> None:
    gamma_key, gamma_value, gamma_out = 36 / 60, 48 / 60, 50 / 60
    _equal(limit_law(LAYER, "attention"), laws.attention_law(0.9, 4, gamma_key))
    _equal(limit_law(LAYER, "values"), laws.values_law(0.9, 4, gamma_key, gamma_value))
    _equal(limit_law(LAYER, "output"), laws.output_law(0.9, 4, gamma_key, gamma_value, gamma_out))
    _equal(limit_law(LAYER), limit_law(LAYER, "output"))
    _equal(limit_law(LAYER, "head-average"), laws.attention_law(0.9, 1, gamma_key))


def test_tied_layers_have_the_tied_laws() -> None:
    tied = AttentionLayer(60, 80, heads=4, d_key=9, d_out=50, beta=0.9, key_value_correlation=1.0)
    _equal(limit_law(tied, "values"), laws.tied_values_law(0.9, 4, 0.6))
    _equal(limit_law(tied, "output"), laws.tied_output_law(0.9, 4, 0.6, 50 / 60))
    for observable in ("attention", "head-average"):  # these do not see the values
        _equal(limit_law(tied, observable), limit_law(LAYER, observable))
    assert np.abs(limit_law(tied).degrees_of_freedom(X) - limit_law(LAYER).degrees_of_freedom(X)).max() > 0.01


@pytest.mark.parametrize("groups", [1, 2, (0, 0, 0, 1), (0, 1, 0, 1)])
def test_shared_keys_and_values_change_the_head_average_only(groups: object) -> None:
    for observable in ("attention", "values", "output"):
        _equal(limit_law(LAYER.replace(kv_groups=groups), observable), limit_law(LAYER, observable))
        tied = LAYER.replace(d_value=9, key_value_correlation=1.0)
        _equal(limit_law(tied.replace(kv_groups=groups), observable), limit_law(tied, observable))
    _equal(limit_law(LAYER.replace(value_groups=groups), "head-average"), limit_law(LAYER, "head-average"))


@pytest.mark.parametrize(("groups", "distinct"), [(1, 1), (2, 2), ((0, 1, 0, 1), 2), (4, 4), ((3, 2, 1, 0), 4)])
def test_the_head_average_has_the_keys_of_its_distinct_groups(groups: object, distinct: int) -> None:
    layer = LAYER.replace(key_groups=groups)
    _equal(limit_law(layer, "head-average"), laws.attention_law(0.9, 1, 0.6 * distinct / 4))


def test_shared_outputs_leave_what_comes_before_them() -> None:
    for observable in ("attention", "values", "head-average"):
        _equal(limit_law(LAYER.replace(output_groups=1), observable), limit_law(LAYER, observable))


def test_correlation_leaves_what_does_not_see_the_values() -> None:
    layer = LAYER.replace(d_value=9, key_value_correlation=0.6)
    for observable in ("attention", "head-average"):
        _equal(limit_law(layer, observable), limit_law(LAYER, observable))


def test_recorded_limits_are_reproduced() -> None:
    """Values of ω = w(−z) at real z < 0 from two independent routes that agree to 4e-12."""
    data = json.loads((Path(__file__).parent / "data" / "limits.json").read_text(encoding="utf-8"))
    checked = 0
    for row in data["closed"]:
        if row["inputs"] != "orthonormal" or row["z"][1] != 0:
            continue
        h, key, value, out, beta = (row[name] for name in ("heads", "gamma_K", "gamma_V", "gamma_O", "beta"))
        if row["tied_key_value"]:
            law = laws.tied_output_law(beta, h, key, out)
        else:
            law = laws.output_law(beta, h, key, value, out)
        assert float(law.degrees_of_freedom(-row["z"][0])) == pytest.approx(row["omega"][0], abs=2e-11)
        checked += 1
    assert checked >= 2


# The law of one draw -------------------------------------------------------------------------------------------------


def test_the_law_of_one_draw_is_compound_poisson_with_the_row_covariance_as_jumps() -> None:
    law = conditional_law(LAYER, seed=3, replicate=2)
    jumps = row_covariance_eigenvalues(LAYER, seed_key(3), 2)
    _equal(law, laws.compound_poisson_law(jumps, 50 / 60))
    assert law.mean == pytest.approx(jumps.mean() * 50 / 60, rel=1e-12)
    with pytest.raises(AssertionError):
        _equal(law, conditional_law(LAYER, seed=3, replicate=1))
    with pytest.raises(AssertionError):
        _equal(law, conditional_law(LAYER, seed=2, replicate=2))


def test_the_law_of_one_draw_tends_to_the_limit() -> None:
    """The root mean square over 20 draws of the difference of w is O(1/n): from n = 30 to 240 it falls by about 8.

    The squared ratio of two such estimates is F-distributed with 20 and 20 degrees of freedom: a fall by less than 3
    has probability 3e-5 although the true one is 8, and a fall by more than 3 has 4e-6 if there is none.
    """
    spread = []
    for n in (30, 240):
        layer = AttentionLayer(n, n, heads=4, d_key=n // 5, d_out=3 * n // 2)
        limit = limit_law(layer)
        ridge = 0.3 * limit.mean
        w = np.array([conditional_law(layer, replicate=k).degrees_of_freedom(ridge) for k in range(20)])
        spread.append(float(np.sqrt(((w - limit.degrees_of_freedom(ridge)) ** 2).mean())))
    print("n × root mean square:", 30 * spread[0], 240 * spread[1])
    assert spread[1] < spread[0] / 3


def test_the_law_of_one_draw_needs_no_limit_of_the_layer() -> None:
    heads = (Head(5, 7, 0.5), Head(9, 4, 1.5))
    for layer in (
        AttentionLayer(30, 30, heads=heads),
        AttentionLayer(30, 30, heads=4, d_key=5, output_groups=1),
        AttentionLayer(30, 30, heads=4, d_key=5, key_value_correlation=0.6),
    ):
        with pytest.raises(UnsupportedLayerError):
            limit_law(layer)
        assert conditional_law(layer).mean > 0


# Refusals ------------------------------------------------------------------------------------------------------------

UNEQUAL = AttentionLayer(60, 80, heads=(Head(9, 12, 0.9), Head(9, 10, 0.9)), d_out=50)
TWO_BETAS = AttentionLayer(60, 80, heads=(Head(9, 12, 0.9), Head(9, 12, 1.0)), d_out=50)
PARTLY_TIED = LAYER.replace(d_value=9, key_value_correlation=0.6)

REFUSED: list[tuple[AttentionLayer, tuple[str, ...], str]] = [
    (LAYER.replace(inputs=GaussianInputs()), OBSERVABLES, "inputs=GaussianInputs()"),
    (UNEQUAL, OBSERVABLES, "heads=(Head(d_key=9, d_value=12, beta=0.9), Head(d_key=9, d_value=10, beta=0.9))"),
    (TWO_BETAS, OBSERVABLES, "heads=(Head(d_key=9, d_value=12, beta=0.9), Head(d_key=9, d_value=12, beta=1.0))"),
    (LAYER.replace(query_groups=2), OBSERVABLES, "query_groups=(0, 0, 2, 2)"),
    (LAYER.replace(output_groups=2), ("output",), "output_groups=(0, 0, 2, 2)"),
    (PARTLY_TIED, ("values", "output"), "key_value_correlation=0.6"),
    (LAYER.replace(key_groups=(0, 0, 0, 1)), ("head-average",), "key_groups=(0, 0, 0, 3)"),
]


@pytest.mark.parametrize("observable", OBSERVABLES)
@pytest.mark.parametrize(("layer", "observables", "named"), REFUSED, ids=[named for *_, named in REFUSED])
def test_a_layer_without_a_law_is_refused_by_field_and_value_and_only_where_it_has_none(
    layer: AttentionLayer, observables: tuple[str, ...], named: str, observable: str
) -> None:
    if observable in observables:
        with pytest.raises(UnsupportedLayerError, match=re.escape(named)) as caught:
            limit_law(layer, observable)
        assert "\n" not in str(caught.value)
    else:
        assert limit_law(layer, observable).mean > 0


def test_refusals_are_value_errors_of_the_package() -> None:
    from rmt_attention import RmtAttentionError

    assert issubclass(UnsupportedLayerError, ValueError)
    assert issubclass(UnsupportedLayerError, RmtAttentionError)


@pytest.mark.parametrize("observable", ["scores", "", None, 3])
def test_an_unknown_observable_is_refused(observable: object) -> None:
    with pytest.raises(ValueError, match="observable="):
        limit_law(LAYER, observable)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "named"),
    [({"inputs": GaussianInputs()}, "inputs=GaussianInputs()"), ({"query_groups": 1}, "query_groups=(0, 0, 0, 0)")],
)
def test_the_law_of_one_draw_is_refused_for_correlated_rows(changes: dict[str, object], named: str) -> None:
    huge = AttentionLayer(200_000, 200_000, heads=4).replace(**changes)
    with pytest.raises(UnsupportedLayerError, match=re.escape(named)):
        conditional_law(huge)


@pytest.mark.parametrize("replicate", [-1, True, 0.5, "0"])
def test_the_law_of_one_draw_refuses_a_replicate_that_is_no_index(replicate: object) -> None:
    with pytest.raises(ValueError, match="replicate="):
        conditional_law(AttentionLayer(200_000, 200_000, heads=4), replicate=replicate)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", [np.random.default_rng(0), -1, 1.5, True])
def test_the_law_of_one_draw_refuses_a_seed_that_carries_state(seed: object) -> None:
    with pytest.raises(ValueError, match="seed="):
        conditional_law(AttentionLayer(200_000, 200_000, heads=4), seed=seed)  # type: ignore[arg-type]
