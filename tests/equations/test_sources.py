"""The formulas are one source for several runtimes: the files import nothing."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import rmt_attention.equations

FILES = sorted(Path(rmt_attention.equations.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_an_equations_file_imports_nothing(path: Path) -> None:
    imports = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert imports == []


def test_there_are_equations_files_to_look_at() -> None:
    assert {"independent.py", "tied.py", "compound.py", "temperature.py"} <= {path.name for path in FILES}
