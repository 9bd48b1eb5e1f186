"""Imports point down the list in CONTRIBUTING.md, and importing the package stays light."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = "rmt_attention"
FILES = sorted((ROOT / PACKAGE).rglob("*.py"))


def _layers() -> dict[str, int]:
    """Entry of the layout → its line; a smaller line is higher up."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```layout\n(.*?)```", text, flags=re.DOTALL)
    return {entry: number for number, line in enumerate(block.splitlines()) for entry in line.split()}


def _entry(path: Path) -> str:
    """The layout's name for a file: its folder with a slash, or its own name."""
    parts = path.relative_to(ROOT / PACKAGE).parts
    return parts[0] + "/" if len(parts) > 1 else parts[0]


def _modules_imported(tree: ast.AST, module: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Names imported anywhere in a module, functions included, as dotted paths; relative ones resolved."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield tuple(alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            base = module[: len(module) - node.level] if node.level else ()
            path = base + tuple(node.module.split(".") if node.module else ())
            for alias in node.names:
                yield (*path, alias.name)


def _module(path: Path) -> tuple[str, ...]:
    """Dotted path of a file with a last part of its own, so that one relative level is its folder."""
    return path.relative_to(ROOT).with_suffix("").parts


def _violations(source: str, path: Path, layers: dict[str, int]) -> list[str]:
    """Imports of a file that do not point down."""
    own = _entry(path)
    found = []
    for name in _modules_imported(ast.parse(source), _module(path)):
        if name[0] != PACKAGE:
            continue
        if name in ((PACKAGE, "__version__"), (PACKAGE,)):
            if name == (PACKAGE,):
                found.append(f"{path}: imports the package itself")
            continue
        target = name[1]
        entry = target + "/" if (ROOT / PACKAGE / target).is_dir() else target + ".py"
        if entry not in layers:
            found.append(f"{path}: imports {entry}, which the layout does not list")
        elif entry != own and layers[entry] < layers[own]:
            found.append(f"{path}: {own} imports {entry}, which is above it")
    return found


def test_every_file_of_the_package_is_in_the_layout_and_every_entry_exists() -> None:
    entries = {_entry(path) for path in FILES} - {"__init__.py"}
    assert set(_layers()) == entries


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_down(path: Path) -> None:
    if path == ROOT / PACKAGE / "__init__.py":
        return
    assert _violations(path.read_text(encoding="utf-8"), path, _layers()) == []


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("spectra.py", "from .laws import SpectralLaw"),
        ("spectra.py", "from . import limits"),
        ("spectra.py", "import rmt_attention.cli"),
        ("spectra.py", "from rmt_attention.compare import compare"),
        ("spectra.py", "import rmt_attention"),
        ("spectra.py", "from .nowhere import x"),
        ("spectra.py", "def f():\n    from .plotting import plot_law"),
        ("simulation/models.py", "from ..laws import SpectralLaw"),
        ("simulation/models.py", "from ..limits import limit_law"),
        ("laws/curves.py", "from ..limits import limit_law"),
        ("free/algebra.py", "from ..laws import SpectralLaw"),
        ("solvers/curve.py", "from ..laws.curves import TiedCurve"),
        ("inputs.py", "if True:\n    from .layer import Head"),
        ("compare/outlier.py", "from ..plotting import plot_law"),
        ("plotting.py", "from .experiments.verify import VerifyReport"),
    ],
)
def test_a_fabricated_import_that_points_up_is_found(file: str, source: str) -> None:
    """Negative control."""
    assert len(_violations(source, ROOT / PACKAGE / file, _layers())) == 1


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("limits.py", "from .laws import SpectralLaw\nfrom .simulation.conditional import x\nimport numpy"),
        ("simulation/models.py", "from .projections import Projections\nfrom ..equations.temperature import f"),
        ("layer.py", "from .presets import preset_fields"),
        ("simulation/sampling.py", "from .. import __version__"),
    ],
)
def test_an_import_that_points_down_or_beside_is_allowed(file: str, source: str) -> None:
    assert _violations(source, ROOT / PACKAGE / file, _layers()) == []


@pytest.mark.parametrize("path", sorted((ROOT / PACKAGE / "equations").glob("*.py")), ids=lambda path: path.name)
def test_equations_import_nothing(path: Path) -> None:
    assert list(_modules_imported(ast.parse(path.read_text(encoding="utf-8")), _module(path))) == []


def test_the_check_on_equations_sees_an_import() -> None:
    """Negative control."""
    source = "def f(xp, x):\n    import math\n    return math.exp(x)"
    assert list(_modules_imported(ast.parse(source), (PACKAGE, "equations", "f"))) == [("math",)]


def test_importing_the_package_imports_nothing_heavy() -> None:
    heavy = ("jax", "scipy.stats", "matplotlib", "typer", "rich", "dask", "joblib", "mpmath")
    script = f"import sys, rmt_attention; print([name for name in {heavy!r} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_the_package_exports_what_it_names_and_names_are_sorted() -> None:
    import rmt_attention

    assert rmt_attention.__all__ == sorted(rmt_attention.__all__)
    for name in rmt_attention.__all__:
        assert getattr(rmt_attention, name).__doc__, name
    assert re.fullmatch(r"\d+\.\d+\.\d+", rmt_attention.__version__)
