"""Every function of the equations under numpy, JAX and mpmath: one source, the same numbers."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from mpmath import mp, mpf

from rmt_attention.equations import compound, independent, moments, temperature, tied

MODULES = (compound, independent, moments, temperature, tied)

# doubles, so that all runtimes start from the same numbers; p_end and rest_end are consistent, parameters inside (0, 1)
INDEPENDENT = [(0.3, 0.7, 0.5), (0.9, 0.1, 4.0), (1e-6, 0.999999, 0.75)]  # c, 1 − c, γ_K
TIED = [(3.0, 0.2, 0.1), (1.0, 1.0, 0.7), (8.0, 2.5, 40.0)]  # h, a, excess
JUMPS = [(0.2, 1.3), (1.25, 0.25), (7.0, 0.5)]  # jump, rate
V, Q, REST = 0.4375, 0.625, 0.375


def _cases() -> dict[str, list[tuple[Any, ...]]]:
    """Arguments after the namespace, by ``module.function``."""
    end = (Q, REST, 0.125, 0.75, 0.25)
    return {
        "compound.degrees_of_freedom": [(Q, REST, *pair) for pair in JUMPS],
        "compound.degrees_of_freedom_slope": [(Q, REST, *pair) for pair in JUMPS],
        "compound.degrees_of_freedom_curvature": [(Q, REST, *pair) for pair in JUMPS],
        "compound.degrees_of_freedom_gap": [(*end, *pair) for pair in JUMPS],
        "independent.degrees_of_freedom": [(V, *shape) for shape in INDEPENDENT],
        "independent.degrees_of_freedom_slope": [(V, *shape) for shape in INDEPENDENT],
        "independent.degrees_of_freedom_curvature": [(V, *shape) for shape in INDEPENDENT],
        "independent.degrees_of_freedom_gap": [(V, 0.1875, 0.625, *shape) for shape in INDEPENDENT],
        "independent.parameter": [(w, *shape) for shape in INDEPENDENT for w in (0.01, 0.5, 3.0)],
        "independent.log_scale": [(w, *shape) for shape in INDEPENDENT for w in (0.01, 0.25, 3.0)],
        "independent.series": [(6, 1.5, *shape) for shape in INDEPENDENT],
        "moments.lagrange_coefficient": [([1.5, 0.25, 3.0, 0.5, 0.75], (1.0, 0.5, 4.0))],
        "temperature.score_variance_excess": [(theta2,) for theta2 in (1e-10, 1e-3, 0.5, 1.0, 6.25, 100.0)],
        "tied.degrees_of_freedom": [(Q, REST, *shape) for shape in TIED],
        "tied.degrees_of_freedom_slope": [(Q, REST, *shape) for shape in TIED],
        "tied.degrees_of_freedom_curvature": [(Q, REST, *shape) for shape in TIED[:2]],
        "tied.degrees_of_freedom_gap": [(*end, *shape) for shape in TIED],
        "tied.log_scale": [(w, 0.64, *shape) for shape in TIED for w in (1e-4, 0.15, 0.59)],
        "tied.parameter": [(w, *shape) for shape in TIED for w in (1e-4, 0.15, 0.59)],
        "tied.scale": [(Q, REST, 0.64)],
        "tied.scale_log_slope": [(Q, REST)],
        "tied.scale_log_curvature": [(Q, REST, 0.5)],
        "tied.series": [(5, 2.75, *shape) for shape in TIED],
    }


CASES = [(name, arguments) for name, cases in _cases().items() for arguments in cases]
over_cases = pytest.mark.parametrize(("name", "arguments"), CASES)


def _functions(module: ModuleType) -> dict[str, Callable[..., Any]]:
    label = module.__name__.rpartition(".")[2]
    return {f"{label}.{name}": f for name, f in inspect.getmembers(module, inspect.isfunction)}


FUNCTIONS = {name: f for module in MODULES for name, f in _functions(module).items()}


def _evaluated(name: str, xp: Any, number: Callable[[float], Any], arguments: tuple[Any, ...]) -> list[Any]:
    """The function's numbers, one or several, with every float made a number of the runtime."""

    def converted(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return type(value)(converted(one) for one in value)
        return number(value) if isinstance(value, float) else value

    function = FUNCTIONS[name]
    first = (xp,) if next(iter(inspect.signature(function).parameters)) == "xp" else ()
    result = function(*first, *map(converted, arguments))
    return list(result) if isinstance(result, (list, tuple)) else [result]


def _precise(name: str, arguments: tuple[Any, ...], digits: int) -> list[Any]:
    with mp.workdps(digits):
        return _evaluated(name, mp, mpf, arguments)


def test_every_function_has_a_case() -> None:
    assert set(FUNCTIONS) == set(_cases())


@over_cases
def test_numpy_is_within_1e_14_of_forty_digits(name: str, arguments: tuple[Any, ...]) -> None:
    for found, exact in zip(_evaluated(name, np, np.float64, arguments), _precise(name, arguments, 40), strict=True):
        assert abs(mpf(float(found)) / exact - 1) < 1e-14


@over_cases
def test_jax_is_within_1e_14_of_forty_digits(name: str, arguments: tuple[Any, ...]) -> None:
    with jax.enable_x64(True):
        values = _evaluated(name, jnp, jnp.float64, arguments)
    for found, exact in zip(values, _precise(name, arguments, 40), strict=True):
        assert abs(mpf(float(found)) / exact - 1) < 1e-14


@over_cases
def test_forty_digits_are_those_of_sixty(name: str, arguments: tuple[Any, ...]) -> None:
    for found, exact in zip(_precise(name, arguments, 40), _precise(name, arguments, 60), strict=True):
        with mp.workdps(60):
            assert abs(found / exact - 1) < mpf(10) ** -37


def test_single_precision_would_be_seen() -> None:
    """Negative control."""
    name, arguments = "tied.parameter", (0.15, *TIED[0])
    pairs = zip(_evaluated(name, np, np.float32, arguments), _precise(name, arguments, 40), strict=True)
    assert any(abs(mpf(float(found)) / exact - 1) > 1e-9 for found, exact in pairs)
