"""Errors of many sets as a table: worst, 99 % and median of every kind in each stratum; every set is counted."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from rmt_attention.errors import ConvergenceError

_WIDTH = 34  # of the names in a table


class Stratified(Protocol):
    """A set to be measured; printed, it can be made again."""

    @property
    def stratum(self) -> str: ...


def tabulate(
    measure: Callable[[Any], dict[str, float]], sets: Sequence[Stratified], workers: int = 1
) -> dict[str, dict[str, Any]]:
    """Per stratum: number of sets, sets that raised, and worst, 99 % and worst set of every column of ``measure``."""
    rows = Parallel(n_jobs=workers, batch_size=20)(delayed(_measured)(measure, one) for one in sets)
    table: dict[str, dict[str, Any]] = {}
    for stratum in dict.fromkeys(one.stratum for one in sets):
        mine = [(one, row) for one, row in zip(sets, rows, strict=True) if one.stratum == stratum]
        good = [(one, row) for one, row in mine if isinstance(row, dict)]
        names = good[0][1] if good else {}
        table[stratum] = {
            "sets": len(mine),
            "raised": [f"{one}: {row}" for one, row in mine if not isinstance(row, dict)],
            "columns": {name: _column([(one, row[name]) for one, row in good]) for name in names},
        }
    return table


def _measured(measure: Callable[[Any], dict[str, float]], one: Stratified) -> dict[str, float] | str:
    with threadpool_limits(1, user_api="blas"):
        try:
            return measure(one)
        except (ConvergenceError, ValueError, ArithmeticError) as error:
            return f"{type(error).__name__}: {error}"


def _column(values: list[tuple[Stratified, float]]) -> dict[str, Any]:
    numbers = np.array([value for _, value in values])
    worst = int(np.argmax(numbers))
    return {
        "worst": float(numbers[worst]),
        "99 %": float(np.quantile(numbers, 0.99)),
        "median": float(np.median(numbers)),
        "worst_set": str(values[worst][0]),
    }


def faults(table: dict[str, dict[str, Any]], limits: dict[str, float]) -> list[str]:
    """What in a table is above its limit or raised, in words."""
    found = [f"{stratum}: raised {text}" for stratum, part in table.items() for text in part["raised"]]
    for stratum, part in table.items():
        for name, column in part["columns"].items():
            limit = limits.get(name, math.inf)
            if not column["worst"] <= limit:
                found.append(f"{stratum}: {name} {column['worst']:.3g} > {limit:g} at {column['worst_set']}")
    return found


def as_text(table: dict[str, dict[str, Any]]) -> str:
    """The table for reading: a line per column, worst and 99 % for each stratum."""
    names = list(next(iter(table.values()))["columns"])
    lines = ["".ljust(_WIDTH) + "".join(f"{stratum + ' worst':>20}{'99 %':>10}" for stratum in table)]
    for name in names:
        cells = [part["columns"][name] for part in table.values()]
        lines.append(name.ljust(_WIDTH) + "".join(f"{cell['worst']:>20.1e}{cell['99 %']:>10.1e}" for cell in cells))
    counts = ", ".join(
        f"{stratum} {part['sets']} sets, {len(part['raised'])} raised" for stratum, part in table.items()
    )
    return "\n".join([*lines, counts])
