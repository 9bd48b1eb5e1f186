"""Simplified expressions have the laws of the plain ones, and operations without meaning are refused by name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from rmt_attention.free import algebra
from rmt_attention.free.convolutions import Product, Sum
from rmt_attention.free.free_law import FreeLaw
from rmt_attention.free.leaves import Atomic, FreePoisson, Semicircle
from rmt_attention.free.nodes import Node
from rmt_attention.free.operations import AdditivePower, Affine, CompoundPoisson, MultiplicativePower, Noisy, Part
from rmt_attention.free.tied_scores import TiedScores

THREE = Atomic(np.array([0.5, 1.0, 4.0]), np.array([0.3, 0.5, 0.2]))
TWO = Atomic(np.array([1.0, 2.0]), np.array([0.6, 0.4]))
POISSON = FreePoisson(0.7, 1.6, 0.0)
SHIFTED = FreePoisson(0.7, 0.5, 0.2)
CIRCLE = Semicircle(0.3, 0.8)
SCORES = TiedScores(0.7, 1.0, 0.6)


@pytest.mark.parametrize(
    ("simple", "plain", "kind"),
    [
        (algebra.add(algebra.point(2.0), THREE), Affine(THREE, 1.0, 2.0), Atomic),
        (algebra.add(POISSON, SHIFTED), Sum(POISSON, SHIFTED), FreePoisson),
        (algebra.add(CIRCLE, CIRCLE), Sum(CIRCLE, CIRCLE), Semicircle),
        (algebra.add(CIRCLE, POISSON), Sum(CIRCLE, POISSON), Noisy),
        (algebra.add(algebra.add(THREE, POISSON), SHIFTED), Sum(Sum(THREE, POISSON), SHIFTED), Affine),
        (algebra.add(SHIFTED, THREE), Sum(SHIFTED, THREE), Affine),
        (algebra.add(THREE, TWO), Sum(THREE, TWO), Sum),
        (
            algebra.affine(algebra.affine(Sum(THREE, TWO), -2.0, 1.0), 0.5, 3.0),
            Affine(Sum(THREE, TWO), -1.0, 3.5),
            Affine,
        ),
        (algebra.affine(CIRCLE, -2.0, 1.0), Affine(CIRCLE, -2.0, 1.0), Semicircle),
        (algebra.affine(SHIFTED, 3.0, 1.0), Affine(SHIFTED, 3.0, 1.0), FreePoisson),
        (algebra.multiply(THREE, POISSON), Product(THREE, POISSON), Part),
        (algebra.multiply(THREE, algebra.point(3.0)), Affine(THREE, 3.0, 0.0), Atomic),
        (
            algebra.multiply(Affine(Sum(THREE, TWO), 2.0, 0.0), TWO),
            Affine(Product(Sum(THREE, TWO), TWO), 2.0, 0.0),
            Affine,
        ),
        (algebra.part(algebra.part(POISSON, 0.8), 0.5), Part(POISSON, 0.4), Part),
        (
            algebra.part(algebra.part(CompoundPoisson(THREE, 1 / 49), 49.0), 1 / 49),
            CompoundPoisson(THREE, 1 / 49),
            CompoundPoisson,
        ),
        (algebra.affine(SCORES, 3.0, 0.0), Affine(SCORES, 3.0, 0.0), TiedScores),
        (algebra.affine(SCORES, 3.0, 1.0), Affine(SCORES, 3.0, 1.0), Affine),
        (algebra.compound(Part(SCORES, 0.5), 3.0), CompoundPoisson(Part(SCORES, 0.5), 3.0), CompoundPoisson),
        (algebra.compound(algebra.point(2.0), 0.7), FreePoisson(2.0, 0.7, 0.0), FreePoisson),
        (
            algebra.compound(Affine(Sum(THREE, TWO), 2.0, 0.0), 0.7),
            CompoundPoisson(Affine(Sum(THREE, TWO), 2.0, 0.0), 0.7),
            Affine,
        ),
        (algebra.additive_power(SHIFTED, 2.5), AdditivePower(SHIFTED, 2.5), FreePoisson),
        (algebra.additive_power(CIRCLE, 2.5), AdditivePower(CIRCLE, 2.5), Semicircle),
        (
            algebra.additive_power(CompoundPoisson(THREE, 0.6), 2.0),
            AdditivePower(CompoundPoisson(THREE, 0.6), 2.0),
            CompoundPoisson,
        ),
        (algebra.additive_power(AdditivePower(THREE, 1.5), 2.0), AdditivePower(THREE, 3.0), AdditivePower),
        (algebra.additive_power(Noisy(THREE, CIRCLE), 1.7), AdditivePower(Noisy(THREE, CIRCLE), 1.7), Noisy),
        (
            algebra.additive_power(Affine(Sum(THREE, TWO), 2.0, 1.0), 1.7),
            AdditivePower(Affine(Sum(THREE, TWO), 2.0, 1.0), 1.7),
            Affine,
        ),
        (
            algebra.multiplicative_power(Affine(Sum(THREE, TWO), 2.0, 0.0), 1.7),
            MultiplicativePower(Affine(Sum(THREE, TWO), 2.0, 0.0), 1.7),
            Affine,
        ),
        (
            algebra.multiplicative_power(MultiplicativePower(THREE, 1.5), 1.2),
            MultiplicativePower(THREE, 1.8),
            MultiplicativePower,
        ),
    ],
)
def test_the_simplified_expression_has_the_law_of_the_plain_one(simple: Node, plain: Node, kind: type[Node]) -> None:
    assert type(simple) is kind
    one, other = FreeLaw(simple, "simple"), FreeLaw(plain, "plain")
    assert (one.mean, one.variance) == (pytest.approx(other.mean, rel=1e-13), pytest.approx(other.variance, rel=1e-12))
    z = np.array([0.2 + 0.1j, 2.0 + 0.5j, -1.0 + 0.01j, 30.0])
    np.testing.assert_allclose(one.cauchy(z), other.cauchy(z), rtol=1e-11)
    assert [(atom.location, atom.mass) for atom in one.atoms] == [
        (pytest.approx(atom.location, abs=1e-13), pytest.approx(atom.mass)) for atom in other.atoms
    ]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: algebra.multiply(CIRCLE, THREE), r"free multiplicative convolution: needs laws on \[0, ∞\)"),
        (lambda: algebra.multiplicative_power(CIRCLE, 2.0), r"free multiplicative power: needs laws on \[0, ∞\)"),
        (lambda: algebra.additive_power(THREE, 0.5), r"exponent=0\.5: must be ≥ 1"),
        (lambda: algebra.multiplicative_power(THREE, 0.5), r"exponent=0\.5: must be ≥ 1"),
    ],
)
def test_operations_without_meaning_are_refused_by_name(call: Callable[[], Node], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
