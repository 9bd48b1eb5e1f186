"""Regenerate what README shows: the blocks between `<!-- generated: COMMAND -->` and `<!-- end -->`, and the figures.

Run from the repository's root in an environment with the package installed: python docs/update.py
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"
FIGURES = {
    "verify.png": "rmt-attention verify",
    "law.png": "rmt-attention law --heads 4 --d-key 8 --d-value 768 --d-out 384",
    "work_precision.png": "python -m benchmarks.peers.work_precision",
}
BLOCK = re.compile(r"(<!-- generated: (?P<command>[^\n]*) -->\n).*?(<!-- end -->)", re.DOTALL)


def run(command: str) -> str:
    """Standard output of an `rmt-attention …` or `python …` command line of this environment."""
    name, *arguments = shlex.split(command)
    program = [] if name == "python" else ["-c", "from rmt_attention.cli import main; main()"]
    return subprocess.run([sys.executable, *program, *arguments], check=True, capture_output=True, text=True).stdout


def main() -> None:
    def fresh(match: re.Match[str]) -> str:
        text = "\n".join(line.rstrip() for line in run(match["command"]).splitlines())
        is_table = text.startswith("|")
        return match[1] + (f"\n{text}\n\n" if is_table else f"```text\n{text}\n```\n") + match[3]

    README.write_text(BLOCK.sub(fresh, README.read_text(encoding="utf-8")), encoding="utf-8")
    for name, command in FIGURES.items():
        run(f"{command} --plot {shlex.quote(str(Path(__file__).parent / name))}")


if __name__ == "__main__":
    main()
