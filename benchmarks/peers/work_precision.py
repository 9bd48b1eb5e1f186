"""The stored errors against time as a figure: python -m benchmarks.work_precision --plot FILE"""

from __future__ import annotations

import argparse
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from rmt_attention.plotting import new_figure, save_figure

from ..report import load

STYLES = {  # told apart by colour-blind readers and in grey
    "rmt-attention": ("o", "#0072B2"),
    "companion matrices in numpy": ("s", "#111111"),
    "freealg": ("^", "#D55E00"),
    "rmtool": ("D", "#009E73"),
    "FreeConvolutionCode": ("v", "#CC79A7"),
}
SMALLEST, LARGEST = 1e-45, 1.0  # errors beyond are drawn there


def points(entries: list[dict[str, Any]]) -> list[tuple[float, float]]:
    """Time and error of the settings that gave both, fastest first."""
    found = [
        (e["seconds"], min(max(e["worst_inside"], SMALLEST), LARGEST))
        for e in entries
        if e.get("worst_inside") is not None
    ]
    return sorted(found)


def draw(ax: Axes, curves: dict[str, list[dict[str, Any]]], title: str) -> None:
    """One marker a contestant, one point a setting."""
    for name, entries in curves.items():
        found = points(entries)
        if found:
            marker, colour = STYLES.get(name, ("X", "#777777"))
            ax.plot(
                *zip(*found, strict=True),
                linestyle="none",
                marker=marker,
                markersize=6,
                markerfacecolor=colour,
                markeredgecolor="white",
                markeredgewidth=0.6,
                label=name,
            )
    ax.set(xscale="log", yscale="log", title=title, xlabel="seconds per density")
    ax.yaxis.set_major_locator(LogLocator(numticks=9))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.grid(color="#DDDDDD", linewidth=0.6)
    ax.set_axisbelow(True)


def figure_of(result: dict[str, Any]) -> Figure:
    """A panel for each task."""
    figure = new_figure(7.6, 3.9)
    panels = figure.subplots(1, len(result["tasks"]), sharex=True, sharey=True)
    for ax, (key, curves) in zip(panels, result["work_precision"].items(), strict=True):
        draw(ax, curves, result["tasks"][key]["title"])
    panels[0].set_ylabel("worst relative error of the density")
    handles = {label: handle for ax in panels for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=3, frameon=False)
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", required=True, help="file to write")
    given = parser.parse_args()
    save_figure(figure_of(load("peers")), given.plot)


if __name__ == "__main__":
    main()
