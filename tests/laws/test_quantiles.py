"""Quantiles invert the cdf, and draws made from them follow it."""

from __future__ import annotations

import numpy as np
import pytest

from rmt_attention.laws import SpectralLaw, attention_law, compound_poisson_law, output_law

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
