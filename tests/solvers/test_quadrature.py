"""Quadrature on one interval of a support: panels adapt to what the critical values do not announce."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from rmt_attention.laws import attention_law, output_law
from rmt_attention.solvers.critical import CriticalValues
from rmt_attention.solvers.quadrature import support_masses
from rmt_attention.solvers.support import Edge, Interval

NONE = CriticalValues(
    *(np.zeros(0) for _ in range(3)), np.zeros(0, dtype=bool), np.zeros(0), np.zeros(0, dtype=complex)
)
INTERVAL = Interval(Edge(-1.0, 0.0, 0.0), Edge(2.0, 0.0, 0.0))
TO_ZERO = Interval(None, Edge(2.0, 0.0, 0.0))


@pytest.mark.parametrize("width", [1.0, 1e-2, 1e-5])
def test_panels_are_halved_until_a_narrow_peak_is_integrated(width: float) -> None:
    def peak(logs: NDArray[np.float64]) -> NDArray[np.float64]:
        return width / ((logs - 0.3) ** 2 + width**2)

    logs, masses = support_masses(INTERVAL, NONE, peak, 1, math.pi)
    assert masses.sum() == pytest.approx(math.atan(1.7 / width) + math.atan(1.3 / width), rel=1e-13)
    assert (np.diff(logs) >= 0).all()


def test_the_panel_that_reaches_down_to_zero_gives_up_what_is_too_coarse() -> None:
    def decay_with_a_peak(logs: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.exp(logs / 2) + np.exp(-(((logs + 6) / 0.3) ** 2))

    _, masses = support_masses(TO_ZERO, NONE, decay_with_a_peak, 2, 6.0)
    assert masses.sum() == pytest.approx(2 * math.e + 0.3 * math.sqrt(math.pi), rel=1e-13)


def test_a_small_feature_that_converges_later_than_the_rest_is_seen() -> None:
    # a cusp of width 1e-5 at the end of the panel to 0 bends the density of this law, whose mass is 1
    law = attention_law(0.08611748108988607, 1.0, 0.8215113635759349)
    x, weights = law.quadrature
    assert weights.sum() == pytest.approx(1, rel=1e-13)
    assert float((x * weights).sum()) == pytest.approx(law.mean, rel=1e-13)


def test_points_in_a_gap_too_narrow_to_count_as_one_are_integrated_too() -> None:
    # bulks 9.5e-10 apart in log x: three real roots between them, of which Newton's steps may miss all by as much
    law = output_law(2.136218125232191, 104.0, 0.012887852521836662, 0.358939454338593, 17.971708515623074)
    assert len(law.support) == 1
    assert law.expectation(lambda x: x) == pytest.approx(law.mean, rel=1e-12)
    inside = np.exp(9.343975298413127 + np.linspace(0, 1e-9, 50))
    assert (law.density(inside) < 1e-7 * law.density(13000.0)).any()
    assert "below 1e-9" in law.solve(inside).status or law.solve(inside).residual.max() < 1e-10


def test_square_roots_at_both_ends_need_no_halving() -> None:
    logs, masses = support_masses(INTERVAL, NONE, lambda x: np.sqrt((x + 1) * (2 - x)), 1, 3.5)
    assert masses.sum() == pytest.approx(math.pi * 9 / 8, rel=1e-13)
    assert logs.size < 150


def test_noise_does_not_halve_panels_without_end() -> None:
    rng = np.random.default_rng(0)
    logs, _ = support_masses(INTERVAL, NONE, lambda x: 1 + 1e-6 * rng.random(x.shape), 1, 3.0)
    assert logs.size < 500_000


def test_errors_that_are_nothing_beside_all_mass_are_left() -> None:
    # noise of a share of 1e-3 on a density of 1e-15 of the whole
    rng = np.random.default_rng(0)

    def noisy(logs: NDArray[np.float64]) -> NDArray[np.float64]:
        return 1e-15 * (1 + 1e-3 * rng.random(logs.shape))

    assert support_masses(INTERVAL, NONE, noisy, 1, 1.0)[0].size < 150
    assert support_masses(INTERVAL, NONE, noisy, 1, 1e-15)[0].size > 10_000
