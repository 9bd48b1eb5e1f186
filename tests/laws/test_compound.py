"""Compound free Poisson laws where double precision has little room: total rate near 1, angles near 0, many jumps."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import mp, mpf

from rmt_attention.laws import SpectralLaw, compound_poisson_law

JUMPS, WEIGHTS = (1.0, 2.0, 5.0), (0.2, 0.5, 0.3)
NEAR_ONE = [sign * excess for sign in (1, -1) for excess in (1e-3, 1e-6, 3.8e-12, 1e-14)]


def _law(excess: float) -> SpectralLaw:
    return compound_poisson_law(JUMPS, 1 + excess, WEIGHTS)


@pytest.mark.parametrize("excess", NEAR_ONE)
def test_edges_next_to_total_rate_one_have_all_their_digits(excess: float) -> None:
    law = _law(excess)
    assert law.edges == pytest.approx([float(edge) for edge in law.precise(25).edges], rel=1e-13, abs=0)
    # the bottom edge hangs on the excess: one larger by a tenth is seen
    assert law.edges[0] != pytest.approx(_law(1.1 * excess).edges[0], rel=1e-2, abs=0)


@pytest.mark.parametrize("excess", NEAR_ONE)
@pytest.mark.parametrize("ridge", [1e-14, 1e-6, 1.0])
def test_complements_next_to_total_rate_one_have_all_their_digits(excess: float, ridge: float) -> None:
    law = _law(excess)
    assert float(law.complement(ridge)) == pytest.approx(float(law.precise(25).complement(ridge)), rel=1e-13, abs=0)


@pytest.mark.parametrize("excess", NEAR_ONE)
def test_error_estimates_cover_the_error_next_to_total_rate_one(excess: float) -> None:
    law = _law(excess)
    precise = law.precise(25)
    x = np.array([1.5 * law.edges[0], 30 * law.edges[0], 0.5, 3.0])
    found = law.solve(x)
    for at, density, estimate in zip(x, found.density, found.density_error, strict=True):
        error = abs(mpf(float(density)) - precise.density(float(at)))
        assert error <= float(estimate)
        assert float(estimate) < 1e-10 * density


@pytest.mark.parametrize("angle", [1e-5, 1e-6, 1e-8, 1e-10, 1e-13, 1e-16, 1e-300])
@pytest.mark.parametrize("x", [-1.0, 0.01, 5.9, 1e3])
def test_outside_the_support_the_transform_is_continuous_down_to_the_axis(x: float, angle: float) -> None:
    law = compound_poisson_law([1.0], 0.5)
    assert abs(law.cauchy(complex(x, x * angle)) / law.cauchy(x) - 1) < 20 * angle + 1e-13


@pytest.mark.parametrize(
    ("jumps", "rate"),
    [
        *(([1.0, y], 1.0) for y in (5.0, 8.0, 9.0, 10.0, 11.0, 12.0)),
        ([1.0, 12.0], 1.01),
        (range(1, 8), 1 - 2e-11),
        ([1.0, 10.153635197696135], 0.9999998281775628),
        ([1.0, 6.811435374474062, 438706.6136587819], 1.0),
    ],
)
def test_integrals_converge_where_two_bulks_have_nearly_parted(jumps: list[float], rate: float) -> None:
    law = compound_poisson_law(jumps, rate)
    x, weights = law.quadrature
    assert weights.sum() == pytest.approx(1, abs=1e-12)
    assert (weights * x).sum() == pytest.approx(law.mean, rel=1e-12)
    assert (weights * x / (x + 0.1)).sum() == pytest.approx(float(law.degrees_of_freedom(0.1)), rel=1e-12)
    assert x.size < 10_000


def test_where_two_bulks_have_nearly_parted_no_point_takes_a_real_root() -> None:
    law = compound_poisson_law([1.0, 10.0], 1.0)
    x = np.exp(np.linspace(-10, 3.38, 20_001))  # all inside the one interval of the support
    assert (law.density(x) > 1e-6).all()


def test_nothing_is_mistaken_for_a_root_where_two_bulks_are_about_to_part() -> None:
    # Newton's iteration is slow here and was once stopped at points that were real but for rounding
    law = compound_poisson_law(
        [1.0, 151.89104450437088], 1.3154027888427364, [0.3069289026267593, 1 - 0.3069289026267593]
    )
    x = np.exp(np.linspace(-0.2350, -0.2342, 8001)) * law._scale
    density = x * law.density(x)
    assert density.min() > 1e-4
    assert np.abs(np.diff(density)).max() < 2e-4
    assert law.quadrature[1].sum() == pytest.approx(1, abs=1e-14)


def _nearly_saturated(number: int) -> SpectralLaw:
    """Larger jumps of total rate within 10^−U(1,8) of 1, and one jump far below them."""
    rng = np.random.default_rng([7, number])
    size = int(rng.integers(1, 4))
    larger = np.exp(rng.uniform(0, 1.5, size)) * 10 ** rng.uniform(1, 6)
    rates = (1 + rng.choice([-1, 1]) * 10 ** -rng.uniform(1, 8)) * rng.dirichlet(np.ones(size))
    rates = np.append(rates, 10 ** rng.uniform(-2, 1))
    return compound_poisson_law(np.append(larger, 1.0), float(rates.sum()), rates / rates.sum())


@pytest.mark.parametrize("number", range(12))
def test_no_digit_is_lost_and_no_error_uncovered_where_the_larger_jumps_have_a_rate_near_one(number: int) -> None:
    law = _nearly_saturated(number)
    precise = law.precise(30)
    assert law.edges == pytest.approx([float(edge) for edge in precise.edges], rel=1e-13, abs=0)
    for ridge in law.mean * np.array([1e-8, 1e-5, 1e-2, 3.0]):
        found, w = law.solve(-ridge), precise.degrees_of_freedom(ridge)
        assert abs(mpf(float(found.w.real)) - w) <= float(found.error) < 1e-13
        assert float(law.complement(ridge)) == pytest.approx(float(precise.complement(ridge)), rel=1e-13, abs=0)
    for x in law.quantile(np.array([0.2, 0.6, 0.95]) * (1 - float(law.cdf(0.0))) + float(law.cdf(0.0))):
        found = law.solve(x)
        assert abs(mpf(float(found.density)) - precise.density(x)) <= float(found.density_error)


@pytest.mark.parametrize("size", [6, 48, 1000])
def test_weights_that_sum_to_one_up_to_rounding_are_divided_by_their_sum(size: int) -> None:
    law = compound_poisson_law(np.linspace(0.5, 2, size), 1.0, np.full(size, 1 / size))
    assert law.atoms == ()
    assert law.hard_edge_order == 2
    assert law.support[0][0] == 0


def test_a_total_rate_above_one_by_rounding_of_a_share_is_one() -> None:
    # rate 4/3 times three quarters
    law = compound_poisson_law([0.0, 1.0, 2.0, 3.0], 4 / 3)
    assert law.atoms == ()
    assert law.hard_edge_order == 2


def test_precise_numbers_at_an_edge_are_zero_or_refused_and_next_to_it_right() -> None:
    law = compound_poisson_law([1.0], 1.0)  # Marchenko–Pastur on [0, 4]
    with mp.workdps(60):
        x = 4 - mpf(10) ** -44
        assert abs(law.precise(30).density(x) / (mp.sqrt((4 - x) / x) / (2 * mp.pi)) - 1) < mpf(10) ** -29
    assert law.precise(40).density(4) < 1e-20


@pytest.mark.parametrize("rate", [0.5, 1.0, 3.0])
def test_precise_numbers_far_below_the_spectrum_are_right(rate: float) -> None:
    law = compound_poisson_law([1.0], rate)
    precise, x = law.precise(30), mpf("1e-60")
    with mp.workdps(150):
        low, high = (1 - mp.sqrt(rate)) ** 2, (1 + mp.sqrt(rate)) ** 2
        density = mp.sqrt((high - x) * (x - low)) / (2 * mp.pi * x) if rate == 1 else 0
        root = mp.sqrt((x + low) * (x + high))
        w = (1 + rate + x - root) / 2  # −λ outside the spectrum: w = (1 + t + λ − √((1 + t + λ)² − 4t))/2
        complement = 1 - w / min(rate, 1)
    assert precise.density(x) == density or abs(precise.density(x) / density - 1) < 1e-29
    assert abs(precise.complement(x) / complement - 1) < 1e-28


THIRDS = ("anywhere", "total rate one", "next to total rate one")
PER_THIRD = 40


def _drawn(third: str, number: int) -> SpectralLaw:
    """One to thirty jumps over up to four decades; seeds are [third, number], none is left out."""
    rng = np.random.default_rng(np.random.SeedSequence([THIRDS.index(third), number]))
    size = int(np.exp(rng.uniform(0, np.log(30))))
    jumps = np.exp(rng.uniform(0, rng.uniform(0, 9), size))
    if third == "anywhere":
        rate = float(np.exp(rng.uniform(np.log(0.01), np.log(100))))
    else:
        rate = 1.0
        if third == "next to total rate one":
            rate += float(rng.choice([-1, 1]) * 10 ** -rng.uniform(2, 13))
    return compound_poisson_law(jumps, rate, rng.dirichlet(np.ones(size)))


@pytest.mark.parametrize("number", range(PER_THIRD))
@pytest.mark.parametrize("third", THIRDS)
def test_integrals_and_edges_of_random_laws_are_right(third: str, number: int) -> None:
    law = _drawn(third, number)
    x, weights = law.quadrature
    assert weights.sum() == pytest.approx(1, abs=1e-10)
    for k in (1, 2, 3):
        assert (weights * x**k).sum() == pytest.approx(law.moment(k), rel=1e-10)
    for ridge in (1e-6, 1e-2, 1.0, 1e2):
        w = float(law.degrees_of_freedom(ridge))
        assert (weights * x / (x + ridge)).sum() == pytest.approx(w, rel=1e-9)
    inside = law.quantile(np.array([0.3, 0.6, 0.9]))
    assert law.cdf(inside) == pytest.approx(np.maximum([0.3, 0.6, 0.9], float(law.cdf(0.0))), abs=1e-9)
    if number < 4:
        assert law.edges == pytest.approx([float(edge) for edge in law.precise(20).edges], rel=1e-12, abs=0)


def test_quantiles_are_the_same_whatever_the_block() -> None:
    levels = np.linspace(0, 1, 101).reshape(1, 101)
    whole, parts = (compound_poisson_law([1.0, 3.0], 0.8) for _ in range(2))
    parts._curve.block = 7
    assert whole.quantile(levels) == pytest.approx(parts.quantile(levels), rel=1e-13)


@pytest.mark.parametrize("rate", [3.0, 1e4, 1e7, 1e10, 1e13])
def test_large_rates_lose_no_digits(rate: float) -> None:
    law = compound_poisson_law([1.0, 2.0], rate)
    precise = law.precise(25)
    for ridge in (1e-3 * law.mean, law.mean, 3 * law.mean):
        assert abs(mpf(float(law.degrees_of_freedom(ridge))) / precise.degrees_of_freedom(ridge) - 1) < 1e-13
    assert law.edges == pytest.approx([float(edge) for edge in precise.edges], rel=1e-12, abs=0)
