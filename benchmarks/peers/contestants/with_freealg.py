"""freealg (Ameli et al.): its deformed Marchenko–Pastur law, or its algebraic form fitted to that law's transform."""

from __future__ import annotations

from typing import Any

import freealg
import numpy as np
from freealg.distributions import DeformedMarchenkoPastur

PACKAGES = ("freealg", "numpy", "scipy")
SETTINGS: list[dict[str, Any]] = [
    {"settings": {}},
    *({"settings": {"eta": eta, "threshold": eta**0.5}} for eta in (1e-5, 1e-7, 1e-9)),
    {"settings": {"eta": 0.0, "threshold": 1e-9}},  # of the thresholds 1e-6, 1e-9, 1e-12, 0 the one with best edges
    *({"settings": {"fitted": True, "eta": eta}} for eta in (1e-5, 1e-8, 1e-10)),
]


def solve(
    law: dict[str, Any], x: np.ndarray, eta: float | None = None, threshold: float | None = None, fitted: bool = False
) -> tuple[np.ndarray, Any]:
    """Densities at x and the support; ``eta`` is the distance of z from the axis, the package's own by default."""
    if law["kind"] != "atoms":
        raise NotImplementedError("offers no free product of two Marchenko-Pastur laws")
    (ratio,) = law["variances"]
    theirs = DeformedMarchenkoPastur(law["locations"], law["weights"], ratio)
    if fitted:
        form = freealg.AlgebraicForm(theirs, inv_stieltjes_opt={"delta": eta})
        form.fit(deg_m=len(law["locations"]) + 1, deg_z=len(law["locations"]) + 1)
        support = form.support()
        return form.density(x), support
    if eta is None:
        return theirs.density(x), theirs.support()
    return theirs.density(x, eta=eta), theirs.support(eta=eta, thr=threshold)
