"""Errors of a contestant's densities, edges and mass against the reference of a task."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from mpmath import mp
from numpy.typing import NDArray

from .tasks import DIGITS, LawTask

DENSITY_LIMIT, EDGE_LIMIT, MASS_LIMIT = 1e-6, 1e-6, 1e-8
NODES = 400  # on an interval
MOST_INTERVALS = 20

Support = list[list[float]] | None


def relative_errors(found: Sequence[Any], true: Sequence[Any]) -> NDArray[np.float64]:
    """|found/true − 1| at 60 digits; inf where a density is not a number."""
    with mp.workdps(DIGITS):
        return np.array(
            [
                float(abs(mp.mpf(one) / right - 1)) if math.isfinite(float(one)) else math.inf
                for one, right in zip(found, true, strict=True)
            ]
        )


def worst(errors: NDArray[np.float64]) -> float | None:
    """The largest error; None if one is not finite, which JSON cannot hold, or there are no points."""
    return float(errors.max()) if errors.size and np.isfinite(errors).all() else None


def edges_found(task: LawTask, support: Support) -> tuple[str, float | None]:
    """In words how the edges compare, and their worst relative error."""
    if support is None:
        return "not given", None
    if len(support) != len(task.support):
        return f"wrong: {len(support)} interval{'s' * (len(support) != 1)}, not {len(task.support)}", None
    error = worst(relative_errors([end for interval in support for end in interval], task.edges))
    if error is not None and error <= EDGE_LIMIT:
        return "right", error
    return f"wrong by {math.inf if error is None else error:.0e}", error


def mass_error(density: Callable[[Sequence[float]], Sequence[Any]], support: Support) -> float | None:
    """|∫ density − 1| over the contestant's own support, by the trapezoidal rule in the angle of each interval."""
    if support is None or not 0 < len(support) <= MOST_INTERVALS:
        return None
    angles = (np.arange(NODES) + 0.5) * np.pi / NODES
    low, high = np.array(support).T[:, :, None]
    x = (low + high) / 2 - (high - low) / 2 * np.cos(angles)
    weights = (high - low) / 2 * np.sin(angles) * np.pi / NODES
    mass = float(np.array(density(x.ravel().tolist()), dtype=float) @ weights.ravel())
    return abs(mass - 1) if math.isfinite(mass) else None


def verdict(
    task: LawTask,
    x: NDArray[np.float64],
    true: Sequence[Any],
    answer: dict[str, Any],
    density: Callable[[Sequence[float]], Sequence[Any]],
) -> dict[str, Any]:
    """Errors, and success: densities away from edges, and the mass where there is a support, within their limits."""
    errors, inside = relative_errors(answer["density"], true), task.inside(x)
    edges, edge_error = edges_found(task, answer["support"])
    mass, away = mass_error(density, answer["support"]), worst(errors[inside])
    reasons = []
    if away is None or away > DENSITY_LIMIT:
        reasons.append(f"density wrong by {'more than any number' if away is None else format(away, '.0e')}")
    if answer["support"] is not None and (mass is None or mass > MASS_LIMIT):
        reasons.append(f"mass wrong by {'more than any number' if mass is None else format(mass, '.0e')}")
    return {
        "success": not reasons,
        "message": "; ".join(reasons),
        "worst_inside": away,
        "worst_near_edges": worst(errors[~inside]),
        "edges": edges,
        "edge_error": edge_error,
        "mass_error": mass,
    }
