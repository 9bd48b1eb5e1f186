"""Density, w(λ), its derivatives and import, each beside plain numpy in the same run: python -m benchmarks.speed

The baseline for densities and for w is what one writes without theory: the eigenvalues of companion matrices of the
polynomial in v at every point, all in one batch, with no way to tell the physical root. That for the import is the
import of numpy and scipy.special.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from rmt_attention import laws
from rmt_attention.laws import SpectralLaw, differentiable

from .record import write

Array = NDArray[Any]
Ratios = tuple[float, float, float, float, float]  # β, h, γ_K, γ_V, γ_O
BATCH = 10_000
POINTS = 2000


def draw(rng: np.random.Generator) -> Ratios:
    """An output law anywhere: β from 0.05 to 2.5, h an integer up to 128, ratios from 0.03 to 30."""
    beta = float(np.exp(rng.uniform(np.log(0.05), np.log(2.5))))
    heads = float(round(np.exp(rng.uniform(0, np.log(128)))))
    gammas = np.exp(rng.uniform(np.log(0.03), np.log(30), 3)).tolist()
    return (beta, heads, *gammas)


def points_of(law: SpectralLaw, rng: np.random.Generator) -> Array:
    """Points inside the support, a third of them within 1e-6, relatively, of an edge other than 0."""
    near = []
    edges = [(edge, sign) for low, high in law.support for edge, sign in ((low, 1), (high, -1)) if edge > 0]
    for edge, sign in edges:
        near.append(edge * (1 + sign * 10.0 ** rng.uniform(-13, -6, POINTS // 3 // len(edges) + 1)))
    rest = POINTS - sum(part.size for part in near)
    share = rng.uniform(0, 1, rest)
    low, high = np.array(law.support)[rng.integers(0, len(law.support), rest)].T
    inside = np.where(low > 0, low * (high / np.maximum(low, 1e-300)) ** share, high * 10 ** (-12 * share))
    x = np.concatenate([*near, inside])
    return x[np.isin(np.searchsorted(np.array(law.support).ravel(), x) % 2, 1)]


def companion_roots(ratios: Ratios, x: Array) -> Array:
    """All roots v of m ∏(1 − w/a) = −x v, w = (1−c)v + cv/(1 + cv/γ_K): eigenvalues of one companion matrix a point."""
    beta, heads, gamma_key, gamma_value, gamma_out = ratios
    theta1 = np.expm1(beta * beta)
    c = beta * beta / theta1
    below = np.array([c / gamma_key, 1.0])
    w = np.polyadd(np.polymul([1 - c, 0.0], below), [c, 0.0])
    top, bottom = np.array([gamma_out * theta1]), np.array([1.0, 0.0])
    for a in (1.0, heads, gamma_value, gamma_out):
        top, bottom = np.polymul(top, np.polysub(below, w / a)), np.polymul(bottom, below)
    degree = top.size - 1
    bottom = np.concatenate([np.zeros(top.size - bottom.size), bottom])
    monic = top + x[:, None] * bottom
    monic /= monic[:, :1]
    matrices = np.zeros((x.size, degree, degree))
    matrices[:, 0, :] = -monic[:, 1:]
    matrices[:, np.arange(1, degree), np.arange(degree - 1)] = 1.0
    return np.linalg.eigvals(matrices)


def seconds(call: Callable[[], object]) -> float:
    """Wall time of one call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def measure_density(count: int, seed: int) -> dict[str, Any]:
    """2000 densities of laws never evaluated before, interleaved with the baseline at the same points."""
    rng = np.random.default_rng(seed)
    laws.output_law(*draw(rng)).density(1.0)  # the process is warm, the laws are not
    cold, again, baseline, residual = [], [], [], 0.0
    positive = True
    for _ in range(count):
        ratios = draw(rng)
        x = points_of(laws.output_law(*ratios), rng)
        law = laws.output_law(*ratios)
        cold.append(seconds(lambda law=law, x=x: law.density(x)))
        again.append(seconds(lambda law=law, x=x: law.density(x)))
        baseline.append(seconds(lambda ratios=ratios, x=x: companion_roots(ratios, x)))
        found = law.solve(x)
        residual = max(residual, float(found.residual.max()))
        positive &= bool((found.density > 0).all())
    return {
        "laws": count,
        "points": POINTS,
        "cold_ms": spread(cold, 1e3),
        "again_ms": spread(again, 1e3),
        "companion_matrices_ms": spread(baseline, 1e3),
        "worst_residual": residual,
        "density_positive_everywhere": positive,
    }


def measure_ridge(count: int, seed: int) -> dict[str, Any]:
    """w(λ): a batch of 10,000 and single calls, beside numpy.roots at each λ for a hundred of them."""
    rng = np.random.default_rng(seed)
    batch, single, baseline = [], [], []
    for _ in range(count):
        ratios = draw(rng)
        law = laws.output_law(*ratios)
        ridges = 10.0 ** rng.uniform(-8, 4, BATCH)
        batch.append(seconds(lambda law=law, ridges=ridges: law.degrees_of_freedom(ridges)) / BATCH)
        fresh = laws.output_law(*ratios)
        single.append(
            np.median([seconds(lambda law=fresh, one=one: law.degrees_of_freedom(one)) for one in ridges[:50]])
        )
        baseline.append(seconds(lambda ratios=ratios, x=-ridges[:100]: companion_roots(ratios, x)) / 100)
    return {
        "laws": count,
        "batch": BATCH,
        "batch_us_per_root": spread(batch, 1e6),
        "single_call_ms": spread(single, 1e3),
        "companion_matrices_us_per_root": spread(baseline, 1e6),
    }


def measure_gradients(count: int, seed: int) -> dict[str, Any]:
    """∂w/∂(β, h, γ_K, γ_V, γ_O) for a batch of 10,000: by complex steps, and under JAX compiled before."""
    import jax

    def slopes(ridges: Any, *values: Any) -> Any:
        def w(*values: Any) -> Any:
            return differentiable.output_law(*values).degrees_of_freedom(ridges)

        # w of one λ depends on the law alone, so that five forward derivatives are all there are
        return jax.jacfwd(w, argnums=(0, 1, 2, 3, 4))(*values)

    rng = np.random.default_rng(seed)
    first: dict[str, float] = {}
    warm: dict[str, list[float]] = {"complex_steps": [], "jax": []}
    worst = 0.0
    with jax.enable_x64(True):
        compiled = jax.jit(slopes)
        for number in range(count + 1):
            ratios = draw(rng)
            law = laws.output_law(*ratios)
            ridges = 10.0 ** rng.uniform(-8, 4, BATCH)
            found: dict[str, Any] = {}

            def by_steps(law: SpectralLaw = law, ridges: Array = ridges, found: dict[str, Any] = found) -> None:
                found["complex_steps"] = law.gradients.degrees_of_freedom(ridges)

            def by_jax(ratios: Ratios = ratios, ridges: Array = ridges, found: dict[str, Any] = found) -> None:
                found["jax"] = [np.asarray(one) for one in compiled(ridges, *ratios)]

            for name, call in (("complex_steps", by_steps), ("jax", by_jax)):
                if number:
                    warm[name].append(seconds(call) / BATCH)
                else:
                    first[name] = seconds(call)
            steps = np.array(list(found["complex_steps"].values()))
            worst = max(worst, float((np.abs(steps - found["jax"]) / np.abs(steps).max(0)).max()))
    return {
        "laws": count,
        "batch": BATCH,
        "first_call_s": first,
        "complex_steps_us_per_root": spread(warm["complex_steps"], 1e6),
        "jax_us_per_root": spread(warm["jax"], 1e6),
        "worst_difference": worst,
    }


def measure_import(count: int) -> dict[str, Any]:
    """Fresh processes, less the time of an empty one; numpy with scipy.special as baseline, in turn."""
    programs = {"empty": "pass", "baseline": "import numpy, scipy.special", "package": "import rmt_attention"}
    times: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(count):
        for name, program in programs.items():
            times[name].append(
                seconds(lambda program=program: subprocess.run([sys.executable, "-c", program], check=True))
            )
    empty = float(np.median(times["empty"]))
    return {
        "runs": count,
        "package_s": spread([one - empty for one in times["package"]], 1.0),
        "numpy_and_scipy_special_s": spread([one - empty for one in times["baseline"]], 1.0),
    }


def spread(values: list[float], unit: float) -> dict[str, float]:
    """Smallest, median and largest, times a unit."""
    numbers = np.array(values) * unit
    return {"smallest": float(numbers.min()), "median": float(np.median(numbers)), "largest": float(numbers.max())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", default=None, help="default: benchmarks/results/speed.json")
    given = parser.parse_args()
    with threadpool_limits(1, user_api="blas"):
        result = {
            "seed": given.seed,
            "density": measure_density(given.count, given.seed),
            "ridge": measure_ridge(given.count, given.seed),
            "gradients": measure_gradients(given.count, given.seed),
            "import": measure_import(min(given.count, 20)),
        }
    for name in ("density", "ridge", "gradients", "import"):
        print(name)
        for key, value in result[name].items():
            text = ", ".join(f"{k} {v:.3g}" for k, v in value.items()) if isinstance(value, dict) else value
            print(f"  {key}: {text}")
    write("speed", result, given.json)


if __name__ == "__main__":
    main()
