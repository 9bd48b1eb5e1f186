"""Laws drawn at random, a third each: anywhere, on exact ties of the widths, within 10^−U(2,10) of a tie.

The generator is numpy's default one on SeedSequence([seed, third]); seeds are 0, 1, 2, … in order, none is left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf
from numpy.typing import NDArray

from rmt_attention.equations import independent, tied
from rmt_attention.solvers.real_root import solve_ridge

from ..oracles import Independent, Tied, double_exponential, root_of_decreasing, thetas
from .registry import build

THIRDS = ("anywhere", "on a tie", "next to a tie")
SEEDS = (0, 1, 2)
LAWS_PER_SEED = 5


def _draw(rng: np.random.Generator, third: str) -> Independent | Tied:
    def log_uniform(low: float, high: float) -> float:
        return float(np.exp(rng.uniform(np.log(low), np.log(high))))

    beta = log_uniform(0.05, 2.5)
    # h, γ_K, γ_V, γ_O and the 1 they may tie with
    widths = [float(rng.integers(1, 129)) if rng.random() < 0.5 else log_uniform(0.05, 20)]
    widths += [log_uniform(0.05, 20) for _ in range(3)] + [1.0]
    if third != "anywhere":
        tie = rng.choice(5, size=rng.integers(2, 5), replace=False)
        level = 1.0 if 4 in tie else widths[tie[0]]
        for index in tie:
            if index < 4:
                shift = 10 ** -rng.uniform(2, 10) * rng.choice([-1, 1]) if third == "next to a tie" else 0.0
                widths[index] = float(level * (1 + shift))
    heads, gamma_key, gamma_value, gamma_out = widths[:4]
    if rng.random() < 0.4:
        return Tied(beta, heads, gamma_key, gamma_out if rng.random() < 0.5 else None)
    return Independent(beta, heads, gamma_key, (gamma_value, gamma_out)[: rng.integers(0, 3)])


def _drawn(seed: int, third: str) -> list[Independent | Tied]:
    rng = np.random.default_rng(np.random.SeedSequence([seed, THIRDS.index(third)]))
    return [_draw(rng, third) for _ in range(LAWS_PER_SEED)]


DRAWN = [
    pytest.param(oracle, id=f"{third}, seed {seed}, {number}")
    for third in THIRDS
    for seed in SEEDS
    for number, oracle in enumerate(_drawn(seed, third))
]


def _curve_at_high_precision(oracle: Independent | Tied) -> tuple[Any, Any, Any]:
    """p(w), dlog λ/dp and −λ(p) from the package's equations in mpmath, good to the working precision."""
    noise, theta2 = thetas(oracle.beta)
    if isinstance(oracle, Independent):
        shape = (theta2 / (noise + theta2), noise / (noise + theta2), mpf(oracle.gamma_key))
        module, constant = independent, oracle.mean()

        def scale(p: Any) -> Any:
            return p

        def scale_log_slope(p: Any) -> Any:
            return 1 / p
    else:
        shape = (mpf(oracle.heads), oracle.ratio, oracle.ratio * noise / theta2)
        module, constant = tied, mpf(oracle.constant)

        def scale(p: Any) -> Any:
            return tied.scale(mp, p, 1 - p, theta2)

        def scale_log_slope(p: Any) -> Any:
            return tied.scale_log_slope(mp, p, 1 - p)

    def at(p: Any) -> tuple[Any, ...]:
        return (p, *shape) if module is independent else (p, 1 - p, *shape)

    def parameter(w: Any) -> Any:
        found = module.parameter(mp, mpf(w), *shape)
        return found if module is independent else found[0]

    def log_slope(p: Any) -> Any:
        w, slope = module.degrees_of_freedom(mp, *at(p)), module.degrees_of_freedom_slope(mp, *at(p))
        return -sum(slope / (a - w) for a in oracle.widths) - scale_log_slope(p)

    def location(p: Any) -> Any:
        result, w = -mpf(constant) / scale(p), module.degrees_of_freedom(mp, *at(p))
        for a in oracle.widths:
            result *= 1 - w / a
        return result

    return parameter, log_slope, location


def _bottom_edge(oracle: Independent | Tied) -> float:
    """0 if the two smallest widths are equal; otherwise the maximum of x = −λ between its zeros at these widths."""
    first, second = sorted(oracle.widths)[:2]
    if first == second:
        return 0.0
    with mp.workdps(130):
        parameter, log_slope, location = _curve_at_high_precision(oracle)
        left, right = parameter(first), parameter(second)

        def between(y: Any) -> Any:
            return left + (right - left) / (1 + mp.exp(-y))

        return float(location(between(root_of_decreasing(lambda y: log_slope(between(y)), -150, 150))))


@pytest.mark.parametrize("oracle", DRAWN)
def test_w_and_its_complement_are_right(oracle: Independent | Tied) -> None:
    ridges = np.array([1e-12, 1e-4, 1.0])
    root = solve_ridge(build(oracle)._curve, ridges)
    for ridge, value, gap in zip(ridges, root.w, root.gap, strict=True):
        w, complement = oracle.degrees_of_freedom(float(ridge))
        # 8ε(1 + |log λ|) by the solver's stopping rule, and rounding
        assert abs(mpf(float(value)) / w - 1) < 1e-13
        assert abs(mpf(float(gap)) / (complement * oracle.w_max) - 1) < 1e-13


@pytest.mark.parametrize("oracle", DRAWN)
def test_the_bottom_edge_is_right_to_relative_precision_however_small(oracle: Independent | Tied) -> None:
    # A stationary value: rounding of the point enters squared, that of log λ(p) is about ten logarithms times ε.
    assert build(oracle).support[0][0] == pytest.approx(_bottom_edge(oracle), rel=1e-12, abs=0)


@pytest.mark.parametrize("oracle", DRAWN)
def test_mass_and_mean_are_integrals_of_the_density(oracle: Independent | Tied) -> None:
    law = build(oracle)

    def integrand(x: NDArray[np.float64]) -> NDArray[np.float64]:
        density = law.density(x)
        return np.array([density, density * x / law.mean])

    mass, mean = sum(double_exponential(integrand, *interval, 1e-11) for interval in law.support)
    # the rule stops at 1e-11 per piece, and next to a tie it cuts an interval into some ten pieces
    assert mass + sum(atom.mass for atom in law.atoms) == pytest.approx(1, abs=2e-10)
    assert mean == pytest.approx(1, abs=2e-10)


@pytest.mark.parametrize("oracle", DRAWN)
def test_the_cdf_rises_from_the_atom_to_one(oracle: Independent | Tied) -> None:
    law = build(oracle)
    top = law.edges[-1]
    cdf = law.cdf(np.geomspace(1e-25 * top, top, 300))
    assert (np.diff(cdf) >= -1e-14).all()
    assert cdf[-1] == 1
    assert cdf[0] == pytest.approx(float(law.cdf(0.0)), abs=1e-4)


@pytest.mark.parametrize("beta", [1e-6, 1e-5, 1e-4, 1e-3, 3.0, 4.0, 5.0, 6.0, 9.0, 14.0, 20.0, 26.0])
@pytest.mark.parametrize(
    "widths", [(3.0, 0.7, 5.0, 2.0), (12.0, 1.5, 1.5, 1.5), (4.0, 1.0, 2.0, 0.4)], ids=lambda widths: str(widths)
)
@pytest.mark.parametrize("kind", ["attention", "values", "output", "tied values", "tied output"])
def test_edges_stay_right_from_tiny_to_the_largest_beta(kind: str, widths: tuple[float, ...], beta: float) -> None:
    heads, gamma_key, gamma_value, gamma_out = widths
    oracle: Independent | Tied
    if kind.startswith("tied"):
        oracle = Tied(beta, heads, gamma_key, gamma_out if kind == "tied output" else None)
    else:
        outer = {"attention": (), "values": (gamma_value,), "output": (gamma_value, gamma_out)}[kind]
        oracle = Independent(beta, heads, gamma_key, outer)
    support = build(oracle).support
    # θ1 = exp(β²) − 1 carries the rounding of β², a relative error of β² ε ≤ 1.5e-13
    assert support[0][0] == pytest.approx(_bottom_edge(oracle), rel=1e-12, abs=0)
    assert support[-1][1] == pytest.approx(_top_edge(oracle), rel=1e-12, abs=0)


def _top_edge(oracle: Independent | Tied) -> float:
    """The minimum of x = −λ over the arguments of the opposite sign, up to the first pole of w."""
    with mp.workdps(60):
        noise, theta2 = thetas(oracle.beta)
        _, log_slope, location = _curve_at_high_precision(oracle)
        if isinstance(oracle, Independent):
            pole = -mpf(oracle.gamma_key) * (noise + theta2) / theta2
        else:
            pole = mpf(-1)
        # log(−p/(p − pole)) is the coordinate; dlog x/d|p| rises from −∞ to ∞
        coordinate = root_of_decreasing(lambda y: log_slope(pole / (1 + mp.exp(-y))), -800, 100)
        return float(location(pole / (1 + mp.exp(-coordinate))))
