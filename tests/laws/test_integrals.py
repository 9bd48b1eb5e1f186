"""Integrals of laws against their closed forms, over the registry."""

from __future__ import annotations

import numpy as np
import pytest

from rmt_attention import AttentionLayer, conditional_law
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
