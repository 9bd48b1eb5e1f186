"""The stored comparison with other packages as a table."""

from __future__ import annotations

from typing import Any


def peers_table(result: dict[str, Any]) -> list[str]:
    """A row for every task and contestant, then what is absent, and why."""
    lines = [
        "| law, contestant | warm, median | first call | over ours | error inside | near edges | edges | mass error |"
        " succeeds |",
        "|---|" + "---|" * 8,
    ]
    for task in result["tasks"].values():
        for name, row in task["contestants"].items():
            cells = [
                seconds(row["warm_s"]["median"]) if "warm_s" in row else "–",
                seconds(row["first_s"]) if "first_s" in row else "–",
                f"{row['ratio']:.2g}" if row.get("ratio") is not None else "–",
                *(number(row.get(key)) for key in ("worst_inside", "worst_near_edges")),
                row.get("edges", "–"),
                number(row.get("mass_error")),
                "yes" if row["success"] else f"no: {row['message']}",
            ]
            lines.append(f"| {task['title']}, {name} | " + " | ".join(cells) + " |")
    limits = result["limits"]
    lines.append("")
    lines.append(
        f"{result['points']} points, {result['rounds']} rounds, one thread each, seed {result['seed']}; times are"
        " from nothing to support and densities. Success: densities right to"
        f" {limits['density']:.0e} at points further than {limits['near_edges']:.0e}, relatively, from edges, and mass"
        f" right to {limits['mass']:.0e} over the contestant's own support where it finds one. Versions:"
        f" {versions(result)}."
    )
    absent = "; ".join(f"{name} ({reason})" for name, reason in result["absent"].items())
    lines.append("")
    lines.append(f"Absent: {absent or 'none'}.")
    return lines


def versions(result: dict[str, Any]) -> str:
    """Each distribution once."""
    found: dict[str, str] = {}
    for task in result["tasks"].values():
        for row in task["contestants"].values():
            for name, version in row.get("versions", {}).items():
                known = found.get(name, version)
                found[name] = version if known == version else f"{known}, {version}"
    return ", ".join(f"{name} {version}" for name, version in found.items())


def seconds(value: float) -> str:
    """In s or ms."""
    return f"{value:.2f} s" if value >= 1 else f"{value * 1e3:.3g} ms"


def number(value: float | None) -> str:
    """Two digits."""
    return "–" if value is None else f"{value:.1e}"
