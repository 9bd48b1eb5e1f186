"""What a law of the stress set gets wrong: relative errors by method, against closed forms and against mpmath."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np
from mpmath import mp

from rmt_attention.laws import SpectralLaw

from .stress import StressSet

SECONDS = "seconds"
LIMITS = {
    "mass": 1e-8,
    "mean": 1e-8,
    "second moment": 1e-8,
    "w by quadrature": 1e-8,
    "density below 0": 0.0,
    "density outside": 1e-8,
    "cdf of quantile": 1e-9,
    "quantile of cdf": 1e-8,
    "w": 1e-13,
    "1 − w/w(0)": 1e-13,
    "edges": 1e-12,
}
# Against 40 digits. Density 1e-6 from an edge: the edge is known to about 1e-15, so the density to 1e-9 of itself.
DIGITS_LIMITS = {
    "w": 1e-13,
    "1 − w/w(0)": 1e-13,
    "density": 1e-10,
    "density, 1e-6 from the top edge": 1e-8,
    "cdf": 1e-10,
    "quantile": 1e-12,
    "cauchy": 1e-12,
    "moments 1 to 8": 1e-13,
    "edges": 1e-12,
    "density, error over its estimate": 1.0,
}
LEVELS = np.array([1e-6, 1e-3, 0.03, 0.2, 0.5, 0.8, 0.97, 1 - 1e-3, 1 - 1e-6])
_EDGE_DIGITS = 60


def stress_errors(one: StressSet) -> dict[str, float]:
    """Errors of one set, and the time that double precision took."""
    start = time.perf_counter()
    law = one.law()
    errors = {**integral_errors(law), **shape_errors(law), **quantile_errors(law)}
    seconds = time.perf_counter() - start
    return {**errors, **ridge_errors(law, one.ridges()), "edges": edge_error(law), SECONDS: seconds}


def digits_errors(one: StressSet) -> dict[str, float]:
    """Every method in double precision against 40 digits, relative, and actual errors over those that it estimates."""
    law = one.law()
    precise = law.precise(40)
    atom = sum(part.mass for part in law.atoms)
    levels = atom + (1 - atom) * np.array([0.03, 0.4, 0.9])
    x = law.quantile(levels)
    top = law.edges[-1]
    near = top - 1e-6 * (top - law.support[-1][0])
    z = np.array([0.3 + 0.2j, 1.1 - 0.4j, 1e-6j]) * top
    density = [precise.density(one) for one in x]
    estimated = law.solve(x).density_error
    found = law.density(x)
    ratio = [abs(float(mp.mpf(float(a)) - b)) / c for a, b, c in zip(found, density, estimated, strict=True)]
    exact_edges = _joined(precise.edges)
    moments = range(1, 9)
    return {
        **ridge_errors(law, one.ridges()),
        "density": max(_relative(a, b) for a, b in zip(found, density, strict=True)),
        "density, 1e-6 from the top edge": _relative(float(law.density(near)), precise.density(near)),
        "cdf": max(_relative(float(law.cdf(one)), precise.cdf(one)) for one in x),
        "quantile": max(abs(float(precise.cdf(a) - mp.mpf(float(q)))) for a, q in zip(x, levels, strict=True)),
        "cauchy": max(_relative(complex(law.cauchy(one)), precise.cauchy(one)) for one in z),
        "moments 1 to 8": max(_relative(law.moment(k), precise.moment(k)) for k in moments),
        "edges": max(_relative(a, b) for a, b in zip(law.edges, exact_edges, strict=True)),
        "density, error over its estimate": max(ratio),
    }


def _joined(edges: tuple[Any, ...]) -> list[Any]:
    """Edges without the pairs closer than 1e-9 in log x, which count as a point where two intervals touch."""
    kept: list[Any] = []
    for edge in edges:
        if kept and abs(edge / kept[-1] - 1) < 1e-9:
            kept.pop()
        else:
            kept.append(edge)
    return kept


def integral_errors(law: SpectralLaw) -> dict[str, float]:
    """Quadrature of the density against closed forms, all relative."""
    ridge = 0.3 * law.mean
    return {
        "mass": abs(law.expectation(np.ones_like) - 1),
        "mean": abs(law.expectation(lambda x: x) / law.mean - 1),
        "second moment": abs(law.expectation(lambda x: x * x) / law.moment(2) - 1),
        "w by quadrature": abs(law.expectation(lambda x: x / (x + ridge)) / float(law.degrees_of_freedom(ridge)) - 1),
    }


def shape_errors(law: SpectralLaw) -> dict[str, float]:
    """How far the density is below 0 anywhere, and what is left of it just outside the support, over its largest value.

    Points crowd at the edges; outside, x·density is asked for through the Cauchy transform.
    """
    ends = law.support
    inside = [low + (high - low) * (1 - np.cos(np.linspace(0, np.pi, 41)[1:-1])) / 2 for low, high in ends]
    values = law.density(np.concatenate(inside))
    gaps = [(2 * ends[-1][1], ends[-1][1])] + ([(ends[0][0], ends[0][0] / 2)] if ends[0][0] > 0 else [])
    gaps += [(left[1], right[0]) for left, right in pairwise(ends)]
    outside = np.array([math.sqrt(a * b) for a, b in gaps])
    left_over = outside * np.abs(law.cauchy(outside).imag) / np.pi
    return {
        "density below 0": float(max(0.0, -values.min())),
        "density outside": float(left_over.max()),
    }


def quantile_errors(law: SpectralLaw) -> dict[str, float]:
    """|cdf(quantile(q)) − q| off the atom, and quantile(cdf(x)) against x, relative, where x f(x) > 1e-3."""
    atom = sum(one.mass for one in law.atoms)
    q = atom + (1 - atom) * LEVELS
    x = law.quantile(q)
    back = np.abs(law.cdf(x) - q).max()
    known = x * law.density(x) > 1e-3
    again = law.quantile(law.cdf(x[known])) / x[known] - 1
    return {"cdf of quantile": float(back), "quantile of cdf": float(np.abs(again).max(initial=0.0))}


def ridge_errors(law: SpectralLaw, ridges: Iterable[float]) -> dict[str, float]:
    """w and 1 − w/w(0) against 25 digits, relative, worst over the ridges."""
    precise, points = law.precise(25), np.array(list(ridges))
    w, complement = law.degrees_of_freedom(points), law.complement(points)
    return {
        "w": max(_relative(a, precise.degrees_of_freedom(b)) for a, b in zip(w, points, strict=True)),
        "1 − w/w(0)": max(_relative(a, precise.complement(b)) for a, b in zip(complement, points, strict=True)),
    }


def edge_error(law: SpectralLaw) -> float:
    """Edges against the critical value nearest to each, by secant steps on dλ/dp in mpmath from the edge's parameter.

    A point inside the support where two intervals touch, up to 1e-9, is no edge.
    """
    worst = 0.0
    with mp.workdps(_EDGE_DIGITS):
        curve = law._curve.precise()
        for interval in law._spectrum.intervals:
            for edge in (interval.low, interval.high):
                if edge is not None and edge.x * law._scale in law.edges:
                    p = _critical_point(curve, mp.mpf(edge.distance))
                    worst = max(worst, abs(float(mp.mpf(edge.x) / -curve.ridge(p) - 1)))
    return worst


def _critical_point(curve: Any, distance: Any) -> Any:
    """The zero of dlog λ/dp near p_end − distance, by secant steps in the distance until they are lost in it."""

    def slope(at: Any) -> Any:
        return curve.ridge_log_slope(curve.end - at)

    last, here = distance, distance * (1 + mp.mpf(10) ** -20)
    at_last, at_here = slope(last), slope(here)
    for _ in range(100):
        step = at_here * (here - last) / (at_here - at_last)
        last, at_last, here = here, at_here, here - step
        if abs(step) < abs(here) * mp.mpf(10) ** (-_EDGE_DIGITS // 2):
            return curve.end - here
        at_here = slope(here)
    raise ArithmeticError(f"no critical point found near a distance of {mp.nstr(distance, 6)} from the end")


def _relative(number: complex, reference: Any) -> float:
    with mp.workdps(50):
        return float(abs(mp.mpmathify(complex(number)) / reference - 1))
