"""Every random array has its own stream, keyed by seed, replicate, role and matrix index. Seed 0."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

from rmt_attention import AttentionLayer, Head, SpectrumSample, sample_features, sample_spectrum
from rmt_attention.simulation import MODELS
from rmt_attention.simulation.projections import HeadArrays, Projections
from rmt_attention.simulation.streams import Role, seed_key, stream

LAYER = AttentionLayer(24, 30, heads=4, d_key=5, d_value=5, d_out=20)
KEY = seed_key(0)


def _spectra(sample: SpectrumSample) -> list[list[float]]:
    return [law.eigenvalues.tolist() for law in sample]


def _head(layer: AttentionLayer, index: int, replicate: int = 0) -> HeadArrays:
    return Projections(layer, KEY, replicate).head(index)


def test_a_replicate_does_not_depend_on_how_many_are_asked_for() -> None:
    few, many = (sample_spectrum(LAYER, replicates=count) for count in (2, 5))
    assert _spectra(few) == _spectra(many)[:2]
    assert len({tuple(spectrum) for spectrum in _spectra(many)}) == 5


def test_two_workers_give_the_numbers_of_one() -> None:
    one, two = (sample_spectrum(LAYER, "values", MODELS, replicates=3, workers=workers) for workers in (1, 2))
    for model in MODELS:
        assert _spectra(one[model]) == _spectra(two[model])


def test_layers_that_differ_in_beta_reuse_every_matrix() -> None:
    cold, hot = Projections(LAYER, KEY, 0), Projections(LAYER.replace(beta=2.0), KEY, 0)
    for r in range(4):
        for name in ("query", "key", "value"):
            np.testing.assert_array_equal(getattr(cold.head(r), name), getattr(hot.head(r), name))
        np.testing.assert_array_equal(cold.output_weights(r), hot.output_weights(r))


@pytest.mark.parametrize("field", ["query_groups", "key_groups", "value_groups", "output_groups"])
@pytest.mark.parametrize("groups", [(0, 1, 1, 3), (0, 1, 0, 1), 1])
def test_a_group_uses_the_matrix_of_its_first_head_and_nothing_else_changes(field: str, groups: object) -> None:
    shared = LAYER.replace(**{field: groups})
    first = getattr(shared, field)
    own, grouped = Projections(LAYER, KEY, 3), Projections(shared, KEY, 3)
    for r in range(4):
        for name in ("query", "key", "value", "output"):
            source = first[r] if field == f"{name}_groups" else r
            if name == "output":
                pair = own.output_weights(source), grouped.output_weights(r)
            else:
                pair = getattr(own.head(source), name), getattr(grouped.head(r), name)
            np.testing.assert_array_equal(*pair)


def test_tying_replaces_the_values_and_leaves_the_rest() -> None:
    tied = LAYER.replace(key_value_correlation=1.0)
    for r in range(4):
        np.testing.assert_array_equal(_head(tied, r).value, _head(LAYER, r).key)
        np.testing.assert_array_equal(_head(tied, r).query, _head(LAYER, r).query)


def test_partial_tying_mixes_the_same_two_matrices() -> None:
    mixed, plain = _head(LAYER.replace(key_value_correlation=0.6), 2), _head(LAYER, 2)
    np.testing.assert_allclose(mixed.value, 0.6 * plain.key + 0.8 * plain.value, rtol=0, atol=1e-15)


def test_more_heads_keep_the_first_ones() -> None:
    wide = LAYER.replace(heads=6)
    for r in range(4):
        np.testing.assert_array_equal(_head(wide, r).key, _head(LAYER, r).key)


def test_models_share_queries_keys_and_values() -> None:
    """The paired difference of two models is far smaller than the spread of one of them."""
    layer = AttentionLayer(60, 60, heads=4, d_key=15, beta=0.3)
    samples = sample_spectrum(layer, "output", ("softmax", "gaussian"), replicates=20)
    w = {model: [float(law.degrees_of_freedom(0.05)) for law in samples[model]] for model in samples}
    assert np.corrcoef(w["softmax"], w["gaussian"])[0, 1] > 0.5
    other = sample_spectrum(layer, "output", "gaussian", replicates=20, seed=1)
    unpaired = [float(law.degrees_of_freedom(0.05)) for law in other]
    assert abs(np.corrcoef(w["softmax"], unpaired)[0, 1]) < 0.5  # negative control


def test_all_streams_are_distinct() -> None:
    draws = {
        (seed, replicate, role, index): stream(seed_key(seed), replicate, role, index).integers(2**63)
        for seed in (0, 1)
        for replicate in range(3)
        for role in get_args(Role)
        for index in range(3)
    }
    assert len(set(draws.values())) == len(draws)


def test_matrices_of_a_head_are_uncorrelated_standard_normal() -> None:
    """Sample moments of all arrays of one replicate, false alarm 1e-6 each."""
    layer = AttentionLayer(200, 200, heads=2, d_key=50, d_value=50, d_out=100)
    projections = Projections(layer, KEY, 0)
    arrays = [getattr(projections.head(r), name).ravel() for r in range(2) for name in ("query", "key", "value")]
    outputs = [projections.output_weights(r).ravel() * np.sqrt(100) for r in range(2)]
    for array in [*arrays, *outputs]:
        assert abs(array.mean()) < 4.9 / np.sqrt(array.size)
        assert abs((array**2).mean() - 1) < 4.9 * np.sqrt(2 / array.size)
    correlation = np.corrcoef(arrays) - np.eye(6)
    assert np.abs(correlation).max() < 4.9 / np.sqrt(arrays[0].size)


def test_output_weights_have_variance_one_over_the_total_value_width() -> None:
    layer = AttentionLayer(200, 200, heads=(Head(5, 100), Head(5, 300)), d_out=500)
    weights = np.vstack([Projections(layer, KEY, 0).output_weights(r) for r in range(2)])
    assert weights.shape == (400, 500)
    assert abs((weights**2).mean() * 400 - 1) < 4.9 * np.sqrt(2 / weights.size)  # false alarm 1e-6


def test_an_integer_and_its_seed_sequence_are_one_seed() -> None:
    reference = _spectra(sample_spectrum(LAYER, seed=5))
    assert _spectra(sample_spectrum(LAYER, seed=np.random.SeedSequence(5))) == reference
    assert _spectra(sample_spectrum(LAYER, seed=np.int64(5))) == reference  # type: ignore[call-overload]
    assert _spectra(sample_spectrum(LAYER, seed=6)) != reference


def test_a_seed_sequence_is_not_used_up() -> None:
    sequence = np.random.SeedSequence([3, 4], spawn_key=(2,))
    first = _spectra(sample_spectrum(LAYER, seed=sequence))
    sequence.spawn(3)
    assert _spectra(sample_spectrum(LAYER, seed=sequence)) == first


def test_spawned_seed_sequences_are_independent_of_their_parent() -> None:
    parent = np.random.SeedSequence(5)
    child = np.random.SeedSequence(5, spawn_key=(0,))
    features = [sample_features(LAYER, seed=seed) for seed in (parent, child)]
    assert abs(np.corrcoef(features[0].ravel(), features[1].ravel())[0, 1]) < 0.3


@pytest.mark.parametrize(
    "seed", [np.random.default_rng(0), np.random.RandomState(0), np.random.PCG64(0), None, 1.0, True, -1, "0"]
)
def test_a_seed_that_carries_state_is_refused(seed: object) -> None:
    with pytest.raises(ValueError, match=r"seed=.*must be an integer ≥ 0 or a numpy SeedSequence"):
        sample_spectrum(LAYER, seed=seed)  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="seed="):
        sample_features(LAYER, seed=seed)  # type: ignore[arg-type]
