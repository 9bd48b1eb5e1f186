"""The laws of attention as functions that JAX differentiates, compiles and maps over. (laws.gradients)

Use inside ``with jax.enable_x64(True):``, which leaves the session's own setting alone; single precision is refused.

Examples
--------
>>> import jax
>>> from rmt_attention.laws import differentiable
>>> with jax.enable_x64(True):
...     slope = jax.grad(lambda beta: differentiable.attention_law(beta, 1.0, 1.0).edge())(1.0)
>>> round(float(slope), 9)
24.575141402
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..spectra import check_order, check_positive
from . import attention
from .families import FAMILIES, ExplicitLaw
from .spectral_law import SpectralLaw

try:
    import jax
    import jax.numpy as jnp
except ImportError:
    raise ImportError("rmt_attention.laws.differentiable needs JAX: pip install 'rmt-attention[jax]'") from None

__all__ = [
    "DifferentiableLaw",
    "attention_law",
    "output_law",
    "tied_output_law",
    "tied_values_law",
    "values_law",
]

_FURTHEST = 745.0  # of log(w/(w_max − w))
_MOST_STEPS = 200
_EPS = float(np.finfo(float).eps)


def attention_law(beta: Any, heads: Any, gamma_key: Any) -> DifferentiableLaw:
    """As :func:`rmt_attention.laws.attention_law`."""
    return DifferentiableLaw("attention", beta, heads, gamma_key)


def values_law(beta: Any, heads: Any, gamma_key: Any, gamma_value: Any) -> DifferentiableLaw:
    """As :func:`rmt_attention.laws.values_law`."""
    return DifferentiableLaw("values", beta, heads, gamma_key, gamma_value)


def output_law(beta: Any, heads: Any, gamma_key: Any, gamma_value: Any, gamma_out: Any) -> DifferentiableLaw:
    """As :func:`rmt_attention.laws.output_law`."""
    return DifferentiableLaw("output", beta, heads, gamma_key, gamma_value, gamma_out)


def tied_values_law(beta: Any, heads: Any, gamma_key: Any) -> DifferentiableLaw:
    """As :func:`rmt_attention.laws.tied_values_law`."""
    return DifferentiableLaw("tied values", beta, heads, gamma_key)


def tied_output_law(beta: Any, heads: Any, gamma_key: Any, gamma_out: Any) -> DifferentiableLaw:
    """As :func:`rmt_attention.laws.tied_output_law`."""
    return DifferentiableLaw("tied output", beta, heads, gamma_key, gamma_out)


class DifferentiableLaw:
    """A law of one of the five families at parameters that may be traced; numbers are those of ``SpectralLaw``.

    Derivatives of any order come from the implicit function theorem, through ``jax.lax.custom_root``, not from the
    steps of the solvers. Parameters are scalars: use ``jax.vmap`` for many. Where a compiled solve does not converge
    the result is NaN.
    """

    def __init__(self, family: str, *values: Any, mean_one: bool = False) -> None:
        self._name, self._mean_one = family, mean_one
        self._values = tuple(
            _double(name, value) for name, value in zip(FAMILIES[family].parameters, values, strict=True)
        )
        law = FAMILIES[family].law(jnp, *self._values)
        self._law: ExplicitLaw = dataclasses.replace(law, fixed=jax.lax.stop_gradient)

    def __repr__(self) -> str:
        pairs = zip(FAMILIES[self._name].parameters, self._values, strict=True)
        return f"<DifferentiableLaw {self._name}: {', '.join(f'{name}={value}' for name, value in pairs)}>"

    def normalized(self) -> DifferentiableLaw:
        """Law of x/mean, of mean one."""
        return DifferentiableLaw(self._name, *self._values, mean_one=True)

    def _log_factor(self) -> Any:
        return -self._law.log_moment(1) if self._mean_one else jnp.zeros(())

    @property
    def mean(self) -> jax.Array:
        """First moment."""
        return self.moment(1)

    def moment(self, k: int) -> jax.Array:
        """∫ x^k dν for an integer 0 ≤ k ≤ 60; the compiled expression grows like k²."""
        order = check_order(k, 60)
        if order == 0:
            return jnp.ones(())
        return jnp.exp(self._law.log_moment(order) + order * self._log_factor())

    def degrees_of_freedom(self, ridge: Any) -> jax.Array:
        """w(λ) = ∫ x/(x+λ) dν for λ > 0; arrays of any shape."""
        w_max, share, _ = self._shares(ridge)
        return w_max * share

    def complement(self, ridge: Any) -> jax.Array:
        """1 − w(λ)/w(0) for λ > 0, to full relative precision."""
        w_max, share, rest = self._shares(ridge)
        return rest + share * (1 - w_max / functools.reduce(jnp.minimum, self._law.widths))  # 0 but for derivatives

    def _shares(self, ridge: Any) -> tuple[jax.Array, jax.Array, jax.Array]:
        """The smallest width as a constant, w over it, and one minus that."""
        law = self._law
        target = jnp.log(_double("ridge", ridge)) - self._log_factor()
        w_max = jax.lax.stop_gradient(functools.reduce(jnp.minimum, law.widths))

        def error(tau: Any) -> Any:
            share, rest = _logistic(tau)
            margins = [(a - w_max) + w_max * rest for a in law.widths]
            return law.log_ridge(w_max * share, margins) - target

        tau = jax.lax.custom_root(error, jnp.zeros(target.shape), _decreasing_root, _divide)
        return w_max, *_logistic(tau)

    def edge(self, index: int = -1) -> jax.Array:
        """An edge x > 0 of the support, counted as in ``SpectralLaw.edges``: 0 the lowest, −1 the top edge.

        Where it lies is found by the numerical engine, also from compiled code; an index that does not exist is its
        IndexError.
        """
        law, size = self._law, len(self._law.widths)
        scalar = jax.ShapeDtypeStruct((), float)  # type: ignore[no-untyped-call]
        each = jax.ShapeDtypeStruct((size,), float)  # type: ignore[no-untyped-call]
        found = jax.pure_callback(
            functools.partial(_critical_parameter, self._name, index),
            (scalar, scalar, each, scalar),
            *(jax.lax.stop_gradient(value) for value in self._values),
            vmap_method="sequential",
        )
        p, rest, margins, w = (jax.lax.stop_gradient(part) for part in found)
        beside = ~jnp.isnan(w)  # an edge next to p_end: there w is what stays
        w = jnp.where(beside, w, 0.5 * functools.reduce(jnp.minimum, law.widths))

        def log_edge(shift: Any) -> Any:
            differences = [a - law.w(p + shift, rest - shift) for a in law.widths]
            exact = [m + (d - jax.lax.stop_gradient(d)) for m, d in zip(margins, differences, strict=True)]
            far = law.log_edge(p + shift, rest - shift, exact)
            exact = [m + (a - jax.lax.stop_gradient(a)) - shift for m, a in zip(margins, law.widths, strict=True)]
            return jnp.where(beside, law.log_ridge(w + shift, exact), far)

        shift = jax.lax.custom_root(jax.grad(log_edge), jnp.zeros(()), lambda slope, start: start, _divide)
        return jnp.exp(log_edge(shift) + self._log_factor())


def _double(name: str, value: Any) -> jax.Array:
    """A double-precision array; ValueError for single precision, and for numbers known not to be finite and > 0."""
    if not isinstance(value, jax.core.Tracer):
        for one in np.asarray(value).ravel().tolist():
            check_positive(name, one)
    array = jnp.asarray(value)
    array = array if array.dtype == np.float64 else array.astype(float)
    if array.dtype != np.float64:
        raise ValueError(f"{name}: is of {array.dtype}; call inside `with jax.enable_x64(True):`")
    return array


def _logistic(tau: Any) -> tuple[Any, Any]:
    """1/(1 + e^{−τ}) and 1/(1 + e^τ)."""
    small = jnp.exp(-jnp.abs(tau))
    small, large = small / (1 + small), 1 / (1 + small)
    return jnp.where(tau > 0, large, small), jnp.where(tau > 0, small, large)


def _divide(linear: Any, right: Any) -> Any:
    """Solve linear(y) = right for a map that multiplies each entry."""
    return right / linear(jnp.ones_like(right))


def _decreasing_root(function: Any, start: Any) -> Any:
    """Newton steps inside a shrinking bracket, entry by entry."""

    def going(state: Any) -> Any:
        return ~state[-1].all() & (state[-2] < _MOST_STEPS)

    def step(state: Any) -> Any:
        tau, low, high, steps, done = state
        value, slope = jax.jvp(function, (tau,), (jnp.ones_like(tau),))
        low, high = jnp.where(value > 0, tau, low), jnp.where(value < 0, tau, high)
        change = -value / slope
        done = done | (jnp.abs(change) <= 4 * _EPS * (1 + jnp.abs(tau))) | (value == 0) | (high - low <= 1e-15)
        inside = (tau + change > low) & (tau + change < high)
        return jnp.where(done, tau, jnp.where(inside, tau + change, (low + high) / 2)), low, high, steps + 1, done

    ends = jnp.full(start.shape, _FURTHEST)
    state = (start, -ends, ends, 0, jnp.zeros(start.shape, dtype=bool))
    tau, *_, done = jax.lax.while_loop(going, step, state)
    return jnp.where(done, tau, jnp.nan)


_BUILDERS: dict[str, Callable[..., SpectralLaw]] = {
    "attention": attention.attention_law,
    "values": attention.values_law,
    "output": attention.output_law,
    "tied values": attention.tied_values_law,
    "tied output": attention.tied_output_law,
}


def _critical_parameter(family: str, index: int, *values: Any) -> tuple[Any, Any, Any, Any]:
    """p, 1 − p, the margins and w or NaN at an edge."""
    law = _BUILDERS[family](*(float(value) for value in values))
    p, rest, margins, w = law.critical_parameters()
    return p[index], rest[index], margins[:, index], w[index]
