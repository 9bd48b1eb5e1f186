"""Where a law is tabulated and drawn: points of its support that crowd at every edge, and its values there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .laws import SpectralLaw
from .laws.singular_values import SingularValueLaw

MOST_POINTS = 100_000


@dataclass(frozen=True, eq=False)
class LawTable:
    """Density and cdf of a law at ascending points of its support.

    Attributes
    ----------
    x : ndarray
        Points > 0, both ends of every interval of the support among them.
    density : ndarray
        f(x) of the absolutely continuous part; 0 at the ends of intervals.
    x_density : ndarray
        x f(x), the density in ln x: its integral over ln x is the mass off the atoms.
    cdf : ndarray
        ν([0, x]), atoms included.
    """

    x: NDArray[np.float64]
    density: NDArray[np.float64]
    x_density: NDArray[np.float64]
    cdf: NDArray[np.float64]

    def columns(self) -> dict[str, NDArray[np.float64]]:
        """The columns by name, in the order in which files hold them."""
        return {"x": self.x, "density": self.density, "x_density": self.x_density, "cdf": self.cdf}


def log_span(law: SpectralLaw | SingularValueLaw, left_out: float = 1e-3) -> tuple[float, float]:
    """The support on a logarithmic axis: if it starts at 0, it is cut where a share ``left_out`` of it is left below.

    The share is of the mass off the atoms, 0 < left_out < 1.
    """
    low, top = law.support[0][0], law.support[-1][1]
    if low > 0:
        return low, top
    atom = sum(one.mass for one in law.atoms)
    return float(law.quantile(atom + left_out * (1 - atom))), top


def support_points(
    law: SpectralLaw | SingularValueLaw, points: int, left_out: float = 1e-3
) -> list[NDArray[np.float64]]:
    """``points`` ascending points of each interval of the support, ends included, crowding at its ends in ln x.

    With [a, b] the interval: ln x = ln a + ln(b/a) (1 − cos φ)/2 for equally spaced φ in [0, π], so that square-root
    edges are smooth in φ. An interval that starts at 0 starts at :func:`log_span` instead.
    """
    start, _ = log_span(law, left_out)
    shares = (1 - np.cos(np.linspace(0, np.pi, points))) / 2
    grids = []
    for low, high in law.support:
        first = max(low, start)
        grid = first * np.exp(np.log(high / first) * shares)
        grid[-1] = high
        grids.append(grid)
    return grids


def tabulate_law(law: SpectralLaw, points: int = 400) -> LawTable:
    """Values of a law at :func:`support_points`, with 1e-4 of the mass left below where the support starts at 0.

    Parameters
    ----------
    law : SpectralLaw
    points : int
        Points of each interval of the support, 2 to 100000.

    Raises
    ------
    ValueError
        For another number of points.
    """
    if isinstance(points, bool) or not isinstance(points, int) or not 2 <= points <= MOST_POINTS:
        raise ValueError(f"points={points!r}: must be an integer from 2 to {MOST_POINTS}")
    x = np.concatenate(support_points(law, points, left_out=1e-4))
    density = law.density(x)
    return LawTable(x, density, x * density, law.cdf(x))
