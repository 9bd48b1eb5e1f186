"""Exit codes, errors in one line, progress and tables."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from ..errors import ConvergenceError
from ..laws import SpectralLaw

DONE, CHECK_FAILED, BAD_INPUT, NOT_FINISHED = 0, 1, 2, 3


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn refused input into one line and exit code 2, an unfinished solve into 3."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader went away, as in a pipe to head: nothing to report, and nothing more to write at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(DONE) from None
    except MemoryError as error:
        print(f"rmt-attention: out of memory{f': {error}' if str(error) else ''}", file=sys.stderr)
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


@contextmanager
def progress_line() -> Iterator[Callable[[str, int, int], None]]:
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


@contextmanager
def printed_report() -> Iterator[Console]:
    """A console for tables, 120 columns wide off a terminal; printed without trailing blanks when the block ends."""
    console = Console(width=None if sys.stdout.isatty() else 120, highlight=False, markup=False)
    with console.capture() as captured:
        yield console
    sys.stdout.write("\n".join(line.rstrip() for line in captured.get().splitlines()) + "\n")


def new_table(title: str, *columns: str, left: tuple[str, ...] = ()) -> Table:
    """A table without lines, its numbers to the right; the columns named in ``left`` to the left."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for column in columns:
        table.add_column(column, justify="left" if column in left else "right")
    return table


def support_text(law: SpectralLaw) -> str:
    """The intervals of the support, four digits."""
    return " ∪ ".join(f"[{low:.4g}, {high:.4g}]" for low, high in law.support)
