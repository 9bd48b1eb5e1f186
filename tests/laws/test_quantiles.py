"""Quantiles invert the cdf, and draws made from them follow it."""

from __future__ import annotations

import numpy as np
import pytest

from rmt_attention.laws import (
    SpectralLaw,
    attention_law,
    compound_poisson_law,
    output_law,
    tied_output_law,
    tied_values_law,
)

from .registry import CASES, Case


def _check_inverse(law: SpectralLaw) -> None:
    q = np.concatenate([np.linspace(0, 1, 101), 10.0 ** -np.arange(2, 13), 1 - 10.0 ** -np.arange(2, 13)])
    x = law.quantile(q)
    atom = sum(one.mass for one in law.atoms)
    above = q > atom
    assert np.abs(law.cdf(x)[above] - q[above]).max() <= 1e-9
    assert (x[~above & (q > 0)] == 0).all()
    assert (np.diff(law.quantile(np.sort(q))) >= 0).all()
    # back from x, where the cdf determines it: x f(x) > 1e-3
    points = np.concatenate([np.geomspace(max(low, 1e-12 * high), high, 40)[1:-1] for low, high in law.support])
    points = points[points * law.density(points) > 1e-3]
    np.testing.assert_allclose(law.quantile(law.cdf(points)), points, rtol=1e-8)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_quantile_and_cdf_are_inverse(case: Case) -> None:
    _check_inverse(case.law)


def test_the_ends_are_the_smallest_and_largest_points() -> None:
    law = attention_law(1.0, 4, 0.3)
    assert law.quantile([0.0, 1.0]).tolist() == [law.support[0][0], law.edges[-1]]
    with_atom = output_law(1.0, 4, 1.0, 2.0, 0.4)
    assert with_atom.quantile([0.0, 0.3, 0.6]).tolist() == [0, 0, 0]
    # at the level of a gap, the left edge
    level = float(law.cdf((law.support[0][1] + law.support[1][0]) / 2))
    assert float(law.quantile(level)) == pytest.approx(law.support[0][1], rel=1e-6)


def test_scaling_a_law_scales_its_quantiles() -> None:
    law = output_law(1.0, 12, 1.5, 1.5, 1.5)
    q = np.linspace(0.01, 0.99, 9).reshape(3, 3)
    np.testing.assert_allclose(law.scaled(7.0).quantile(q), 7 * law.quantile(q), rtol=1e-10)


@pytest.mark.parametrize("q", [-0.1, 1.1, float("nan")])
def test_levels_outside_the_unit_interval_are_refused(q: float) -> None:
    with pytest.raises(ValueError, match=f"q={q}"):
        attention_law(1.0, 1, 1.0).quantile([0.5, q])


def test_draws_follow_the_cdf_atoms_included() -> None:
    law = output_law(1.0, 4, 1.0, 2.0, 0.4)
    draws = law.sample((200, 100), np.random.default_rng(0))
    assert draws.shape == (200, 100)
    # each count is binomial: 4.9 standard deviations have probability 1e-6
    for x in (0.0, *law.quantile([0.7, 0.8, 0.95])):
        expected = float(law.cdf(x))
        assert abs((draws <= x).mean() - expected) < 4.9 * np.sqrt(expected * (1 - expected) / draws.size)
    with pytest.raises(ValueError, match="must be a numpy Generator"):
        law.sample(3, 0)


def test_draws_depend_on_their_generator_alone_and_leave_the_global_one_untouched() -> None:
    law = compound_poisson_law([1.0], 1.0)  # the density diverges at 0
    before = np.random.get_state()[1].copy()  # noqa: NPY002 - the generator that must not be touched
    first, again = (law.sample(1000, np.random.default_rng(7)) for _ in range(2))
    other = law.sample(1000, np.random.default_rng(8))
    np.testing.assert_array_equal(first, again)
    assert (first != other).all()
    assert np.isfinite(first).all()
    assert (first > 0).all()
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


# Bulks that touch, or have parted by 1e-9 to 1e-7 of x: law, x in the gap or beside the point, cdf from 66 digits.
NEARLY_PARTED = [
    (attention_law(1.065804956933583, 10, 0.4101846304826628), 1.40376091087894, 0.5898153695173372),
    (attention_law(1.065804956933583, 10, 0.41018463035964836), 1.4037609110554816, 0.5898153696403516),
    (attention_law(1.065804956933583, 10, 0.4101846303596074), 1.4037609117574197, 0.5898153696403926),
    (
        output_law(0.3647541849986315, 4, 0.6184674598196315, 4, 8.115478503198737),
        0.10988719144684661,
        0.3815325401803685,
    ),
    (
        output_law(0.3647541849986315, 4, 0.6184666596699792, 4, 8.115478503198737),
        0.1098874425105396,
        0.38153334033002084,
    ),
    (
        output_law(1.8999334272072281, 8, 0.02274567168348556, 0.48792542699999314, 4.731158273507544),
        1002.3066414460158,
        0.9772543283165144,
    ),
    (
        output_law(1.8999334272072281, 8, 0.022745671450369827, 0.48792542699999314, 4.731158273507544),
        1002.3066445256486,
        0.97725432854963017,
    ),
    (
        output_law(0.948082855718141, 6, 0.1583231948835079, 6.820274372897656, 0.7752962572439481),
        1.6973026520314285,
        0.8416768051164921,
    ),
    (compound_poisson_law([1.0, 3.623461656713962], 0.4, [0.6, 0.4]), 1.7675780654562607, 0.84),
]


@pytest.mark.parametrize(("law", "x", "below"), NEARLY_PARTED)
def test_the_cdf_keeps_its_digits_where_bulks_are_about_to_part(law: SpectralLaw, x: float, below: float) -> None:
    assert float(law.cdf(x)) == pytest.approx(below, abs=1e-15)
    offset = np.logspace(-16, -3, 60)
    around = x * (1 + np.concatenate([-offset[::-1], [0.0], offset]))
    values = law.cdf(around)
    assert np.diff(values).min() >= -1e-15
    for point in around[::12]:
        assert float(law.cdf(point)) == pytest.approx(float(law.precise(20).cdf(float(point))), abs=1e-14)
    # a rounding error of the level moves the quantile by the cube root at worst
    assert float(law.cdf(law.quantile(below))) == pytest.approx(below, abs=1e-15)
    assert law.solve(around).w.imag.min() >= 0


def test_levels_however_small_have_all_their_digits() -> None:
    # free Poisson of rate 1: cdf = (2/π)(a + sin a cos a) at x = 4 sin² a, to leading order (2/π)√x
    law = compound_poisson_law([1.0], 1.0)
    q = np.logspace(-150, -1, 40)
    x = law.quantile(q)
    a = np.arcsin(np.sqrt(x) / 2)
    np.testing.assert_allclose(law.cdf(x), q, rtol=1e-12)
    np.testing.assert_allclose(2 / np.pi * (a + np.sin(a) * np.cos(a)), q, rtol=1e-12)
    small = q < 1e-8
    np.testing.assert_allclose(x[small], (np.pi * q[small] / 2) ** 2, rtol=2e-12)  # x ~ q²


def test_levels_and_points_beyond_double_precision_underflow_and_nothing_else() -> None:
    law = compound_poisson_law([1.0], 1.0)  # cdf = (2/π)√x at small x
    q = np.array([1e-153, 1e-158, 1e-170, 1e-300, 5e-324])
    np.testing.assert_allclose(law.quantile(q), (np.pi * q / 2) ** 2, rtol=1e-12, atol=5e-324)
    x = np.array([1e-306, 1e-308, 1e-315, 5e-324])
    np.testing.assert_allclose(law.cdf(x), 2 / np.pi * np.sqrt(x), rtol=1e-12)
    np.testing.assert_allclose(law.density(x), 1 / np.pi / np.sqrt(x), rtol=1e-12)
    np.testing.assert_allclose(law.complement(x), np.sqrt(x), rtol=1e-12)
    steep = output_law(1.0, 1.0, 1.0, 1.0, 1.0)  # x^{1/4}
    np.testing.assert_allclose(steep.cdf(steep.quantile([1e-70, 1e-77])), [1e-70, 1e-77], rtol=1e-12)
    np.testing.assert_array_equal(steep.quantile([1e-90, 1e-300, 5e-324]), 0.0)
    above = attention_law(1.0, 2.0, 0.5)  # no divergence at 0
    np.testing.assert_allclose(above.complement(1e-310), above.complement(1e-290) * 1e-20, rtol=1e-12)


@pytest.mark.parametrize(
    "law",
    [
        output_law(1.0, 12, 1.0, 1.0, 1.0),  # 1, γ_V and γ_O tie
        output_law(1.0, 12, 0.75, 1 + 1e-10, 1.0),  # two tie, the third almost
        tied_values_law(0.8, 16, 1.0),
        tied_values_law(2.0615503748613744, 16, 1.0000000000014615),  # starts just above 0
        tied_output_law(0.9, 3, 1.0, 1.0),
        compound_poisson_law([1.0, 3.0], 1.0),
        compound_poisson_law([1.0, 3.0], 1 + 1e-9),
    ],
    ids=lambda law: law.name,
)
def test_small_levels_have_their_digits_at_and_beside_ties(law: SpectralLaw) -> None:
    low = max(law.support[0][0], 1e-12)
    for x in (1.3 * low, 1e3 * low, 0.01):
        assert float(law.cdf(x)) == pytest.approx(float(law.precise(25).cdf(x)), rel=1e-12, abs=0)
    q = np.logspace(-14, -1, 30)
    q = q[q > law.cdf(1.1 * low)]  # a rounding error of x beside an edge moves the level by more
    np.testing.assert_allclose(law.cdf(law.quantile(q)), q, rtol=1e-12)
