"""The laws against routes that share no code with them: polynomials, integrals, S-transform series, minimisation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from rmt_attention.laws import attention_law

from ..oracles import Compound, Independent, Tied, polynomial_roots, thetas
from .registry import CASES, Case

INDEPENDENT = [case for case in CASES if isinstance(case.oracle, Independent)]
TIED = [case for case in CASES if isinstance(case.oracle, Tied)]
COMPOUND = [case for case in CASES if isinstance(case.oracle, Compound)]


def _by(cases: list[Case]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", cases, ids=lambda case: case.name)


def _plane(case: Case) -> np.ndarray:
    """Points around and on the support, from next to the axis to far away."""
    low, high = case.law.support[0][0], case.law.support[-1][1]
    inside = np.sqrt(max(low, 1e-3 * high) * high)
    return np.array([inside, inside + 1e-4j * high, 0.5 * high + 0.5j * high, -0.1 * high + 0.01j * high, 30j * high])


@_by(INDEPENDENT)
def test_w_in_the_plane_is_a_root_of_the_polynomial_of_the_law(case: Case) -> None:
    for z in _plane(case):
        w = complex(1 - z * case.law.cauchy(z))
        roots = polynomial_roots(case.oracle.polynomial(-z))
        nearest = min(roots, key=lambda root: abs(root - w))
        # w far out is formed as 1 − zG from numbers near 1: absolute error ε, more next to a gap (see below)
        assert abs(nearest - w) < 1e-13 + 1e-11 * abs(w), z
        # negative control: the other roots are not within reach of the tolerance
        others = sorted(abs(root - w) for root in roots)
        assert others[1] > 1e-6


@_by(TIED)
def test_tied_w_in_the_plane_solves_the_integral_equation(case: Case) -> None:
    for z in _plane(case)[1:]:
        w = complex(1 - z * case.law.cauchy(z))
        by_quadrature = case.oracle.w_by_quadrature(case.oracle.argument(z, w))
        assert abs(by_quadrature - w) < 1e-11, z


@_by(TIED)
def test_the_closed_integral_of_the_tied_oracle_agrees_with_its_quadrature(case: Case) -> None:
    for y in (1e-3, 0.2, 1.0):
        # a pole at distance 1/√y at worst: 4000 nodes converge beyond rounding
        assert case.oracle.w_by_quadrature(-y) == pytest.approx(float(case.oracle.w_at(y)), rel=1e-13, abs=0)


@_by(COMPOUND)
def test_compound_w_in_the_plane_is_the_one_root_in_the_upper_half_plane(case: Case) -> None:
    for z in _plane(case)[1:]:
        w = complex(1 - z * case.law.cauchy(z))
        assert abs(complex(case.oracle.w_in_the_plane(complex(z))) - w) < 1e-13 + 1e-12 * abs(w), z


@_by(list(CASES))
def test_six_moments_are_those_of_the_s_transform_or_the_free_cumulants(case: Case) -> None:
    for k, expected in enumerate(case.oracle.moments(6), start=1):
        # sums of positive terms: about 100 operations
        assert case.law.moment(k) == pytest.approx(float(expected), rel=1e-13, abs=0), k
    assert case.law.mean == pytest.approx(float(case.oracle.mean()), rel=1e-14, abs=0)


@_by(INDEPENDENT)
def test_low_moments_are_the_closed_formulas(case: Case) -> None:
    o, law = case.oracle, case.law.normalized()
    noise, theta2 = map(float, thetas(o.beta))
    c, t, h = theta2 / (noise + theta2), o.gamma_key, o.heads
    excess = 1 / h + sum(1 / a for a in o.outer) + c * c / t
    assert law.moment(2) == pytest.approx(1 + excess, rel=1e-13, abs=0)
    if not o.outer:
        third = 1 + 3 * (1 / h + c * c / t) + 1 / h**2 + 3 * c * c / (h * t) + c**3 / t**2
        assert law.moment(3) == pytest.approx(third, rel=1e-13, abs=0)


@_by(TIED)
def test_tied_first_moments_are_the_closed_formulas(case: Case) -> None:
    o = case.oracle
    noise, theta2 = map(float, thetas(o.beta))
    if o.gamma_out is None:
        expected = o.gamma_key * (noise + theta2) + o.heads * theta2
    else:
        expected = o.gamma_out * (noise + theta2 + o.heads * theta2 / o.gamma_key)
    assert case.law.mean == pytest.approx(expected, rel=1e-14, abs=0)


@_by(INDEPENDENT)
def test_the_top_edge_is_a_minimum_over_the_s_transform(case: Case) -> None:
    o = case.oracle
    noise, theta2 = map(float, thetas(o.beta))
    c, t = theta2 / (noise + theta2), o.gamma_key

    def log_location(log_u: float) -> float:
        u = math.exp(log_u)
        s_rho = 2 / (1 + c * u / t + math.sqrt((1 - c * u / t) ** 2 + 4 * c * c * u / t))
        return sum(math.log1p(u / a) for a in o.widths) - log_u - math.log(s_rho)

    found = minimize_scalar(log_location, bounds=(-12, 12), method="bounded", options={"xatol": 1e-7})
    # a minimum: an error of 1e-7 in log u moves the value by 1e-14
    edge = o.constant * (noise + theta2) * math.exp(found.fun)
    assert case.law.edges[-1] == pytest.approx(edge, rel=1e-12, abs=0)


@_by(TIED)
def test_the_tied_top_edge_is_a_minimum_over_the_argument(case: Case) -> None:
    o = case.oracle
    noise, square = map(float, o.coefficients())
    highest = (1 + math.sqrt(o.ratio)) ** 2
    pole = 1 / (highest * (noise + square * highest))

    def log_location(logit: float) -> float:
        zeta = pole / (1 + math.exp(-logit))
        u = -float(o.w_by_quadrature(zeta))
        return sum(math.log1p(u / a) for a in o.outer_widths) - math.log(zeta) + math.log(o.constant)

    found = minimize_scalar(log_location, bounds=(-12, 6), method="bounded", options={"xatol": 1e-7})
    assert case.law.edges[-1] == pytest.approx(math.exp(found.fun), rel=1e-11, abs=0)


@pytest.mark.parametrize("beta", [0.2, 0.7, 1.0, 1.6])
@pytest.mark.parametrize("g", [0.05, 0.4, 1.0, 3.0, 50.0])
def test_the_single_head_edge_is_the_published_minimum_and_above_that_of_pure_noise(beta: float, g: float) -> None:
    """Hayase, Collins and Karakida (2026)."""
    noise, theta2 = map(float, thetas(beta))
    end = math.sqrt(g / theta2)

    def location(logit: float) -> float:
        z = end / (1 + math.exp(-logit))
        return 1 / z + noise * z + theta2 * z / (1 - theta2 * z * z / g)

    found = minimize_scalar(location, bounds=(-15, 15), method="bounded", options={"xatol": 1e-7})
    edge = attention_law(beta, 1, g).edges[-1]
    assert edge == pytest.approx(found.fun**2, rel=1e-12, abs=0)
    assert edge > 4 * (noise + theta2)
