"""The main job: half size, extrapolation, thresholds from draws, and what it says when something is wrong. Seed 0."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy.stats import t as student

from rmt_attention import AttentionLayer, Estimate, GaussianInputs, Head, compare, compare_outlier, laws, limit_law
from rmt_attention.experiments import verify as module
from rmt_attention.experiments.verify import VerifyReport, half_size, verify
from rmt_attention.experiments.verify_checks import (
    FAILED,
    FALSE_ALARM,
    HELD,
    UNDECIDED,
    Check,
    exact_mean_factor,
    extrapolate,
    next_order,
    other_law,
)

LAYER = AttentionLayer(96, 96, heads=4, d_key=24, d_out=144, beta=0.7)


@pytest.fixture(scope="module")
def report() -> VerifyReport:
    return verify(LAYER, replicates=6)


# Half size -----------------------------------------------------------------------------------------------------------

EVEN = [
    LAYER,
    LAYER.replace(kv_groups=2),
    LAYER.replace(query_groups=(0, 0, 1, 2), output_groups=1),
    LAYER.replace(key_value_correlation=1.0, kv_groups=(0, 1, 0, 1)),
    LAYER.replace(key_value_correlation=0.6),
    LAYER.replace(d_value=10),
    AttentionLayer(96, 40, heads=2, d_key=8, d_out=12, inputs=GaussianInputs()),
    AttentionLayer(96, 120, heads=(Head(8, 6, 0.5), Head(20, 4, 1.5)), d_out=12),
    AttentionLayer.from_preset("BERT-base"),
    AttentionLayer.from_preset("Falcon-7B"),
]


@pytest.mark.parametrize("layer", EVEN)
def test_half_size_keeps_ratios_temperatures_sharing_and_tying(layer: AttentionLayer) -> None:
    half = half_size(layer)
    assert (half.n_tokens, half.d_out) == (layer.n_tokens // 2, layer.d_out // 2)
    for ratio in ("gamma_key", "gamma_value", "gamma_out"):
        assert getattr(half, ratio) == getattr(layer, ratio)
    for field in ("query_groups", "key_groups", "value_groups", "output_groups", "key_value_correlation", "inputs"):
        assert getattr(half, field) == getattr(layer, field)
    assert [head.beta for head in half.heads] == [head.beta for head in layer.heads]
    assert half.d_model / half.n_tokens == layer.d_model / layer.n_tokens


def test_half_size_of_odd_widths_is_rounded_and_stays_a_layer() -> None:
    layer = AttentionLayer(261, 261, heads=3, d_key=7, d_value=5, d_out=31)
    half = half_size(layer)
    assert (half.n_tokens, half.d_model, half.heads[0].d_key, half.heads[0].d_value, half.d_out) == (130, 130, 3, 2, 15)


@pytest.mark.parametrize(
    "layer",
    [
        AttentionLayer(3, 8, heads=2, d_key=4),
        AttentionLayer(8, 8, heads=2, d_key=1, d_value=4),
        AttentionLayer(8, 8, heads=2, d_key=4, d_value=1),
        AttentionLayer(8, 8, heads=2, d_key=4, d_out=1),
    ],
)
def test_a_layer_too_small_to_halve_is_refused(layer: AttentionLayer) -> None:
    with pytest.raises(ValueError, match=r"n_tokens=\d+, heads=.*, d_out=\d+: every width must be ≥ 2"):
        verify(layer)


# Extrapolation -------------------------------------------------------------------------------------------------------


def test_extrapolation_removes_a_term_in_one_over_n_exactly() -> None:
    full, half = Estimate(0.3 + 5 / 512, 0.01, 10), Estimate(0.3 + 5 / 256, 0.02, 12)
    limit = extrapolate(full, half, 512, 256)
    assert limit.value == pytest.approx(0.3, abs=1e-15)
    assert limit.standard_error == pytest.approx(math.hypot(2 * 0.01, 0.02), rel=1e-14)
    assert limit.replicates == 10


def test_extrapolation_uses_the_sizes_it_is_given() -> None:
    full, half = Estimate(0.3 + 5 / 261, 0.01, 10), Estimate(0.3 + 5 / 130, 0.02, 10)
    limit = extrapolate(full, half, 261, 130)
    assert limit.value == pytest.approx(0.3, abs=1e-15)
    assert limit.standard_error == pytest.approx(math.hypot(0.01 * 261 / 131, 0.02 * 130 / 131), rel=1e-14)
    assert extrapolate(full, half, 260, 130).value != pytest.approx(0.3, abs=1e-4)


# Checks and thresholds -----------------------------------------------------------------------------------------------


def test_a_check_holds_up_to_its_threshold_and_never_for_nan() -> None:
    assert Check("", 1.0, 1.0, "", True).verdict == HELD
    assert Check("", 1.0, 1.0, "", False).verdict == UNDECIDED
    for decisive in (True, False):
        assert Check("", 1.0 + 1e-12, 1.0, "", decisive).verdict == FAILED
        assert Check("", math.nan, 1.0, "", decisive).verdict == FAILED
        assert Check("", 0.0, math.nan, "", decisive).verdict == FAILED


def test_every_check_holds_for_an_ordinary_layer() -> None:
    report = verify(LAYER, replicates=60)
    assert report.verdict == HELD
    assert len(report.checks) == 6
    assert len({check.name for check in report.checks}) == 6


def test_distances_must_fall_from_half_size_to_full_size(report: VerifyReport) -> None:
    for check, name in zip(report.checks[:2], ("relative_w1", "ks"), strict=True):
        full, half = getattr(report.models, name), getattr(report.half_models, name)
        error = math.hypot(full.standard_error, half.standard_error)
        slowest = 0.5**0.25 * half.value + student.ppf(1 - FALSE_ALARM, df=5) * error
        assert (check.value, check.threshold) == pytest.approx((full.value, slowest), rel=1e-9)
        assert check.decisive == (full.value + student.ppf(0.95, df=5) * error <= half.value)


def test_distances_that_do_not_fall_fail_and_too_few_draws_are_undecided() -> None:
    """β = 5 saturates W1 and KS at both sizes; two draws cannot tell anything from anything."""
    saturated = verify(AttentionLayer(64, 96, heads=4, d_key=16, beta=5.0, inputs=GaussianInputs()), replicates=5)
    assert saturated.law is None
    assert saturated.verdict == FAILED
    few = verify(LAYER, replicates=2)
    assert UNDECIDED in {check.verdict for check in few.checks}
    assert all(check.verdict != HELD for check in few.checks if check.threshold > 1)


def test_the_other_law_has_noise_for_scores_or_values_untied() -> None:
    free = other_law(LAYER)
    assert free.moment(2) == pytest.approx(laws.output_law(0.7, 4, 1e15, 1.0, 1.5).moment(2), rel=1e-9)
    tied = LAYER.replace(key_value_correlation=1.0)
    assert other_law(tied).edges == limit_law(LAYER).edges


@pytest.mark.parametrize(("model", "position"), [("softmax", 2), ("gaussian", 3)])
def test_the_extrapolated_difference_is_held_to_its_student_bound(
    report: VerifyReport, model: str, position: int
) -> None:
    rows, halves = report.to_law[model].degrees_of_freedom, report.half_to_law[model].degrees_of_freedom
    bound = student.ppf(1 - FALSE_ALARM / 2 / len(rows), df=5)
    limits = []
    for row, half in zip(rows, halves, strict=True):
        value = 2 * row.difference.value - half.difference.value
        error = math.hypot(2 * row.difference.standard_error, half.difference.standard_error)
        # what softmax adds beyond 1/n is allowed for in proportion to the difference, at most half of it
        extra = next_order(LAYER) * abs(row.difference.value) if model == "softmax" else 0.0
        limits.append((abs(value), bound * error + extra))
    worst = max(limits, key=lambda pair: pair[0] / pair[1])
    check = report.checks[position]
    assert model in check.name
    assert (check.value, check.threshold) == pytest.approx(worst, rel=1e-9)
    assert all(value <= allowed for value, allowed in limits) == (check.verdict != FAILED)


def test_the_gaussian_mean_is_held_to_its_exact_value(report: VerifyReport) -> None:
    check = report.checks[4]
    means = [law.mean for law in report.samples["gaussian"]]
    law = limit_law(LAYER)
    assert check.value == pytest.approx(abs(np.mean(means) / law.mean - 1), rel=1e-9)
    error = np.std(means, ddof=1) / np.sqrt(6) / law.mean
    assert check.threshold == pytest.approx(student.ppf(1 - FALSE_ALARM / 2, df=5) * error, rel=1e-9)


def test_the_outlier_is_held_to_its_second_order_bias_and_its_draws(report: VerifyReport) -> None:
    check = report.checks[5]
    expected = compare_outlier(LAYER, replicates=6)
    assert check.value == abs(expected.relative_difference.value)
    spread = student.ppf(1 - FALSE_ALARM / 2, df=5) * expected.relative_difference.standard_error
    assert check.threshold == pytest.approx(expected.expected_bias + spread, rel=1e-9)


def test_the_exact_mean_factor_is_one_unless_values_are_keys() -> None:
    assert exact_mean_factor(LAYER) == 1
    assert exact_mean_factor(LAYER.replace(key_value_correlation=0.6)) == 1
    tied = LAYER.replace(key_value_correlation=1.0)
    theta1, key_part = math.expm1(0.49), 4 * 0.49 / 1.0  # h θ2/γ_K with γ_K = 1
    assert exact_mean_factor(tied) == pytest.approx((theta1 + key_part * (1 + 1 / 96)) / (theta1 + key_part), rel=1e-14)


# What the report holds -----------------------------------------------------------------------------------------------


def test_the_report_compares_the_samples_it_holds(report: VerifyReport) -> None:
    assert report.layer == LAYER
    assert report.half_layer == half_size(LAYER)
    assert set(report.samples) == {"softmax", "gaussian"}
    assert report.models == compare(report.samples["softmax"], report.samples["gaussian"])
    for model, sample in report.samples.items():
        assert len(sample) == 6
        assert report.to_law[model] == compare(sample, limit_law(LAYER))


def test_full_and_half_size_are_independent_draws(report: VerifyReport) -> None:
    """Streams of equal keys would make the first numbers of both sizes agree."""
    from rmt_attention import sample_spectrum

    half = sample_spectrum(report.half_layer, "output", "gaussian", replicates=6)
    measured = half.degrees_of_freedom(report.half_to_law["gaussian"].degrees_of_freedom[2].ridge)
    assert measured.value != report.half_to_law["gaussian"].degrees_of_freedom[2].sample.value


def test_the_report_is_plain_data_with_a_schema(report: VerifyReport) -> None:
    data = report.to_dict()
    parsed = json.loads(json.dumps(data, allow_nan=False))
    assert parsed["schema"] == 1
    assert parsed["kind"] == "verify"
    assert AttentionLayer.from_dict(parsed["layer"]) == LAYER
    assert AttentionLayer.from_dict(parsed["half_layer"]) == half_size(LAYER)
    assert (parsed["seed"], parsed["draws"], parsed["observable"]) == ([0], 6, "output")
    law = limit_law(LAYER)
    assert parsed["law"]["mean"] == law.mean
    assert parsed["law"]["support"] == [list(interval) for interval in law.support]
    assert parsed["law_refused"] is None
    assert parsed["verdict"] == report.verdict
    assert [check["name"] for check in parsed["checks"]] == [check.name for check in report.checks]
    assert [check["verdict"] for check in parsed["checks"]] == [check.verdict for check in report.checks]
    w1 = parsed["softmax_to_gaussian"]["relative_w1"]
    assert w1["half_width_95"] == pytest.approx(student.ppf(0.975, 5) * w1["standard_error"])
    assert set(parsed["to_law"]) == set(parsed["to_law_half_size"]) == {"softmax", "gaussian"}
    assert "numpy" in parsed["provenance"]


def test_workers_do_not_change_the_report(report: VerifyReport) -> None:
    assert verify(LAYER, replicates=6, workers=2).to_dict() == report.to_dict()


def test_another_seed_gives_other_draws() -> None:
    small = AttentionLayer(32, 32, heads=2, d_key=8)
    assert verify(small, replicates=2, seed=1).models != verify(small, replicates=2).models


def test_progress_names_every_stage() -> None:
    seen: list[tuple[str, int, int]] = []
    verify(AttentionLayer(32, 32, heads=2, d_key=8), replicates=2, progress=lambda *step: seen.append(step))
    assert seen == [(stage, done, 2) for stage in ("full size", "half size", "outlier") for done in (1, 2)]


@pytest.mark.parametrize(
    "changes", [{"inputs": GaussianInputs()}, {"query_groups": 2}, {"key_value_correlation": 0.5}, {"output_groups": 2}]
)
def test_a_layer_without_a_law_is_still_simulated_both_ways(changes: dict[str, object]) -> None:
    layer = AttentionLayer(64, 64, heads=4, d_key=16, beta=0.7).replace(**changes)
    report = verify(layer, replicates=4)
    assert report.law is None
    assert report.to_law == report.half_to_law == {}
    (field,) = changes
    assert field in report.law_refused
    assert len(report.checks) == 3
    means = [law.mean for law in report.samples["gaussian"]]
    assert report.models.scale == pytest.approx(np.mean(means))
    parsed = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert parsed["law"] is None
    assert field in parsed["law_refused"]


def test_heads_without_a_finite_second_order_bias_still_give_a_report() -> None:
    """d_key ≤ 2β²: the variance of exp(β²|k|²/(2 d_key)) is infinite, and the report says so as plain data."""
    report = verify(AttentionLayer(48, 48, heads=4, d_key=2), replicates=2)
    json.loads(json.dumps(report.to_dict(), allow_nan=False))


# When something is wrong ---------------------------------------------------------------------------------------------


def test_a_wrong_law_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: the law at another γ_K fails for both models, the checks without a law still hold."""

    def wrong(layer: AttentionLayer, observable: str = "output") -> laws.SpectralLaw:
        return laws.output_law(layer.beta, layer.n_heads, 0.5 * layer.gamma_key, layer.gamma_value, layer.gamma_out)

    monkeypatch.setattr(module, "limit_law", wrong)
    report = verify(LAYER, replicates=30)
    assert report.verdict == FAILED
    verdicts = [check.verdict != FAILED for check in report.checks]
    assert verdicts[:2] == [True, True]
    assert not any(verdicts[2:4])
    assert verdicts[5]


def test_a_wrong_mean_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "limit_law", lambda layer: limit_law(layer).scaled(1.2))
    report = verify(LAYER, replicates=10)
    assert report.checks[4].verdict == FAILED


def test_a_wrong_gaussian_equivalent_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: without the noise, the distance from softmax does not fall."""
    from rmt_attention.simulation import models

    monkeypatch.setattr(models._HeadContext, "noise_scale", property(lambda self: 0.0))
    assert verify(LAYER.replace(beta=1.2), replicates=10).verdict == FAILED


@pytest.mark.parametrize("replicates", [1, 0, -1, True, 2.0, "2"])
def test_draws_must_be_at_least_two(replicates: object) -> None:
    with pytest.raises(ValueError, match=r"replicates=.*must be an integer ≥ 2"):
        verify(AttentionLayer(200_000, 200_000, heads=4), replicates=replicates)  # type: ignore[arg-type]


@pytest.mark.parametrize(("argument", "value"), [("seed", -1), ("seed", None), ("workers", 0)])
def test_bad_arguments_are_named_before_any_work(argument: str, value: object) -> None:
    with pytest.raises(ValueError, match=f"{argument}={value}"):
        verify(AttentionLayer(200_000, 200_000, heads=4), **{argument: value})  # type: ignore[arg-type]
