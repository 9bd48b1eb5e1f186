"""Layers of fixed ratios at growing n, and their degrees of freedom extrapolated linearly in 1/n."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from rmt_attention import AttentionLayer, SpectrumSample, sample_spectrum

from ..statistics import Measured, extrapolate, mean

RIDGES_OVER_MEAN = np.array([0.01, 0.05, 0.2, 1.0, 5.0])
"""Of the limiting mean: from the small eigenvalues to the second moment."""


@dataclass(frozen=True)
class Ladder:
    """Sizes and numbers of draws; the layer at each size has the same ratios exactly."""

    sizes: tuple[int, ...]
    draws: tuple[int, ...]

    def samples(
        self, layer_at: Callable[[int], AttentionLayer], observable: str, model: str = "gaussian"
    ) -> list[SpectrumSample]:
        """Independent samples at each size, all with seed 0: arrays of different sizes share no numbers of use."""
        return [
            sample_spectrum(layer_at(n), observable, model, replicates=count, seed=np.random.SeedSequence([0, n]))
            for n, count in zip(self.sizes, self.draws, strict=True)
        ]

    def limits(self, samples: Sequence[SpectrumSample], ridges: np.ndarray) -> list[tuple[Measured, Measured]]:
        """For each ridge, w at 1/n → 0 and the coefficient of 1/n."""
        by_size = [np.array([law.degrees_of_freedom(ridges) for law in sample]) for sample in samples]
        return [extrapolate(self.sizes, [mean(w[:, column]) for w in by_size]) for column in range(len(ridges))]


SHORT = Ladder((60, 120, 240), (400, 300, 200))
LONG = Ladder((200, 400, 800), (400, 200, 100))
