"""Virtual environments of the packages that are compared, outside the repository, each made once."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

SECONDS = 900  # for an installation
OWN_PYTHON = Path(sys.executable)


class UnavailableError(Exception):
    """A package cannot be had here; the message says why."""


@dataclass(frozen=True)
class Environment:
    """A package from an index or, with ``repository``, files of one commit."""

    name: str
    requirements: tuple[str, ...]
    repository: str = ""
    commit: str = ""


def default_folder() -> Path:
    """In the user's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "rmt-attention" / "peers"


def python_of(environment: Environment, folder: Path) -> Path:
    """The environment's interpreter; makes the environment if it is not there with these requirements."""
    place = folder / environment.name
    python = place / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    marker, wanted = place / "installed", "\n".join((*environment.requirements, environment.commit))
    if not marker.exists() or marker.read_text(encoding="utf-8") != wanted:
        try:
            venv.create(place, with_pip=True)
        except (OSError, ValueError, subprocess.CalledProcessError) as error:
            raise UnavailableError(f"no virtual environment: {error}") from error
        _run([str(python), "-m", "pip", "install", "--quiet", "--no-input", *environment.requirements], "pip")
        marker.write_text(wanted, encoding="utf-8")
    if environment.repository and not source_of(environment, folder).exists():
        _run(["git", "clone", "--quiet", environment.repository, str(source_of(environment, folder))], "git clone")
    if environment.repository:
        source = str(source_of(environment, folder))
        _run(["git", "-C", source, "checkout", "--quiet", environment.commit], "git checkout")
    return python


def source_of(environment: Environment, folder: Path) -> Path:
    """Where the files of a repository are, or are to be put by hand if it cannot be cloned."""
    return folder / f"{environment.name}-source"


def _run(command: list[str], name: str) -> None:
    """Run, or say in one line why not."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnavailableError(f"{name}: {error}") from error
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()] or [f"exit status {done.returncode}"]
        told = [line for line in lines if line.lower().startswith(("error", "fatal"))] or lines
        raise UnavailableError(f"{name}: {told[-1].strip()}")
