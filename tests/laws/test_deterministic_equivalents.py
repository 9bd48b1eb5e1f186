"""A route without free probability: deterministic equivalents of the Gaussian model, solved by damped iteration.

Given keys, values and output weights, the model is scores plus noise, two separable Gaussian matrices with left
covariance I; integrating out one Gaussian layer after the other multiplies by 1 − (degrees of freedom)/(width). With
ω1 and ω2 the shares of w that belong to scores and noise, and g = (1 − w)/λ:

* values independent of keys: ω_i = h q_i/(1 + q1 + q2), q1 = (θ2 γ_O/h)(1 − ω1/γ_K)(1 − w/γ_V)(1 − w/γ_O) g and
  q2 = ((θ1−θ2) γ_O/h)(1 − w/γ_V)(1 − w/γ_O) g;
* values equal to keys: with s = (γ_O r/γ_K) g (θ1−θ2), r = 1 − w/γ_O, and c± the roots of
  c² − s c + γ_O r g h θ2/γ_K² = 0, D± = h c a v/(1 + c a v) at c±, a = γ_K/h, v = 1 − D/γ_K:
  ω1 = (c₊D₋ − c₋D₊)/(c₊−c₋), ω2 = s (D₊ − D₋)/(c₊−c₋).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rmt_attention.laws import output_law, tied_output_law

Shares = Callable[[complex, complex], tuple[complex, complex]]


def _iterate(shares: Shares) -> complex:
    first = second = 1e-3 + 0j
    for _ in range(100_000):
        new_first, new_second = shares(first, second)
        change = abs(new_first - first) + abs(new_second - second)
        first, second = (first + new_first) / 2, (second + new_second) / 2
        if change < 1e-14 * (abs(first) + abs(second)):
            return first + second
    raise AssertionError("the iteration did not settle")


def _output(ridge: complex, beta: float, h: float, key: float, value: float, out: float) -> complex:
    theta2, noise = beta**2, np.expm1(beta**2) - beta**2

    def shares(first: complex, second: complex) -> tuple[complex, complex]:
        w = first + second
        common = out / h * (1 - w / value) * (1 - w / out) * (1 - w) / ridge
        q1, q2 = theta2 * (1 - first / key) * common, noise * common
        return h * q1 / (1 + q1 + q2), h * q2 / (1 + q1 + q2)

    return _iterate(shares)


def _tied_output(ridge: complex, beta: float, h: float, key: float, out: float) -> complex:
    theta2, noise, a = beta**2, np.expm1(beta**2) - beta**2, key / h

    def key_share(c: complex) -> complex:
        """The root D of D (1 + ca(1 − D/γ_K)) = hca(1 − D/γ_K) that vanishes with c."""
        square, linear = -c * a / key, 1 + c * a + h * c * a / key
        root = np.sqrt(linear * linear + 4 * square * h * c * a)
        return min(((sign * root - linear) / (2 * square) for sign in (1, -1)), key=abs)

    def shares(first: complex, second: complex) -> tuple[complex, complex]:
        w = first + second
        common = out * (1 - w / out) * (1 - w) / ridge / key
        s, product = common * noise, common * h * theta2 / key
        root = np.sqrt(s * s - 4 * product + 0j)
        plus, minus = (s + root) / 2, (s - root) / 2
        d_plus, d_minus = key_share(plus), key_share(minus)
        return (plus * d_minus - minus * d_plus) / root, s * (d_plus - d_minus) / root

    return _iterate(shares)


def test_output_laws_solve_the_deterministic_equivalents_in_the_plane() -> None:
    rng = np.random.default_rng(11)
    for _ in range(12):
        beta, heads = float(rng.uniform(0.05, 2.5)), float(rng.integers(1, 20))
        key, value, out = np.exp(rng.uniform(-1.5, 1.5, 3)).tolist()
        law = output_law(beta, heads, key, value, out)
        z = complex(rng.uniform(-1, 1.2), rng.uniform(0.3, 0.8)) * law.edges[-1]
        w = complex(law.solve(z).w)
        assert abs(_output(-z, beta, heads, key, value, out) - w) < 1e-12 * abs(w)
        # negative control: one per mille in β is seen
        assert abs(_output(-z, 1.001 * beta, heads, key, value, out) - w) > 1e-7 * abs(w)


def test_tied_output_laws_solve_the_deterministic_equivalents_in_the_plane() -> None:
    rng = np.random.default_rng(12)
    for _ in range(12):
        beta, heads = float(rng.uniform(0.05, 2.0)), float(rng.integers(1, 20))
        key, out = np.exp(rng.uniform(-1.5, 1.5, 2)).tolist()
        law = tied_output_law(beta, heads, key, out)
        z = complex(rng.uniform(-1, 1.2), rng.uniform(0.4, 0.9)) * law.edges[-1]
        w = complex(law.solve(z).w)
        assert abs(_tied_output(-z, beta, heads, key, out) - w) < 1e-12 * abs(w)
        assert abs(_tied_output(-z, 1.001 * beta, heads, key, out) - w) > 1e-7 * abs(w)
