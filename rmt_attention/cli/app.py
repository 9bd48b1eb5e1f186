"""The program rmt-attention: its commands, and what it does with a command line that is wrong."""

from __future__ import annotations

import io
import itertools
import os
import sys
import traceback
from typing import Annotated, Any

import typer

from .. import __version__
from .law import law_command
from .layer_options import layer_command
from .terminal import BAD_INPUT, DONE, NOT_FINISHED
from .verify import verify_command

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Random-matrix theory of multi-head self-attention. Exit codes: 0 done, or held; 1 a check failed;"
    " 2 bad input; 3 could not finish or decide.",
)
app.command("verify")(layer_command(verify_command))
app.command("law")(layer_command(law_command))


@app.callback(invoke_without_command=True)
def _root(version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False) -> None:
    if version:
        print(__version__)
        raise typer.Exit(DONE)


def main() -> None:
    """Entry point; an unexpected error exits with 3, never with 1."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller: what is printed is lost, files are written
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - for the whole run
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
    sys.exit(code or DONE)


def _usage_message(error: Any) -> str:
    """The parser's message in one line, with the value it refused."""
    message = " ".join(str(error.format_message()).split())
    for option, value in itertools.pairwise(sys.argv[1:]):
        if option.startswith("--") and f"'{option}'" in message and repr(value) not in message:
            message += f" (got {value!r})"
    return message
