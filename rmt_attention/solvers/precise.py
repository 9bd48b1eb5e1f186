"""Loops at mpmath's working precision: a bracketed zero, all roots of a polynomial, one of them followed.

Nothing here is shared with the double-precision solvers. A root is followed along a path together with all the others,
and a step counts only if the root stays much nearer to its last position than to any other root.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from mpmath import mp

from ..errors import ConvergenceError

Polynomial = list[Any]  # coefficients, the constant term first
_MOST_STEPS = 4000


def product(*factors: Sequence[Any]) -> Polynomial:
    """Product of polynomials."""
    result: Polynomial = [mp.one]
    for factor in factors:
        longer = [mp.zero] * (len(result) + len(factor) - 1)
        for i, a in enumerate(result):
            for j, b in enumerate(factor):
                longer[i + j] += a * b
        result = longer
    return result


def total(*terms: Sequence[Any]) -> Polynomial:
    """Sum of polynomials."""
    size = max(len(term) for term in terms)
    return [sum((term[k] for term in terms if k < len(term)), mp.zero) for k in range(size)]


def power(polynomial: Sequence[Any], exponent: int, size: int) -> Polynomial:
    """The first ``size`` coefficients of a power."""
    result: Polynomial = [mp.one]
    for _ in range(exponent):
        result = product(result, polynomial)[:size]
    return result


def derivative(polynomial: Sequence[Any]) -> Polynomial:
    """Derivative of a polynomial."""
    return [k * a for k, a in enumerate(polynomial)][1:] or [mp.zero]


def value(polynomial: Sequence[Any], at: Any) -> Any:
    """Value of a polynomial."""
    result = mp.zero
    for a in reversed(polynomial):
        result = result * at + a
    return result


def quotient_series(above: Sequence[Any], below: Sequence[Any], size: int) -> Polynomial:
    """The first ``size`` coefficients of above/below, below[0] ≠ 0."""
    result: Polynomial = []
    for k in range(size):
        rest = sum((below[i] * result[k - i] for i in range(1, min(k, len(below) - 1) + 1)), mp.zero)
        result.append(((above[k] if k < len(above) else mp.zero) - rest) / below[0])
    return result


def zero_of_decreasing(function: Callable[[Any], Any]) -> Any:
    """The zero of a function on the real line that decreases from positive to negative values.

    False position in a bracket; the weight of an end that stays is scaled down as Anderson and Björck (1973) do, and
    the bracket is halved when three steps have not done as much.
    """
    low, high, reach = -mp.one, mp.one, mp.one
    while (at_low := function(low)) <= 0:
        low, high, reach = low - reach, low, 2 * reach
    while (at_high := function(high)) >= 0:
        low, high, reach = high, high + reach, 2 * reach
        at_low = function(low)
    length = high - low
    for step in range(1, _MOST_STEPS):
        middle = high - at_high * (high - low) / (at_high - at_low)
        if not low < middle < high or high - low <= 4 * mp.eps * (abs(low) + abs(high)):
            return middle
        if step % 3 == 0:
            if high - low > length / 2:
                middle = (low + high) / 2
            length = high - low
        here = function(middle)
        if here == 0:
            return middle
        if here > 0:
            share = 1 - here / at_low
            at_high *= share if share > 0 else mp.mpf(1) / 2
            low, at_low = middle, here
        else:
            share = 1 - here / at_high
            at_low *= share if share > 0 else mp.mpf(1) / 2
            high, at_high = middle, here
    raise ConvergenceError("a bracketed zero was not reached", result=(low, high))


def polynomial_roots(polynomial: Sequence[Any]) -> list[Any]:
    """All roots of a polynomial with nonzero constant term, simple ones to working precision."""
    trimmed = _trimmed(polynomial)
    tolerance = +mp.eps  # at this precision
    with mp.workdps(2 * mp.dps):
        roots = _refine(trimmed, _first_guesses(trimmed), tolerance, most_steps=100 * len(trimmed))
    if roots is None:
        raise ConvergenceError(f"the roots of a polynomial of degree {len(trimmed) - 1} were not found", result=trimmed)
    return roots


def smallest_root(polynomial: Sequence[Any]) -> tuple[list[Any], int]:
    """All roots, the smallest to a third of the digits and the others well enough to tell it from them; its index."""
    trimmed = _trimmed(polynomial)
    guesses = _first_guesses(trimmed)
    index = min(range(len(guesses)), key=lambda i: abs(guesses[i]))
    roots = _refine(trimmed, guesses, mp.mpf(10) ** (-mp.dps // 3), index, most_steps=100 * len(trimmed))
    if roots is None:
        raise ConvergenceError(f"the smallest of {len(trimmed) - 1} roots was not found", result=trimmed)
    return roots, index


def _trimmed(polynomial: Sequence[Any]) -> Polynomial:
    """Without vanishing leading coefficients."""
    trimmed = list(polynomial)
    while trimmed[-1] == 0:
        del trimmed[-1]
    return trimmed


def _first_guesses(polynomial: Sequence[Any]) -> list[Any]:
    """Points on circles whose radii are those of the roots in order of magnitude: slopes of Newton's polygon.

    Bini (1996).
    """
    heights = [(k, mp.log(abs(a))) for k, a in enumerate(polynomial) if a != 0]
    hull: list[tuple[int, Any]] = []
    for k, height in heights:
        while len(hull) > 1 and (hull[-1][1] - hull[-2][1]) * (k - hull[-2][0]) <= (height - hull[-2][1]) * (
            hull[-1][0] - hull[-2][0]
        ):
            hull.pop()
        hull.append((k, height))
    guesses: list[Any] = []
    for (k, height), (after, next_height) in pairwise(hull):
        radius = mp.exp((height - next_height) / (after - k))
        guesses += [radius * mp.expjpi(2 * (j + mp.mpf("0.3")) / (after - k) + k) for j in range(after - k)]
    return guesses


def _refine(
    polynomial: Sequence[Any], roots: Sequence[Any], tolerance: Any, index: int | None = None, most_steps: int = 30
) -> list[Any] | None:
    """Weierstrass's simultaneous iteration from nearby values, labels kept; None if it does not settle.

    With an index only that root is found to the tolerance, the others to 1 % of their distance from it: clusters
    elsewhere, where the iteration is slow, do not matter.
    """
    leading, roots = polynomial[-1], list(roots)
    for _ in range(most_steps):
        steps = []
        for i, root in enumerate(roots):
            apart = leading
            for j, other in enumerate(roots):
                if j != i:
                    apart = apart * (root - other)
            if apart == 0:
                return None
            steps.append(value(polynomial, root) / apart)
            roots[i] = root - steps[i]
        if index is None:
            settled = all(abs(step) < tolerance * abs(root) for step, root in zip(steps, roots, strict=True))
        else:
            settled = abs(steps[index]) < tolerance * abs(roots[index]) and all(
                abs(step) < abs(root - roots[index]) / 100
                for j, (step, root) in enumerate(zip(steps, roots, strict=True))
                if j != index
            )
        if settled:
            return roots
    return None


def _separation(roots: Sequence[Any], index: int) -> Any:
    return min(abs(roots[index] - other) for j, other in enumerate(roots) if j != index)


def follow_root(
    polynomial_at: Callable[[Any], Polynomial], start: Any, end: Any, roots: Sequence[Any], index: int
) -> tuple[Any, Any]:
    """Root ``index`` of the polynomials along start → end, and its final distance to the nearest other root.

    A step counts only if the root moves by less than a third of its distance to the other roots, before and after.
    """
    here, roots, stride = start, list(roots), mp.mpf(1) / 4  # of what remains: geometric in the distance to the end
    while stride * abs(end - here) > mp.eps * abs(end):
        there = end if stride >= 1 else here + (end - here) * stride
        moved = _refine(polynomial_at(there), roots, mp.mpf(10) ** (-mp.dps // 3), index)
        if moved is not None:
            near = min(_separation(roots, index), _separation(moved, index))
            if abs(moved[index] - roots[index]) < near / 3:
                if there == end:
                    return moved[index], near
                here, roots, stride = there, moved, 2 * stride
                continue
        stride /= 2
    raise ConvergenceError(
        f"the root could not be followed to z = {mp.nstr(end, 12)}, which may be an edge of the support", result=roots
    )
