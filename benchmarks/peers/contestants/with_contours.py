"""FreeConvolutionCode (Cortinovis and Ying): free convolutions by contour integrals, for supports of one interval."""

from __future__ import annotations

from typing import Any

import freeconvolution
import numpy as np
import spectral_measure

PACKAGES = ("numpy", "scipy")
SETTINGS: list[dict[str, Any]] = [
    {"settings": {}},
    {"settings": {"nodes": 1000, "terms": 30, "margin": 0.03}},
    {"settings": {"nodes": 1000, "terms": 60, "margin": 0.02}},
    {"settings": {"nodes": 2000, "terms": 40, "margin": 0.01}},
]


def measure(name: str, *values: Any) -> Any:
    """One of the package's measures."""
    new = spectral_measure.spectral_measure()
    getattr(new, f"set_{name}")(*values)
    return new


def solve(
    law: dict[str, Any], x: np.ndarray, nodes: int = 400, terms: int = 20, margin: float = 0.05
) -> tuple[np.ndarray, Any]:
    """Densities at x and the support; settings by default those of the package's example of a product."""
    factors = [measure("marchenko_pastur", variance) for variance in law["variances"]]
    if law["kind"] == "atoms":
        factors.insert(0, measure("discrete", np.array(law["locations"]), np.array(law["weights"])))
    low, high, _, _, product = freeconvolution.free_multiplicative_convolution(
        *factors, nodes, nodes, nodes, terms, margin, 0
    )
    return product.density(x), [[low, high]]
