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
    # (1 − q)(1 + root) = noise + (half + root), which for half < 0 is square/(root − half)
    negative = half.real < 0
    positive = 1 - negative
    size = root + (positive - negative) * half
    gap = noise + positive * size + negative * (square / size)
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


def log_scale(xp, w, theta2, h, a, excess):
    """log s at given w: with it log λ = log C + Σ log(1 − w/a) − log s is explicit in w. (laws.tied-lambda)"""
    q, rest = parameter(xp, w, h, a, excess)
    return xp.log(scale(xp, q, rest, theta2))


def series(order, largest, h, a, excess):
    """u_j/unit^j, j = 1 … order, of u = h ∫ ζφ/(1−ζφ) dπ_a with φ(x) = (θ2/a)(x² + excess·x). (laws.moments)

    The coefficients are h ∫ φ^j dπ_a. Powers of x and φ are taken in units of ``largest``, the top edge of π_a, and of
    unit = (θ2/a)·largest·(excess + largest). All terms are positive.
    """
    binomials = [[1]]
    for _ in range(2 * order):
        last = binomials[-1]
        binomials.append([1, *(last[i] + last[i + 1] for i in range(len(last) - 1)), 1])
    narayana = [
        sum(
            binomials[j][i] * binomials[j][i - 1] // j * (a / largest) ** i * (1 / largest) ** (j - i)
            for i in range(1, j + 1)
        )
        for j in range(1, 2 * order + 1)
    ]
    linear, square = excess / (excess + largest), largest / (excess + largest)
    return [
        h * sum(binomials[k][j] * linear ** (k - j) * square**j * narayana[k + j - 1] for j in range(k + 1))
        for k in range(1, order + 1)
    ]
