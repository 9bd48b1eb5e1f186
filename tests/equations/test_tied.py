"""The rational curve of laws with tied values, at 40 digits and against the integral it comes from."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

from rmt_attention.equations import tied

from ..oracles import Tied, thetas

# β, h, γ_K
SHAPES = [
    (0.05, 4.0, 0.9),
    (0.7, 3.0, 0.6),
    (1.0, 1.0, 1.0),
    (1.2, 2.5, 1.8),
    (2.5, 8.0, 20.0),
    (1.0, 0.3, 5.0),
    (24.0, 12.0, 1.5),
]


def _shape(beta: float, heads: float, gamma_key: float) -> tuple[Any, Any, Any]:
    noise, theta2 = thetas(beta)
    ratio = mpf(gamma_key) / mpf(heads)
    return mpf(heads), ratio, ratio * noise / theta2


@pytest.mark.parametrize(("beta", "heads", "gamma_key"), SHAPES)
@pytest.mark.parametrize("share", [1e-6, 0.3, 0.9, 1.0])
def test_the_parameter_inverts_the_degrees_of_freedom(
    beta: float, heads: float, gamma_key: float, share: float
) -> None:
    shape = _shape(beta, heads, gamma_key)
    w = mpf(share) * min(heads, gamma_key)
    q, rest = tied.parameter(mp, w, *shape)
    assert 0 < q < 1
    assert abs(tied.degrees_of_freedom(mp, q, rest, *shape) / w - 1) < mpf(10) ** -30
    assert abs(rest / (1 - q) - 1) < mpf(10) ** -20


@pytest.mark.parametrize(("beta", "heads", "gamma_key"), SHAPES)
@pytest.mark.parametrize("share", [1e-6, 0.3, 0.9, 1.0])
def test_in_doubles_the_parameter_keeps_its_precision(
    beta: float, heads: float, gamma_key: float, share: float
) -> None:
    shape = tuple(map(float, _shape(beta, heads, gamma_key)))
    w = share * min(heads, gamma_key)
    exact = tied.parameter(mp, mpf(w), *map(mpf, shape))
    # two dozen operations; the discriminant is a sum of positive terms
    found = tied.parameter(math, w, *shape)
    assert found == pytest.approx(tuple(map(float, exact)), rel=50 * 2.2e-16, abs=0)


@pytest.mark.parametrize(("beta", "heads", "gamma_key"), SHAPES)
@pytest.mark.parametrize("q", [1e-9, 0.01, 0.2])
def test_the_curve_is_the_integral_over_the_key_spectrum(beta: float, heads: float, gamma_key: float, q: float) -> None:
    # With y = s(q)/((1 − w/h)(1 − w/γ_K)), w(q) = h ∫ yφ/(1 + yφ) dπ_{γ_K/h}, while w stays below h and γ_K.
    law, shape = Tied(beta, heads, gamma_key), _shape(beta, heads, gamma_key)
    q = q * float(tied.parameter(mp, mpf(min(heads, gamma_key)), *shape)[0])
    w = tied.degrees_of_freedom(mp, mpf(q), 1 - mpf(q), *shape)
    y = tied.scale(mp, mpf(q), 1 - mpf(q), thetas(beta)[1]) / ((1 - w / mpf(heads)) * (1 - w / mpf(gamma_key)))
    assert abs(law.w_at(y) / w - 1) < mpf(10) ** -18
    # the oracle's closed form of the integral against its own quadrature
    assert law.w_by_quadrature(-float(y)) == pytest.approx(float(w), rel=1e-12, abs=0)


@pytest.mark.parametrize(("beta", "heads", "gamma_key"), SHAPES)
def test_the_slopes_are_the_derivatives(beta: float, heads: float, gamma_key: float) -> None:
    shape, theta2 = _shape(beta, heads, gamma_key), thetas(beta)[1]
    for q in (1e-3, 0.4, 0.9):
        x, rest = mpf(q), 1 - mpf(q)
        for value, derivatives in (
            (
                lambda x: tied.degrees_of_freedom(mp, x, 1 - x, *shape),
                (
                    tied.degrees_of_freedom_slope(mp, x, rest, *shape),
                    tied.degrees_of_freedom_curvature(mp, x, rest, *shape),
                ),
            ),
            (
                lambda x: mp.log(tied.scale(mp, x, 1 - x, theta2)),
                (tied.scale_log_slope(mp, x, rest), tied.scale_log_curvature(mp, x, rest, 1)),
            ),
        ):
            for order, derivative in enumerate(derivatives, 1):
                # the numerical derivative of order n keeps about 40/(n + 1) digits of the working precision
                assert abs(derivative / mp.diff(value, x, order) - 1) < mpf(10) ** -10


@pytest.mark.parametrize(("beta", "heads", "gamma_key"), SHAPES)
@pytest.mark.parametrize("distance", [1e-30, 1e-12, 0.3])
def test_the_gap_is_the_difference_it_stands_for(beta: float, heads: float, gamma_key: float, distance: float) -> None:
    shape = _shape(beta, heads, gamma_key)
    q_end = mpf(0.5)
    with mp.workdps(90):
        q = q_end - mpf(distance)
        difference = tied.degrees_of_freedom(mp, q_end, 1 - q_end, *shape) - tied.degrees_of_freedom(
            mp, q, 1 - q, *shape
        )
    ends = float(q_end), float(1 - q_end)
    gap = tied.degrees_of_freedom_gap(np, 0.5 - distance, 0.5 + distance, distance, *ends, *map(float, shape))
    assert gap == pytest.approx(float(difference), rel=30 * 2.2e-16, abs=0)
