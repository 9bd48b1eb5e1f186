"""The rational curve of laws with independent values, at 40 digits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

from rmt_attention.equations import independent

from ..oracles import Independent, thetas

# β, γ_K: small and large fractions c = θ2/θ1, narrow and wide keys
SHAPES = [(1e-20, 0.8), (0.05, 0.5), (0.4, 1.0), (1.0, 0.1), (1.0, 4.0), (2.5, 0.7), (4.0, 30.0), (26.0, 0.6)]
WIDTHS = [1e-6, 0.2, 1.0, 3.0, 60.0]


def _shape(beta: float, gamma_key: float) -> tuple[Any, Any, Any]:
    noise, theta2 = thetas(beta)
    return theta2 / (noise + theta2), noise / (noise + theta2), mpf(gamma_key)


@pytest.mark.parametrize(("beta", "gamma_key"), SHAPES)
@pytest.mark.parametrize("w", WIDTHS)
def test_the_parameter_inverts_the_degrees_of_freedom(beta: float, gamma_key: float, w: float) -> None:
    shape = _shape(beta, gamma_key)
    v = independent.parameter(mp, mpf(w), *shape)
    assert v > 0
    # 40 digits less those lost in squaring the linear coefficient
    assert abs(independent.degrees_of_freedom(mp, v, *shape) / w - 1) < mpf(10) ** -32


@pytest.mark.parametrize(("beta", "gamma_key"), SHAPES)
@pytest.mark.parametrize("w", WIDTHS)
def test_in_doubles_the_parameter_keeps_its_precision(beta: float, gamma_key: float, w: float) -> None:
    shape = _shape(beta, gamma_key)
    exact = independent.parameter(mp, mpf(w), *shape)
    # A dozen operations without cancellation, on inputs rounded to a double; dlog v/dlog of any input is at most 2.
    assert independent.parameter(math, w, *map(float, shape)) == pytest.approx(float(exact), rel=30 * 2.2e-16, abs=0)


@pytest.mark.parametrize(("beta", "gamma_key"), SHAPES)
def test_the_parameter_is_w_times_the_s_transform_at_minus_w(beta: float, gamma_key: float) -> None:
    # λ = m ∏(1 − w/a)/(w S_ρ(−w)) in the mean-one form is (laws.independent-lambda) with v = w S_ρ(−w).
    law = Independent(beta, 1.0, gamma_key)
    with mp.workdps(120):  # the oracle's square root cancels at small β
        for w in (0.01, 0.4, 0.99):
            v = independent.parameter(mp, mpf(w), *_shape(beta, gamma_key))
            assert abs(v / (w * law.s_rho(-mpf(w)) * law.mean()) - 1) < mpf(10) ** -32


@pytest.mark.parametrize(("beta", "gamma_key"), SHAPES)
def test_the_slope_is_the_derivative(beta: float, gamma_key: float) -> None:
    shape = _shape(beta, gamma_key)
    for v in (1e-3, 0.5, 7.0):
        slope = mp.diff(lambda x: independent.degrees_of_freedom(mp, x, *shape), mpf(v))
        assert abs(independent.degrees_of_freedom_slope(mp, mpf(v), *shape) / slope - 1) < mpf(10) ** -15


@pytest.mark.parametrize(("beta", "gamma_key"), SHAPES)
@pytest.mark.parametrize("distance", [1e-30, 1e-12, 0.3])
def test_the_gap_is_the_difference_it_stands_for(beta: float, gamma_key: float, distance: float) -> None:
    shape = _shape(beta, gamma_key)
    v_end = mpf(2)
    with mp.workdps(90):
        difference = independent.degrees_of_freedom(mp, v_end, *shape) - independent.degrees_of_freedom(
            mp, v_end - mpf(distance), *shape
        )
    gap = independent.degrees_of_freedom_gap(np, float(v_end) - distance, distance, float(v_end), *map(float, shape))
    # a dozen rounded operations on rounded inputs, none of which cancels
    assert gap == pytest.approx(float(difference), rel=30 * 2.2e-16, abs=0)
