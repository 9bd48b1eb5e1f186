"""The command line: rmt-attention verify."""

from __future__ import annotations

import io
import itertools
import json
import math
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Optional

import numpy as np
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from . import __version__
from .errors import ConvergenceError
from .experiments.verify import VerifyReport, describe_sharing, verify
from .experiments.verify_checks import FAILED, FALSE_ALARM, UNDECIDED
from .files import check_writable, write_whole
from .inputs import inputs_to_dict
from .layer import AttentionLayer, layer_fields
from .presets import PRESETS, preset_fields
from .spectra import Estimate

HELD, CHECK_FAILED, BAD_INPUT, NOT_FINISHED = 0, 1, 2, 3
DEFAULT_PRESET = "BERT-base"

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Random-matrix theory of multi-head self-attention. Exit codes: 0 held, 1 a check failed, 2 bad input,"
    " 3 could not finish or decide.",
)


def main() -> None:
    """Entry point; an unexpected error exits with 3, never with 1."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without Greek letters still gets its answer
    try:
        code = app(standalone_mode=False)
    except Exception as error:
        if hasattr(error, "format_message"):  # the command line itself was wrong
            message = _usage_message(error)
            if message:
                print(f"rmt-attention: {message}", file=sys.stderr)
            sys.exit(BAD_INPUT)
        traceback.print_exc()
        sys.exit(NOT_FINISHED)
    sys.exit(code or HELD)


def _usage_message(error: Any) -> str:
    """The parser's message in one line, with the value it refused."""
    message = " ".join(str(error.format_message()).split())
    for option, value in itertools.pairwise(sys.argv[1:]):
        if option.startswith("--") and f"'{option}'" in message and repr(value) not in message:
            message += f" (got {value!r})"
    return message


@app.callback(invoke_without_command=True)
def _root(version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False) -> None:
    if version:
        print(__version__)
        raise typer.Exit(HELD)


@contextmanager
def _one_line_errors() -> Iterator[None]:
    """Turn refused input into one line and exit code 2, an unfinished solve into 3."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader went away, as in a pipe to head: nothing to report, and nothing more to write at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(HELD) from None
    except MemoryError as error:
        print(f"rmt-attention: the layer does not fit in memory: {error}", file=sys.stderr)
        raise typer.Exit(NOT_FINISHED) from None
    except (ConvergenceError, np.linalg.LinAlgError) as error:
        print(f"rmt-attention: {error}", file=sys.stderr)
        raise typer.Exit(NOT_FINISHED) from None
    except (ValueError, OSError) as error:
        print(f"rmt-attention: {error}", file=sys.stderr)
        raise typer.Exit(BAD_INPUT) from None
    except KeyboardInterrupt:
        print("rmt-attention: interrupted; nothing was written", file=sys.stderr)
        raise typer.Exit(NOT_FINISHED) from None


def _groups(name: str, text: str | None) -> int | list[int] | None:
    """A group option: a number of matrices, or a comma-separated matrix for each head."""
    if text is None:
        return None
    try:
        labels = [int(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"{name}={text!r}: must be an integer, or one integer per head separated by commas") from None
    return labels[0] if len(labels) == 1 else labels


def _layer(preset: str | None, file: Path | None, flags: dict[str, Any]) -> AttentionLayer:
    """The layer of a preset or TOML file, its fields replaced by the flags that were given."""
    if preset is not None and file is not None:
        raise ValueError(f"preset={preset!r}: must be absent when a layer file is given")
    given = {name: value for name, value in flags.items() if value is not None}
    for name in [name for name in given if name.endswith("_groups")]:
        given[name] = _groups(name, given[name])
    base = preset_fields(preset or DEFAULT_PRESET) if file is None else layer_fields(file.read_text(encoding="utf-8"))
    overridden = {
        "kv_groups": ("key_groups", "value_groups"),
        "key_groups": ("kv_groups",),
        "value_groups": ("kv_groups",),
    }
    dropped = {old for name in given for old in overridden.get(name, ())}
    return AttentionLayer.from_dict({**{name: base[name] for name in base if name not in dropped}, **given})


_Int = Optional[int]  # noqa: UP045 - typer reads these at run time
_Float = Optional[float]  # noqa: UP045
_Text = Optional[str]  # noqa: UP045
_Path = Optional[Path]  # noqa: UP045
_GROUP_HELP = "Number of distinct {} matrices, or a comma-separated matrix for each head."


@app.command("verify")
def verify_command(
    preset: Annotated[_Text, typer.Option(help=f"Dimensions of a public model: {', '.join(PRESETS)}.")] = None,
    layer: Annotated[_Path, typer.Option(help="TOML file that describes the layer.")] = None,
    n_tokens: Annotated[_Int, typer.Option(help="Tokens n.")] = None,
    d_model: Annotated[_Int, typer.Option(help="Input width d.")] = None,
    heads: Annotated[_Int, typer.Option(help="Number of heads h.")] = None,
    d_key: Annotated[_Int, typer.Option(help="Query/key width of a head.")] = None,
    d_value: Annotated[_Int, typer.Option(help="Value width of a head.")] = None,
    d_out: Annotated[_Int, typer.Option(help="Output width.")] = None,
    beta: Annotated[_Float, typer.Option(help="Inverse temperature β > 0.")] = None,
    query_groups: Annotated[_Text, typer.Option(help=_GROUP_HELP.format("query"))] = None,
    key_groups: Annotated[_Text, typer.Option(help=_GROUP_HELP.format("key"))] = None,
    value_groups: Annotated[_Text, typer.Option(help=_GROUP_HELP.format("value"))] = None,
    output_groups: Annotated[_Text, typer.Option(help=_GROUP_HELP.format("output"))] = None,
    kv_groups: Annotated[_Text, typer.Option(help=_GROUP_HELP.format("key and value") + " 1 is multi-query.")] = None,
    key_value_correlation: Annotated[
        _Float, typer.Option(help="Correlation of W^V with W^K in each head; 1 ties them.")
    ] = None,
    inputs: Annotated[_Text, typer.Option(help="orthonormal or gaussian.")] = None,
    draws: Annotated[int, typer.Option(help="Independent draws, ≥ 2.")] = 10,
    seed: Annotated[int, typer.Option(help="Seed of all draws.")] = 0,
    workers: Annotated[int, typer.Option(help="Processes.")] = 1,
    json_file: Annotated[_Text, typer.Option("--json", help="Write the report as JSON; - is standard output.")] = None,
    plot: Annotated[_Path, typer.Option(help="Write the figure: .png, .pdf or .svg.")] = None,
) -> None:
    """Compare softmax attention, its Gaussian equivalent and the limiting law of one layer.

    Without options: the dimensions of BERT-base at β = 1, ten draws. The same layer is also drawn at half size, and
    every threshold comes from these draws or from a stated bias. Flags override fields of the preset or file.
    """
    with _one_line_errors():
        flags = {
            "n_tokens": n_tokens,
            "d_model": d_model,
            "heads": heads,
            "d_key": d_key,
            "d_value": d_value,
            "d_out": d_out,
            "beta": beta,
            "query_groups": query_groups,
            "key_groups": key_groups,
            "value_groups": value_groups,
            "output_groups": output_groups,
            "kv_groups": kv_groups,
            "key_value_correlation": key_value_correlation,
            "inputs": inputs,
        }
        description = _layer(preset, layer, flags)
        if plot is not None:
            from .plotting import check_figure_path

            check_figure_path(plot)
        if json_file not in (None, "-"):
            check_writable(json_file)
            if plot is not None and plot.resolve() == Path(json_file).resolve():
                raise ValueError(f"json={json_file!r}: must differ from plot, which is the same file")
        with _progress() as report_progress:
            report = verify(description, replicates=draws, seed=seed, workers=workers, progress=report_progress)
        if plot is not None:
            from .experiments.verify_figure import plot_verify
            from .plotting import save_figure

            save_figure(plot_verify(report), plot)
        text = json.dumps(report.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        if json_file == "-":
            sys.stdout.write(text)
        else:
            if json_file is not None:
                with write_whole(json_file) as stream:
                    stream.write(text.encode())
            _print_report(report, [str(path) for path in (json_file, plot) if path is not None])
    raise typer.Exit({FAILED: CHECK_FAILED, UNDECIDED: NOT_FINISHED}.get(report.verdict, HELD))


@contextmanager
def _progress() -> Iterator[Callable[[str, int, int], None]]:
    """A progress line on a terminal's standard error; silent elsewhere."""
    console = Console(stderr=True)
    with Progress(
        TextColumn("{task.description:>10}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as bar:
        tasks: dict[str, Any] = {}

        def update(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=total)
            bar.update(tasks[stage], completed=done)

        yield update


def _interval(estimate: Estimate, factor: float = 1.0, digits: int = 4) -> str:
    return f"{factor * estimate.value:.{digits}f} ± {factor * estimate.half_width():.{digits}f}"


def _print_report(report: VerifyReport, written: list[str]) -> None:
    console = Console(width=None if sys.stdout.isatty() else 120, highlight=False, markup=False)
    with console.capture() as captured:
        _describe(console, report, written)
    sys.stdout.write("\n".join(line.rstrip() for line in captured.get().splitlines()) + "\n")


def _describe(console: Console, report: VerifyReport, written: list[str]) -> None:
    layer = report.layer
    sample = report.samples["softmax"]
    head = layer.heads[0]
    sizes = f"d_key={head.d_key} d_value={head.d_value} β={head.beta:g}" if layer.has_equal_heads else "unequal"
    console.print(
        f"layer    n={layer.n_tokens} d={layer.d_model} h={layer.n_heads} {sizes} d_out={layer.d_out}"
        f" {describe_sharing(layer)}, {inputs_to_dict(layer.inputs)['kind']} inputs"
    )
    console.print(
        f"ratios   γ_K={layer.gamma_key:.4g} γ_V={layer.gamma_value:.4g} γ_O={layer.gamma_out:.4g};"
        f" {len(sample)} draws, seed {','.join(map(str, sample.seed))}; ± is a 95 % Student-t half-width over draws"
    )
    if report.law is None:
        console.print(f"law      none: {report.law_refused}")
    else:
        atoms = ", ".join(f"atom {atom.mass:.4g} at {atom.location:g}" for atom in report.law.atoms) or "no atom"
        support = " ∪ ".join(f"[{a:.4g}, {b:.4g}]" for a, b in report.law.support)
        console.print(f"law      mean {report.law.mean:.5g}, support {support}, {atoms}")

    distances = Table(title="distances of spectra", title_justify="left", box=None, pad_edge=False)
    for column in ("", "relative W1 (%)", "KS", "mean (relative)"):
        distances.add_column(column, justify="left" if not column else "right")
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
        table = Table(title="w(λ) = ∫ x/(x+λ) dν", title_justify="left", box=None, pad_edge=False)
        for column in ("λ", "law", "softmax − law", "gaussian − law"):
            table.add_column(column, justify="right")
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

    checks = Table(title="checks", title_justify="left", box=None, pad_edge=False)
    for column in ("", "value", "threshold", "", "threshold from"):
        checks.add_column(column, justify="right" if column in ("value", "threshold") else "left")
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
