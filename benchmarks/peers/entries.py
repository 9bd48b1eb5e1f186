"""Who takes part in the comparison of laws, and with which settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .environments import OWN_PYTHON, Environment, UnavailableError, python_of, source_of
from .workers import Worker

MODULES = Path(__file__).parent / "contestants"
FREEALG = Environment("freealg", ("freealg==0.12.2",))
RMTOOL = Environment("rmtool", ("rmtool==1.0.0",))
CONTOURS = Environment(
    "free-convolution-code",
    ("numpy", "scipy", "matplotlib"),
    "https://github.com/Alice94/FreeConvolutionCode.git",
    "2c48ee7d2d467d38c1f74f81bffee30e81dbb122",
)


@dataclass(frozen=True)
class Contestant:
    """A name, a module that answers, where it runs (this interpreter by default), and settings of its answers."""

    name: str
    module: Path
    environment: Environment | None = None
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def commit(self) -> dict[str, str]:
        """The version of a package that has none: its commit."""
        if self.environment is None or not self.environment.commit:
            return {}
        return {self.environment.name: self.environment.commit[:10]}

    def start(self, folder: Path) -> Worker:
        """A process of its own."""
        if self.environment is None:
            return Worker(OWN_PYTHON, self.module)
        source = source_of(self.environment, folder) if self.environment.repository else None
        return Worker(python_of(self.environment, folder), self.module, source)


OWN = Contestant("rmt-attention", MODULES / "own.py")
COMPANION = Contestant("companion matrices in numpy", MODULES / "companion.py")
PEERS = (
    Contestant("freealg", MODULES / "with_freealg.py", FREEALG),
    Contestant("freealg, no smoothing", MODULES / "with_freealg.py", FREEALG, {"eta": 0.0, "threshold": 1e-9}),
    Contestant("rmtool", MODULES / "with_rmtool.py", RMTOOL),
    Contestant("FreeConvolutionCode", MODULES / "with_contours.py", CONTOURS),
    Contestant(
        "FreeConvolutionCode, 2000 nodes",  # of those tried, the settings with the smallest error in the second task
        MODULES / "with_contours.py",
        CONTOURS,
        {"nodes": 2000, "terms": 40, "margin": 0.01},
    ),
)


def available(contestants: Sequence[Contestant], folder: Path) -> tuple[list[Contestant], dict[str, str]]:
    """Those whose environment can be had, and of the others why not."""
    found, absent = [], {}
    for one in contestants:
        try:
            if one.environment is not None:
                python_of(one.environment, folder)
            found.append(one)
        except UnavailableError as error:
            absent[one.name] = str(error)
    return found, absent
