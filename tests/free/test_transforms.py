"""R- and S-transforms: closed forms, their definition, additivity and multiplicativity, and where they end."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from rmt_attention import free
from rmt_attention.free import FreeLaw
from rmt_attention.free.transforms import r_range, s_range

from .expressions import random_expression, shown

THREE = free.atoms([0.5, 1.0, 4.0], [0.3, 0.5, 0.2])


def _two_points(g: np.ndarray) -> np.ndarray:
    """R of (δ_{−1} + δ_1)/2."""
    return 2 * g / (1 + np.sqrt(1 + 4 * g * g))


@pytest.mark.parametrize(
    ("law", "g", "expected"),
    [
        (free.semicircle(1.0, 0.25), np.array([-2.0, -1e-9, 0.3, 1.999]), lambda g: 1 + 0.25 * g),
        (free.free_poisson(1.6, 0.7), np.array([-5.3, -1.0, 1e-12, 0.63]), lambda g: 1.6 * 0.7 / (1 - 0.7 * g)),
        (free.free_poisson(0.6, -2.0) + 1.0, np.array([-0.28, -0.1, 0.3]), lambda g: 1 - 1.2 / (1 + 2 * g)),
        (free.atoms([-1, 1]), np.array([-1e6, -1.0, 1e-3, 7.0]), _two_points),
        (free.atoms([3.0]), np.array([-1e6, 0.0, 7.0]), lambda g: 3 + 0 * g),
    ],
    ids=["semicircle", "free Poisson", "negative jumps", "two points", "one point"],
)
def test_r_transforms_known_in_closed_form(law: FreeLaw, g: np.ndarray, expected: Callable[..., np.ndarray]) -> None:
    np.testing.assert_allclose(law.r_transform(g), expected(g), rtol=1e-12)


@pytest.mark.parametrize("ratio", [0.1, 1.0, 3.0])
def test_the_s_transform_of_marchenko_pastur_is_known_on_all_of_its_range(ratio: float) -> None:
    law = free.marchenko_pastur(ratio)
    low, high = max(-1.0, -1 / ratio), math.sqrt(1 / ratio)
    u = np.array([low * (1 - 1e-9), low / 2, -1e-12, 0.0, 1e-12, high / 2, high * (1 - 1e-9)])
    np.testing.assert_allclose(law.s_transform(u), 1 / (1 + ratio * u), rtol=1e-6 if ratio >= 1 else 1e-12)
    np.testing.assert_allclose(law.s_transform(u[1:]), 1 / (1 + ratio * u[1:]), rtol=1e-12)
    np.testing.assert_allclose(s_range(law._spectrum), (low, high), rtol=1e-13)


@pytest.mark.parametrize("seed", range(8))
def test_transforms_obey_their_definition_and_add_and_multiply(seed: int) -> None:
    rng = np.random.default_rng([17, seed])
    one, other = (FreeLaw(random_expression(rng, 2), name) for name in ("one", "other"))
    message = f"{shown(one.node)} and {shown(other.node)}"
    both = one + other
    ends = np.array([r_range(law._spectrum) for law in (one, other, both)])
    low, high = np.maximum(ends[:, 0].max(), -10.0), np.minimum(ends[:, 1].min(), 10.0)
    g = np.append(rng.uniform(low, high, 20), [low * 0.999, high * 0.999, 1e-7])
    R = both.r_transform(g)
    size = 1 + np.abs(R) + np.abs(one.r_transform(g))
    np.testing.assert_allclose(one.r_transform(g) + other.r_transform(g), R, rtol=0, atol=1e-11 * size.max())
    back = both.cauchy(R + 1 / g)
    inside = (g > 0.95 * low) & (g < 0.95 * high)
    np.testing.assert_allclose(back.real[inside], g[inside], rtol=1e-8, err_msg=message)
    np.testing.assert_allclose(back.imag[inside], 0, atol=0)

    one, other = (FreeLaw(random_expression(rng, 2, positive=True), name) for name in ("one", "other"))
    message = f"{shown(one.node)} and {shown(other.node)}"
    both = one @ other
    ends = np.array([s_range(law._spectrum) for law in (one, other, both)])
    low, high = ends[:, 0].max(), np.minimum(ends[:, 1].min(), 10.0)
    u = np.append(rng.uniform(low, high, 20), [low * 0.999, high * 0.999, 1e-7])
    S = both.s_transform(u)
    np.testing.assert_allclose(one.s_transform(u) * other.s_transform(u), S, rtol=1e-9, err_msg=message)
    ridge = 10.0 ** rng.uniform(-2, 2, 10) * both.mean
    w = both.degrees_of_freedom(ridge)
    np.testing.assert_allclose(both.s_transform(-w), (1 - w) / (ridge * w), rtol=1e-9, err_msg=message)


def test_the_range_ends_at_the_edges_and_the_transform_is_smooth_up_to_there() -> None:
    law = THREE + free.semicircle(variance=0.3)
    low, high = r_range(law._spectrum)
    slope = 2 * high * 1e-3
    values = law.r_transform([high - slope, high - slope / 2, high])
    assert np.diff(values, 2) == pytest.approx(0, abs=1e-4)
    assert values[-1] + 1 / high == pytest.approx(law.edges[-1], rel=1e-12)
    assert law.r_transform(low) + 1 / low == pytest.approx(law.edges[0], rel=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: free.semicircle(0.0, 0.25).r_transform(2.1), r"g=2\.1: must be between -2\S* and 2"),
        (lambda: free.marchenko_pastur(2.0).s_transform(-0.5), r"u=-0\.5: must be between -0\.5 and 0\.707"),
        (lambda: THREE.r_transform(np.nan), "g=nan: must not be NaN"),
        (lambda: THREE.s_transform("x"), "u='x': must be a number"),
        (lambda: free.atoms([0.0]).s_transform(-0.5), r"S-transform: atoms\(0\) has mean 0"),
        (lambda: free.semicircle().s_transform(-0.5), r"S-transform: needs laws on \[0, ∞\), and semicircle"),
    ],
)
def test_arguments_without_a_transform_are_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
