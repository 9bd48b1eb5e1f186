"""The limiting law of one layer as numbers and as a table."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

from .. import __version__
from ..compare.comparison import RIDGES_OVER_SCALE
from ..law_table import LawTable, tabulate_law
from ..laws import SpectralLaw
from ..layer import AttentionLayer
from ..limits import limit_law
from .reporting import finite, plain_law

SCHEMA_VERSION = 1
MOMENTS = (1, 2, 3, 4)
QUANTILES = (0.01, 0.1, 0.5, 0.9, 0.99)


@dataclass(frozen=True, eq=False)
class LawReport:
    """Everything the command ``law`` says about the limiting law of one layer.

    Attributes
    ----------
    layer, observable
        What the law belongs to, as in :func:`rmt_attention.limit_law`.
    normalized : bool
        Whether ``law`` is the law of x/mean.
    law : SpectralLaw
        Law ν of the squared singular values x.
    moments, mean_one_moments : tuple of float
        ∫ x^k dν and ∫ x^k dν / (∫ x dν)^k for k = 1, …, 4; not finite where they exceed double precision.
    quantiles : tuple of (float, float)
        Shares q and the smallest x with ν([0, x]) ≥ q.
    degrees_of_freedom : tuple of (float, float)
        Ridges λ = 0.01, 0.05, 0.2, 1 and 5 times the mean, and w(λ) = ∫ x/(x+λ) dν.
    table : LawTable
        Density and cdf on the support.
    """

    layer: AttentionLayer
    observable: str
    normalized: bool
    law: SpectralLaw
    moments: tuple[float, ...]
    mean_one_moments: tuple[float, ...]
    quantiles: tuple[tuple[float, float], ...]
    degrees_of_freedom: tuple[tuple[float, float], ...]
    table: LawTable

    def to_dict(self) -> dict[str, object]:
        """Plain data with a schema version: the layer, all numbers, the table by columns."""
        return {
            "schema": SCHEMA_VERSION,
            "kind": "law",
            "version": __version__,
            "layer": self.layer.to_dict(),
            "observable": self.observable,
            "normalized": self.normalized,
            "law": {
                **plain_law(self.law),
                "edges": list(self.law.edges),
                "moments": [finite(moment) for moment in self.moments],
                "mean_one_second_moment": finite(self.mean_one_moments[1]),
                "quantiles": [{"q": q, "x": x} for q, x in self.quantiles],
                "degrees_of_freedom": [{"ridge": ridge, "w": w} for ridge, w in self.degrees_of_freedom],
            },
            "table": {name: column.tolist() for name, column in self.table.columns().items()},
        }

    def write_csv(self, stream: BinaryIO) -> None:
        """The table as CSV: one header line, 17 significant digits, so that reading gives the same numbers back."""
        columns = self.table.columns()
        rows = np.column_stack(list(columns.values()))
        np.savetxt(stream, rows, fmt="%.17g", delimiter=",", header=",".join(columns), comments="")

    def write_npz(self, stream: BinaryIO) -> None:
        """The table's columns as arrays, with atoms (rows of location and mass), edges, support and the layer as JSON.

        Read with numpy.load; nothing in it is pickled.
        """
        np.savez_compressed(
            stream,
            allow_pickle=False,
            **self.table.columns(),
            atoms=np.array([(atom.location, atom.mass) for atom in self.law.atoms]).reshape(-1, 2),
            edges=np.array(self.law.edges),
            support=np.array(self.law.support),
            layer=np.array(json.dumps(self.layer.to_dict())),
            observable=np.array(self.observable),
            normalized=np.array(self.normalized),
            schema=np.array(SCHEMA_VERSION),
        )


def law_report(
    layer: AttentionLayer, observable: str = "output", *, normalized: bool = False, points: int = 400
) -> LawReport:
    """Solve the limiting law of a layer and tabulate it.

    Parameters
    ----------
    layer, observable
        As in :func:`rmt_attention.limit_law`.
    normalized : bool
        Report the law of x/mean, of mean one.
    points : int
        Rows of the table for each interval of the support, 2 to 100000.

    Raises
    ------
    ValueError
        For arguments out of range.
    UnsupportedLayerError
        If the layer has no limiting law.
    ConvergenceError
        If the law could not be solved.
    """
    law = limit_law(layer, observable)
    if normalized:
        law = law.normalized()
    table = tabulate_law(law, points)
    ridges = law.mean * np.array(RIDGES_OVER_SCALE)
    with np.errstate(over="ignore", invalid="ignore"):
        moments = tuple(law.moment(k) for k in MOMENTS)
        mean_one_moments = tuple(law.normalized().moment(k) for k in MOMENTS)
    return LawReport(
        layer=layer,
        observable=observable,
        normalized=normalized,
        law=law,
        moments=moments,
        mean_one_moments=mean_one_moments,
        quantiles=tuple(zip(QUANTILES, law.quantile(QUANTILES).tolist(), strict=True)),
        degrees_of_freedom=tuple(zip(ridges.tolist(), law.degrees_of_freedom(ridges).tolist(), strict=True)),
        table=table,
    )
