"""Variances that the inverse temperature sets: θ1 = e^{β²} − 1, θ2 = β², θ1 − θ2.

Every function takes the namespace first (math, numpy, …) and the file imports nothing.
"""


def score_variance_excess(xp, theta2):
    """θ1 − θ2 = e^{θ2} − 1 − θ2 for θ2 > 0, without cancellation. (model.thetas)

    With g(y) = e^y − 1 − y one has g(2y) = 2 g(y) + (e^y − 1)²: both terms are positive, so ten doublings from the
    Taylor sum at θ2/1024 lose no more than e^{θ2} itself does: a relative error of about ε(4 + θ2).
    """
    y = theta2 / 1024
    excess = 1
    for order in range(24, 2, -1):
        excess = 1 + y / order * excess
    excess = y * y / 2 * excess
    for _ in range(10):
        growth = y + excess
        excess = 2 * excess + growth * growth
        y = 2 * y
    return excess
