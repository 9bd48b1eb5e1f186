"""Operations on expressions, brought to the form with the fewest equations.

Point masses, dilations and shifts are pulled out; free Poisson and semicircle laws of a sum are merged or become noise
on the rest; a product with a free Poisson law is a compound Poisson law, ν ⊠ π(δ_c, t) = t π(c t ν, 1/t) + (1 − t) δ_0
(free.part); powers of infinitely divisible laws are laws of the same kind.
"""

from __future__ import annotations

import numpy as np

from .convolutions import Product, Sum
from .leaves import Atomic, FreePoisson, Semicircle
from .nodes import EPS, Node
from .operations import AdditivePower, Affine, CompoundPoisson, MultiplicativePower, Noisy, Part
from .tied_scores import TiedScores

__all__ = ["add", "additive_power", "affine", "compound", "multiplicative_power", "multiply", "part", "point"]

_ROUNDING = 4 * EPS  # by which products of shares of a law miss 1


def point(x: float) -> Node:
    """δ_x."""
    return Atomic(np.array([x]), np.ones(1))


def _location(node: Node) -> float | None:
    """x of δ_x."""
    return float(node.locations[0]) if isinstance(node, Atomic) and node.locations.size == 1 else None


def affine(node: Node, factor: float, offset: float) -> Node:
    """Law of factor · x + offset."""
    if factor == 0:
        return point(offset)
    if factor == 1 and offset == 0:
        return node
    if isinstance(node, Atomic):
        order = np.argsort(factor * node.locations)
        return Atomic((factor * node.locations + offset)[order], node.weights[order])
    if isinstance(node, Semicircle):
        return Semicircle(factor * node.mean + offset, factor**2 * node.variance)
    if isinstance(node, FreePoisson) and factor > 0:
        return FreePoisson(factor * node.jump, node.rate, factor * node.shift + offset)
    if isinstance(node, TiedScores) and factor > 0 and offset == 0:
        return TiedScores(factor * node.excess, factor * node.theta2, node.rate)
    if isinstance(node, Affine):
        return affine(node.child, factor * node.factor, factor * node.offset + offset)
    return Affine(node, factor, offset)


def _apart(node: Node) -> tuple[Node, float]:
    """A law without its shift, and the shift."""
    if isinstance(node, Affine) and node.offset:
        return affine(node.child, node.factor, 0.0), node.offset
    if isinstance(node, FreePoisson) and not isinstance(node, Semicircle):
        return FreePoisson(node.jump, node.rate, 0.0), node.shift
    return node, 0.0


def add(one: Node, other: Node) -> Node:
    """⊞."""
    (one, first), (other, second) = _apart(one), _apart(other)
    offset = first + second
    for law, rest in ((one, other), (other, one)):
        x = _location(law)
        if x is not None:
            return affine(rest, 1.0, offset + x)
    if isinstance(one, FreePoisson):
        one, other = other, one
    return affine(_noisy(one, other) if isinstance(other, FreePoisson) else Sum(one, other), 1.0, offset)


def _noisy(node: Node, noise: FreePoisson) -> Node:
    if isinstance(node, Semicircle) and isinstance(noise, Semicircle):
        return Semicircle(node.mean + noise.mean, node.variance + noise.variance)
    if isinstance(node, FreePoisson) and node.jump == noise.jump:
        return FreePoisson(node.jump, node.rate + noise.rate, node.shift + noise.shift)
    if isinstance(node, Noisy) and node.noise.jump == noise.jump:
        merged = _noisy(node.noise, noise)
        assert isinstance(merged, FreePoisson)
        return Noisy(node.child, merged)
    return Noisy(node, noise)


def _positive(node: Node, operation: str) -> None:
    if node.low < 0:
        raise ValueError(f"{operation}: needs laws on [0, ∞), and one may reach down to {node.low:.6g}")


def multiply(one: Node, other: Node) -> Node:
    """⊠ of laws on [0, ∞)."""
    for law in (one, other):
        _positive(law, "free multiplicative convolution")
    for law, rest in ((one, other), (other, one)):
        x = _location(law)
        if x is not None:
            return affine(rest, x, 0.0)
        if isinstance(law, Affine) and law.offset == 0:
            return affine(multiply(law.child, rest), law.factor, 0.0)
    for law, rest in ((other, one), (one, other)):
        if isinstance(law, FreePoisson) and law.shift == 0 and law.jump:
            return part(compound(affine(rest, law.jump * law.rate, 0.0), 1 / law.rate), law.rate)
    return Product(one, other)


def part(node: Node, share: float) -> Node:
    """share · μ + (1 − share) δ_0 for laws on [0, ∞)."""
    if isinstance(node, Part):
        return part(node.child, share * node.share)
    if isinstance(node, Affine) and node.offset == 0:
        return affine(part(node.child, share), node.factor, 0.0)
    return node if abs(share - 1) <= _ROUNDING else Part(node, share)


def compound(node: Node, rate: float) -> Node:
    """π(μ, rate)."""
    x = _location(node)
    if x is not None:
        return affine(FreePoisson(abs(x), rate, 0.0), np.sign(x), 0.0) if x else point(0.0)
    if isinstance(node, Affine) and node.offset == 0:
        return affine(compound(node.child, rate), node.factor, 0.0)
    if isinstance(node, Part):  # jumps of size 0 are none
        return compound(node.child, rate * node.share)
    return CompoundPoisson(node, rate)


def additive_power(node: Node, exponent: float) -> Node:
    """μ^{⊞t} for t ≥ 1, or any t > 0 if μ is infinitely divisible by its form."""
    if exponent == 1:
        return node
    if isinstance(node, Semicircle):
        return Semicircle(exponent * node.mean, exponent * node.variance)
    if isinstance(node, FreePoisson):
        return FreePoisson(node.jump, exponent * node.rate, exponent * node.shift)
    if isinstance(node, CompoundPoisson):
        return CompoundPoisson(node.child, exponent * node.rate)
    if isinstance(node, Affine):
        return affine(additive_power(node.child, exponent), node.factor, exponent * node.offset)
    if isinstance(node, AdditivePower):
        return additive_power(node.child, exponent * node.exponent)
    if isinstance(node, Noisy):
        return add(additive_power(node.child, exponent), additive_power(node.noise, exponent))
    x = _location(node)
    if x is not None:
        return point(exponent * x)
    if exponent < 1:
        raise ValueError(f"exponent={exponent!r}: must be ≥ 1 for a law that is not infinitely divisible by its form")
    return AdditivePower(node, exponent)


def multiplicative_power(node: Node, exponent: float) -> Node:
    """μ^{⊠t} for t ≥ 1, μ on [0, ∞)."""
    _positive(node, "free multiplicative power")
    if exponent == 1:
        return node
    if isinstance(node, Affine) and node.offset == 0:
        return affine(multiplicative_power(node.child, exponent), node.factor**exponent, 0.0)
    if isinstance(node, MultiplicativePower):
        return multiplicative_power(node.child, exponent * node.exponent)
    x = _location(node)
    if x is not None:
        return point(x**exponent)
    if exponent < 1:
        raise ValueError(f"exponent={exponent!r}: must be ≥ 1 for multiplicative powers")
    return MultiplicativePower(node, exponent)
