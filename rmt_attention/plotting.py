"""Plots of laws and spectra on Axes that the caller owns; no pyplot state, no display needed."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter
from numpy.typing import ArrayLike, NDArray

from .compare import Comparison
from .files import check_writable, write_whole
from .laws import SpectralLaw
from .spectra import Atom, SpectrumSample

COLORS = {"softmax": "#0072B2", "gaussian": "#D55E00", "law": "#111111"}  # told apart by colour-blind readers
LABELS = {"softmax": "softmax", "gaussian": "Gaussian equivalent"}
FORMATS = (".png", ".pdf", ".svg")

_STYLE: dict[str, Any] = {"linewidth": 1.3}


def new_figure(width: float = 5.2, height: float = 3.6) -> Figure:
    """An empty Figure, in inches, that draws without a display."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def check_figure_path(path: str | os.PathLike[str]) -> None:
    """Raise before any work if a figure cannot be written there."""
    if Path(path).suffix.lower() not in FORMATS:
        raise ValueError(f"plot={os.fspath(path)!r}: must end in {', '.join(FORMATS)}")
    check_writable(path)


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure, whole or not at all; the format follows the file's ending."""
    check_figure_path(path)
    with write_whole(path) as stream:
        figure.savefig(stream, format=Path(path).suffix.lower()[1:], dpi=200)


def log_span(law: SpectralLaw) -> tuple[float, float]:
    """Where to draw a law on a logarithmic axis: its support, cut where less than 0.1 % of the mass is left below."""
    top = law.support[-1][1]
    low = law.support[0][0]
    if low > 0:
        return low, top
    atom = sum(one.mass for one in law.atoms)
    grid = top * np.logspace(-14, 0, 200)
    below = law.cdf(grid) - atom
    return float(grid[np.searchsorted(below, 1e-3)]), top


def _law_points(law: SpectralLaw, low: float) -> Iterable[NDArray[np.float64]]:
    """Points of each interval of the support, crowding at its edges, in log x."""
    for a, b in law.support:
        left, right = math.log(max(a, low)), math.log(b)
        angle = np.linspace(0, np.pi, 400)
        yield np.exp(left + (right - left) * (1 - np.cos(angle)) / 2)


def plot_law(law: SpectralLaw, ax: Axes | None = None, *, label: str = "limiting law", **style: Any) -> Axes:
    """x f(x) against log x, so that areas are shares of eigenvalues; an atom at 0 is named in the legend.

    f is the density of the absolutely continuous part of the law of squared singular values.
    """
    ax = new_figure().add_subplot() if ax is None else ax
    low, _ = log_span(law)
    options = {"color": COLORS["law"], **_STYLE, **style}
    for x in _law_points(law, low):
        ax.plot(x, x * law.density(x), label=label + _atom_text(law.atoms), **options)
        label = "_continued"
    _label_axes(ax)
    ax.set_ylim(bottom=0)
    return ax


def default_bins(count: int) -> int:
    """Number of bins for a histogram of so many eigenvalues: √count, from 8 to 60."""
    return int(np.clip(math.sqrt(count), 8, 60))


def plot_spectrum(
    sample: SpectrumSample,
    ax: Axes | None = None,
    *,
    low: float | None = None,
    bins: int | ArrayLike | None = None,
    label: str | None = None,
    **style: Any,
) -> Axes:
    """Histogram of a sample in log x, heights normalised by ALL n eigenvalues of all draws.

    Exact zeros are not binned: their share is named in the legend as an atom. ``bins`` is a number of bins from ``low``
    up, or their edges; by default their number follows the number of eigenvalues.
    """
    ax = new_figure().add_subplot() if ax is None else ax
    pooled = sample.pooled()
    nonzero = pooled.eigenvalues[pooled.zeros :]
    if bins is None or np.ndim(bins) == 0:
        start = float(nonzero[nonzero > 0].min()) if low is None else low
        if not start > 0:
            raise ValueError(f"low={low!r}: must be > 0, the axis is logarithmic")
        count = default_bins(nonzero.size) if bins is None else int(np.asarray(bins))
        edges = np.geomspace(start, float(nonzero.max()) * 1.0001, count + 1)
    else:
        edges = np.asarray(bins, dtype=float)
    histogram = pooled.histogram(edges)
    width = np.diff(np.log(edges))
    heights = histogram.heights * np.diff(edges) / width  # share per unit of log x
    label = LABELS.get(sample.model, sample.model) if label is None else label
    options = {"color": COLORS.get(sample.model, "#009E73"), **_STYLE, **style}
    ax.stairs(heights, edges, label=label + _atom_text(pooled.atoms), **options)
    _label_axes(ax)
    return ax


def plot_comparison(comparisons: dict[str, Comparison], ax: Axes | None = None) -> Axes:
    """Difference of w(λ) from the limiting law, with 95 % Student-t intervals over draws."""
    ax = new_figure().add_subplot() if ax is None else ax
    offsets = 1 + 0.08 * (np.arange(len(comparisons)) - (len(comparisons) - 1) / 2)  # side by side
    for offset, (model, comparison) in zip(offsets, comparisons.items(), strict=True):
        rows = comparison.degrees_of_freedom
        ax.errorbar(
            [row.ridge * offset for row in rows],
            [row.difference.value for row in rows],
            yerr=[row.difference.half_width() for row in rows],
            fmt="o",
            markersize=3.5,
            capsize=2,
            color=COLORS.get(model, "#009E73"),
            label=LABELS.get(model, model),
            **_STYLE,
        )
    ax.axhline(0, color=COLORS["law"], linewidth=0.8)
    ax.set_xscale("log")
    ax.set_xlabel("ridge λ")
    ax.set_ylabel("w(λ) − limit,  w = ∫ x/(x+λ) dν")
    ax.xaxis.set_minor_formatter(NullFormatter())
    return ax


def _atom_text(atoms: tuple[Atom, ...]) -> str:
    return "".join(f" (+ atom {atom.mass:.4g} at {atom.location:g})" for atom in atoms)


def _label_axes(ax: Axes) -> None:
    ax.set_xscale("log")
    ax.set_xlabel("squared singular value x (all n counted)")
    ax.set_ylabel("x · density  (share per unit of ln x)")
    ax.xaxis.set_minor_formatter(NullFormatter())
