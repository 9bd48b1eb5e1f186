"""Every benchmark runs, on a few cases, and what it stores can be turned into tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import hard_sets, record, report, speed
from benchmarks.peers import entries, measure, work_precision
from benchmarks.peers import table as peers_table
from benchmarks.peers.environments import Environment
from benchmarks.peers.tasks import TASKS
from tests.free import expression_errors
from tests.free.expressions import generate, generate_with_matrix
from tests.laws import stress
from tests.laws.stress_errors import DIGITS_LIMITS, LIMITS, digits_errors, stress_errors


def test_a_small_run_of_the_hard_sets_has_no_faults_and_counts_every_set() -> None:
    result = hard_sets.measure(stress_errors, LIMITS, stress.generate(6, 0), workers=1)
    assert result["faults"] == []
    assert sum(part["sets"] for part in result["strata"].values()) == 6


def test_a_small_run_against_forty_digits_covers_every_method() -> None:
    result = hard_sets.measure(digits_errors, DIGITS_LIMITS, stress.generate(3, 0), workers=1)
    for part in result["strata"].values():
        assert part["raised"] == []
        assert {"w", "1 − w/w(0)", "density", "cdf", "quantile", "edges", "moments 1 to 8"} <= set(part["columns"])


def test_a_small_run_of_the_expressions_has_no_faults_and_names_those_of_a_wrong_law(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    result = hard_sets.measure(expression_errors.law_errors, expression_errors.LIMITS, generate(6, 1), workers=1)
    assert (result["count"], result["faults"]) == (6, [])
    matrices = generate_with_matrix(2, 1)
    result = hard_sets.measure(expression_errors.matrix_errors, expression_errors.MATRIX_LIMITS, matrices, workers=1)
    assert result["faults"] == []
    monkeypatch.setattr(expression_errors, "matrix_eigenvalues", lambda node, n, rng: rng.normal(node.mean, 1.0, n))
    result = hard_sets.measure(expression_errors.matrix_errors, expression_errors.MATRIX_LIMITS, matrices, workers=1)
    assert len(result["faults"]) >= 1  # negative control


def test_a_small_run_of_the_speed_benchmark_measures_right_numbers() -> None:
    density, ridge = speed.measure_density(count=2, seed=0), speed.measure_ridge(count=1, seed=0)
    assert density["worst_residual"] < 1e-12
    assert density["density_positive_everywhere"]
    assert ridge["batch_us_per_root"]["smallest"] > 0
    assert speed.measure_gradients(count=1, seed=0)["worst_difference"] < 1e-9
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
    measured = hard_sets.measure(stress_errors, LIMITS, stress.generate(3, 0), 1)
    record.write("stress", {"seed": 0, "sets": measured}, str(tmp_path / "stress.json"))
    table = report.accuracy_table("stress")
    assert table[0].startswith("| relative error")
    assert len(table) == 4 + len(measured["strata"]["tie"]["columns"])


def test_the_committed_results_have_no_faults() -> None:
    counts = {("stress", "sets"): 10_000, ("accuracy", "sets"): 60}
    counts |= {("expressions", "sets"): 2000, ("expressions", "matrices"): 30}
    for (name, kind), count in counts.items():
        assert (report.load(name)[kind]["count"], report.load(name)[kind]["faults"]) == (count, [])
    for task in report.load("peers")["tasks"].values():
        assert task["contestants"][entries.OWN.name]["success"]


WRONG = """
import numpy as np

PACKAGES = ("numpy",)
SETTINGS = [{"settings": {}}]


def solve(law, x):
    return np.full(x.shape, 0.1), [[1.0, 2.0]]
"""


def test_a_small_comparison_with_peers_judges_right_and_wrong_contestants(tmp_path: Path) -> None:
    """Negative controls: wrong densities, one that raises, one that ends, and one that cannot be installed."""
    for name, text in {
        "wrong": WRONG,
        "raises": WRONG.replace("return", "raise ValueError('no law')\n    return"),
        "ends": WRONG.replace("return", "raise SystemExit('gone')\n    return"),
    }.items():
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    failing = [entries.Contestant(name, tmp_path / f"{name}.py") for name in ("wrong", "raises", "ends")]
    (tmp_path / "nowhere").touch()  # a file where the folder of an environment would be
    absent = entries.Contestant("absent", tmp_path / "wrong.py", Environment("nowhere", ("numpy",)))
    contestants = (entries.OWN, entries.COMPANION, *failing, absent)
    result = measure.measure(contestants, rounds=1, points=30, seed=0, folder=tmp_path, curves=False)
    for task in result["tasks"].values():
        rows = task["contestants"]
        assert list(rows) == [one.name for one in contestants[:-1]]
        for one in contestants[:2]:
            assert rows[one.name]["success"], rows[one.name]["message"]
            assert rows[one.name]["worst_inside"] < 1e-10
            assert rows[one.name]["warm_s"]["smallest"] > 0
        assert rows[entries.OWN.name]["ratio"] == 1.0
        assert rows[entries.OWN.name]["edges"] == "right"
        assert rows[entries.OWN.name]["mass_error"] < 1e-8
        assert rows[entries.COMPANION.name]["edges"] == "not given"
        assert not any(rows[one.name]["success"] for one in failing)
        assert "density wrong" in rows["wrong"]["message"]
        assert "mass wrong" in rows["wrong"]["message"]
        assert rows["wrong"]["edges"].startswith("wrong")
        assert rows["raises"]["message"] == "ValueError: no law"
        assert rows["ends"]["message"] == "gone"
    assert list(result["absent"]) == ["absent"]
    assert "no virtual environment" in result["absent"]["absent"]
    table = "\n".join(peers_table.peers_table(result))
    assert all(one.name in table for one in contestants)


def test_errors_against_time_have_every_setting_and_become_a_figure(tmp_path: Path) -> None:
    question = measure.Question.of(TASKS["product"], count=20, seed=0)
    curve = measure.work_precision(question, entries.OWN, tmp_path)
    assert [entry["settings"] for entry in curve] == [{}, *({"digits": n} for n in (15, 20, 30, 40))]
    assert curve[0]["worst_inside"] < 1e-10
    assert all("message" in entry for entry in curve[1:])
    result = {"tasks": {"product": {"title": "a law"}, "other": {"title": "another"}}}
    result["work_precision"] = {"product": {entries.OWN.name: curve}, "other": {"unknown": curve}}
    figure = work_precision.figure_of(result)
    assert [len(ax.lines) for ax in figure.axes] == [1, 1]
    assert [len(ax.lines[0].get_xdata()) for ax in figure.axes] == [1, 1]


def test_points_and_edges_of_the_law_tasks() -> None:
    """The density starts and ends at the edges, which come from critical points of the curve."""
    import numpy as np

    for task in TASKS.values():
        x = task.points(300, seed=1)
        ends = np.array(task.support)
        assert ((x[:, None] > ends[:, 0]) & (x[:, None] < ends[:, 1])).any(1).all()
        assert (np.abs(x[:, None] / ends.ravel() - 1).min(1) < 1.1e-6).sum() >= 100
        for low, high in task.support:
            assert float(task.density(low * (1 - 1e-9))) == 0.0 < float(task.density(low * (1 + 1e-9)))
            assert float(task.density(high * (1 + 1e-9))) == 0.0 < float(task.density(high * (1 - 1e-9)))
