"""Processes of contestants: one stays alive for a contestant and a task, with one thread for BLAS."""

from __future__ import annotations

import json
import os
import select
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

SERVE = Path(__file__).parent / "contestants" / "serve.py"
THREADS = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMBA")}
SECONDS = 600  # for one answer


class FailedError(Exception):
    """A contestant gave an error instead of an answer, or none; the message is one line."""


class Worker:
    """A contestant's process; close it, or use it as a context."""

    def __init__(self, python: Path, module: Path, source: Path | None = None) -> None:
        self._errors = tempfile.TemporaryFile(mode="w+", encoding="utf-8", errors="replace")  # noqa: SIM115 - closed below
        self._process = subprocess.Popen(
            [str(python), "-P", str(SERVE), str(module)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            env={**os.environ, **THREADS, "MPLBACKEND": "Agg", **({"PYTHONPATH": str(source)} if source else {})},
        )
        try:
            self.greeting = self._read()
        except FailedError:
            self.close()
            raise

    def ask(self, law: dict[str, Any], x: Sequence[float], settings: dict[str, Any]) -> dict[str, Any]:
        """Seconds, densities and support of a law, worked out anew."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"law": law, "x": list(x), "settings": settings}) + "\n")
            self._process.stdin.flush()
        except OSError:
            pass  # it has ended: reading tells why
        answer = self._read()
        if "error" in answer:
            raise FailedError(" ".join(answer["error"].split()))
        return answer

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        if not select.select([self._process.stdout], [], [], SECONDS)[0]:
            self._process.kill()
            raise FailedError(f"no answer within {SECONDS} s")
        line = self._process.stdout.readline()
        if not line:
            self._process.wait()
            self._errors.seek(0)
            said = [one.strip() for one in self._errors if one.strip()]
            raise FailedError(said[-1] if said else f"ended with status {self._process.returncode}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """End the process."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._errors.close()

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()
