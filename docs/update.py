"""Regenerate what README shows: the blocks between `<!-- generated: COMMAND -->` and `<!-- end -->`, and the figure.

Run from the repository's root in an environment with the package installed: python docs/update.py
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"
FIGURE = Path(__file__).parent / "verify.png"
BLOCK = re.compile(r"(<!-- generated: (?P<command>[^\n]*) -->\n).*?(<!-- end -->)", re.DOTALL)


def run(command: str) -> str:
    """Standard output of an `rmt-attention …` command line of this environment."""
    _, *arguments = shlex.split(command)
    program = [sys.executable, "-c", "from rmt_attention.cli import main; main()", *arguments]
    return subprocess.run(program, check=True, capture_output=True, text=True).stdout


def main() -> None:
    def fresh(match: re.Match[str]) -> str:
        lines = [line.rstrip() for line in run(match["command"]).splitlines()]
        return match[1] + "```text\n" + "\n".join(lines) + "\n```\n" + match[3]

    README.write_text(BLOCK.sub(fresh, README.read_text(encoding="utf-8")), encoding="utf-8")
    run(f"rmt-attention verify --plot {shlex.quote(str(FIGURE))}")


if __name__ == "__main__":
    main()
