"""Folders and files that becalm writes: there whole or not at all, and never overwritten unasked."""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from becalm.errors import ResultsError


@dataclass(frozen=True)
class Kind:
    """A kind of folder."""

    index: str
    """Name of the file that makes a folder one of this kind."""
    name: str
    """What to call it, with its article."""

    def check_target(self, folder: Path, *, overwrite: bool) -> None:
        """Make sure that a folder may be written here, before the work begins.

        Raises:
            ResultsError: the folder exists and `overwrite` is not given, or it is of another kind.

        """
        if not folder.exists():
            return
        if not overwrite:
            raise ResultsError(f"{folder}: exists already; choose another folder or allow to overwrite it")
        if not (folder / self.index).is_file():
            raise ResultsError(f"{folder}: is not {self.name}, and is not overwritten")

    def write(
        self, folder: str | PathLike[str], fill: Callable[[Path], None], *, overwrite: bool = False
    ) -> Path:
        """Write a folder: `fill` puts the files into an empty one beside it, which is renamed at the end.

        Raises:
            ResultsError: the folder exists and `overwrite` is not given, or it is of another kind.

        """
        folder = Path(folder)
        self.check_target(folder, overwrite=overwrite)
        partial = folder.with_name(f".{folder.name}.partial-{os.getpid()}")
        try:
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir(parents=True)
            fill(partial)
            _move(partial, folder)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
        return folder


def check_new(*files: Path | None) -> None:
    """Make sure that the files can be written and that none is there, before the work begins.

    Raises:
        ResultsError: one is, or its folder is not, or two are the same.

    """
    given = [file for file in files if file is not None]
    for place, file in enumerate(given):
        if file in given[:place]:
            raise ResultsError(f"{file}: is to be two files at once")
        if file.exists():
            raise ResultsError(f"{file}: exists already; choose another file")
        if not file.parent.is_dir():
            raise ResultsError(f"{file}: there is no folder {file.parent}")


def write_new(file: Path, text: str) -> None:
    """Write a file that is not there.

    Raises:
        ResultsError: it is.

    """
    check_new(file)
    partial = file.with_name(f".{file.name}.partial-{os.getpid()}")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.rename(file)
    finally:
        partial.unlink(missing_ok=True)


def free_folder(folder: Path) -> Path:
    """Return the folder, or the first of `folder-2`, `folder-3` ... that does not exist."""
    if not folder.exists():
        return folder
    numbered = (folder.with_name(f"{folder.name}-{number}") for number in itertools.count(2))
    return next(each for each in numbered if not each.exists())


def _move(partial: Path, folder: Path) -> None:
    if not folder.exists():
        partial.rename(folder)
        return
    old = folder.with_name(f".{folder.name}.old-{os.getpid()}")
    folder.rename(old)
    partial.rename(folder)
    shutil.rmtree(old)
