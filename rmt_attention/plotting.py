"""Plots of laws and spectra on Axes that the caller owns; no pyplot state, no display needed."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from matplotlib import cbook
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import StepPatch
from matplotlib.ticker import LogFormatterSciNotation, LogLocator, NullFormatter, StrMethodFormatter
from numpy.typing import ArrayLike

from .atom_stems import draw_atoms
from .compare import Comparison
from .files import check_writable, write_whole
from .law_table import log_span, support_points
from .laws import SpectralLaw
from .laws.singular_values import SingularValueLaw
from .spectra import SpectrumSample

COLORS = {"softmax": "#0072B2", "gaussian": "#D55E00", "law": "#111111"}  # told apart by colour-blind readers
LABELS = {"softmax": "softmax", "gaussian": "Gaussian equivalent"}
FORMATS = (".png", ".pdf", ".svg")
SCALES = ("auto", "log", "linear")

_OTHER = "#009E73"  # models that have no colour of their own
_STYLE: dict[str, Any] = {"linewidth": 1.3}
_NOUNS = {"x": "squared singular value", "s": "singular value"}
_POINTS = 400  # of a line
_LONGEST_LINEAR = 1e2  # ratio of the ends of a support beyond which small eigenvalues need a logarithmic axis


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
        figure_writer(figure, path)(stream)


def figure_writer(figure: Figure, path: str | os.PathLike[str]) -> Callable[[BinaryIO], None]:
    """A function that writes a figure to a stream, in the format of the path's ending."""
    suffix = Path(path).suffix.lower()[1:]
    return lambda stream: figure.savefig(stream, format=suffix, dpi=200)


def plot_law(
    law: SpectralLaw | SingularValueLaw,
    ax: Axes | None = None,
    *,
    scale: str = "auto",
    label: str = "limiting law",
    **style: Any,
) -> Axes:
    """The density f of a law, one line for each interval of its support, and its atoms.

    On a linear axis f(x) against x; on a logarithmic one x f(x) against ln x. Areas are then shares of eigenvalues:
    with the masses of the atoms they add up to one.

    Parameters
    ----------
    law : SpectralLaw
    ax : Axes, optional
        Axes to draw on; new ones otherwise.
    scale : str
        "log", "linear" or "auto": that of the axes if they hold data already; otherwise "log" where the support starts
        at 0, as the density then diverges there, or spans more than two decades, else "linear".
    label : str
        Of the line in a legend.
    **style
        Properties of the lines, such as color.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        For an unknown scale, or one other than that of axes that hold data.

    Notes
    -----
    An atom is a stem with its mass written along it. Its height is that mass on an axis of its own at the right, from 0
    to 1, which is there only if there are atoms. A linear axis has the stem at the atom's location; 0 is not on a
    logarithmic axis, so that the stem of an atom at 0 stands at the left border. Stems of further curves at the same
    location stand beside it, each in the colour of its curve: dots on stems of laws, squares on those of samples.

    A support that starts at 0 is drawn down to where 0.1 % of its mass is left. A linear axis shows the divergence
    there up to the density at the lowest tenth of the mass.
    """
    ax = new_figure().add_subplot() if ax is None else ax
    logarithmic = _set_scale(ax, scale, law.support[0][0], law.support[-1][1])
    options = {"color": COLORS["law"], **_STYLE, **cbook.normalize_kwargs(style, Line2D)}
    for x in support_points(law, _POINTS):
        (line,) = ax.plot(x, law.density(x) * (x if logarithmic else 1.0), label=label, **options)
        line.sticky_edges.y.append(0)  # the axis starts at 0 exactly
        label = "_continued"
    if law.support[0][0] == 0 and not logarithmic:
        start, _ = log_span(law, 0.1)
        shown = [law.density(x[x >= start]).max(initial=0.0) for x in support_points(law, _POINTS)]
        ax.set_ylim(0, 1.05 * max(shown))
    draw_atoms(ax, law.atoms, options["color"], "o")
    _label_axes(ax, logarithmic, "s" if isinstance(law, SingularValueLaw) else "x")
    return ax


def default_bins(count: int) -> int:
    """Number of bins for a histogram of so many eigenvalues: √count, from 8 to 60."""
    return int(np.clip(math.sqrt(count), 8, 60))


def plot_spectrum(
    sample: SpectrumSample,
    ax: Axes | None = None,
    *,
    scale: str = "auto",
    low: float | None = None,
    bins: int | ArrayLike | None = None,
    label: str | None = None,
    **style: Any,
) -> Axes:
    """Histogram of a sample, heights normalised by ALL n eigenvalues of all draws; axes and atoms as in plot_law.

    Exact zeros are not binned: their share is an atom.

    Parameters
    ----------
    sample : SpectrumSample
    ax : Axes, optional
        Axes to draw on; new ones otherwise.
    scale : str
        As in :func:`plot_law`; "auto" on empty axes is "log" if the positive eigenvalues span more than two decades.
    low : float, optional
        Where the bins start; default the smallest positive eigenvalue. > 0 on a logarithmic axis.
    bins : int or array_like, optional
        Number of bins, equally wide on the axis, from ``low`` up, or their edges. Default :func:`default_bins`.
    label : str, optional
        Default: the name of the model.
    **style
        Properties of the histogram, such as color, fill and alpha.

    Raises
    ------
    ValueError
        As :func:`plot_law`, and for bins that are not on the axis or do not ascend.
    """
    ax = new_figure().add_subplot() if ax is None else ax
    pooled = sample.pooled()
    nonzero = pooled.eigenvalues[pooled.zeros :]
    smallest, largest = float(nonzero[nonzero > 0].min()), float(nonzero.max())
    logarithmic = _set_scale(ax, scale, smallest, largest)
    if bins is None or np.ndim(bins) == 0:
        start = smallest if low is None else low
        if logarithmic and not start > 0:
            raise ValueError(f"low={low!r}: must be > 0, the axis is logarithmic")
        count = default_bins(nonzero.size) if bins is None else int(np.asarray(bins))
        spaced = np.geomspace if logarithmic else np.linspace
        edges = spaced(start, largest * 1.0001, count + 1)
    else:
        edges = np.asarray(bins, dtype=float)
    histogram = pooled.histogram(edges)
    heights = histogram.heights
    if logarithmic:
        if not edges[0] > 0:
            raise ValueError(f"bins={float(edges[0])!r}: must start above 0, the axis is logarithmic")
        heights = heights * np.diff(edges) / np.diff(np.log(edges))  # share per unit of ln x
    label = LABELS.get(sample.model, sample.model) if label is None else label
    options = {"color": COLORS.get(sample.model, _OTHER), **_STYLE, **cbook.normalize_kwargs(style, StepPatch)}
    ax.stairs(heights, edges, label=label, **options)
    draw_atoms(ax, pooled.atoms, options["color"], "s")
    _label_axes(ax, logarithmic)
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
            color=COLORS.get(model, _OTHER),
            label=LABELS.get(model, model),
            **_STYLE,
        )
    ax.axhline(0, color=COLORS["law"], linewidth=0.8)
    ax.set_xscale("log")
    ax.set_xlabel("ridge λ")
    ax.set_ylabel("w(λ) − limit,  w = ∫ x/(x+λ) dν")
    ax.xaxis.set_minor_formatter(NullFormatter())
    return ax


def _set_scale(ax: Axes, scale: str, low: float, high: float) -> bool:
    """Give the x axis its scale for data between ``low`` and ``high``; whether it is logarithmic."""
    if scale not in SCALES:
        raise ValueError(f"scale={scale!r}: must be one of {', '.join(SCALES)}")
    if ax.has_data():
        held = "log" if ax.get_xscale() == "log" else "linear"
        if scale not in ("auto", held):
            raise ValueError(f"scale={scale!r}: must be {held!r} on axes that hold data on that scale")
        return held == "log"
    if scale == "auto":
        scale = "log" if high > _LONGEST_LINEAR * low else "linear"
    ax.set_xscale(scale)
    return scale == "log"


def _label_axes(ax: Axes, logarithmic: bool, x: str = "x") -> None:
    ax.set_xlabel(f"{_NOUNS[x]} {x} (all n counted)")
    ax.set_ylabel(f"{x} · density  (share per unit of ln {x})" if logarithmic else f"density  (share per unit of {x})")
    if logarithmic:
        low, high = ax.dataLim.intervalx
        few = high < 100 * low  # powers of ten alone would leave one tick or two
        ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if few else (1,)))
        ax.xaxis.set_major_formatter(StrMethodFormatter("{x:g}") if few else LogFormatterSciNotation())
        ax.xaxis.set_minor_formatter(NullFormatter())
