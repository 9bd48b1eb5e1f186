"""Moments far out: large orders, large β, extreme ratios, against mpmath by another Lagrange series."""

from __future__ import annotations

import math

import pytest
from mpmath import mpf

from rmt_attention.laws import SpectralLaw, compound_poisson_law, output_law, tied_output_law, tied_values_law

LAWS = [
    output_law(0.9, 3, 0.75, 1.25, 0.75),
    output_law(1, 2, 1e-6, 1e-6, 3.0),
    output_law(26, 3, 0.75, 1.25, 0.75).normalized(),
    tied_output_law(3.6, 32, 1, 1).normalized(),
    tied_output_law(26, 32, 1e-3, 1).normalized(),
    tied_values_law(1e-6, 4, 0.2).normalized(),
    tied_values_law(1.0, 4, 4e6),
    compound_poisson_law([1, 1e-9, 1e6], 0.3),
]


@pytest.mark.parametrize("k", [1, 2, 8, 30, 60])
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_moments_agree_with_mpmath_or_are_beyond_double_precision(law: SpectralLaw, k: int) -> None:
    moment, precise = law.moment(k), law.precise(20).moment(k)
    if precise > mpf(2) ** 1024:
        assert moment == math.inf
    else:
        # exp(k log C) of numbers up to 1e308: an error of |log m_k| ε, and e^{β²} ε β² to the power k
        tolerance = 1e-11 if "β=26" in law.name else 2e-13
        assert abs(mpf(moment) / precise - 1) < tolerance
