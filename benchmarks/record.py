"""What every measurement is stored with: versions, machine, threads."""

from __future__ import annotations

import json
import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import rmt_attention
from rmt_attention.files import write_whole

RESULTS = Path(__file__).parent / "results"
SCHEMA_VERSION = 1


def environment() -> dict[str, Any]:
    """Versions of what was measured and of what it ran on; BLAS runs in one thread."""
    names = ("numpy", "scipy", "mpmath", "jax")
    return {
        "rmt-attention": rmt_attention.__version__,
        "python": platform.python_version(),
        **{name: version(name) for name in names},
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "blas_threads": 1,
    }


def write(name: str, result: dict[str, Any], path: str | None = None) -> None:
    """Write a result to benchmarks/results/NAME.json, or to a path, whole or not at all."""
    text = json.dumps({"schema": SCHEMA_VERSION, "kind": name, "environment": environment(), **result}, indent=1)
    with write_whole(RESULTS / f"{name}.json" if path is None else path) as stream:
        stream.write(text.encode() + b"\n")
