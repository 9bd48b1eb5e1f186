"""Files that a command writes: refused before any work, written all or none."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from ..files import check_writable, write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STDOUT = "-"

Writers = dict[str, Callable[[BinaryIO], object]]
"""Paths, and the function that writes each."""


def check_outputs(**paths: str | None) -> None:
    """Raise before any work if a file cannot be written or two are the same; "-" is allowed for json alone.

    Paths are named by their flags; those that are None were not asked for.
    """
    files = {name: path for name, path in paths.items() if path is not None and (name, path) != ("json", STDOUT)}
    for name, path in files.items():
        if path == "":
            raise ValueError(f"{name}='': must be a file name")
        if path == STDOUT:
            raise ValueError(f"{name}={path!r}: must be a file name, standard output is for json alone")
        if name == "plot":
            from ..plotting import check_figure_path

            check_figure_path(path)
        check_writable(path, name)
    for (name, path), (other, other_path) in itertools.combinations(files.items(), 2):
        if Path(path).resolve() == Path(other_path).resolve():
            raise ValueError(f"{name}={path!r}: must differ from {other}, which is the same file")
    if "npz" in files and Path(files["npz"]).suffix != ".npz":
        raise ValueError(f"npz={files['npz']!r}: must end in .npz")


def report_writers(text: str, json_file: str | None, plot: str | None, figure: Callable[[], Figure]) -> Writers:
    """Writers of a report's JSON and figure, where they were asked for as files."""
    writers: Writers = {}
    if json_file not in (None, STDOUT):
        writers[json_file] = lambda stream: stream.write(text.encode())
    if plot is not None:
        from ..plotting import figure_writer

        writers[plot] = figure_writer(figure(), plot)
    return writers


def write_outputs(writers: Writers) -> None:
    """Write each path with its function; if one of these fails, none of the files changes."""
    with ExitStack() as stack:
        for path, write in writers.items():
            write(stack.enter_context(write_whole(path)))


def json_text(report: dict[str, object]) -> str:
    """A report as JSON text that ends with a line break."""
    return json.dumps(report, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
