"""Leaf parameters of a tree at given points of the closed upper half-plane, each with proof of its branch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .nodes import EPS, Array, Node, Point, Trace, angle

__all__ = ["Roots", "Subordination"]

_CLOSE = 1e-9  # relative moves and residuals below which one more Newton step leaves rounding only
_SHARP = 1e-4  # relative error of z that a point may have
_ROUNDS = 10
_DESCENTS = 400


@dataclass(frozen=True)
class Roots:
    """Leaf parameters (rows) at points z; real ones where the limit from above at real z lies outside the support.

    ``density`` is −Im G/π at real z inside the support, 0 elsewhere.
    """

    z: Array
    parameters: Array
    inside: Array
    density: Array

    def take(self, which: Array) -> Roots:
        return Roots(self.z[which], self.parameters[:, which], self.inside[which], self.density[which])

    def joined(self, after: Roots) -> Roots:
        """These, then the others."""
        return Roots(
            np.append(self.z, after.z),
            np.concatenate([self.parameters, after.parameters], axis=1),
            np.append(self.inside, after.inside),
            np.append(self.density, after.density),
        )


class Subordination:
    """The curve of a tree and its inverse."""

    def __init__(self, node: Node) -> None:
        self.node = node
        centres, radii = np.array(node.scales()).T
        self._centres, self.radii = centres[:, None], radii[:, None]

    def at(self, parameters: Array, *, bends: bool = False) -> tuple[Point, Trace]:
        trace = Trace(parameters, bends)
        with np.errstate(all="ignore"):  # poles are met and left again
            return self.node.at(trace, 0, 1), trace

    def argument(self, parameters: Array) -> Array:
        """Im ∫ log(z − x) dμ on the closed upper half-plane; on the real axis π μ((x, ∞))."""
        with np.errstate(all="ignore"):
            return self.node.argument(Trace(parameters, False), 0, 1)[0]

    def density(self, x: Array, point: Point) -> Array:
        """−Im G/π at real x, from the point of the curve there."""
        with np.errstate(all="ignore"):
            value = (1 / point.F.value).imag if point.V is None else point.V.value.imag / x
        return np.asarray(np.maximum(-value / np.pi, 0.0))

    def expanded(self, x: Array, parameters: Array) -> Roots:
        """Parameters taken as they are for points inside the support."""
        return Roots(x + 0j, parameters, np.ones(x.size, bool), self.density(x, self.at(parameters)[0]))

    def transform(self, roots: Roots) -> Array:
        """G; real outside the support."""
        point, _ = self.at(roots.parameters)
        with np.errstate(all="ignore"):
            value = np.asarray(1 / point.F.value)
        real = (roots.z.imag == 0) & ~roots.inside
        return np.where(real, value.real + 0j, value)

    def sharp(self, roots: Roots) -> Array:
        """Where rounding leaves digits of z."""
        return np.asarray(self.at(roots.parameters)[0].noise <= _SHARP * np.abs(roots.z))

    def scaled(self, z: Array, parameters: Array, ratio: Array) -> Array:
        """Guesses at ratio · z near z = 0, where the parameters are powers of z."""
        point, trace = self.at(parameters)
        with np.errstate(all="ignore"):
            power = trace.rate * (z / point.z.slope) / parameters
            result = parameters * np.exp(power * np.log(ratio))
        return np.where(np.isfinite(result), result, parameters)

    def predict(self, parameters: Array, move: Array) -> Array:
        """Parameters moved; far out it is their inverses that move."""
        away = parameters - self._centres
        with np.errstate(all="ignore"):
            result = parameters + move
            far = np.abs(away) > self.radii
            if far.any():
                result = np.where(far, parameters + move / (1 - move / away), result)
        return np.where(np.isfinite(result), result, parameters)

    def onto_curve(self, parameters: Array) -> Array:
        """Real parameters that solve the equations of the tree, the first one kept."""
        for _ in range(_ROUNDS if self.node.leaves > 1 else 0):
            move = self.at(parameters)[1].offset.real
            parameters = self.predict(parameters, move)
            if not (np.abs(move) > _CLOSE * np.abs(parameters)).any():
                break
        return parameters

    def bend(self, point: Point, parameters: Array) -> Array:
        """z″ in the first parameter; far out such that a step by it is right to second order for the inverse."""
        away = parameters[0] - self._centres[0]
        with np.errstate(all="ignore"):
            return point.z.bend + np.where(np.abs(away) > self.radii[0], 2 * point.z.slope / away, 0)

    def expansion(self, start: Array, parameters: Array) -> tuple[Callable[[Array], Array], Array]:
        """From roots at ``start``, second-order guesses at any z, and the distance to the next branch point by that."""
        point, trace = self.at(parameters, bends=True)
        with np.errstate(all="ignore"):
            curved = self.bend(point, parameters) / point.z.slope
            reach = 0.5 * np.abs(point.z.slope / curved)

        def guess(z: Array) -> Array:
            with np.errstate(all="ignore"):
                step = (z - start) / point.z.slope
                return self.predict(parameters, trace.rate * step * (1 - 0.5 * curved * step))

        return guess, reach

    def towards(self, start: Array, parameters: Array, z: Array) -> Array:
        """Second-order guesses at z from roots at ``start``."""
        return self.expansion(start, parameters)[0](z)

    def newton(self, z: Array, guess: Array, rounds: int = _ROUNDS) -> tuple[Array, Array]:
        """Newton steps for all leaves at once; the parameters, and where they have converged."""
        result, done = guess.copy(), np.zeros(z.size, bool)
        rows, goal, now = np.arange(z.size), z, guess
        with np.errstate(all="ignore"):
            tolerance = _CLOSE * np.abs(z)
            for _ in range(rounds):
                trace = Trace(now, False)
                point = self.node.at(trace, 0, 1)
                residual = goal - point.z.value
                move = trace.offset + trace.rate * (residual / point.z.slope)
                now = self.predict(now, move)
                missed = np.abs(residual)
                # the step is small, or rounding stops it; the equations between the leaves hold
                size = _CLOSE * np.minimum(np.abs(now), np.abs(now - move))
                good = (missed <= tolerance[rows]) & (np.abs(move) <= size).all(0)
                good |= (missed <= 4 * point.noise) & (np.abs(trace.offset) <= size).all(0)
                result[:, rows] = now
                if good.any():
                    done[rows[good]] = True
                    left = ~good
                    rows, goal, now = rows[left], goal[left], now[:, left]
                    if not rows.size:
                        break
        return result, done

    def proved(self, z: Array, parameters: Array) -> tuple[Array, Array, Point]:
        """Where parameters are the branch in the upper half-plane, where outside the support, and their point.

        (free.branch)
        """
        point, trace = self.at(parameters)
        with np.errstate(all="ignore"):
            residual = np.abs(point.z.value - z)
            error = (residual + 4 * point.noise) / np.abs(point.z.slope)
            upper = residual <= np.maximum(_CLOSE * np.abs(z), 8 * point.noise)
            outside = upper & (z.imag == 0)
            for link in trace.links:
                inner, outer = link.inner.value, link.outer.value
                loss = error * np.abs(link.inner.slope) + 8 * EPS * np.abs(inner)
                rate = link.inner.slope.real / link.outer.slope.real
                if link.additive:
                    above = link.sheet * (inner.imag - outer.imag) >= -2 * loss
                    tame = rate >= 1 - _CLOSE
                else:
                    turn = link.sheet * (angle(link.sheet, inner) - angle(link.sheet, outer))
                    above = turn >= -2 * loss / np.abs(inner)
                    growth = rate * outer.real / inner.real  # of log z
                    left, right = (inner.real < 0) & (outer.real < 0), (inner.real > 0) & (outer.real > 0)
                    tame = np.where(left, growth <= 1 + _CLOSE, ~right | (growth >= 1 - _CLOSE)) & (rate > 0)
                upper &= above & (link.sheet * inner.imag > (3 if link.own else -2) * loss)
                outside &= tame
            for row, evidence in trace.evidence:
                above, tame = evidence(error * np.abs(trace.rate[row]))
                upper &= above
                outside &= tame
        return upper, outside, point

    def attempt_inside(self, z: Array, guess: Array) -> tuple[Roots, Array]:
        """Roots inside the support or off the axis by Newton steps from guesses alone, and where they are proved."""
        parameters, done = self.newton(z, guess)
        upper, _, point = self.proved(z, parameters)
        inside = done & upper
        density = np.where(inside & (z.imag == 0), self.density(z.real, point), 0.0)
        return Roots(z, parameters, inside, density), inside

    def attempt(self, z: Array, guess: Array) -> tuple[Roots, Array]:
        """Roots anywhere by Newton steps from guesses alone, and where they are proved."""
        roots, inside = self.attempt_inside(z, guess)
        found = inside.copy()
        axis = np.flatnonzero(~inside & (z.imag == 0))
        if axis.size:
            real, done = self.newton(z[axis], guess[:, axis].real.astype(complex))
            real = real.real.astype(complex)
            good = done & self.proved(z[axis], real)[1]
            roots.parameters[:, axis[good]] = real[:, good]
            found[axis[good]] = True
        return roots, found

    def solve(self, z: Array, guess: Array | None = None) -> tuple[Roots, Array]:
        """Roots at z, Im z ≥ 0, from the guesses or, where not proved, from far above; and where they are proved."""
        z = np.asarray(z, complex)
        if guess is None:
            return self._descend(z)
        roots, found = self.attempt(z, guess)
        rest = np.flatnonzero(~found)
        if rest.size:
            more, found[rest] = self._descend(z[rest])
            roots.parameters[:, rest] = more.parameters
            roots.inside[rest], roots.density[rest] = more.inside, more.density
        return roots, found

    def _descend(self, z: Array) -> tuple[Roots, Array]:
        """From the height of the support's width down to every point."""
        height = np.maximum(2 * self.node.extent, 2 * z.imag)
        now = np.empty((self.node.leaves, z.size), complex)
        self.node.start(z.real + 1j * height, now, 0)
        now, done = self.newton(z.real + 1j * height, now, 60)
        alive = done & self.proved(z.real + 1j * height, now)[0]
        result, reached = Roots(z, np.full_like(now, np.nan), np.zeros(z.size, bool), np.zeros(z.size)), done & False
        ratio, barred = np.full(z.size, 0.4), np.full(z.size, np.inf)
        rows = np.flatnonzero(alive)
        for _ in range(_DESCENTS):
            if not rows.size:
                break
            h, y = height[rows], z[rows].imag
            start = z[rows].real + 1j * h
            guess, reach = self.expansion(start, now[:, rows])
            final = ((reach > 0.9 * (h - y)) & (h < 0.3 * barred[rows])) | (h * ratio[rows] <= y)
            goal = z[rows].real + 1j * np.where(final, y, h * ratio[rows])
            roots, found = self.attempt(goal, guess(goal))
            ended = found & final
            result.parameters[:, rows[ended]] = roots.parameters[:, ended]
            result.inside[rows[ended]], result.density[rows[ended]] = roots.inside[ended], roots.density[ended]
            reached[rows[ended]] = True
            on = found & ~final
            now[:, rows[on]], height[rows[on]] = roots.parameters[:, on], goal[on].imag
            ratio[rows[on]] = 0.4
            barred[rows[final & ~found]] = h[final & ~found]
            lower = ~found & (~final | (y > 0))
            ratio[rows[lower]] = np.sqrt(ratio[rows[lower]])
            rows = rows[~ended]
            rows = rows[(height[rows] > 1e-300) & (ratio[rows] < 0.9999)]
        return result, reached
