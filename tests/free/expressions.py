"""Random expressions of free probability, each with a random matrix whose spectrum it is the limit of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rmt_attention.free.convolutions import Product, Sum
from rmt_attention.free.leaves import Atomic, FreePoisson, Semicircle
from rmt_attention.free.nodes import Node, Operation
from rmt_attention.free.operations import (
    AdditivePower,
    Affine,
    CompoundPoisson,
    MultiplicativePower,
    Noisy,
    Part,
)
from rmt_attention.free.tied_scores import TiedScores


def _leaf(rng: np.random.Generator, positive: bool) -> Node:
    if not positive and rng.random() < 0.25:
        return Semicircle(float(rng.normal()), float(rng.gamma(2) / 2))
    if rng.random() < 0.3:
        rate = 1.0 if rng.random() < 0.3 else float(np.exp(rng.normal()))
        return FreePoisson(float(rng.gamma(1)), rate, float(rng.gamma(1)) if rng.random() < 0.5 else 0.0)
    if rng.random() < 0.25:
        theta2, rate = float(rng.gamma(1)), 1.0 if rng.random() < 0.3 else float(np.exp(rng.normal()))
        return TiedScores(float(rng.gamma(1)) * theta2, theta2, rate)
    n = int(rng.integers(2, 5))
    x = rng.gamma(1, 2, n) if positive or rng.random() < 0.5 else 2 * rng.normal(size=n)
    if rng.random() < 0.3:
        x[0] = 0.0
    return Atomic(np.sort(x), rng.dirichlet(np.full(n, 3.0)))


def random_expression(rng: np.random.Generator, depth: int, positive: bool = False) -> Node:
    """A law of at most this many operations above each leaf; on [0, ∞) if ``positive``."""
    if depth == 0:
        return _leaf(rng, positive)
    kind = rng.integers(8)
    below = depth - 1 if rng.random() < 0.85 else 0
    if kind == 0:
        return Sum(random_expression(rng, below, positive), random_expression(rng, below, positive))
    if kind == 1:
        return Product(random_expression(rng, below, True), random_expression(rng, below, True))
    if kind == 2:
        return CompoundPoisson(random_expression(rng, below, positive), float(np.exp(rng.normal())))
    if kind == 3:
        return AdditivePower(random_expression(rng, below, positive), 1 + float(rng.gamma(1)))
    if kind == 4:
        return MultiplicativePower(random_expression(rng, below, True), 1 + float(rng.gamma(1)))
    if kind == 5:
        noise = FreePoisson(float(rng.gamma(1)), float(np.exp(rng.normal())), 0.0)
        child = random_expression(rng, below, positive)
        return Noisy(child, noise if positive else Semicircle(float(rng.normal()), float(rng.gamma(1))))
    if kind == 6:
        child = random_expression(rng, below, True)
        return Part(child, float(rng.uniform(0.2, 1.0)))
    factor, shift = rng.normal(size=2)
    if positive:
        factor, shift = abs(factor) + 0.1, abs(shift)
    return Affine(random_expression(rng, below, positive), float(factor), float(shift))


@dataclass(frozen=True)
class ExpressionSet:
    """The expression of this number; its stratum is how many operations it may have above each leaf."""

    seed: int
    number: int
    most: int = 3

    def node(self) -> Node:
        rng = self.rng()
        return random_expression(rng, int(rng.integers(1, self.most + 1)))

    def rng(self) -> np.random.Generator:
        return np.random.default_rng([8, self.seed, self.number])

    @property
    def stratum(self) -> str:
        return f"depth {self.rng().integers(1, self.most + 1)}"

    def __str__(self) -> str:
        return f"{self!r}: {shown(self.node())}"


def generate(count: int, seed: int) -> list[ExpressionSet]:
    """The first expressions of a seed, by depth."""
    return sorted((ExpressionSet(seed, number) for number in range(count)), key=lambda one: one.stratum)


def generate_with_matrix(count: int, seed: int) -> list[ExpressionSet]:
    """The first of depth ≤ 2 that have a matrix model and more than atoms."""
    found: list[ExpressionSet] = []
    number = 0
    while len(found) < count:
        one = ExpressionSet(seed, number, most=2)
        node = one.node()
        if has_matrix(node) and sum(mass for _, mass in node.marks) < 0.99:
            found.append(one)
        number += 1
    return sorted(found, key=lambda one: one.stratum)


def shown(node: Node) -> str:
    """An expression in one line, for messages."""
    if isinstance(node, (Sum, Product)):
        return f"{type(node).__name__}({shown(node.one)}, {shown(node.other)})"
    child = f"{shown(node.child)}, " if hasattr(node, "child") else ""
    numbers = [f"{key}={value!r}" for key, value in vars(node).items() if key in _SHOWN]
    return f"{type(node).__name__}({child}{', '.join(numbers)})"


_SHOWN = (
    "locations",
    "weights",
    "jump",
    "rate",
    "shift",
    "mean",
    "variance",
    "share",
    "exponent",
    "factor",
    "offset",
    "excess",
    "theta2",
)


def _rotated(values: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    q, r = np.linalg.qr(rng.normal(size=(values.size, values.size)))
    q = q * np.sign(np.diag(r))
    return np.asarray((q * values) @ q.T)


def matrix_eigenvalues(node: Node, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Eigenvalues of a random n × n matrix whose spectrum tends to the law; none of the solver's formulas is used.

    Multiplicative powers have no model: ValueError.
    """
    if isinstance(node, Atomic):
        counts = np.round(np.cumsum(node.weights) * n).astype(int)
        return np.repeat(node.locations, np.diff(counts, prepend=0))
    if isinstance(node, Semicircle):
        g = rng.normal(size=(n, n))
        return np.asarray(np.linalg.eigvalsh((g + g.T) * (node.variance / 2 / n) ** 0.5)) + node.mean
    if isinstance(node, FreePoisson):
        g = rng.normal(size=(n, round(node.rate * n)))
        return np.asarray(np.linalg.eigvalsh(g @ g.T * (node.jump / n))) + node.shift
    if isinstance(node, TiedScores):
        x = matrix_eigenvalues(FreePoisson(1.0, node.rate, 0.0), n, rng)
        return np.asarray(node.excess * x + node.theta2 / node.rate * x * x)
    if isinstance(node, Affine):
        return np.sort(node.factor * matrix_eigenvalues(node.child, n, rng) + node.offset)
    if isinstance(node, (Sum, Noisy)):
        one, other = (node.one, node.other) if isinstance(node, Sum) else (node.child, node.noise)
        a, b = matrix_eigenvalues(one, n, rng), matrix_eigenvalues(other, n, rng)
        return np.asarray(np.linalg.eigvalsh(np.diag(a) + _rotated(b, rng)))
    if isinstance(node, Product):
        a = np.sqrt(np.maximum(matrix_eigenvalues(node.one, n, rng), 0.0))
        b = _rotated(matrix_eigenvalues(node.other, n, rng), rng)
        return np.asarray(np.linalg.eigvalsh(a[:, None] * b * a))
    if isinstance(node, CompoundPoisson):
        # Σ jump g gᵀ/n over t n Gaussian vectors g
        jumps = matrix_eigenvalues(node.child, n, rng)
        k = round(node.rate * n)
        jumps = np.quantile(jumps, (np.arange(k) + 0.5) / k, method="inverted_cdf")
        g = rng.normal(size=(n, k))
        return np.asarray(np.linalg.eigvalsh((g * jumps) @ g.T / n))
    if isinstance(node, Part):
        k = round(node.share * n)
        eigenvalues = matrix_eigenvalues(node.child, n, rng)
        kept = np.quantile(eigenvalues, (np.arange(k) + 0.5) / k, method="inverted_cdf")
        return np.sort(np.append(np.zeros(n - k), kept))
    if isinstance(node, AdditivePower):
        # free compression: a 1/t corner of t times the matrix
        big = round(node.exponent * n)
        return np.asarray(
            np.linalg.eigvalsh(_rotated(node.exponent * matrix_eigenvalues(node.child, big, rng), rng)[:n, :n])
        )
    raise ValueError(f"{shown(node)}: has no matrix model")


def has_matrix(node: Node) -> bool:
    """Whether :func:`matrix_eigenvalues` knows a model."""
    if isinstance(node, MultiplicativePower):
        return False
    if isinstance(node, (Sum, Product)):
        return has_matrix(node.one) and has_matrix(node.other)
    return has_matrix(node.child) if isinstance(node, Operation) else True
