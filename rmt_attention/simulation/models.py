"""Softmax attention and the five models that lead from it to its Gaussian equivalent.

Each model is a random n × n matrix Y_r per head that stands for √n (A_r − P), P = 11ᵀ/n; all six have the same limiting
spectra (Hayase and Karakida 2026, table 1). They use the same queries, keys and values; what a model draws in addition
has its own stream. (derivations/01-model-and-equivalence.md)

Each is written twice: ``full`` gives Y_r, ``times_values`` gives Y_r V_r without forming a Gaussian n × n matrix: given
V the rows of W V are independent N(0, VᵀV), so W V has the law of an n × d_value Gaussian matrix times any R with
RᵀR = VᵀV. (model.noise)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..equations.temperature import score_variance_excess
from ..inputs import Orthonormal
from .projections import HeadArrays, Matrix, Projections
from .softmax import exponentiate_rows


@dataclass(frozen=True)
class _HeadContext:
    """What the models of one head share."""

    projections: Projections
    arrays: HeadArrays

    @cached_property
    def scores(self) -> Matrix:
        """S = Q Kᵀ/√d_key."""
        return self.arrays.query @ (self.arrays.key.T / math.sqrt(self.arrays.head.d_key))

    @property
    def beta(self) -> float:
        return self.arrays.head.beta

    @property
    def n(self) -> int:
        return self.projections.layer.n_tokens

    @property
    def noise_scale(self) -> float:
        """√(θ1 − θ2)."""
        return math.sqrt(score_variance_excess(math, self.beta**2))

    def gaussian(self, role: str, columns: int) -> Matrix:
        """A fresh n × columns standard normal matrix."""
        stream = self.projections.stream(role, self.arrays.index)  # type: ignore[arg-type]
        return stream.standard_normal((self.n, columns))

    @cached_property
    def values_factor(self) -> Matrix:
        """R with RᵀR = VᵀV, by QR: rank-deficient values are no exception."""
        factor: Matrix = np.linalg.qr(self.arrays.value, mode="r")  # type: ignore[assignment]
        return factor


# (model.softmax): Y = √n (A − P)


def _softmax_full(head: _HeadContext) -> Matrix:
    weights = head.beta * head.scores
    weights /= exponentiate_rows(weights)[:, None]
    weights -= 1 / head.n
    weights *= math.sqrt(head.n)
    return weights


def _softmax_times_values(head: _HeadContext) -> Matrix:
    weights = head.beta * head.scores
    sums = exponentiate_rows(weights)
    averages = (weights @ head.arrays.value) / sums[:, None]
    return math.sqrt(head.n) * (averages - head.arrays.value.mean(axis=0))


# (model.exponential): Y = f(S)/√n, f(x) = exp(βx − β²/2) − 1: row normalisers replaced by n e^{β²/2}


def _exponential_full(head: _HeadContext) -> Matrix:
    entries = head.beta * head.scores
    entries -= head.beta**2 / 2
    with _quiet():
        np.expm1(entries, out=entries)
    entries /= math.sqrt(head.n)
    return _finite(entries, head, "exponential")


def _exponential_times_values(head: _HeadContext) -> Matrix:
    return _exponential_full(head) @ head.arrays.value


# (model.exponential-centered): minus the mean given keys, (exp(β²(B_ii Σ_jj − 1)/2) − 1)/√n


def _row_mean(head: _HeadContext) -> Matrix:
    key_variance = np.einsum("ij,ij->i", head.arrays.key, head.arrays.key) / head.arrays.head.d_key
    exponent = np.outer(head.projections.row_variance, key_variance)
    exponent -= 1
    exponent *= head.beta**2 / 2
    with _quiet():
        np.expm1(exponent, out=exponent)
    return exponent / math.sqrt(head.n)


def _exponential_centered_full(head: _HeadContext) -> Matrix:
    entries = _exponential_full(head)
    entries -= _finite(_row_mean(head), head, "exponential-centered")
    return entries


def _exponential_centered_times_values(head: _HeadContext) -> Matrix:
    return _exponential_centered_full(head) @ head.arrays.value


# (model.exact-covariance): Gaussian rows with covariance Σ_f/n,
# (Σ_f)_ij = exp(β²(Σ_ii + Σ_jj − 2)/2) (exp(β² Σ_ij) − 1), Σ = K Kᵀ/d_key; orthonormal tokens only


def _exact_covariance(head: _HeadContext) -> Matrix:
    covariance = head.arrays.key @ (head.arrays.key.T * (head.beta**2 / head.arrays.head.d_key))
    with _quiet():
        half = np.exp((np.diag(covariance) - head.beta**2) / 2)
        np.expm1(covariance, out=covariance)
        covariance *= half[:, None]
        covariance *= half
    return _finite(covariance, head, "gaussian-exact-covariance")


def _square_root(covariance: Matrix) -> Matrix:
    """Symmetric root of a positive semidefinite matrix; eigenvalues below zero are rounding."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)


def _exact_covariance_full(head: _HeadContext) -> Matrix:
    return head.gaussian("exact-rows", head.n) @ _square_root(_exact_covariance(head)) / math.sqrt(head.n)


def _exact_covariance_times_values(head: _HeadContext) -> Matrix:
    value = head.arrays.value
    root = _square_root(value.T @ (_exact_covariance(head) @ value))
    return head.gaussian("exact-rows", value.shape[1]) @ root / math.sqrt(head.n)


# (model.covariance): Gaussian rows with covariance Σ_G/n, Σ_G = θ2 Σ + (θ1 − θ2) I, independent of the queries


def _covariance_full(head: _HeadContext) -> Matrix:
    d_key = head.arrays.head.d_key
    fresh = head.projections.project("covariance-rows", head.arrays.index, d_key)
    rows = fresh @ (head.arrays.key.T * (head.beta / math.sqrt(d_key)))
    rows += head.noise_scale * head.gaussian("noise", head.n)
    return rows / math.sqrt(head.n)


def _covariance_times_values(head: _HeadContext) -> Matrix:
    d_key, value = head.arrays.head.d_key, head.arrays.value
    fresh = head.projections.project("covariance-rows", head.arrays.index, d_key)
    rows = fresh @ ((head.arrays.key.T @ value) * (head.beta / math.sqrt(d_key)))
    factor = head.values_factor
    rows += head.noise_scale * (head.gaussian("noise", factor.shape[0]) @ factor)
    return rows / math.sqrt(head.n)


# (model.gaussian): Y = (√θ2 S + √(θ1 − θ2) W)/√n


def _gaussian_full(head: _HeadContext) -> Matrix:
    entries = head.noise_scale * head.gaussian("noise", head.n)
    entries += head.beta * head.scores
    entries /= math.sqrt(head.n)
    return entries


def _gaussian_times_values(head: _HeadContext) -> Matrix:
    # S V = Q (Kᵀ V)/√d_key: no n × n matrix is needed.
    inner = (head.arrays.key.T @ head.arrays.value) * (head.beta / math.sqrt(head.arrays.head.d_key))
    product = head.arrays.query @ inner
    factor = head.values_factor
    product += head.noise_scale * (head.gaussian("noise", factor.shape[0]) @ factor)
    product /= math.sqrt(head.n)
    return product


def _quiet() -> np.errstate:
    """Overflow is found by _finite, which names the model and β."""
    return np.errstate(over="ignore", invalid="ignore")


def _finite(entries: Matrix, head: _HeadContext, model: str) -> Matrix:
    if not np.isfinite(entries).all():
        raise ValueError(
            f"model={model!r}: overflows double precision at beta={head.beta:g}, d_key={head.arrays.head.d_key}"
        )
    return entries


_FORMS: dict[str, tuple[Callable[[_HeadContext], Matrix], Callable[[_HeadContext], Matrix]]] = {
    "softmax": (_softmax_full, _softmax_times_values),
    "exponential": (_exponential_full, _exponential_times_values),
    "exponential-centered": (_exponential_centered_full, _exponential_centered_times_values),
    "gaussian-exact-covariance": (_exact_covariance_full, _exact_covariance_times_values),
    "gaussian-covariance": (_covariance_full, _covariance_times_values),
    "gaussian": (_gaussian_full, _gaussian_times_values),
}

MODELS: tuple[str, ...] = tuple(_FORMS)
"""The chain from softmax to its Gaussian equivalent, in order."""


def check_model(model: str, projections_inputs: object) -> None:
    """ValueError unless the model is known and defined for these inputs."""
    if model not in _FORMS:
        raise ValueError(f"model={model!r}: must be one of {', '.join(MODELS)}")
    if model == "gaussian-exact-covariance" and not isinstance(projections_inputs, Orthonormal):
        raise ValueError(
            f"model={model!r}: needs Orthonormal inputs, got {projections_inputs!r}"
            " (for correlated tokens the exact covariance does not factor into rows)"
        )


class HeadModels:
    """The models of one head, on the same queries, keys and values."""

    def __init__(self, projections: Projections, index: int) -> None:
        self._context = _HeadContext(projections, projections.head(index))

    def full(self, model: str, centered: bool) -> Matrix:
        """Y_r (n × n), or Y_r + √n P for √n A_r. (model.uncentered)"""
        matrix = _FORMS[model][0](self._context)
        if not centered:
            matrix += 1 / math.sqrt(self._context.n)
        return matrix

    def times_values(self, model: str, centered: bool) -> Matrix:
        """Y_r V_r (n × d_value), or (Y_r + √n P) V_r for √n A_r V_r. (model.uncentered)"""
        product = _FORMS[model][1](self._context)
        if not centered:
            product += math.sqrt(self._context.n) * self._context.arrays.value.mean(axis=0)
        return product
