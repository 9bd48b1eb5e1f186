"""θ1 − θ2 keeps its precision from vanishing to huge inverse temperatures."""

from __future__ import annotations

import math

import numpy as np
import pytest
from mpmath import mp, mpf

from rmt_attention.equations.temperature import score_variance_excess

THETA2 = np.geomspace(1e-12, 700, 600)


def _exact(theta2: float) -> object:
    with mp.workdps(60):
        return mp.expm1(mpf(theta2)) - mpf(theta2)


def test_the_noise_variance_loses_nothing() -> None:
    errors = np.array([abs(float(mpf(score_variance_excess(math, y)) / _exact(y) - 1)) for y in map(float, THETA2)])
    assert errors.max() < 1.5e-15, THETA2[np.argmax(errors)]
    # negative control: the plain difference fails the same bound
    naive = np.array([abs(float(mpf(math.expm1(y) - y) / _exact(y) - 1)) for y in map(float, THETA2)])
    assert naive.max() > 1e-6


def test_an_array_gives_the_same_numbers_as_its_entries() -> None:
    together = score_variance_excess(np, THETA2)
    np.testing.assert_allclose(together, [score_variance_excess(math, float(y)) for y in THETA2], rtol=1e-15)


@pytest.mark.parametrize("theta2", [1e-6, 0.3, 1.0, 6.25, 300.0])
def test_in_multiple_precision_it_is_good_to_40_digits(theta2: float) -> None:
    with mp.workdps(42):
        assert abs(score_variance_excess(mp, mpf(theta2)) / _exact(theta2) - 1) < mpf(10) ** -40


@pytest.mark.parametrize("theta2", [1e-6, 0.3, 1.0, 6.25])
def test_its_complex_step_derivative_is_theta1(theta2: float) -> None:
    # d(e^y − 1 − y)/dy = e^y − 1; a complex step of 1e-30 has no truncation and no cancellation error.
    derivative = score_variance_excess(np, complex(theta2, 1e-30)).imag / 1e-30
    assert derivative == pytest.approx(math.expm1(theta2), rel=1e-14, abs=0)
