"""Halving ends at neighbouring doubles, for every bracket of an array at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rmt_attention.solvers.bisection import bisect

Array = NDArray[np.float64]


def test_the_root_is_found_to_the_last_bit() -> None:
    targets = np.array([1e-200, 2.0, 3.0, 1e150])
    roots = bisect(lambda x: x * x - targets[: x.size], np.zeros(4), np.full(4, 1e80))
    assert (np.abs(roots - np.sqrt(targets)) <= np.spacing(np.sqrt(targets))).all()


def test_poles_at_the_ends_are_never_evaluated() -> None:
    def increasing(x: Array) -> Array:
        assert ((x > 0) & (x < 1)).all()
        return 1 / (1 - x) - 1 / x

    np.testing.assert_allclose(bisect(increasing, np.zeros(1), np.ones(1)), 0.5, rtol=1e-15)


def test_brackets_of_different_length_end_together() -> None:
    low, high = np.array([0.0, 1.0]), np.array([1.0, np.nextafter(1.0, 2.0)])
    asked: list[int] = []

    def increasing(x: Array) -> Array:
        asked.append(x.size)
        return x - 0.25

    roots = bisect(increasing, low, high)
    assert roots.tolist() == [0.25, 1.0] or abs(roots[0] - 0.25) <= np.spacing(0.25)
    assert set(asked) == {1}, "a finished bracket is asked again"


def test_no_bracket_gives_no_root() -> None:
    assert bisect(lambda x: x, np.zeros(0), np.zeros(0)).size == 0
