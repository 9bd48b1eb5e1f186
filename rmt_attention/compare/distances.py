"""Distances between two laws on [0, ∞), at least one of them empirical."""

from __future__ import annotations

import numpy as np

from ..laws import SpectralLaw
from ..spectra import EmpiricalLaw
from .tabulated import TabulatedCdf

_CELLS = 4  # parts of each gap between eigenvalues on which the limiting cdf is taken as linear

Reference = EmpiricalLaw | TabulatedCdf


def tabulate(law: SpectralLaw | EmpiricalLaw) -> Reference:
    """A form of the law that the distances below evaluate quickly."""
    return TabulatedCdf(law) if isinstance(law, SpectralLaw) else law


def wasserstein1(law: EmpiricalLaw, reference: Reference) -> float:
    """W1 = ∫ |F − G| dx.

    For two spectra of equal size this is the mean absolute difference of ordered eigenvalues, and is computed so.
    Against a limiting law the integral is taken exactly for G linear on quarters of the gaps between eigenvalues.
    """
    if isinstance(reference, EmpiricalLaw):
        if len(law) == len(reference):
            return float(np.abs(law.eigenvalues - reference.eigenvalues).mean())
        points = np.union1d(law.eigenvalues, reference.eigenvalues)
        return float((np.abs(law.cdf(points) - reference.cdf(points))[:-1] * np.diff(points)).sum())
    knots = np.unique(np.concatenate([[0.0], law.eigenvalues, reference.ends()]))
    parts = np.linspace(0, 1, _CELLS + 1)[:-1]
    points = np.append((knots[:-1, None] + np.diff(knots)[:, None] * parts).ravel(), knots[-1])
    difference = law.cdf(points)[:-1], reference(points)
    left, right = difference[1][:-1] - difference[0], difference[1][1:] - difference[0]
    width = np.diff(points)
    same_sign = left * right >= 0
    with np.errstate(divide="ignore", invalid="ignore"):
        crossing = (left**2 + right**2) / (np.abs(left) + np.abs(right)) / 2
    return float((width * np.where(same_sign, np.abs(left + right) / 2, crossing)).sum())


def kolmogorov_smirnov(law: EmpiricalLaw, reference: Reference) -> float:
    """sup_x |F(x) − G(x)|, taken on both sides of every jump, atoms compared as atoms."""
    if isinstance(reference, EmpiricalLaw):
        points = np.union1d(law.eigenvalues, reference.eigenvalues)
        return float(np.abs(law.cdf(points) - reference.cdf(points)).max())
    points, counts = np.unique(law.eigenvalues, return_counts=True)
    upper = np.cumsum(counts) / len(law)
    lower = upper - counts / len(law)
    limit = reference(points)
    before = np.where(points == 0, 0.0, limit)  # the limit is continuous except at 0
    at_zero = abs(float(law.cdf(0.0)) - float(reference(np.zeros(1))[0]))
    return float(max(np.abs(upper - limit).max(), np.abs(lower - before).max(), at_zero))
