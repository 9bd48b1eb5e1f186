"""compare: how far a sample of spectra is from another one or from a law."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..laws import SpectralLaw
from ..limits import limit_law
from ..spectra import EmpiricalLaw, Estimate, SpectrumSample, check_numbers
from .distances import Reference, kolmogorov_smirnov, tabulate, wasserstein1

RIDGES_OVER_SCALE = (0.01, 0.05, 0.2, 1.0, 5.0)
"""Default ridges, in units of the scale: from the small eigenvalues to the second moment."""


@dataclass(frozen=True)
class RidgeDifference:
    """w(λ) of a sample and of the reference at one ridge, and their difference over replicates."""

    ridge: float
    sample: Estimate
    reference: float
    difference: Estimate


@dataclass(frozen=True)
class Comparison:
    """Distances of a sample from a reference; every entry is a mean over replicates with its standard error.

    ``relative_w1`` is W1/scale, ``ks`` the Kolmogorov–Smirnov distance, ``mean_difference`` the difference of first
    moments over scale.
    """

    scale: float
    relative_w1: Estimate
    ks: Estimate
    mean_difference: Estimate
    degrees_of_freedom: tuple[RidgeDifference, ...]


def compare(
    sample: SpectrumSample,
    reference: SpectrumSample | SpectralLaw,
    *,
    scale: float | None = None,
    ridges: ArrayLike | None = None,
) -> Comparison:
    """Distances between spectra of a layer and a reference.

    Parameters
    ----------
    sample : SpectrumSample
    reference : SpectrumSample or SpectralLaw
        A second sample is paired with the first replicate by replicate; drawn with the same seed it has the same
        weights, which is how Hayase and Karakida (2026), table D.2, compare softmax with its Gaussian equivalent.
    scale : float, optional
        Unit of W1 and of the default ridges. Default: the mean of the limiting law of the sample's layer.
    ridges : array_like, optional
        λ > 0 at which w(λ) = ∫ x/(x+λ) dν is compared. Default: 0.01, 0.05, 0.2, 1 and 5 times the scale.

    Raises
    ------
    ValueError
        If the samples differ in replicates or observable, or scale or ridges are not positive.
    UnsupportedLayerError
        If no scale is given and the layer has no limiting law.

    Notes
    -----
    W1 = ∫|F − G| dx; for two spectra of n eigenvalues the mean absolute difference of ordered eigenvalues. All n
    eigenvalues count, the largest and the zeros included. Standard errors are over replicates, never over eigenvalues.
    """
    if not isinstance(sample, SpectrumSample):
        raise ValueError(f"sample: must be a SpectrumSample, got {type(sample).__name__}")
    if isinstance(reference, SpectrumSample):
        if len(reference) != len(sample):
            raise ValueError(f"reference: has {len(reference)} replicates, the sample has {len(sample)}")
        if (reference.observable, reference.centered) != (sample.observable, sample.centered):
            raise ValueError(
                f"reference: observable {reference.observable!r} (centered={reference.centered}) cannot be compared"
                f" with {sample.observable!r} (centered={sample.centered})"
            )
    elif not isinstance(reference, SpectralLaw):
        raise ValueError(f"reference: must be a SpectrumSample or a SpectralLaw, got {type(reference).__name__}")
    if scale is None:
        scale = limit_law(sample.layer, sample.observable).mean
    if not 0 < scale < math.inf:
        raise ValueError(f"scale={scale!r}: must be finite and > 0")
    if ridges is None:
        ridges = scale * np.array(RIDGES_OVER_SCALE)
    penalties = np.atleast_1d(check_numbers("ridges", ridges))
    if not penalties.size:
        raise ValueError("ridges=[]: at least one is needed")
    if not (penalties > 0).all():
        raise ValueError(f"ridges={float(penalties.min())!r}: must be > 0")

    others: list[EmpiricalLaw] | list[Reference]
    if isinstance(reference, SpectrumSample):
        others = list(reference)
        means = [law.mean for law in reference]
        reference_w = np.array([law.degrees_of_freedom(penalties) for law in reference])
    else:
        others = [tabulate(reference)] * len(sample)
        means = [reference.mean] * len(sample)
        reference_w = np.tile(reference.degrees_of_freedom(penalties), (len(sample), 1))
    sample_w = np.array([law.degrees_of_freedom(penalties) for law in sample])
    pairs: list[tuple[EmpiricalLaw, Reference]] = list(zip(sample, others, strict=True))
    return Comparison(
        scale=scale,
        relative_w1=Estimate.from_values([wasserstein1(a, b) / scale for a, b in pairs]),
        ks=Estimate.from_values([kolmogorov_smirnov(a, b) for a, b in pairs]),
        mean_difference=Estimate.from_values([(a.mean - m) / scale for a, m in zip(sample, means, strict=True)]),
        degrees_of_freedom=tuple(
            RidgeDifference(
                float(ridge),
                Estimate.from_values(sample_w[:, column]),
                float(reference_w[:, column].mean()),
                Estimate.from_values(sample_w[:, column] - reference_w[:, column]),
            )
            for column, ridge in enumerate(penalties)
        ),
    )
