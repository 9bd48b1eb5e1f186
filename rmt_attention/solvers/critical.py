"""Critical values of λ(p): where the branch can be singular, and the candidates for edges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .curve import Array, SpectralCurve

_REAL = 1e-7  # relative imaginary part below which a critical point counts as real
_COMPLEX = 1e-3  # and above which it is far from any real one
PINCH = 1e-9  # edges nearer to each other than this, in log x, count as touching
_AT_RIM = 1e-12  # distance of L from the rim, or from an edge, that rounding explains


@dataclass(frozen=True)
class CriticalValues:
    """Critical values of λ(p) as logarithms L, on the rim Im L = −π of the physical strip and beyond it.

    ``rim`` are log x of the real critical points with x = −λ > 0, ascending: the candidates for edges. ``rim_p`` and
    ``rim_distances`` are their p and p_end − p; ``rim_pinched`` marks a nearly real complex pair. ``ghosts`` are log x
    of complex critical points whose λ happens to be negative. ``beyond`` are complex: all that a disc reaching across
    the rim can meet. (laws.edges)
    """

    rim: NDArray[np.float64]
    rim_p: NDArray[np.float64]
    rim_distances: NDArray[np.float64]
    rim_pinched: NDArray[np.bool_]
    ghosts: NDArray[np.float64]
    beyond: NDArray[np.complex128]

    @classmethod
    def of(cls, curve: SpectralCurve) -> CriticalValues:
        """All critical values of a curve."""
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # what is not finite is dropped below
            p, distance = (np.asarray(part, dtype=complex) for part in curve.critical_points())
        size = np.minimum(np.abs(distance), np.abs(p))
        real = np.abs(distance.imag) <= _REAL * size
        complex_enough = np.abs(distance.imag) > _COMPLEX * size
        distance, p = np.where(real, distance.real, distance), np.where(real, p.real, p)
        with np.errstate(all="ignore"):
            logs = curve.log_ridge(p, distance)
        kept = np.isfinite(logs)
        p, distance, logs, real, complex_enough = (part[kept] for part in (p, distance, logs, real, complex_enough))
        depth = np.mod(logs.imag + np.pi, 2 * np.pi)
        depth_either_way = np.minimum(depth, 2 * np.pi - depth)
        # A complex pair that nearly is one real point: two edges have met, or are about to part.
        pinched = ~real & ~complex_enough & (depth_either_way < PINCH) & (logs.imag >= 0)
        candidate = real & (depth_either_way < 1) | pinched
        ghost = complex_enough & (depth_either_way < _AT_RIM)
        order = np.argsort(logs.real[candidate])
        others = ~(candidate | ghost) & ~(~real & ~complex_enough & (depth_either_way < PINCH))
        real_part, depth = logs.real[others], depth[others]
        return cls(
            logs.real[candidate][order],
            p.real[candidate][order],
            distance.real[candidate][order],
            pinched[candidate][order],
            logs.real[ghost],
            np.concatenate([real_part - 1j * (np.pi + depth), real_part - 1j * (3 * np.pi - depth)]),
        )

    def inside(self, low: float, high: float) -> CriticalValues:
        """Those that concern the branch above an interval of the spectrum, low < log x < high.

        The physical parameter is not real there and the branch is regular, so a critical value strictly inside the
        interval of the rim, whether of a real or a complex point, belongs to another sheet.
        """

        def outside(logs: NDArray[np.float64]) -> NDArray[np.bool_]:
            return (logs <= low) | (logs >= high)

        kept = outside(self.rim)
        return self._with(kept, outside(self.ghosts))

    def without(self, log_x: float) -> CriticalValues:
        """All but those at log x itself."""
        kept = np.abs(self.rim - log_x) > _AT_RIM
        return self._with(kept, np.abs(self.ghosts - log_x) > _AT_RIM)

    def _with(self, kept: NDArray[np.bool_], kept_ghosts: NDArray[np.bool_]) -> CriticalValues:
        return CriticalValues(
            self.rim[kept],
            self.rim_p[kept],
            self.rim_distances[kept],
            self.rim_pinched[kept],
            self.ghosts[kept_ghosts],
            self.beyond,
        )

    def lowest(self) -> float:
        """log of the smallest |λ| at a critical value."""
        return float(np.concatenate([self.rim, self.ghosts, self.beyond.real]).min())

    def radius(self, here: Array) -> NDArray[np.float64]:
        """Radius, at most π, of a disc around L on which the branch is analytic and injective. (laws.branch)"""
        to_rim = np.pi - np.abs(here.imag)
        points = np.concatenate([self.rim - 1j * np.pi, self.ghosts - 1j * np.pi, self.beyond])
        if not points.size:
            return to_rim
        nearest = np.abs(here[:, None] - points).min(axis=1)
        return np.minimum(np.maximum(to_rim, nearest), np.pi)
