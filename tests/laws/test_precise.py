"""Laws to forty digits: against the S-transform route of the oracles, against sixty digits, and against doubles."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

from rmt_attention.laws import (
    SpectralLaw,
    attention_law,
    compound_poisson_law,
    output_law,
    tied_output_law,
    tied_values_law,
)

from ..oracles import Compound, Independent
from .registry import CASES, Case

every_law = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
DIGITS = 40
SOME = [
    case for case in CASES if case.name in ("attention, gap", "output, tie below 1", "tied output", "compound, no atom")
]


def _relative(one: Any, other: Any) -> float:
    with mp.workdps(80):
        return float(abs(mp.mpmathify(one) / other - 1))


@every_law
@pytest.mark.parametrize("ridge", [1e-14, 0.3, 1e8])
def test_w_and_its_complement_agree_with_the_s_transform_to_thirty_eight_digits(case: Case, ridge: float) -> None:
    precise = case.law.precise(DIGITS)
    w, complement = case.oracle.degrees_of_freedom(ridge)
    assert _relative(precise.degrees_of_freedom(ridge), w) < 1e-38
    # the oracle has 80 digits and loses as many as 1 − w/w(0) has leading zeros
    assert _relative(precise.complement(ridge), complement) < 1e-38
    # negative control: another λ, different in the sixteenth digit, is another number
    assert _relative(precise.degrees_of_freedom(ridge * (1 + 4e-16)), w) > 1e-38


@every_law
def test_eight_moments_agree_with_the_s_transform_or_the_free_cumulants(case: Case) -> None:
    precise = case.law.precise(DIGITS)
    with mp.workdps(80):
        expected = case.oracle.moments(8)
    # θ1 − θ2 of the oracle has 40 digits or more; products of at most eight of them
    for k, moment in enumerate(expected, start=1):
        assert _relative(precise.moment(k), moment) < 1e-36


@pytest.mark.parametrize("case", [case for case in CASES if isinstance(case.oracle, Independent)], ids=lambda c: c.name)
def test_w_on_the_spectrum_is_the_root_that_doubles_track_from_far_above(case: Case) -> None:
    oracle, law = case.oracle, case.law
    x = float(law.quantile(1 - 0.4 * law._curve.w_max))
    w = oracle.w_tracked(x, law.edges[-1])
    precise = law.precise(30)
    assert abs(complex(1 - x * precise.cauchy(x)) - w) < 1e-12 * abs(w)
    assert _relative(precise.density(x), mpf(w.imag) / (mp.pi * x)) < 1e-10


@pytest.mark.parametrize("case", [case for case in CASES if isinstance(case.oracle, Compound)], ids=lambda c: c.name)
def test_compound_laws_take_the_one_root_in_the_upper_half_plane(case: Case) -> None:
    z = (0.8 + 0.3j) * case.law.mean
    expected = case.oracle.w_in_the_plane(z)
    assert _relative(1 - mp.mpmathify(z) * case.law.precise(30).cauchy(z), expected) < 1e-28


@every_law
def test_doubles_agree_with_twenty_digits_by_every_method(case: Case) -> None:
    law, precise = case.law, case.law.precise(20)
    x = float(law.quantile(1 - 0.37 * law._curve.w_max))
    z = (0.6 + 0.4j) * law.mean
    evidence = law.solve([x, z])
    assert abs(complex(1 - z * precise.cauchy(z)) - evidence.w[1]) <= evidence.error[1]
    assert abs(float(precise.density(x) - float(law.density(x)))) <= evidence.density_error[0]
    assert _relative(float(law.cdf(x)), precise.cdf(x)) < 1e-13
    assert _relative(complex(law.cauchy(z)), precise.cauchy(z)) < 1e-13
    for k in (1, 2, 5):
        assert _relative(law.moment(k), precise.moment(k)) < 1e-14


@pytest.mark.parametrize("case", SOME, ids=lambda case: case.name)
def test_edges_agree_with_doubles_and_the_density_is_zero_outside_them(case: Case) -> None:
    law, precise = case.law, case.law.precise(20)
    edges = precise.edges
    assert len(edges) == len(law.edges)
    assert max(_relative(a, b) for a, b in zip(law.edges, edges, strict=True)) < 1e-13
    assert precise.density(2 * law.edges[-1]) == 0
    assert precise.density(-1.0) == 0
    assert float(precise.cdf(2 * law.edges[-1])) == 1
    assert precise.cdf(-1.0) == 0


@pytest.mark.parametrize("case", SOME, ids=lambda case: case.name)
def test_forty_digits_are_the_first_forty_of_sixty(case: Case) -> None:
    low, high = case.law.precise(DIGITS), case.law.precise(60)
    x, z = float(case.law.quantile(1 - 0.37 * case.law._curve.w_max)), 0.3 - 0.7j
    pairs = [
        (low.degrees_of_freedom("0.1"), high.degrees_of_freedom("0.1")),
        (low.complement("1e-9"), high.complement("1e-9")),
        (low.density(x), high.density(x)),
        (low.cdf(x), high.cdf(x)),
        (low.cauchy(z), high.cauchy(z)),
        (low.cauchy(-3), high.cauchy(-3)),
        (low.moment(12), high.moment(12)),
        (low.edges[-1], high.edges[-1]),
    ]
    assert max(_relative(a, b) for a, b in pairs) < 1e-40
    assert any(a != b for a, b in pairs)  # sixty are not forty padded


@pytest.mark.parametrize("gamma_key", [0.35, 0.5])
def test_the_branch_is_right_inside_one_bulk_where_the_principal_square_root_is_wrong(gamma_key: float) -> None:
    law = attention_law(1.0, 4, gamma_key)
    precise = law.precise(20)
    assert len(precise.support) == 1
    for x in (0.95, 1.4, 2.1):
        assert _relative(float(law.density(x)), precise.density(x)) < 1e-13
        w = complex(1 - x * precise.cauchy(x))
        # λ w S_ρ(−w) = ∏(1 − w/a) with the principal root fails here, with the other sign it holds
        theta1 = np.expm1(1.0)
        c, product = 1 / theta1, (1 - w) * (1 - w / 4)
        inner = np.sqrt((1 + c * w / gamma_key) ** 2 - 4 * c * c * w / gamma_key)
        sides = [abs(-x / theta1 * w * 2 / (1 - c * w / gamma_key + sign * inner) - product) for sign in (1, -1)]
        assert min(sides) < 1e-12
    assert sides[0] != sides[1]


def test_scaled_normalized_and_companion_laws_keep_all_their_digits() -> None:
    law = output_law(0.9, 3, 0.75, 1.25, 0.75)
    precise = law.precise(DIGITS)
    assert law.normalized().precise(DIGITS).mean == 1
    three = law.scaled(3.0).precise(DIGITS)
    assert _relative(three.mean, 3 * precise.mean) < 1e-39
    assert _relative(three.density(1.5) * 3, precise.density(0.5)) < 1e-38
    assert _relative(three.edges[-1], 3 * precise.edges[-1]) < 1e-38
    other = law.companion(2.0).precise(DIGITS)
    assert _relative(other.degrees_of_freedom(0.1) * 2, precise.degrees_of_freedom(0.1)) < 1e-39
    assert _relative(other.moment(3) * 2, precise.moment(3)) < 1e-39
    assert _relative(1 - other.cdf(0.5), (1 - precise.cdf(0.5)) / 2) < 1e-38


def test_a_double_tie_with_a_symmetric_curve_has_its_edge_once() -> None:
    """h = γ_K: the curve has the symmetry q → 1/q, so that two critical points share each critical value."""
    law = tied_output_law(1.7296373684041462, 1.0, 1.0, 1.0)
    ((low, high),) = law.precise(20).support
    assert low == 0
    assert _relative(law.edges[-1], high) < 1e-13


def test_a_decimal_string_is_read_at_full_precision() -> None:
    precise = attention_law(1.0, 4, 2.0).precise(DIGITS)
    as_text, as_double = precise.degrees_of_freedom("0.1"), precise.degrees_of_freedom(0.1)
    assert 1e-20 < _relative(as_text, as_double) < 1e-15
    assert precise.degrees_of_freedom(mpf("0.5")) == precise.degrees_of_freedom(np.float64(0.5))


def test_the_ends_of_w_are_exact() -> None:
    precise = output_law(1.0, 4, 1.0, 2.0, 0.4).precise(DIGITS)
    assert precise.degrees_of_freedom(0) == mpf(0.4)
    assert precise.complement(0) == 0
    assert precise.moment(0) == 1


def test_the_working_precision_of_the_caller_is_left_alone() -> None:
    before = mp.dps
    precise = attention_law(1.0, 4, 0.3).precise(50)
    assert len(precise.edges) == 4
    assert precise.density(0.5) > 0
    assert mp.dps == before


def test_a_law_of_many_jumps_has_its_digits_too() -> None:
    jumps = np.linspace(0.5, 2.0, 60)
    law = compound_poisson_law(jumps, 1.3)
    precise = law.precise(20)
    assert max(_relative(a, b) for a, b in zip(law.edges, precise.edges, strict=True)) < 1e-13
    x = float(law.quantile(0.4))
    assert _relative(float(law.density(x)), precise.density(x)) < 1e-12


@pytest.fixture(scope="module")
def law() -> SpectralLaw:
    return attention_law(1.0, 4, 0.3)


@pytest.mark.parametrize("digits", [0, -3, 401, 15.0, True, "40"])
def test_the_number_of_digits_is_checked(law: SpectralLaw, digits: Any) -> None:
    with pytest.raises(ValueError, match=r"digits=.*: must be an integer from 1 to 400"):
        law.precise(digits)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "one", None, True, np.ones(2), [1.0]])
@pytest.mark.parametrize("method", ["degrees_of_freedom", "complement", "density", "cdf", "cauchy"])
def test_what_is_no_finite_number_is_refused(law: SpectralLaw, method: str, value: Any) -> None:
    with pytest.raises(ValueError, match=r"(ridge|x|z)=.*: must be (one number|finite and not NaN)"):
        getattr(law.precise(20), method)(value)


def test_negative_ridges_zero_and_wrong_orders_are_refused(law: SpectralLaw) -> None:
    precise = law.precise(20)
    with pytest.raises(ValueError, match=r"ridge=-1\.0: must be ≥ 0"):
        precise.degrees_of_freedom(-1.0)
    for method in (precise.density, precise.cdf, precise.cauchy):
        with pytest.raises(ValueError, match="=0: must be nonzero"):
            method(0)
    with pytest.raises(ValueError, match="k=61: must be an integer from 0 to 60"):
        precise.moment(61)


@pytest.mark.parametrize(
    "law",
    [
        output_law(18.0, 1.0, 1.0, 1.0, 1.0),  # roots in clusters far from the one followed
        attention_law(1e-6, 1.0, 1e-9),
        compound_poisson_law([1.0], 1e-9),
        tied_output_law(22.0, 2.0, 0.5, 1.0),
    ],
    ids=lambda law: law.name,
)
def test_extreme_parameters_have_their_digits_too(law: SpectralLaw) -> None:
    precise = law.precise(15)
    x = float(law.quantile(1 - 0.3 * law._curve.w_max))
    assert _relative(float(law.density(x)), precise.density(x)) < 1e-6  # next to edges that nearly coincide
    assert _relative(law.edges[-1], precise.edges[-1]) < 1e-11
    assert law.expectation(lambda y: y / law.mean) == pytest.approx(1, rel=1e-10)


def test_two_edges_closer_than_the_first_working_precision_are_told_apart() -> None:
    law = tied_output_law(1.0, 1e6, 1e-6, 1.0)
    assert _relative(law.edges[-1], law.precise(15).edges[-1]) < 1e-10


@pytest.mark.parametrize(
    ("law", "gamma_key"),
    [(attention_law(1.0, 4, 0.3), 0.3), (attention_law(1.0, 1, 0.1), 0.1), (output_law(1.0, 4, 0.1, 3, 5), 0.1)],
    ids=lambda value: getattr(value, "name", None),
)
def test_the_gap_is_empty_and_the_key_width_lies_above_it(law: SpectralLaw, gamma_key: float) -> None:
    (_, low), (high, _) = law.support
    precise = law.precise(DIGITS)
    # all over the gap, also where it almost ends
    for share in (1e-6, 0.5, 1 - 1e-6):
        x = low + share * (high - low)
        assert precise.density(x) == 0
        assert _relative(1 - precise.cdf(x), mpf(gamma_key)) < 1e-39
    # negative control
    for x in (low - 1e-6 * (high - low), high + 1e-6 * (high - low)):
        assert precise.density(x) > 0


def test_at_an_edge_known_to_forty_digits_the_density_is_zero_to_half_as_many() -> None:
    precise = attention_law(1.0, 4, 0.3).precise(DIGITS)
    for edge, level in zip(precise.edges, (0, 1 - mpf(0.3), 1 - mpf(0.3), 1), strict=True):
        # a square root of a distance below 1e-42
        assert precise.density(edge) < 1e-20
        assert abs(precise.cdf(edge) - level) < 1e-38


def test_g_is_the_conjugate_below_the_axis_and_continuous_down_to_it() -> None:
    precise = output_law(0.9, 3, 0.75, 1.25, 0.75).precise(DIGITS)
    x, above = mpf("0.7"), mp.mpc("0.7", "1e-30")
    with mp.workdps(DIGITS):
        assert precise.cauchy(mp.conj(above)) == mp.conj(precise.cauchy(above))
        # the difference to height η is |G′| η
        assert 1e-33 < abs(precise.cauchy(above) - precise.cauchy(x)) < 1e-28
        assert _relative(-mp.im(precise.cauchy(x)) / mp.pi, precise.density(x)) < 1e-38


@pytest.mark.slow
@every_law
def test_edges_of_every_law_agree_with_twenty_digits(case: Case) -> None:
    edges = case.law.precise(20).edges
    assert len(edges) == len(case.law.edges)
    assert max(_relative(a, b) for a, b in zip(case.law.edges, edges, strict=True)) < 1e-13


@pytest.mark.parametrize("beta", [7.0, 8.5])
def test_edges_at_large_beta_are_those_of_the_other_route(beta: float) -> None:
    # real critical points of tiny λ lie between the poles of the widths: they are no edges
    law = output_law(beta, 8, 0.5, 2.0, 0.9)
    assert [float(edge) for edge in law.precise(20).edges] == pytest.approx(law.edges, rel=1e-12, abs=0)


def test_tied_laws_at_the_smallest_beta_have_one_interval_above_the_atom() -> None:
    law = tied_values_law(1e-6, 4, 0.2)
    precise = law.precise(20)
    assert [float(edge) for edge in precise.edges] == pytest.approx(law.edges, rel=1e-12, abs=0)
    assert precise.cdf(law.edges[0] * 1e-30) == pytest.approx(law.atoms[0].mass, rel=1e-12)


@pytest.mark.parametrize(
    "law",
    [attention_law(1, 1, 1.0), tied_output_law(1.0, 1, 1.0, 1.0)],
    ids=lambda law: law.name,
)
def test_numbers_next_to_a_hard_edge_follow_its_power(law: SpectralLaw) -> None:
    precise, order = law.precise(20), law.hard_edge_order
    at, below = (precise.density(f"1e-{decades}") for decades in (60, 72))
    assert abs(below / at / mpf(10) ** (12 * (1 - mpf(1) / order)) - 1) < 1e-10
    assert float(at) == pytest.approx(float(law.density(1e-60)), rel=1e-12)
    assert float(precise.complement("1e-60")) == pytest.approx(float(law.complement(1e-60)), rel=1e-12)


def test_precise_laws_can_be_pickled() -> None:
    precise = output_law(0.9, 3, 0.75, 1.25, 0.75).normalized().precise(25)
    edge = precise.edges[-1]
    assert pickle.loads(pickle.dumps(precise)).edges[-1] == edge


def test_whole_orders_may_be_floats() -> None:
    precise = attention_law(1.0, 4, 2.0).precise(20)
    assert precise.moment(2.0) == precise.moment(2)  # type: ignore[arg-type]
