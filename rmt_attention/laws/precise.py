"""Laws to any number of digits in mpmath: an oracle for double precision, and for numbers worth quoting. (laws.precise)

The branch is found in another way than in double precision, which continues along |λ| = const inside discs given by
Koebe's theorems: z comes straight down from far above the spectrum, where the branch is the one small root, and all
roots of the equation are followed together. Every number is computed at growing working precision until two results
agree to the digits asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from mpmath import mp

from ..errors import ConvergenceError
from ..solvers.curve import SpectralCurve
from ..spectra import check_order
from .precise_curves import PreciseCurve

__all__ = ["PreciseLaw"]

_GUARD = 15  # digits beyond those asked for
_FIRST_BRANCH, _LAST = 60, 4000  # working digits: where branches are followed first, and where to give up
MOST_DIGITS = 400


class PreciseLaw:
    """A law of the package at ``digits`` decimal digits; built by :meth:`SpectralLaw.precise`.

    Methods take one number (int, float, mpf, or a decimal string) and return mpmath numbers. Parameters of the law
    are taken as the doubles they are. Each number costs from a millisecond (w) to about a second (edges).

    Raises
    ------
    ValueError
        For NaN, a negative ridge, z = 0.
    ConvergenceError
        If two precisions never agree, or a point is an edge to the digits asked for.
    """

    def __init__(
        self,
        curve: SpectralCurve,
        name: str,
        digits: int,
        *,
        factor: float,
        mean_one: bool,
        ratio: float,
    ) -> None:
        if isinstance(digits, bool) or not isinstance(digits, int) or not 1 <= digits <= MOST_DIGITS:
            raise ValueError(f"digits={digits!r}: must be an integer from 1 to {MOST_DIGITS}")
        self.name, self.digits = name, digits
        self._double, self._factor, self._mean_one, self._ratio = curve, mp.mpf(factor), mean_one, mp.mpf(ratio)
        self._curves: dict[int, PreciseCurve] = {}
        self._branches: dict[Any, tuple[Any, Any]] = {}

    def __repr__(self) -> str:
        return f"<PreciseLaw {self.name}, {self.digits} digits>"

    @property
    def mean(self) -> Any:
        """First moment."""
        return self.moment(1)

    def moment(self, k: int) -> Any:
        """∫ x^k dν for an integer 0 ≤ k ≤ 60."""
        order = check_order(k, 60)
        if order == 0:
            return mp.one
        return self._settled(lambda curve, scale: curve.moment(order) * scale**order / self._ratio)

    def degrees_of_freedom(self, ridge: Any) -> Any:
        """w(λ) = ∫ x/(x+λ) dν for λ ≥ 0; w(0) = 1 − mass at 0."""
        penalty = self._ridge(ridge)
        if penalty == 0:
            return self._settled(lambda curve, scale: curve.w_max / self._ratio)
        return self._settled(lambda curve, scale: curve.w(curve.at_ridge(penalty / scale)) / self._ratio, penalty)

    def complement(self, ridge: Any) -> Any:
        """1 − w(λ)/w(0), to relative precision however small λ is."""
        penalty = self._ridge(ridge)
        if penalty == 0:
            return mp.zero
        return self._settled(lambda curve, scale: 1 - curve.w(curve.at_ridge(penalty / scale)) / curve.w_max, penalty)

    def cauchy(self, z: Any) -> Any:
        """G(z) = ∫ dν/(z − x) for z ≠ 0, on the positive axis the limit from above."""
        point = _number("z", z, mp.mpc)
        if point == 0:
            raise ValueError("z=0: must be nonzero")
        if point.imag < 0:
            return mp.conj(self.cauchy(mp.conj(point)))
        if point.imag == 0 and point.real < 0:
            return (1 - self.degrees_of_freedom(-point.real)) / point

        def transform(curve: PreciseCurve, scale: Any) -> Any:
            return (1 - curve.w(self._at(point, curve, scale)) / self._ratio) / point

        return self._settled(transform, point)

    def density(self, x: Any) -> Any:
        """Density of the absolutely continuous part at x ≠ 0."""
        point = self._nonzero(x)
        if point < 0:
            return mp.zero

        def density(curve: PreciseCurve, scale: Any) -> Any:
            return mp.im(curve.w(self._at(point, curve, scale))) / (mp.pi * self._ratio * point)

        return self._settled(density, point)

    def cdf(self, x: Any) -> Any:
        """ν([0, x]) at x ≠ 0."""
        point = self._nonzero(x)
        if point < 0:
            return mp.zero

        def cdf(curve: PreciseCurve, scale: Any) -> Any:
            return 1 - curve.upper_mass(self._at(point, curve, scale)) / self._ratio

        return self._settled(cdf, point)

    @property
    def support(self) -> tuple[tuple[Any, Any], ...]:
        """Closed intervals of the absolutely continuous part, ascending.

        Of the x at real critical points of the curve those count across which the density starts or ends: it is
        evaluated once between any two neighbours.
        """
        working = 2 * self.digits + _FIRST_BRANCH
        while not _same(self._candidates(working), self._candidates(2 * working), mp.mpf(10) ** -self.digits):
            working *= 2
            if working > _LAST:
                raise ConvergenceError(f"{self.name}: edges not told apart with {_LAST} digits")
        with mp.workdps(working):
            curve = self._curve()
            candidates = _candidates(curve)
            middles = [candidates[0] / 2] + [mp.sqrt(a * b) for a, b in pairwise(candidates)] + [2 * candidates[-1]]
            filled = [mp.im(self._at(x, curve, mp.one)) > 0 for x in middles]
        kept = [index for index, (left, right) in enumerate(pairwise(filled)) if left != right]

        def ends(curve: PreciseCurve, scale: Any) -> list[Any]:
            found = _candidates(curve)
            return [found[index] * scale for index in kept]

        found = self._settled(ends, first=working)
        if filled[0]:
            found = [mp.zero, *found]
        return tuple(zip(found[::2], found[1::2], strict=True))

    @property
    def edges(self) -> tuple[Any, ...]:
        """Ends of the support intervals other than 0, ascending."""
        return tuple(end for interval in self.support for end in interval if end > 0)

    # Working precision -----------------------------------------------------------------------------------------------

    def _settled(self, compute: Callable[[PreciseCurve, Any], Any], point: Any = mp.inf, first: int = 0) -> Any:
        """The result to ``digits`` digits: computed at twice the precision each time until two results agree."""
        precision, last = first or self.digits + _GUARD + self._lost_digits(point), None
        while precision <= _LAST:
            with mp.workdps(precision):
                curve = self._curve()
                result = compute(curve, self._scale_of(curve))
                if last is not None and _agree(result, last, mp.mpf(10) ** (-self.digits - 2)):
                    break
            last, precision = result, 2 * precision
        else:
            raise ConvergenceError(f"{self.name}: {self.digits} digits not reached with {_LAST}", result=last)
        with mp.workdps(self.digits + 2):
            return [+one for one in result] if isinstance(result, list) else +result

    def _candidates(self, precision: int) -> list[Any]:
        with mp.workdps(precision):
            return _candidates(self._curve())

    def _curve(self) -> PreciseCurve:
        """The curve at the working precision."""
        if mp.dps not in self._curves:
            self._curves[mp.dps] = self._double.precise()
        return self._curves[mp.dps]

    def _scale_of(self, curve: PreciseCurve) -> Any:
        return self._factor / (curve.moment(1) / self._ratio) if self._mean_one else self._factor

    def _at(self, z: Any, curve: PreciseCurve, scale: Any) -> Any:
        """Parameter of the branch at z, Im z ≥ 0, at the working precision."""
        if z not in self._branches:
            self._branches[z] = self._followed(z, scale)
        p, radius = self._branches[z]
        return curve.polished(p, z / scale, radius)

    def _lost_digits(self, point: Any) -> int:
        """Digits that p loses beside its end, where λ is small against the mean."""
        with mp.workdps(_FIRST_BRANCH):
            curve = self._curve()
            mean = curve.moment(1) * self._scale_of(curve)
            return max(0, int(mp.log10(mean / abs(point)))) if mp.isfinite(point) else 0

    def _followed(self, z: Any, scale: Any) -> tuple[Any, Any]:
        first = _FIRST_BRANCH + 2 * self._lost_digits(z)
        precision = first
        while True:
            with mp.workdps(precision):
                try:
                    return self._curve().branch(z / scale)
                except ConvergenceError:
                    if precision > first + 4 * self.digits:
                        raise
            precision *= 2

    # Arguments -------------------------------------------------------------------------------------------------------

    def _ridge(self, ridge: Any) -> Any:
        penalty = _number("ridge", ridge)
        if not penalty >= 0:
            raise ValueError(f"ridge={ridge!r}: must be ≥ 0 and not NaN")
        return penalty

    def _nonzero(self, x: Any) -> Any:
        point = _number("x", x)
        if point == 0:
            raise ValueError("x=0: must be nonzero; see atoms and degrees_of_freedom for the behaviour at 0")
        return point


def _number(name: str, given: Any, kind: Any = mp.mpf) -> Any:
    """An mpmath number at its full precision."""
    if isinstance(given, (bool, np.bool_, np.ndarray, tuple, list)):
        raise ValueError(f"{name}={given!r}: must be one number")
    with mp.workdps(_LAST):
        try:
            number = kind(given.item() if isinstance(given, np.generic) else given)
        except (AttributeError, TypeError, ValueError):  # the first for mpc('')
            raise ValueError(f"{name}={given!r}: must be one number") from None
    if mp.isnan(number) or mp.isinf(number):
        raise ValueError(f"{name}={given!r}: must be finite and not NaN")
    return number


def _same(ones: list[Any], others: list[Any], tolerance: Any) -> bool:
    return len(ones) == len(others) and all(_agree(a, b, tolerance) for a, b in zip(ones, others, strict=True))


def _agree(one: Any, other: Any, tolerance: Any) -> bool:
    if isinstance(one, list):
        return _same(one, other, tolerance)
    return bool(abs(one - other) <= tolerance * abs(one))


def _candidates(curve: PreciseCurve) -> list[Any]:
    """x = −λ > 0 at real critical points, ascending; two points of one value, as symmetric curves have, count once."""
    found: list[Any] = []
    for x in sorted(-curve.ridge(p) for p in curve.critical_points()):
        if x > 0 and (not found or x - found[-1] > x * mp.mpf(10) ** (-mp.dps // 2)):
            found.append(x)
    return found
