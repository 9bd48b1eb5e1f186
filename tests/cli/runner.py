"""Runs of the command line, and what every refusal has in common."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ENTRY = [sys.executable, "-c", "from rmt_attention.cli import main; main()"]


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


Run = Callable[..., Outcome]


def run_process(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*ENTRY, *arguments], cwd=cwd, capture_output=True, text=True, encoding="utf-8")


def check_refused(run: Run, folder: Path, arguments: tuple[str, ...], named: str) -> None:
    """One line on standard error that names what was wrong, exit code 2, quickly, nothing printed or written."""
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    start = time.perf_counter()
    result = run(*arguments)
    assert time.perf_counter() - start < 2
    assert (result.code, result.out) == (2, "")
    assert result.err.count("\n") == 1
    assert result.err.endswith("\n")
    assert named in result.err
    assert "Traceback" not in result.err
    assert {path: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before
