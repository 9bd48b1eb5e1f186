"""Settings of every test run: a plotting backend without a window, and one BLAS thread."""

from __future__ import annotations

import os
from collections.abc import Iterator

os.environ["MPLBACKEND"] = "Agg"

import numpy as np  # noqa: F401 - its BLAS must be loaded for the limit to reach it
import pytest
import scipy.linalg  # noqa: F401 - brings a BLAS of its own
from threadpoolctl import threadpool_limits


@pytest.fixture(scope="session", autouse=True)
def _one_blas_thread() -> Iterator[None]:
    with threadpool_limits(limits=1, user_api="blas"):
        yield
