"""Every benchmark runs, on a few cases, and what it stores can be turned into tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import hard_sets, record, report, speed
from tests.laws.stress_errors import DIGITS_LIMITS, LIMITS, digits_errors, stress_errors


def test_a_small_run_of_the_hard_sets_has_no_faults_and_counts_every_set() -> None:
    result = hard_sets.measure(stress_errors, LIMITS, count=6, seed=0, workers=1)
    assert result["faults"] == []
    assert sum(part["sets"] for part in result["strata"].values()) == 6


def test_a_small_run_against_forty_digits_covers_every_method() -> None:
    result = hard_sets.measure(digits_errors, DIGITS_LIMITS, count=3, seed=0, workers=1)
    for part in result["strata"].values():
        assert part["raised"] == []
        assert {"w", "1 − w/w(0)", "density", "cdf", "quantile", "edges", "moments 1 to 8"} <= set(part["columns"])


def test_a_small_run_of_the_speed_benchmark_measures_right_numbers() -> None:
    density, ridge = speed.measure_density(count=2, seed=0), speed.measure_ridge(count=1, seed=0)
    assert density["worst_residual"] < 1e-12
    assert density["density_positive_everywhere"]
    assert ridge["batch_us_per_root"]["smallest"] > 0
    assert speed.measure_import(count=1)["package_s"]["median"] > 0


def test_the_baseline_solves_the_same_equation() -> None:
    """Among its roots is the physical one: that of the law itself."""
    import numpy as np

    from rmt_attention.laws import output_law

    ratios = (0.9, 3.0, 0.75, 1.25, 0.75)
    law = output_law(*ratios)
    x = law.quantile([0.4, 0.7, 0.95])
    roots = speed.companion_roots(ratios, x)
    c = 0.81 / np.expm1(0.81)
    w = (1 - c) * roots + c * roots / (1 + c * roots / 0.75)
    assert np.abs(w - law.solve(x).w[:, None]).min(axis=1).max() < 1e-9


def test_stored_results_become_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    record.write("stress", hard_sets.measure(stress_errors, LIMITS, 3, 0, 1), str(tmp_path / "stress.json"))
    table = report.accuracy_table("stress")
    assert table[0].startswith("| relative error")
    assert len(table) == 4 + len(json.loads((tmp_path / "stress.json").read_text())["strata"]["tie"]["columns"])


def test_the_committed_results_have_no_faults() -> None:
    assert report.load("stress")["count"] == 10_000
    for name in ("stress", "accuracy"):
        assert report.load(name)["faults"] == []
