"""The figure of the main job."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from ..law_table import log_span
from ..plotting import default_bins, new_figure, plot_comparison, plot_law, plot_spectrum
from .reporting import layer_sharing, layer_sizes
from .verify import VerifyReport


def plot_verify(report: VerifyReport) -> Figure:
    """The main job on one page: spectra against the limit, and the differences of w(λ) from it."""
    wide = bool(report.to_law)
    figure = new_figure(9.6 if wide else 5.6, 3.9)
    axes = figure.subplots(1, 2, width_ratios=(1.55, 1)) if wide else [figure.add_subplot()]
    nonzero = [law.eigenvalues[law.zeros :] for sample in report.samples.values() for law in sample]
    values = np.concatenate(nonzero)
    values = values[values > 0]
    start = log_span(report.law)[0] * 0.8 if report.law is not None else float(np.quantile(values, 1e-3))
    count = default_bins(values.size // len(report.samples))
    edges = np.geomspace(start, float(values.max()) * 1.0001, count + 1)
    for model, sample in report.samples.items():
        filled = model == "softmax"
        plot_spectrum(sample, axes[0], scale="log", bins=edges, fill=filled, alpha=0.3 if filled else 1.0)
    if report.law is not None:
        plot_law(report.law, axes[0], scale="log")
    axes[0].legend(frameon=False, fontsize=8, loc="upper right", ncols=len(axes[0].get_legend_handles_labels()[0]))
    axes[0].set_ylim(bottom=0, top=axes[0].get_ylim()[1] * 1.1)
    draws = len(report.samples["softmax"])
    axes[0].set_title(f"{layer_sizes(report.layer, ', ')}; {draws} draws\n{layer_sharing(report.layer)}", fontsize=8)
    if wide:
        plot_comparison(report.to_law, axes[1])
        low, high = axes[1].get_ylim()
        axes[1].set_ylim(low, high + 0.1 * (high - low))  # room for the legend
        axes[1].legend(frameon=False, fontsize=8, loc="upper left", ncols=2)
        axes[1].set_title("mean and 95 % interval over draws", fontsize=8)
    return figure
