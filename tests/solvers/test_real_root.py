"""w(λ) and its complement against 80-digit solutions of the S-transform equation."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import mpf

from rmt_attention import ConvergenceError
from rmt_attention.solvers.real_root import solve_ridge

from ..laws.registry import CASES, Case

EPS = float(np.finfo(float).eps)
RIDGES = (1e-14, 1e-7, 1e-3, 0.3, 1.0, 40.0, 1e8)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_w_and_its_complement_are_right_from_tiny_to_huge_ridge(case: Case) -> None:
    # The solver stops at |log λ(p) − log λ| ≤ 8ε(1 + |log λ|) ≤ 6e-14 here; w and its complement move by at most as
    # much, relatively, as λ. The rest of 1e-13 is for rounding of the parameters.
    root = solve_ridge(case.law._curve, np.array(RIDGES))
    for k, ridge in enumerate(RIDGES):
        w, complement = case.oracle.degrees_of_freedom(ridge)
        assert abs(mpf(float(root.w[k])) / w - 1) < 1e-13, ridge
        assert abs(mpf(float(root.gap[k])) / (complement * case.oracle.w_max) - 1) < 1e-13, ridge


def test_the_result_says_how_it_ended() -> None:
    ridges = np.geomspace(1e-14, 1e8, 200)
    root = solve_ridge(CASES[0].law._curve, ridges)
    assert (root.residual <= 8 * EPS * (1 + np.abs(np.log(ridges)))).all()
    assert root.steps < 60
    assert (np.diff(root.w) <= 0).all()


def test_too_few_steps_raise_an_error_that_carries_the_state() -> None:
    with pytest.raises(ConvergenceError, match="not converged after 2 steps") as caught:
        solve_ridge(CASES[0].law._curve, np.array([1e-9, 1.0]), max_steps=2)
    tau, error = caught.value.result
    assert tau.shape == error.shape == (2,)


def test_no_ridge_gives_no_root() -> None:
    assert solve_ridge(CASES[0].law._curve, np.zeros(0)).w.size == 0
