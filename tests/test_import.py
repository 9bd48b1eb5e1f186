"""Importing the package stays light and depends on nothing optional."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import rmt_attention

ROOT = Path(rmt_attention.__file__).parents[1]
HEAVY = ("jax", "scipy.stats", "mpmath", "matplotlib", "typer", "rich", "dask", "pandas", "torch")


def _modules_after(code: str) -> set[str]:
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", f"{code}\nimport sys\nprint('\\n'.join(sys.modules))"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    return set(result.stdout.split())


def test_importing_the_package_imports_nothing_heavy() -> None:
    loaded = _modules_after("import rmt_attention, rmt_attention.laws")
    assert [name for name in HEAVY if name in loaded] == []
    assert "rmt_attention.laws.attention" in loaded


def test_the_check_would_see_a_heavy_import() -> None:
    assert "scipy.stats" in _modules_after("import scipy.stats")


def test_using_a_law_imports_nothing_heavy_either() -> None:
    code = "from rmt_attention.laws import attention_law\nlaw = attention_law(1.0, 4, 0.3)\nlaw.cdf([1.0]); law.edges"
    loaded = _modules_after(code)
    assert [name for name in HEAVY if name in loaded] == []


def test_every_public_name_exists_once() -> None:
    assert len(rmt_attention.__all__) == len(set(rmt_attention.__all__))
    for name in rmt_attention.__all__:
        assert getattr(rmt_attention, name) is not None
