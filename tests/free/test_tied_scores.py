"""Scores times their own keys: the leaf against integrals over the key spectrum, and its branch among all roots."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from rmt_attention import laws
from rmt_attention.equations.temperature import score_variance_excess
from rmt_attention.free.convolutions import Sum
from rmt_attention.free.free_law import FreeLaw
from rmt_attention.free.leaves import Semicircle
from rmt_attention.free.nodes import Node
from rmt_attention.free.operations import Affine, Noisy
from rmt_attention.free.subordination import Subordination
from rmt_attention.free.tied_scores import TiedScores

BETAS = (0.05, 0.4, 1.0, 2.5)
RATES = (0.02, 0.3, 0.97, 1.0, 1.04, 3.0, 20.0)


def scores(beta: float, rate: float) -> TiedScores:
    return TiedScores(score_variance_excess(math, beta**2), beta**2, rate)


def key_spectrum(rate: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Points and weights of the free Poisson law off 0, in the angle and dense at the lower end."""
    t, w = np.polynomial.legendre.leggauss(20)
    ends = np.pi * np.concatenate([[0.0], np.geomspace(1e-30, 0.01, 100, endpoint=False), np.linspace(0.01, 1, 100)])
    half = np.diff(ends)[:, None] / 2
    angle = (ends[:-1, None] + half * (1 + t)).ravel()
    x = (1 - math.sqrt(rate)) ** 2 + 4 * math.sqrt(rate) * np.sin(angle / 2) ** 2
    return x, (half * w).ravel() * 2 * rate * np.sin(angle) ** 2 / (np.pi * x)


def image(node: TiedScores, x: NDArray[np.float64]) -> NDArray[np.float64]:
    return node.excess * x + node.theta2 / node.rate * x * x


def all_roots(node: TiedScores, z: complex) -> NDArray[np.complex128]:
    """Parameters s with z(s) = z, from the polynomial."""
    zeros = np.poly([*node._F, *node._u])
    poles = np.poly([node._infinity, node._outer, node._outer])
    return np.asarray(np.roots(np.polysub(zeros, z * poles)))


@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("rate", RATES)
def test_the_transform_is_the_integral_over_the_key_spectrum(beta: float, rate: float) -> None:
    node = scores(beta, rate)
    x, weights = key_spectrum(rate)
    rng = np.random.default_rng(4)
    z = node.low + node.extent * (rng.uniform(-0.4, 1.4, 60) + 1j * np.exp(-3 * rng.random(60)))
    expected = (weights / (z[:, None] - image(node, x))).sum(1) + max(1 - rate, 0) / z
    np.testing.assert_allclose(FreeLaw(node, "law").cauchy(z), expected, rtol=1e-12)
    assert node.mean == pytest.approx(weights @ image(node, x), rel=1e-12)
    assert node.variance == pytest.approx(weights @ image(node, x) ** 2 - node.mean**2, rel=1e-12)


@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("rate", RATES)
def test_v_keeps_its_digits_as_z_goes_to_zero(beta: float, rate: float) -> None:
    node = scores(beta, rate)
    x, weights = key_spectrum(rate)
    ridge = node.mean * 10.0 ** np.arange(-20.0, 1.0, 2.0)
    sub = Subordination(node)
    roots, found = sub.solve(-ridge + 0j)
    assert found.all()
    V = sub.at(roots.parameters)[0].V
    assert V is not None
    expected = (weights * (ridge[:, None] / (ridge[:, None] + image(node, x)))).sum(1)
    np.testing.assert_allclose(V.value.real, expected, rtol=1e-12)


@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("rate", RATES)
def test_density_and_cdf_are_those_of_the_keys_at_the_inverse_image(beta: float, rate: float) -> None:
    node = scores(beta, rate)
    law, keys = FreeLaw(node, "law"), laws.compound_poisson_law([1.0], rate)
    x = keys.quantile(np.append(np.linspace(0.0123, 0.987, 40), [1e-6, 1 - 1e-6]))
    x = x[x > 0]
    slope = node.excess + 2 * node.theta2 / node.rate * x
    np.testing.assert_allclose(law.density(image(node, x)) * slope, keys.density(x), rtol=1e-9)
    np.testing.assert_allclose(law.cdf(image(node, x)), keys.cdf(x), atol=1e-12)
    ends = np.array([end for interval in keys.support for end in interval])
    np.testing.assert_allclose(law.edges, image(node, ends), rtol=1e-12)
    assert [(atom.location, atom.mass) for atom in law.atoms] == [(0.0, pytest.approx(1 - rate))] * (rate < 1)


@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("rate", RATES)
def test_of_the_four_roots_of_the_curve_one_is_proved_and_it_is_the_transform(beta: float, rate: float) -> None:
    node = scores(beta, rate)
    sub = Subordination(node)
    x, weights = key_spectrum(rate)
    rng = np.random.default_rng(5)
    for z in node.low + node.extent * (rng.uniform(-0.4, 1.4, 20) + 1j * np.exp(-3 * rng.random(20))):
        found, done = sub.newton(np.full(4, z), all_roots(node, z)[None])
        assert done.all()
        upper, outside, _ = sub.proved(np.full(4, z), found)
        assert (upper.sum(), outside.sum()) == (1, 0)
        expected = (weights / (z - image(node, x))).sum() + max(1 - rate, 0) / z
        assert 1 / sub.at(found)[0].F.value[upper][0] == pytest.approx(expected, rel=1e-12)


def test_the_subordination_function_alone_does_not_tell_the_branch() -> None:
    node, z = scores(0.4, 0.3), 0.1 + 0.1j
    point, _ = Subordination(node).at(all_roots(node, z)[None])
    assert (point.F.value.imag >= z.imag).sum() > 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Affine(scores(1.0, 0.4), -2.0, 1.0), Affine(scores(1.0, 0.4), 2.0, -1.0)),
        (
            Sum(Affine(scores(1.0, 0.4), -1.0, 0.0), Semicircle(0.0, 2.0)),
            Noisy(scores(1.0, 0.4), Semicircle(0.0, 2.0)),
        ),
    ],
    ids=["alone", "with noise"],
)
def test_in_the_lower_half_plane_the_law_is_the_mirror_image(one: Node, other: Node) -> None:
    first, second = FreeLaw(one, "first"), FreeLaw(other, "second")
    x = second.quantile(np.linspace(0.0123, 0.987, 20))
    off = ~np.isin(x, [atom.location for atom in second.atoms])
    np.testing.assert_allclose(first.density(-x[off]), second.density(x[off]), rtol=1e-9)
    np.testing.assert_allclose(1 - first.cdf(-x[off]), second.cdf(x[off]), atol=1e-12)


def test_another_temperature_has_another_transform() -> None:
    """Negative control."""
    z = np.array([1.0 + 1.0j])
    one, other = (FreeLaw(scores(beta, 0.7), "law").cauchy(z) for beta in (1.0, 1.0 + 1e-9))
    assert abs(one / other - 1) > 1e-10
