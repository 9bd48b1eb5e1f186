"""What a curve promises the solvers: derivatives, gaps, cumulants and critical points that fit its own λ(p)."""

from __future__ import annotations

import numpy as np
import pytest

from .registry import CASES, Case

every_curve = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
SHARES = np.array([1e-6, 0.2, 0.7, 1 - 1e-6])


def _points(case: Case) -> tuple[np.ndarray, np.ndarray]:
    p_end = case.law._curve.p_end
    return SHARES * p_end + 0j, (1 - SHARES) * p_end + 0j


@every_curve
def test_slopes_are_complex_step_derivatives(case: Case) -> None:
    curve = case.law._curve
    p, distance = _points(case)
    step = 1e-30 * p.real
    moved = (p + 1j * step, distance - 1j * step)
    # A complex step has neither truncation nor cancellation; each side is some thirty rounded operations, and near the
    # end the distance carries the rounding of 1 − 1e-6.
    np.testing.assert_allclose(curve.w(*moved).imag / step, curve.w_slope(p, distance).real, rtol=1e-13)
    np.testing.assert_allclose(
        curve.log_ridge(*moved).imag / step, curve.log_ridge_and_slope(p, distance)[1].real, rtol=1e-13
    )
    np.testing.assert_allclose(-curve.w_gap(*moved).imag / step, curve.w_slope(p, distance).real, rtol=1e-9)
    np.testing.assert_allclose(curve.log_scale(*moved).imag / step, curve.scale_log_slope(p, distance).real, rtol=1e-13)
    for slope, curvature in (
        (curve.w_slope, curve.w_curvature),
        (curve.scale_log_slope, curve.scale_log_curvature),
        (lambda p, distance: curve.log_ridge_and_slope(p, distance)[1], curve.log_curvature),
    ):
        # near the end both sides cancel between large terms
        np.testing.assert_allclose(slope(*moved).imag / step, curvature(p, distance).real, rtol=1e-9)


@every_curve
def test_the_curve_runs_from_zero_to_the_largest_w_while_the_ridge_falls(case: Case) -> None:
    curve = case.law._curve
    share = np.linspace(0, 1, 200)[1:-1]
    p, distance = share * curve.p_end, (1 - share) * curve.p_end
    assert (np.diff(curve.w(p, distance)) > 0).all()
    assert (np.diff(curve.log_ridge(p, distance)) < 0).all()
    end, nothing = np.array([curve.p_end]), np.zeros(1)
    assert float(curve.w(end, nothing)[0]) == pytest.approx(float(case.oracle.w_max), rel=1e-14, abs=0)
    assert float(curve.w_gap(end, nothing)[0]) == 0
    np.testing.assert_allclose(curve.w(p, distance) + curve.w_gap(p, distance), curve.w_max, rtol=1e-14)


@every_curve
def test_the_slope_vanishes_at_the_parameter_of_every_edge(case: Case) -> None:
    curve, edges = case.law._curve, np.array(case.law.edges)
    p, distance = (np.asarray(part, dtype=complex) for part in curve.critical_points())
    with np.errstate(all="ignore"):
        locations = np.exp(curve.log_ridge(p, distance).real)
        slope = np.abs(curve.log_ridge_and_slope(p, distance)[1])
        terms = np.abs(curve.scale_log_slope(p, distance))
    for edge in edges:
        index = int(np.nanargmin(np.abs(locations / edge - 1)))
        assert locations[index] == pytest.approx(edge, rel=1e-13, abs=0)
        # a root of a polynomial of degree below 12 in doubles, polished: cancellation to 1e-9 of the terms
        assert float(slope[index]) < 1e-9 * float(terms[index] + 1)


@every_curve
def test_the_series_of_u_starts_like_w_for_large_ridge(case: Case) -> None:
    # u(ζ) = Σ m_k ζ^k with z = C ∏(1 + u/b)/ζ; at λ → ∞, w = −u → C m_1/λ.
    series, widths, log_unit = case.law._curve.cumulant_series(5)
    assert series.shape == (5,)
    assert (series > 0).all()
    assert set(widths) <= set(case.law._curve.widths)
    mean = np.exp(case.law._curve.log_constant + log_unit) * series[0]
    assert mean == pytest.approx(float(case.oracle.mean()), rel=1e-14, abs=0)
