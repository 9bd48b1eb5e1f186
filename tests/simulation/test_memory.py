"""Peak memory of a draw does not grow with the number of heads."""

from __future__ import annotations

import subprocess
import sys

import pytest

N, D_OUT = 512, 768

MEASURE = """
import sys, tracemalloc
import numpy, scipy.linalg, threadpoolctl
from rmt_attention import AttentionLayer, sample_spectrum
observable, heads, d_key = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
models = tuple(sys.argv[4].split(","))
sample_spectrum(AttentionLayer(16, 16, heads=2), observable, models)  # everything imported
layer = AttentionLayer(512, 768, heads=heads, d_key=d_key)
tracemalloc.start()
sample_spectrum(layer, observable, models, replicates=2)
print(tracemalloc.get_traced_memory()[1])
"""


def _peak_bytes(observable: str, heads: int, d_key: int, models: str) -> int:
    """Peak of all array memory (numpy reports to tracemalloc) above what the process held before the draws."""
    command = [sys.executable, "-c", MEASURE, observable, str(heads), str(d_key), models]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.mark.parametrize("observable", ["values", "output"])
@pytest.mark.parametrize("models", ["softmax", "softmax,gaussian"])
def test_peak_memory_is_bounded_whatever_the_number_of_heads(observable: str, models: str) -> None:
    for d_key, head_counts in ((8, (4, 96)), (64, (4, 12))):
        bound = 6 * 8 * (N**2 + N * D_OUT + N * d_key)
        peaks = {heads: _peak_bytes(observable, heads, d_key, models) for heads in head_counts}
        print(f"{observable} {models} d_key={d_key}: {peaks} bytes, bound {bound}")
        assert max(peaks.values()) <= bound
        if observable == "output":
            assert max(peaks.values()) < 1.02 * min(peaks.values())


def test_the_measurement_sees_one_array_of_every_head() -> None:
    """Negative control: the n × n matrices of all 96 heads together are far above the bound."""
    script = MEASURE.replace(
        "sample_spectrum(layer, observable, models, replicates=2)", "kept = [numpy.ones((512, 512)) for _ in range(96)]"
    )
    command = [sys.executable, "-c", script, "output", "96", "8", "softmax"]
    peak = int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert peak > 6 * 8 * (N**2 + N * D_OUT + N * 8)
