"""Guesses for roots anywhere on the spectrum: polynomials through the solved points of each cell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .axis import GAUSS, Axis, Cell
from .nodes import Array

__all__ = ["CellNet"]

_NEAR = 0.5  # of √distance of the first node to the edge, within which guesses come from the edge
_BARYCENTRIC = (-1.0) ** np.arange(GAUSS[0].size) * np.sqrt((1 - GAUSS[0] ** 2) * GAUSS[1])


class CellNet:
    """The parameters as functions of the coordinate of their cell, in which the Gauss rule has resolved the density.

    In cells that are wide on the logarithmic scale parameters are nearly powers of x, and their logarithms are taken.
    """

    def __init__(self, axis: Axis, cells: Sequence[Cell]) -> None:
        self._axis = axis
        ends = np.array([cell.coordinate(np.array([cell.low, cell.high])) for cell in cells])
        self._middle, self._half = ends.mean(1), (ends[:, 1] - ends[:, 0]) / 2
        nodes = np.array([cell.nodes for cell in cells])
        order = np.argsort(nodes, axis=1)
        self._wide = np.array([cell.kind == "log" for cell in cells])
        values = np.take_along_axis(np.array([cell.parameters for cell in cells]), order[:, None], axis=2)
        self._values = np.where(self._wide[:, None, None], np.log(values), values).transpose(1, 0, 2)
        self._edges = [cell.edge for cell in cells if cell.edge is not None]
        self._edge = np.full(len(cells), -1)
        rims = np.array([cell.edge is not None for cell in cells], dtype=bool)
        self._edge[rims] = np.arange(len(self._edges))
        self._place = np.array([np.nan if cell.edge is None else cell.edge.x for cell in cells])
        self._side = np.array([0 if cell.edge is None else cell.edge.side for cell in cells])
        first = np.sqrt(np.abs(nodes - self._place[:, None])).min(1)
        self._close = np.where(rims, _NEAR * first, 0.0)

    def guess(self, x: Array, cell: Array) -> tuple[Array, Array]:
        """Parameters at x in the cells of these numbers, and where they come from the expansion at an edge."""
        root = np.sqrt(np.abs(x - self._place[cell]))
        with np.errstate(invalid="ignore", divide="ignore"):
            t = np.where(self._wide[cell], np.log(x), np.where(self._side[cell] != 0, self._side[cell] * root, x))
        away = ((t - self._middle[cell]) / self._half[cell])[:, None] - GAUSS[0]
        weights = _BARYCENTRIC / np.where(away == 0, 1e-300, away)
        weights /= weights.sum(1, keepdims=True)
        guess = (self._values[:, cell] * weights).sum(2)
        wide = self._wide[cell]
        if wide.any():
            guess[:, wide] = np.exp(guess[:, wide])
        close = root < self._close[cell]
        if close.any():
            guess[:, close] = self._axis.guess_from_edges(self._edges, self._edge[cell[close]], x[close])
        return guess, close
