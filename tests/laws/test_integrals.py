"""Integrals of laws against their closed forms, over the registry."""

from __future__ import annotations

import numpy as np
import pytest

from rmt_attention import AttentionLayer, conditional_law
from rmt_attention.laws import SpectralLaw

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


def test_a_density_too_large_by_a_part_in_a_thousand_is_seen() -> None:
    """Negative control."""
    law = CASES[0].law
    assert abs(1.001 * law.expectation(np.ones_like) - 1) > 9e-4
