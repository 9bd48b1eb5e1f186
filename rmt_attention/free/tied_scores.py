"""The law of the row covariance of attention scores times their own keys, with an explicit curve in one parameter."""

from __future__ import annotations

from functools import partial

import numpy as np

from .jets import Jet
from .nodes import EPS, Array, Link, Node, Point, Trace, angle

__all__ = ["TiedScores"]


def _ratio(s: Array, zero: float, pole: float, bends: bool) -> Jet:
    """(s − zero)/(s − pole)."""
    inverse = 1 / (s - pole)
    slope = (zero - pole) * inverse * inverse
    return Jet((s - zero) * inverse, slope, -2 * slope * inverse if bends else None)


class TiedScores(Node):
    """Law of φ(x) = excess · x + (θ2/a) x², x of the free Poisson law of jump 1 and rate a. (free.tied)

    The parameter is s = θ2 (1/q_end − 1/q), where q is that of the tied laws and q_end its value at z = 0: s ≈ z far
    out, s → 0 with z, and all functions on the curve are products of Möbius maps of s.

    Of the roots x of φ(x) = z one is in the upper half-plane with z, one on the other side of −a·excess/(2 θ2), and the
    branch is the one with both outside the circle that stands for the key spectrum.
    """

    leaves, sharp = 1, True
    _F: tuple[float, float]  # zeros of F and of 1 + u
    _u: tuple[float, float]

    def __init__(self, excess: float, theta2: float, rate: float) -> None:
        self.excess, self.theta2, self.rate = excess, theta2, rate
        a, e = rate, rate * (excess / theta2)
        self.mean = theta2 * (1 + a + e)
        self.variance = theta2**2 * ((1 + 5 * a + 4 * a * a + 2 * e * (1 + 2 * a) + e * e) / a)
        bottom, top = (1 - a**0.5) ** 2 if a > 1 else 0.0, (1 + a**0.5) ** 2
        self.low, self.high = theta2 / a * bottom * (bottom + e), theta2 / a * top * (top + e)
        self.marks, self.nonzero_mass = ((0.0, 1 - a),) if a <= 1 else (), min(a, 1.0)
        self._places(min(a, 1 / a), min(a, 1.0) * (excess / theta2))
        self._turn = theta2 * (2 * (1 + a) + e)

    def _places(self, c: float, e: float) -> None:
        """Zeros and poles in s, from c the smaller of a and 1/a and e that of a, over a if a > 1; nothing cancels."""
        k, root = 1 + c + e, ((1 - c) ** 2 + 2 * (1 + c) * e + e * e) ** 0.5
        end, beyond = (k + root) / (2 * c), (1 - c + e + root) / (2 * c)  # 1/q_end and 1/q_end − 1
        self._infinity, self._outer, self._inner = (self.theta2 * x for x in (end, end + 1, beyond))  # q = ∞, −1, 1
        self._nothing = self._inner + self.theta2 * (e / k)  # R = 0
        first = (0.0, self.theta2 * (root / c))
        second = (self.theta2 * end * (1 - c), self.theta2 * (k * (1 - c) + root * (1 + c)) / (2 * c))
        self._F, self._u = (first, second) if self.rate <= 1 else (second, first)
        self._zero = first[1]
        self._start = self._infinity + 2 * self._outer - sum(first) - sum(second)
        # where δ = −√a, the lower end of the keys
        r = c**0.5
        g = (2 * (1 - r) ** 2 + e) / r
        size = g / 2 + (g + g * g / 4) ** 0.5
        rest = beyond + size / (1 + size)
        gap = (1 - r) / c * (e * end + (1 - r + 2 * c) * beyond - 2 * r * (1 - r))
        self._bottom, self._steepness = (self.theta2 * (gap / rest), self.theta2 * rest), g + 4

    def at(self, trace: Trace, row: int, sheet: int) -> Point:
        s, bends = trace.parameters[row], trace.bends
        (first, second), (third, fourth) = self._F, self._u
        near = Jet.parameter(s - first, bends)
        half = _ratio(s, second, self._outer, bends)
        F = near * half * _ratio(s, self._inner, self._infinity, bends)
        z = near * half * _ratio(s, third, self._infinity, bends) * _ratio(s, fourth, self._outer, bends)
        R = _ratio(s, first, self._outer, bends) * half * _ratio(s, self._nothing, self._infinity, bends)
        V = _ratio(s, 0.0, self._outer, bends) * _ratio(s, self._zero, self._inner, bends)
        trace.links.append(Link(True, sheet, F, z, own=True))
        trace.evidence.append((row, partial(self._on_sheet, s, sheet)))
        return Point(F, R.affine(self.mean), z, V.affine(self.nonzero_mass), 8 * EPS * np.abs(z.value))

    def _on_sheet(self, s: Array, sheet: int, error: Array) -> tuple[Array, Array]:
        """Whether the roots x = δ + 1 + a + a/δ of φ(x) = z have |δ| ≥ √a, in the upper half-plane and outside.

        η = 1 + δ/√a has its digits where the keys end next to 0.
        """
        one, two = self._bottom
        half = _ratio(s, self._infinity, self._outer, False).affine(-self._steepness / 2, 1.0)  # of the sum of both η
        product = (Jet.parameter(s - one, False) * _ratio(s, two, self._outer, False)).affine(-1 / self.theta2)
        root = np.sqrt(half.value**2 - product.value)
        far = half.value + np.where((half.value * root.conj()).real < 0, -root, root)
        eta = np.array([far, product.value / far])
        eta = np.where((eta + 1 / (eta - 1)).real.argmax(0) == 0, eta, eta[::-1])  # Im x ≥ 0 first
        slope = (2 * half.slope * eta - product.slope) / (2 * (eta - half.value))
        rounding = 1 + (np.abs(half.value) ** 2 + np.abs(product.value)) / np.abs(root * far)
        loss = error * np.abs(slope) + 8 * EPS * rounding * np.abs(eta)
        beyond = np.abs(eta) ** 2 - 2 * eta.real  # |δ|²/a − 1
        fits = beyond >= -8 * loss * np.abs(eta - 1)
        return (sheet * eta[0].imag > 3 * loss[0]) & fits[0] & (beyond[1] > 0), fits.all(0)

    def start(self, z: Array, out: Array, row: int) -> None:
        out[row] = z - self._start

    def argument(self, trace: Trace, row: int, sheet: int) -> tuple[Array, Point]:
        point = self.at(trace, row, sheet)
        s, a = trace.parameters[row], self.rate
        beyond = s - self._outer
        turned = sum(angle(sheet, s - zero) for zero in self._F) - angle(sheet, beyond)
        rest = a * angle(sheet, s - self._infinity) + (self._turn / beyond).imag
        return (1 - a) * turned + rest, point

    def scales(self) -> list[tuple[float, float]]:
        return [(self._outer, 6 * self.variance**0.5)]
