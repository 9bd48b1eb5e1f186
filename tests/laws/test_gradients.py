"""Derivatives of w, edges and moments against central differences at 75 digits of other routes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

from rmt_attention.laws import SpectralLaw, attention_law, compound_poisson_law, output_law
from rmt_attention.laws.precise import PreciseLaw
from rmt_attention.laws.precise_curves import PreciseIndependentCurve, PreciseTiedCurve

from ..oracles import Independent, Tied
from .registry import CASES, Case

DIFFERENTIABLE = [case for case in CASES if isinstance(case.oracle, (Independent, Tied))]
DIGITS, STEP = 75, mpf(10) ** -25  # central differences err by the step squared
over_cases = pytest.mark.parametrize("case", DIFFERENTIABLE, ids=lambda case: case.name)


def _moved(oracle: Independent | Tied) -> Iterator[tuple[str, Any, Any, Any]]:
    """Name of each parameter, its step, and the oracles with it moved down and up."""
    names = ["beta", "heads", "gamma_key"]
    values = [oracle.beta, oracle.heads, oracle.gamma_key]
    if isinstance(oracle, Independent):
        names += ["gamma_value", "gamma_out"][: len(oracle.outer)]
        values += oracle.outer
    elif oracle.gamma_out is not None:
        names.append("gamma_out")
        values.append(oracle.gamma_out)

    def at(parameters: list[Any]) -> Independent | Tied:
        first = dict(zip(("beta", "heads", "gamma_key"), parameters, strict=False))
        if isinstance(oracle, Independent):
            return replace(oracle, **first, outer=tuple(parameters[3:]))
        return replace(oracle, **first, gamma_out=parameters[3] if len(parameters) > 3 else None)

    for index, name in enumerate(names):
        step = STEP * mpf(values[index])
        moved = []
        for sign in (-1, 1):
            parameters = [mpf(value) for value in values]
            parameters[index] += sign * step
            moved.append(at(parameters))
        yield name, step, *moved


def _differences(oracle: Independent | Tied, number: Callable[[Any], Any]) -> dict[str, Any]:
    """Derivatives of a number, or a list of them, in every parameter."""
    result = {}
    with mp.workdps(DIGITS):
        for name, step, low, high in _moved(oracle):
            pairs = zip(np.ravel(number(low)), np.ravel(number(high)), strict=True)
            result[name] = [(up - down) / (2 * step) for down, up in pairs]
    return result


def _worst(found: dict[str, Any], exact: dict[str, Any]) -> float:
    """Largest relative error; a derivative that is exactly 0 has to come out below 1e-15 of the largest."""
    assert list(found) == list(exact)
    largest = max(abs(x) for values in exact.values() for x in values)
    return max(
        float(abs(mpf(float(x)) - y) / max(abs(y), largest * mpf("1e-2" if abs(y) < largest * 1e-30 else "0")))
        for name in exact
        for x, y in zip(np.ravel(found[name]), exact[name], strict=True)
    )


RIDGES = (1e-6, 0.03, 2.0)


@over_cases
def test_derivatives_of_w_are_right_to_thirteen_digits(case: Case) -> None:
    ridges = np.array(RIDGES) * case.law.mean
    exact = _differences(case.oracle, lambda at: [at.degrees_of_freedom(mpf(float(x)))[0] for x in ridges])
    assert _worst(case.law.gradients.degrees_of_freedom(ridges), exact) < 1e-13


@over_cases
@pytest.mark.parametrize("k", [1, 2, 5])
def test_derivatives_of_moments_are_right_to_thirteen_digits(case: Case, k: int) -> None:
    exact = _differences(case.oracle, lambda at: at.moments(k)[-1])
    assert _worst(case.law.gradients.moment(k), exact) < 1e-13
    if k == 1:
        assert case.law.gradients.mean == case.law.gradients.moment(1)


class _Curve:
    """What PreciseLaw asks of a law's curve, at parameters of any precision."""

    def __init__(self, oracle: Independent | Tied) -> None:
        self._oracle, self.log_constant, self.w_max = oracle, 0.0, oracle.w_max

    def precise(self) -> Any:
        oracle = self._oracle
        if isinstance(oracle, Independent):
            return PreciseIndependentCurve(oracle.constant, oracle.widths, oracle.beta, oracle.gamma_key)
        outer = oracle.outer_widths
        return PreciseTiedCurve(outer, oracle.beta, oracle.heads, oracle.gamma_key)


EDGES = ("attention", "attention, gap", "values", "output, gap", "tied values", "tied output")


BESIDE_TIES = (  # the lowest edge is 1e-24 to 1e-11 of the mean
    Case("tied values, γ_K almost 1", Tied(2.0615503748613744, 16, 1.0000000000014615)),
    Case("values, γ_V almost 1", Independent(1.0, 4, 0.5, (1 - 1e-11,))),
    Case("attention, h almost 1", Independent(1.0, 1 + 1e-9, 0.5)),
)


@pytest.mark.parametrize(
    "case", [*(case for case in CASES if case.name in EDGES), *BESIDE_TIES], ids=lambda case: case.name
)
def test_derivatives_of_edges_are_right_to_thirteen_digits(case: Case) -> None:
    def edges(oracle: Any) -> Any:
        curve: Any = _Curve(oracle)
        law = PreciseLaw(curve, case.name, DIGITS, factor=1.0, mean_one=False, ratio=1.0)
        return law.edges[-len(case.law.edges) :]  # where a tie is broken one more opens near 0

    assert _worst(case.law.gradients.edges, _differences(case.oracle, edges)) < 1e-13


def test_a_wrong_sign_of_one_derivative_is_seen() -> None:
    """Negative control."""
    case = DIFFERENTIABLE[0]
    exact = _differences(case.oracle, lambda at: at.moments(2)[-1])
    found = case.law.gradients.moment(2)
    assert _worst({**found, "heads": -found["heads"]}, exact) == pytest.approx(2, rel=1e-10)
    assert _worst({**found, "beta": found["beta"] * (1 + 1e-12)}, exact) > 1e-13


@pytest.mark.parametrize("changed", ["scaled", "normalized", "companion"])
def test_a_law_made_from_another_has_derivatives_by_the_chain_rule(changed: str) -> None:
    law, ridge = output_law(0.9, 3, 0.75, 1.25, 0.75), 0.4
    made, factor, ratio = {
        "scaled": (law.scaled(3.0), 3.0, 1.0),
        "normalized": (law.normalized(), 1 / law.mean, 1.0),
        "companion": (law.companion(2.0), 1.0, 2.0),
    }[changed]
    moves = {name: slope / law.mean if changed == "normalized" else 0.0 for name, slope in law.gradients.mean.items()}
    slope = float(law.cauchy(-ridge / factor).real)  # any second route to w'(λ): a difference
    step = 1e-5 * ridge
    slope = float(law.degrees_of_freedom((ridge + step) / factor) - law.degrees_of_freedom((ridge - step) / factor))
    slope /= 2 * step / factor
    w = law.gradients.degrees_of_freedom(ridge / factor)
    for name, found in made.gradients.degrees_of_freedom(ridge).items():
        expected = (w[name] + slope * ridge / factor * moves[name]) / ratio  # λ/s moves with s = 1/mean
        assert float(found) == pytest.approx(float(expected), rel=1e-7)
    for name, found in made.gradients.edges.items():
        expected = law.gradients.edges[name] * factor - np.array(law.edges) * factor * moves[name]
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-13)
    for name, found in made.gradients.moment(3).items():
        expected = (law.gradients.moment(3)[name] - 3 * law.moment(3) * moves[name]) * factor**3 / ratio
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-13)


def test_derivatives_have_the_shape_of_the_ridge_and_the_names_of_the_parameters() -> None:
    gradients = attention_law(1.0, 4, 0.3).gradients
    assert gradients.parameters == ("beta", "heads", "gamma_key")
    found = gradients.degrees_of_freedom([[0.1, 1.0, 10.0]])
    assert {name: values.shape for name, values in found.items()} == dict.fromkeys(gradients.parameters, (1, 3))
    assert {values.size for values in gradients.edges.values()} == {4}
    assert gradients.moment(0) == dict.fromkeys(gradients.parameters, 0.0)


def _refused(call: Callable[[], Any], *parts: str) -> None:
    with pytest.raises(ValueError) as caught:
        call()
    assert all(part in str(caught.value) for part in parts), caught.value


def test_bad_input_is_refused_by_name() -> None:
    law: SpectralLaw = attention_law(1.0, 4, 0.3)
    _refused(lambda: law.gradients.degrees_of_freedom([0.1, 0.0]), "ridge", "> 0")
    _refused(lambda: law.gradients.degrees_of_freedom(np.inf), "ridge", "finite")
    _refused(lambda: law.gradients.degrees_of_freedom(-1.0), "ridge=-1.0")
    _refused(lambda: law.gradients.moment(61), "k=61")
    _refused(lambda: compound_poisson_law([1.0], 2.0).gradients, "compound free Poisson", "no β and ratios")
