"""Every law as an expression of free probability: the two engines share no code of the spectrum."""

from __future__ import annotations

import numpy as np
import pytest

from rmt_attention import ConvergenceError, laws
from rmt_attention.free.free_law import FreeLaw
from rmt_attention.laws import SpectralLaw

from .registry import CASES, Case

FORMS = {
    "plain": lambda law: law,
    "mean one": lambda law: law.normalized(),
    "companion": lambda law: law.scaled(3.7).companion(1.6),
    "companion, mean one": lambda law: law.normalized().companion(float(law.degrees_of_freedom(0.0))),
}


def check(free: FreeLaw, law: SpectralLaw) -> None:
    np.testing.assert_allclose([end for end in free.edges if end > 0], law.edges, rtol=1e-11)
    assert [(atom.location, atom.mass) for atom in free.atoms] == [
        (0.0, pytest.approx(atom.mass, abs=1e-14)) for atom in law.atoms
    ]
    x = law.quantile(np.append(np.linspace(0.0123, 0.987, 27), [1e-3, 1 - 1e-3]))
    x = x[x > 0]
    np.testing.assert_allclose(free.density(x), law.density(x), rtol=1e-9)
    np.testing.assert_allclose(free.cdf(x), law.cdf(x), atol=1e-12)
    ridge = law.mean * 10.0 ** np.arange(-6, 4)
    np.testing.assert_allclose(free.degrees_of_freedom(ridge), law.degrees_of_freedom(ridge), rtol=1e-12)
    assert (free.mean, free.moment(2)) == (pytest.approx(law.mean, rel=1e-13), pytest.approx(law.moment(2), rel=1e-12))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_expression_of_a_law_is_the_law(case: Case, form: str) -> None:
    law = FORMS[form](case.law)
    check(law.expression(), law)


@pytest.mark.parametrize("family", ["attention", "tied values"])
def test_the_expression_at_another_temperature_is_another_law(family: str) -> None:
    """Negative control."""
    build = {"attention": laws.attention_law, "tied values": laws.tied_values_law}[family]
    with pytest.raises(AssertionError):
        check(build(0.7 * (1 + 1e-10), 3, 0.6).expression(), build(0.7, 3, 0.6))


@pytest.mark.parametrize(
    ("law", "order"),
    [
        (laws.attention_law(1.0, 97, 1.5), 1),
        (laws.output_law(1.0, 100, 1.5, 1.0, 1.0), 3),
        (laws.tied_output_law(1.0, 96, 0.7, 0.7), 2),
    ],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_shares_of_many_heads_tie_as_the_widths_do(law: SpectralLaw, order: int) -> None:
    """1/h + (1 − 1/h) is not 1 in doubles; a spurious atom or a missed tie would show next to 0."""
    free = law.expression()
    assert (law.hard_edge_order, free.node.sharp) == (order, True)
    assert [atom.mass for atom in free.atoms] == [pytest.approx(atom.mass, rel=4e-16) for atom in law.atoms]
    check(free, law)


def test_far_below_a_narrow_support_w_has_its_digits() -> None:
    law = laws.attention_law(1.6, 8, 8)
    ridge = law.mean * 10.0 ** np.arange(-14.0, 0.0, 2.0)
    np.testing.assert_allclose(law.expression().degrees_of_freedom(ridge), law.degrees_of_freedom(ridge), rtol=1e-12)


def test_a_variance_out_of_range_is_refused_by_name() -> None:
    with pytest.raises(ConvergenceError, match="its variance leaves double precision"):
        laws.tied_values_law(24, 12, 1.5).expression()
