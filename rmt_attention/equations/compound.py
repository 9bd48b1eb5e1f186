"""Compound free Poisson π(μ, t) with atomic jump law μ: a rational curve in 0 < p < 1.

Every function takes the namespace first and the file imports nothing. ``jumps`` are the positive atoms of μ over their
mean, ``rates`` are t times the weights; both broadcast against a trailing axis of p. The curve is the equation of
Marchenko and Pastur (1967), in the form of Silverstein (1995), with v = p/(1 − p) in units of the mean jump; ``rest``
is 1 − p, kept apart because it cancels near p = 1.
"""


def degrees_of_freedom(xp, p, rest, jumps, rates):
    """w(p) = Σ rates · p y/(1 − p + p y). (laws.compound-w)"""
    p, rest = p[..., None], rest[..., None]
    return (rates * (p * jumps / (rest + p * jumps))).sum(-1)


def degrees_of_freedom_slope(xp, p, rest, jumps, rates):
    """dw/dp = Σ rates · y/(1 − p + p y)²."""
    denominator = rest[..., None] + p[..., None] * jumps
    return (rates * (jumps / denominator) / denominator).sum(-1)


def degrees_of_freedom_curvature(xp, p, rest, jumps, rates):
    """d²w/dp² = −2 Σ rates · y (y − 1)/(1 − p + p y)³."""
    denominator = rest[..., None] + p[..., None] * jumps
    return -2 * (rates * (jumps / denominator) * ((jumps - 1) / denominator) / denominator).sum(-1)


def degrees_of_freedom_gap(xp, p, rest, distance, p_end, rest_end, jumps, rates):
    """w(p_end) − w(p), where distance = p_end − p: a product of positive terms, so nothing cancels."""
    denominator = (rest[..., None] + p[..., None] * jumps) * (rest_end + p_end * jumps)
    return distance * (rates * jumps / denominator).sum(-1)
