"""Moments of a curve's law by Lagrange inversion, scaled so that nothing overflows on the way. (laws.moments)"""

from __future__ import annotations

import math

import numpy as np

from ..solvers.curve import Array, SpectralCurve

_LOG2 = math.log(2)
_LARGEST = math.log(np.finfo(float).max)


def curve_moment(curve: SpectralCurve, k: int, log_scale: float = 0.0) -> float:
    """∫ (scale·x)^k dν = (1/k) [ζ^{k−1}] u'(ζ) (scale·C ∏_b (1 + u/b))^k; inf if it exceeds the largest double.

    A coefficient of a power series with positive terms is at most its value at any ζ > 0 over ζ^{k−1}, and nearly as
    large where that is smallest. There, rounded to a power of two, both factors are divided by their values.
    """
    series, widths, log_unit = curve.cumulant_series(k)
    orders = np.arange(1, k + 1)
    exponent = _saddle(series, widths, orders)
    terms = np.ldexp(series, exponent * orders)
    factor = np.zeros(k)
    factor[0] = 1.0
    for width in widths:
        one_more = np.concatenate([[1.0], terms[:-1] / width])
        factor = np.convolve(factor, one_more)[:k]
    size = float(factor.sum())
    power = np.zeros(k)
    power[0] = 1.0
    for _ in range(k):
        power = np.convolve(power, factor / size)[:k]
    coefficient = float(np.convolve(terms * orders, power)[k - 1]) / k
    log_unit += curve.log_constant + log_scale + math.log(size) - exponent * _LOG2
    if abs(k * log_unit) < 700:
        return coefficient * math.exp(k * log_unit)
    logarithm = math.log(coefficient) + k * log_unit
    return math.exp(logarithm) if logarithm < _LARGEST else math.inf


def _saddle(series: Array, widths: tuple[float, ...], orders: Array) -> int:
    """The largest exponent e of 2 for which ζu'(ζ) ∏_b (1 + u(ζ)/b)^k/ζ^k, ζ = 2^e, is smallest up to a factor of 2.

    Its logarithm is convex in e; for k = 1 it is level towards ζ = 0.
    """
    with np.errstate(divide="ignore"):
        logs = np.log(series)

    def height(exponents: Array) -> Array:
        terms = logs + exponents[:, None] * _LOG2 * orders
        u = np.logaddexp.reduce(terms, axis=1)
        slope = np.logaddexp.reduce(terms + np.log(orders), axis=1)
        total = slope - orders[-1] * exponents * _LOG2
        for width in widths:
            total = total + orders[-1] * np.logaddexp(0.0, u - math.log(width))
        return np.asarray(total)

    def lowest(exponents: Array) -> int:
        heights = height(exponents)
        return int(exponents[np.flatnonzero(heights <= heights.min() + _LOG2)[-1]])

    centre = lowest(np.arange(-1088, 1089, 64))
    return lowest(np.arange(centre - 64, centre + 65))
