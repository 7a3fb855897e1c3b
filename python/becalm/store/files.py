"""Files that appear whole or not at all, on network file systems too."""

from __future__ import annotations

import itertools
import os
import socket
from pathlib import Path

_number = itertools.count()


def write(path: Path, data: bytes) -> None:
    """Write a file beside its place, let it reach the disk, and rename it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unique = f"{socket.gethostname()}.{os.getpid()}.{next(_number)}"
    partial = path.with_name(f".{path.name}.{unique}.tmp")
    try:
        with partial.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":
        return
    place = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(place)
    finally:
        os.close(place)
