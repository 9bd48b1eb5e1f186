"""The main job: softmax against its Gaussian equivalent against the limiting law, for one layer.

What is compared converges only as n grows, so a difference at one size is no failure and a small one no success. The
same layer is therefore drawn at half size (same ratios, same number of draws): a distance must fall from half size to
full size, and a difference from the limit must vanish when extrapolated linearly in 1/n, within a Student-t interval of
stated false-alarm rate. Every threshold comes from these replicates or from a stated bias.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from ..compare import Comparison, OutlierComparison, compare, compare_outlier
from ..errors import UnsupportedLayerError
from ..inputs import Orthonormal
from ..laws import SpectralLaw
from ..layer import AttentionLayer, Head
from ..limits import limit_law
from ..simulation import sample_spectrum
from ..spectra import Estimate, SpectrumSample

SCHEMA_VERSION = 1
FALSE_ALARM = 1e-3
"""Probability that a check built on a Student-t interval fails although nothing is wrong."""

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Check:
    """One line of the verdict: it holds if ``value`` ≤ ``threshold``."""

    name: str
    value: float
    threshold: float
    origin: str

    @property
    def holds(self) -> bool:
        return self.value <= self.threshold


@dataclass(frozen=True)
class VerifyReport:
    """Everything the main job computed; :meth:`to_dict` is the JSON it writes."""

    layer: AttentionLayer
    half_layer: AttentionLayer
    law: SpectralLaw | None
    law_refused: str
    samples: dict[str, SpectrumSample]
    models: Comparison
    half_models: Comparison
    to_law: dict[str, Comparison]
    half_to_law: dict[str, Comparison]
    outlier: OutlierComparison
    checks: tuple[Check, ...]

    @property
    def holds(self) -> bool:
        """Whether every check holds."""
        return all(check.holds for check in self.checks)

    def to_dict(self) -> dict[str, object]:
        """Plain data with a schema version: layers, distances with standard errors, checks, provenance."""
        law: dict[str, object] | None = None
        if self.law is not None:
            law = {
                "name": self.law.name,
                "mean": self.law.mean,
                "atoms": [{"location": atom.location, "mass": atom.mass} for atom in self.law.atoms],
                "support": [list(interval) for interval in self.law.support],
            }
        sample = self.samples["softmax"]
        return {
            "schema": SCHEMA_VERSION,
            "kind": "verify",
            "layer": self.layer.to_dict(),
            "half_layer": self.half_layer.to_dict(),
            "observable": sample.observable,
            "seed": list(sample.seed),
            "draws": len(sample),
            "law": law,
            "law_refused": self.law_refused or None,
            "softmax_to_gaussian": _plain(self.models),
            "softmax_to_gaussian_half_size": _plain(self.half_models),
            "to_law": {model: _plain(value) for model, value in self.to_law.items()},
            "to_law_half_size": {model: _plain(value) for model, value in self.half_to_law.items()},
            "outlier": {
                "measured": _plain_estimate(self.outlier.measured),
                "predicted": _plain_estimate(self.outlier.predicted),
                "relative_difference": _plain_estimate(self.outlier.relative_difference),
                "expected_bias": finite(self.outlier.expected_bias),
            },
            "checks": [
                {
                    "name": check.name,
                    "value": finite(check.value),
                    "threshold": finite(check.threshold),
                    "origin": check.origin,
                    "holds": check.holds,
                }
                for check in self.checks
            ],
            "holds": self.holds,
            "provenance": sample.provenance,
        }


def verify(
    layer: AttentionLayer,
    *,
    replicates: int = 10,
    seed: int = 0,
    workers: int = 1,
    progress: Progress | None = None,
) -> VerifyReport:
    """Draw the output of a layer by softmax and by its Gaussian equivalent and compare both with the limiting law.

    Parameters
    ----------
    layer : AttentionLayer
        If it has no limiting law, the two simulations are still compared with each other.
    replicates : int
        Draws, ≥ 2 because intervals come from their spread; the half-size layer gets as many.
    seed, workers
        As in :func:`rmt_attention.sample_spectrum`.
    progress : callable, optional
        Called as progress(stage, done, total).

    Raises
    ------
    ValueError
        For fewer than two replicates, a layer too small to halve, or arguments that sample_spectrum refuses.
    """
    if isinstance(replicates, bool) or not isinstance(replicates, int) or replicates < 2:
        raise ValueError(f"replicates={replicates!r}: must be an integer ≥ 2, intervals come from their spread")
    half = half_size(layer)
    law, refused = _law_or_reason(layer)
    models = ("softmax", "gaussian")

    def stage(name: str) -> Callable[[int, int], None] | None:
        return None if progress is None else lambda done, total: progress(name, done, total)

    full_samples = sample_spectrum(
        layer, "output", models, replicates=replicates, seed=seed, workers=workers, progress=stage("full size")
    )
    half_samples = sample_spectrum(
        half,
        "output",
        models,
        replicates=replicates,
        seed=np.random.SeedSequence(seed, spawn_key=(1,)),  # independent of the full size
        workers=workers,
        progress=stage("half size"),
    )
    outlier = compare_outlier(layer, replicates=replicates, seed=seed, progress=stage("outlier"))
    scales = [_scale(layer, full_samples), _scale(half, half_samples)]
    pair = compare(full_samples["softmax"], full_samples["gaussian"], scale=scales[0])
    half_pair = compare(half_samples["softmax"], half_samples["gaussian"], scale=scales[1])
    to_law, half_to_law = {}, {}
    checks = _shrinking_checks(pair, half_pair, half.n_tokens)
    if law is not None:
        half_law = limit_law(half)
        for model in models:
            to_law[model] = compare(full_samples[model], law)
            half_to_law[model] = compare(half_samples[model], half_law)
            checks.append(_extrapolation_check(model, to_law[model], half_to_law[model], layer, half.n_tokens))
        checks.append(_mean_check(layer, law, to_law["gaussian"]))
    checks.append(_outlier_check(outlier))
    return VerifyReport(
        layer, half, law, refused, full_samples, pair, half_pair, to_law, half_to_law, outlier, tuple(checks)
    )


def half_size(layer: AttentionLayer) -> AttentionLayer:
    """The layer with n and every width halved, rounded; its ratios are those of the layer up to that rounding."""
    smallest = min(layer.n_tokens // 2, *(min(head.d_key, head.d_value) for head in layer.heads), layer.d_out)
    if smallest < 2:
        raise ValueError(
            f"n_tokens={layer.n_tokens}, heads={layer.heads[0]}, d_out={layer.d_out}:"
            " every width must be ≥ 2 and n_tokens ≥ 4, so that the layer can be drawn at half size"
        )
    n = layer.n_tokens // 2
    heads = [Head(head.d_key // 2, head.d_value // 2, head.beta) for head in layer.heads]
    d_model = max(layer.d_model // 2, n) if isinstance(layer.inputs, Orthonormal) else layer.d_model // 2
    groups = {name: getattr(layer, name) for name in ("query_groups", "key_groups", "value_groups", "output_groups")}
    return layer.replace(n_tokens=n, d_model=d_model, heads=heads, d_out=layer.d_out // 2, **groups)


def _law_or_reason(layer: AttentionLayer) -> tuple[SpectralLaw | None, str]:
    try:
        return limit_law(layer), ""
    except UnsupportedLayerError as error:
        return None, str(error)


def _scale(layer: AttentionLayer, samples: dict[str, SpectrumSample]) -> float:
    """Mean of the limiting law, or of the Gaussian equivalent's spectra where there is no law."""
    law, _ = _law_or_reason(layer)
    return law.mean if law is not None else samples["gaussian"].estimate(lambda one: one.mean).value


def _shrinking_checks(pair: Comparison, half_pair: Comparison, half_n: int) -> list[Check]:
    origin = f"the same at n = {half_n}"
    return [
        Check("softmax to gaussian, relative W1", pair.relative_w1.value, half_pair.relative_w1.value, origin),
        Check("softmax to gaussian, KS", pair.ks.value, half_pair.ks.value, origin),
    ]


def extrapolate(full: Estimate, half: Estimate, n: int, half_n: int) -> Estimate:
    """Value at 1/n = 0 of the line through independent estimates at n and half_n, with its standard error."""
    weight, other = n / (n - half_n), half_n / (n - half_n)
    error = math.hypot(weight * full.standard_error, other * half.standard_error)
    return Estimate(weight * full.value - other * half.value, error, min(full.replicates, half.replicates))


def next_order(layer: AttentionLayer) -> float:
    """Relative size of what softmax adds beyond 1/n to its difference from the law: min(1/2, E f⁴/(θ1² n)).

    E f⁴ = e^{6β²} − 4e^{3β²} + 6e^{β²} − 3 is the fourth moment of f(χ) = e^{βχ−β²/2} − 1, whose excess decays only
    once n is large against E f⁴/θ1² (114 at β = 1, 10⁴ at β = 1.5). The cap keeps a constant difference from passing.
    (model.exponential)
    """
    growth = math.exp(min(layer.theta2, 100.0))
    fourth = growth**6 - 4 * growth**3 + 6 * growth - 3
    return min(0.5, fourth / ((growth - 1) ** 2 * layer.n_tokens))


def _extrapolation_check(model: str, full: Comparison, half: Comparison, layer: AttentionLayer, half_n: int) -> Check:
    """Largest |difference of w(λ) from the law| at 1/n → 0, in units of its own bound over all ridges."""
    count = len(full.degrees_of_freedom)
    quantile = float(stdtrit(full.ks.replicates - 1, 1 - FALSE_ALARM / (2 * count)))
    share = next_order(layer) if model == "softmax" else 0.0
    worst, worst_bound = 0.0, math.inf
    for row, half_row in zip(full.degrees_of_freedom, half.degrees_of_freedom, strict=True):
        limit = extrapolate(row.difference, half_row.difference, layer.n_tokens, half_n)
        allowed = quantile * limit.standard_error + share * abs(row.difference.value)
        if abs(limit.value) * worst_bound >= worst * allowed:
            worst, worst_bound = abs(limit.value), allowed
    origin = f"draws at n = {layer.n_tokens}, {half_n}; worst of {count} ridges"
    if share:
        origin += f", + {100 * share:.0f} %"
    return Check(f"{model} to law, |w(λ) difference| at n → ∞", worst, worst_bound, origin)


def exact_mean_factor(layer: AttentionLayer) -> float:
    """Exact mean of the Gaussian equivalent's output spectrum over the limiting mean.

    1 for values independent of keys; for W^V = W^K the part h θ2/γ_K of the mean carries a factor 1 + 1/n.
    """
    if layer.key_value_correlation != 1:
        return 1.0
    tied_part = layer.n_heads * layer.theta2 / layer.gamma_key
    return 1 + tied_part / ((layer.theta1 + tied_part) * layer.n_tokens)


def _mean_check(layer: AttentionLayer, law: SpectralLaw, comparison: Comparison) -> Check:
    difference = comparison.mean_difference
    exact = law.mean / comparison.scale * (exact_mean_factor(layer) - 1)
    return Check(
        "gaussian mean to its exact value, relative",
        abs(difference.value - exact),
        difference.half_width(1 - FALSE_ALARM),
        "draws",
    )


def _outlier_check(outlier: OutlierComparison) -> Check:
    return Check(
        "s₁/√d_out to ‖1ᵀ[V]W^O‖/√(n d_out), relative",
        abs(outlier.relative_difference.value),
        outlier.expected_bias + outlier.relative_difference.half_width(1 - FALSE_ALARM),
        f"second-order bias {outlier.expected_bias:.4f} + draws",
    )


def finite(number: float) -> float | None:
    """The number, or None for what JSON cannot hold."""
    return number if math.isfinite(number) else None


def _plain_estimate(estimate: Estimate) -> dict[str, float | int | None]:
    return {
        "value": finite(estimate.value),
        "standard_error": finite(estimate.standard_error),
        "half_width_95": finite(estimate.half_width()),
        "replicates": estimate.replicates,
    }


def _plain(comparison: Comparison) -> dict[str, object]:
    return {
        "scale": comparison.scale,
        "relative_w1": _plain_estimate(comparison.relative_w1),
        "ks": _plain_estimate(comparison.ks),
        "mean_difference": _plain_estimate(comparison.mean_difference),
        "degrees_of_freedom": [
            {
                "ridge": row.ridge,
                "sample": _plain_estimate(row.sample),
                "reference": row.reference,
                "difference": _plain_estimate(row.difference),
            }
            for row in comparison.degrees_of_freedom
        ],
    }
