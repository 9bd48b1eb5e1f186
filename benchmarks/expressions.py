"""Random expressions of free probability against closed forms and random matrices: python -m benchmarks.expressions"""

from __future__ import annotations

from tests.free.expression_errors import LIMITS, MATRIX_LIMITS, law_errors, matrix_errors
from tests.free.expressions import generate, generate_with_matrix

from .hard_sets import program

if __name__ == "__main__":
    matrices = (matrix_errors, MATRIX_LIMITS, lambda count, seed: generate_with_matrix(min(30, count), seed))
    program("expressions", __doc__, 2000, {"sets": (law_errors, LIMITS, generate), "matrices": matrices})
