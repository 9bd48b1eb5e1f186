"""Squared singular values of matrices that arrive head by head."""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas, eigvalsh

from .projections import Matrix


class Columns:
    """Z Zᵀ for Z = [Z_1, …, Z_h] given block by block: Z itself while it is no larger than n × n, else its Gram."""

    def __init__(self, n: int, columns: int) -> None:
        self._concatenate = columns <= n
        self._matrix = np.zeros((n, columns if self._concatenate else n), order="F")
        self._filled = 0

    def add(self, block: Matrix) -> None:
        if self._concatenate:
            self._matrix[:, self._filled : self._filled + block.shape[1]] = block
            self._filled += block.shape[1]
        else:
            # block.T is in Fortran order without a copy
            self._matrix = blas.dsyrk(1.0, block.T, 1.0, self._matrix, trans=1, lower=1, overwrite_c=1)

    def squared_singular_values(self, rank: int) -> Matrix:
        if self._concatenate:
            return squared_singular_values(self._matrix, rank)
        return _eigenvalues(self._matrix, self._matrix.shape[0], rank)


class Sum:
    """Σ_r A_r B_r, accumulated in place."""

    def __init__(self, n: int, columns: int) -> None:
        self.matrix = np.zeros((n, columns), order="F")

    def add(self, left: Matrix, right: Matrix, factor: float) -> None:
        self.matrix = blas.dgemm(factor, left.T, right.T, beta=1.0, c=self.matrix, trans_a=1, trans_b=1, overwrite_c=1)

    def add_matrix(self, block: Matrix) -> None:
        self.matrix += block

    def squared_singular_values(self, rank: int) -> Matrix:
        return squared_singular_values(self.matrix, rank)


def squared_singular_values(matrix: Matrix, rank: int) -> Matrix:
    """The n eigenvalues of M Mᵀ (n × m), ascending, from the Gram matrix of the smaller side; n − rank exact zeros."""
    n, m = matrix.shape
    source = np.asfortranarray(matrix)
    gram = blas.dsyrk(1.0, source, trans=int(m < n), lower=1)
    return _eigenvalues(gram, n, rank)


def _eigenvalues(gram: Matrix, n: int, rank: int) -> Matrix:
    if not np.isfinite(gram).all():
        return np.full(n, np.nan)
    values = eigvalsh(gram, lower=True, overwrite_a=True, check_finite=False)
    result = np.zeros(n)
    kept = min(rank, values.size)
    if kept:
        result[n - kept :] = np.maximum(values[values.size - kept :], 0.0)
    return result
