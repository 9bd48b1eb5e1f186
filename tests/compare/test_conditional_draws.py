"""The semi-empirical law of one draw of keys, values and output weights against draws given it. Seed 0."""

from __future__ import annotations

import numpy as np
import pytest

from rmt_attention import AttentionLayer, EmpiricalLaw, compare_outlier, conditional_law, limit_law, sample_spectrum
from rmt_attention.compare.distances import kolmogorov_smirnov, tabulate, wasserstein1
from rmt_attention.laws import SpectralLaw

from ..simulation.fixed import FixedWeights, output
from ..simulation.oracles import WrittenOut, squared_singular_values
from ..statistics import mean

BERT = AttentionLayer.from_preset("BERT-base")


def _draws_given_replicate(layer: AttentionLayer, replicate: int, count: int) -> list[EmpiricalLaw]:
    """Spectra of the Gaussian equivalent with keys, values and output weights of one replicate, all else fresh."""
    return [
        EmpiricalLaw(squared_singular_values(output(FixedWeights(layer, replicate, 1000 + draw), "gaussian")))
        for draw in range(count)
    ]


def _relative_distances(draws: list[EmpiricalLaw], law: SpectralLaw, scale: float) -> list[float]:
    table = tabulate(law)
    return [wasserstein1(draw, table) / scale for draw in draws]


def test_the_law_of_one_draw_describes_fresh_queries_at_bert_size() -> None:
    """Mean relative W1 of 20 draws at most 6/n. Negative control: another draw's law, scaled by 1.03."""
    n, scale = BERT.n_tokens, limit_law(BERT).mean
    draws = _draws_given_replicate(BERT, 0, 20)
    own = mean(_relative_distances(draws, conditional_law(BERT), scale))
    wrong = mean(_relative_distances(draws, conditional_law(BERT, replicate=1).scaled(1.03), scale))
    limit = mean(_relative_distances(draws, limit_law(BERT), scale))
    print(f"relative W1 × n: own {own.value * n:.3f} ± {own.error * n:.3f},")
    print(f"other draw × 1.03 {wrong.value * n:.3f}, limiting law {limit.value * n:.3f}")
    assert own.value <= 6 / n
    assert wrong.value > 6 / n
    assert own.value < wrong.value


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"kv_groups": 1},
        {"kv_groups": 2, "key_value_correlation": 1.0},
        {"key_value_correlation": 0.6},
        {"output_groups": 1},
    ],
)
def test_the_law_of_one_draw_holds_for_every_dependence_of_values_and_outputs_on_keys(
    changes: dict[str, object],
) -> None:
    """w at three ridges over 40 draws given the weights, with an allowance of 0.5/n for the O(1/n) bias.

    False alarm 1e-4 a comparison. Negative controls: the law scaled by 1.2, and by 1.03 for the mean.
    """
    layer = AttentionLayer(120, 120, heads=4, d_key=24, d_out=180, beta=0.8).replace(**changes)
    law = conditional_law(layer)
    draws = _draws_given_replicate(layer, 0, 40)
    ridges = law.mean * np.array([0.05, 0.3, 2.0])
    w = [mean(column) for column in np.array([draw.degrees_of_freedom(ridges) for draw in draws]).T]
    differences = [one.value - value for one, value in zip(w, law.degrees_of_freedom(ridges), strict=True)]
    allowed = [one.half_width() + 0.5 / 120 for one in w]
    for difference, one in zip(differences, w, strict=True):
        print(f"n (w − law) {120 * difference:.3f} ± {120 * one.error:.3f}")
    assert all(abs(difference) <= bound for difference, bound in zip(differences, allowed, strict=True))
    wrong = law.scaled(1.2).degrees_of_freedom(ridges)
    assert any(abs(one.value - value) > bound for one, value, bound in zip(w, wrong, allowed, strict=True))
    means = mean([draw.mean for draw in draws])
    assert means.agrees_with(law.mean)  # exact at any n
    assert not means.agrees_with(1.03 * law.mean)


def test_the_law_belongs_to_the_replicate_it_is_asked_for() -> None:
    """Each replicate's own law is nearer, by the mean eigenvalue, than that of its neighbour."""
    layer = AttentionLayer(60, 60, heads=2, d_key=12, d_out=90, kv_groups=1)
    sample = sample_spectrum(layer, "output", "gaussian", replicates=30)
    laws = [conditional_law(layer, replicate=k) for k in range(30)]
    own = np.array([spectrum.mean - law.mean for spectrum, law in zip(sample, laws, strict=True)])
    shifted = np.array([spectrum.mean - law.mean for spectrum, law in zip(sample, laws[1:] + laws[:1], strict=True)])
    assert (own**2).sum() < 0.5 * (shifted**2).sum()
    assert mean(own).agrees_with(0.0)


def test_zeros_of_the_law_of_one_draw_are_those_of_the_spectrum() -> None:
    for layer in (
        AttentionLayer(60, 60, heads=2, d_key=12, d_out=90),
        AttentionLayer(60, 60, heads=2, d_key=12, d_out=20),
        AttentionLayer(60, 60, heads=2, d_key=12, d_out=90, output_groups=1),
    ):
        law = conditional_law(layer)
        zeros = sample_spectrum(layer, "output", "gaussian")[0].zeros
        assert sum(atom.mass for atom in law.atoms) == pytest.approx(zeros / 60, abs=1e-12)
        assert kolmogorov_smirnov(sample_spectrum(layer, "output", "gaussian")[0], tabulate(law)) < 0.1


# The outlier ---------------------------------------------------------------------------------------------------------


def test_the_largest_singular_value_at_bert_size_is_predicted_within_two_percent() -> None:
    result = compare_outlier(BERT, replicates=10)
    relative = result.relative_difference
    print(
        f"s₁/√d_out {result.measured.value:.4f}, predicted {result.predicted.value:.4f}, relative difference"
        f" {relative.value:.5f} ± {relative.standard_error:.5f}, second-order bias {result.expected_bias:.5f}"
    )
    assert abs(relative.value) < 0.02
    assert abs(result.measured.value / result.predicted.value - 1) < 0.02


def test_the_outlier_is_the_largest_singular_value_of_the_uncentred_output() -> None:
    layer = AttentionLayer(40, 50, heads=3, d_key=8, d_out=30)
    sample = sample_spectrum(layer, "output", centered=False, replicates=3)
    expected = np.mean([np.sqrt(law.eigenvalues[-1] / 30) for law in sample])
    assert compare_outlier(layer, replicates=3).measured.value == pytest.approx(expected, rel=1e-9)


def test_the_second_order_bias_is_the_bias() -> None:
    """800 small draws: the mean relative difference is the stated bias to third order, false alarm 1e-4.

    Third order is bounded by the cube of the noise-to-outlier ratio. Negative control: without the bias the interval
    excludes the measurement.
    """
    layer = AttentionLayer(60, 60, heads=4, d_key=60, d_out=120, beta=0.7)
    result = compare_outlier(layer, replicates=800)
    relative = result.relative_difference
    print(
        f"relative difference {relative.value:.5f} ± {relative.standard_error:.5f}, stated {result.expected_bias:.5f}"
    )
    allowed = relative.half_width(1 - 1e-4) + result.expected_bias**1.5
    assert abs(relative.value - result.expected_bias) <= allowed
    assert abs(relative.value) > allowed


def test_the_prediction_is_the_norm_of_the_mean_row() -> None:
    layer = AttentionLayer(20, 30, heads=3, d_key=5, d_out=12, kv_groups=(0, 0, 1))
    draw = WrittenOut(layer)
    row = np.ones(20) @ np.hstack(draw.value) @ draw.output_weights
    expected = np.linalg.norm(row) / np.sqrt(20 * 12)
    assert compare_outlier(layer).predicted.value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("replicates", [0, -1, True, 1.5])
def test_outlier_draws_must_be_counted_by_a_positive_integer(replicates: object) -> None:
    with pytest.raises(ValueError, match=f"replicates={replicates}"):
        compare_outlier(AttentionLayer(200_000, 200_000, heads=4), replicates=replicates)  # type: ignore[arg-type]
