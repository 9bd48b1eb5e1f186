"""Truncated Taylor series in one parameter: value, slope and, where asked for, bend (second derivative)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Jet", "where"]


@dataclass(frozen=True, slots=True)
class Jet:
    """f, f′ and f″ (or None) at the current parameter, arrays of one shape."""

    value: Any
    slope: Any
    bend: Any = None

    @staticmethod
    def parameter(value: Any, bends: bool) -> Jet:
        return Jet(value, np.ones_like(value), np.zeros_like(value) if bends else None)

    def __add__(self, other: Jet) -> Jet:
        bend = None if self.bend is None else self.bend + other.bend
        return Jet(self.value + other.value, self.slope + other.slope, bend)

    def __mul__(self, other: Jet) -> Jet:
        bend = None
        if self.bend is not None:
            bend = self.bend * other.value + 2 * self.slope * other.slope + self.value * other.bend
        return Jet(self.value * other.value, self.slope * other.value + self.value * other.slope, bend)

    def inverse(self) -> Jet:
        value = 1 / self.value
        rate = -self.slope * value
        bend = None if self.bend is None else value * (2 * rate * rate - self.bend * value)
        return Jet(value, value * rate, bend)

    def affine(self, factor: float, offset: float = 0.0) -> Jet:
        bend = None if self.bend is None else factor * self.bend
        return Jet(factor * self.value + offset if offset else factor * self.value, factor * self.slope, bend)

    def power(self, exponent: float) -> Jet:
        """Principal branch."""
        value = self.value**exponent
        rate = self.slope / self.value
        bend = None
        if self.bend is not None:
            bend = exponent * value * ((exponent - 1) * rate * rate + self.bend / self.value)
        return Jet(value, exponent * value * rate, bend)

    def moved(self, offset: Any, rate: Any, curvature: Any) -> Jet:
        """As a function of s, at t + offset: dt/ds = rate, d²t/ds² = curvature."""
        bend = None if self.bend is None else self.bend * rate * rate + self.slope * curvature
        return Jet(self.value + self.slope * offset, self.slope * rate, bend)


def where(condition: Any, one: Jet, other: Jet) -> Jet:
    """The one jet where the condition holds, else the other."""
    bend = None if one.bend is None else np.where(condition, one.bend, other.bend)
    return Jet(np.where(condition, one.value, other.value), np.where(condition, one.slope, other.slope), bend)
