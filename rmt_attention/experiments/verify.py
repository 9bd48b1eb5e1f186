"""The main job: softmax against its Gaussian equivalent against the limiting law, for one layer.

What is compared converges only as n grows, so a difference at one size is no failure and a small one no success. The
same layer is therefore drawn at half size (same ratios, same number of draws); verify_checks.py turns both into
verdicts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..compare import Comparison, OutlierComparison, compare, compare_outlier
from ..errors import UnsupportedLayerError
from ..inputs import Orthonormal
from ..laws import SpectralLaw
from ..layer import AttentionLayer, Head, check_layer
from ..limits import limit_law
from ..simulation import sample_spectrum
from ..spectra import Estimate, SpectrumSample
from .reporting import finite, plain_law
from .verify_checks import FAILED, HELD, UNDECIDED, Check, fall_checks, limit_check, mean_check, outlier_check

SCHEMA_VERSION = 1
Progress = Callable[[str, int, int], None]


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
    def verdict(self) -> str:
        """ "FAILED" if any check failed, else "undecided" if any is, else "held"."""
        verdicts = {check.verdict for check in self.checks}
        return next(name for name in (FAILED, UNDECIDED, HELD) if name in verdicts)

    def to_dict(self) -> dict[str, object]:
        """Plain data with a schema version: layers, distances with standard errors, checks, provenance."""
        sample = self.samples["softmax"]
        return {
            "schema": SCHEMA_VERSION,
            "kind": "verify",
            "layer": self.layer.to_dict(),
            "half_layer": self.half_layer.to_dict(),
            "observable": sample.observable,
            "seed": list(sample.seed),
            "draws": len(sample),
            "law": None if self.law is None else plain_law(self.law),
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
                    "verdict": check.verdict,
                }
                for check in self.checks
            ],
            "verdict": self.verdict,
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
    check_layer(layer)
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
    checks = fall_checks(pair, half_pair, layer, half.n_tokens)
    if law is not None:
        half_law = limit_law(half)
        for model in models:
            to_law[model] = compare(full_samples[model], law)
            half_to_law[model] = compare(half_samples[model], half_law)
            checks.append(limit_check(model, to_law[model], half_to_law[model], layer, half.n_tokens))
        checks.append(mean_check(layer, law, to_law["gaussian"]))
    checks.append(outlier_check(outlier))
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
