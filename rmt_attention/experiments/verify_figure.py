"""The figure of the main job."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from ..inputs import inputs_to_dict
from ..plotting import default_bins, log_span, new_figure, plot_comparison, plot_law, plot_spectrum
from .verify import VerifyReport, describe_sharing


def plot_verify(report: VerifyReport) -> Figure:
    """The main job on one page: spectra against the limit, and the differences of w(λ) from it."""
    wide = bool(report.to_law)
    figure = new_figure(9.6 if wide else 5.6, 3.9)
    axes = figure.subplots(1, 2, width_ratios=(1.55, 1)) if wide else [figure.add_subplot()]
    nonzero = [law.eigenvalues[law.zeros :] for sample in report.samples.values() for law in sample]
    values = np.concatenate(nonzero)
    values = values[values > 0]
    low = log_span(report.law)[0] * 0.8 if report.law is not None else float(np.quantile(values, 1e-3))
    count = default_bins(values.size // len(report.samples))
    edges = np.geomspace(low, float(values.max()) * 1.0001, count + 1)
    for model, sample in report.samples.items():
        filled = model == "softmax"
        plot_spectrum(sample, axes[0], bins=edges, fill=filled, alpha=0.3 if filled else 1.0)
    if report.law is not None:
        plot_law(report.law, axes[0])
        axes[0].set_xlim(left=low)
    axes[0].legend(frameon=False, fontsize=8, loc="upper left")
    axes[0].set_ylim(bottom=0, top=axes[0].get_ylim()[1] * 1.15)
    layer, draws = report.layer, len(report.samples["softmax"])
    head = layer.heads[0]
    widths = (
        f"d_key={head.d_key}, d_value={head.d_value}, β={head.beta:g}" if layer.has_equal_heads else "unequal heads"
    )
    axes[0].set_title(
        f"n={layer.n_tokens}, h={layer.n_heads}, {widths}, d_out={layer.d_out}; {draws} draws\n"
        f"{describe_sharing(layer)}, {inputs_to_dict(layer.inputs)['kind']} inputs",
        fontsize=8,
    )
    if wide:
        plot_comparison(report.to_law, axes[1])
        axes[1].legend(frameon=False, fontsize=8)
        axes[1].set_title("mean and 95 % interval over draws", fontsize=8)
    return figure
