"""The contract of a law, checked on every entry of the registry."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from rmt_attention.spectra import Law

from ..oracles import double_exponential
from .registry import CASES, Case

every_law = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)

# The adaptive rule stops at 1e-12 per piece and cuts an interval into at most about twenty pieces.
QUADRATURE = 2e-11


def _atom(case: Case) -> float:
    return sum(atom.mass for atom in case.law.atoms)


def _inside(case: Case, count: int = 7) -> NDArray[np.float64]:
    """Points of every bulk, a fair way from its ends."""
    pieces = []
    for low, high in case.law.support:
        start = low if low > 0 else 1e-6 * high
        pieces.append(start * (high / start) ** np.linspace(0.03, 0.97, count))
    return np.concatenate(pieces)


def _gaps(case: Case) -> list[tuple[float, float]]:
    ends = [0.0, *(end for interval in case.law.support for end in interval)]
    return [(a, b) for a, b in zip(ends[::2], ends[1::2], strict=False) if b > a]


@every_law
def test_mass_moments_w_and_the_cauchy_transform_are_integrals_of_the_density(case: Case) -> None:
    law, ridges = case.law, np.array([1e-3, 1.0, 30.0]) * case.law.mean
    real = np.array([1.0, law.mean, law.moment(2), *law.degrees_of_freedom(ridges)])
    points = np.array([0.4 + 0.6j, 3 - 2j, 1.2j]) * law.edges[-1] / 3

    def integrand(x: NDArray[np.float64]) -> NDArray[np.float64]:
        powers = [np.ones(x.shape), x, x * x, *(x / (x + ridge) for ridge in ridges)]
        poles = [points[k] / (points[k] - x) for k in range(3)]
        rows = [row / value for row, value in zip(powers, real, strict=True)]
        return law.density(x) * np.array([*rows, *np.real(poles), *np.imag(poles)])

    total = sum(double_exponential(integrand, low, high) for low, high in law.support)
    total[0] += _atom(case)
    assert np.abs(total[:6] - 1).max() < QUADRATURE, total
    transform = (total[6:9] + 1j * total[9:] + _atom(case)) / points
    # the rule measures real and imaginary part by their own size, and 1e-4 where they are smaller
    np.testing.assert_allclose(transform, law.cauchy(points), rtol=10 * QUADRATURE)


@every_law
def test_the_cdf_is_the_running_integral_of_the_density(case: Case) -> None:
    law, reached = case.law, _atom(case)
    for low, high in law.support:
        start = low if low > 0 else 1e-3 * high
        stops = [low, start * (high / start) ** 0.35, start * (high / start) ** 0.8, high]
        for left, right in pairwise(stops):
            # the pieces that start inside a bulk have no singularity at all
            reached += float(double_exponential(law.density, left, right)[0])
            assert float(law.cdf(right)) == pytest.approx(reached, abs=QUADRATURE)
    assert reached == pytest.approx(1, abs=QUADRATURE)


@every_law
def test_the_cdf_jumps_by_the_atom_at_zero_and_nowhere_else(case: Case) -> None:
    law, atom = case.law, _atom(case)
    assert law.cdf([-1.0, -1e-300]).tolist() == [0.0, 0.0]
    assert float(law.cdf(0.0)) == atom
    assert atom == pytest.approx(max(0.0, 1 - float(case.oracle.w_max)), abs=1e-15)
    assert float(law.degrees_of_freedom(0.0)) == pytest.approx(1 - atom, abs=1.2e-16)
    for point in law.atoms:
        assert point.location == 0
        assert 0 < point.mass < 1
    for edge in law.edges:
        steps = edge * np.array([-1e-9, 0.0, 1e-9])
        # cdf ~ distance^{3/2} at an edge
        assert np.ptp(law.cdf(edge + steps)) < 1e-9


@every_law
def test_the_cdf_rises_from_the_atom_to_one(case: Case) -> None:
    law = case.law
    top = law.edges[-1]
    x = np.sort(np.concatenate([np.geomspace(1e-9 * top, 2 * top, 700), np.linspace(0, 1.1 * top, 700)]))
    cdf = law.cdf(x)
    # rounding of a sum of six angles, each below π
    assert (np.diff(cdf) >= -1e-14).all()
    assert cdf[0] == _atom(case)
    assert cdf[-1] == 1
    assert float(law.cdf(np.inf)) == 1
    for low, high in _gaps(case):
        inside_gap = law.cdf(np.linspace(low, high, 5)[1:-1])
        assert np.ptp(inside_gap) == 0


@every_law
def test_the_density_is_minus_the_imaginary_part_of_the_cauchy_transform(case: Case) -> None:
    x = _inside(case)
    np.testing.assert_allclose(case.law.density(x), -case.law.cauchy(x).imag / np.pi, rtol=1e-13)
    # …and the limit from above: the difference to height η is of order η
    above = -case.law.cauchy(x + 1e-9j * x).imag / np.pi
    np.testing.assert_allclose(above, case.law.density(x), rtol=1e-5)


@every_law
def test_the_density_vanishes_outside_the_support_and_is_positive_inside(case: Case) -> None:
    law = case.law
    outside = [law.edges[-1] * 1.001, 1e6 * law.edges[-1], -1.0, np.inf, -np.inf]
    for low, high in _gaps(case):
        outside += list(np.linspace(low, high, 6)[1:-1])
    assert (law.density(outside) == 0).all()
    assert (law.density(list(law.edges)) == 0).all()
    assert (law.density(_inside(case)) > 0).all()
    transform = law.cauchy([x for x in outside if np.isfinite(x)])
    assert np.abs(transform.imag / transform.real).max() < 1e-12  # rounding of w near 1e-4 of an edge


@every_law
def test_z_times_the_cauchy_transform_tends_to_one(case: Case) -> None:
    law = case.law
    for direction in (-1, 1j, 1 - 1j, 1):
        z = 1e9 * law.edges[-1] * direction
        # z G = 1 + m/z + O(m2/z²)
        assert abs(z * law.cauchy(z) - 1 - law.mean / z) < 1e-15
        z = 1e4 * law.edges[-1] * direction
        assert abs(z * law.cauchy(z) - 1 - law.mean / z - law.moment(2) / z**2) < 1e-11


@every_law
def test_the_cauchy_transform_is_real_analytic_and_herglotz(case: Case) -> None:
    rng = np.random.default_rng(np.random.SeedSequence([0, CASES.index(case)]))
    top = case.law.edges[-1]
    z = top * (rng.uniform(-0.5, 1.5, 40) + 1j * 10.0 ** rng.uniform(-6, 0, 40))
    transform = case.law.cauchy(z)
    assert (transform.imag < 0).all()
    np.testing.assert_array_equal(case.law.cauchy(z.conj()), transform.conj())
    assert ((z * transform).imag <= 1e-15).all()


@every_law
def test_w_is_one_plus_ridge_times_the_cauchy_transform_at_minus_the_ridge(case: Case) -> None:
    ridges = np.array([1e-2, 0.5, 7.0]) * case.law.mean
    w = case.law.degrees_of_freedom(ridges)
    np.testing.assert_allclose(1 + ridges * case.law.cauchy(-ridges).real, w, rtol=0, atol=1e-14)
    # w is decreasing and convex, and its ends are 1 − atom and 0
    grid = case.law.degrees_of_freedom(case.law.mean * np.linspace(0, 5, 60))
    assert (np.diff(grid) < 0).all()
    assert (np.diff(grid, 2) > 0).all()
    assert float(case.law.degrees_of_freedom(np.inf)) == 0


@every_law
def test_the_support_is_a_sequence_of_disjoint_intervals_with_the_edges_at_its_ends(case: Case) -> None:
    flat = [end for interval in case.law.support for end in interval]
    assert (np.diff(flat) > 0).all()
    assert case.law.edges == tuple(end for end in flat if end > 0)
    assert (flat[0] == 0) == (case.oracle.hard_edge_multiplicity > 1)


@every_law
def test_the_density_diverges_at_a_hard_edge_with_the_power_of_the_tie(case: Case) -> None:
    k = case.oracle.hard_edge_multiplicity
    if case.law.support[0][0] > 0:
        assert k == 1
        assert float(case.law.density(0.0)) == 0
        return
    assert float(case.law.density(0.0)) == np.inf
    x = 10.0 ** np.array([-60.0, -45.0])
    exponent = np.log(case.law.density(x[1]) / case.law.density(x[0])) / np.log(x[1] / x[0])
    # next term of the expansion is smaller by x^{1/k} ≤ 1e-9
    assert exponent == pytest.approx(-1 + 1 / k, abs=1e-9)


@every_law
def test_scale_is_honoured_by_every_method(case: Case) -> None:
    law, factor = case.law, 7.25
    scaled, x = law.scaled(factor), _inside(case)
    assert scaled.mean == pytest.approx(factor * law.mean, rel=1e-14, abs=0)
    assert scaled.moment(3) == pytest.approx(factor**3 * law.moment(3), rel=1e-14, abs=0)
    assert scaled.atoms == law.atoms
    np.testing.assert_allclose(scaled.edges, factor * np.array(law.edges), rtol=1e-14)
    np.testing.assert_allclose(scaled.support, factor * np.array(law.support), rtol=1e-14)
    # a rounded argument moves the answers by ε times their logarithmic derivative
    np.testing.assert_allclose(scaled.density(factor * x), law.density(x) / factor, rtol=1e-11)
    np.testing.assert_allclose(scaled.cdf(factor * x), law.cdf(x), atol=1e-13)
    np.testing.assert_allclose(scaled.degrees_of_freedom(factor * x), law.degrees_of_freedom(x), rtol=1e-13)
    z = x + 0.3j * law.mean
    np.testing.assert_allclose(scaled.cauchy(factor * z), law.cauchy(z) / factor, rtol=1e-12)
    np.testing.assert_allclose(scaled.scaled(1 / factor).edges, law.edges, rtol=1e-14)


@every_law
def test_the_normalized_law_has_mean_one(case: Case) -> None:
    normalized = case.law.normalized()
    assert normalized.mean == pytest.approx(1, rel=1e-14, abs=0)
    assert normalized.moment(2) == pytest.approx(case.law.moment(2) / case.law.mean**2, rel=1e-13, abs=0)
    assert normalized.edges[-1] == pytest.approx(case.law.edges[-1] / case.law.mean, rel=1e-14, abs=0)
    assert normalized.normalized().mean == pytest.approx(1, rel=1e-14, abs=0)


@every_law
def test_integers_scalars_lists_and_shapes_are_answered_alike(case: Case) -> None:
    law = case.law
    integers = np.arange(0, 4)
    for method in (law.density, law.cdf, law.degrees_of_freedom):
        np.testing.assert_array_equal(method(integers), method(integers.astype(float)))
        np.testing.assert_array_equal(method([0, 1, 2, 3]), method(integers))
        assert method(integers.reshape(2, 2)).shape == (2, 2)
        assert method(2).shape == ()
        assert method([]).shape == (0,)
        assert method(integers).dtype == np.float64
    np.testing.assert_array_equal(law.cauchy(integers[1:]), law.cauchy(integers[1:].astype(complex)))
    assert law.cauchy(np.ones((2, 1, 3))).shape == (2, 1, 3)
    assert law.cauchy([]).shape == (0,)


@every_law
def test_one_point_and_many_points_give_the_same_numbers(case: Case) -> None:
    # Points share steps inside the solver; an answer may depend on its neighbours by rounding only.
    x = _inside(case)
    np.testing.assert_allclose([float(case.law.density(one)) for one in x[::3]], case.law.density(x)[::3], rtol=1e-12)
    np.testing.assert_allclose([float(case.law.cdf(one)) for one in x[::3]], case.law.cdf(x)[::3], atol=1e-14)


@every_law
def test_a_law_obeys_the_protocol_says_what_it_is_and_can_be_pickled(case: Case) -> None:
    law = case.law
    assert isinstance(law, Law)
    assert law.name in repr(law)
    assert f"{law.mean:.6g}" in repr(law)
    copy = pickle.loads(pickle.dumps(law))
    assert copy.edges == law.edges
    assert float(copy.cdf(1.0)) == float(law.cdf(1.0))


@every_law
def test_moments_grow_like_the_top_edge(case: Case) -> None:
    law = case.law
    moments = [law.moment(k) for k in (0, 1, 2, 20, 59, 60)]
    assert moments[0] == 1
    # m_k^{1/k} rises to the top edge E from below, and the density ~ (E − x)^{1/2} makes m_60/m_59 fall short by 1.5/60
    assert moments[4] ** (1 / 59) < moments[5] ** (1 / 60) < law.edges[-1]
    assert moments[5] / moments[4] == pytest.approx(law.edges[-1] * (1 - 1.5 / 60), rel=0.03, abs=0)
    # Cauchy–Schwarz
    assert moments[2] >= moments[1] ** 2
