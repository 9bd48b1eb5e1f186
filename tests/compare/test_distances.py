"""W1 and KS against brute force, and the table of a law's cdf against the law. Seed 0."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import wasserstein_distance

from rmt_attention import EmpiricalLaw, laws
from rmt_attention.compare.distances import kolmogorov_smirnov, tabulate, wasserstein1
from rmt_attention.compare.tabulated import TabulatedCdf
from rmt_attention.laws import SpectralLaw

Floats = np.ndarray

LAWS: dict[str, SpectralLaw] = {
    "attention": laws.attention_law(1.0, 4, 2.0),
    "attention, gap": laws.attention_law(1.0, 4, 0.3),
    "attention, gap and divergence at 0": laws.attention_law(1.0, 1, 0.1),
    "attention, almost two bulks": laws.attention_law(1.0, 4, 0.35),
    "attention, atom": laws.attention_law(1.3, 0.6, 0.8),
    "values, exponent −2/3": laws.values_law(1.2, 1, 0.9, 1.0),
    "output": laws.output_law(1.0, 12, 1.5, 1.5, 1.5),
    "output, atom": laws.output_law(0.9, 3, 0.75, 1.25, 0.75),
    "output, gap": laws.output_law(1.0, 4, 0.1, 3.0, 5.0),
    "output, exponent −3/4": laws.output_law(1.0, 1, 1.0, 1.0, 1.0),
    "output, edge near 0": laws.output_law(1.0, 4, 1.0, 1.02, 5.0),
    "output, small β": laws.output_law(0.05, 12, 1.5, 1.5, 1.5),
    "output, large β": laws.output_law(2.5, 128, 0.7, 1.3, 2.0),
    "tied values": laws.tied_values_law(0.7, 3, 0.6),
    "tied output, exponent −3/4": laws.tied_output_law(1.0, 1, 1.0, 1.0),
    "tied output": laws.tied_output_law(0.9, 16, 1.4, 0.5),
    "compound, three bulks and an atom": laws.compound_poisson_law((1.0, 3.0, 10.0), 0.1, (0.2, 0.4, 0.4)),
    "compound, Marchenko–Pastur at 1": laws.compound_poisson_law((1.0,), 1.0),
    "scaled": laws.output_law(0.9, 3, 0.75, 1.25, 0.75).scaled(1e-3),
}


def _spectrum_near(law: SpectralLaw, size: int, seed: int = 0) -> EmpiricalLaw:
    """Eigenvalues at random quantiles of the law, moved by 2 %, the atom's share at 0: neither rigid nor exact."""
    rng = np.random.default_rng(seed)
    atom = sum(one.mass for one in law.atoms)
    grid = np.sort(np.concatenate([a + (b - a) * np.sin(np.linspace(0, np.pi / 2, 4001)) ** 8 for a, b in law.support]))
    zeros = int(atom * size)
    levels = atom + (1 - atom) * rng.uniform(size=size - zeros)
    values = np.interp(levels, law.cdf(grid), grid) * (1 + 0.02 * rng.standard_normal(size - zeros))
    return EmpiricalLaw(np.concatenate([np.zeros(zeros), np.abs(values)]), zeros)


# The table -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LAWS)
def test_the_table_of_the_cdf_is_exact_to_1e_8(name: str) -> None:
    law, rng = LAWS[name], np.random.default_rng(0)
    top = law.support[-1][1]
    x = np.concatenate(
        [
            rng.uniform(0, 1.1 * top, 300),
            top * 10 ** rng.uniform(-12, 0.1, 300),
            *[np.array([a, b]) for a, b in law.support],
            *[a + (b - a) * 10 ** rng.uniform(-10, 0, 40) for a, b in law.support],
            *[b - (b - a) * 10 ** rng.uniform(-10, 0, 40) for a, b in law.support],
            np.array([-1.0, 0.0]),
        ]
    )
    np.testing.assert_allclose(TabulatedCdf(law)(x), law.cdf(x), rtol=0, atol=1e-8)


def test_the_check_of_the_table_sees_a_wrong_slope() -> None:
    """Negative control: a table whose densities are 1 % too large is off by more than 1e-8."""
    law = LAWS["output"]
    table = TabulatedCdf(law)
    table._pieces = [(*piece[:4], 1.01 * piece[4]) for piece in table._pieces]
    x = np.linspace(0, law.support[-1][1], 1000)
    assert np.abs(table(x) - law.cdf(x)).max() > 1e-8


# W1 ------------------------------------------------------------------------------------------------------------------

SPECTRA = st.lists(st.floats(0, 100), min_size=1, max_size=12)


@given(SPECTRA, SPECTRA)
@settings(max_examples=300, deadline=None)
def test_w1_of_two_spectra_is_the_integral_of_the_difference_of_cdfs(left: list[float], right: list[float]) -> None:
    one, other = EmpiricalLaw(left), EmpiricalLaw(right)  # type: ignore[arg-type]
    assert wasserstein1(one, other) == pytest.approx(wasserstein_distance(left, right), abs=1e-11)
    assert wasserstein1(other, one) == pytest.approx(wasserstein1(one, other), abs=1e-11)


def test_w1_of_equal_sizes_is_the_mean_difference_of_ordered_eigenvalues() -> None:
    assert wasserstein1(EmpiricalLaw([3.0, 0.0, 1.0]), EmpiricalLaw([1.0, 1.0, 5.0])) == (1 + 0 + 2) / 3  # type: ignore[arg-type]


def test_w1_of_unequal_sizes_by_hand() -> None:
    assert wasserstein1(EmpiricalLaw([0.0, 2.0]), EmpiricalLaw([1.0])) == 1.0  # type: ignore[arg-type]
    assert wasserstein1(EmpiricalLaw([0.0, 0.0, 3.0]), EmpiricalLaw([0.0])) == 1.0  # type: ignore[arg-type]


def _integral(law: EmpiricalLaw, limit: SpectralLaw, cdf: Callable[[Floats], Floats]) -> float:
    """∫ |F − G| dx piece by piece between eigenvalues and edges, 400 steps on each, none of them linear."""
    ends = [end for interval in limit.support for end in interval]
    knots = np.unique(np.concatenate([[0.0], law.eigenvalues, ends]))
    total = 0.0
    for low, high in pairwise(knots):
        level = float(law.cdf(low))
        # x = low + (high − low) sin⁴: smooth also where the density diverges
        angle = np.linspace(0, np.pi / 2, 401)
        x = low + (high - low) * np.sin(angle) ** 4
        gap = np.abs(cdf(x) - level)
        total += float(np.trapezoid(gap, x))
    return total


@pytest.mark.parametrize(
    "name",
    ["attention, gap", "output", "output, atom", "output, exponent −3/4", "tied values", "output, gap", "scaled"],
)
def test_w1_against_a_law_is_the_integral_of_the_difference_of_cdfs(name: str) -> None:
    limit = LAWS[name]
    spectrum = _spectrum_near(limit, 40)
    expected = _integral(spectrum, limit, limit.cdf)
    assert wasserstein1(spectrum, tabulate(limit)) == pytest.approx(expected, rel=1e-2)
    # negative control: the tolerance sees a spectrum scaled by 5 %
    moved = EmpiricalLaw(1.05 * spectrum.eigenvalues, spectrum.zeros)
    assert wasserstein1(moved, tabulate(limit)) != pytest.approx(expected, rel=1e-2)


@pytest.mark.parametrize("name", LAWS)
def test_w1_against_a_law_is_better_for_more_eigenvalues(name: str) -> None:
    """The rule is linear between quarters of gaps; the table, checked above, stands for the cdf."""
    limit = LAWS[name]
    spectrum, table = _spectrum_near(limit, 160), TabulatedCdf(limit)
    assert wasserstein1(spectrum, table) == pytest.approx(_integral(spectrum, limit, table), rel=1e-3)


def test_w1_of_one_eigenvalue_against_marchenko_pastur_by_quadrature() -> None:
    limit = LAWS["compound, Marchenko–Pastur at 1"]

    def density(x: float) -> float:
        return float(np.sqrt(x * (4 - x)) / (2 * np.pi * x))

    expected = quad(lambda x: abs(x - 1.0) * density(x), 0, 4, points=[1.0], limit=200)[0]
    found = wasserstein1(EmpiricalLaw(np.full(1, 1.0)), tabulate(limit))
    assert found == wasserstein1(EmpiricalLaw(np.ones(7)), tabulate(limit))
    assert found == pytest.approx(expected, rel=0.02)  # four cells on each side of the eigenvalue


def test_w1_of_two_equal_laws_is_zero() -> None:
    spectrum = _spectrum_near(LAWS["output"], 50)
    assert wasserstein1(spectrum, spectrum) == 0
    assert kolmogorov_smirnov(spectrum, spectrum) == 0


# KS ------------------------------------------------------------------------------------------------------------------


@given(SPECTRA, SPECTRA)
@settings(max_examples=300, deadline=None)
def test_ks_of_two_spectra_is_the_largest_difference_of_cdfs(left: list[float], right: list[float]) -> None:
    one, other = EmpiricalLaw(left), EmpiricalLaw(right)  # type: ignore[arg-type]
    points = np.array(left + right)
    expected = max(
        abs((np.array(left) <= x).mean() - (np.array(right) <= x).mean())
        for x in points  # constant between them
    )
    assert kolmogorov_smirnov(one, other) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("name", LAWS)
def test_ks_against_a_law_is_the_largest_difference_of_cdfs_on_both_sides_of_every_jump(name: str) -> None:
    limit = LAWS[name]
    spectrum = _spectrum_near(limit, 40)
    x = spectrum.eigenvalues[spectrum.eigenvalues > 0]
    below = (np.searchsorted(spectrum.eigenvalues, x, side="left")) / 40
    at_zero = abs((spectrum.eigenvalues == 0).mean() - float(limit.cdf(0.0)))
    limit_at = limit.cdf(x)
    expected = max(at_zero, np.abs(limit_at - below).max(), np.abs(limit_at - spectrum.cdf(x)).max())
    dense = np.linspace(0, 1.2 * limit.support[-1][1], 3000)
    assert np.abs(limit.cdf(dense) - spectrum.cdf(dense)).max() <= expected + 1e-12
    assert kolmogorov_smirnov(spectrum, tabulate(limit)) == pytest.approx(expected, abs=2e-8)


def test_equal_atoms_cost_nothing_and_a_missing_atom_costs_its_mass() -> None:
    limit = LAWS["output, atom"]  # mass 1/4 at 0
    levels = 0.25 + 0.75 * (np.arange(300) + 0.5) / 300
    x = limit.support[0][1] * np.sin(np.linspace(0, np.pi / 2, 10_001)) ** 8
    values = np.interp(levels, limit.cdf(x), x)
    with_atom = EmpiricalLaw(np.concatenate([np.zeros(100), values]), 100)
    assert kolmogorov_smirnov(with_atom, tabulate(limit)) == pytest.approx(1 / 800, abs=1e-4)
    without = EmpiricalLaw(np.concatenate([np.full(100, 1e-9), values]))
    assert kolmogorov_smirnov(without, tabulate(limit)) == pytest.approx(0.25, abs=1e-12)
    all_zero = EmpiricalLaw(np.zeros(4), 4)
    assert kolmogorov_smirnov(all_zero, tabulate(limit)) == pytest.approx(0.75, abs=1e-12)


def test_a_spectrum_outside_the_support_is_at_distance_one() -> None:
    limit = LAWS["attention"]
    far = EmpiricalLaw(np.full(3, 10 * limit.support[-1][1]))
    assert kolmogorov_smirnov(far, tabulate(limit)) == pytest.approx(1, abs=1e-12)
    expected = 10 * limit.support[-1][1] - limit.mean
    assert wasserstein1(far, tabulate(limit)) == pytest.approx(expected, rel=0.01)  # four cells on the whole support
