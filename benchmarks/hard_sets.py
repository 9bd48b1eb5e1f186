"""What the two accuracy measurements share: sets of the generator, their errors by stratum, a program around them."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

from tests.laws.stress import StressSet, generate
from tests.laws.stress_errors import as_text, faults, tabulate

from .record import write

Errors = Callable[[StressSet], dict[str, float]]


def measure(errors: Errors, limits: dict[str, float], count: int, seed: int, workers: int) -> dict[str, Any]:
    """Errors of ``count`` sets by stratum, and what exceeds its limit; every set is counted, those that raise too."""
    start = time.perf_counter()
    table = tabulate(errors, generate(count, seed), workers)
    return {
        "count": count,
        "seed": seed,
        "limits": limits,
        "faults": faults(table, limits),
        "strata": table,
        "seconds": time.perf_counter() - start,
    }


def program(name: str, description: str | None, errors: Errors, limits: dict[str, float], count: int) -> None:
    """Measure as the command line says, print the table, store the result."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--count", type=int, default=count)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json", default=None, help=f"default: benchmarks/results/{name}.json")
    given = parser.parse_args()
    result = measure(errors, limits, given.count, given.seed, given.workers)
    print(as_text(result["strata"]))
    print(f"{given.count} sets of seed {given.seed} in {result['seconds']:.0f} s; faults: {result['faults'] or 'none'}")
    write(name, result, given.json)
