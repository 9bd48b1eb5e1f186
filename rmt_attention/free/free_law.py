"""Laws of free probability as objects: transforms and spectrum, and the operations that make new laws of them."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..solvers.integral import refined_integral
from ..spectra import (
    Atom,
    check_complex,
    check_draws,
    check_levels,
    check_numbers,
    check_order,
    check_positive,
    shown,
)
from . import algebra, transforms
from .nodes import Node
from .spectrum import FreeSpectrum

__all__ = ["FreeLaw"]

_LARGEST_ORDER = 30
_CIRCLE = 1.15  # radius over that of the spectrum
_POINTS = 140  # on half of the circle: the trapezoidal rule leaves 1.15^{−280}
_CLEAR = 1e-9  # of the width, above 0: a law that reaches down to there is on (0, ∞)
_LONGEST = 60  # characters of a name


@runtime_checkable
class Expressible(Protocol):
    """A law that has an expression, such as :class:`rmt_attention.laws.SpectralLaw`."""

    def expression(self) -> FreeLaw: ...


class FreeLaw:
    """A law with compact support, made of elementary laws by the operations of free probability.

    ``μ + ν`` is the free additive convolution ⊞, ``μ @ ν`` the free multiplicative convolution ⊠ of laws on [0, ∞);
    with a number, ``a * μ + b`` is the law of a·x + b, and ``μ - ν`` is μ ⊞ (−ν). See also :meth:`additive_power`,
    :meth:`multiplicative_power` and :func:`rmt_attention.free.compound_poisson`. Limiting laws of layers may stand for
    ν: they count as their :meth:`~rmt_attention.laws.SpectralLaw.expression`.

    The operations stand for matrices A and B in general position, B = U D Uᵀ with U uniform on the orthogonal group:
    + for A + B, @ for A^{1/2} B A^{1/2}.

    The spectrum is divided into cells whose mass is confirmed against its closed form (free.cells), each to 1e-12, or
    to what rounding leaves of it next to an atom; densities and the cdf are solved at every x asked for, without
    smoothing. Every root is proved to be on the right branch. (free.branch)

    Methods raise ValueError on NaN and what is out of range, and :class:`rmt_attention.ConvergenceError` if the branch
    of a point cannot be proved.

    Examples
    --------
    >>> from rmt_attention import free
    >>> law = free.marchenko_pastur(0.5) @ free.marchenko_pastur(0.25)
    >>> [(round(low, 7), round(high, 7)) for low, high in law.support]
    [(0.0559356, 3.7466902)]
    """

    __array_ufunc__ = None  # numpy's numbers leave the operators to the law

    def __init__(self, node: Node, name: str) -> None:
        self.node = node
        self.name = name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
        self._spectrum = FreeSpectrum(node, self.name)

    def __repr__(self) -> str:
        return f"<FreeLaw {self.name}: mean {self.mean:.6g}, variance {self.variance:.6g}>"

    # Operations ------------------------------------------------------------------------------------------------------

    def __add__(self, other: FreeLaw | Expressible | float) -> FreeLaw:
        other = _law_or(other)
        if isinstance(other, FreeLaw):
            return FreeLaw(algebra.add(self.node, other.node), f"({self.name} ⊞ {other.name})")
        shift = _number(other, "free additive convolution")
        return FreeLaw(algebra.affine(self.node, 1.0, shift), f"({self.name} + {shift:g})")

    __radd__ = __add__

    def __neg__(self) -> FreeLaw:
        return FreeLaw(algebra.affine(self.node, -1.0, 0.0), f"−{self.name}")

    def __sub__(self, other: FreeLaw | Expressible | float) -> FreeLaw:
        other = _law_or(other)
        return self + (-other if isinstance(other, FreeLaw) else -_number(other, "free additive convolution"))

    def __rsub__(self, other: Expressible | float) -> FreeLaw:
        return -self + other

    def __mul__(self, factor: FreeLaw | float) -> FreeLaw:
        if isinstance(factor, FreeLaw):
            raise ValueError(f"{self.name} * {factor.name}: the free multiplicative convolution ⊠ is written @")
        a = _number(factor, "dilation")
        return FreeLaw(algebra.affine(self.node, a, 0.0), f"{a:g}·{self.name}")

    __rmul__ = __mul__

    def __truediv__(self, divisor: float) -> FreeLaw:
        a = _number(divisor, "dilation")
        if a == 0:
            raise ValueError(f"{self.name} / 0: cannot divide by 0")
        return self * (1 / a)

    def __matmul__(self, other: FreeLaw | Expressible) -> FreeLaw:
        operation = "free multiplicative convolution"
        other = _law_or(other)
        if not isinstance(other, FreeLaw):
            raise ValueError(f"{operation}: {shown(other)} is not a law of rmt_attention.free; a number dilates by *")
        nodes = (self._on_half_line(operation), other._on_half_line(operation))
        return FreeLaw(algebra.multiply(*nodes), f"({self.name} ⊠ {other.name})")

    def __rmatmul__(self, other: Expressible) -> FreeLaw:
        return self @ other

    def additive_power(self, exponent: float) -> FreeLaw:
        """μ^{⊞t}, with free cumulants t κ_k, t ≥ 1; any t > 0 for free Poisson, semicircle and compound laws.

        For t ≥ 1 the law of t A in the first n/t of n coordinates, A in general position. (free.powers)
        """
        check_positive("exponent", exponent)
        return FreeLaw(algebra.additive_power(self.node, float(exponent)), f"{self.name}^⊞{exponent:g}")

    def multiplicative_power(self, exponent: float) -> FreeLaw:
        """μ^{⊠t}, with S-transform S(u)^t, for t ≥ 1 and a law on [0, ∞). (free.powers)"""
        check_positive("exponent", exponent)
        node = self._on_half_line("free multiplicative power")
        return FreeLaw(algebra.multiplicative_power(node, float(exponent)), f"{self.name}^⊠{exponent:g}")

    def companion(self, ratio: float) -> FreeLaw:
        """Law of MᵀM when this is the law of MMᵀ and M has ``ratio`` columns per row. (free.part)

        The two share their nonzero eigenvalues: μ/ratio + (1 − 1/ratio) δ_0; ratio ≥ 1 − μ({0}).
        """
        check_positive("ratio", ratio)
        node = self._on_half_line("companion")
        share = 1 - node.zero_mass
        if ratio < share:
            raise ValueError(f"ratio={ratio!r}: must be ≥ {share!r}, the share of nonzero eigenvalues")
        return FreeLaw(algebra.part(node, 1 / float(ratio)), f"companion of {self.name}")

    def scaled(self, factor: float) -> FreeLaw:
        """Law of factor·x, factor > 0."""
        check_positive("factor", factor)
        return self * factor

    def normalized(self) -> FreeLaw:
        """Law of x/mean, of mean one; for a mean > 0."""
        if not self.mean > 0:
            raise ValueError(f"{self.name}: has mean {self.mean:.6g}; must be > 0 to become 1")
        return self / self.mean

    def _on_half_line(self, operation: str) -> Node:
        """The node, knowing that its law is on [0, ∞)."""
        if self.node.low >= 0:
            return self.node
        bottom = min([low for low, _ in self.support[:1]] + [atom.location for atom in self.atoms[:1]])
        if not bottom > _CLEAR * self.node.extent:
            raise ValueError(f"{operation}: needs laws on [0, ∞), and {self.name} reaches down to {bottom:.6g}")
        node = copy.copy(self.node)
        node.low = bottom / 2  # the bound known before may be below 0
        return node

    # Closed forms ----------------------------------------------------------------------------------------------------

    @property
    def mean(self) -> float:
        """First moment, the first free cumulant."""
        return self.node.mean

    @property
    def variance(self) -> float:
        """Second free cumulant."""
        return self.node.variance

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """Point masses, ascending."""
        return tuple(Atom(x, mass) for x, mass in self._spectrum.atoms)

    def moment(self, k: int) -> float:
        """∫ x^k dμ for an integer 0 ≤ k ≤ 30, as the mean of z^{k+1} G(z) over a circle around the spectrum.

        Right to about 1e-14 · 1.15^k of the k-th power of the largest |x|; inf if it exceeds the largest double.
        """
        order = check_order(k, _LARGEST_ORDER)
        if order < 2:
            return self.mean if order else 1.0
        if order == 2:
            return self.variance + self.mean**2
        z, transform = self._circle
        radius = abs(z[0])
        with np.errstate(over="ignore"):
            return float(radius**order * ((z / radius) ** (order + 1) * (transform * radius)).real.mean())

    @cached_property
    def _circle(self) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
        radius = _CIRCLE * (max(abs(self.node.low), abs(self.node.high)) or 1.0)
        z = radius * np.exp(1j * np.pi * (np.arange(_POINTS) + 0.5) / _POINTS)
        return z, self.cauchy(z)

    # Transforms ------------------------------------------------------------------------------------------------------

    def cauchy(self, z: ArrayLike) -> NDArray[np.complex128]:
        """G(z) = ∫ dμ/(z − x); on the support the limit from above, so that density = −Im G/π; ∞ at an atom."""
        points = check_complex("z", z, zero=True)
        flat = points.ravel()
        result = np.zeros(flat.shape, dtype=complex)
        atom = (flat.imag == 0) & np.isin(flat.real, [one.location for one in self.atoms])
        result[atom] = np.inf
        rows = np.flatnonzero(np.isfinite(flat) & ~atom)
        if rows.size:
            above = flat.real[rows] + 1j * np.abs(flat.imag[rows])
            value = self._spectrum.sub.transform(self._spectrum.roots(above))
            result[rows] = np.where(flat.imag[rows] >= 0, value, value.conj())
        return result.reshape(points.shape)

    def r_transform(self, g: ArrayLike) -> NDArray[np.float64]:
        """R(g) = z − 1/g at the z beyond the support with G(z) = g, g real; R(0) = mean. (free.transforms)

        g from the value of G at the bottom of the support to that at its top, infinite at an atom, else ValueError.
        Adds up under ⊞. R(g) = κ_1 + κ_2 g + κ_3 g² + … with the free cumulants κ.

        Examples
        --------
        >>> from rmt_attention import free
        >>> free.semicircle(1.0, 0.25).r_transform([-1.0, 0.0, 2.0]).round(12).tolist()
        [0.75, 1.0, 1.5]
        """
        values = check_numbers("g", g)
        low, high = transforms.r_range(self._spectrum)
        _check_inside("g", values, np.nextafter(low, -np.inf), high, self.name)
        return transforms.r_transform(self._spectrum, values.ravel()).reshape(values.shape)

    def s_transform(self, u: ArrayLike) -> NDArray[np.float64]:
        """S(u) = (1 + u) G(z)/u at the z beyond the support with zG(z) − 1 = u, u real. (free.transforms)

        S(0) = 1/mean. For a law on [0, ∞) other than δ_0, at u above μ({0}) − 1, where z = 0, up to its value at the
        top of the support, else ValueError. Multiplies under ⊠. S(−w(λ)) = (1 − w)/(λ w).

        Examples
        --------
        >>> from rmt_attention import free
        >>> free.marchenko_pastur(0.5).s_transform([-0.5, 0.0, 0.5]).round(12).tolist()
        [1.333333333333, 1.0, 0.8]
        """
        values = check_numbers("u", u)
        self._on_half_line("S-transform")
        if self.mean == 0:
            raise ValueError(f"S-transform: {self.name} has mean 0, and its S-transform does not exist")
        _check_inside("u", values, *transforms.s_range(self._spectrum), self.name)
        return transforms.s_transform(self._spectrum, values.ravel()).reshape(values.shape)

    def degrees_of_freedom(self, ridge: ArrayLike) -> NDArray[np.float64]:
        """w(λ) = ∫ x/(x+λ) dμ for λ ≥ 0 and a law on [0, ∞); w(0) = 1 − mass at 0."""
        penalty = check_numbers("ridge", ridge, minimum=0.0)
        self._on_half_line("degrees of freedom")
        result = np.where(np.isinf(penalty), 0.0, 1 - self.node.zero_mass)
        inside = (penalty > 0) & np.isfinite(penalty)
        if inside.any():
            sub = self._spectrum.sub
            roots = self._spectrum.proved(*sub.solve(-penalty[inside] + 0j))
            point, _ = sub.at(roots.parameters)
            result[inside] = -(point.R.value / point.F.value).real
        return result

    # The spectrum ----------------------------------------------------------------------------------------------------

    @property
    def support(self) -> tuple[tuple[float, float], ...]:
        """Closed intervals that carry the absolutely continuous part, ascending; atoms are not part of it."""
        return self._spectrum.axis.intervals

    @property
    def edges(self) -> tuple[float, ...]:
        """Ends of the support intervals, ascending."""
        return tuple(end for interval in self.support for end in interval)

    def density(self, x: ArrayLike) -> NDArray[np.float64]:
        """Density of the absolutely continuous part, −Im G(x + i0)/π; 0 outside the support and at its edges.

        At 0, where the support of laws on [0, ∞) may start, its limit, which may be infinite.
        """
        points = check_numbers("x", x)
        return self._spectrum.density(points.ravel()).reshape(points.shape)

    def cdf(self, x: ArrayLike) -> NDArray[np.float64]:
        """μ((−∞, x]), right-continuous: π μ((x, ∞)) is the imaginary part of ∫ log(z − x) dμ at x + i0. (free.mass)"""
        points = check_numbers("x", x)
        return self._spectrum.cdf(points.ravel()).reshape(points.shape)

    def quantile(self, q: ArrayLike) -> NDArray[np.float64]:
        """Smallest x with cdf(x) ≥ q, for 0 ≤ q ≤ 1: an atom's location for its levels, the left end of a gap."""
        levels = check_levels(q)
        return self._spectrum.quantile(levels.ravel()).reshape(levels.shape)

    def sample(self, size: int | Sequence[int] | None, rng: np.random.Generator) -> NDArray[np.float64]:
        """Independent draws from the law, atoms included, by inversion of the cdf."""
        check_draws(size, rng)
        return self.quantile(rng.random(size))

    def expectation(self, function: Callable[[NDArray[np.float64]], ArrayLike]) -> float:
        """∫ f dμ, atoms included, for a vectorised function that is smooth on the support. (free.cells)

        By the rules of the cells, halved until two values agree to 1e-10 of ∫ |f| dμ; ConvergenceError if none do:
        f has jumps, kinks or turns too fast.
        """
        return refined_integral(self._spectrum.quadrature, function, self.name)

    @cached_property
    def quadrature(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Points x and weights with ∫ f dμ ≈ Σ weight · f(x), atoms points of their own.

        As good as the mass of the cells, 1e-12 each, for functions as smooth over the law as x² is;
        :meth:`expectation` tells.
        """
        return self._spectrum.quadrature(0)


def _law_or(value: Any) -> Any:
    """The expression of a law that has one; anything else as it is."""
    return value.expression() if isinstance(value, Expressible) else value


def _number(value: object, operation: str) -> float:
    """A finite number; ValueError naming the operation otherwise."""
    real = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not real or not abs(float(value)) < math.inf:  # type: ignore[arg-type]
        raise ValueError(f"{operation}: {shown(value)} is neither a law of rmt_attention.free nor a finite number")
    return float(value)  # type: ignore[arg-type]


def _check_inside(name: str, values: NDArray[np.float64], low: float, high: float, law: str) -> None:
    outside = ~((values > low) & (values <= high))
    if outside.any():
        raise ValueError(
            f"{name}={float(values[outside].flat[0])!r}: must be between {low:.15g} and {high:.15g}, the values that"
            f" {law} gives beyond its support"
        )
