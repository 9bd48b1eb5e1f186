"""Laws are written with operators and functions; what cannot be combined is refused by name."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from rmt_attention import free
from rmt_attention.free import FreeLaw
from rmt_attention.laws import attention_law, values_law

THREE = free.atoms([0.5, 1.0, 4.0], [0.3, 0.5, 0.2])
TWO = free.atoms([1, 2], [0.6, 0.4])
CIRCLE = free.semicircle(0.3, 0.8)
POISSON = free.free_poisson(1.6, 0.7)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (THREE + 2, free.atoms([2.5, 3.0, 6.0], [0.3, 0.5, 0.2])),
        (2 + THREE, THREE + 2.0),
        (THREE - 1, THREE + (-1)),
        (1 - TWO, free.atoms([-1, 0], [0.4, 0.6])),
        (-TWO, free.atoms([-2, -1], [0.4, 0.6])),
        (THREE - TWO, THREE + (-TWO)),
        (THREE * 3, free.atoms([1.5, 3, 12], [0.3, 0.5, 0.2])),
        (np.float64(3) * THREE, THREE * 3),
        (np.int64(3) + THREE, THREE + 3),
        (THREE / 4, THREE * 0.25),
        (THREE * 0, free.atoms([0.0])),
        (THREE + TWO, TWO + THREE),
        (THREE @ TWO, TWO @ THREE),
        (CIRCLE + CIRCLE, free.semicircle(0.6, 1.6)),
        (THREE.additive_power(2), THREE + THREE),
        (CIRCLE.additive_power(0.5) + CIRCLE.additive_power(0.5), CIRCLE),
        (THREE.multiplicative_power(3), THREE @ THREE @ THREE),
        (free.free_poisson(2.0, -0.5), -0.5 * free.free_poisson(2.0)),
        (free.compound_poisson(TWO, 0.3), free.free_poisson(0.18) + free.free_poisson(0.12, 2.0)),
        (free.marchenko_pastur(0.25), free.free_poisson(4.0, 0.25)),
        (free.marchenko_pastur(0.25).companion(4.0), 0.25 * free.marchenko_pastur(4.0)),
        (THREE.scaled(2.0), 2 * THREE),
        (THREE.normalized(), THREE / THREE.mean),
        (free.atoms([4, 1, 1, 7], [0.25, 0.25, 0.5, 0.0]), free.atoms([1, 4], [0.75, 0.25])),
        (free.atoms([1, 1, 5]), free.atoms([1, 5], [2 / 3, 1 / 3])),
    ],
)
def test_two_ways_to_write_a_law_agree(one: FreeLaw, other: FreeLaw) -> None:
    z = np.array([0.3 + 0.2j, -4 + 0.1j, 2 - 1j])
    np.testing.assert_allclose(one.cauchy(z), other.cauchy(z), rtol=1e-12)
    assert [(atom.location, atom.mass) for atom in one.atoms] == [
        (pytest.approx(atom.location), pytest.approx(atom.mass)) for atom in other.atoms
    ]


@pytest.mark.parametrize("scale", [1e-90, 1e-3, 1e5, 1e90])
def test_every_method_knows_the_scale(scale: float) -> None:
    law = THREE @ free.marchenko_pastur(0.4)
    big = scale * law
    x = law.quantile([0.1, 0.4, 0.9])
    np.testing.assert_allclose(big.density(scale * x) * scale, law.density(x), rtol=1e-10)
    np.testing.assert_allclose(big.cdf(scale * x), law.cdf(x), atol=1e-12)
    np.testing.assert_allclose(big.quantile([0.1, 0.4, 0.9]), scale * x, rtol=1e-11)
    np.testing.assert_allclose(big.edges, scale * np.array(law.edges), rtol=1e-12)
    np.testing.assert_allclose(big.degrees_of_freedom(scale * x), law.degrees_of_freedom(x), rtol=1e-12)
    np.testing.assert_allclose(big.r_transform(0.1 / scale), scale * law.r_transform(0.1), rtol=1e-12)
    np.testing.assert_allclose(big.s_transform(-0.3), law.s_transform(-0.3) / scale, rtol=1e-12)
    assert big.moment(3) == pytest.approx(scale**3 * law.moment(3), rel=1e-10)
    assert big.expectation(np.sqrt) == pytest.approx(math.sqrt(scale) * law.expectation(np.sqrt), rel=1e-10)


def test_a_law_known_to_reach_below_zero_only_by_its_bound_can_be_multiplied() -> None:
    narrow = free.atoms([-1, 1]).additive_power(4) + 3.8
    assert narrow.node.low < 0 < narrow.support[0][0]
    product = narrow @ TWO
    assert product.mean == pytest.approx(narrow.mean * TWO.mean)
    assert product.expectation(lambda x: x) == pytest.approx(product.mean, rel=1e-9)
    assert float(product.cdf(0.0)) == 0.0


def test_limiting_laws_of_layers_can_be_combined_with_others() -> None:
    layer = attention_law(1.0, 4, 0.75)
    law = layer.expression()
    z = np.array([0.3 + 0.2j, 5 - 1j])
    for one, other in (
        (TWO + layer, TWO + law),
        (layer + TWO, law + TWO),
        (TWO @ layer, law @ TWO),
        (layer @ TWO, law @ TWO),
        (TWO - layer, TWO + (-law)),
        (layer - TWO, law - TWO),
    ):
        np.testing.assert_allclose(one.cauchy(z), other.cauchy(z), rtol=1e-12)
    widened = layer @ free.marchenko_pastur(1 / 0.6)
    np.testing.assert_allclose(widened.edges, values_law(1.0, 4, 0.75, 0.6).scaled(1 / 0.6).edges, rtol=1e-10)


def test_fractions_and_integers_are_numbers_too() -> None:
    law = free.atoms([Fraction(1, 2), 3])
    assert law.mean == 1.75
    assert law.density([1, 2, 3]).tolist() == [0.0, 0.0, 0.0]
    wide = law + free.semicircle(variance=4)
    assert (wide.density([0, 1, 2, 3]) > 0).all()  # an integer grid is a grid


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: CIRCLE @ THREE,
            r"free multiplicative convolution: needs laws on \[0, ∞\), and semicircle\(0\.3, 0\.8\)",
        ),
        (lambda: THREE @ CIRCLE, r"free multiplicative convolution: needs laws on \[0, ∞\)"),
        (lambda: THREE @ 3, r"free multiplicative convolution: 3 is not a law of rmt_attention\.free"),
        (lambda: 3 @ THREE, r"free multiplicative convolution: 3 is not a law"),
        (lambda: THREE * TWO, "⊠ is written @"),
        (lambda: THREE + "x", r"free additive convolution: 'x' is neither a law"),
        (lambda: THREE - True, r"free additive convolution: True is neither a law"),
        (lambda: THREE + np.inf, r"free additive convolution: inf is neither a law"),
        (lambda: THREE + np.ones(2), r"free additive convolution: array\(\[1\., 1\.\]\) is neither a law"),
        (lambda: THREE * None, "dilation: None is neither a law"),
        (lambda: THREE / 0, "cannot divide by 0"),
        (lambda: THREE.additive_power(0.5), r"exponent=0\.5: must be ≥ 1"),
        (lambda: THREE.additive_power(-1), "exponent=-1: must be a finite number > 0"),
        (lambda: THREE.multiplicative_power(0.5), r"exponent=0\.5: must be ≥ 1"),
        (lambda: CIRCLE.multiplicative_power(2), r"free multiplicative power: needs laws on \[0, ∞\)"),
        (lambda: THREE.companion(0.5), r"ratio=0\.5: must be ≥ 1"),
        (lambda: THREE.scaled(-1), "factor=-1: must be a finite number > 0"),
        (lambda: free.semicircle().normalized(), r"semicircle\(0, 1\): has mean 0; must be > 0"),
        (lambda: free.semicircle(variance=0), "variance=0: must be a finite number > 0"),
        (lambda: free.semicircle(mean=np.nan), "mean=nan: must not be NaN"),
        (lambda: free.semicircle(mean=np.inf), "mean=inf: must be one number"),
        (lambda: free.free_poisson(0.0), r"rate=0\.0: must be a finite number > 0"),
        (lambda: free.free_poisson(1.0, 0), "jump=0: must not be 0"),
        (lambda: free.free_poisson(1.0, [1, 2]), r"jump=\[1, 2\]: must be one number"),
        (lambda: free.marchenko_pastur(-1), "ratio=-1: must be a finite number > 0"),
        (lambda: free.marchenko_pastur(1e200), r"ratio=1e\+200: must be from 1e-100 to 1e\+100"),
        (lambda: free.compound_poisson(3, 1.0), "law=3: must be a law of rmt_attention.free"),
        (lambda: free.compound_poisson(THREE, 0), "rate=0: must be a finite number > 0"),
        (lambda: free.atoms([]), "locations: 0 given, must be from 1 to 2000"),
        (lambda: free.atoms([1, np.inf]), "locations=inf: must be at most"),
        (lambda: free.atoms([1, np.nan]), "locations=nan: must not be NaN"),
        (lambda: free.atoms([1, 2], [0.5, 0.6]), r"weights: sum to 1\.1, must sum to 1"),
        (lambda: free.atoms([1, 2], [1.5, -0.5]), r"weights=-0\.5: must be ≥ 0"),
        (lambda: free.atoms([1, 2], [1.0]), "weights: 1 given for 2 locations"),
    ],
)
def test_what_has_no_meaning_is_refused_by_name(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_names_say_how_a_law_was_made_and_stay_short() -> None:
    assert repr(THREE @ free.marchenko_pastur(0.1)) == (
        "<FreeLaw (atoms(0.5, 1, 4) ⊠ MP(0.1)): mean 1.45, variance 1.88275>"
    )
    law = THREE
    for _ in range(20):
        law = law + CIRCLE
    assert len(law.name) <= 60
