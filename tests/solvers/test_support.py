"""Edges: true ones kept, spurious candidates rejected, gaps followed until they close."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

from rmt_attention.laws import output_law
from rmt_attention.solvers.critical import CriticalValues

from ..laws.registry import build
from ..oracles import Independent, double_exponential, root_of_decreasing, thetas


def test_spurious_candidates_are_seen_and_rejected() -> None:
    law = output_law(1.0, 4, 0.1, 3, 5)
    candidates = np.exp(CriticalValues.of(law._curve).rim)
    # figures correct to the digits written; .0184 lies below the support and .7623 inside a bulk
    for spurious in (0.01840, 0.76234):
        assert np.abs(candidates / spurious - 1).min() < 3e-4
    assert law.edges == pytest.approx((0.2797, 12.452, 23.519, 112.94), rel=2e-4, abs=0)


class ClosingGap:
    """A law at the γ_K where its gap closes: x = m ∏(1 + u/a)/ζ, u = (1−c)ζ + cζ/(1 − cζ/γ_K), has a triple point."""

    def __init__(self, law: Independent, argument: float) -> None:
        self.law = law
        start = (mpf(law.gamma_key), mpf(argument))
        self.gamma_key, self.argument = mp.findroot(
            lambda t, zeta: (self.slope(t, zeta), mp.diff(lambda z: self.slope(t, z), zeta)), start
        )
        self.location = float(self._x(self.gamma_key, self.argument))

    def _u(self, t: Any, zeta: Any) -> tuple[Any, Any]:
        noise, theta2 = thetas(self.law.beta)
        c = theta2 / (noise + theta2)
        return (1 - c) * zeta + c * zeta / (1 - c * zeta / t), 1 - c + c / (1 - c * zeta / t) ** 2

    def slope(self, t: Any, zeta: Any) -> Any:
        """ζ dlog x/dζ"""
        u, derivative = self._u(t, zeta)
        return sum(zeta * derivative / (a + u) for a in self.law.widths) - 1

    def _x(self, t: Any, zeta: Any) -> Any:
        u, _ = self._u(t, zeta)
        result = self.law.mean() / zeta
        for a in self.law.widths:
            result *= 1 + u / a
        return result

    def relative_gap(self, t: Any) -> float:
        """Width of the gap over its location at a γ_K a little below."""
        curvature = mp.diff(lambda z: self.slope(self.gamma_key, z), self.argument, 2)
        shift = mp.sqrt(abs(2 * self.slope(t, self.argument) / curvature))
        sign = mp.sign(self.slope(t, self.argument))
        ends = []
        for side in (-1, 1):
            # sign·slope falls from the middle outwards, through 0 at a distance of about ``shift``
            distance = root_of_decreasing(
                lambda d, side=side: sign * self.slope(t, self.argument + side * d), 0, 2 * shift
            )
            ends.append(self._x(t, self.argument + side * distance))
        return float(abs(ends[1] - ends[0]) / min(ends))


# γ_K and ζ near the triple point
CLOSING = [
    ClosingGap(Independent(1.0, 4, 0.345), 2.3267),
    ClosingGap(Independent(1.0, 4, 0.2118, (3.0, 5.0)), 1.17),
    ClosingGap(Independent(0.8, 2.5, 0.1823, (0.7,)), 1.0),
]


@pytest.mark.parametrize("closing", CLOSING, ids=lambda closing: str(closing.law))
@pytest.mark.parametrize("digits", [2, 3, 4, 5])
def test_a_closing_gap_is_found_with_its_width(closing: ClosingGap, digits: int) -> None:
    t = float(closing.gamma_key * (1 - mpf(10) ** -digits))
    law = build(replace(closing.law, gamma_key=t))
    assert len(law.support) == 2
    (_, left), (right, _) = law.support
    # each end is a stationary value, accurate to a few ε in log x
    assert right / left - 1 == pytest.approx(closing.relative_gap(t), abs=2e-14, rel=1e-10)


@pytest.mark.parametrize("closing", CLOSING, ids=lambda closing: str(closing.law))
@pytest.mark.parametrize("digits", [1, 2, 3, 4, 5, 6, 8, 10])
def test_past_closing_there_is_no_spurious_gap(closing: ClosingGap, digits: int) -> None:
    law = build(replace(closing.law, gamma_key=float(closing.gamma_key * (1 + mpf(10) ** -digits))))
    widths = [right / left - 1 for (_, left), (right, _) in pairwise(law.support)]
    # at 1e-10 from closing the two critical points differ by rounding only; a gap of a few ε is the same as none
    assert all(width < 1e-13 for width in widths)
    if digits <= 6:
        assert widths == []


@pytest.mark.parametrize("closing", CLOSING, ids=lambda closing: str(closing.law))
@pytest.mark.parametrize("offset", [-1e-7, -1e-9, 0.0, 1e-9, 1e-7])
def test_at_closing_the_mass_is_whole_and_the_cdf_monotone(closing: ClosingGap, offset: float) -> None:
    law = build(replace(closing.law, gamma_key=float(closing.gamma_key * (1 + mpf(offset)))))
    ends = [law.support[0][0], closing.location, law.support[-1][1]]
    atom = sum(atom.mass for atom in law.atoms)
    total = sum(double_exponential(law.density, *piece, 1e-10) for piece in pairwise(ends))
    assert float(total[0]) + atom == pytest.approx(1, abs=1e-9)
    cdf = law.cdf(np.linspace(ends[0], ends[-1], 2001))
    assert (np.diff(cdf) >= -1e-13).all()
