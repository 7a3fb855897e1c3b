"""The disk under files that becalm writes: room, flushing and errors."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from becalm.base.errors import ResultsError

REPLACE = "replace it by `--overwrite` (in Python: `overwrite=True`)"
"""The next step where a file or folder exists already."""
_ROOM = 1 << 16
"""Free bytes that a reservation requires, since the size of the results is unknown before the run."""


def cannot(path: Path, error: OSError) -> ResultsError:
    """Return a system error as a message about a path."""
    reason = error.strerror or str(error)
    return ResultsError(f"{path}: cannot be written: {reason[:1].lower()}{reason[1:]}")


def check_room(file: Path) -> None:
    """Check that the disk has some room, by a file that is removed again."""
    file.write_bytes(bytes(_ROOM))
    sync(file)
    file.unlink()


def sync(path: Path) -> None:
    """Flush a file or the entries of a folder to the disk, if the system supports it."""
    if os.name != "posix" and path.is_dir():
        return
    handle = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary file, which is renamed at the end, so that the file is either complete or absent."""
    partial = path.with_name(f".{path.stem}.partial-{os.getpid()}{path.suffix}")
    try:
        yield partial
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def replace_file(path: Path, text: str) -> None:
    """Write a text to a file, which is either complete or absent."""
    with replacing(path) as partial:
        partial.write_text(text, encoding="utf-8")
