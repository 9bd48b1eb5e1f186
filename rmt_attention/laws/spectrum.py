"""The spectrum of a curve, worked out once for all laws that differ by a scale or an atom: edges, nets, masses."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..errors import ConvergenceError
from ..solvers.axis import AxisNet
from ..solvers.continuation import ComplexRoot, continue_to_angle
from ..solvers.critical import CriticalValues
from ..solvers.curve import SpectralCurve
from ..solvers.quadrature import support_masses
from ..solvers.support import Interval, support_intervals

_LOST, _MISSING = 1e-9, 1e-11  # share of the mass outside the edges, and missing from a quadrature: more is an error
_ROUNDING = 1e-14


class CurveSpectrum:
    """The law of a curve on x > 0, in the curve's own units; everything is computed when first asked for."""

    def __init__(self, curve: SpectralCurve, name: str) -> None:
        self.curve = curve
        self._name = name
        self._rules: dict[int, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}

    @cached_property
    def critical(self) -> CriticalValues:
        """Critical values of λ(p)."""
        return CriticalValues.of(self.curve)

    @cached_property
    def intervals(self) -> tuple[Interval, ...]:
        """Intervals of the support, touching ones apart; all the mass lies in them."""
        intervals, lost = support_intervals(self.curve, self.critical)
        if not intervals or not lost < _LOST * self.curve.w_max + _ROUNDING:
            raise ConvergenceError(
                f"{self._name}: mass {lost:.3g} lies outside the edges found; the ratios are too extreme for double"
                " precision",
                result=intervals,
            )
        return intervals

    @cached_property
    def nets(self) -> tuple[AxisNet, ...]:
        """A net of proved points on each interval."""
        return tuple(AxisNet(self.curve, one, self.critical) for one in self.intervals)

    @cached_property
    def gap_masses(self) -> NDArray[np.float64]:
        """ν((x, ∞)) in each gap between two intervals, or where they touch."""
        # Next to a point where intervals touch the mass differs from its value there by (1e-9)^{4/3}.
        ends = [(left.high.log_x, right.low.log_x) for left, right in pairwise(self.intervals) if right.low is not None]
        middles = [(low + high) / 2 if low < high else low - 1e-9 for low, high in ends]
        return self.upper_mass(np.array(middles)) if middles else np.zeros(0)

    def upper_mass(self, logs: NDArray[np.float64]) -> NDArray[np.float64]:
        """ν((x, ∞)) at x = exp(logs), by continuation of each point."""
        root = self.continued(logs, np.full(logs.shape, -np.pi))
        return self.curve.upper_mass(root.p, root.distance)

    def continued(self, logs: NDArray[np.float64], angle: NDArray[np.float64]) -> ComplexRoot:
        """The branch at λ = exp(logs + i·angle), −π ≤ angle ≤ 0."""
        return continue_to_angle(self.curve, logs, angle, self.critical)

    def root(self, logs: NDArray[np.float64], angle: NDArray[np.float64], interval: NDArray[np.int64]) -> ComplexRoot:
        """The same by the net of an interval of the support where its index is given, by continuation where that is −1.

        Points with an index have angle −π.
        """
        tau = np.zeros(logs.shape, dtype=complex)
        residual, disc, steps = np.zeros(logs.shape), np.zeros(logs.shape), 0
        for index in np.unique(interval):
            rows = interval == index
            part = self.continued(logs[rows], angle[rows]) if index < 0 else self.nets[index].solve(logs[rows])
            tau[rows], residual[rows], disc[rows] = part.tau, part.residual, part.disc
            steps = max(steps, part.steps)
        return ComplexRoot.at(self.curve, tau, residual, disc, steps)

    def quadrature(self, level: int = 0) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """log x and masses of points whose sums are integrals over the law off 0, steps halved ``level`` times.

        (laws.quadrature)
        """
        if level in self._rules:
            return self._rules[level]
        order = max(self.curve.hard_edge_order, len(self.curve.widths))  # widths may nearly tie
        parts = [
            support_masses(interval, self.critical, net.log_density, order, self.curve.w_max, level)
            for interval, net in zip(self.intervals, self.nets, strict=True)
        ]
        logs, masses = (np.concatenate(part) for part in zip(*parts, strict=True))
        missing = abs(float(masses.sum()) - self.curve.w_max)
        if not missing < _MISSING * self.curve.w_max + _ROUNDING:
            raise ConvergenceError(f"{self._name}: quadrature leaves a mass of {missing:.3g}", result=(logs, masses))
        self._rules[level] = logs, masses
        return logs, masses
