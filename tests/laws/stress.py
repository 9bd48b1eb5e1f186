"""Parameter sets that are hard for a law engine, from a seed: three strata of equal size.

* ``log-uniform``: β, heads and ratios independent over their ranges;
* ``tie``: some of {1, heads, gamma_key, gamma_value, gamma_out} exactly equal;
* ``near``: within 10^−U(2,10) of a tie, or of the γ_K at which two intervals of the support merge.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import reduce
from operator import mul

import numpy as np

from rmt_attention import laws

FAMILIES = {
    "attention": ("heads", "gamma_key"),
    "values": ("heads", "gamma_key", "gamma_value"),
    "output": ("heads", "gamma_key", "gamma_value", "gamma_out"),
    "tied_values": ("heads", "gamma_key"),
    "tied_output": ("heads", "gamma_key", "gamma_out"),
}
_SHARES = {"attention": 0.2, "values": 0.15, "output": 0.35, "tied_values": 0.1, "tied_output": 0.2}
STRATA = ("log-uniform", "tie", "near")


@dataclass(frozen=True)
class StressSet:
    """One law of the stress set."""

    stratum: str
    family: str
    beta: float
    ratios: tuple[tuple[str, float], ...]

    def law(self) -> laws.SpectralLaw:
        return getattr(laws, f"{self.family}_law")(self.beta, **dict(self.ratios))

    def ridges(self) -> tuple[float, ...]:
        """λ from 1e-14 up, three decades or more apart."""
        return (1e-14, 1e-10, 1e-6, 1e-3, 1.0, 1e4)


def generate(count: int, seed: int) -> list[StressSet]:
    """``count`` sets, the strata in turn."""
    rng = np.random.default_rng(seed)
    return [_draw(rng, STRATA[index % 3]) for index in range(count)]


def _draw(rng: np.random.Generator, stratum: str) -> StressSet:
    family = str(rng.choice(list(_SHARES), p=list(_SHARES.values())))
    beta = float(np.exp(rng.uniform(np.log(0.05), np.log(2.5))))
    values = {name: float(np.exp(rng.uniform(np.log(0.03), np.log(30)))) for name in FAMILIES[family]}
    heads = float(np.exp(rng.uniform(0, np.log(128))))
    values["heads"] = float(round(heads)) if rng.random() < 0.5 else heads
    if stratum == "tie" or (stratum == "near" and rng.random() < 0.5):
        tied = _tie(rng, values)
        if stratum == "near":
            for name in tied:
                shift = 10 ** -rng.uniform(2, 10) * (1 if name == "heads" else rng.choice([-1, 1]))
                values[name] *= 1 + float(shift)
    elif stratum == "near":
        values["gamma_key"] = _merging_gamma_key(rng, family, beta, values)
        values["gamma_key"] *= 1 + float(rng.choice([-1, 1]) * 10 ** -rng.uniform(2, 10))
    return StressSet(stratum, family, beta, tuple(values.items()))


def _tie(rng: np.random.Generator, values: dict[str, float]) -> list[str]:
    """Make a random subset of {1, the ratios} equal; the names that were changed."""
    names = ["one", *values]
    size = int(rng.integers(2, len(names) + 1))
    chosen = list(rng.choice(names, size=size, replace=False))
    common = 1.0 if "one" in chosen else values[chosen[0]] if "heads" not in chosen else values["heads"]
    for name in chosen:
        if name != "one":
            values[name] = common
    return [name for name in chosen if name != "one"]


def _n_real_critical(family: str, beta: float, values: dict[str, float]) -> int:
    """Number of real critical points of the family's rational curve λ(p), from plain polynomials in p."""
    theta2 = beta * beta
    theta1 = math.expm1(theta2)
    h, t = values["heads"], values["gamma_key"]
    widths = [1.0, h] + [values[name] for name in ("gamma_value", "gamma_out") if name in values]
    if family.startswith("tied"):
        a = t / h
        k = 1 + a + a * (theta1 - theta2) / theta2
        top, bottom = h * np.poly1d([-(1 + a), k, 0]), np.poly1d([-1.0, 0, 1])
        scale = np.poly1d([1.0, 1]), np.poly1d([-1.0, 1, 0])
        widths.append(t)
    else:
        c = theta2 / theta1
        bottom = np.poly1d([c / t, 1])
        top = (1 - c) * np.poly1d([1.0, 0]) * bottom + c * np.poly1d([1.0, 0])
        scale = np.poly1d([1.0]), np.poly1d([1.0, 0])
    wronskian = top.deriv() * bottom - top * bottom.deriv()
    distinct = sorted(set(widths))
    total = scale[0] * bottom * reduce(mul, [a * bottom - top for a in distinct])
    for a in distinct:
        others = reduce(mul, [b * bottom - top for b in distinct if b != a], np.poly1d([1.0]))
        total = total + widths.count(a) * scale[1] * wronskian * others
    roots = total.roots
    return int((np.abs(roots.imag) < 1e-6 * np.abs(roots)).sum())


def _merging_gamma_key(rng: np.random.Generator, family: str, beta: float, values: dict[str, float]) -> float:
    """A γ_K at which the number of real critical points changes: two of them meet there."""
    grid = np.exp(np.linspace(np.log(0.01), np.log(3), 40))
    counts = [_n_real_critical(family, beta, {**values, "gamma_key": g}) for g in grid]
    changes = np.flatnonzero(np.diff(counts))
    if not changes.size:
        return float(values["gamma_key"])
    index = int(rng.choice(changes))
    low, high, at_low = grid[index], grid[index + 1], counts[index]
    for _ in range(60):
        middle = np.sqrt(low * high)
        if _n_real_critical(family, beta, {**values, "gamma_key": middle}) == at_low:
            low = middle
        else:
            high = middle
    return float(np.sqrt(low * high))
