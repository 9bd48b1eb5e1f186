"""The laws under JAX: the numbers of the numerical engine, derivatives of first and second order, jit and vmap."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rmt_attention import laws
from rmt_attention.laws import SpectralLaw, differentiable
from rmt_attention.laws.families import FAMILIES

POINTS = {
    "attention": (0.8, 4.0, 0.3),
    "values": (1.2, 0.5, 2.0, 1.0),
    "output": (1.0, 12.0, 0.75, 0.75, 1.0),
    "tied values": (0.8, 3.0, 0.6),
    "tied output": (0.8, 3.0, 0.6, 0.8),
}
RIDGE = 0.3
families = pytest.mark.parametrize("family", POINTS)


def _engine(family: str, values: Any) -> SpectralLaw:
    return getattr(laws, family.replace(" ", "_") + "_law")(*(float(value) for value in values))


def _traced(family: str) -> Callable[..., differentiable.DifferentiableLaw]:
    return getattr(differentiable, family.replace(" ", "_") + "_law")


def _numbers(family: str) -> dict[str, tuple[Callable[[Any], Any], Callable[[SpectralLaw], Any], Callable[[Any], Any]]]:
    """Functions of the parameters, the engine's numbers, and its derivatives."""
    law = _traced(family)
    return {
        "w": (
            lambda v: law(*v).degrees_of_freedom(RIDGE),
            lambda engine: engine.degrees_of_freedom(RIDGE),
            lambda gradients: gradients.degrees_of_freedom(RIDGE),
        ),
        "mean-one w": (
            lambda v: law(*v).normalized().degrees_of_freedom(RIDGE),
            lambda engine: engine.normalized().degrees_of_freedom(RIDGE),
            lambda gradients: None,
        ),
        "top edge": (
            lambda v: law(*v).edge(),
            lambda engine: engine.edges[-1],
            lambda gradients: {name: slopes[-1] for name, slopes in gradients.edges.items()},
        ),
        "bottom edge": (
            lambda v: law(*v).edge(0),
            lambda engine: engine.edges[0],
            lambda gradients: {name: slopes[0] for name, slopes in gradients.edges.items()},
        ),
        "third moment": (
            lambda v: law(*v).moment(3),
            lambda engine: engine.moment(3),
            lambda gradients: gradients.moment(3),
        ),
    }


NUMBERS = tuple(_numbers("attention"))
over_numbers = pytest.mark.parametrize("number", NUMBERS)


@families
@over_numbers
def test_numbers_and_gradients_are_those_of_the_numerical_engine(family: str, number: str) -> None:
    function, value, slopes = _numbers(family)[number]
    engine = _engine(family, POINTS[family])
    expected = slopes(engine.gradients)
    if expected is None:
        expected = engine.normalized().gradients.degrees_of_freedom(RIDGE)
    with jax.enable_x64(True):
        point = jnp.array(POINTS[family])
        found, gradient = jax.jit(jax.value_and_grad(function))(point)
        assert float(found) == pytest.approx(float(value(engine)), rel=1e-14, abs=0)
        largest = max(abs(float(slope)) for slope in expected.values())
        np.testing.assert_allclose(gradient, [float(slope) for slope in expected.values()], 1e-13, 1e-14 * largest)
        assert abs(gradient[0] / float(expected["beta"]) * (1 + 1e-12) - 1) > 1e-13  # negative control


@pytest.mark.parametrize(
    ("family", "point"),
    [("tied values", (2.0615503748613744, 16.0, 1.0000000000014615)), ("values", (1.0, 4.0, 0.5, 1 - 1e-11))],
)
def test_edges_beside_a_tie_are_those_of_the_numerical_engine(family: str, point: tuple[float, ...]) -> None:
    engine = _engine(family, point)
    with jax.enable_x64(True):
        found, gradient = jax.value_and_grad(lambda v: _traced(family)(*v).edge(0))(jnp.array(point))
        curvature = jax.grad(lambda last: jax.grad(lambda x: _traced(family)(*point[:-1], x).edge(0))(last))(point[-1])
    assert float(found) == pytest.approx(engine.edges[0], rel=1e-13, abs=0)
    for one, slopes in zip(gradient, engine.gradients.edges.values(), strict=True):
        assert float(one) == pytest.approx(float(slopes[0]), rel=1e-13, abs=0)
    # the edge is a multiple of the square of the distance to the tie
    assert float(curvature) == pytest.approx(2 * engine.edges[0] / (point[-1] - 1) ** 2, rel=1e-9)


@families
@over_numbers
def test_second_derivatives_are_differences_of_first_ones(family: str, number: str) -> None:
    function = _numbers(family)[number][0]
    with jax.enable_x64(True):
        point, gradient = jnp.array(POINTS[family]), jax.jit(jax.grad(function))
        hessian = np.asarray(jax.hessian(function)(point))
        step = 1e-4 * point
        columns = []
        for index in range(point.size):
            move = jnp.zeros(point.size).at[index].set(step[index])
            near = (gradient(point + move) - gradient(point - move)) / (2 * step[index])
            far = (gradient(point + 2 * move) - gradient(point - 2 * move)) / (4 * step[index])
            columns.append(np.asarray((4 * near - far) / 3))
    size = np.abs(hessian).max()
    np.testing.assert_allclose(hessian, np.array(columns), 1e-7, 1e-8 * size)
    np.testing.assert_allclose(hessian, hessian.T, 1e-10, 1e-12 * size)


@families
def test_many_laws_at_once_are_the_laws_one_by_one(family: str) -> None:
    law = _traced(family)
    with jax.enable_x64(True):
        points = jnp.array(POINTS[family]) * jnp.array([[0.9], [1.0], [1.1]])
        ridges = jnp.geomspace(1e-3, 10, 7)
        w = jax.jit(jax.vmap(lambda v: law(*v).degrees_of_freedom(ridges)))(points)
        edges = jax.vmap(jax.grad(lambda v: law(*v).edge()))(points)
        complements = jax.vmap(lambda v: law(*v).complement(ridges))(points)
    for row, slopes, rest, point in zip(w, edges, complements, points, strict=True):
        engine = _engine(family, point)
        np.testing.assert_allclose(row, engine.degrees_of_freedom(ridges), 1e-13)
        np.testing.assert_allclose(rest, engine.complement(ridges), 1e-12)
        np.testing.assert_allclose(slopes, [x[-1] for x in engine.gradients.edges.values()], 1e-12, 1e-14)


@families
def test_the_derivative_of_the_complement_is_that_of_w_over_its_limit(family: str) -> None:
    law = _traced(family)
    with jax.enable_x64(True):
        point = jnp.array(POINTS[family])
        found = jax.grad(lambda v: law(*v).complement(RIDGE))(point)
        expected = jax.grad(lambda v: -law(*v).degrees_of_freedom(RIDGE) / law(*v).degrees_of_freedom(1e-30))(point)
    np.testing.assert_allclose(found, expected, 1e-7, 1e-9)


def test_the_session_keeps_its_precision_and_single_precision_is_refused() -> None:
    before = jnp.zeros(1).dtype
    with jax.enable_x64(True):
        assert differentiable.attention_law(1.0, 4, 0.3).degrees_of_freedom(0.1).dtype == np.float64
    assert jnp.zeros(1).dtype == before == np.float32
    with pytest.raises(ValueError, match=r"beta: is of float32; call inside `with jax\.enable_x64"):
        differentiable.attention_law(1.0, 4, 0.3)


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf])
def test_parameters_that_are_known_are_checked(value: float) -> None:
    with jax.enable_x64(True):
        with pytest.raises(ValueError, match=r"gamma_key=.*> 0"):
            differentiable.attention_law(1.0, 4, value)
        with pytest.raises(ValueError, match=r"ridge=.*> 0"):
            differentiable.attention_law(1.0, 4, 0.3).degrees_of_freedom(value)
        with pytest.raises(ValueError, match="k=61"):
            differentiable.attention_law(1.0, 4, 0.3).moment(61)


def test_every_family_has_a_function_and_a_point() -> None:
    assert set(POINTS) == set(FAMILIES)


WITHOUT_JAX = """
import sys
sys.modules["jax"] = None
from rmt_attention.laws import output_law
law = output_law(1.0, 12.0, 0.75, 0.75, 1.0)
print(*(float(x).hex() for x in law.gradients.degrees_of_freedom(0.3).values()), float(law.cdf(0.5)).hex())
try:
    import rmt_attention.laws.differentiable
except ImportError as error:
    print(error)
"""


def test_without_jax_the_numbers_are_the_same_and_asking_for_it_says_how_to_install_it() -> None:
    run = subprocess.run([sys.executable, "-W", "error", "-c", WITHOUT_JAX], capture_output=True, text=True, check=True)
    numbers, message = run.stdout.splitlines()
    law = laws.output_law(1.0, 12.0, 0.75, 0.75, 1.0)
    slopes = law.gradients.degrees_of_freedom(0.3).values()
    assert numbers.split() == [*(float(x).hex() for x in slopes), float(law.cdf(0.5)).hex()]
    assert message.endswith("needs JAX: pip install 'rmt-attention[jax]'")
