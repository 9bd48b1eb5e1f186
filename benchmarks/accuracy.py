"""Double precision against 40 digits, every method, hard parameter sets: python -m benchmarks.accuracy"""

from __future__ import annotations

from tests.laws.stress import generate
from tests.laws.stress_errors import DIGITS_LIMITS, digits_errors

from .hard_sets import program

if __name__ == "__main__":
    program("accuracy", __doc__, 60, {"sets": (digits_errors, DIGITS_LIMITS, generate)})
