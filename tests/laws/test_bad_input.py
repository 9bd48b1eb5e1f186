"""Bad input: a ValueError of one line that names the value and the rule, before any work."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from mpmath import mpf

from rmt_attention import laws
from rmt_attention.errors import ConvergenceError
from rmt_attention.laws import SpectralLaw, attention_law, compound_poisson_law, output_law
from rmt_attention.spectra import EmpiricalLaw

NAN, INF = float("nan"), float("inf")
GOOD: dict[str, dict[str, float]] = {
    "attention_law": {"beta": 1.0, "heads": 4, "gamma_key": 0.5},
    "values_law": {"beta": 1.0, "heads": 4, "gamma_key": 0.5, "gamma_value": 0.5},
    "output_law": {"beta": 1.0, "heads": 4, "gamma_key": 0.5, "gamma_value": 0.5, "gamma_out": 2.0},
    "tied_values_law": {"beta": 1.0, "heads": 4, "gamma_key": 0.5},
    "tied_output_law": {"beta": 1.0, "heads": 4, "gamma_key": 0.5, "gamma_out": 2.0},
}


def _refused(call: Callable[[], Any], *parts: str) -> None:
    with pytest.raises(ValueError) as caught:
        call()
    message = str(caught.value)
    assert "\n" not in message
    for part in parts:
        assert part in message, message


@pytest.mark.parametrize("function", GOOD)
@pytest.mark.parametrize("value", [0, -1.0, NAN, INF, True, "2", None])
def test_every_ratio_must_be_a_finite_positive_number(function: str, value: Any) -> None:
    for name in GOOD[function]:
        call = getattr(laws, function)
        _refused(lambda call=call, name=name: call(**{**GOOD[function], name: value}), f"{name}={value!r}", "> 0")


@pytest.mark.parametrize("function", GOOD)
def test_a_beta_whose_exponential_overflows_is_refused(function: str) -> None:
    _refused(lambda: getattr(laws, function)(**{**GOOD[function], "beta": 26.1}), "beta=26.1", "overflow", "at most 26")
    assert np.isfinite(getattr(laws, function)(**{**GOOD[function], "beta": 26.0}).mean)


@pytest.mark.parametrize("function", GOOD)
@pytest.mark.parametrize("beta", [1e-100, 1e-200])
def test_a_beta_lost_to_rounding_is_refused(function: str, beta: float) -> None:
    _refused(lambda: getattr(laws, function)(**{**GOOD[function], "beta": beta}), f"beta={beta}", "≥ 1e-06")


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (([], 1.0), ("jumps=[]", "at least one")),
        (([0.0], 1.0), ("jumps", "zero")),
        (([-1.0, 2.0], 1.0), ("jumps=-1.0", "≥ 0")),
        (([NAN], 1.0), ("jumps=nan",)),
        (([1.0], 0.0), ("rate=0.0", "> 0")),
        (([1.0], NAN), ("rate=nan", "> 0")),
        (([1.0, 2.0], 1.0, [0.5, 0.6]), ("weights", "1.1", "sum to 1")),
        (([1.0, 2.0], 1.0, [1.0]), ("weights", "1 given for 2 jumps")),
        (([1.0, 2.0], 1.0, [1.5, -0.5]), ("weights=-0.5", "≥ 0")),
        (([1.0, 2.0], 1.0, [1.0, NAN]), ("weights=nan",)),
        (([1.0, 0.0], 1.0, [0.0, 1.0]), ("jumps", "zero")),
        (([1.0, INF], 1.0), ("jumps=inf",)),
    ],
    ids=lambda value: str(value)[:40],
)
def test_jumps_and_weights_are_checked(arguments: tuple[Any, ...], parts: tuple[str, ...]) -> None:
    _refused(lambda: compound_poisson_law(*arguments), *parts)


@pytest.fixture(scope="module")
def law() -> SpectralLaw:
    return attention_law(1.0, 4, 0.5)


@pytest.mark.parametrize("k", [-1, 61, 0.5, NAN, INF, True, "2", None])
def test_the_order_of_a_moment_is_an_integer_in_range(law: SpectralLaw, k: Any) -> None:
    _refused(lambda: law.moment(k), f"k={k!r}", "integer from 0 to 60")


def test_the_order_of_a_moment_may_be_a_numpy_integer(law: SpectralLaw) -> None:
    assert law.moment(2) == law.moment(np.int64(2)) == law.moment(np.uint8(2))


@pytest.mark.parametrize(
    "method", ["density", "cdf", "quantile", "degrees_of_freedom", "complement", "cauchy", "solve"]
)
def test_nan_is_refused_wherever_it_stands(law: SpectralLaw, method: str) -> None:
    for value in (NAN, [1.0, NAN], np.array([[1.0, 2.0], [NAN, 1.0]])):
        _refused(lambda value=value: getattr(law, method)(value), "nan", "must")


def test_a_negative_ridge_is_refused_by_value(law: SpectralLaw) -> None:
    _refused(lambda: law.degrees_of_freedom([0.1, -1e-9]), "ridge=-1e-09", "≥ 0")
    _refused(lambda: law.degrees_of_freedom(-INF), "ridge=-inf", "≥ 0")
    _refused(lambda: law.complement([0.1, -1e-9]), "ridge=-1e-09", "≥ 0")


def test_the_cauchy_transform_at_zero_is_refused_with_a_hint(law: SpectralLaw) -> None:
    _refused(lambda: law.cauchy([1.0, 0.0]), "z=0", "degrees_of_freedom")


@pytest.mark.parametrize("factor", [0, -2.0, NAN, INF])
def test_a_scale_is_a_finite_positive_number(law: SpectralLaw, factor: float) -> None:
    _refused(lambda: law.scaled(factor), f"factor={factor!r}", "> 0")


def test_far_away_arguments_are_answered_without_warning(law: SpectralLaw) -> None:
    # Warnings are errors in this suite. w ~ m/λ far out, w → 1 − atom close in.
    assert float(law.degrees_of_freedom(1e300)) == pytest.approx(law.mean * 1e-300, rel=1e-12, abs=0)
    assert float(law.degrees_of_freedom(1e-300)) == pytest.approx(1, abs=1e-15)
    assert float(law.degrees_of_freedom(np.finfo(float).max)) < 1e-307
    assert float(law.degrees_of_freedom(5e-324)) == pytest.approx(1, abs=1e-15)
    for z in (1e300, -1e300, 1e300j):
        assert complex(law.cauchy(z) * z) == pytest.approx(1, rel=1e-12, abs=0)
    assert complex(law.cauchy(INF)) == 0
    assert float(law.cdf(1e300)) == 1
    assert float(law.density(1e300)) == 0


def test_messages_say_one_thing_in_one_line() -> None:
    with pytest.raises(ValueError, match=re.escape("gamma_key=-0.5: must be a finite number > 0")):
        attention_law(1.0, 4, -0.5)


@pytest.mark.parametrize("value", [1j, np.array([1.0 + 1j]), "a", [1.0, "b"], {}])
@pytest.mark.parametrize("method", ["density", "cdf", "quantile", "degrees_of_freedom", "complement"])
def test_what_is_no_real_number_is_refused_by_name(law: SpectralLaw, method: str, value: Any) -> None:
    with pytest.raises(ValueError, match=r"^(x|q|ridge)=.*: must be (real|a number or an array of numbers)$"):
        getattr(law, method)(value)


@pytest.mark.parametrize("factor", ["2", None, True, [1.0], 0.0, -1.0, NAN, INF, 10**400])
def test_a_factor_is_a_finite_positive_number(factor: Any) -> None:
    with pytest.raises(ValueError, match=r"^factor=.*must be a finite number > 0"):
        laws.attention_law(1.0, 4, 2.0).scaled(factor)


def test_a_law_is_not_scaled_out_of_double_precision() -> None:
    with pytest.raises(ValueError, match="factor=1e\\+308: scales the law out of the range"):
        laws.attention_law(1.0, 4, 2.0).scaled(1e10).scaled(1e308)


@pytest.mark.parametrize("z", ["a", None, [None, 1.0]])
def test_points_of_the_plane_are_numbers(z: Any) -> None:
    law = laws.attention_law(1.0, 4, 2.0)
    for method in (law.cauchy, law.solve, law.singular_values().cauchy):
        with pytest.raises(ValueError, match=r"^z="):
            method(z)


def test_none_is_not_a_number() -> None:
    with pytest.raises(ValueError, match="x=None: must be a number"):
        laws.attention_law(1.0, 4, 2.0).density(None)
    with pytest.raises(ValueError, match=r"q=\[None\]: must be a number"):
        laws.attention_law(1.0, 4, 2.0).quantile([None])


@pytest.mark.parametrize("value", [10**400, 1j, np.complex128(2)])
def test_a_ratio_is_a_real_number_within_double_precision(value: Any) -> None:
    with pytest.raises(ValueError, match=r"gamma_key=.*must be a finite number > 0") as refused:
        attention_law(1.0, 4, value)
    assert len(str(refused.value)) < 120


def test_an_empty_text_is_no_point_of_a_precise_law() -> None:
    with pytest.raises(ValueError, match="z='': must be one number"):
        attention_law(1.0, 4, 2.0).precise(20).cauchy("")


@pytest.mark.parametrize("x", [np.True_, (1, 2), [1.0], "a", None])
def test_precise_laws_take_one_number(x: Any) -> None:
    with pytest.raises(ValueError, match=r"^x="):
        laws.attention_law(1.0, 4, 2.0).precise(20).cdf(x)


def test_singular_values_refuse_points_whose_square_underflows() -> None:
    with pytest.raises(ValueError, match="1e-150"):
        laws.attention_law(1.0, 4, 2.0).singular_values().cauchy(1e-160)


def test_integers_beyond_double_precision_are_no_numbers() -> None:
    law = attention_law(1.0, 4, 2.0)
    for method in (law.density, law.cdf, law.quantile, law.degrees_of_freedom, law.complement, law.cauchy, law.solve):
        with pytest.raises(ValueError, match="must be a number") as refused:
            method(10**400)
        assert len(str(refused.value)) < 120


@pytest.mark.parametrize("ridge", [1e-300, 1e-100, 1e300])
@pytest.mark.parametrize("beta", [6.0, 26.0])
def test_w_far_below_and_above_the_spectrum_is_its_limit(beta: float, ridge: float) -> None:
    law = output_law(beta, 1, 1, 1, 0.2)
    assert float(law.degrees_of_freedom(ridge)) == pytest.approx(0.2 if ridge < 1 else law.mean / ridge, rel=1e-6)


NO_NUMBERS = [
    None, "1.5", b"1.5", True, [True], ["1"], {}, float, [[1.0], [2.0, 3.0]], np.datetime64("2020-01-01"),
    datetime.date(2020, 1, 1), np.timedelta64(3), np.ma.masked_array([1.0, 2.0], [True, False]), 10**400,
]  # fmt: skip


@pytest.mark.parametrize("value", NO_NUMBERS, ids=lambda value: str(type(value).__name__))
def test_what_is_no_number_is_refused(law: SpectralLaw, value: Any) -> None:
    for method, name in (("cdf", "x"), ("cauchy", "z"), ("quantile", "q"), ("degrees_of_freedom", "ridge")):
        _refused(lambda method=method: getattr(law, method)(value), f"{name}=", "must be a number")


def test_numbers_of_other_kinds_are_taken(law: SpectralLaw) -> None:
    expected = law.cdf(1.5)
    for value in (Fraction(3, 2), mpf(1.5), np.float32(1.5), [Fraction(3, 2)], np.ma.masked_array([1.5], [False])):
        assert law.cdf(value) == expected


@pytest.mark.parametrize("size", [2.5, -1, "a", (2, -1), True, [2.0]])
def test_the_shape_of_a_sample_is_checked(law: SpectralLaw, size: Any) -> None:
    rng = np.random.default_rng(0)
    for one in (law, law.singular_values(), EmpiricalLaw([1.0, 2.0], 0)):
        _refused(lambda one=one: one.sample(size, rng), f"size={size!r}", "integer ≥ 0")
        assert one.sample((2, 3), rng).shape == one.sample([2, 3], rng).shape == (2, 3)
        assert np.ndim(one.sample(None, rng)) == 0


@pytest.mark.parametrize(
    ("function", "parts"),
    [
        (None, ("function=None", "must be a function")),
        (lambda x: x + 1j, ("function(x)", "must be real")),
        (lambda x: None, ("function(x)=None", "number")),
        (lambda x: x[:3], ("(3,)", "vectorised")),
        (lambda x: np.where(x == x.max(), np.nan, x), ("function(x)=nan", "mass", "finite")),
    ],
)
def test_the_function_of_an_expectation_is_checked(law: SpectralLaw, function: Any, parts: tuple[str, ...]) -> None:
    _refused(lambda: law.expectation(function), *parts)
    _refused(lambda: law.singular_values().expectation(function), *parts)


def test_a_function_without_its_value_at_an_atom_is_refused() -> None:
    law = output_law(1.0, 4, 0.5, 0.5, 0.25)
    with np.errstate(divide="ignore"):
        _refused(lambda: law.expectation(np.log), "function(x)=-inf at x=0.0")
    assert law.expectation(lambda x: 2.0) == pytest.approx(2, rel=1e-13)


def test_laws_scaled_out_of_double_precision_are_refused(law: SpectralLaw) -> None:
    _refused(lambda: law.scaled(1e-320), "factor=1e-320", "double precision")
    large = law.scaled(1e307).scaled(10.0)  # its mean is a double, its top edge is not
    for use in (lambda: large.edges, lambda: large.cdf(1.0), lambda: large.density(1.0), lambda: large.quantile(0.5)):
        with pytest.raises(ConvergenceError, match="leave double precision"):
            use()
    for z in (5e-324, -5e-324, 1e-310j):
        with pytest.raises(ConvergenceError, match="beyond double precision"):
            law.cauchy(z)
    for z in (1e308, -1e308, 1e308 + 1e308j):
        assert complex(law.cauchy(z) * z) == pytest.approx(1, rel=1e-12)
        assert abs(complex(law.solve(z).w)) < 1e-306
