"""Files that are whole or absent."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def write_whole(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a temporary file beside ``path`` and rename it there when the block ends without error."""
    check_writable(path)
    with _named(path):
        if Path(path).exists() and not Path(path).is_file():  # a device or pipe has no other content to protect
            with Path(path).open("wb") as device:
                yield device
            return
        target = Path(path).resolve()  # through a link, to the file it names
        check_writable(target)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
        try:
            with os.fdopen(handle, "wb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            os.chmod(name, 0o666 & ~_umask())
            os.replace(name, target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


@contextmanager
def _named(path: str | os.PathLike[str]) -> Iterator[None]:
    """Errors of the system name the file that was asked for; a closed pipe stays one, and what has a name keeps it."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(f"path={os.fspath(path)!r}: cannot be written: {error.strerror}") from None


def check_writable(path: str | os.PathLike[str], name: str = "path") -> None:
    """Raise an OSError naming the path if a file cannot be created there; writes nothing."""
    target = Path(path)
    parent = target.parent
    if target.is_dir():
        raise IsADirectoryError(f"{name}={str(target)!r}: is a directory, a file name is needed")
    if not parent.is_dir():
        raise FileNotFoundError(f"{name}={str(target)!r}: the folder {str(parent)!r} does not exist")
    if not os.access(parent, os.W_OK) or (target.exists() and not os.access(target, os.W_OK)):
        raise PermissionError(f"{name}={str(target)!r}: not writable")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
