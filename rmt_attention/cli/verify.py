"""rmt-attention verify."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from ..experiments.reporting import layer_sharing, layer_sizes
from ..experiments.verify import VerifyReport, verify
from ..experiments.verify_checks import FAILED, FALSE_ALARM, UNDECIDED
from ..layer import AttentionLayer
from ..spectra import Estimate
from .outputs import STDOUT, check_outputs, json_text, report_writers, write_outputs
from .terminal import (
    CHECK_FAILED,
    DONE,
    NOT_FINISHED,
    new_table,
    printed_report,
    progress_line,
    support_text,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def verify_command(
    layer: AttentionLayer,
    draws: Annotated[int, typer.Option(help="Independent draws, ≥ 2.")] = 10,
    seed: Annotated[int, typer.Option(help="Seed of all draws.")] = 0,
    workers: Annotated[int, typer.Option(help="Processes.")] = 1,
    json_file: Annotated[
        str | None, typer.Option("--json", help="Write the report as JSON; - is standard output.")
    ] = None,
    plot: Annotated[str | None, typer.Option(help="Write the figure: .png, .pdf or .svg.")] = None,
) -> int:
    """Compare softmax attention, its Gaussian equivalent and the limiting law of one layer.

    Without options: the dimensions of BERT-base at β = 1, ten draws. The same layer is also drawn at half size, and
    every threshold comes from these draws or from a stated bias. Flags override fields of the preset or file.
    """
    check_outputs(json=json_file, plot=plot)
    with progress_line() as progress:
        report = verify(layer, replicates=draws, seed=seed, workers=workers, progress=progress)
    text = json_text(report.to_dict())

    def figure() -> Figure:
        from ..experiments.verify_figure import plot_verify

        return plot_verify(report)

    writers = report_writers(text, json_file, plot, figure)
    write_outputs(writers)
    if json_file == STDOUT:
        sys.stdout.write(text)
    else:
        with printed_report() as console:
            _describe(console, report, list(writers))
    return {FAILED: CHECK_FAILED, UNDECIDED: NOT_FINISHED}.get(report.verdict, DONE)


def _interval(estimate: Estimate, factor: float = 1.0, digits: int = 4) -> str:
    return f"{factor * estimate.value:.{digits}f} ± {factor * estimate.half_width():.{digits}f}"


def _describe(console: Console, report: VerifyReport, written: list[str]) -> None:
    layer = report.layer
    sample = report.samples["softmax"]
    console.print(f"layer    {layer_sizes(layer)} {layer_sharing(layer)}")
    console.print(
        f"ratios   γ_K={layer.gamma_key:.4g} γ_V={layer.gamma_value:.4g} γ_O={layer.gamma_out:.4g};"
        f" {len(sample)} draws, seed {','.join(map(str, sample.seed))}; ± is a 95 % Student-t half-width over draws"
    )
    if report.law is None:
        console.print(f"law      none: {report.law_refused}")
    else:
        law = report.law
        atoms = ", ".join(f"atom {atom.mass:.4g} at {atom.location:g}" for atom in law.atoms) or "no atom"
        console.print(f"law      mean {law.mean:.5g}, support {support_text(law)}, {atoms}")

    distances = new_table("distances of spectra", "", "relative W1 (%)", "KS", "mean (relative)", left=("",))
    rows = [("softmax to gaussian, same weights", report.models), ("  the same at half size", report.half_models)]
    rows += [(f"{model} to law", comparison) for model, comparison in report.to_law.items()]
    for name, comparison in rows:
        distances.add_row(
            name,
            _interval(comparison.relative_w1, 100, 2),
            _interval(comparison.ks),
            _interval(comparison.mean_difference),
        )
    console.print()
    console.print(distances)

    if report.law is not None:
        table = new_table("w(λ) = ∫ x/(x+λ) dν", "λ", "law", "softmax − law", "gaussian − law")
        pairs = zip(*(comparison.degrees_of_freedom for comparison in report.to_law.values()), strict=True)
        for softmax, gaussian in pairs:
            table.add_row(
                f"{softmax.ridge:.4g}",
                f"{softmax.reference:.5f}",
                _interval(softmax.difference, digits=5),
                _interval(gaussian.difference, digits=5),
            )
        console.print()
        console.print(table)

    checks = new_table("checks", "", "value", "threshold", "", "threshold from", left=("", "threshold from"))
    for check in report.checks:
        threshold = f"{check.threshold:.5f}" if math.isfinite(check.threshold) else "∞"
        checks.add_row(check.name, f"{check.value:.5f}", threshold, check.verdict, check.origin)
    console.print()
    console.print(checks)
    console.print(
        f"draws: Student-t interval over draws, false-alarm probability {FALSE_ALARM:g} a check; n → ∞: linear in 1/n;"
        "\n+ %: of the difference at full size, for terms beyond 1/n (fourth moment of the softmax entries over n)"
    )
    counts = {name: sum(check.verdict == name for check in report.checks) for name in (FAILED, UNDECIDED)}
    notes = [f"{count} of {len(report.checks)} checks {name}" for name, count in counts.items() if count]
    if counts[UNDECIDED]:
        notes[-1] += " (more draws would decide)"
    console.print()
    console.print("; ".join(notes) or f"all {len(report.checks)} checks held")
    if written:
        console.print(f"written: {', '.join(written)}")
