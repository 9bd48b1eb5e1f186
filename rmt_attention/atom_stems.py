"""Atoms of laws and samples on plots: labelled stems against an axis of masses at the right."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.transforms import ScaledTranslation, Transform, blended_transform_factory

from .spectra import Atom

_MASS_AXIS = "mass of atoms"
_APART = 14  # points between stems at one location, and between the left border of a logarithmic axis and the first
_ROOM = 0.05  # of the width of the data, made at the left for each of these stems


def draw_atoms(ax: Axes, atoms: Iterable[Atom], color: Any, marker: str) -> None:
    """Stems at the atoms' locations, as high as their masses on an axis from 0 to 1 at the right.

    The mass is written along the left of each stem. A linear axis has the first stem exactly at its location and
    further ones to the left of it. 0 is not on a logarithmic axis: stems of atoms there stand side by side at its left
    border, and their text names the location.
    """
    for atom in atoms:
        side = _mass_axis(ax)
        others = sum(line.get_xdata()[0] == atom.location for line in side.lines)  # type: ignore[index]
        logarithmic = ax.get_xscale() == "log"
        base: Transform = side.transData
        if logarithmic and atom.location <= 0:
            base = blended_transform_factory(side.transAxes, side.transData)
            shift = _APART * (others + 1)
            left, right = ax.dataLim.intervalx
            ax.update_datalim([(left * (left / right) ** _ROOM, 0)], updatey=False)
        else:
            shift = -_APART * others
            left, right = min(ax.dataLim.x0, atom.location), ax.dataLim.x1
            ax.update_datalim([(left - (right - left) * _ROOM * (others > 0), 0)], updatey=False)
        ax.autoscale_view(scaley=False)
        figure = side.get_figure(root=True)
        assert figure is not None
        place = base + ScaledTranslation(shift / 72, 0, figure.dpi_scale_trans)
        stem = Line2D(
            [atom.location, atom.location],
            [0, atom.mass],
            color=color,
            marker=marker,
            markersize=4,
            markevery=[1],
            linewidth=1.6,
            solid_capstyle="butt",
            transform=place,
        )
        stem.set_clip_on(False)
        side.add_artist(stem)
        where = f" at {atom.location:g}:" if logarithmic else ""
        side.text(
            atom.location,
            0.02,
            f"atom{where} {atom.mass:.4g}",
            color=color,
            fontsize=7.5,
            rotation=90,
            rotation_mode="anchor",
            verticalalignment="baseline",
            transform=place + ScaledTranslation(-3.5 / 72, 0, figure.dpi_scale_trans),
        )


def _mass_axis(ax: Axes) -> Axes:
    """The axis of masses that belongs to these axes, made when there is none."""
    for one in ax.get_shared_x_axes().get_siblings(ax):
        if one.get_label() == _MASS_AXIS and one.get_position().bounds == ax.get_position().bounds:
            return one
    side: Axes = ax.twinx()
    side.set_label(_MASS_AXIS)
    side.set_ylim(0, 1)
    side.set_ylabel(_MASS_AXIS)
    return side
