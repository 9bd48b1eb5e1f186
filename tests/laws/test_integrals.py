"""Integrals of laws against their closed forms, over the registry."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import quad

from rmt_attention import AttentionLayer, ConvergenceError, conditional_law
from rmt_attention.laws import SpectralLaw, attention_law, output_law, tied_output_law, tied_values_law

from .registry import CASES, Case
from .stress_errors import integral_errors


def _worst(law: SpectralLaw) -> float:
    return max(integral_errors(law).values())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_integrals_over_a_law_are_its_closed_forms(case: Case) -> None:
    assert _worst(case.law) < 1e-12


@pytest.mark.parametrize("d_out", [20, 90])
def test_integrals_over_the_law_of_one_draw_are_its_closed_forms(d_out: int) -> None:
    assert _worst(conditional_law(AttentionLayer(60, 60, heads=2, d_key=12, d_out=d_out))) < 1e-12


@pytest.mark.parametrize(
    "law",
    [
        output_law(0.3686719803449543, 1.0, 0.01155156619423754, 1.0, 1.0),
        output_law(4.2570466947655365, 1.0, 0.004120209096443518, 1.0, 1.0),
        output_law(1.0, 1.0, 1.0, 1.0, 1.0),
        tied_output_law(1.0, 1.0, 1.0, 1.0),
        attention_law(1e-6, 1.0, 1.0),
        tied_values_law(0.06645075847989987, 1.0, 1.000000000752683),  # two widths equal and a third nearly so
    ],
    ids=lambda law: law.name,
)
def test_functions_that_turn_far_below_the_spectrum_of_several_equal_widths_are_integrated(law: SpectralLaw) -> None:
    x, weights = law.quadrature
    for ridge in law.mean * 10.0 ** np.arange(-17, 3):
        assert float((weights / (1 + ridge / x)).sum()) == pytest.approx(
            float(law.degrees_of_freedom(ridge)), rel=1e-13
        )


def test_a_density_too_large_by_a_part_in_a_thousand_is_seen() -> None:
    """Negative control."""
    law = CASES[0].law
    assert abs(1.001 * law.expectation(np.ones_like) - 1) > 9e-4


def test_integrals_of_functions_that_turn_fast_take_as_many_points_as_they_need() -> None:
    law = output_law(1, 12, 1.5, 1.5, 1.5)
    for frequency in (2, 10, 50, 100):
        low, high = law.support[0]
        expected = quad(law.density, low, high, weight="cos", wvar=frequency, epsabs=1e-12, limit=500)[0]
        assert law.expectation(lambda x, k=frequency: np.cos(k * x)) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("function", [lambda x: (x > 1) * 1.0, lambda x: abs(x - 1)], ids=["jump", "kink"])
def test_integrals_of_functions_that_are_not_smooth_raise(function: Callable[[np.ndarray], np.ndarray]) -> None:
    law = output_law(1, 12, 1.5, 1.5, 1.5)
    with pytest.raises(ConvergenceError, match=r"∫ f still changes by .* must be smooth"):
        law.expectation(function)


def test_tied_laws_at_large_beta_do_not_warn() -> None:
    """Warnings are errors in tests."""
    law = tied_values_law(26, 4, 1)
    for x in (1e285, 1e290):
        assert float(law.cdf(x)) == pytest.approx(float(law.precise(20).cdf(x)), rel=1e-11)
