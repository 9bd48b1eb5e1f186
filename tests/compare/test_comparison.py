"""compare: hand formulas, units, and refusals. Seed 0."""

from __future__ import annotations

import numpy as np
import pytest

from rmt_attention import (
    AttentionLayer,
    EmpiricalLaw,
    GaussianInputs,
    SpectrumSample,
    UnsupportedLayerError,
    compare,
    limit_law,
    sample_spectrum,
)
from rmt_attention.compare.distances import kolmogorov_smirnov, tabulate, wasserstein1

LAYER = AttentionLayer(40, 50, heads=4, d_key=8, d_out=60)
SAMPLES = sample_spectrum(LAYER, "output", ("softmax", "gaussian"), replicates=5)
SOFTMAX, GAUSSIAN = SAMPLES["softmax"], SAMPLES["gaussian"]
LAW = limit_law(LAYER)


def _sample(spectra: list[list[float]], layer: AttentionLayer = LAYER) -> SpectrumSample:
    laws = tuple(EmpiricalLaw(np.array(spectrum)) for spectrum in spectra)
    return SpectrumSample(laws, layer, "output", "softmax", True, (0,))


def test_distances_of_two_samples_are_paired_means_with_their_standard_errors() -> None:
    result = compare(SOFTMAX, GAUSSIAN)
    pairs = list(zip(SOFTMAX, GAUSSIAN, strict=True))
    w1 = [np.abs(np.sort(a.eigenvalues) - np.sort(b.eigenvalues)).mean() / LAW.mean for a, b in pairs]
    means = [(a.eigenvalues.mean() - b.eigenvalues.mean()) / LAW.mean for a, b in pairs]
    assert result.scale == LAW.mean
    for estimate, values in ((result.relative_w1, w1), (result.mean_difference, means)):
        assert estimate.value == pytest.approx(np.mean(values), rel=1e-12)
        assert estimate.standard_error == pytest.approx(np.std(values, ddof=1) / np.sqrt(5), rel=1e-12)
        assert estimate.replicates == 5
    ks = [kolmogorov_smirnov(a, b) for a, b in pairs]
    assert result.ks.value == pytest.approx(np.mean(ks), rel=1e-12)


def test_pairing_matters() -> None:
    """A sample is at distance zero from itself, and not from its replicates in another order."""
    shuffled = SpectrumSample((*GAUSSIAN[1:], GAUSSIAN[0]), LAYER, "output", "gaussian", True, (0,))
    assert compare(GAUSSIAN, GAUSSIAN).relative_w1.value == 0
    assert compare(GAUSSIAN, shuffled).relative_w1.value > 0.01
    assert compare(GAUSSIAN, shuffled).mean_difference.value == pytest.approx(0, abs=1e-12)


def test_two_tiny_samples_by_hand() -> None:
    result = compare(_sample([[0, 1], [2, 4]]), _sample([[1, 1], [2, 2]]), scale=2.0, ridges=[1.0])
    assert result.relative_w1.value == pytest.approx((0.5 + 1.0) / 2 / 2)
    assert result.ks.value == pytest.approx(0.5)
    assert result.mean_difference.value == pytest.approx((-0.5 + 1.0) / 2 / 2)
    (row,) = result.degrees_of_freedom
    first, second = (0 + 1 / 2) / 2, (2 / 3 + 4 / 5) / 2
    assert row.ridge == 1.0
    assert row.sample.value == pytest.approx((first + second) / 2)
    assert row.reference == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert row.difference.value == pytest.approx((first - 1 / 2 + second - 2 / 3) / 2)
    assert row.difference.standard_error == pytest.approx(abs((first - 1 / 2) - (second - 2 / 3)) / 2)


def test_samples_of_different_n_can_be_compared() -> None:
    result = compare(_sample([[0, 2], [0, 2]]), _sample([[1], [3]]), scale=1.0)
    assert result.relative_w1.value == pytest.approx((1 + 2) / 2)
    half = sample_spectrum(LAYER.replace(n_tokens=20), replicates=5)
    assert 0 < compare(SOFTMAX, half, scale=1.0).relative_w1.value < 10


def test_distances_from_a_law_are_means_over_replicates() -> None:
    result = compare(SOFTMAX, LAW)
    table = tabulate(LAW)
    assert result.relative_w1.value == pytest.approx(np.mean([wasserstein1(a, table) for a in SOFTMAX]) / LAW.mean)
    assert result.ks.value == pytest.approx(np.mean([kolmogorov_smirnov(a, table) for a in SOFTMAX]))
    assert result.mean_difference.value == pytest.approx(np.mean([a.mean for a in SOFTMAX]) / LAW.mean - 1)
    for row, ratio in zip(result.degrees_of_freedom, (0.01, 0.05, 0.2, 1, 5), strict=True):
        assert row.ridge == pytest.approx(ratio * LAW.mean)
        assert row.reference == pytest.approx(float(LAW.degrees_of_freedom(row.ridge)), rel=1e-14)
        assert row.sample.value == pytest.approx(SOFTMAX.degrees_of_freedom(row.ridge).value, rel=1e-14)
        assert row.difference.value == pytest.approx(row.sample.value - row.reference, abs=1e-15)


def test_the_default_scale_is_the_limiting_mean_of_the_sampled_observable() -> None:
    for observable in ("attention", "values", "output", "head-average"):
        sample = sample_spectrum(LAYER, observable, replicates=2)
        assert compare(sample, sample).scale == limit_law(LAYER, observable).mean


def test_relative_w1_is_free_of_units() -> None:
    scaled = SpectrumSample(
        tuple(EmpiricalLaw(7 * law.eigenvalues, law.zeros) for law in SOFTMAX), LAYER, "output", "softmax", True, (0,)
    )
    plain = compare(SOFTMAX, LAW)
    other = compare(scaled, LAW.scaled(7), scale=7 * LAW.mean)
    assert other.relative_w1.value == pytest.approx(plain.relative_w1.value, rel=1e-6)
    assert other.ks.value == pytest.approx(plain.ks.value, rel=1e-6)
    assert compare(SOFTMAX, LAW, scale=2 * LAW.mean).relative_w1.value == pytest.approx(plain.relative_w1.value / 2)


def test_a_single_replicate_has_no_standard_error() -> None:
    result = compare(sample_spectrum(LAYER), LAW)
    assert np.isnan(result.relative_w1.standard_error)
    assert np.isfinite(result.relative_w1.value)


def test_a_layer_without_a_law_needs_a_scale() -> None:
    layer = LAYER.replace(inputs=GaussianInputs())
    sample = sample_spectrum(layer, replicates=2)
    with pytest.raises(UnsupportedLayerError, match=r"inputs=GaussianInputs\(\)"):
        compare(sample, sample)
    assert compare(sample, sample, scale=3.0).relative_w1.value == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"reference": sample_spectrum(LAYER, replicates=4)}, "reference: has 4 replicates, the sample has 5"),
        ({"reference": sample_spectrum(LAYER, "values", replicates=5)}, "reference: observable 'values'"),
        ({"reference": sample_spectrum(LAYER, centered=False, replicates=5)}, "centered=False"),
        ({"reference": GAUSSIAN[0]}, "reference: must be a SpectrumSample or a SpectralLaw, got EmpiricalLaw"),
        ({"reference": None}, "reference: must be .*, got NoneType"),
        ({"scale": 0.0}, "scale=0.0"),
        ({"scale": -1.0}, "scale=-1.0"),
        ({"scale": float("nan")}, "scale=nan"),
        ({"scale": float("inf")}, "scale=inf"),
        ({"ridges": [1.0, 0.0]}, "ridges=0.0"),
        ({"ridges": -2.0}, "ridges=-2.0"),
        ({"ridges": [1.0, float("nan")]}, "ridges=nan"),
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compare(SOFTMAX, **{"reference": LAW, **arguments})  # type: ignore[arg-type]
