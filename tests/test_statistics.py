"""The statistical helper keeps the false-alarm probability that it states. Seed 0."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from .statistics import extrapolate, mean

EXPERIMENTS = 4000
PROBABILITY = 0.05


def _counts_fit(failures: int) -> bool:
    """Whether a number of failures is usual at PROBABILITY; false alarm 1e-6."""
    low, high = binom.interval(1 - 1e-6, EXPERIMENTS, PROBABILITY)
    return low <= failures <= high


def test_an_interval_misses_the_truth_as_often_as_stated() -> None:
    rng = np.random.default_rng(0)
    samples = rng.standard_normal((EXPERIMENTS, 6))
    failures = sum(not mean(sample).agrees_with(0.0, PROBABILITY) for sample in samples)
    assert _counts_fit(failures)
    # negative control: a normal quantile in place of Student's
    narrow = sum(abs(mean(sample).value) > 1.96 * mean(sample).error for sample in samples)
    assert not _counts_fit(narrow)


def test_a_difference_of_unequal_samples_misses_as_often_as_stated() -> None:
    rng = np.random.default_rng(0)
    failures = 0
    for _ in range(EXPERIMENTS):
        difference = mean(3 * rng.standard_normal(12)) - mean(rng.standard_normal(40))
        failures += not difference.agrees_with(0.0, PROBABILITY)
    assert _counts_fit(failures)


def test_extrapolation_in_one_over_n_misses_as_often_as_stated() -> None:
    rng = np.random.default_rng(0)
    sizes, draws = (60, 120, 240), (100, 80, 60)
    failures = slope_failures = 0
    for _ in range(EXPERIMENTS):
        parts = [
            mean(0.5 - 2 / n + 0.4 / n * rng.standard_normal(count)) for n, count in zip(sizes, draws, strict=True)
        ]
        limit, slope = extrapolate(sizes, parts)
        failures += not limit.agrees_with(0.5, PROBABILITY)
        slope_failures += not slope.agrees_with(-2.0, PROBABILITY)
    assert _counts_fit(failures)
    assert _counts_fit(slope_failures)


def test_extrapolation_is_exact_on_a_line_and_off_on_a_curve() -> None:
    sizes = (60, 120, 240)
    noise = np.array([-1.0, 1.0])
    line = [mean(0.3 + 5 / n + 1e-6 / n * noise) for n in sizes]
    limit, slope = extrapolate(sizes, line)
    assert limit.value == pytest.approx(0.3, abs=1e-12)
    assert slope.value == pytest.approx(5, abs=1e-9)
    curve = [mean(0.3 + 5 / n + 100 / n**2 + 1e-6 / n * noise) for n in sizes]
    assert abs(extrapolate(sizes, curve)[0].value - 0.3) > 1e-3
