"""Laws made from a law: of the singular values themselves, and of MᵀM."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from rmt_attention.laws import attention_law, compound_poisson_law, output_law
from rmt_attention.spectra import Law

from .registry import CASES, Case

every_law = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
QUADRATURE = 1e-11


@every_law
def test_singular_values_have_the_transformed_density_cdf_quantiles_and_moments(case: Case) -> None:
    law = case.law
    singular = law.singular_values()
    assert isinstance(singular, Law)
    levels = 1 - float(law.degrees_of_freedom(0.0)) * np.array([0.77, 0.43, 0.13])
    s = singular.quantile(levels)
    np.testing.assert_allclose(s**2, law.quantile(levels), rtol=1e-14)
    np.testing.assert_allclose(singular.cdf(s), levels, rtol=1e-12)
    step = 1e-5 * s  # the slope of the cdf: its third derivative is about f/s², rounding 1e-16/1e-5
    slope = (singular.cdf(s + step) - singular.cdf(s - step)) / (2 * step)
    np.testing.assert_allclose(singular.density(s), slope, rtol=1e-6)
    assert singular.moment(2) == law.mean
    assert singular.moment(4) == law.moment(2)
    assert singular.moment(1) == pytest.approx(law.expectation(np.sqrt), rel=1e-14)
    assert singular.mean**2 < law.mean  # Jensen
    assert singular.support == tuple((a**0.5, b**0.5) for a, b in law.support)
    assert singular.atoms == law.atoms
    again = pickle.loads(pickle.dumps(singular))
    assert again.quantile(0.9) == singular.quantile(0.9)


@every_law
def test_the_cauchy_transform_of_singular_values_is_their_integral(case: Case) -> None:
    law = case.law
    singular = law.singular_values()
    top = singular.edges[-1]
    # off the axis far enough for plain quadrature, in both ways of computing it
    z = top * np.array([0.5 + 0.6j, 1.2 + 0.3j, 0.9 - 0.8j, 0.3 + 1j, -0.4 + 0.1j, -1.0, 2.5])
    expected = [
        law.expectation(lambda x, at=at: (1 / (at - np.sqrt(x))).real)
        + 1j * law.expectation(lambda x, at=at: (1 / (at - np.sqrt(x))).imag)
        for at in z
    ]
    np.testing.assert_allclose(singular.cauchy(z), expected, rtol=1e-10)
    s = singular.quantile([0.94, 0.98])
    np.testing.assert_allclose(-singular.cauchy(s).imag / np.pi, singular.density(s), rtol=1e-11)
    far = 1e7 * top * np.exp(1j * np.array([0.1, 0.7, 2.0, -3.0]))
    np.testing.assert_allclose(far * singular.cauchy(far), 1, rtol=1e-6)
    ridge = np.array([[1e-3, 0.2], [1.0, 30.0]]) * top
    np.testing.assert_allclose(1 + ridge * singular.cauchy(-ridge).real, singular.degrees_of_freedom(ridge), atol=1e-11)
    assert float(singular.degrees_of_freedom(0.0)) == pytest.approx(float(law.degrees_of_freedom(0.0)), rel=1e-10)
    assert singular.cauchy(np.inf) == 0


def test_singular_values_of_a_square_gaussian_matrix_follow_the_quarter_circle() -> None:
    """Density √(4 − s²)/π on [0, 2]."""
    singular = compound_poisson_law([1.0], 1.0).singular_values()
    s = np.array([0.0, 1e-9, 0.3, 1.0, 1.9, 2.0, 2.1, -1.0])
    expected = np.where((s >= 0) & (s <= 2), np.sqrt(np.maximum(4 - s * s, 0)) / np.pi, 0)
    np.testing.assert_allclose(singular.density(s), expected, rtol=1e-12, atol=1e-15)
    inner = s[2:5]
    cdf = (inner * np.sqrt(4 - inner**2) / 2 + 2 * np.arcsin(inner / 2)) / np.pi
    np.testing.assert_allclose(singular.cdf(inner), cdf, rtol=1e-13)
    assert singular.mean == pytest.approx(8 / (3 * np.pi), rel=1e-12)
    assert singular.edges == pytest.approx((2.0,))


def test_the_density_of_singular_values_at_zero_is_finite_infinite_or_zero_by_the_order_of_the_edge() -> None:
    two = attention_law(1.0, 1, 1.0).singular_values()
    assert float(two.density(0.0)) == pytest.approx(float(two.density(1e-9)), rel=1e-6)
    assert float(output_law(1.0, 1, 1.0, 1.0, 1.0).singular_values().density(0.0)) == np.inf
    assert float(attention_law(1.0, 4, 2.0).singular_values().density(0.0)) == 0


def test_draws_of_singular_values_are_roots_of_draws() -> None:
    law = output_law(1.0, 4, 1.0, 2.0, 0.4)
    draws = law.singular_values().sample((3, 5), np.random.default_rng(4))
    np.testing.assert_array_equal(draws**2, np.sqrt(law.sample((3, 5), np.random.default_rng(4))) ** 2)


@pytest.mark.parametrize("z", [0.0, complex("nan"), [1.0, 0.0]])
def test_the_transform_of_singular_values_refuses_zero_and_nan(z: Any) -> None:
    with pytest.raises(ValueError, match=r"^z=.*must (be nonzero|not be NaN)"):
        attention_law(1.0, 1, 1.0).singular_values().cauchy(z)


@pytest.mark.parametrize("k", [-1, 121, 1.5, True])
def test_the_order_of_a_moment_of_singular_values_is_an_integer_in_range(k: Any) -> None:
    with pytest.raises(ValueError, match="must be an integer from 0 to 120"):
        attention_law(1.0, 1, 1.0).singular_values().moment(k)


@every_law
@pytest.mark.parametrize("excess", [1.0, 1.7])
def test_the_companion_has_the_same_nonzero_part_and_another_atom(case: Case, excess: float) -> None:
    law = case.law
    nonzero = float(law.degrees_of_freedom(0.0))
    ratio = nonzero * excess
    other = law.companion(ratio)
    assert sum(atom.mass for atom in other.atoms) == pytest.approx(1 - 1 / excess, abs=1e-15)
    if excess == 1.0:
        assert other.atoms == ()
    assert other.support == law.support
    x, ridge = law.quantile([0.95, 0.99]), np.array([0.01, 1.0]) * law.mean
    np.testing.assert_allclose(other.density(x) * ratio, law.density(x), rtol=1e-14)
    np.testing.assert_allclose((1 - other.cdf(x)) * ratio, 1 - law.cdf(x), rtol=1e-12)
    np.testing.assert_allclose(other.degrees_of_freedom(ridge) * ratio, law.degrees_of_freedom(ridge), rtol=1e-14)
    np.testing.assert_allclose(other.complement(ridge), law.complement(ridge), rtol=1e-14)
    np.testing.assert_allclose(other.quantile(other.cdf(x)), x, rtol=1e-10)
    assert other.moment(2) * ratio == pytest.approx(law.moment(2), rel=1e-14)
    z = np.array([0.3 + 0.5j, -2.0]) * law.mean
    np.testing.assert_allclose(other.cauchy(z), law.cauchy(z) / ratio + (1 - 1 / ratio) / z, rtol=1e-12)
    assert other.expectation(np.ones_like) == pytest.approx(1, abs=QUADRATURE)
    assert other.normalized().mean == pytest.approx(1, rel=1e-14)
    assert law.normalized().companion(ratio).edges == pytest.approx(law.normalized().edges, rel=1e-14)
    back = other.companion(1 / ratio)
    np.testing.assert_allclose(back.cdf(x), law.cdf(x), rtol=1e-14)


def test_the_companion_of_a_marchenko_pastur_law_is_that_of_the_transposed_matrix() -> None:
    """Z n × tn with variance 1/n: ZᵀZ has the law of n ↔ tn, entries rescaled by t."""
    for t in (0.4, 2.5):
        companion, transposed = compound_poisson_law([1.0], t).companion(t), compound_poisson_law([t], 1 / t)
        x = transposed.quantile([0.7, 0.9])
        np.testing.assert_allclose(companion.density(x), transposed.density(x), rtol=1e-12)
        np.testing.assert_allclose(companion.cdf(x), transposed.cdf(x), rtol=1e-12)


@pytest.mark.parametrize("ratio", [0.0, -1.0, np.inf, np.nan, True, "2"])
def test_the_ratio_of_a_companion_is_a_finite_positive_number(ratio: Any) -> None:
    with pytest.raises(ValueError, match="must be a finite number > 0"):
        attention_law(1.0, 1, 1.0).companion(ratio)


def test_a_ratio_below_the_share_of_nonzero_eigenvalues_is_refused() -> None:
    with pytest.raises(ValueError, match=r"ratio=0\.3: must be ≥ 0\.4"):
        output_law(1.0, 4, 1.0, 2.0, 0.4).companion(0.3)


def test_singular_values_far_away_are_answered_without_overflow() -> None:
    singular = attention_law(1.0, 4, 0.3).singular_values()
    far = np.array([1e10, 1e200, np.inf])
    assert (singular.density(far) == 0).all()
    assert (singular.cdf(far) == 1).all()
    np.testing.assert_allclose(singular.cauchy(far[:2]) * far[:2], 1, rtol=1e-9)
    assert singular.cauchy(far[2]) == 0
