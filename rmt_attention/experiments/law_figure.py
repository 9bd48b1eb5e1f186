"""The figure of a single law."""

from __future__ import annotations

from matplotlib.figure import Figure

from ..plotting import COLORS, new_figure, plot_law
from .law import LawReport
from .reporting import layer_sharing, layer_sizes


def plot_law_report(report: LawReport) -> Figure:
    """The law of a report with its atoms; the title describes the layer."""
    figure = new_figure(5.6, 3.7)
    axes = figure.add_subplot()
    plot_law(report.law, axes, label=f"limiting law, mean {report.law.mean:.5g}")
    for line in axes.lines:
        axes.fill_between(line.get_xdata(), line.get_ydata(), color=COLORS["law"], alpha=0.1, linewidth=0)
    if report.normalized:
        axes.set_xlabel("squared singular value over the mean, x (all n counted)")
    axes.set_ylim(0, 1.14 * axes.get_ylim()[1])  # room for the legend
    axes.legend(frameon=False, fontsize=8, loc="upper right")
    axes.set_title(f"{report.observable}: {layer_sizes(report.layer, ', ')}\n{layer_sharing(report.layer)}", fontsize=8)
    return figure
