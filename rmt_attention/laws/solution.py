"""What a solve of a law returns besides the number: residual, error estimate, branch evidence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Solution"]


@dataclass(frozen=True, eq=False)
class Solution:
    """w(λ) at λ = −z with its evidence; arrays of the shape of z.

    Attributes
    ----------
    z : ndarray of complex
        Where it was asked for.
    w : ndarray of complex
        ∫ x/(x − z) dν, on the spectrum the limit from above; G(z) = (1 − w)/z.
    density : ndarray
        Im w/(πz) for z on the positive axis, NaN elsewhere.
    residual : ndarray
        |log λ(p) − log λ| at the parameter found; a solve with more than 1e-10 raises ConvergenceError
        instead, or more than 1e-9, the width of a gap that counts as none, where two intervals touch.
    error : ndarray
        Estimated absolute error of w: residual and rounding of log λ(p), carried through dw/dlog λ, and rounding of w.
        An estimate, not a bound: parameters near which the law changes fast can make the error a few times larger.
    density_error : ndarray
        The same for the density, NaN where that is.
    disc : ndarray
        Proof of the branch. Each step of the continuation lands in a disc that contains no other root; this is the
        largest distance from the centre over the radius, ≤ 1. 0 where a uniqueness theorem serves instead: λ > 0, or
        the upper half-plane for compound free Poisson laws. NaN within rounding of an edge, where the two roots meet.
    steps : int
        Newton steps on λ > 0, steps or nodes of the continuation elsewhere; the largest of all points.
    status : str
        A sentence.
    """

    z: NDArray[np.complex128]
    w: NDArray[np.complex128]
    density: NDArray[np.float64]
    residual: NDArray[np.float64]
    error: NDArray[np.float64]
    density_error: NDArray[np.float64]
    disc: NDArray[np.float64]
    steps: int
    status: str
