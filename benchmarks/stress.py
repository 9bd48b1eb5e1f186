"""Thousands of hard parameter sets against closed forms and mpmath: python -m benchmarks.stress"""

from __future__ import annotations

from tests.laws.stress import generate
from tests.laws.stress_errors import LIMITS, stress_errors

from .hard_sets import program

if __name__ == "__main__":
    program("stress", __doc__, 10_000, {"sets": (stress_errors, LIMITS, generate)})
