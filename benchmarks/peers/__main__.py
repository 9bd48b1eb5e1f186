"""Laws of free probability against other packages: python -m benchmarks.peers"""

from __future__ import annotations

import argparse
from pathlib import Path

from ..record import write
from .entries import COMPANION, OWN, PEERS
from .environments import default_folder
from .measure import measure
from .table import peers_table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--points", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--environments", type=Path, default=default_folder(), help="folder; default: %(default)s")
    parser.add_argument("--json", default=None, help="default: benchmarks/results/peers.json")
    given = parser.parse_args()
    result = measure((OWN, COMPANION, *PEERS), given.rounds, given.points, given.seed, given.environments)
    write("peers", result, given.json)
    print("\n".join(peers_table(result)))


if __name__ == "__main__":
    main()
