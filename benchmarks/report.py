"""The stored results as tables for README: python -m benchmarks.report"""

from __future__ import annotations

import json
from typing import Any

from .peers.table import peers_table
from .record import RESULTS


def load(name: str) -> dict[str, Any]:
    """One stored result."""
    result: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return result


def accuracy_table(name: str, kind: str = "sets") -> list[str]:
    """Worst and 99 % of every column in each stratum."""
    stored = load(name)
    result = stored[kind]
    strata = result["strata"]
    counts = [f"{stratum} ({part['sets']} sets)" for stratum, part in strata.items()]
    lines = ["| relative error, worst / 99 % | " + " | ".join(counts) + " |", "|---|" + "---|" * len(counts)]
    columns = list(next(iter(strata.values()))["columns"])
    for column in columns:
        cells = [part["columns"][column] for part in strata.values()]
        numbers = [f"{cell['worst']:.1e} / {cell['99 %']:.1e}" for cell in cells]
        lines.append(f"| {column} | " + " | ".join(numbers) + " |")
    raised = sum(len(part["raised"]) for part in strata.values())
    lines.append("")
    lines.append(f"{result['count']} sets, seed {stored['seed']}, {raised} raised an error, {result['seconds']:.0f} s.")
    return lines


def speed_table() -> list[str]:
    """Times beside their baselines."""
    result = load("speed")
    density, ridge, imports = result["density"], result["ridge"], result["import"]
    gradients = result["gradients"]
    rows = [
        ("2000 densities, law never evaluated before", density["cold_ms"], "ms", density["companion_matrices_ms"]),
        ("the same again", density["again_ms"], "ms", density["companion_matrices_ms"]),
        (
            f"w(λ), batch of {ridge['batch']}, per λ",
            ridge["batch_us_per_root"],
            "µs",
            ridge["companion_matrices_us_per_root"],
        ),
        ("w(λ), one call", ridge["single_call_ms"], "ms", None),
        ("five derivatives of w, per λ, complex steps", gradients["complex_steps_us_per_root"], "µs", None),
        ("five derivatives of w, per λ, JAX", gradients["jax_us_per_root"], "µs", None),
        ("import", imports["package_s"], "s", imports["numpy_and_scipy_special_s"]),
    ]
    lines = ["| median (largest) | rmt-attention | baseline |", "|---|---|---|"]
    for name, ours, unit, baseline in rows:
        theirs = "" if baseline is None else f"{baseline['median']:.3g} ({baseline['largest']:.3g}) {unit}"
        lines.append(f"| {name} | {ours['median']:.3g} ({ours['largest']:.3g}) {unit} | {theirs} |")
    machine = f"{result['environment']['cores']} cores, one BLAS thread, numpy {result['environment']['numpy']}"
    lines.append("")
    lines.append(
        f"{density['laws']} random output laws, seed {result['seed']}, worst residual {density['worst_residual']:.1e};"
        f" {machine}. Baseline: eigenvalues of batched companion matrices, which do not say which root is physical; for"
        " the import numpy and scipy.special. First calls of the derivatives:"
        f" {gradients['first_call_s']['complex_steps']:.2g} s and, with compilation,"
        f" {gradients['first_call_s']['jax']:.2g} s; the two differ by"
        f" {gradients['worst_difference']:.1e} at most, over the largest of the five."
    )
    return lines


def main() -> None:
    print(
        "\n".join(
            [
                *accuracy_table("stress"),
                "",
                *accuracy_table("accuracy"),
                "",
                *accuracy_table("expressions"),
                "",
                *accuracy_table("expressions", "matrices"),
                "",
                *speed_table(),
                "",
                *peers_table(load("peers")),
            ]
        )
    )


if __name__ == "__main__":
    main()
