"""Checks of the main job: what must hold as n grows, with thresholds from the draws or from a stated bias.

A check fails when the draws contradict it, at a false-alarm probability of 0.001 in Student's t. It is held only when
the draws could have told otherwise; with too few of them it is undecided.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.special import stdtrit

from ..compare import Comparison, OutlierComparison
from ..laws import SpectralLaw, output_law
from ..layer import AttentionLayer
from ..spectra import Estimate

HELD, UNDECIDED, FAILED = "held", "undecided", "FAILED"
FALSE_ALARM = 1e-3
"""Probability that one check fails although nothing is wrong."""
_EVIDENCE = 0.05  # a distance has fallen when the one-sided interval of this level says so
_SLOWEST = 0.25  # a distance that falls more slowly than n^{−1/4} does not count as falling


@dataclass(frozen=True)
class Check:
    """One line of the verdict: "FAILED" if value > threshold, else "held" if decisive, else "undecided"."""

    name: str
    value: float
    threshold: float
    origin: str
    decisive: bool

    @property
    def verdict(self) -> str:
        if not self.value <= self.threshold:
            return FAILED
        return HELD if self.decisive else UNDECIDED


def _quantile(probability: float, replicates: int) -> float:
    return float(stdtrit(replicates - 1, 1 - probability))


def fall_checks(pair: Comparison, half_pair: Comparison, layer: AttentionLayer, half_n: int) -> list[Check]:
    """W1 and KS between softmax and its Gaussian equivalent must fall from half size to full size.

    They fail if they fall more slowly than n^{−1/4} beyond the interval of their difference, and are decided once the
    draws show a fall at all.
    """
    share = (half_n / layer.n_tokens) ** _SLOWEST
    checks = []
    for name, full, half in (
        ("relative W1", pair.relative_w1, half_pair.relative_w1),
        ("KS", pair.ks, half_pair.ks),
    ):
        error = math.hypot(full.standard_error, half.standard_error)
        threshold = share * half.value + _quantile(FALSE_ALARM, full.replicates) * error
        fallen = full.value + _quantile(_EVIDENCE, full.replicates) * error <= half.value
        origin = f"{share:.2f} × the same at n = {half_n} ({half.value:.5f}) + draws"
        checks.append(Check(f"softmax to gaussian, {name}", full.value, threshold, origin, fallen))
    return checks


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


def other_law(layer: AttentionLayer) -> SpectralLaw:
    """A law the draws should be able to exclude: scores replaced by noise (γ_K → ∞), or for tied values no tie."""
    gamma_key = layer.gamma_key if layer.key_value_correlation else 1e12
    return output_law(layer.beta, layer.n_heads, gamma_key, layer.gamma_value, layer.gamma_out)


def limit_check(model: str, full: Comparison, half: Comparison, layer: AttentionLayer, half_n: int) -> Check:
    """The difference of w(λ) from the law must vanish when extrapolated linearly in 1/n, at every ridge.

    The worst ridge is shown. Decided if the threshold is below the distance, in w, of :func:`other_law`.
    """
    rows = full.degrees_of_freedom
    quantile = _quantile(FALSE_ALARM / (2 * len(rows)), full.ks.replicates)
    share = next_order(layer) if model == "softmax" else 0.0
    worst, worst_bound = 0.0, math.inf
    for row, half_row in zip(rows, half.degrees_of_freedom, strict=True):
        limit = extrapolate(row.difference, half_row.difference, layer.n_tokens, half_n)
        allowed = quantile * limit.standard_error + share * abs(row.difference.value)
        if abs(limit.value) * worst_bound >= worst * allowed:
            worst, worst_bound = abs(limit.value), allowed
    other = other_law(layer)
    apart = max(abs(float(other.degrees_of_freedom(row.ridge)) - row.reference) for row in rows)
    origin = f"draws at n = {layer.n_tokens}, {half_n}; worst of {len(rows)} ridges"
    if share:
        origin += f", + {100 * share:.0f} %"
    return Check(f"{model} to law, |w(λ) difference| at n → ∞", worst, worst_bound, origin, worst_bound < apart)


def exact_mean_factor(layer: AttentionLayer) -> float:
    """Exact mean of the Gaussian equivalent's output spectrum over the limiting mean.

    1 for values independent of keys; for W^V = W^K the part h θ2/γ_K of the mean carries a factor 1 + 1/n.
    """
    if layer.key_value_correlation != 1:
        return 1.0
    tied_part = layer.n_heads * layer.theta2 / layer.gamma_key
    return 1 + tied_part / ((layer.theta1 + tied_part) * layer.n_tokens)


def mean_check(layer: AttentionLayer, law: SpectralLaw, comparison: Comparison) -> Check:
    """The mean of the Gaussian equivalent must be its exact value at this n."""
    difference = comparison.mean_difference
    exact = law.mean / comparison.scale * (exact_mean_factor(layer) - 1)
    bound = difference.half_width(1 - FALSE_ALARM)
    name = "gaussian mean to its exact value, relative"
    return Check(name, abs(difference.value - exact), bound, "draws", bound < 1)


def outlier_check(outlier: OutlierComparison) -> Check:
    """The largest singular value of the uncentred output must be that of its common row, up to second order."""
    bound = outlier.expected_bias + outlier.relative_difference.half_width(1 - FALSE_ALARM)
    origin = f"second-order bias {outlier.expected_bias:.4f} + draws"
    name = "s₁/√d_out to ‖1ᵀ[V]W^O‖/√(n d_out), relative"
    return Check(name, abs(outlier.relative_difference.value), bound, origin, bound < 1)
