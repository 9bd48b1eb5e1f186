"""The report on the law of one layer, and its figure."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from matplotlib.figure import Figure

from rmt_attention import AttentionLayer, GaussianInputs, UnsupportedLayerError, limit_law
from rmt_attention.experiments.law import LawReport, law_report
from rmt_attention.experiments.law_figure import plot_law_report

LAYER = AttentionLayer(64, 64, heads=4, d_key=16, d_out=48, beta=0.7)
LAW = limit_law(LAYER)


@pytest.fixture(scope="module")
def report() -> LawReport:
    return law_report(LAYER, points=60)


def test_every_number_is_that_of_the_law(report: LawReport) -> None:
    assert report.moments == tuple(LAW.moment(k) for k in (1, 2, 3, 4))
    assert report.mean_one_moments == pytest.approx([LAW.moment(k) / LAW.mean**k for k in (1, 2, 3, 4)])
    assert [q for q, _ in report.quantiles] == [0.01, 0.1, 0.5, 0.9, 0.99]
    assert [x for _, x in report.quantiles[:2]] == [0, 0]  # within the atom
    assert LAW.cdf([x for _, x in report.quantiles[2:]]) == pytest.approx([0.5, 0.9, 0.99], rel=1e-12)
    assert [ridge / LAW.mean for ridge, _ in report.degrees_of_freedom] == pytest.approx([0.01, 0.05, 0.2, 1, 5])
    for ridge, w in report.degrees_of_freedom:
        assert w == pytest.approx(LAW.expectation(lambda x, ridge=ridge: x / (x + ridge)), rel=1e-9)  # type: ignore[misc]


def test_the_mean_one_report_is_that_of_the_law_divided_by_its_mean(report: LawReport) -> None:
    normalized = law_report(LAYER, normalized=True, points=60)
    assert normalized.normalized
    assert normalized.moments == pytest.approx(report.mean_one_moments)
    assert normalized.mean_one_moments == pytest.approx(report.mean_one_moments)
    scale = LAW.mean
    np.testing.assert_allclose(normalized.table.x * scale, report.table.x)
    np.testing.assert_allclose(normalized.table.density / scale, report.table.density, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(normalized.table.cdf, report.table.cdf, atol=1e-9)
    for (_, x), (_, y) in zip(normalized.quantiles, report.quantiles, strict=True):
        assert x * scale == pytest.approx(y)
    for (_, w), (_, v) in zip(normalized.degrees_of_freedom, report.degrees_of_freedom, strict=True):
        assert w == pytest.approx(v)


def test_the_report_is_plain_data_with_a_schema(report: LawReport) -> None:
    data = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert (data["schema"], data["kind"], data["observable"], data["normalized"]) == (1, "law", "output", False)
    assert AttentionLayer.from_dict(data["layer"]) == LAYER
    law = data["law"]
    assert law["atoms"] == [{"location": 0.0, "mass": 0.25}]
    assert (law["edges"], law["support"]) == (list(LAW.edges), [list(one) for one in LAW.support])
    assert law["mean_one_second_moment"] == pytest.approx(LAW.moment(2) / LAW.mean**2)
    assert [one["q"] for one in law["quantiles"]] == [0.01, 0.1, 0.5, 0.9, 0.99]
    assert len(law["degrees_of_freedom"]) == 5
    assert data["table"]["cdf"] == report.table.cdf.tolist()


def test_csv_gives_the_same_numbers_back(report: LawReport) -> None:
    stream = io.BytesIO()
    report.write_csv(stream)
    assert stream.getvalue().startswith(b"x,density,x_density,cdf\n")
    rows = np.loadtxt(io.BytesIO(stream.getvalue()), delimiter=",", skiprows=1)
    np.testing.assert_array_equal(rows, np.column_stack(list(report.table.columns().values())))


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"observable": "scores"}, "observable='scores'"),
        ({"points": 1}, "points=1"),
        ({"layer": 3}, "layer=3"),
    ],
)
def test_arguments_out_of_range_are_refused_by_name(arguments: dict[str, object], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        law_report(**{"layer": LAYER, **arguments})  # type: ignore[arg-type]


def test_a_layer_without_a_law_is_refused() -> None:
    with pytest.raises(UnsupportedLayerError, match="inputs="):
        law_report(LAYER.replace(inputs=GaussianInputs()))


# The figure ----------------------------------------------------------------------------------------------------------


def test_the_figure_names_the_layer_and_leaves_room_for_its_legend(report: LawReport) -> None:
    figure = plot_law_report(report)
    assert isinstance(figure, Figure)
    axes, side = figure.axes
    assert axes.get_title() == (
        "output: n=64, d=64, h=4, d_key=16, d_value=16, β=0.7, d_out=48\nnothing shared, orthonormal inputs"
    )
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == [f"limiting law, mean {LAW.mean:.5g}"]
    assert side.get_ylabel() == "mass of atoms"
    figure.canvas.draw()
    bottom = axes.transData.inverted().transform(legend.get_window_extent())[0][1]
    assert max(float(np.max(line.get_ydata())) for line in axes.lines) < bottom
    assert axes.get_ylim()[0] == 0


def test_the_figure_of_the_mean_one_law_says_so() -> None:
    axes = plot_law_report(law_report(LAYER, "attention", normalized=True)).axes[0]
    assert "over the mean" in axes.get_xlabel()
    assert axes.get_title().startswith("attention: ")
    assert "over the mean" not in plot_law_report(law_report(LAYER, "attention")).axes[0].get_xlabel()


def test_the_fill_stays_out_of_gaps() -> None:
    law = law_report(AttentionLayer(640, 640, heads=4, d_key=48), "attention")
    axes = plot_law_report(law).axes[0]
    (_, low), (high, _) = law.law.support
    assert len(axes.collections) == 2
    for one in axes.collections:
        x = one.get_paths()[0].vertices[:, 0]
        assert (x <= low).all() or (x >= high).all()
