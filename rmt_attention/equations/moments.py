"""Moments by Lagrange inversion, in arithmetic only; nothing is imported."""


def lagrange_coefficient(terms, widths):
    """(1/k) [ζ^{k−1}] u'(ζ) ∏_b (1 + u(ζ)/b)^k for u = Σ_{j ≤ k} u_j ζ^j, given as its k terms. (laws.moments)"""
    order = len(terms)

    def product(left, right):
        return [sum(left[i] * right[j - i] for i in range(j + 1)) for j in range(order)]

    factor = [1] + [0] * (order - 1)
    for width in widths:
        factor = product(factor, [1, *(term / width for term in terms[:-1])])
    coefficient, power, exponent = [term * (j + 1) for j, term in enumerate(terms)], factor, order
    while exponent:  # times factor^order, by squaring
        if exponent % 2:
            coefficient = product(coefficient, power)
        exponent //= 2
        if exponent:
            power = product(power, power)
    return coefficient[-1] / order
