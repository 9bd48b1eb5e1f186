"""Law of singular values: the image of a law of squared singular values under x ↦ √x."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..spectra import Atom, check_complex, check_numbers, check_order, shown

if TYPE_CHECKING:
    from .spectral_law import SpectralLaw

__all__ = ["SingularValueLaw"]

_STEP, _REACH = 0.4, 80.0  # in log λ: errors of the trapezoidal rule exp(−2π²/step), and exp(−reach/2) cut off
_SMALLEST = 1e-150  # z² underflows below
_FAR = 1e6  # of the top edge: beyond it 1/(z − s) is smooth on the spectrum whatever the angle


class SingularValueLaw:
    """Law of s = √x, x ~ ν; built by :meth:`SpectralLaw.singular_values`.

    Density, cdf, quantiles and draws are those of ν transformed, as exact as they are; odd moments and w(λ) are
    integrals over ν, right to about 1e-11.
    """

    def __init__(self, squared: SpectralLaw) -> None:
        self.squared = squared
        self.name = f"singular values of {squared.name}"

    def __repr__(self) -> str:
        return f"<SingularValueLaw {self.name}: mean {self.mean:.6g}>"

    @property
    def mean(self) -> float:
        """∫ s: the limit of the nuclear norm over n."""
        return self.moment(1)

    def moment(self, k: int) -> float:
        """∫ s^k = ∫ x^{k/2} dν for an integer 0 ≤ k ≤ 120."""
        order = check_order(k, 120)
        if order % 2 == 0:
            return self.squared.moment(order // 2)
        return self.squared.expectation(lambda x: x ** (order / 2))

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """The atom at 0, if there is one."""
        return self.squared.atoms

    @property
    def support(self) -> tuple[tuple[float, float], ...]:
        """Closed intervals of the absolutely continuous part, ascending."""
        return tuple((low**0.5, high**0.5) for low, high in self.squared.support)

    @property
    def edges(self) -> tuple[float, ...]:
        """Ends of the support intervals other than 0, ascending; the last is the limit of the operator norm."""
        return tuple(edge**0.5 for edge in self.squared.edges)

    def density(self, s: ArrayLike) -> NDArray[np.float64]:
        """2 s f(s²), f the density of ν; at s = 0 its limit, which may be infinite."""
        points = check_numbers("s", s)
        result = np.zeros(points.shape)
        positive = (points > 0) & (points <= self.edges[-1])
        result[positive] = 2 * points[positive] * self.squared.density(points[positive] ** 2)
        result[points == 0] = self._density_at_zero()
        return result

    def _density_at_zero(self) -> float:
        """f diverges like x^{−1+1/g}, so 2 s f(s²) like s^{−1+2/g}."""
        order = self.squared.hard_edge_order
        if order < 2:
            return 0.0
        nearly = 1e-100 * self.edges[-1]
        return float(2 * nearly * self.squared.density(nearly**2)) if order == 2 else np.inf

    def cdf(self, s: ArrayLike) -> NDArray[np.float64]:
        """Mass of [0, s], right-continuous, the atom included."""
        points = check_numbers("s", s)
        within = np.clip(points, 0.0, self.edges[-1])
        return np.where(points < 0, 0.0, np.where(points > within, 1.0, self.squared.cdf(within * within)))

    def quantile(self, q: ArrayLike) -> NDArray[np.float64]:
        """Smallest s with cdf(s) ≥ q, 0 ≤ q ≤ 1."""
        return np.sqrt(self.squared.quantile(q))

    def sample(self, size: int | Sequence[int] | None, rng: np.random.Generator) -> NDArray[np.float64]:
        """Independent draws, atoms included."""
        return np.sqrt(self.squared.sample(size, rng))

    def expectation(self, function: Callable[[NDArray[np.float64]], ArrayLike]) -> float:
        """∫ f(s), atoms included, as :meth:`SpectralLaw.expectation`."""
        if not callable(function):
            raise ValueError(f"function={shown(function)}: must be a function of an array of s")
        return self.squared.expectation(lambda x: function(np.sqrt(x)))

    def degrees_of_freedom(self, ridge: ArrayLike) -> NDArray[np.float64]:
        """∫ s/(s + λ) for λ ≥ 0; 1 − mass at 0 for λ = 0."""
        penalty = check_numbers("ridge", ridge, minimum=0.0)
        x, weights = self.squared.quadrature
        weights = weights * (x > 0)
        s = np.sqrt(np.where(x > 0, x, 1.0))
        with np.errstate(over="ignore"):
            return np.asarray((weights / (1 + penalty[..., None] / s)).sum(-1))

    def cauchy(self, z: ArrayLike) -> NDArray[np.complex128]:
        """G(z) = ∫ 1/(z − s) for z ≠ 0; on the positive axis the limit from above. (laws.singular-values)"""
        points = check_complex("z", z)
        if (np.abs(points) < _SMALLEST).any():
            raise ValueError(
                f"z={complex(points[np.abs(points) < _SMALLEST].flat[0])!r}: must be ≥ {_SMALLEST} in size"
            )
        result = np.zeros(points.shape, dtype=complex)
        near = (np.abs(points) < _FAR * self.edges[-1]) & (np.abs(np.angle(points)) <= np.pi / 4)
        far = np.isfinite(points) & ~near  # 1/(z − √x) is smooth on all of x > 0
        if far.any():
            x, weights = self.squared.quadrature
            result[far] = (weights / (points[far][:, None] - np.sqrt(x))).sum(-1)
        if near.any():
            result[near] = self._cauchy_near(points[near])
        return result

    def _cauchy_near(self, z: NDArray[np.complex128]) -> NDArray[np.complex128]:
        """G(z) = zG_ν(z²) + (1/π) ∫ (w(λ) − w(−z²))/(λ + z²) λ^{−1/2} dλ: smooth, also where z² is on the spectrum."""
        square = z * z
        transform = self.squared.cauchy(square)
        centre = np.log(np.abs(square))
        start = centre.min() - _REACH
        nodes = start + _STEP * np.arange(np.ceil((centre.max() + _REACH - start) / _STEP))
        ridge = np.exp(nodes)
        difference = self.squared.degrees_of_freedom(ridge) - (1 - square * transform)[:, None]
        integral = (_STEP * np.sqrt(ridge) * difference / (ridge + square[:, None])).sum(-1)
        return z * transform + integral / np.pi
