"""Laws of free probability against other packages, in turn in one run.

Every contestant has a process for each task, so that the first call is the first of its process; then every round asks
each in turn, in an order that rotates, for a law that was not there before: built, its support where the package finds
one, and the density at the same points for all. Errors are against 60 digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..speed import spread
from .entries import OWN, Contestant, available
from .judge import DENSITY_LIMIT, EDGE_LIMIT, MASS_LIMIT, relative_errors, verdict, worst
from .tasks import NEAR, TASKS, LawTask
from .workers import FailedError, Worker

REPEATS = 3  # of every setting of errors against time


@dataclass(frozen=True)
class Question:
    """A task with the points that all are asked for, and the densities there."""

    task: LawTask
    x: NDArray[np.float64]
    true: list[Any]

    @classmethod
    def of(cls, task: LawTask, count: int, seed: int) -> Question:
        x = task.points(count, seed)
        return cls(task, x, [task.density(one) for one in x])


def first_answer(question: Question, one: Contestant, worker: Worker) -> dict[str, Any]:
    """The first call of a process, judged."""
    task = question.task
    answer = worker.ask(task.law, question.x.tolist(), one.settings)

    def density(points: Sequence[float]) -> Sequence[Any]:
        found: Sequence[Any] = worker.ask(task.law, points, one.settings)["density"]
        return found

    return {"first_s": answer["seconds"], **verdict(task, question.x, question.true, answer, density)}


def measure_task(question: Question, contestants: Sequence[Contestant], rounds: int, folder: Path) -> dict[str, Any]:
    """Times and errors of all contestants; one that fails is in the table with its message."""
    table: dict[str, Any] = {}
    times: dict[str, list[float]] = {}
    with ExitStack() as stack:
        active: list[tuple[Contestant, Worker]] = []
        for one in contestants:
            try:
                worker = stack.enter_context(one.start(folder))
                versions = {**worker.greeting["versions"], **one.commit}
                table[one.name] = {"versions": versions, "import_s": worker.greeting["import_s"]}
                table[one.name] |= first_answer(question, one, worker)
                active.append((one, worker))
            except FailedError as error:
                table[one.name] = {**table.get(one.name, {}), "success": False, "message": str(error)}
        for turn in range(rounds):
            shift = turn % len(active) if active else 0
            for one, worker in active[shift:] + active[:shift]:
                try:
                    answer = worker.ask(question.task.law, question.x.tolist(), one.settings)
                    times.setdefault(one.name, []).append(answer["seconds"])
                except FailedError as error:
                    table[one.name] |= {"success": False, "message": f"in round {turn + 1}: {error}"}
    own = times.get(OWN.name)
    for name, seconds in times.items():
        table[name]["warm_s"] = spread(seconds, 1.0)
        table[name]["ratio"] = float(np.median(seconds) / np.median(own)) if own else None
    return table


def work_precision(question: Question, one: Contestant, folder: Path) -> list[dict[str, Any]]:
    """Seconds for one density and the worst error away from edges, at every setting that the contestant offers."""
    found: list[dict[str, Any]] = []
    inside = np.flatnonzero(question.task.inside(question.x))
    try:
        worker = one.start(folder)
    except FailedError as error:
        return [{"settings": {}, "message": str(error)}]
    with worker:
        for offer in worker.greeting["settings"]:
            rows = inside[: offer.get("points")] if "points" in offer else np.arange(question.x.size)
            entry: dict[str, Any] = {"settings": offer["settings"]}
            try:
                answers = [
                    worker.ask(question.task.law, question.x[rows].tolist(), offer["settings"]) for _ in range(REPEATS)
                ]
                errors = relative_errors(answers[-1]["density"], [question.true[row] for row in rows])
                entry["seconds"] = float(np.median([answer["seconds"] for answer in answers]) / rows.size)
                entry["worst_inside"] = worst(errors[np.isin(rows, inside)])
            except FailedError as error:
                entry["message"] = str(error)
            found.append(entry)
    return found


def measure(
    contestants: Sequence[Contestant], rounds: int, points: int, seed: int, folder: Path, curves: bool = True
) -> dict[str, Any]:
    """Everything that is stored; contestants with one module have one curve of errors against time."""
    present, absent = available(contestants, folder)
    questions = {key: Question.of(task, points, seed) for key, task in TASKS.items()}
    modules = {one.module: one for one in reversed(present)}.values() if curves else ()
    return {
        "seed": seed,
        "points": points,
        "rounds": rounds,
        "threads": 1,
        "limits": {"density": DENSITY_LIMIT, "edges": EDGE_LIMIT, "mass": MASS_LIMIT, "near_edges": NEAR},
        "tasks": {
            key: {
                "title": question.task.title,
                "edges": [float(edge) for edge in question.task.edges],
                "contestants": measure_task(question, present, rounds, folder),
            }
            for key, question in questions.items()
        },
        "absent": absent,
        "work_precision": {
            key: {one.name: work_precision(question, one, folder) for one in reversed(list(modules))}
            for key, question in questions.items()
        },
    }
