"""A contestant as a process: python -P serve.py MODULE.py; JSON lines come on stdin and go out on stdout.

The first line out tells the time of the import and the versions. Each line in names a law, points and settings; the
line out has the seconds from nothing to densities and support, and both, or the error. What the package prints goes to
stderr.
"""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import sys
import time
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any


def load(path: Path) -> ModuleType:
    """The contestant's module from its file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path}: is not a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def answer(module: ModuleType, request: dict[str, Any]) -> dict[str, Any]:
    """Densities and support of a law that was not there before, and how long they took."""
    x = module.np.array(request["x"])
    getattr(module, "forget", lambda: None)()
    try:
        start = time.perf_counter()
        density, support = module.solve(request["law"], x, **request["settings"])
        seconds = time.perf_counter() - start
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}
    return {
        "seconds": seconds,
        "density": [one if isinstance(one, str) else float(one) for one in density],
        "support": None if support is None else [[float(low), float(high)] for low, high in support],
    }


def main() -> None:
    lines = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    start = time.perf_counter()
    module = load(Path(sys.argv[1]))
    seconds = time.perf_counter() - start
    versions = {"python": platform.python_version(), **{name: version(name) for name in module.PACKAGES}}
    print(json.dumps({"import_s": seconds, "versions": versions, "settings": module.SETTINGS}), file=lines, flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(module, json.loads(line))), file=lines, flush=True)


if __name__ == "__main__":
    main()
