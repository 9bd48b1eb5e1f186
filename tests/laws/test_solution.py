"""The evidence that comes with every solve: residual, error estimate, proof of the branch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mpmath import mp

from rmt_attention.laws import attention_law, output_law

from ..oracles import Compound
from .registry import CASES, Case

every_law = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def _points(case: Case) -> np.ndarray:
    """Inside, next to every edge, beyond, in gaps, off the axis and on its negative half."""
    law = case.law
    near = [
        edge + sign * (high - low) * 10.0**-k
        for low, high in law.support
        for edge, sign in ((low, 1), (high, -1))
        if edge > 0
        for k in (1, 3, 6, 9)
    ]
    gaps = [(a[1] + b[0]) / 2 for a, b in zip(law.support, law.support[1:], strict=False)]
    top = law.edges[-1]
    return np.array([*near, *gaps, 2 * top, (0.4 + 0.3j) * top, (0.2 - 1e-6j) * top, -0.01 * top, -1e-8 * top])


@every_law
def test_every_root_is_proved_and_its_residual_is_at_rounding_level(case: Case) -> None:
    found = case.law.solve(_points(case))
    assert found.residual.max() < 2e-13  # some ten logarithms of size below 40, rounded
    assert (found.disc >= 0).all()
    assert (found.disc <= 1).all()
    if isinstance(case.oracle, Compound):
        assert (found.disc == 0).all()  # by uniqueness in the upper half-plane
    else:
        assert found.disc.max() > 1e-6
    assert found.steps > 0
    assert found.status.startswith("converged")


@every_law
def test_the_numbers_are_those_of_the_other_methods(case: Case) -> None:
    law, z = case.law, _points(case)
    found = law.solve(z)
    np.testing.assert_allclose(found.w, 1 - z * law.cauchy(z), atol=1e-14)
    axis = (z.imag == 0) & (z.real > 0)
    np.testing.assert_array_equal(found.density[axis], law.density(z[axis].real))  # exactly 0 outside the support
    outside = axis.copy()
    outside[axis] = found.density[axis] == 0
    assert outside.any()
    assert (found.w[outside].imag == 0).all()
    assert (law.cauchy(z[outside]).imag == 0).all()
    assert np.isnan(found.density[~axis]).all()
    assert np.isnan(found.density_error[~axis]).all()
    negative = (z.imag == 0) & (z.real < 0)
    np.testing.assert_allclose(found.w[negative].real, law.degrees_of_freedom(-z[negative].real), rtol=1e-14)
    assert (found.w[negative].imag == 0).all()


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case.name in ("attention, gap", "output", "tied output", "output, all tied at 1")],
)
def test_error_estimates_cover_the_errors_and_are_not_absurd(case: Case) -> None:
    law = case.law
    (low, high), *_ = law.support
    x = np.array(
        [high - (high - low) * 10.0**-k for k in (1, 3, 6, 9)] + [low + (high - low) * 10.0**-k for k in (2, 6)]
    )
    precise = law.precise(20)
    found = law.solve(x)
    errors = np.array(
        [abs(float(precise.density(one) - float(value))) for one, value in zip(x, found.density, strict=True)]
    )
    assert (errors <= found.density_error).all()
    assert np.median(found.density_error / np.maximum(errors, 1e-18)) < 1e4
    assert (found.density_error < 1e-3 * found.density)[:3].all()  # useful up to 1e-6 from the edge
    w = np.array([abs(complex(1 - one * precise.cauchy(one)) - value) for one, value in zip(x, found.w, strict=True)])
    assert (w <= found.error).all()


def test_within_rounding_of_an_edge_there_is_no_disc_and_the_density_is_small() -> None:
    law = attention_law(1.0, 4, 0.3)
    edge = law.edges[-1]
    found = law.solve([np.nextafter(edge, 0), 0.9 * edge])
    assert np.isnan(found.disc[0])
    assert "off the edges" in found.status
    assert found.disc[1] <= 1
    assert found.density[0] < 1e-7


def test_shapes_are_kept() -> None:
    law = output_law(1.0, 4, 0.1, 3, 5)
    assert law.solve(1.0).w.shape == ()
    found = law.solve([[1.0, 2.0 + 1j, -3.0]])
    for part in (found.z, found.w, found.density, found.residual, found.error, found.density_error, found.disc):
        assert part.shape == (1, 3)


@pytest.mark.parametrize("z", [0.0, float("nan"), float("inf"), [1.0, 0.0]])
def test_points_are_finite_and_nonzero(z: Any) -> None:
    with pytest.raises(ValueError, match=r"^z=.*must (be nonzero|be finite|not be NaN)"):
        attention_law(1.0, 4, 0.3).solve(z)


def test_small_z_keep_their_digits() -> None:
    """G(0⁻) = −∫ dν/x when the support starts above 0: 1 − w would cancel."""
    law = attention_law(1.0, 4, 2.0)
    inverse = law.expectation(lambda x: 1 / x)
    for z in (-1e-9, -1e-14, 1e-12j):
        assert complex(law.cauchy(z)) == pytest.approx(-inverse, rel=1e-8)
    assert complex(law.cauchy(-1e-14)) == pytest.approx(-inverse, rel=1e-12)


@pytest.mark.slow
@every_law
def test_error_estimates_cover_the_errors_of_every_law(case: Case) -> None:
    law, z = case.law, _points(case)
    precise, found = law.precise(20), case.law.solve(_points(case))
    w = np.array(
        [
            abs(complex(1 - mp.mpmathify(one) * precise.cauchy(one) - value))
            for one, value in zip(z, found.w, strict=True)
        ]
    )
    assert (w <= found.error).all(), z[w > found.error]
    axis = (z.imag == 0) & (z.real > 0)
    pairs = zip(z[axis].real, found.density[axis], strict=True)
    density = np.array([abs(float(precise.density(one) - float(value))) for one, value in pairs])
    assert (density <= found.density_error[axis]).all()
    # no cover by exaggeration: for the median point a thousandth of the estimate would not do
    known = np.abs(found.w) > 0
    assert np.median(found.error[known] / np.maximum(w[known], 1e-17 * np.abs(found.w[known]))) < 1e3
