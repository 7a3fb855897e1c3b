"""Files given to `becalm import`, apart by what they are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from becalm.errors import BecalmError
from becalm.opensm import foreign

_OPTIONS = {foreign.TABLES: "--lfts", foreign.PATHS: "--path-records", foreign.LANES: "--sl2vl"}
"""The option for each kind of file beside the fabric."""


class Inputs(NamedTuple):
    """The files of a fabric, in the order of the arguments of `import_fabric`."""

    fabric: Path
    lfts: Path | None
    path_records: Path | None
    sl2vl: Path | None


def sort(files: Sequence[Path], lfts: Path | None, path_records: Path | None, sl2vl: Path | None) -> Inputs:
    """Return the files by what they are; a file without a known sign is taken for the fabric.

    Raises:
        FileNotFoundError: a file does not exist.
        BecalmError: two files are of the same kind, or none is a fabric.

    """
    given = dict(zip(_OPTIONS, (lfts, path_records, sl2vl), strict=True))
    fabric: Path | None = None
    for file in files:
        kind = foreign.which(file, (foreign.FABRIC, *_OPTIONS))
        if kind in given:
            if given[kind] is not None:
                raise BecalmError(f"{file}: is the second file of {kind.what}, after {given[kind]}")
            given[kind] = file
        elif fabric is not None:
            foreign.check(file, foreign.FABRIC)
            raise BecalmError(f"{file}: is the second fabric, after {fabric}; a scenario has one")
        else:
            fabric = file
    if fabric is None:
        # Says what the file is, and what reads it.
        foreign.check(files[0], foreign.FABRIC)
        raise BecalmError(f"{files[0]}: is not {foreign.FABRIC.what}")
    return Inputs(fabric, *given.values())
