"""Values equal to keys within each head: the laws as a rational curve in one parameter 0 < q < 1.

Every function takes the namespace first and the file imports nothing. h is the number of heads, a = γ_K/h,
``excess`` is a(θ1−θ2)/θ2, k = 1 + a + excess, and
``rest`` is 1 − q, kept apart because it cancels near q = 1. Source: derived in derivations/03-tied-laws.md.
"""


def degrees_of_freedom(xp, q, rest, h, a, excess):
    """w(q) = h q (k − (1+a) q)/(1 − q²). (laws.tied-w)"""
    return h * q * (excess + (1 + a) * rest) / (rest * (1 + q))


def degrees_of_freedom_slope(xp, q, rest, h, a, excess):
    """dw/dq = h (k(1 + q²) − 2(1+a)q)/(1 − q²)²."""
    one_minus_square = rest * (1 + q)
    return h * (excess * (1 + q * q) + (1 + a) * rest * rest) / (one_minus_square * one_minus_square)


def degrees_of_freedom_curvature(xp, q, rest, h, a, excess):
    """d²w/dq² = h (excess/(1−q)³ − (excess + 2(1+a))/(1+q)³), from the two simple poles of w."""
    right = 1 + q
    return h * (excess / (rest * rest * rest) - (excess + 2 * (1 + a)) / (right * right * right))


def degrees_of_freedom_gap(xp, q, rest, distance, q_end, rest_end, h, a, excess):
    """w(q_end) − w(q), where distance = q_end − q: a product of positive terms, so nothing cancels."""
    numerator = excess * (1 + q * q_end) + (1 + a) * rest * rest_end
    return distance * h * numerator / (rest * (1 + q) * rest_end * (1 + q_end))


def parameter(xp, w, h, a, excess):
    """The root q of (h(1+a) − w) q² − h k q + w = 0 in (0, 1), for 0 < w ≤ min(h, γ_K), and 1 − q."""
    k = 1 + a + excess
    # In units of hk, where nothing overflows: root² = 1 − 4w(h(1+a) − w)/(hk)², without cancellation at w = h(1+a)/2.
    noise, half = excess / k, ((1 + a) - 2 * (w / h)) / k
    square = noise * (2 * (1 + a) / k + noise)
    root = xp.sqrt(square + half * half)
    gap = noise + half + root  # (1 − q)(1 + root), whose last two terms cancel for half < 0
    if half < 0:
        gap = noise + square / (root - half)
    return 2 * (w / h) / k / (1 + root), gap / (1 + root)


def scale(xp, q, rest, theta2):
    """s(q) = q/(θ2 (1 − q)²), the Koebe function over θ2. (laws.tied-lambda)"""
    return q / (theta2 * rest * rest)


def scale_log_slope(xp, q, rest):
    """dlog s/dq = (1 + q)/(q (1 − q))."""
    return (1 + q) / (q * rest)


def scale_log_curvature(xp, q, rest, unit):
    """d²log s/dq² = 2/(1 − q)² − 1/q², times unit²."""
    right, left = unit / rest, unit / q
    return 2 * (right * right) - left * left
