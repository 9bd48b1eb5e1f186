"""Compound free Poisson π(μ, t) with atomic jump law μ: a rational curve in 0 < p < 1.

Every function takes the namespace first, the file imports nothing, and what is given is ONE jump's part: sums over the
jumps are the caller's. ``jump`` is an atom of μ over the mean of the positive ones, ``rate`` is t times its weight. The
curve is the equation of Marchenko and Pastur (1967), in the form of Silverstein (1995), with v = p/(1 − p) in units of
the mean jump; ``rest`` is 1 − p, kept apart because it cancels near p = 1.
"""


def degrees_of_freedom(xp, p, rest, jump, rate):
    """Part of w(p) = Σ rate · p y/(1 − p + p y). (laws.compound-w)"""
    return rate * (p * jump / (rest + p * jump))


def degrees_of_freedom_slope(xp, p, rest, jump, rate):
    """Part of dw/dp = Σ rate · y/(1 − p + p y)²."""
    denominator = rest + p * jump
    return rate * (jump / denominator) / denominator


def degrees_of_freedom_curvature(xp, p, rest, jump, rate):
    """Part of d²w/dp² = −2 Σ rate · y (y − 1)/(1 − p + p y)³."""
    denominator = rest + p * jump
    return -2 * rate * (jump / denominator) * ((jump - 1) / denominator) / denominator


def degrees_of_freedom_gap(xp, p, rest, distance, p_end, rest_end, jump, rate):
    """Part of w(p_end) − w(p), where distance = p_end − p: a product of positive factors, so nothing cancels."""
    denominator = (rest + p * jump) * (rest_end + p_end * jump)
    return distance * (rate * jump / denominator)
