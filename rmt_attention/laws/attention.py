"""The explicit laws of multi-head attention as functions of real ratios. (derivations/02, 03)

heads and the ratios gamma_* may be any positive reals, so curves interpolate between layers. None of the laws is
normalised: means are θ1 (attention), γ_V θ1 (values), γ_O θ1 (output); tied: γ_K θ1 + h θ2 (values),
γ_O (θ1 + h θ2/γ_K) (output).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..heads import inverse_temperature
from ..spectra import check_numbers, check_positive
from .curves import CompoundCurve, IndependentCurve, TiedCurve
from .spectral_law import SpectralLaw

__all__ = [
    "attention_law",
    "compound_poisson_law",
    "output_law",
    "tied_output_law",
    "tied_values_law",
    "values_law",
]


def _positive(**values: Any) -> None:
    for name, value in values.items():
        check_positive(name, value)
        if name == "beta":
            inverse_temperature(name, value)


def attention_law(beta: float, heads: float, gamma_key: float) -> SpectralLaw:
    """Law of √(n/h) [A_1 − P, …, A_h − P]: ρ_{γ_K} ⊠ MP_{1/h}, mean θ1. (laws.attention)

    Source: Hayase and Karakida (2026), appendix C.1. With ``heads=1`` and γ_K G/h it is the law of the head average
    √(nh)(Ā − P) for G equal groups of keys.

    Examples
    --------
    >>> round(attention_law(1.0, 1, 1.0).edges[-1], 12)
    9.009542550375
    """
    _positive(beta=beta, heads=heads, gamma_key=gamma_key)
    name = f"attention (β={beta:g}, h={heads:g}, γ_K={gamma_key:g})"
    values = (beta, heads, gamma_key)
    return SpectralLaw(IndependentCurve(1.0, (1.0, heads), beta, gamma_key), name, family=("attention", values))


def values_law(beta: float, heads: float, gamma_key: float, gamma_value: float) -> SpectralLaw:
    """Law of [(A_r − P) V_r] for Gaussian values independent of keys: ν_{∞,h} ⊠ π_{γ_V}, mean γ_V θ1. (laws.values)

    Source: Hayase and Karakida (2026), theorem C.4.
    """
    _positive(beta=beta, heads=heads, gamma_key=gamma_key, gamma_value=gamma_value)
    name = f"values (β={beta:g}, h={heads:g}, γ_K={gamma_key:g}, γ_V={gamma_value:g})"
    curve = IndependentCurve(gamma_value, (1.0, heads, gamma_value), beta, gamma_key)
    return SpectralLaw(curve, name, family=("values", (beta, heads, gamma_key, gamma_value)))


def output_law(beta: float, heads: float, gamma_key: float, gamma_value: float, gamma_out: float) -> SpectralLaw:
    """Law of [(A_r − P) V_r] W^O: ν_{∞,h} ⊠ MP_{1/γ_V} ⊠ π_{γ_O}, mean γ_O θ1. (laws.output)

    Source: Hayase and Karakida (2026), theorem C.4 and equation (C.15).

    Examples
    --------
    >>> law = output_law(0.9, 3, 0.75, 1.25, 0.75)
    >>> round(float(law.degrees_of_freedom(0.3)), 12)
    0.403856398011
    >>> law.atoms
    (Atom(location=0.0, mass=0.25),)
    """
    _positive(beta=beta, heads=heads, gamma_key=gamma_key, gamma_value=gamma_value, gamma_out=gamma_out)
    name = f"output (β={beta:g}, h={heads:g}, γ_K={gamma_key:g}, γ_V={gamma_value:g}, γ_O={gamma_out:g})"
    widths = (1.0, heads, gamma_value, gamma_out)
    values = (beta, heads, gamma_key, gamma_value, gamma_out)
    return SpectralLaw(IndependentCurve(gamma_out, widths, beta, gamma_key), name, family=("output", values))


def tied_values_law(beta: float, heads: float, gamma_key: float) -> SpectralLaw:
    """Law of [(A_r − P) K_r] (W^V = W^K in each head): π(μ_KV, h), mean γ_K θ1 + h θ2. (laws.tied-values)

    μ_KV is the image of π_{γ_K/h} under x ↦ (θ1−θ2) x + (h θ2/γ_K) x².
    Source: Hayase and Karakida (2026), theorem C.7.
    """
    _positive(beta=beta, heads=heads, gamma_key=gamma_key)
    name = f"tied values (β={beta:g}, h={heads:g}, γ_K={gamma_key:g})"
    curve = TiedCurve(1.0, (1.0,), beta, heads, gamma_key)
    return SpectralLaw(curve, name, family=("tied values", (beta, heads, gamma_key)))


def tied_output_law(beta: float, heads: float, gamma_key: float, gamma_out: float) -> SpectralLaw:
    """Law of [(A_r − P) K_r] W^O: (π(μ_KV, h) ⊠ π_{γ_O})/γ_K, mean γ_O (θ1 + h θ2/γ_K). (laws.tied-output)

    Source: Hayase and Karakida (2026), equation (C.21); the explicit curve is derived in derivations/03-tied-laws.md.
    """
    _positive(beta=beta, heads=heads, gamma_key=gamma_key, gamma_out=gamma_out)
    name = f"tied output (β={beta:g}, h={heads:g}, γ_K={gamma_key:g}, γ_O={gamma_out:g})"
    curve = TiedCurve(gamma_out / gamma_key, (1.0, gamma_out), beta, heads, gamma_key)
    return SpectralLaw(curve, name, family=("tied output", (beta, heads, gamma_key, gamma_out)))


def compound_poisson_law(jumps: ArrayLike, rate: float, weights: ArrayLike | None = None) -> SpectralLaw:
    """Compound free Poisson law π(μ, t), free cumulants t ∫ y^q dμ(y), for an atomic jump law μ. (laws.compound)

    It is the limit of Z Σ Zᵀ, Z an n × d matrix of N(0, 1/n) entries, Σ with spectrum μ and d/n → t.

    Parameters
    ----------
    jumps : array_like
        Atoms of μ, ≥ 0; at least one positive.
    rate : float
        t > 0. A total rate of the positive jumps within 4 ε of 1 counts as 1, in every method: there the support starts
        at 0, and ratios such as 4/3 times weights such as 3/4 are meant to be there.
    weights : array_like, optional
        Weights of the atoms, summing to 1 up to rounding, which is divided out; equal by default.

    Source: Marchenko and Pastur (1967); support by Silverstein and Choi (1995).
    """
    _positive(rate=rate)
    atoms = check_numbers("jumps", jumps, minimum=0.0).ravel()
    if not atoms.size:
        raise ValueError("jumps=[]: at least one is needed")
    if np.isinf(atoms).any():
        raise ValueError("jumps=inf: must be finite")
    if weights is None:
        share = np.full(atoms.shape, 1 / atoms.size)
    else:
        share = check_numbers("weights", weights, minimum=0.0).ravel()
        if share.shape != atoms.shape:
            raise ValueError(f"weights: {share.size} given for {atoms.size} jumps")
        if abs(share.sum() - 1) > 1e-12:
            raise ValueError(f"weights: sum to {share.sum():.15g}, must sum to 1")
    kept = (atoms > 0) & (share > 0)
    if not kept.any():
        raise ValueError("jumps: all are zero; the law would be the point mass at 0")
    total = Fraction(float(rate)) * sum(map(Fraction, share[kept].tolist())) / sum(map(Fraction, share.tolist()))
    return SpectralLaw(CompoundCurve(atoms[kept], share[kept], total), f"compound free Poisson (t={rate:g})")
