"""Closed forms the laws must reduce to, and tasks on which other tools are known to fail."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from mpmath import mp, mpf
from numpy.polynomial import Polynomial

from rmt_attention.errors import ConvergenceError
from rmt_attention.laws import (
    SpectralLaw,
    attention_law,
    compound_poisson_law,
    output_law,
    tied_output_law,
    tied_values_law,
    values_law,
)

from ..oracles import double_exponential, thetas


def _marchenko_pastur_density(x: np.ndarray, t: float) -> np.ndarray:
    """Density of π_t on its bulk."""
    low, high = (1 - np.sqrt(t)) ** 2, (1 + np.sqrt(t)) ** 2
    return np.sqrt((high - x) * (x - low)) / (2 * np.pi * x)


def _product_edges(widths: tuple[float, ...]) -> tuple[float, float]:
    """Ends of ⊠ MP_{1/a}: stationary values of (1+u) ∏(1 + u/a)/u at the largest u < 0 and the smallest u > 0."""
    numerator = Polynomial([1.0, 1.0])
    for a in widths:
        numerator *= Polynomial([1.0, 1 / a])
    u = Polynomial([0.0, 1.0])
    roots = (numerator.deriv() * u - numerator).roots()
    roots = np.sort(roots[np.abs(roots.imag) < 1e-12].real)
    ends = numerator(roots) / roots
    return float(ends[roots < 0][-1]), float(ends[roots > 0][0])


@pytest.mark.parametrize("t", [0.1, 0.5, 1.0, 2.0, 7.5])
def test_a_single_jump_gives_the_marchenko_pastur_law(t: float) -> None:
    law = compound_poisson_law([1.0], t)
    low, high = (1 - np.sqrt(t)) ** 2, (1 + np.sqrt(t)) ** 2
    ((left, right),) = law.support
    assert left == pytest.approx(low, rel=1e-13, abs=1e-300)
    assert right == pytest.approx(high, rel=1e-14, abs=0)
    x = np.linspace(low, high, 42)[1:-1]
    np.testing.assert_allclose(law.density(x), _marchenko_pastur_density(x, t), rtol=1e-12)
    z = np.array([0.3 + 0.2j, -1.0, high + 1, 1 - 3j])
    root = np.sqrt(z - low) * np.sqrt(z - high)
    np.testing.assert_allclose(law.cauchy(z), (z + 1 - t - root) / (2 * z), rtol=1e-12)


def test_with_ratio_two_the_mass_and_the_atom_are_right() -> None:
    # Both directions: as many zeros as the smaller side leaves (others: mass 0.5 and no atom, cdf 0 below the bulk).
    wide, tall = compound_poisson_law([1.0], 2.0), compound_poisson_law([1.0], 0.5)
    assert wide.atoms == ()
    assert [(atom.location, atom.mass) for atom in tall.atoms] == [(0.0, 0.5)]
    for law, mass in ((wide, 1.0), (tall, 0.5)):
        ((low, high),) = law.support
        assert float(double_exponential(law.density, low, high)[0]) == pytest.approx(mass, rel=1e-12, abs=0)
        assert float(law.cdf(low / 2)) == 1 - mass


def test_with_ratio_one_nothing_is_nan_at_zero() -> None:
    law = compound_poisson_law([1.0], 1.0)
    assert float(law.density(0.0)) == np.inf
    assert float(law.cdf(0.0)) == 0
    assert law.atoms == ()
    assert float(law.degrees_of_freedom(0.0)) == 1
    x = np.geomspace(1e-300, 4, 50)[:-1]
    np.testing.assert_allclose(law.density(x), np.sqrt(x * (4 - x)) / (2 * np.pi * x), rtol=1e-11)
    # cdf = (2/π)(a + sin a cos a) at x = 4 sin² a
    a = np.arcsin(np.sqrt(x / 4))
    np.testing.assert_allclose(law.cdf(x), 2 / np.pi * (a + np.sin(a) * np.cos(a)), atol=1e-14)


def test_jumps_of_three_sizes_have_three_intervals_and_whole_mass() -> None:
    # The sample covariance law of the spectrum {1, 3, 10}, ratio 0.1, with the zeros of the longer side.
    law = compound_poisson_law([1.0, 3.0, 10.0], 0.1, [0.2, 0.4, 0.4])

    def location(omega: np.ndarray) -> np.ndarray:
        return omega * (1 + 0.1 * (0.2 / (omega - 1) + 1.2 / (omega - 3) + 4 / (omega - 10)))

    # Silverstein and Choi: the support is what location misses where it rises; its ends by a fine search.
    ends = [end for interval in law.support for end in interval]
    pieces = [(0.3, 0.99), (1.01, 2.0), (2.0, 2.99), (3.01, 6.0), (6.0, 9.99), (10.01, 20.0)]
    for end, (left, right) in zip(ends, pieces, strict=True):
        values = location(np.linspace(left, right, 200_001))
        stationary = values[1:-1][(np.diff(values)[1:] * np.diff(values)[:-1]) < 0]
        assert stationary.size == 1
        # the grid misses the stationary point by 5e-5 at most and its value by the square of it
        assert end == pytest.approx(float(stationary[0]), rel=1e-7, abs=0)
    assert ends == pytest.approx([0.65208, 1.17667, 1.82896, 4.12108, 6.61497, 14.58181], abs=5.1e-6)
    masses = [float(double_exponential(law.density, *interval)[0]) for interval in law.support]
    assert masses == pytest.approx([0.02, 0.04, 0.04], abs=1e-11)
    assert [(atom.location, atom.mass) for atom in law.atoms] == [(0.0, pytest.approx(0.9, abs=1e-15))]


@pytest.mark.parametrize(
    "law",
    [compound_poisson_law([1.0, 2.5], 30.0), attention_law(1.0, 4, 0.36), output_law(0.9, 3, 0.75, 1.25, 0.75)],
    ids=lambda law: law.name,
)
def test_a_single_bulk_has_no_hole_anywhere(law: SpectralLaw) -> None:
    ((low, high),) = law.support
    assert (law.density(np.linspace(low, high, 20_001)[1:-1]) > 0).all()


def test_jumps_may_repeat_vanish_and_come_in_any_order() -> None:
    plain = compound_poisson_law([0.5, 2.0], 1.2, [0.25, 0.75])
    for other in (
        compound_poisson_law([2.0, 0.5], 1.2, [0.75, 0.25]),
        compound_poisson_law([0.5, 2.0, 2.0, 2.0], 1.2),
        compound_poisson_law([0.0, 0.5, 2.0], 2.4, [0.5, 0.125, 0.375]),
        compound_poisson_law([5.0, 0.5, 2.0], 1.2, [0.0, 0.25, 0.75]),
    ):
        x = np.linspace(0.1, 6, 30)
        np.testing.assert_allclose(other.edges, plain.edges, rtol=1e-13)
        np.testing.assert_allclose(other.density(x), plain.density(x), rtol=1e-11)
        np.testing.assert_allclose(other.degrees_of_freedom(x), plain.degrees_of_freedom(x), rtol=1e-13)


@pytest.mark.parametrize("spread", [0.0, 1e-13, 1e-9, 1e-5])
def test_jumps_that_almost_coincide_count_as_one(spread: float) -> None:
    law = compound_poisson_law([1 - spread, 1.0, 1 + spread], 0.5)
    single = compound_poisson_law([1.0], 0.5)
    # a symmetric spread moves the law by its variance
    np.testing.assert_allclose(law.edges, single.edges, rtol=1e-13 + 10 * spread**2)


def test_at_vanishing_temperature_attention_is_a_product_of_two_marchenko_pastur_laws() -> None:
    # β = 1e-6: the noise share is 5e-13, so ρ is MP_{1/γ_K} up to a multiple of that.
    law = attention_law(1e-6, 4, 2.0).normalized()
    assert law.edges == pytest.approx((0.0559356, 3.7466902), rel=1e-6, abs=0)
    assert law.edges == pytest.approx(_product_edges((4.0, 2.0)), rel=1e-11, abs=0)
    assert law.moment(2) == pytest.approx(1 + 1 / 4 + 1 / 2, rel=1e-12, abs=0)


def test_with_infinitely_wide_keys_values_are_a_product_of_two_marchenko_pastur_laws() -> None:
    # γ_K = 1e18: ρ is a point mass up to a variance of 1e-18.
    law = values_law(1.0, 3.0, 1e18, 5.0).normalized()
    assert law.edges == pytest.approx(_product_edges((3.0, 5.0)), rel=1e-12, abs=0)


def test_at_huge_temperature_parameter_the_scores_do_not_matter() -> None:
    # β = 6: c = 36/(e^36 − 1) ~ 1e-14, ρ is a point mass.
    law = output_law(6.0, 3.0, 0.7, 5.0, 2.0).normalized()
    assert law.edges == pytest.approx(_product_edges((3.0, 5.0, 2.0)), rel=1e-12, abs=0)


@pytest.mark.parametrize("gamma_key", [0.4, 3.0])
def test_with_infinitely_many_heads_attention_is_the_score_covariance_itself(gamma_key: float) -> None:
    # ν → ρ, the law of θ1 − θ2 + θ2 y, y ~ MP_{1/γ_K}, γ_K y ~ π_{γ_K} — an atom at θ1 − θ2 if γ_K < 1.
    noise, theta2 = map(float, thetas(1.0))
    heads = 1e10
    law = attention_law(1.0, heads, gamma_key)
    low, high = (1 - 1 / np.sqrt(gamma_key)) ** 2, (1 + 1 / np.sqrt(gamma_key)) ** 2
    low, high = noise + theta2 * low, noise + theta2 * high
    # the noise of strength 1/h moves an edge by a multiple of 1/h and smears the atom to a width of √(1/h)
    assert law.edges[-1] == pytest.approx(high, rel=1e-8, abs=0)
    x = np.linspace(low, high, 12)[2:-2]
    expected = _marchenko_pastur_density(gamma_key * (x - noise) / theta2, gamma_key) * gamma_key / theta2
    np.testing.assert_allclose(law.density(x), expected, rtol=1e-7)
    if gamma_key < 1:
        (left, right), _ = law.support
        assert left < noise < right
        assert right - left < 10 / np.sqrt(heads)
        assert float(law.cdf(right)) == pytest.approx(1 - gamma_key, abs=1e-9)
    else:
        assert law.edges[0] == pytest.approx(low, rel=1e-8, abs=0)


def test_an_infinitely_wide_output_changes_nothing_but_the_mean() -> None:
    values, output = values_law(0.9, 3, 0.75, 1.25).normalized(), output_law(0.9, 3, 0.75, 1.25, 1e15).normalized()
    x = np.array([0.1, 1.0, 4.0])
    np.testing.assert_allclose(output.cdf(x), values.cdf(x), atol=1e-12)
    tied, output = tied_values_law(0.9, 3, 0.75).normalized(), tied_output_law(0.9, 3, 0.75, 1e15).normalized()
    np.testing.assert_allclose(output.cdf(x), tied.cdf(x), atol=1e-12)


def test_the_output_law_is_symmetric_in_value_and_output_width_up_to_its_mean() -> None:
    one, other = output_law(1.1, 5, 0.6, 0.8, 2.5).normalized(), output_law(1.1, 5, 0.6, 2.5, 0.8).normalized()
    x = np.array([0.05, 1.0, 4.0])
    np.testing.assert_allclose(one.density(x), other.density(x), rtol=1e-12)


def test_tying_values_to_keys_changes_the_law() -> None:
    tied, free = tied_output_law(0.9, 3, 0.75, 0.75), output_law(0.9, 3, 0.75, 0.75, 0.75)
    assert tied.mean > 1.5 * free.mean
    w = [float(law.normalized().degrees_of_freedom(0.3)) for law in (tied, free)]
    assert abs(w[0] - w[1]) > 1e-3


@pytest.mark.parametrize("small", [1e-10, 1e-13])
def test_a_bulk_of_tiny_jumps_is_kept(small: float) -> None:
    law = compound_poisson_law([1.0, small], 0.5)
    assert len(law.support) == 2
    assert float(law.cdf(0.1)) == pytest.approx(0.75, abs=1e-9)


@pytest.mark.parametrize("small", [1e-10, 1e-20, 1e-100])
def test_a_bulk_is_found_however_far_below_the_others(small: float) -> None:
    # to relative order ``small`` the bulks are those of single jumps: the large one of rate 1/4, which leaves the
    # other 3/4 of the rows, of size 1 − 1/4 each, to the small one
    law = compound_poisson_law([1.0, small], 0.5)
    low, high = (1 - 3**-0.5) ** 2 * 0.75, (1 + 3**-0.5) ** 2 * 0.75
    assert law.support[0] == pytest.approx((low * small, high * small), rel=1e-9)
    assert law.support[1] == pytest.approx((0.25, 2.25), rel=1e-9)
    assert float(law.cdf(small**0.5)) == pytest.approx(0.75, rel=1e-9)


# Gaps of 1e-9 to 4e-9 in log x, and exact ties beside near ones: (law, x, density, cdf) from Newton continuation in
# long double and multiple precision, independent of the package.
HARD = [
    (
        values_law(1.1568960439866571, 3, 0.18547648109790935, 3.2250619543724386),
        13.32599946789353,
        0.00625474,
        0.817693,
    ),
    (
        output_law(0.34882080238375246, 5, 0.5544426560998257, 16.882271484772893, 1.501199476584056),
        0.0194,
        2.55443,
        0.447269,
    ),
    (
        values_law(1.3424537288815321, 1.5, 0.10717811955879625, 2.6619120183545992),
        32.6361905535294,
        0.00187107,
        0.894698,
    ),
    (
        output_law(1.2643243850721528, 3, 0.177496471279021, 18.78687238955431, 9.260925783549586),
        47.97,
        0.00472,
        0.80445,
    ),
    (attention_law(0.8523702493981404, 1, 0.24381477486104647), 0.95660002, 0.0098773, None),
    (
        output_law(0.8343433687965498, 3, 0.2133997906035714, 13.175386859705567, 1.148205581923256),
        1.1544959,
        0.006124,
        None,
    ),
]


@pytest.mark.parametrize(("law", "x", "density", "cdf"), HARD)
def test_next_to_a_gap_of_a_few_1e_9_the_branch_is_right(
    law: SpectralLaw, x: float, density: float, cdf: float | None
) -> None:
    # figures correct to the digits written
    assert float(law.density(x)) == pytest.approx(density, rel=1e-3, abs=0)
    if cdf is not None:
        assert float(law.cdf(x)) == pytest.approx(cdf, abs=1e-4)
    points = law.cdf(np.linspace(law.support[0][0], law.support[-1][1], 2001))
    assert (np.diff(points) >= -1e-13).all()


@pytest.mark.parametrize(
    "law",
    [
        tied_output_law(0.35922463648067654, 1.0000000000416316, 1.0, 1.0),
        tied_output_law(1.8356951196750868, 1, 1, 1.000000000000532),
    ],
)
def test_an_exact_tie_beside_a_near_one_keeps_its_hard_edge(law: SpectralLaw) -> None:
    assert law.support[0][0] == 0
    assert float(law.density(0.0)) == np.inf


@pytest.mark.parametrize(
    ("law", "low", "top"),
    [
        # the double-precision values agree with 110 digits computed independently
        (output_law(8.0, 8, 0.5, 2.0, 0.9), 7.6133e24, 3.47142038240262647e28),
        (attention_law(8.807546956260541, 3.4278274102184696, 0.012990623032280695), 1.0345789e33, 1.1603380e34),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_scores_that_almost_vanish_beside_the_noise_leave_the_edges_right(
    law: SpectralLaw, low: float, top: float
) -> None:
    assert law.edges == pytest.approx((low, top), rel=1e-4)
    assert law.edges[-1] == pytest.approx(top, rel=1e-7)
    assert law.expectation(np.ones_like) == pytest.approx(1, abs=1e-11)


@pytest.mark.parametrize("beta", [7.2, 7.64, 8.4, 8.58, 8.9])
def test_no_law_between_scores_and_pure_noise_is_empty(beta: float) -> None:
    for law in (attention_law(beta, 12, 1.5), output_law(beta, 8, 0.5, 2.0, 0.9)):
        assert law.edges
        assert law.expectation(lambda x, mean=law.mean: x / mean) == pytest.approx(1, rel=1e-11)


@pytest.mark.parametrize("ratios", [(1.0, 2, 1e-6, 0.7, 1.1), (1.0, 11, 2.3642071482661697e-05, 155.8, 78.0)])
def test_a_top_interval_of_tiny_mass_is_found_or_missed_with_an_error(ratios: tuple[float, ...]) -> None:
    # which of the two depends on the last bits of a processor's logarithms; a wrong support does not
    law = output_law(*ratios)
    oracle = law.precise(20)
    true = np.array([float(edge) for edge in oracle.edges])
    gap = float(true[1:3].mean())
    methods: tuple[tuple[Callable[[], object], object], ...] = (
        (lambda: law.edges, true),
        (lambda: law.cdf(gap), float(oracle.cdf(gap))),
        (lambda: law.quantile(0.0), true[0]),
    )
    for method, answer in methods:
        found = _result_or_message(method)
        if isinstance(found, str):
            assert "lies outside the edges found" in found
        else:
            assert found == pytest.approx(answer, rel=1e-11)


def _result_or_message(method: Callable[[], object]) -> object:
    try:
        return method()
    except ConvergenceError as error:
        return str(error)


def test_a_total_rate_of_one_has_no_atom_however_its_weights_round() -> None:
    for size in (*range(2, 60), 120, 399):
        law = compound_poisson_law(np.linspace(0.5, 2, size), 1.0)
        assert law.atoms == ()
        assert law.hard_edge_order == 2
        assert law.support[0][0] == 0
    singular = compound_poisson_law(np.linspace(0.5, 2, 48), 1.0).singular_values()
    assert float(singular.density(0.0)) == pytest.approx(float(singular.density(1e-9)), rel=1e-6)
    precise = compound_poisson_law([1.0, 2.0, 3.0], 1.0).precise(20)
    assert precise.support[0][0] == 0
    assert len(precise.edges) == 1


def test_a_tied_output_law_has_all_the_digits_of_its_ratios() -> None:
    with mp.workdps(60):
        mean = tied_output_law(2.5, 128, 0.7, 1.0).precise(50).mean
        theta2 = mpf(2.5) ** 2
        assert abs(mean / (mp.expm1(theta2) + 128 * theta2 / mpf(0.7)) - 1) < mpf(10) ** -49


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("law", [attention_law(1.0, 1e-308, 0.3), tied_output_law(0.7, 3, 1e308, 0.8)])
def test_ratios_at_the_ends_of_double_precision_are_an_error_of_the_package(law: SpectralLaw) -> None:
    with pytest.raises(ConvergenceError, match="too extreme"):
        _ = law.edges


def test_tied_laws_at_the_largest_beta_raise_far_below_the_mean_and_are_right_above() -> None:
    law = tied_values_law(26.0, 1.0, 1.0)
    with pytest.raises(ConvergenceError, match="β may be too extreme"):
        law.complement(1e100)
    at = 1e-3 * law.mean
    assert float(law.complement(at)) == pytest.approx(float(law.precise(20).complement(at)), rel=1e-11)
