"""Plots: Axes and Figures without pyplot, areas that are shares of eigenvalues, labels that say the units. Seed 0."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.patches import StepPatch

from rmt_attention import AttentionLayer, GaussianInputs, compare, laws, limit_law, sample_spectrum
from rmt_attention.experiments.verify import verify
from rmt_attention.experiments.verify_figure import plot_verify
from rmt_attention.law_table import log_span
from rmt_attention.plotting import (
    check_figure_path,
    new_figure,
    plot_comparison,
    plot_law,
    plot_spectrum,
    save_figure,
)

LAYER = AttentionLayer(64, 64, heads=4, d_key=16, d_out=48, beta=0.7)
SAMPLES = sample_spectrum(LAYER, "output", ("softmax", "gaussian"), replicates=4)
LAW = limit_law(LAYER)

PLOTTED = {
    "atom": laws.output_law(0.9, 3, 0.75, 1.25, 0.75),
    "gap": laws.attention_law(1.0, 4, 0.3),
    "gap and divergence": laws.attention_law(1.0, 1, 0.1),
    "divergence": laws.output_law(1.0, 1, 1.0, 1.0, 1.0),
    "three bulks and an atom": laws.compound_poisson_law((1.0, 3.0, 10.0), 0.1, (0.2, 0.4, 0.4)),
    "tied": laws.tied_output_law(0.7, 3, 0.6, 0.8),
    "tiny": laws.output_law(0.9, 3, 0.75, 1.25, 0.75).scaled(1e-6),
}


def _legend(ax: Axes) -> list[str]:
    return ax.get_legend_handles_labels()[1]


def _stairs(ax: Axes) -> StepPatch:
    (patch,) = [patch for patch in ax.patches if isinstance(patch, StepPatch)]
    return patch


def _atoms(ax: Axes) -> Axes | None:
    """The axis of masses beside these axes."""
    found = [one for one in ax.get_shared_x_axes().get_siblings(ax) if one is not ax]
    return found[0] if found else None


def _stems(ax: Axes) -> list[tuple[float, float, str]]:
    """Location, height and text of each stem, in the order in which they were drawn."""
    side = _atoms(ax)
    assert side is not None
    return [
        (float(line.get_xdata()[0]), float(line.get_ydata()[1]), text.get_text())  # type: ignore[index, arg-type]
        for line, text in zip(side.lines, side.texts, strict=True)
    ]


def _pixels(ax: Axes) -> list[tuple[float, float]]:
    """Where the tops of the stems are drawn, as shares of the width and height of the axes."""
    side = _atoms(ax)
    assert side is not None
    ax.figure.canvas.draw()
    tops = [line.get_transform().transform(line.get_xydata())[1] for line in side.lines]
    return [tuple(ax.transAxes.inverted().transform(top)) for top in tops]


# Laws ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", ["log", "linear"])
@pytest.mark.parametrize("name", PLOTTED)
def test_the_area_under_a_law_is_the_share_of_eigenvalues_off_its_atom(name: str, scale: str) -> None:
    law = PLOTTED[name]
    ax = plot_law(law, scale=scale)
    atom = sum(one.mass for one in law.atoms)
    area = 0.0
    for line in ax.lines:
        x, y = np.asarray(line.get_xdata(), dtype=float), np.asarray(line.get_ydata(), dtype=float)
        area += float(np.trapezoid(y, np.log(x) if scale == "log" else x))
        np.testing.assert_allclose(y, law.density(x) * (x if scale == "log" else 1), rtol=1e-12)
    assert len(ax.lines) == len(law.support)
    assert area == pytest.approx(1 - atom, abs=2.5e-3)  # at most 1e-3 is cut off below


@pytest.mark.parametrize("scale", ["log", "linear"])
@pytest.mark.parametrize("name", ["gap", "gap and divergence", "three bulks and an atom"])
def test_no_line_crosses_a_gap_and_lines_end_at_0_on_the_edges(name: str, scale: str) -> None:
    law = PLOTTED[name]
    ax = plot_law(law, scale=scale)
    assert len(law.support) > 1
    for line, (low, high) in zip(ax.lines, law.support, strict=True):
        x, y = np.asarray(line.get_xdata(), dtype=float), np.asarray(line.get_ydata(), dtype=float)
        assert low <= x.min() < x.max() == high
        assert y[-1] == 0
        if low > 0:
            assert (x[0], y[0]) == (low, 0)


@pytest.mark.parametrize(
    ("name", "scale"),
    [
        ("gap", "linear"),
        ("atom", "log"),  # spans 3.4 decades
        ("three bulks and an atom", "linear"),
        ("divergence", "log"),
        ("gap and divergence", "log"),
        ("tied", "log"),  # spans 3.5 decades
        ("tiny", "log"),
    ],
)
def test_axes_are_logarithmic_where_the_law_diverges_or_spans_three_decades(name: str, scale: str) -> None:
    law = PLOTTED[name]
    assert plot_law(law).get_xscale() == scale
    for asked in ("log", "linear"):
        assert plot_law(law, scale=asked).get_xscale() == asked


@pytest.mark.parametrize("held", ["log", "linear"])
def test_axes_that_hold_data_keep_their_scale(held: str) -> None:
    for name in ("gap", "tied", "divergence"):
        for first in (
            lambda ax: plot_law(PLOTTED["atom"], ax, scale=held),
            lambda ax: plot_spectrum(SAMPLES["gaussian"], ax, scale=held),
        ):
            ax = first(new_figure().add_subplot())
            label = ax.get_ylabel()
            plot_law(PLOTTED[name], ax)
            plot_spectrum(SAMPLES["softmax"], ax)
            assert (ax.get_xscale(), ax.get_ylabel()) == (held, label)
            other = "linear" if held == "log" else "log"
            for draw in (plot_law, plot_spectrum):
                with pytest.raises(ValueError, match=rf"scale='{other}': must be '{held}' on axes that hold data"):
                    draw(LAW if draw is plot_law else SAMPLES["softmax"], ax, scale=other)  # type: ignore[operator]


@pytest.mark.parametrize("scale", ["symlog", "", None, 1])
def test_an_unknown_scale_is_refused(scale: object) -> None:
    for draw, what in ((plot_law, LAW), (plot_spectrum, SAMPLES["softmax"])):
        with pytest.raises(ValueError, match=r"scale=.*: must be one of auto, log, linear"):
            draw(what, scale=scale)  # type: ignore[operator]


@pytest.mark.parametrize("scale", ["log", "linear"])
@pytest.mark.parametrize("name", PLOTTED)
def test_the_vertical_axis_starts_at_0_and_shows_the_bulk(name: str, scale: str) -> None:
    law = PLOTTED[name]
    ax = plot_law(law, scale=scale)
    plot_law(law.scaled(2.0), ax)
    low, high = ax.get_ylim()
    assert low == 0
    x = law.quantile(np.linspace(0.3, 0.9, 7) * (1 - LAW.atoms[0].mass) + LAW.atoms[0].mass)
    x = x[x > 0]
    assert (law.density(x) * (x if scale == "log" else 1)).max() < high
    if law.support[0][0] > 0:
        assert max(float(np.max(line.get_ydata())) for line in ax.lines) < high


def test_one_law_has_one_entry_in_the_legend() -> None:
    assert _legend(plot_law(PLOTTED["atom"])) == ["limiting law"]
    assert _legend(plot_law(PLOTTED["gap"], label="mine")) == ["mine"]  # two bulks, one entry


def test_a_law_is_drawn_on_the_axes_it_is_given_and_keeps_the_style() -> None:
    ax = new_figure().add_subplot()
    assert plot_law(LAW, ax, color="red", linestyle="--", linewidth=3) is ax
    assert (ax.lines[0].get_color(), ax.lines[0].get_linestyle(), ax.lines[0].get_linewidth()) == ("red", "--", 3)
    assert isinstance(plot_law(LAW), Axes)
    assert plot_law(LAW) is not ax


# Spectra -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("low", [None, 0.05, 1.0])
@pytest.mark.parametrize("bins", [7, 60])
def test_the_area_of_a_histogram_is_one_less_atom_and_what_is_outside(low: float | None, bins: int) -> None:
    sample = SAMPLES["gaussian"]
    patch = _stairs(plot_spectrum(sample, scale="log", low=low, bins=bins))
    values, edges, _ = patch.get_data()
    assert len(values) == bins
    pooled = np.concatenate([law.eigenvalues for law in sample])
    atom = (pooled == 0).mean()
    assert atom == 0.25
    outside = ((pooled > 0) & (pooled < edges[0])).mean()
    assert float((values * np.diff(np.log(edges))).sum()) == pytest.approx(1 - atom - outside, rel=1e-12)
    counts = np.histogram(pooled[pooled > 0], edges)[0] / pooled.size
    np.testing.assert_allclose(values * np.diff(np.log(edges)), counts, rtol=1e-12)


def test_the_largest_eigenvalue_is_never_outside() -> None:
    _, edges, _ = _stairs(plot_spectrum(SAMPLES["softmax"])).get_data()
    pooled = SAMPLES["softmax"].pooled().eigenvalues
    assert edges[0] <= pooled[pooled > 0].min()
    assert pooled.max() < edges[-1]


@pytest.mark.parametrize("bins", [7, 60])
def test_the_area_of_a_linear_histogram_is_that_of_its_eigenvalues_too(bins: int) -> None:
    ax = plot_spectrum(SAMPLES["gaussian"], scale="linear", bins=bins)
    values, edges, _ = _stairs(ax).get_data()
    assert ax.get_xscale() == "linear"
    assert float((values * np.diff(edges)).sum()) == pytest.approx(0.75, rel=1e-12)
    np.testing.assert_allclose(np.diff(edges), np.diff(edges)[0])


def test_histograms_are_logarithmic_if_eigenvalues_span_three_decades() -> None:
    narrow = sample_spectrum(LAYER, "attention", "gaussian", replicates=2)
    values = narrow.pooled().eigenvalues
    assert values.max() < 1000 * values.min()
    assert plot_spectrum(narrow).get_xscale() == "linear"
    assert plot_spectrum(narrow, scale="log").get_xscale() == "log"
    wide = sample_spectrum(LAYER.replace(d_out=64), "output", "gaussian", replicates=2)
    values = wide.pooled().eigenvalues
    assert values.max() > 1000 * values.min()
    assert plot_spectrum(wide).get_xscale() == "log"


@pytest.mark.parametrize("options", [{"low": 0.0}, {"low": -1.0}, {"bins": [0.0, 1.0, 20.0]}, {"bins": 0}])
def test_bins_that_are_not_on_a_logarithmic_axis_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"low=|bins"):
        plot_spectrum(SAMPLES["gaussian"], scale="log", **options)  # type: ignore[arg-type]


def test_spectra_are_named_by_their_model() -> None:
    assert _legend(plot_spectrum(SAMPLES["softmax"])) == ["softmax"]
    assert _legend(plot_spectrum(SAMPLES["gaussian"])) == ["Gaussian equivalent"]
    wide = sample_spectrum(LAYER.replace(d_out=64), "output", "exponential")
    assert _legend(plot_spectrum(wide)) == ["exponential"]
    assert _legend(plot_spectrum(wide, label="other")) == ["other"]


@pytest.mark.parametrize("scale", ["log", "linear"])
def test_a_spectrum_and_its_law_have_the_same_units(scale: str) -> None:
    """Histogram and curve of the Gaussian equivalent differ by less than 15 % of the peak; a factor would not pass."""
    sample = sample_spectrum(LAYER, "output", "gaussian", replicates=200)
    ax = plot_spectrum(sample, scale=scale, low=log_span(LAW)[0], bins=15)
    plot_law(LAW, ax)
    values, edges, _ = _stairs(ax).get_data()
    width = np.diff(np.log(edges)) if scale == "log" else np.diff(edges)
    shares = np.diff(LAW.cdf(edges)) / width
    assert np.abs(values - shares).max() < 0.15 * shares.max()
    assert np.abs(1.5 * values - shares).max() > 0.15 * shares.max()  # negative control


@pytest.mark.parametrize("draw", [plot_law, plot_spectrum])
def test_axes_say_what_is_counted_and_how(draw: object) -> None:
    for scale, unit in {"log": "share per unit of ln x", "linear": "share per unit of x"}.items():
        ax = draw(LAW if draw is plot_law else SAMPLES["softmax"], scale=scale)  # type: ignore[operator]
        assert "squared singular value" in ax.get_xlabel()
        assert "all n counted" in ax.get_xlabel()
        assert unit in ax.get_ylabel()


@pytest.mark.parametrize(("name", "least"), [("gap", 5), ("gap and divergence", 4), ("tiny", 3)])
def test_a_logarithmic_axis_has_several_labelled_ticks(name: str, least: int) -> None:
    ax = plot_law(PLOTTED[name], scale="log")
    ax.figure.canvas.draw()
    low, high = ax.get_xlim()
    shown = [tick for tick in ax.xaxis.get_major_ticks() if low <= tick.get_loc() <= high and tick.label1.get_text()]
    assert len(shown) >= least
    boxes = [tick.label1.get_window_extent() for tick in shown]
    assert not any(one.overlaps(other) for one, other in zip(boxes[1:], boxes[:-1], strict=True))


# Atoms ---------------------------------------------------------------------------------------------------------------


def test_an_atom_is_a_stem_as_high_as_its_mass_on_an_axis_from_0_to_1() -> None:
    ax = plot_law(PLOTTED["atom"], scale="linear")
    side = _atoms(ax)
    assert side is not None
    assert (side.get_ylim(), side.get_ylabel()) == ((0, 1), "mass of atoms")
    assert _stems(ax) == [(0.0, pytest.approx(0.25), "atom 0.25")]
    ((x, y),) = _pixels(ax)
    assert y == pytest.approx(0.25)
    assert x == pytest.approx(ax.transAxes.inverted().transform(ax.transData.transform((0, 0)))[0])
    assert 0 < x < 0.1


def test_on_a_logarithmic_axis_the_stem_stands_at_the_left_border_and_says_where_it_is() -> None:
    ax = plot_law(PLOTTED["atom"], scale="log")
    assert _stems(ax) == [(0.0, pytest.approx(0.25), "atom at 0: 0.25")]
    ((x, y),) = _pixels(ax)
    assert y == pytest.approx(0.25)
    edge = ax.transAxes.inverted().transform(ax.transData.transform((PLOTTED["atom"].edges[0], 0)))[0]
    assert 0 < x < edge < 0.15


def test_without_atoms_there_is_no_axis_of_masses() -> None:
    for scale in ("log", "linear"):
        assert _atoms(plot_law(PLOTTED["gap"], scale=scale)) is None
        sample = sample_spectrum(LAYER.replace(d_out=64), replicates=2)
        assert _atoms(plot_spectrum(sample, scale=scale)) is None
    figure = plot_law(PLOTTED["gap"]).figure
    assert len(figure.axes) == 1


@pytest.mark.parametrize("scale", ["log", "linear"])
def test_atoms_of_samples_and_of_their_law_are_all_visible_and_told_apart(scale: str) -> None:
    ax = new_figure().add_subplot()
    for sample in SAMPLES.values():
        plot_spectrum(sample, ax, scale=scale)
    plot_law(LAW, ax)
    side = _atoms(ax)
    assert side is not None
    assert len(ax.figure.axes) == 2
    assert [(location, height) for location, height, _ in _stems(ax)] == [(0.0, pytest.approx(0.25))] * 3
    assert [line.get_color() for line in side.lines] == ["#0072B2", "#D55E00", "#111111"]
    assert [text.get_color() for text in side.texts] == ["#0072B2", "#D55E00", "#111111"]
    assert [line.get_marker() for line in side.lines] == ["s", "s", "o"]
    assert len({round(x, 2) for x, _ in _pixels(ax)}) == 3
    boxes = [text.get_window_extent() for text in side.texts]
    border = ax.get_window_extent()
    for index, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:index])
        assert border.x0 < box.x0
        assert box.y1 < border.y1
        for line in side.lines:  # texts stand between stems
            stem = line.get_transform().transform(line.get_xydata())[0][0]
            assert not box.x0 < stem < box.x1


def test_the_texts_of_atoms_stay_clear_of_the_curves() -> None:
    for scale in ("log", "linear"):
        ax = plot_law(LAW, scale=scale)
        side = _atoms(ax)
        assert side is not None
        ax.figure.canvas.draw()
        assert side.texts[0].get_window_extent().x1 < ax.transData.transform((LAW.edges[0], 0))[0]


def test_atoms_have_the_colour_of_their_curve() -> None:
    side = _atoms(plot_law(PLOTTED["atom"], color="red"))
    assert side is not None
    assert (side.lines[0].get_color(), side.texts[0].get_color()) == ("red", "red")


def test_each_of_two_panels_that_share_an_axis_has_its_own_masses() -> None:
    figure = new_figure()
    upper, lower = figure.subplots(2, sharex=True)
    for ax in (upper, lower):
        plot_law(PLOTTED["atom"], ax)
    assert len(figure.axes) == 4
    assert [len(side.lines) for side in figure.axes[2:]] == [1, 1]


# Comparisons ---------------------------------------------------------------------------------------------------------


def test_differences_of_w_are_drawn_with_their_student_intervals() -> None:
    comparisons = {model: compare(sample, LAW) for model, sample in SAMPLES.items()}
    ax = plot_comparison(comparisons)
    bars = [one for one in ax.containers if isinstance(one, ErrorbarContainer)]
    assert [bar.get_label() for bar in bars] == ["softmax", "Gaussian equivalent"]
    for bar, comparison in zip(bars, comparisons.values(), strict=True):
        points, _, (segments,) = bar.lines
        rows = comparison.degrees_of_freedom
        np.testing.assert_allclose(np.asarray(points.get_ydata(), dtype=float), [row.difference.value for row in rows])
        np.testing.assert_allclose(np.asarray(points.get_xdata(), dtype=float), [row.ridge for row in rows], rtol=0.1)
        ends = np.array([np.asarray(segment, dtype=float)[:, 1] for segment in segments.get_segments()])
        np.testing.assert_allclose(ends, [row.difference.interval() for row in rows])
    assert "ridge" in ax.get_xlabel()
    assert "w = ∫ x/(x+λ) dν" in ax.get_ylabel()


def test_every_comparison_given_is_drawn() -> None:
    models = ("softmax", "exponential", "gaussian-covariance", "gaussian")
    samples = sample_spectrum(LAYER, "output", models, replicates=2)
    ax = plot_comparison({model: compare(sample, LAW) for model, sample in samples.items()})
    assert len([one for one in ax.containers if isinstance(one, ErrorbarContainer)]) == len(models)


# The figure of the main job ------------------------------------------------------------------------------------------


def test_the_figure_of_the_main_job_has_spectra_and_differences() -> None:
    figure = plot_verify(verify(LAYER, replicates=2))
    assert isinstance(figure, Figure)
    spectra, differences, _ = figure.axes
    assert _legend(spectra) == ["softmax", "Gaussian equivalent", "limiting law"]
    assert [text for _, _, text in _stems(spectra)] == ["atom at 0: 0.25"] * 3
    assert spectra.get_xscale() == "log"
    assert _legend(differences) == ["softmax", "Gaussian equivalent"]
    assert "n=64, d=64, h=4, d_key=16, d_value=16, β=0.7, d_out=48; 2 draws" in spectra.get_title()
    figure.canvas.draw()  # no missing glyph: warnings are errors


def test_without_a_law_the_figure_shows_spectra_alone() -> None:
    figure = plot_verify(verify(LAYER.replace(inputs=GaussianInputs()), replicates=2))
    spectra = figure.axes[0]
    assert _legend(spectra) == ["softmax", "Gaussian equivalent"]
    assert len(_stems(spectra)) == 2
    figure.canvas.draw()


# Files ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("suffix", "start"), [(".png", b"\x89PNG"), (".pdf", b"%PDF"), (".svg", b"<?xml"), (".PNG", b"\x89PNG")]
)
def test_figures_are_written_in_the_format_of_the_ending(tmp_path: Path, suffix: str, start: bytes) -> None:
    ax = plot_law(LAW)
    figure = ax.figure
    assert isinstance(figure, Figure)
    save_figure(figure, tmp_path / f"law{suffix}")
    assert (tmp_path / f"law{suffix}").read_bytes().startswith(start)
    assert [path.name for path in tmp_path.iterdir()] == [f"law{suffix}"]


@pytest.mark.parametrize("name", ["law.gif", "law", "law.png.txt", ".png"])
def test_other_endings_are_refused_before_anything_is_written(tmp_path: Path, name: str) -> None:
    for function in (lambda path: save_figure(new_figure(), path), check_figure_path):
        with pytest.raises(ValueError, match=r"plot=.*must end in \.png, \.pdf, \.svg"):
            function(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_figure_that_fails_half_way_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "law.png"
    path.write_bytes(b"old")

    def half_way(self: Figure, stream: object, **options: object) -> None:
        stream.write(b"\x89PNG")  # type: ignore[attr-defined]
        raise RuntimeError("disk full")

    monkeypatch.setattr(Figure, "savefig", half_way)
    with pytest.raises(RuntimeError, match="disk full"):
        save_figure(new_figure(), path)
    assert path.read_bytes() == b"old"
    assert [one.name for one in tmp_path.iterdir()] == ["law.png"]


def test_plots_work_without_pyplot_and_without_a_display(tmp_path: Path) -> None:
    script = f"""
import os, sys
os.environ.pop("DISPLAY", None)
os.environ["MPLBACKEND"] = "TkAgg"
from rmt_attention import AttentionLayer, limit_law, sample_spectrum
from rmt_attention.experiments.verify import verify
from rmt_attention.experiments.verify_figure import plot_verify
from rmt_attention.law_table import log_span
from rmt_attention.plotting import plot_law, plot_spectrum, save_figure
layer = AttentionLayer(32, 32, heads=2)
plot_spectrum(sample_spectrum(layer), plot_law(limit_law(layer)))
save_figure(plot_verify(verify(layer, replicates=2)), {str(tmp_path / "a.png")!r})
assert "matplotlib.pyplot" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True)
    assert (tmp_path / "a.png").stat().st_size > 1000


def test_the_law_of_singular_values_is_labelled_as_such_and_short_style_names_work() -> None:
    axes = plot_law(laws.attention_law(1.0, 4, 2.0).singular_values(), lw=3, c="red")
    assert axes.get_xlabel() == "singular value s (all n counted)"
    assert axes.get_ylabel() == "density  (share per unit of s)"
    assert (axes.lines[0].get_linewidth(), axes.lines[0].get_color()) == (3, "red")
