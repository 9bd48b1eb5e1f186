"""rmt-attention law."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from ..compare.comparison import RIDGES_OVER_SCALE
from ..experiments.law import MOMENTS, LawReport, law_report
from ..experiments.reporting import layer_sharing, layer_sizes
from ..law_table import MOST_POINTS
from ..layer import AttentionLayer
from .outputs import STDOUT, Writers, check_outputs, json_text, report_writers, write_outputs
from .terminal import DONE, new_table, printed_report, support_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def law_command(
    layer: AttentionLayer,
    observable: Annotated[str, typer.Option(help="output, values, attention or head-average.")] = "output",
    normalized: Annotated[
        bool, typer.Option("--normalized", help="Law of the squared singular values over their mean.")
    ] = False,
    points: Annotated[
        int, typer.Option(help=f"Rows of the table for each interval of the support, 2 to {MOST_POINTS}.")
    ] = 400,
    csv: Annotated[str | None, typer.Option(help="Write the table as CSV: x, density, x_density, cdf.")] = None,
    npz: Annotated[str | None, typer.Option(help="Write the table, atoms, edges, support and layer for NumPy.")] = None,
    json_file: Annotated[
        str | None, typer.Option("--json", help="Write everything as JSON; - is standard output.")
    ] = None,
    plot: Annotated[str | None, typer.Option(help="Write the figure: .png, .pdf or .svg.")] = None,
) -> int:
    """Solve the limiting law of the squared singular values of one layer.

    Without options: the output of BERT-base at β = 1. Prints moments, edges, atoms, quantiles and w(λ); files hold the
    density and the cdf. Flags override fields of the preset or file.
    """
    check_outputs(csv=csv, npz=npz, json=json_file, plot=plot)
    report = law_report(layer, observable, normalized=normalized, points=points)
    text = json_text(report.to_dict())

    def figure() -> Figure:
        from ..experiments.law_figure import plot_law_report

        return plot_law_report(report)

    tables = {csv: report.write_csv, npz: report.write_npz}
    writers: Writers = {path: write for path, write in tables.items() if path is not None}
    writers |= report_writers(text, json_file, plot, figure)
    write_outputs(writers)
    if json_file == STDOUT:
        sys.stdout.write(text)
    else:
        with printed_report() as console:
            _describe(console, report, list(writers))
    return DONE


def _describe(console: Console, report: LawReport, written: list[str]) -> None:
    layer, law = report.layer, report.law
    kind = "over their mean" if report.normalized else "not normalised"
    console.print(f"layer       {layer_sizes(layer)} {layer_sharing(layer)}")
    console.print(f"ratios      γ_K={layer.gamma_key:.4g} γ_V={layer.gamma_value:.4g} γ_O={layer.gamma_out:.4g}")
    console.print(f"observable  {report.observable}, squared singular values {kind}")
    console.print(f"law         mean {law.mean:.10g}, support {support_text(law)}")
    console.print(f"edges       {', '.join(f'{edge:.14g}' for edge in law.edges)}")
    atoms = ", ".join(f"{atom.mass:.10g} at {atom.location:g}" for atom in law.atoms)
    console.print(f"atoms       {atoms or 'none'}")

    moments = new_table("moments", "k", "∫ x^k dν", "over mean^k")
    for k, moment, mean_one in zip(MOMENTS, report.moments, report.mean_one_moments, strict=True):
        moments.add_row(str(k), _or_overflow(moment), _or_overflow(mean_one))
    console.print()
    console.print(moments)

    quantiles = new_table("quantiles", "share", "x", "x/mean")
    for share, x in report.quantiles:
        quantiles.add_row(f"{100 * share:g} %", f"{x:.8g}", f"{x / law.mean:.8g}")
    console.print()
    console.print(quantiles)

    table = new_table("w(λ) = ∫ x/(x+λ) dν", "λ/mean", "λ", "w(λ)")
    for ratio, (ridge, w) in zip(RIDGES_OVER_SCALE, report.degrees_of_freedom, strict=True):
        table.add_row(f"{ratio:g}", f"{ridge:.4g}", f"{w:.10f}")
    console.print()
    console.print(table)
    if written:
        console.print()
        console.print(f"written: {', '.join(written)}")


def _or_overflow(moment: float) -> str:
    return f"{moment:.10g}" if math.isfinite(moment) else "overflow"
