"""What other packages were measured to get wrong about such laws, each as a test of ours."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rmt_attention import free

JUMPS = free.atoms([1, 3, 10], [0.2, 0.4, 0.4]) @ free.marchenko_pastur(0.1)


def _mp_density(x: np.ndarray, ratio: float) -> np.ndarray:
    low, high = (1 - math.sqrt(ratio)) ** 2, (1 + math.sqrt(ratio)) ** 2
    return np.sqrt((high - x) * (x - low)) / (2 * np.pi * ratio * x)


def test_marchenko_pastur_with_more_rows_than_columns_keeps_its_atom_everywhere() -> None:
    law = free.marchenko_pastur(2.0)
    assert [(atom.location, atom.mass) for atom in law.atoms] == [(0.0, pytest.approx(0.5))]
    assert law.cdf([-0.1, 0.0, 0.08]).tolist() == [0.0, 0.5, 0.5]
    x, weights = law.quadrature
    assert weights[x > 0].sum() == pytest.approx(0.5, abs=1e-12)
    draws = law.sample(4000, np.random.default_rng(0))
    assert abs((draws == 0).mean() - 0.5) < 4.5 * 0.5 / math.sqrt(4000)


def test_marchenko_pastur_with_as_many_rows_as_columns_has_numbers_at_zero_and_in_samples() -> None:
    law = free.marchenko_pastur(1.0)
    assert float(law.cdf(0.0)) == 0.0
    assert law.density(0.0) == np.inf
    assert np.isfinite(law.sample(1000, np.random.default_rng(0))).all()
    assert law.quantile(0.0) == 0.0


def test_there_is_no_gap_where_newton_steps_meet_a_wrong_root() -> None:
    x = np.linspace(6.8, 6.85, 501)
    assert len(JUMPS.support) == 3
    assert (JUMPS.density(x) > 0.01).all()


@pytest.mark.parametrize(
    "law",
    [
        free.atoms([1, 2, 5], [0.3, 0.3, 0.4]) @ free.marchenko_pastur(0.3) @ free.marchenko_pastur(0.2),
        free.atoms([-1, 0, 2]) + free.atoms([0, 1, 4], [0.2, 0.3, 0.5]),
        free.compound_poisson(free.atoms([-2, 1, 3]), 0.8) + free.semicircle(variance=0.1),
        free.marchenko_pastur(0.5) @ free.marchenko_pastur(1.0) @ free.marchenko_pastur(2.0),
    ],
    ids=["degree 5", "degree 6", "signed", "triple"],
)
def test_laws_of_high_degree_have_mass_one(law: free.FreeLaw) -> None:
    x, weights = law.quadrature
    assert weights.sum() == pytest.approx(1, abs=1e-10)
    assert weights @ x == pytest.approx(law.mean, abs=1e-10)
    inside = np.concatenate([np.linspace(low, high, 2003)[1:-1] for low, high in law.support])
    width = np.concatenate([np.full(2001, (high - low) / 2002) for low, high in law.support])
    mass = float(law.density(inside) @ width) + sum(atom.mass for atom in law.atoms)
    assert mass == pytest.approx(1, abs=0.03)  # a rule of its own, as far as infinite densities let it be right


def test_edges_are_those_of_the_discriminant_and_not_only_the_mass_is_right() -> None:
    """The cubic of S = 1/((1 + u/2)(1 + u/4)): z = (1 + u)(1 + u/2)(1 + u/4)/u is stationary at the edges."""
    law = free.marchenko_pastur(0.5) @ free.marchenko_pastur(0.25)
    numerator = np.polymul(np.polymul([1, 1], [0.5, 1]), [0.25, 1])
    stationary = np.polysub(np.polymul(np.polyder(numerator), [1, 0]), numerator)
    roots = np.roots(stationary)
    values = [np.polyval(numerator, u.real) / u.real for u in roots if abs(u.imag) < 1e-9]
    edges = sorted(value for value in values if value > 0)
    np.testing.assert_allclose(law.edges, [edges[0], edges[-1]], rtol=1e-12)
    np.testing.assert_allclose(law.edges, [0.0559356, 3.7466902], atol=5e-8)


def test_samples_follow_their_generator_and_leave_the_global_one_alone() -> None:
    np.random.seed(5)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    one, same, other = (JUMPS.sample(50, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert (one == same).all()
    assert (one != other).any()
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002


@pytest.mark.parametrize("ratio", [0.05, 0.5, 3.0])
def test_no_smoothing_is_left_in_the_density_next_to_an_edge(ratio: float) -> None:
    law = free.marchenko_pastur(ratio)
    low, high = law.edges[0], law.edges[-1]
    x = np.array([low + 1e-7 * low, low + 1e-3, (low + high) / 2, high - 1e-3])
    np.testing.assert_allclose(law.density(x), _mp_density(x, ratio), rtol=1e-8)
    assert law.density([low * (1 - 1e-12), high * (1 + 1e-12), high + 1.0]).tolist() == [0.0, 0.0, 0.0]
