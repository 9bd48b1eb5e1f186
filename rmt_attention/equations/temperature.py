"""Variances that the inverse temperature sets: θ1 = e^{β²} − 1, θ2 = β², θ1 − θ2.

Every function takes the namespace first (math, numpy, …) and the file imports nothing.
"""


def score_variance_excess(xp, theta2):
    """θ1 − θ2 = e^{θ2} − 1 − θ2 for θ2 > 0, to a few roundings. (model.thetas)

    With g(y) = e^y − 1 − y one has g(2y) = 2 g(y) + (e^y − 1)²: both terms are positive, so ten doublings from the
    Taylor sum at θ2/1024 are right to ε(4 + θ2), while the difference itself is right to 2ε/min(θ2, 1). Of the two,
    which agree up to these errors, the first counts by e^{−θ2} and the second by the rest.
    """
    y = theta2 / 1024
    doubled = 1
    for order in range(40, 2, -1):
        doubled = 1 + y / order * doubled
    doubled = y * y / 2 * doubled
    for _ in range(10):
        growth = y + doubled
        doubled = 2 * doubled + growth * growth
        y = 2 * y
    difference = xp.expm1(theta2) - theta2
    return difference + xp.exp(-theta2) * (doubled - difference)
