"""Values computed by independent routes (data/limits.json) and supports known to the digits written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rmt_attention.laws import SpectralLaw, attention_law, output_law, tied_output_law, tied_values_law

LIMITS = json.loads((Path(__file__).parents[1] / "data" / "limits.json").read_text())
ROWS = [row for row in LIMITS["closed"] if row["inputs"] == "orthonormal"]

# The two routes behind the file agree to 4e-12.
ROUTES = 1e-11


def _law(row: dict[str, Any]) -> SpectralLaw:
    if row["tied_key_value"]:
        return tied_output_law(row["beta"], row["heads"], row["gamma_K"], row["gamma_O"])
    return output_law(row["beta"], row["heads"], row["gamma_K"], row["gamma_V"], row["gamma_O"])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"tied={row['tied_key_value']}, z={row['z']}")
def test_w_is_the_reference_value(row: dict[str, Any]) -> None:
    z, omega = complex(*row["z"]), complex(*row["omega"])
    law = _law(row)
    assert abs(complex(1 - z * law.cauchy(z)) - omega) < ROUTES * abs(omega)
    if z.imag == 0:
        assert float(law.degrees_of_freedom(-z.real)) == pytest.approx(omega.real, rel=ROUTES, abs=0)
    # negative control: one per mille in β is seen
    other = _law({**row, "beta": 1.001 * row["beta"]})
    assert abs(complex(1 - z * other.cauchy(z)) - omega) > 1e-5 * abs(omega)


def test_the_file_has_rows_of_both_kinds_on_and_off_the_axis() -> None:
    assert {(row["tied_key_value"], row["z"][1] == 0) for row in ROWS} == {
        (tied, on_axis) for tied in (True, False) for on_axis in (True, False)
    }


@pytest.mark.parametrize("row", LIMITS["edges"], ids=lambda row: f"h={row['heads']}, β={row['beta']}")
def test_the_top_edge_is_the_reference_value(row: dict[str, Any]) -> None:
    law = attention_law(row["beta"], row["heads"], row["gamma_K"])
    assert law.edges[-1] == pytest.approx(row["attention_edge"], rel=1e-12, abs=0)


@pytest.mark.parametrize("row", LIMITS["ridge"], ids=lambda row: f"h={row['heads']}, tied={'tied' in row}")
def test_w_and_its_slope_give_the_reference_ridge_error(row: dict[str, Any]) -> None:
    # error = 1 − w/γ_O + (λ/γ_O − σ²) w'(λ) for the mean-one law, w' by a central difference of step 1e-4 λ: its error
    # is a third derivative times 1e-8, and rounding is 1e-13/1e-4.
    if row.get("tied"):
        law = tied_output_law(row["beta"], row["heads"], row["gamma_K"], row["gamma_O"]).normalized()
    else:
        law = output_law(row["beta"], row["heads"], row["gamma_K"], row["gamma_V"], row["gamma_O"]).normalized()
    ridge = row["lam"]
    below, here, above = law.degrees_of_freedom(ridge * np.array([1 - 1e-4, 1, 1 + 1e-4]))
    slope = (above - below) / (2e-4 * ridge)
    error = 1 - here / row["gamma_O"] + (ridge / row["gamma_O"] - row["sigma2"]) * slope
    assert error == pytest.approx(row["error"], rel=1e-7, abs=0)


@pytest.mark.parametrize(
    ("law", "expected"),
    [
        (attention_law(1.0, 4, 0.3), [0.2077, 1.3236, 1.4007, 10.0370]),
        (attention_law(1.0, 1, 0.1), [0, 2.5603, 4.5507, 23.354]),
        (output_law(1.0, 4, 0.1, 3, 5), [0.2797, 12.452, 23.519, 112.94]),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_supports_with_a_gap_are_those_known(law: SpectralLaw, expected: list[float]) -> None:
    ends = [end for interval in law.support for end in interval]
    assert len(ends) == len(expected)
    for end, digits in zip(ends, expected, strict=True):
        # half a unit of the last digit written
        unit = 10.0 ** -len(str(digits).partition(".")[2]) if digits else 0
        assert abs(end - digits) <= 0.51 * unit


def test_tied_top_edges_are_those_known() -> None:
    assert tied_values_law(0.7, 3, 0.6).edges[-1] == pytest.approx(16.155, abs=5.1e-4)
    assert tied_output_law(0.7, 3, 0.6, 0.8).edges[-1] == pytest.approx(29.797, abs=5.1e-4)


@pytest.mark.parametrize(
    ("law", "gamma_key"),
    [(attention_law(1.0, 4, 0.3), 0.3), (attention_law(1.0, 1, 0.1), 0.1), (output_law(1.0, 4, 0.1, 3, 5), 0.1)],
    ids=lambda value: getattr(value, "name", None),
)
def test_the_mass_above_a_gap_is_the_key_width(law: SpectralLaw, gamma_key: float) -> None:
    (_, low), (high, _) = law.support
    assert 1 - float(law.cdf((low + high) / 2)) == pytest.approx(gamma_key, abs=1e-13)


@pytest.mark.parametrize("gamma_key", [0.35, 0.5])
def test_these_attention_laws_have_one_bulk(gamma_key: float) -> None:
    assert len(attention_law(1.0, 4, gamma_key).support) == 1
