"""The laws from which expressions start: atoms, free Poisson, Marchenko–Pastur and semicircle laws."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..spectra import check_numbers, check_positive, shown
from . import algebra
from .free_law import FreeLaw
from .leaves import Atomic, FreePoisson, Semicircle

__all__ = ["atoms", "compound_poisson", "free_poisson", "marchenko_pastur", "semicircle"]

_MOST_ATOMS = 2000
_LARGEST = 1e100  # size of a location: its third power is a double


def _location(name: str, value: Any) -> float:
    """A number of at most 1e100 in size; ValueError otherwise."""
    number = check_numbers(name, value)
    if number.shape != () or not abs(number) <= _LARGEST:
        raise ValueError(f"{name}={shown(value)}: must be one number of at most {_LARGEST:g} in size")
    return float(number)


def _size(name: str, value: Any) -> float:
    """A number from 1e-100 to 1e100; ValueError otherwise."""
    check_positive(name, value)
    if not 1 / _LARGEST <= value <= _LARGEST:
        raise ValueError(f"{name}={shown(value)}: must be from {1 / _LARGEST:g} to {_LARGEST:g}")
    return float(value)


def atoms(locations: ArrayLike, weights: ArrayLike | None = None) -> FreeLaw:
    """Σ w_i δ_{x_i}: the law of a matrix with eigenvalues x_i, a share w_i each.

    Parameters
    ----------
    locations
        At most 2000 numbers of at most 1e100 in size; equal ones are one.
    weights
        As many numbers ≥ 0 that sum to 1; equal ones if not given.

    Raises
    ------
    ValueError
        A location or weight that is not as above.

    Examples
    --------
    >>> from rmt_attention import free
    >>> law = free.atoms([1, 3, 10], [0.2, 0.4, 0.4]) @ free.marchenko_pastur(0.1)
    >>> [(round(low, 6), round(high, 6)) for low, high in law.support]
    [(0.652075, 1.176672), (1.828955, 4.121077), (6.614968, 14.581808)]
    """
    x = check_numbers("locations", locations).ravel()
    if not 0 < x.size <= _MOST_ATOMS:
        raise ValueError(f"locations: {x.size} given, must be from 1 to {_MOST_ATOMS}")
    if (np.abs(x) > _LARGEST).any():
        raise ValueError(f"locations={float(x[np.abs(x) > _LARGEST][0])!r}: must be at most {_LARGEST:g} in size")
    if weights is None:
        share = np.full(x.shape, 1 / x.size)
    else:
        share = check_numbers("weights", weights, minimum=0.0).ravel()
        if share.shape != x.shape:
            raise ValueError(f"weights: {share.size} given for {x.size} locations")
        if not abs(share.sum() - 1) <= 1e-12:
            raise ValueError(f"weights: sum to {share.sum():.15g}, must sum to 1")
    kept = share > 0
    where, inverse = np.unique(x[kept], return_inverse=True)
    merged = np.bincount(inverse, share[kept] / math.fsum(share))
    text = ", ".join(f"{one:g}" for one in where[:4]) + (", …" if where.size > 4 else "")
    return FreeLaw(Atomic(where, merged), f"atoms({text})")


def free_poisson(rate: float, jump: float = 1.0) -> FreeLaw:
    """Free Poisson law π(δ_c, t) of rate t > 0 and jump c ≠ 0, with free cumulants t cᵏ. (free.poisson)

    Law of c G Gᵀ/n for a Gaussian n × tn matrix G; for t < 1 with an atom of mass 1 − t at 0.

    Examples
    --------
    >>> from rmt_attention import free
    >>> free.free_poisson(0.25).atoms
    (Atom(location=0.0, mass=0.75),)
    """
    c = _location("jump", jump)
    if c == 0:
        raise ValueError("jump=0: must not be 0")
    _size("jump", abs(c))
    law = FreePoisson(abs(c), _size("rate", rate), 0.0)
    return FreeLaw(algebra.affine(law, math.copysign(1.0, c), 0.0), f"Poisson({rate:g}, {c:g})")


def marchenko_pastur(ratio: float) -> FreeLaw:
    """Marchenko–Pastur law of mean one and variance y = ``ratio`` > 0: of G Gᵀ/m for a Gaussian n × m matrix, y = n/m.

    Support [(1 − √y)², (1 + √y)²]; for y > 1 an atom of mass 1 − 1/y at 0. S-transform 1/(1 + y u).

    Examples
    --------
    >>> from rmt_attention import free
    >>> law = free.marchenko_pastur(2.0)
    >>> law.atoms, float(law.cdf(0.0)), round(law.expectation(lambda x: 1.0 * (x > 0)), 12)
    ((Atom(location=0.0, mass=0.5),), 0.5, 0.5)
    """
    y = _size("ratio", ratio)
    return FreeLaw(FreePoisson(y, 1 / y, 0.0), f"MP({y:g})")


def semicircle(mean: float = 0.0, variance: float = 1.0) -> FreeLaw:
    """Semicircle law on mean ± 2√variance, of R-transform mean + variance·g.

    Law of a symmetric n × n matrix with independent entries of variance ``variance``/n, plus ``mean``.

    Examples
    --------
    >>> from rmt_attention import free
    >>> law = free.atoms([-1, 1]) + free.semicircle(variance=0.25)
    >>> [(round(low, 6), round(high, 6)) for low, high in law.support]
    [(-1.760173, -0.369009), (0.369009, 1.760173)]
    """
    m, v = _location("mean", mean), _size("variance", variance)
    return FreeLaw(Semicircle(m, v), f"semicircle({m:g}, {v:g})")


def compound_poisson(law: FreeLaw, rate: float) -> FreeLaw:
    """Compound free Poisson law π(μ, t), with free cumulants t ∫ xᵏ dμ. (free.compound)

    Law of G D Gᵀ/n for a Gaussian n × tn matrix G and a symmetric matrix D of law μ: n independent Gaussian rows of
    covariance D/n, if D ≥ 0.

    Examples
    --------
    >>> from rmt_attention import free
    >>> law = free.compound_poisson(free.atoms([-1, 2]), 0.5)
    >>> law.mean, law.variance, law.atoms
    (0.25, 1.25, (Atom(location=0.0, mass=0.5),))
    """
    if not isinstance(law, FreeLaw):
        raise ValueError(f"law={shown(law)}: must be a law of rmt_attention.free")
    return FreeLaw(algebra.compound(law.node, _size("rate", rate)), f"π({law.name}, {rate:g})")
