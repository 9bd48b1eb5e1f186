"""Tables of laws: they integrate to the mass, cdf and density agree, points crowd at edges and leave gaps out."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from rmt_attention import laws
from rmt_attention.law_table import LawTable, log_span, support_points, tabulate_law

LAWS = {
    "plain": laws.output_law(1.0, 12, 1.5, 1.5, 1.5),
    "atom": laws.output_law(0.9, 3, 0.75, 1.25, 0.75),
    "gap": laws.attention_law(1.0, 4, 0.3),
    "gap and divergence": laws.attention_law(1.0, 1, 0.1),
    "strong divergence": laws.output_law(1.0, 1, 1.0, 1.0, 1.0),
    "three bulks and an atom": laws.compound_poisson_law((1.0, 10.0, 200.0), 0.02, (0.2, 0.4, 0.4)),
    "tied": laws.tied_output_law(0.7, 3, 0.6, 0.8),
    "tiny": laws.output_law(0.9, 3, 0.75, 1.25, 0.75).scaled(1e-6),
}


def _atom(law: laws.SpectralLaw) -> float:
    return sum(one.mass for one in law.atoms)


def _running_mass(x: NDArray[np.float64], x_density: NDArray[np.float64]) -> NDArray[np.float64]:
    """∫ x f dln x from the first point to each one, by trapezoids."""
    steps = np.diff(np.log(x)) * (x_density[1:] + x_density[:-1]) / 2
    return np.concatenate([[0.0], np.cumsum(steps)])


@pytest.mark.parametrize("name", LAWS)
def test_the_table_integrates_to_the_mass_off_the_atoms(name: str) -> None:
    table = tabulate_law(LAWS[name])
    mass = 1 - _atom(LAWS[name])
    assert _running_mass(table.x, table.x_density)[-1] == pytest.approx(mass, abs=1e-3)
    assert _running_mass(table.x, table.density)[-1] != pytest.approx(mass, abs=1e-3)  # negative control


@pytest.mark.parametrize("name", LAWS)
def test_the_cdf_is_the_integral_of_the_density_from_row_to_row(name: str) -> None:
    table = tabulate_law(LAWS[name])
    found = table.cdf[0] + _running_mass(table.x, table.x_density)
    np.testing.assert_allclose(found, table.cdf, atol=2e-4)
    assert np.abs(found - table.cdf**1.1).max() > 2e-4  # negative control
    assert (np.diff(table.cdf) >= -1e-14).all()
    assert table.cdf[-1] == 1
    assert 0 <= table.cdf[0] - _atom(LAWS[name]) <= 1.01e-4


@pytest.mark.parametrize("name", LAWS)
def test_rows_hold_the_values_of_the_law_at_ascending_points(name: str) -> None:
    law, table = LAWS[name], tabulate_law(LAWS[name], 30)
    assert (np.diff(table.x) > 0).all()
    assert (table.x > 0).all()
    np.testing.assert_array_equal(table.density, law.density(table.x))
    np.testing.assert_array_equal(table.x_density, table.x * table.density)
    np.testing.assert_array_equal(table.cdf, law.cdf(table.x))
    assert list(table.columns()) == ["x", "density", "x_density", "cdf"]


@pytest.mark.parametrize("name", LAWS)
def test_edges_are_rows_and_gaps_have_none(name: str) -> None:
    law, table = LAWS[name], tabulate_law(LAWS[name], 30)
    assert set(law.edges) <= set(table.x)
    np.testing.assert_array_equal(table.density[np.isin(table.x, law.edges)], 0)
    inside = [((table.x >= low) & (table.x <= high)).sum() for low, high in law.support]
    assert inside == [30] * len(law.support)


def test_points_crowd_at_both_ends_in_ln_x() -> None:
    for x in support_points(LAWS["gap"], 101):
        steps = np.diff(np.log(x))
        assert steps[0] == pytest.approx(steps[-1], rel=1e-3)
        assert steps[0] < 0.02 * steps[50]


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("left_out", [1e-4, 1e-3, 0.1])
def test_a_support_that_starts_at_0_is_cut_where_the_share_left_out_is_below(name: str, left_out: float) -> None:
    law = LAWS[name]
    low, high = log_span(law, left_out)
    assert high == law.support[-1][1]
    if law.support[0][0] > 0:
        assert low == law.support[0][0]
    else:
        below = float(law.cdf(low)) - _atom(law)
        assert below == pytest.approx(left_out * (1 - _atom(law)), rel=1e-6)


@pytest.mark.parametrize("points", [0, 1, -3, 100_001, 2.0, True, "400", None])
def test_a_number_of_points_out_of_range_is_refused(points: object) -> None:
    with pytest.raises(ValueError, match=r"points=.*: must be an integer from 2 to 100000"):
        tabulate_law(LAWS["plain"], points)  # type: ignore[arg-type]


def test_the_smallest_and_the_largest_table_are_made() -> None:
    assert tabulate_law(LAWS["gap"], 2).x.tolist() == list(LAWS["gap"].edges)
    table: LawTable = tabulate_law(LAWS["gap and divergence"], 100_000)
    assert table.x.size == 200_000
    assert _running_mass(table.x, table.x_density)[-1] == pytest.approx(1 - 1e-4, abs=1e-7)
