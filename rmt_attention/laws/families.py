"""The five families of laws as explicit functions of their ratios, for any runtime. (laws.explicit)

λ = C ∏_a (1 − w/a)/s, where s is explicit in the parameter p and p is the root of a quadratic in w: between the ratios,
w and λ nothing has to be solved. Numbers may be floats, complex numbers, mpmath's or JAX's tracers; the namespace comes
first. Margins a − w are handed over, since they cancel where w is near the smallest width.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..equations import independent, tied
from ..equations.moments import lagrange_coefficient
from ..equations.temperature import score_variance_excess

__all__ = ["FAMILIES", "ExplicitLaw", "Family", "Independent", "Tied"]


@dataclass(frozen=True)
class ExplicitLaw:
    """One law at given ratios; subclasses say what w and s are. C is ``constant`` times a factor of the law's own."""

    xp: Any
    constant: Any
    outer: tuple[Any, ...]  # widths of the moment formula
    beta: Any
    gamma_key: Any
    fixed: Callable[[Any], Any] = field(default=lambda number: number.real, kw_only=True)  # without its derivative

    @property
    def widths(self) -> tuple[Any, ...]:
        """The a of ∏ (1 − w/a)."""
        return self.outer

    @property
    def thetas(self) -> tuple[Any, Any]:
        """θ1 − θ2 and θ2."""
        theta2 = self.beta * self.beta
        return score_variance_excess(self.xp, theta2), theta2

    def log_scale(self, w: Any) -> Any:
        """log s at given w on the physical branch for λ > 0."""
        raise NotImplementedError

    def log_scale_at(self, p: Any, rest: Any) -> Any:
        """log s at a parameter, with 1 − p; |s| for real p."""
        raise NotImplementedError

    def w(self, p: Any, rest: Any) -> Any:
        """w at a parameter, with 1 − p."""
        raise NotImplementedError

    def log_constant(self) -> Any:
        """log C."""
        raise NotImplementedError

    def series(self, order: int) -> tuple[list[Any], Any]:
        """u_j/unit^j and log unit. (laws.moments)"""
        raise NotImplementedError

    def log_ridge(self, w: Any, margins: Sequence[Any]) -> Any:
        """log λ at 0 < w < w_max."""
        return self._with_margins(margins) - self.log_scale(w)

    def log_edge(self, p: Any, rest: Any, margins: Sequence[Any]) -> Any:
        """log |λ| at a real parameter, margins of either sign."""
        return self._with_margins(margins) - self.log_scale_at(p, rest)

    def _with_margins(self, margins: Sequence[Any]) -> Any:
        value = self.log_constant()
        for a, margin in zip(self.widths, margins, strict=True):
            ratio = margin / a
            value = value + self.xp.log(ratio * ratio) / 2
        return value

    def log_moment(self, k: int) -> Any:
        """log ∫ x^k dν, k ≥ 1."""
        terms, log_unit = self.series(k)
        return self.xp.log(lagrange_coefficient(terms, self.outer)) + k * (log_unit + self.log_constant())


class Independent(ExplicitLaw):
    """Values independent of keys: C = constant·θ1, s = v = p. (laws.independent-lambda)"""

    @property
    def _shape(self) -> tuple[Any, Any, Any]:
        excess, theta2 = self.thetas
        theta1 = self.xp.expm1(theta2)
        return theta2 / theta1, excess / theta1, self.gamma_key

    def log_constant(self) -> Any:
        return self.xp.log(self.constant) + self.xp.log(self.xp.expm1(self.beta * self.beta))

    def log_scale(self, w: Any) -> Any:
        return independent.log_scale(self.xp, w, *self._shape)

    def log_scale_at(self, p: Any, rest: Any) -> Any:
        return self.xp.log(p * p) / 2

    def w(self, p: Any, rest: Any) -> Any:
        return independent.degrees_of_freedom(self.xp, p, *self._shape)

    def series(self, order: int) -> tuple[list[Any], Any]:
        c, _, t = self._shape
        unit = self.fixed(1 + c / t)
        return independent.series(order, unit, *self._shape), self.xp.log(unit)


@dataclass(frozen=True)
class Tied(ExplicitLaw):
    """Values equal to keys: C = constant, s Koebe's function of q = p over θ2. (laws.tied-lambda)"""

    heads: Any

    @property
    def widths(self) -> tuple[Any, ...]:
        return (*self.outer, self.heads, self.gamma_key)

    @property
    def _shape(self) -> tuple[Any, Any, Any]:
        excess, theta2 = self.thetas
        a = self.gamma_key / self.heads
        return self.heads, a, a * (excess / theta2)

    def log_constant(self) -> Any:
        return self.xp.log(self.constant)

    def log_scale(self, w: Any) -> Any:
        return tied.log_scale(self.xp, w, self.thetas[1], *self._shape)

    def log_scale_at(self, p: Any, rest: Any) -> Any:
        scale = tied.scale(self.xp, p, rest, self.thetas[1])
        return self.xp.log(scale * scale) / 2

    def w(self, p: Any, rest: Any) -> Any:
        return tied.degrees_of_freedom(self.xp, p, rest, *self._shape)

    def series(self, order: int) -> tuple[list[Any], Any]:
        h, a, excess = self._shape
        largest = self.fixed(1 + a + 2 * self.xp.sqrt(a))
        unit = self.thetas[1] / a * largest * (excess + largest)
        return tied.series(order, largest, h, a, excess), self.xp.log(unit)


class Family(NamedTuple):
    """Names of the ratios of a family, and the law at their values."""

    parameters: tuple[str, ...]
    law: Callable[..., ExplicitLaw]


FAMILIES = {
    "attention": Family(("beta", "heads", "gamma_key"), lambda xp, b, h, k: Independent(xp, 1, (1, h), b, k)),
    "values": Family(
        ("beta", "heads", "gamma_key", "gamma_value"), lambda xp, b, h, k, v: Independent(xp, v, (1, h, v), b, k)
    ),
    "output": Family(
        ("beta", "heads", "gamma_key", "gamma_value", "gamma_out"),
        lambda xp, b, h, k, v, o: Independent(xp, o, (1, h, v, o), b, k),
    ),
    "tied values": Family(("beta", "heads", "gamma_key"), lambda xp, b, h, k: Tied(xp, 1, (1,), b, k, h)),
    "tied output": Family(
        ("beta", "heads", "gamma_key", "gamma_out"), lambda xp, b, h, k, o: Tied(xp, o / k, (1, o), b, k, h)
    ),
}
