"""Softmax of rows: exact, shift invariant, never overflowing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import softmax

from rmt_attention.simulation import softmax_rows

SCORES = arrays(float, st.tuples(st.integers(1, 6), st.integers(1, 6)), elements=st.floats(-50, 50))


@given(SCORES, st.floats(0.01, 700))
@settings(max_examples=200, deadline=None)
def test_rows_are_probability_vectors_equal_to_scipys(scores: np.ndarray, beta: float) -> None:
    weights = softmax_rows(scores, beta)
    assert (weights >= 0).all()
    np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=0, atol=1e-14)
    np.testing.assert_allclose(weights, softmax(beta * scores, axis=1), rtol=1e-12, atol=1e-300)


@given(SCORES, st.floats(-1e3, 1e3))
@settings(max_examples=100, deadline=None)
def test_adding_a_number_to_a_row_changes_nothing(scores: np.ndarray, shift: float) -> None:
    # rounding of scores + shift is at most 1e3·eps, and e^x changes by that relative amount
    np.testing.assert_allclose(softmax_rows(scores + shift), softmax_rows(scores), rtol=1e-11, atol=1e-300)


def test_beta_of_700_gives_no_nan_where_the_bare_exponential_does() -> None:
    scores = np.random.default_rng(0).standard_normal((50, 50))
    weights = softmax_rows(scores, 700)
    assert np.isfinite(weights).all()
    np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=0, atol=1e-14)
    np.testing.assert_array_equal(weights.argmax(axis=1), scores.argmax(axis=1))
    with np.errstate(all="ignore"):  # negative control
        bare = np.exp(700 * scores)
        bare /= bare.sum(axis=1, keepdims=True)
    assert np.isnan(bare).any()


def test_equal_scores_give_equal_weights() -> None:
    np.testing.assert_array_equal(softmax_rows(np.full((3, 4), 7.0), 500), np.full((3, 4), 0.25))


def test_the_scores_are_left_alone() -> None:
    scores = np.arange(6.0).reshape(2, 3)
    softmax_rows(scores, 2.0)
    np.testing.assert_array_equal(scores, np.arange(6.0).reshape(2, 3))


@pytest.mark.parametrize(
    ("scores", "beta"),
    [([[1.0, np.nan]], 1.0), ([[1.0, np.inf]], 1.0), ([1.0, 2.0], 1.0), ([[1e300, 1.0]], 1e10), ([[1.0, 2.0]], np.nan)],
)
def test_scores_that_are_no_finite_matrix_are_refused(scores: object, beta: float) -> None:
    with np.errstate(over="ignore"), pytest.raises(ValueError, match="scores: must be a matrix of finite numbers"):
        softmax_rows(scores, beta)  # type: ignore[arg-type]
