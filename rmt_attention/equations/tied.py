"""Values equal to keys within each head: the laws as a rational curve in one parameter 0 < q < 1.

Every function takes the namespace first and the file imports nothing. h is the number of heads, a = γ_K/h,
``excess`` is a(θ1−θ2)/θ2 and k = 1 + a + excess. Source: derived in derivations/03-tied-laws.md.
"""


def degrees_of_freedom(xp, q, h, a, excess):
    """w(q) = h q (k − (1+a) q)/(1 − q²). (laws.tied-w)"""
    return h * q * (excess + (1 + a) * (1 - q)) / (1 - q * q)


def degrees_of_freedom_slope(xp, q, h, a, excess):
    """dw/dq = h (k(1 + q²) − 2(1+a)q)/(1 − q²)²."""
    one_minus_square = 1 - q * q
    return h * (excess * (1 + q * q) + (1 + a) * (1 - q) * (1 - q)) / (one_minus_square * one_minus_square)


def degrees_of_freedom_gap(xp, q, distance, q_end, h, a, excess):
    """w(q_end) − w(q), where distance = q_end − q: a product of positive terms, so nothing cancels."""
    numerator = excess * (1 + q * q_end) + (1 + a) * (1 - q) * (1 - q_end)
    return distance * h * numerator / ((1 - q * q) * (1 - q_end * q_end))


def parameter(xp, w, h, a, excess):
    """The smaller root q of (h(1+a) − w) q² − h k q + w = 0; it lies in (0, 1) for 0 < w ≤ min(h, γ_K)."""
    k = 1 + a + excess
    # (hk)² − 4w(h(1+a) − w) without cancellation at w = h(1+a)/2:
    half = h * (1 + a) - 2 * w
    discriminant = h * h * excess * (2 * (1 + a) + excess) + half * half
    return 2 * w / (h * k + xp.sqrt(discriminant))


def scale(xp, q, theta2):
    """s(q) = q/(θ2 (1 − q)²), the Koebe function over θ2. (laws.tied-lambda)"""
    return q / (theta2 * (1 - q) * (1 - q))


def scale_log_slope(xp, q):
    """dlog s/dq = (1 + q)/(q (1 − q))."""
    return (1 + q) / (q * (1 - q))
