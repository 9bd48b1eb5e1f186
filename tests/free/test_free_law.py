"""Laws of expressions: against known laws, against each other, against their moments and against matrices."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from rmt_attention import ConvergenceError, laws
from rmt_attention.free.convolutions import Product, Sum
from rmt_attention.free.free_law import FreeLaw
from rmt_attention.free.leaves import Atomic, FreePoisson, Semicircle
from rmt_attention.free.nodes import Node
from rmt_attention.free.operations import (
    AdditivePower,
    Affine,
    CompoundPoisson,
    MultiplicativePower,
    Noisy,
    Part,
)
from tests.strata import faults, tabulate

from .expression_errors import LIMITS, MATRIX_LIMITS, law_errors, matrix_errors
from .expressions import generate, generate_with_matrix, random_expression, shown

SIZES = Atomic(np.array([1.0, 3.0, 10.0]), np.array([0.2, 0.4, 0.4]))
SIGNS = Atomic(np.array([-1.0, 1.0]), np.array([0.5, 0.5]))
THREE = Atomic(np.array([0.5, 1.0, 4.0]), np.array([0.3, 0.5, 0.2]))
POISSON = FreePoisson(0.7, 1.6, 0.0)


def _marchenko_pastur(x: np.ndarray, jump: float, rate: float) -> np.ndarray:
    low, high = (jump * (1 + sign * math.sqrt(rate)) ** 2 for sign in (-1, 1))
    return np.sqrt(np.maximum((high - x) * (x - low), 0)) / (2 * np.pi * jump * x)


@pytest.mark.parametrize(
    ("node", "x", "density"),
    [
        (FreePoisson(0.5, 2.0, 0.0), np.linspace(0.1, 2.8, 40), lambda x: _marchenko_pastur(x, 0.5, 2.0)),
        (FreePoisson(2.0, 0.25, 0.0), np.linspace(0.52, 4.4, 40), lambda x: _marchenko_pastur(x, 2.0, 0.25)),
        (FreePoisson(1.0, 1.0, 3.0), np.linspace(3.001, 6.9, 40), lambda x: _marchenko_pastur(x - 3, 1.0, 1.0)),
        (Semicircle(1.0, 0.5), np.linspace(-0.4, 2.4, 40), lambda x: np.sqrt(2 - (x - 1) ** 2) / np.pi),
        (Sum(SIGNS, SIGNS), np.linspace(-1.99, 1.99, 40), lambda x: 1 / (np.pi * np.sqrt(4 - x**2))),  # arcsine law
    ],
    ids=["rate above 1", "rate below 1", "rate 1, shifted", "semicircle", "arcsine"],
)
def test_known_laws_come_out(node: Node, x: np.ndarray, density: Callable[[np.ndarray], np.ndarray]) -> None:
    law = FreeLaw(node, "law")
    np.testing.assert_allclose(law.density(x), density(x), rtol=1e-11)
    assert law.cdf(x[-1]) - law.cdf(x[0]) == pytest.approx(_integral(density, x[0], x[-1]), rel=1e-7)


def _integral(density: Callable[[np.ndarray], np.ndarray], low: float, high: float) -> float:
    t, weights = np.polynomial.legendre.leggauss(200)
    return float(density((low + high) / 2 + (high - low) / 2 * t) @ weights * (high - low) / 2)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Noisy(SIZES, POISSON), Sum(SIZES, POISSON)),
        (Noisy(THREE, Semicircle(0.3, 0.8)), Sum(Semicircle(0.3, 0.8), THREE)),
        (Product(SIZES, FreePoisson(0.25, 4.0, 0.0)), Part(CompoundPoisson(SIZES, 0.25), 4.0)),
        (AdditivePower(THREE, 2.0), Sum(THREE, THREE)),
        (AdditivePower(POISSON, 2.5), FreePoisson(0.7, 4.0, 0.0)),
        (AdditivePower(AdditivePower(THREE, 1.5), 2.0), AdditivePower(THREE, 3.0)),
        (MultiplicativePower(THREE, 2.0), Product(THREE, THREE)),
        (MultiplicativePower(POISSON, 3.0), Product(POISSON, Product(POISSON, POISSON))),
        (Affine(Sum(THREE, SIZES), -0.5, 2.0), Sum(Affine(THREE, -0.5, 2.0), Affine(SIZES, -0.5, 0.0))),
        (Sum(Sum(THREE, SIGNS), SIZES), Sum(THREE, Sum(SIGNS, SIZES))),
        (Product(Product(THREE, SIZES), POISSON), Product(THREE, Product(SIZES, POISSON))),
    ],
    ids=lambda node: type(node).__name__,
)
def test_two_expressions_of_one_law_agree(one: Node, other: Node) -> None:
    first, second = FreeLaw(one, "first"), FreeLaw(other, "second")
    np.testing.assert_allclose(first.edges, second.edges, rtol=1e-11)
    assert [(atom.location, atom.mass) for atom in first.atoms] == [
        (pytest.approx(atom.location), pytest.approx(atom.mass)) for atom in second.atoms
    ]
    x = first.quantile(np.linspace(0.01, 0.99, 99))
    off = ~np.isin(x, [atom.location for atom in first.atoms])
    np.testing.assert_allclose(first.density(x[off]), second.density(x[off]), rtol=1e-8)
    np.testing.assert_allclose(first.cdf(x[off]), second.cdf(x[off]), atol=1e-12)
    z = np.array([0.1 + 0.3j, -2.0 + 0.01j, 3.0 - 0.2j])
    np.testing.assert_allclose(first.cauchy(z), second.cauchy(z), rtol=1e-12)


@pytest.mark.parametrize(
    ("beta", "heads", "gamma_key", "gamma_value", "gamma_out"),
    [(1.0, 12, 0.75, 0.75, 1.5), (0.5, 2, 2.0, 0.4, 1.3), (1.2, 1, 0.6, 0.8, 0.7)],
)
def test_a_law_of_the_package_is_an_expression(
    beta: float, heads: float, gamma_key: float, gamma_value: float, gamma_out: float
) -> None:
    """Scores times a Marchenko–Pastur law for heads, values and outputs each."""
    theta1, theta2 = math.expm1(beta**2), beta**2
    scores = FreePoisson(theta2 / gamma_key, gamma_key, theta1 - theta2)
    attention = Product(scores, FreePoisson(1.0, heads, 0.0))
    values = Product(attention, FreePoisson(1.0, gamma_value, 0.0))
    output = Part(CompoundPoisson(values, 1 / gamma_out), gamma_out)
    for node, law in (
        (attention, laws.attention_law(beta, heads, gamma_key)),
        (values, laws.values_law(beta, heads, gamma_key, gamma_value)),
        (output, laws.output_law(beta, heads, gamma_key, gamma_value, gamma_out)),
    ):
        free = FreeLaw(node, law.name)
        scale = free.mean / law.mean
        np.testing.assert_allclose(np.array([end for end in free.edges if end > 0]) / scale, law.edges, rtol=1e-11)
        x = law.quantile(np.linspace(0.4, 0.95, 12))
        x = x[x > 0]
        np.testing.assert_allclose(free.density(x * scale) * scale, law.density(x), rtol=1e-9)
        np.testing.assert_allclose(free.cdf(x * scale), law.cdf(x), atol=1e-12)


def test_a_little_noise_turns_every_atom_into_a_semicircle() -> None:
    law = FreeLaw(Noisy(SIGNS, Semicircle(0.0, 1e-6)), "law")
    assert law.density([-1.0, 1.0]) == pytest.approx(np.full(2, 0.5 / (np.pi * math.sqrt(5e-7))), rel=1e-5)


def test_jumps_of_three_sizes_have_three_intervals() -> None:
    """Edges by the zeros of the derivative of the explicit inverse, an independent search."""
    law = FreeLaw(Part(CompoundPoisson(SIZES, 0.1), 10.0), "law")
    y, w = SIZES.locations, SIZES.weights

    def slope(f: float) -> float:  # of z = F + t Σ w y F/(F − y), rate 0.1
        return float(1 - 0.1 * (w * y**2 / (f - y) ** 2).sum())

    from scipy.optimize import brentq

    grid = np.concatenate([np.linspace(a + 1e-6, b - 1e-6, 4001) for a, b in ((-5, 1), (1, 3), (3, 10), (10, 30))])
    values = [slope(f) for f in grid]
    roots = [
        brentq(slope, a, b, xtol=1e-15)
        for a, b, s, t in zip(grid[:-1], grid[1:], values[:-1], values[1:], strict=True)
        if s * t < 0 and abs(s) + abs(t) < 1e6
    ]
    edges = np.sort([f + 0.1 * (w * y * f / (f - y)).sum() for f in roots])
    np.testing.assert_allclose(law.edges, edges, rtol=1e-12)


@pytest.mark.parametrize("part", range(6))
def test_random_expressions_have_their_mass_mean_and_variance(part: int) -> None:
    assert faults(tabulate(law_errors, generate(60, seed=1)[part::6]), LIMITS) == []


def test_random_expressions_agree_with_eigenvalues_of_matrices() -> None:
    assert faults(tabulate(matrix_errors, generate_with_matrix(10, seed=1)), MATRIX_LIMITS) == []


@pytest.mark.parametrize(
    ("seed", "number"), [(11, 62), (11, 72), (11, 1435), (11, 1858), (12, 12), (13, 1235), (18, 217)]
)
def test_expressions_that_once_failed(seed: int, number: int) -> None:
    """Roots a turn away or hidden by rounding, masses blurred by a law inside, much of the mean in little mass."""
    rng = np.random.default_rng([seed, number])
    node = random_expression(rng, int(rng.integers(1, 4)))
    law = FreeLaw(node, shown(node))
    x, weights = law.quadrature
    assert weights.sum() == pytest.approx(1, abs=1e-8)
    assert weights @ x == pytest.approx(node.mean, abs=1e-8 * max(abs(node.mean), node.variance**0.5))
    assert weights @ (x - node.mean) ** 2 == pytest.approx(node.variance, rel=1e-8)


def test_a_root_below_the_axis_by_rounding_is_none_inside_the_support() -> None:
    child = MultiplicativePower(FreePoisson(0.04236087284084574, 0.1972164603847152, 0.0), 2.0735077805431836)
    law = FreeLaw(Affine(child, 1.3987338401428897, 0.12537393515018552), "law")
    ((low, high),) = law.support
    assert (low, high) == (pytest.approx(0.12537393515, abs=1e-10), pytest.approx(0.12707426571, abs=1e-10))


@pytest.mark.parametrize(
    "function",
    [lambda x: (x > 1.1) * 1.0, lambda x: abs(x - 1.1), lambda x: np.cos(1e5 * x)],
    ids=["jump", "kink", "fast"],
)
def test_integrals_of_functions_the_cells_do_not_resolve_raise(function: Callable[[np.ndarray], np.ndarray]) -> None:
    with pytest.raises(ConvergenceError, match="∫ f still changes"):
        FreeLaw(Sum(THREE, POISSON), "law").expectation(function)


def test_an_atom_has_its_mass_its_levels_and_its_pole() -> None:
    law = FreeLaw(Sum(THREE, Atomic(np.array([0.0, 2.0]), np.array([0.9, 0.1]))), "law")
    assert [(atom.location, atom.mass) for atom in law.atoms] == [
        (0.5, pytest.approx(0.2)),
        (1.0, pytest.approx(0.4)),
        (4.0, pytest.approx(0.1)),
    ]
    assert law.quantile(0.05) <= 0.5
    assert law.cdf(1.0) - law.cdf(np.nextafter(1.0, 0)) == pytest.approx(0.4, abs=1e-9)
    assert law.quantile((law.cdf(1.0) + law.cdf(0.999999)) / 2) == 1.0
    assert np.isinf(law.cauchy(1.0))
    draws = law.sample(2000, np.random.default_rng(3))
    assert abs((draws == 1.0).mean() - 0.4) < 0.05


@pytest.mark.parametrize("x", [-3.0, 0.0, 2.0])
def test_a_point_mass_is_a_law_like_any_other(x: float) -> None:
    law = FreeLaw(Atomic(np.array([x]), np.ones(1)), "law")
    assert (law.support, law.quantile([0.0, 0.3, 1.0]).tolist()) == ((), [x, x, x])
    assert law.cdf([x - 1, x, x + 1]).tolist() == [0.0, 1.0, 1.0]
    assert law.cauchy(x + 1j) == pytest.approx(-1j)
    assert law.moment(3) == pytest.approx(x**3, abs=1e-12)


@pytest.mark.parametrize("order", range(31))
def test_moments_of_the_semicircle_are_catalan_numbers_and_those_of_poisson_narayana_sums(order: int) -> None:
    half = order // 2
    catalan = 0 if order % 2 else math.comb(order, half) / (half + 1) * 0.25**half
    assert FreeLaw(Semicircle(0.0, 0.25), "law").moment(order) == pytest.approx(catalan, abs=1e-14 * 1.15**order)
    narayana = sum(math.comb(order, k) * math.comb(order, k - 1) / order * 1.6**k for k in range(1, order + 1))
    top = POISSON.high**order
    expected = 0.7**order * narayana if order else 1.0
    assert FreeLaw(POISSON, "law").moment(order) == pytest.approx(expected, abs=1e-14 * 1.15**order * top)


def test_degrees_of_freedom_are_the_integral_and_end_at_the_mass_off_zero() -> None:
    law = FreeLaw(Product(SIZES, FreePoisson(1.0, 0.5, 0.0)), "law")
    for ridge in (1e-3, 1.0, 30.0):
        assert law.degrees_of_freedom(ridge) == pytest.approx(
            law.expectation(lambda x, r=ridge: x / (x + r)), abs=1e-11
        )
    assert law.degrees_of_freedom([0.0, np.inf]).tolist() == [0.5, 0.0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda law: law.degrees_of_freedom(1.0),
            r"degrees of freedom: needs laws on \[0, ∞\), and law reaches down to -2",
        ),
        (lambda law: law.quantile(1.5), r"q=1\.5: must be in \[0, 1\]"),
        (lambda law: law.density(np.nan), "x=nan: must not be NaN"),
        (lambda law: law.cauchy(np.nan), "must not be NaN"),
        (lambda law: law.moment(31), "k=31: must be an integer from 0 to 30"),
        (lambda law: law.sample(3, 0), "must be a numpy Generator"),
        (lambda law: law.expectation(3), "must be a function"),
    ],
)
def test_bad_input_is_named(call: Callable[[FreeLaw], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call(FreeLaw(Semicircle(0.0, 1.0), "law"))
