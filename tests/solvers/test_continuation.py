"""The branch above the spectrum: against roots tracked by hand, and the states of failure."""

from __future__ import annotations

import numpy as np
import pytest

from rmt_attention import ConvergenceError
from rmt_attention.laws import compound_poisson_law
from rmt_attention.solvers.continuation import continue_to_angle
from rmt_attention.solvers.critical import CriticalValues
from rmt_attention.solvers.real_root import solve_ridge

from ..laws.registry import CASES, Case
from ..oracles import Independent

INDEPENDENT = [case for case in CASES if isinstance(case.oracle, Independent)]


def _case(name: str) -> Case:
    return next(case for case in CASES if case.name == name)


def _interior(case: Case, shares: tuple[float, ...]) -> list[float]:
    points = []
    for low, high in case.law.support:
        start = max(low, 1e-3 * high)
        points += [start * (high / start) ** share for share in shares]
    return points


@pytest.mark.parametrize("case", INDEPENDENT[::2], ids=lambda case: case.name)
def test_on_the_spectrum_w_is_the_root_tracked_down_from_far_above(case: Case) -> None:
    for x in _interior(case, (0.3, 0.8)):
        expected = case.oracle.w_tracked(x, case.law.edges[-1])
        w = complex(1 - x * case.law.cauchy(x))
        # rounding of log λ is a few ε and dw/dlog λ is of order w inside a bulk; near a gap it grows to about 1e3 w
        assert abs(w - expected) < 1e-11 * abs(expected), x


def test_between_two_bulks_w_is_the_tracked_real_root() -> None:
    case = _case("output, gap")
    expected = case.oracle.w_tracked(17.0, case.law.edges[-1])
    assert expected.imag == pytest.approx(0, abs=1e-30)
    assert complex(1 - 17.0 * case.law.cauchy(17.0)) == pytest.approx(expected, rel=1e-12, abs=0)


def test_the_principal_square_root_would_be_the_wrong_branch_inside_this_single_bulk() -> None:
    """A negative control: with (h, γ_K) = (4, 0.35) the principal branch of S_ρ fails its own equation."""
    case = _case("attention, almost two bulks")
    beta2 = case.oracle.beta**2
    fraction, t, mean = beta2 / np.expm1(beta2), case.oracle.gamma_key, float(np.expm1(beta2))

    def principal_residual(x: float) -> float:
        w = complex(1 - x * case.law.cauchy(x))
        q = -fraction * w / t
        s_rho = 2 / (1 + q + np.sqrt((1 - q) ** 2 + 4 * fraction * q + 0j))
        return abs(-x / mean * w * s_rho - (1 - w) * (1 - w / case.oracle.heads))

    assert principal_residual(0.5) < 1e-12
    assert principal_residual(1.5) > 1e-3


def test_at_angle_zero_the_root_is_the_real_one() -> None:
    curve = CASES[0].law._curve
    ridges = np.array([0.01, 1.0, 50.0])
    root = continue_to_angle(curve, np.log(ridges), np.zeros(3), CriticalValues.of(curve))
    np.testing.assert_allclose(root.w, solve_ridge(curve, ridges).w, rtol=1e-14)
    assert root.steps == 0


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_residual_on_the_spectrum_is_at_rounding_level(case: Case) -> None:
    curve = case.law._curve
    logs = np.log(np.array(_interior(case, (0.1, 0.5, 0.9))))
    root = continue_to_angle(curve, logs, np.full(logs.shape, -np.pi), CriticalValues.of(curve))
    # about ten logarithms, each of size below 40 and rounded to ε
    assert root.residual.max() < 10 * 40 * 2.3e-16


def test_too_few_steps_raise_an_error_that_carries_the_state() -> None:
    curve = CASES[0].law._curve
    with pytest.raises(ConvergenceError, match="2 points not reached after 1 steps") as caught:
        continue_to_angle(curve, np.zeros(2), np.full(2, -np.pi), CriticalValues.of(curve), max_steps=1)
    tau, position = caught.value.result
    assert tau.shape == position.shape == (2,)
    assert (position < 0).all()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_next_to_an_edge_the_answer_is_a_number_of_the_right_size(case: Case) -> None:
    # Within the rounding of the edge itself the density is only known to be small: it falls like the square root.
    steps = 10.0 ** -np.arange(6, 17)
    ends = [(low, high, side) for low, high in case.law.support for side in (0, 1) if (low, high)[side] > 0]
    inside, outside = [], []
    for low, high, side in ends:
        edge, inwards = ((low, 1), (high, -1))[side]
        distances = inwards * min(edge, high - low) * steps
        inside.append(edge + distances)
        outside.append(np.append(edge - distances, np.nextafter(edge, [0, np.inf])))
    density = case.law.density(np.array(inside))
    ratio = density[:, 1:6] / density[:, :5] * np.sqrt(10)
    assert np.abs(ratio - 1).max() < 0.05, "not a square root"
    assert (density[:, 6:] < density[:, 5:6]).all()
    points = np.concatenate([np.ravel(inside), np.ravel(outside)])
    assert np.isfinite(case.law.cauchy(points)).all()
    assert ((case.law.cdf(points) >= 0) & (case.law.cdf(points) <= 1)).all()


@pytest.mark.parametrize("seed", range(6))
def test_compound_laws_of_few_jumps_keep_their_branch(seed: int) -> None:
    """Few spread jumps: many gaps, and real roots of other sheets close to the path. The cdf rises and has its mean."""
    rng = np.random.default_rng(seed)
    jumps, rate = np.exp(rng.normal(0, 2, 12)), float(np.exp(rng.uniform(-1.5, 1.5)))
    law = compound_poisson_law(jumps, rate)
    # panels are halved until the mass is right to 1e-11; the top of such spread laws weighs ten times more in the mean
    assert law.expectation(lambda x: x) == pytest.approx(law.mean, rel=1e-10, abs=0)
    x = np.geomspace(0.5 * law.edges[0], 1.5 * law.edges[-1], 400)
    assert (np.diff(law.cdf(x)) >= -1e-13).all()
    # the path around each point against the net along the axis
    np.testing.assert_allclose(-law.cauchy(x).imag / np.pi, law.density(x), rtol=1e-9, atol=1e-9 / law.mean)
