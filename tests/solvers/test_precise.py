"""The loops of arbitrary precision on problems whose answer is known."""

from __future__ import annotations

import pytest
from mpmath import mp, mpf

from rmt_attention.errors import ConvergenceError
from rmt_attention.solvers.precise import (
    follow_root,
    polynomial_roots,
    power,
    product,
    quotient_series,
    total,
    value,
    zero_of_decreasing,
)


def test_the_zero_of_a_decreasing_function_has_all_digits_wherever_it_lies() -> None:
    with mp.workdps(50):
        for zero in (mpf(0), mpf("1e-3"), mpf(300), mpf(-7000)):
            assert abs(zero_of_decreasing(lambda x, zero=zero: zero - x) - zero) < mpf(10) ** -45
            assert abs(zero_of_decreasing(lambda x, zero=zero: -((x - zero) ** 3) - (x - zero)) - zero) < mpf(10) ** -45
        assert abs(zero_of_decreasing(lambda x: 2 - mp.exp(x)) - mp.log(2)) < mpf(10) ** -48
        assert abs(zero_of_decreasing(lambda x: mp.exp(-x) - mpf(10) ** -90) - 90 * mp.log(10)) < mpf(10) ** -44


def test_roots_of_any_size_and_near_each_other_are_all_found() -> None:
    with mp.workdps(50):
        known = [mpf("1e-30"), mpf("2e-30"), mpf(1), 1 + mpf(10) ** -15, mp.mpc(0, 1), mp.mpc(0, -1), mpf("1e40")]
        polynomial = product(*[[-root, mp.one] for root in known])
        found = polynomial_roots(polynomial)
        assert len(found) == len(known)
        for root in known:
            # a polynomial given to 50 digits knows roots 1e-15 apart to 50 − 15 digits
            assert min(abs(one / root - 1) for one in found) < mpf(10) ** -30


def test_leading_zeros_do_not_count_as_roots() -> None:
    with mp.workdps(20):
        (root,) = polynomial_roots([mpf(-3), mpf(2), mp.zero])
        assert abs(root - mpf("1.5")) < mpf(10) ** -18


def test_series_of_quotients_and_powers() -> None:
    assert quotient_series([mp.one], [mp.one, -mp.one], 5) == [1, 1, 1, 1, 1]
    assert quotient_series([mpf(2), mp.one], [mpf(2)], 3) == [1, mpf(1) / 2, 0]
    assert power([mp.one, mp.one], 4, 3) == [1, 4, 6]
    assert total([mp.one], [mp.zero, mpf(3)]) == [1, 3]
    assert value([mpf(1), mpf(2), mpf(3)], mpf(2)) == 17


def test_a_root_is_followed_and_not_another_that_comes_near() -> None:
    """Roots ±√(z − a): around the branch point a by its right side they keep their sign, whatever the first step."""

    def at(z: object) -> list[object]:
        return [-(z - (1 - mpf(10) ** -8 * mp.j)), mp.zero, mp.one]  # type: ignore[operator]

    with mp.workdps(40):
        start = 1 + 1000 * mp.j
        roots = polynomial_roots(at(start))
        index = max(range(2), key=lambda i: mp.im(roots[i]))
        end = mp.mpc(1)
        root, near = follow_root(at, start, end, roots, index)
        assert abs(root - mp.sqrt(end - (1 - mpf(10) ** -8 * mp.j))) < mpf(10) ** -20
        assert abs(near - 2 * abs(root)) < mpf(10) ** -10


def test_a_root_that_meets_another_at_the_end_is_an_error() -> None:
    with mp.workdps(30):
        start = mp.mpc(1, 1)
        roots = polynomial_roots([-(start - 1), mp.zero, mp.one])
        with pytest.raises(ConvergenceError, match="may be an edge"):
            follow_root(lambda z: [-(z - 1), mp.zero, mp.one], start, mp.mpc(1), roots, 0)


def test_steep_flat_and_distant_functions_give_up_their_zero() -> None:
    with mp.workdps(40):
        zero = mpf("0.3")
        assert abs(zero_of_decreasing(lambda x: mp.tanh(mpf(10) ** 12 * (zero - x))) - zero) < mpf(10) ** -38
        assert abs(zero_of_decreasing(lambda x: (zero - x) ** 9) - zero) < mpf(10) ** -37
        assert abs(zero_of_decreasing(lambda x: 1 - mp.exp(1000 * (x - 2))) - 2) < mpf(10) ** -38
        assert abs(zero_of_decreasing(lambda x: mp.atan(10**6 - x)) - 10**6) < mpf(10) ** -32


def test_a_root_that_turns_is_followed_where_the_nearest_root_of_one_step_is_the_other() -> None:
    """Roots ±exp(iπkz): after k = 1 or 5 half turns each stands where the other stood."""
    with mp.workdps(40):
        for k in (1, 5):

            def at(z: object, k: int = k) -> list[object]:
                return [-mp.expjpi(2 * k * z), mp.zero, mp.one]

            root, near = follow_root(at, mpf(0), mpf(1), [mp.mpc(1), mp.mpc(-1)], 0)
            assert abs(root + 1) < mpf(10) ** -13  # a third of the digits, as long as the root is not polished
            assert abs(near - 2) < mpf(10) ** -13
            # negative control
            assert abs(min(polynomial_roots(at(mpf(1))), key=lambda one: abs(one - 1)) - 1) < mpf(10) ** -38


def test_the_zero_is_right_when_the_bracket_has_to_move_first_either_way() -> None:
    with mp.workdps(30):
        for zero in (mpf(-900), mpf(-1), mpf(1), mpf(900)):
            assert abs(zero_of_decreasing(lambda x, zero=zero: mp.tanh(zero - x)) - zero) <= abs(zero) * mpf(10) ** -28
