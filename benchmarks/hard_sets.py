"""What the accuracy measurements share: sets of a generator, their errors by stratum, a program around them."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any

from tests.strata import Stratified, as_text, faults, tabulate

from .record import write

Errors = Callable[[Any], dict[str, float]]
Kinds = dict[str, tuple[Errors, dict[str, float], Callable[[int, int], Sequence[Stratified]]]]


def measure(errors: Errors, limits: dict[str, float], sets: Sequence[Stratified], workers: int) -> dict[str, Any]:
    """Errors of the sets by stratum, and what exceeds its limit; every set is counted, those that raise too."""
    start = time.perf_counter()
    table = tabulate(errors, sets, workers)
    return {
        "count": len(sets),
        "limits": limits,
        "faults": faults(table, limits),
        "strata": table,
        "seconds": time.perf_counter() - start,
    }


def program(name: str, description: str | None, count: int, kinds: Kinds) -> None:
    """Measure as the command line says, print the tables, store the result."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--count", type=int, default=count)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json", default=None, help=f"default: benchmarks/results/{name}.json")
    given = parser.parse_args()
    result: dict[str, Any] = {"seed": given.seed}
    for kind, (errors, limits, generate) in kinds.items():
        result[kind] = measure(errors, limits, generate(given.count, given.seed), given.workers)
        print(as_text(result[kind]["strata"]))
        found = result[kind]["faults"]
        print(f"{result[kind]['count']} sets of seed {given.seed} in {result[kind]['seconds']:.0f} s; ", end="")
        print(f"faults: {found or 'none'}")
    write(name, result, given.json)
