"""Files that come with becalm, found by name: schemes and scenes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Generic, TypeVar

from becalm.base.errors import BecalmError
from becalm.base.mistakes import nearest, short

T = TypeVar("T")


@dataclass(frozen=True)
class Shelf(Generic[T]):
    """A folder of TOML files of one kind."""

    kind: str
    """Name of the kind of file in messages."""
    order: Sequence[str]
    """Names that come first. Others follow alphabetically."""
    read: Callable[[Path], T]
    """Reads a file."""

    @property
    def folder(self) -> Path:
        """The folder, next to this file."""
        return Path(__file__).parent / f"{self.kind}s"

    def names(self) -> list[str]:
        """Return the names of the files, without `.toml`."""
        first = {name: place for place, name in enumerate(self.order)}
        there = [file.stem for file in self.folder.glob("*.toml")]
        return sorted(there, key=lambda name: (first.get(name, len(first)), name))

    def path(self, name: str | PathLike[str]) -> Path:
        """Return the file with a name on the shelf, or any other file.

        Raises:
            BecalmError: neither the name nor the file exists; the message lists the names.

        """
        names = self.names()
        if str(name) in names:
            return self.folder / f"{name}.toml"
        if Path(name).is_file():
            return Path(name)
        problem = f"no such {self.kind} and no such file{nearest(str(name), names)}"
        raise BecalmError(
            f"{self.kind} `{short(str(name))}`: {problem}; valid: a TOML file, or one of {', '.join(names)}"
        )

    def find(self, name: str | PathLike[str]) -> T:
        """Return the content of the file with a name on the shelf, or of any other file.

        Raises:
            BecalmError: neither the name nor the file exists; the message lists the names.
            ScenarioError: the file is invalid; the error lists all mistakes.

        """
        return self.read(self.path(name))
