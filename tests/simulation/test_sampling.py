"""sample_spectrum and sample_features against attention written out. Seed 0."""

from __future__ import annotations

import numpy as np
import pytest

from rmt_attention import (
    AttentionLayer,
    GaussianInputs,
    Head,
    Orthonormal,
    SpectrumSample,
    sample_features,
    sample_spectrum,
)
from rmt_attention.simulation import MODELS, OBSERVABLES
from rmt_attention.simulation.sampling import matrix_rank

from .layers import LAYERS
from .oracles import WrittenOut, numerical_rank, squared_singular_values

EXACT_MODELS = ("softmax", "exponential", "exponential-centered")

HEADS_WITH_EQUAL_WEIGHTS: dict[str, AttentionLayer] = {
    "one query and one key matrix": AttentionLayer(24, 30, heads=4, d_key=5, query_groups=1, key_groups=1, d_out=20),
    "one query and one key matrix, wide values": AttentionLayer(
        12, 16, heads=3, d_key=5, d_value=9, query_groups=1, key_groups=1, d_out=30
    ),
    "pairs of equal heads": AttentionLayer(12, 16, heads=4, d_key=5, query_groups=2, key_groups=2, d_out=30),
    "equal heads up to β": AttentionLayer(
        12, 16, heads=(Head(5, 5, 0.5), Head(5, 5, 1.5)), query_groups=1, key_groups=1, d_out=30
    ),
    "everything shared": AttentionLayer(
        12, 16, heads=3, d_key=5, query_groups=1, kv_groups=1, output_groups=1, d_out=30
    ),
    "values and outputs shared": AttentionLayer(
        12, 16, heads=3, d_key=5, d_value=15, value_groups=1, output_groups=1, d_out=30
    ),
}
"""Heads whose attention matrices or value blocks coincide, which lowers ranks."""


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("observable", OBSERVABLES)
@pytest.mark.parametrize("centered", [True, False])
def test_spectra_are_those_of_attention_written_out(name: str, observable: str, centered: bool) -> None:
    layer = LAYERS[name]
    samples = sample_spectrum(layer, observable, EXACT_MODELS, centered=centered, replicates=2)
    for replicate in range(2):
        draw = WrittenOut(layer, 0, replicate)
        for model in EXACT_MODELS:
            expected = squared_singular_values(draw.observable(observable, model, centered))
            found = samples[model][replicate].eigenvalues
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * expected[-1])


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("observable", ["attention", "head-average"])
@pytest.mark.parametrize("centered", [True, False])
def test_the_gaussian_equivalent_is_rescaled_scores_plus_noise(name: str, observable: str, centered: bool) -> None:
    layer = LAYERS[name]
    found = sample_spectrum(layer, observable, "gaussian", centered=centered)[0].eigenvalues
    expected = squared_singular_values(WrittenOut(layer).observable(observable, "gaussian", centered))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * expected[-1])


@pytest.mark.parametrize("name", LAYERS)
def test_features_are_the_output_itself(name: str) -> None:
    layer = LAYERS[name]
    draw = WrittenOut(layer, 0, 1)
    for centered in (True, False):
        found = sample_features(layer, centered=centered, replicate=1)
        expected = draw.observable("output", "softmax", centered)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_features_have_the_sampled_spectrum_for_every_model() -> None:
    layer = LAYERS["partly tied"]
    samples = sample_spectrum(layer, "output", MODELS, replicates=3)
    for model in MODELS:
        features = sample_features(layer, model, replicate=2)
        expected = squared_singular_values(features)
        np.testing.assert_allclose(samples[model][2].eigenvalues, expected, rtol=0, atol=1e-10 * expected[-1])


@pytest.mark.parametrize("observable", OBSERVABLES)
def test_an_oracle_with_another_head_order_is_noticed(observable: str) -> None:
    """Negative control: the comparison above sees that two heads swap their values."""
    layer = LAYERS["nothing shared"]
    draw = WrittenOut(layer)
    draw.value[0], draw.value[1] = draw.value[1], draw.value[0]
    draw.query[0] = 1.001 * draw.query[0]
    expected = squared_singular_values(draw.observable(observable))
    found = sample_spectrum(layer, observable)[0].eigenvalues
    assert np.abs(found - expected).max() > 1e-5 * expected[-1]


@pytest.mark.parametrize("name", [*LAYERS, *HEADS_WITH_EQUAL_WEIGHTS])
@pytest.mark.parametrize("observable", OBSERVABLES)
@pytest.mark.parametrize("centered", [True, False])
def test_zeros_are_counted_as_the_rank_says(name: str, observable: str, centered: bool) -> None:
    layer = (LAYERS | HEADS_WITH_EQUAL_WEIGHTS)[name]
    draw = WrittenOut(layer)
    for model in EXACT_MODELS:
        sample = sample_spectrum(layer, observable, model, centered=centered)
        rank = numerical_rank(draw.observable(observable, model, centered))
        assert layer.n_tokens - sample[0].zeros == rank, model
        assert (sample[0].eigenvalues[: layer.n_tokens - rank] == 0).all()
        assert (sample[0].eigenvalues[layer.n_tokens - rank :] > 0).all()


@pytest.mark.parametrize("name", [*LAYERS, *HEADS_WITH_EQUAL_WEIGHTS])
@pytest.mark.parametrize("centered", [True, False])
def test_zeros_of_the_gaussian_equivalent_are_counted_as_the_rank_says(name: str, centered: bool) -> None:
    layer = (LAYERS | HEADS_WITH_EQUAL_WEIGHTS)[name]
    features = sample_features(layer, "gaussian", centered=centered)
    assert matrix_rank(layer, "output", "gaussian", centered) == numerical_rank(features)


def _layers_of_any_sharing(count: int) -> list[AttentionLayer]:
    rng = np.random.default_rng(0)
    layers = []
    for _ in range(count):
        h, n = int(rng.integers(2, 5)), int(rng.integers(4, 14))
        names = ("query_groups", "key_groups", "value_groups", "output_groups")
        groups = {name: rng.integers(0, h, h).tolist() if rng.random() < 0.6 else None for name in names}
        inputs = Orthonormal() if rng.random() < 0.5 else GaussianInputs()
        widths = {"d_key": rng.integers(2, 6), "d_value": rng.integers(1, 16), "d_out": rng.integers(1, 20)}
        d_model = n if inputs == Orthonormal() else int(rng.integers(2, 16))
        layers.append(AttentionLayer(n, d_model, heads=h, **widths, **groups, inputs=inputs))
    return layers


@pytest.mark.parametrize("layer", _layers_of_any_sharing(40), ids=range(40))
def test_ranks_are_counted_right_for_any_sharing(layer: AttentionLayer) -> None:
    draw = WrittenOut(layer)
    for observable in OBSERVABLES:
        for centered in (True, False):
            for model in ("softmax", "exponential", "gaussian"):
                rank = numerical_rank(draw.observable(observable, model, centered))
                assert matrix_rank(layer, observable, model, centered) == rank, (observable, model, centered)


def test_the_head_average_of_softmax_alone_has_an_atom() -> None:
    layer = LAYERS["nothing shared"]
    samples = sample_spectrum(layer, "head-average", MODELS)
    assert [atom.mass for atom in samples["softmax"][0].atoms] == [1 / layer.n_tokens]
    assert all(not samples[model][0].atoms for model in MODELS[1:])
    assert not sample_spectrum(layer, "head-average", centered=False)[0].atoms


def test_a_sequence_of_models_is_a_dict_of_what_each_gives_alone() -> None:
    layer = LAYERS["grouped keys"]
    together = sample_spectrum(layer, "output", MODELS, replicates=2)
    assert tuple(together) == MODELS
    for model in MODELS:
        alone = sample_spectrum(layer, "output", model, replicates=2)
        assert isinstance(alone, SpectrumSample)
        assert (alone.model, alone.observable, alone.layer) == (model, "output", layer)
        for one, other in zip(alone, together[model], strict=True):
            np.testing.assert_array_equal(one.eigenvalues, other.eigenvalues)


def test_progress_counts_every_draw() -> None:
    seen: list[tuple[int, int]] = []
    sample_spectrum(LAYERS["tied"], replicates=3, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_a_sample_says_where_it_comes_from() -> None:
    sample = sample_spectrum(LAYERS["tied"], "values", "gaussian", centered=False, seed=np.random.SeedSequence(7))
    assert (sample.observable, sample.model, sample.centered, sample.seed) == ("values", "gaussian", False, (7,))
    assert {"rmt-attention", "numpy", "scipy", "python", "machine"} <= set(sample.provenance)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"observable": "scores"}, "observable='scores'"),
        ({"model": "linear"}, "model='linear'"),
        ({"model": ()}, r"model=\(\)"),
        ({"model": ("softmax", "softmax")}, "model=.*each once"),
        ({"replicates": 0}, "replicates=0"),
        ({"replicates": True}, "replicates=True"),
        ({"replicates": 2.5}, "replicates=2.5"),
        ({"workers": 0}, "workers=0"),
        ({"workers": "2"}, "workers='2'"),
        ({"seed": -1}, "seed=-1"),
    ],
)
def test_bad_arguments_are_named_before_any_work(arguments: dict[str, object], message: str) -> None:
    huge = AttentionLayer(200_000, 200_000, heads=4)
    with pytest.raises(ValueError, match=message):
        sample_spectrum(huge, **arguments)  # type: ignore[call-overload]


def test_the_exact_covariance_is_refused_for_correlated_tokens() -> None:
    layer = AttentionLayer(200_000, 200_000, heads=4, inputs=GaussianInputs())
    with pytest.raises(ValueError, match=r"model='gaussian-exact-covariance'.*GaussianInputs\(\)"):
        sample_spectrum(layer, "output", ("softmax", "gaussian-exact-covariance"))
    with pytest.raises(ValueError, match="gaussian-exact-covariance"):
        sample_features(layer, "gaussian-exact-covariance")


@pytest.mark.parametrize("replicate", [-1, True, 1.5, "0"])
def test_features_refuse_a_replicate_that_is_no_index(replicate: object) -> None:
    with pytest.raises(ValueError, match="replicate="):
        sample_features(AttentionLayer(200_000, 200_000, heads=4), replicate=replicate)  # type: ignore[arg-type]


@pytest.mark.parametrize("model", ["exponential-centered", "gaussian-exact-covariance"])
@pytest.mark.parametrize("observable", OBSERVABLES)
def test_a_model_that_overflows_says_so(model: str, observable: str) -> None:
    layer = AttentionLayer(16, 16, heads=1, d_key=1, beta=26.0)  # exp(β²(Σ_jj − 1)/2) overflows once Σ_jj > 3.1
    with pytest.raises(ValueError, match=f"model='{model}'.*beta=26"):
        sample_spectrum(layer, observable, model, replicates=20)


def test_softmax_is_finite_at_the_largest_temperature_allowed() -> None:
    layer = AttentionLayer(16, 16, heads=2, d_key=8, beta=26.0)
    for observable in OBSERVABLES:
        spectrum = sample_spectrum(layer, observable)[0].eigenvalues
        expected = squared_singular_values(WrittenOut(layer).observable(observable))
        np.testing.assert_allclose(spectrum, expected, rtol=0, atol=1e-9 * expected[-1])
