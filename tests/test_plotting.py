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
from rmt_attention.plotting import (
    check_figure_path,
    log_span,
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
    "two bulks and an atom": laws.compound_poisson_law((1.0, 3.0, 10.0), 0.1, (0.2, 0.4, 0.4)),
    "tied": laws.tied_output_law(0.7, 3, 0.6, 0.8),
    "tiny": laws.output_law(0.9, 3, 0.75, 1.25, 0.75).scaled(1e-6),
}


def _legend(ax: Axes) -> list[str]:
    return ax.get_legend_handles_labels()[1]


def _stairs(ax: Axes) -> StepPatch:
    (patch,) = [patch for patch in ax.patches if isinstance(patch, StepPatch)]
    return patch


# Laws ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PLOTTED)
def test_the_area_under_a_law_is_the_share_of_eigenvalues_off_its_atom(name: str) -> None:
    law = PLOTTED[name]
    ax = plot_law(law)
    atom = sum(one.mass for one in law.atoms)
    area = 0.0
    for line in ax.lines:
        x, y = np.asarray(line.get_xdata(), dtype=float), np.asarray(line.get_ydata(), dtype=float)
        area += float(np.trapezoid(y, np.log(x)))
        np.testing.assert_allclose(y, x * law.density(x), rtol=1e-12)
    assert len(ax.lines) == len(law.support)
    assert area == pytest.approx(1 - atom, abs=2.5e-3)  # at most 1e-3 is cut off below


@pytest.mark.parametrize("name", PLOTTED)
def test_the_drawn_span_leaves_out_at_most_a_thousandth_of_the_mass(name: str) -> None:
    law = PLOTTED[name]
    low, high = log_span(law)
    assert 0 < low < high == law.support[-1][1]
    atom = sum(one.mass for one in law.atoms)
    assert float(law.cdf(low)) - atom <= 1.5e-3


def test_an_atom_is_named_in_the_legend_and_only_if_there_is_one() -> None:
    assert _legend(plot_law(PLOTTED["atom"])) == ["limiting law (+ atom 0.25 at 0)"]
    assert _legend(plot_law(PLOTTED["divergence"])) == ["limiting law"]
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
    patch = _stairs(plot_spectrum(sample, low=low, bins=bins))
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


def test_spectra_are_named_by_their_model_with_their_atom() -> None:
    assert _legend(plot_spectrum(SAMPLES["softmax"])) == ["softmax (+ atom 0.25 at 0)"]
    assert _legend(plot_spectrum(SAMPLES["gaussian"])) == ["Gaussian equivalent (+ atom 0.25 at 0)"]
    wide = sample_spectrum(LAYER.replace(d_out=64), "output", "exponential")
    assert _legend(plot_spectrum(wide)) == ["exponential"]
    assert _legend(plot_spectrum(wide, label="other")) == ["other"]


def test_a_spectrum_and_its_law_have_the_same_units() -> None:
    """Histogram and curve of the Gaussian equivalent differ by less than 15 % of the peak; a factor would not pass."""
    sample = sample_spectrum(LAYER, "output", "gaussian", replicates=200)
    ax = plot_spectrum(sample, low=log_span(LAW)[0], bins=15)
    plot_law(LAW, ax)
    values, edges, _ = _stairs(ax).get_data()
    shares = np.diff(LAW.cdf(edges)) / np.diff(np.log(edges))
    assert np.abs(values - shares).max() < 0.15 * shares.max()
    assert np.abs(1.5 * values - shares).max() > 0.15 * shares.max()  # negative control


@pytest.mark.parametrize("draw", [lambda ax: plot_law(LAW, ax), lambda ax: plot_spectrum(SAMPLES["softmax"], ax)])
def test_axes_say_what_is_counted_and_how(draw: object) -> None:
    ax = draw(new_figure().add_subplot())  # type: ignore[operator]
    assert "squared singular value" in ax.get_xlabel()
    assert "all n counted" in ax.get_xlabel()
    assert "share per unit of ln x" in ax.get_ylabel()
    assert ax.get_xscale() == "log"


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
    spectra, differences = figure.axes
    labels = _legend(spectra)
    assert [label.split(" (")[0] for label in labels] == ["softmax", "Gaussian equivalent", "limiting law"]
    assert all("(+ atom 0.25 at 0)" in label for label in labels)
    assert _legend(differences) == ["softmax", "Gaussian equivalent"]
    assert "n=64, h=4, d_key=16, d_value=16, β=0.7, d_out=48; 2 draws" in spectra.get_title()
    figure.canvas.draw()  # no missing glyph: warnings are errors


def test_without_a_law_the_figure_shows_spectra_alone() -> None:
    figure = plot_verify(verify(LAYER.replace(inputs=GaussianInputs()), replicates=2))
    (spectra,) = figure.axes
    assert [label.split(" (")[0] for label in _legend(spectra)] == ["softmax", "Gaussian equivalent"]
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
from rmt_attention.plotting import plot_law, plot_spectrum, save_figure
layer = AttentionLayer(32, 32, heads=2)
plot_spectrum(sample_spectrum(layer), plot_law(limit_law(layer)))
save_figure(plot_verify(verify(layer, replicates=2)), {str(tmp_path / "a.png")!r})
assert "matplotlib.pyplot" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True)
    assert (tmp_path / "a.png").stat().st_size > 1000
