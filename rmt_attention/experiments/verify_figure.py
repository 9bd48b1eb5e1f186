"""The figure of the main job."""

from __future__ import annotations

from matplotlib.figure import Figure

from ..plotting import log_span, new_figure, plot_comparison, plot_law, plot_spectrum
from .verify import VerifyReport


def plot_verify(report: VerifyReport) -> Figure:
    """The main job on one page: spectra against the limit, and the differences of w(λ) from it."""
    wide = bool(report.to_law)
    figure = new_figure(9.6 if wide else 5.6, 3.9)
    axes = figure.subplots(1, 2, width_ratios=(1.55, 1)) if wide else [figure.add_subplot()]
    low = log_span(report.law)[0] * 0.8 if report.law is not None else None
    for model, sample in report.samples.items():
        filled = model == "softmax"
        plot_spectrum(sample, axes[0], low=low, fill=filled, alpha=0.3 if filled else 1.0)
    if report.law is not None:
        plot_law(report.law, axes[0])
        axes[0].set_xlim(left=low)
    axes[0].legend(frameon=False, fontsize=8, loc="upper left")
    axes[0].set_ylim(bottom=0, top=axes[0].get_ylim()[1] * 1.15)
    layer, draws = report.layer, len(report.samples["softmax"])
    axes[0].set_title(
        f"n={layer.n_tokens}, h={layer.n_heads}, d_key={layer.heads[0].d_key}, d_out={layer.d_out}, "
        f"β={layer.heads[0].beta:g}; {draws} draws",
        fontsize=9,
    )
    if wide:
        plot_comparison(report.to_law, axes[1])
        axes[1].legend(frameon=False, fontsize=8)
        axes[1].set_title("mean and 95 % interval over draws", fontsize=9)
    return figure
