"""Derivatives of a law in β and its ratios by complex steps. (laws.gradients)"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..solvers.curve import Array
from ..solvers.real_root import solve_ridge
from ..spectra import check_numbers, check_order
from .families import FAMILIES, ExplicitLaw

if TYPE_CHECKING:
    from .spectral_law import SpectralLaw

__all__ = ["LawGradients"]

_STEP = 1e-30  # relative; errors are of its square


class LawGradients:
    """Derivatives of numbers of a law in each of its parameters; built by :attr:`SpectralLaw.gradients`.

    Methods give a dict from the parameter's name to derivatives. log λ is an explicit function of w and the ratios; at
    an edge it is one of the critical parameter, where it is stationary. So each derivative is one evaluation with a
    parameter moved by i·ε, divided by ε, without truncation error. (laws.gradients)
    """

    def __init__(self, law: SpectralLaw, family: str, values: tuple[float, ...]) -> None:
        self._law, self._curve = law, law._curve
        self._family, self._values = FAMILIES[family], values

    def __repr__(self) -> str:
        return f"<LawGradients of {self._law.name} in {', '.join(self.parameters)}>"

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters, in the order of the function that built the law."""
        return self._family.parameters

    def _each(self, value: Callable[[ExplicitLaw], Array]) -> dict[str, NDArray[np.float64]]:
        """Imaginary parts over the step, with one parameter after the other moved."""
        result = {}
        for index, name in enumerate(self._family.parameters):
            values = [np.complex128(one) for one in self._values]
            step = _STEP * self._values[index]
            values[index] += 1j * step
            result[name] = np.imag(value(self._family.law(np, *values))) / step
        return result

    def _log_scale(self, moved: ExplicitLaw) -> Array:
        """log of the factor of x, up to a constant."""
        return np.asarray(-moved.log_moment(1) if self._law._mean_one else 0.0)

    def degrees_of_freedom(self, ridge: ArrayLike) -> dict[str, NDArray[np.float64]]:
        """∂w(λ)/∂θ = −(∂log λ/∂θ)/(∂log λ/∂w) at fixed w, for 0 < λ < ∞; arrays of the shape of ``ridge``."""
        penalty = check_numbers("ridge", ridge, minimum=0.0)
        if (penalty == 0).any() or np.isinf(penalty).any():
            raise ValueError("ridge: must be > 0 and finite for derivatives; w(0) is the smallest width, which may tie")
        curve = self._curve
        root = solve_ridge(curve, self._law._own_units(penalty))
        slope = curve.log_ridge_and_slope(root.p, root.distance)[1] / curve.w_slope(root.p, root.distance)
        margins = curve.margins(root.p, root.distance)

        def log_ridge(moved: ExplicitLaw) -> Array:
            pairs = zip(moved.widths, margins, strict=True)
            values = [margin + 1j * np.imag(width) for width, margin in pairs]
            return np.asarray(moved.log_ridge(root.w, values) + self._log_scale(moved))

        share = self._law._ratio
        return {name: -change / slope / share for name, change in self._each(log_ridge).items()}

    @property
    def edges(self) -> dict[str, NDArray[np.float64]]:
        """∂x/∂θ = x ∂log|λ|/∂θ at the fixed critical p, or w, for every edge x > 0, ascending."""
        p, rest, margins, w = self._law.critical_parameters()
        x, beside = np.array(self._law.edges), ~np.isnan(w)
        w = np.where(beside, w, self._curve.w_max / 2)  # anywhere

        def log_edge(moved: ExplicitLaw) -> Array:
            change = 1j * np.where(beside, 0, np.imag(moved.w(p, rest)))
            values = [m + (1j * np.imag(a) - change) for a, m in zip(moved.widths, margins, strict=True)]
            value = np.where(beside, moved.log_ridge(w, values), moved.log_edge(p, rest, values))
            return np.asarray(value + self._log_scale(moved))

        return {name: x * change for name, change in self._each(log_edge).items()}

    def moment(self, k: int) -> dict[str, float]:
        """∂/∂θ of ∫ x^k dν, 0 ≤ k ≤ 60."""
        order = check_order(k, 60)
        if order == 0:
            return dict.fromkeys(self.parameters, 0.0)
        value = self._law.moment(order)
        changes = self._each(lambda moved: np.asarray(moved.log_moment(order) + order * self._log_scale(moved)))
        return {name: value * float(change) for name, change in changes.items()}

    @property
    def mean(self) -> dict[str, float]:
        """∂/∂θ of the mean."""
        return self.moment(1)
