"""Atomic writes of files, even on network file systems."""

from __future__ import annotations

import itertools
import os
import socket
import stat
from pathlib import Path
from typing import BinaryIO

from becalm.base.disk import sync
from becalm.base.errors import StoreError

_number = itertools.count()


def read_regular(path: Path) -> bytes:
    """Return the bytes of a regular file. Refuse others, such as a pipe, which might never end.

    Raises:
        FileNotFoundError: the file does not exist.
        StoreError: the path is not a regular file, or cannot be read.

    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise StoreError(f"{path}: damaged: not a regular file")
        return path.read_bytes()
    except (FileNotFoundError, StoreError):
        raise
    except (MemoryError, OSError) as error:
        raise StoreError(f"{path}: cannot be read: {error}") from error


def write(path: Path, data: bytes) -> None:
    """Write a file under a hidden name, flush it to the disk, and rename it.

    Raises:
        StoreError: a folder that is not empty has the name.

    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir() and not path.is_symlink():
        try:
            path.rmdir()
        except OSError as error:
            raise StoreError(
                f"{path}: is a folder, but the store needs this name for a file; remove it"
            ) from error
    if path.exists() or not _write_nameless(path, data):
        _write_beside(path, data)
    sync(path.parent)


def _write_nameless(path: Path, data: bytes) -> bool:
    """Write an unnamed file and name it at the end, so that a killed process leaves nothing behind.

    Returns:
        Whether the file was written. The system may not support unnamed files, or another process was faster.

    """
    if not hasattr(os, "O_TMPFILE"):
        return False
    try:
        place = os.open(path.parent, os.O_TMPFILE | os.O_WRONLY, 0o666)
    except OSError:
        return False
    with os.fdopen(place, "wb") as file:
        _fill(file, data)
        try:
            # With any folder descriptor, Python asks the kernel to follow the link in /proc.
            os.link(f"/proc/self/fd/{place}", path, src_dir_fd=place)
        except OSError:
            return False
    return True


def _write_beside(path: Path, data: bytes) -> None:
    unique = f"{socket.gethostname()}.{os.getpid()}.{next(_number)}"
    partial = path.with_name(f".{path.name}.{unique}.tmp")
    try:
        with partial.open("wb") as file:
            _fill(file, data)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _fill(file: BinaryIO, data: bytes) -> None:
    file.write(data)
    file.flush()
    os.fsync(file.fileno())
