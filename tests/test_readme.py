"""The README: its Python runs, its printed numbers are those of a fresh run, its links lead somewhere."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PYTHON_BLOCKS = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
GENERATED = re.findall(r"<!-- generated: (.*?) -->\n(?:```\w*\n)?(.*?)(?:```\n)?<!-- end -->", README, flags=re.DOTALL)
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?")


def _same_numbers(found: str, written: str) -> bool:
    """Equal texts up to spacing, numbers up to one unit of the last written digit (rounding on another machine)."""
    if NUMBER.sub("#", " ".join(found.split())) != NUMBER.sub("#", " ".join(written.split())):
        return False
    for one, other in zip(NUMBER.findall(found), NUMBER.findall(written), strict=True):
        unit = 10.0 ** int(Decimal(other).as_tuple().exponent) if not other.lstrip("-").isdigit() else 0.0
        if abs(float(one) - float(other)) > 1.001 * unit:
            return False
    return True


def test_the_readme_has_python_and_a_generated_block() -> None:
    assert len(PYTHON_BLOCKS) >= 1
    assert len(GENERATED) >= 1
    assert README.count("<!-- generated:") == len(GENERATED)


@pytest.mark.parametrize("number", range(len(PYTHON_BLOCKS)))
def test_python_in_the_readme_runs(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(PYTHON_BLOCKS[number], f"README block {number}", "exec"), {"__name__": "readme"})


@pytest.mark.parametrize("number", range(len(GENERATED)))
def test_generated_numbers_are_those_of_a_fresh_run(number: int, tmp_path: Path) -> None:
    command, written = GENERATED[number]
    program, *arguments = shlex.split(command)
    if program == "python":  # a table made from stored results
        entry, folder = [sys.executable], ROOT
    else:
        assert program == "rmt-attention"
        entry, folder = [sys.executable, "-c", "from rmt_attention.cli import main; main()"], tmp_path
    result = subprocess.run([*entry, *arguments], cwd=folder, capture_output=True, text=True, encoding="utf-8")
    assert result.returncode == 0, result.stderr
    assert _same_numbers(result.stdout, written), result.stdout


def test_the_comparison_of_numbers_sees_a_wrong_one() -> None:
    """Negative control."""
    assert _same_numbers("w  0.91938 ± 0.00039, n=512", "w 0.91939 ± 0.00039, n=512")
    assert not _same_numbers("w 0.91938 ± 0.00039", "w 0.91948 ± 0.00039")
    assert not _same_numbers("w 0.91938, n=512", "w 0.91938, n=513")
    assert not _same_numbers("check held", "check FAILED")
    assert not _same_numbers("w 0.5", "w -0.5")


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_links_to_files_lead_somewhere(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    links = [link.split("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", text) if not re.match(r"\w+:", link)]
    assert [link for link in links if link and not (ROOT / link).exists()] == []


def test_the_test_command_is_marked_for_continuous_integration() -> None:
    """.ci/run runs the block that follows this comment."""
    (block,) = re.findall(r"<!-- test command -->\n```sh\n(.*?)```", README, flags=re.DOTALL)
    assert "pytest" in block
