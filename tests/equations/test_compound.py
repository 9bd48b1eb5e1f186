"""The curve of compound free Poisson laws: derivative and gap against multiple precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

from rmt_attention.equations import compound

JUMPS = np.array([0.02, 0.5, 1.0, 9.0])
RATES = np.array([0.4, 1.1, 0.05, 0.3])


def _degrees_of_freedom(p: Any) -> Any:
    pairs = zip(map(mpf, JUMPS), map(mpf, RATES), strict=True)
    return sum(compound.degrees_of_freedom(mp, p, 1 - p, jump, rate) for jump, rate in pairs)


@pytest.mark.parametrize("p", [1e-9, 0.1, 0.5, 0.999])
def test_the_curve_is_silversteins_sum(p: float) -> None:
    v = mpf(p) / (1 - mpf(p))
    expected = sum(mpf(rate) * v * mpf(y) / (1 + v * mpf(y)) for y, rate in zip(JUMPS, RATES, strict=True))
    assert abs(_degrees_of_freedom(mpf(p)) / expected - 1) < mpf(10) ** -35


@pytest.mark.parametrize("p", [1e-9, 0.1, 0.5, 0.999])
def test_the_slope_is_the_derivative(p: float) -> None:
    slope = mp.diff(_degrees_of_freedom, mpf(p))
    value = compound.degrees_of_freedom_slope(np, p, 1 - p, JUMPS, RATES).sum()
    # 1 − p is rounded on entry and jumps below it add without cancellation
    assert value == pytest.approx(float(slope), rel=1e-12, abs=0)


@pytest.mark.parametrize("distance", [1e-30, 1e-12, 0.3])
def test_the_gap_is_the_difference_it_stands_for(distance: float) -> None:
    p_end = mpf(0.75)
    with mp.workdps(90):
        difference = _degrees_of_freedom(p_end) - _degrees_of_freedom(p_end - mpf(distance))
    p = 0.75 - distance
    gap = compound.degrees_of_freedom_gap(np, p, 1 - p, distance, 0.75, 0.25, JUMPS, RATES).sum()
    assert gap == pytest.approx(float(difference), rel=30 * 2.2e-16, abs=0)


def test_the_complement_handed_over_separately_keeps_precision_at_the_end() -> None:
    # At 1 − p = 1e-25 the sum of rates is approached as 1e-25 Σ rate/jump, which p alone (= 1.0) cannot show.
    gap = compound.degrees_of_freedom_gap(np, 1.0, 1e-25, 1e-25, 1.0, 0.0, JUMPS, RATES).sum()
    assert gap == pytest.approx(1e-25 * float((RATES / JUMPS).sum()), rel=1e-14, abs=0)
