"""This package: free laws in double precision, and attention-type laws to any number of digits."""

from __future__ import annotations

from functools import reduce
from operator import matmul
from typing import Any

import numpy as np

from rmt_attention import free
from rmt_attention.laws import compound_poisson_law

PACKAGES = ("rmt-attention", "numpy")
SETTINGS = [{"settings": {}}, *({"settings": {"digits": n}, "points": 12} for n in (15, 20, 30, 40))]


def build(law: dict[str, Any]) -> free.FreeLaw:
    """The law as an expression."""
    factors = [free.marchenko_pastur(y) for y in law["variances"]]
    if law["kind"] == "atoms":
        factors.insert(0, free.atoms(law["locations"], law["weights"]))
    return reduce(matmul, factors)


def solve(law: dict[str, Any], x: np.ndarray, digits: int | None = None) -> tuple[Any, Any]:
    """Densities at x and the support; with ``digits`` densities as decimal strings and no support."""
    if digits is None:
        mine = build(law)
        return mine.density(x), mine.support
    if law["kind"] != "atoms":
        raise ValueError("digits: laws to any number of digits have atoms times one Marchenko-Pastur law")
    from mpmath import mp

    (ratio,) = law["variances"]
    precise = compound_poisson_law(law["locations"], ratio, law["weights"]).companion(ratio).precise(digits)
    return [mp.nstr(precise.density(float(one)), digits + 3) for one in x], None
