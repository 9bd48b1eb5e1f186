"""Values independent of keys: the laws as a rational curve in one parameter v > 0.

Every function takes the namespace first and the file imports nothing. c = θ2/θ1 is the linear fraction, ``noise`` is
1 − c handed over separately because it cancels at small β, and t is γ_K. Source: derived in
derivations/02-explicit-laws.md from the S-transforms of Hayase and Karakida (2026), appendix C.
"""


def degrees_of_freedom(xp, v, c, noise, t):
    """w(v) = (1−c) v + c v/(1 + c v/t). (laws.independent-w)"""
    return noise * v + c * v / (1 + c * v / t)


def degrees_of_freedom_slope(xp, v, c, noise, t):
    """dw/dv."""
    denominator = 1 + c * v / t
    return noise + c / (denominator * denominator)


def degrees_of_freedom_curvature(xp, v, c, noise, t):
    """d²w/dv²."""
    denominator = 1 + c * v / t
    return -2 * c * c / (t * denominator * denominator * denominator)


def degrees_of_freedom_gap(xp, v, distance, v_end, c, noise, t):
    """w(v_end) − w(v), where distance = v_end − v: a product of positive terms, so nothing cancels."""
    return distance * (noise + c / ((1 + c * v / t) * (1 + c * v_end / t)))


def parameter(xp, w, c, noise, t):
    """The v > 0 with w(v) = w, the positive root of c(1−c)v²/t + (1 − c w/t)v = w."""
    linear = 1 - c * w / t
    curvature = c * noise / t
    # w/half and half/curvature are the same root; the first cancels for linear < 0, the second for linear ≥ 0
    negative = linear.real < 0
    positive = 1 - negative
    half = ((positive - negative) * linear + xp.sqrt(linear * linear + 4 * curvature * w)) / 2
    return (positive * w + negative * half) / (positive * half + negative * curvature)


def log_scale(xp, w, c, noise, t):
    """log v at given w: with it log λ = log C + Σ log(1 − w/a) − log v is explicit in w. (laws.independent-lambda)"""
    return xp.log(parameter(xp, w, c, noise, t))


def series(order, unit, c, noise, t):
    """u_j/unit^j, j = 1 … order, of u(ζ) = (1−c)ζ + cζ/(1 − cζ/t) = Σ u_j ζ^j, all positive. (laws.moments)"""
    terms = [t * (c / t / unit) ** j for j in range(1, order + 1)]
    terms[0] = terms[0] + noise / unit
    return terms
