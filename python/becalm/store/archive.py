"""One run as one file: an archive of its manifest and its tables, with a note in its last bytes.

The note holds the format, the kept tables and the fingerprint. It tells a whole file from a truncated,
empty or foreign one, and one run from another, without opening the archive.
"""

from __future__ import annotations

import contextlib
import io
import json
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from becalm import jsons, provenance
from becalm.errors import BecalmError, StoreError
from becalm.mistakes import reason
from becalm.results import MANIFEST, Replication, Results
from becalm.scenario import Scenario
from becalm.store.key import FORMAT, run_key

if TYPE_CHECKING:
    import polars as pl

SUMMARY, SERIES, ALL = "summary", "series", "all"
KEEPS = (SUMMARY, SERIES, ALL)
"""Kept tables of a run, from few to all: tables without time; also the series of groups and of the links that
the scenario names; all tables."""

_DAMAGED = (
    *(EOFError, NotImplementedError, OSError, OverflowError, RecursionError, RuntimeError, ValueError),
    *(zipfile.BadZipFile, zlib.error),
)
"""What a damaged archive raises, which may seem to be compressed, encrypted or split in another way."""
_NO_MANIFEST = (AttributeError, KeyError, TypeError, ValueError)
"""What a manifest raises that is none."""

_OVER_TIME = ("series", "paces", "snapshots", "frames", "frames_groups", "spans")
"""Tables with a time; a summary omits them."""
_TAIL = 128
"""Bytes at the end that always contain the note."""
_DAY_ONE = (1980, 1, 1, 0, 0, 0)


class Note(NamedTuple):
    """The note in the last bytes of a file."""

    keep: str
    fingerprint: str

    def enough(self, keep: str) -> bool:
        """Whether at least this much was kept."""
        return KEEPS.index(self.keep) >= KEEPS.index(keep)


def pack(results: Results, key: str, keep: str) -> bytes:
    """Return one replication as the bytes of its file."""
    tables = {name: _kept(results, name, keep) for name in results.tables}
    kept = {name: table for name, table in tables.items() if table is not None}
    slim = Results(results.scenario, results.replications, kept, results.units, results.origin)
    manifest = {**slim.manifest(), "key": key, "keep": keep}
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        _add(archive, MANIFEST, jsons.dumps(manifest).encode(), zipfile.ZIP_DEFLATED)
        for name, table in kept.items():
            _add(archive, f"{name}.parquet", _parquet(table), zipfile.ZIP_STORED)
        archive.comment = f"becalm run {FORMAT} {keep} {results.fingerprint}".encode()
    return target.getvalue()


def read_note(path: Path) -> Note | None:
    """Return the note in the last bytes of a file; None if it is damaged or not a run.

    Raises:
        FileNotFoundError: no such file.

    """
    with path.open("rb") as file:
        size = file.seek(0, io.SEEK_END)
        file.seek(max(0, size - _TAIL))
        _, mark, note = file.read().rpartition(f"becalm run {FORMAT} ".encode())
    keep, _, fingerprint = note.decode("ascii", "replace").partition(" ")
    whole = mark and keep in KEEPS and len(fingerprint) == 16 and fingerprint.isalnum()
    return Note(keep, fingerprint) if whole else None


def check(path: Path) -> None:
    """Compare every part of a file with its checksum.

    Raises:
        StoreError: damaged.

    """
    with _open(path) as archive:
        try:
            bad = archive.testzip()
        except _DAMAGED as error:
            raise StoreError(f"{path}: damaged: {error}") from error
    if bad is not None:
        raise StoreError(f"{path}: damaged: {bad} in it does not fit its checksum")


def check_key(path: Path, key: str) -> None:
    """Check that the run in a file is the one of its name.

    Raises:
        StoreError: it is not, or the file is damaged.

    """
    manifest = read_manifest(path)
    with _reading(path):
        made = _scenario(manifest)
        (replication,) = manifest["replications"]
        found = run_key(made, replication["replication"], manifest["model"])
    if found != key:
        raise StoreError(f"{path}: holds the run {found[:16]}, not the one of its name")


def read_manifest(path: Path) -> dict[str, Any]:
    """Return the manifest of a file.

    Raises:
        FileNotFoundError: no such file.
        StoreError: damaged.

    """
    with _open(path) as archive:
        return _manifest(archive, path)


def read_table(path: Path, name: str) -> pl.DataFrame:
    """Return one table of a file.

    Raises:
        FileNotFoundError: no such file.
        StoreError: damaged, or the table was not kept.

    """
    with _open(path) as archive:
        return _table(archive, path, name)


def unpack(path: Path) -> Results:
    """Return the run of a file.

    Raises:
        FileNotFoundError: no such file.
        StoreError: damaged.

    """
    with _open(path) as archive:
        manifest = _manifest(archive, path)
        with _reading(path):
            units = {name: entry["units"] for name, entry in manifest["tables"].items()}
            replications = [Replication(**item) for item in manifest["replications"]]
            scenario = _scenario(manifest)
        tables = {name: _table(archive, path, name) for name in units}
    return Results(scenario, replications, tables, units, provenance.of(manifest))


def _scenario(manifest: Mapping[str, Any]) -> Scenario:
    return Scenario(str(manifest["scenario"]["toml"]), name=str(manifest["scenario"]["name"]))


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Tell a manifest that is none from one that is."""
    try:
        yield
    except BecalmError:
        raise
    except _NO_MANIFEST as error:
        raise StoreError(f"{path}: damaged: {MANIFEST} in it is no manifest of becalm: {error}") from error


def _manifest(archive: zipfile.ZipFile, path: Path) -> dict[str, Any]:
    try:
        manifest = json.loads(_member(archive, path, MANIFEST))
    except (RecursionError, ValueError) as error:
        raise StoreError(f"{path}: damaged: {MANIFEST} in it {reason(error)}") from error
    if not isinstance(manifest, dict):
        raise StoreError(f"{path}: damaged: {MANIFEST} in it is no manifest of becalm")
    return manifest


def _open(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except FileNotFoundError:
        raise
    except _DAMAGED as error:
        raise StoreError(f"{path}: damaged: {error}") from error


def _member(archive: zipfile.ZipFile, path: Path, name: str) -> bytes:
    try:
        return archive.read(name)
    except KeyError as error:
        raise StoreError(f"{path}: {name} was not kept of this run") from error
    except _DAMAGED as error:
        raise StoreError(f"{path}: damaged: {error}") from error


def _table(archive: zipfile.ZipFile, path: Path, name: str) -> pl.DataFrame:
    import polars as pl

    content = io.BytesIO(_member(archive, path, f"{name}.parquet"))
    try:
        return pl.read_parquet(content)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise StoreError(f"{path}: damaged: table {name} in it: {error}") from error


def _kept(results: Results, name: str, keep: str) -> pl.DataFrame | None:
    """Return the kept part of a table; None if it is not kept."""
    import polars as pl

    table = results.tables[name]
    if keep == ALL or name not in _OVER_TIME:
        return table
    if keep == SUMMARY:
        return None
    if name != "series":
        return table
    named = [link for link in results.scenario.resolved["observe"]["links"] if link != "*"]
    return table.filter((pl.col("kind") != "link") | pl.col("name").is_in(named))


def _parquet(table: pl.DataFrame) -> bytes:
    target = io.BytesIO()
    table.write_parquet(target, compression="zstd", statistics=False)
    return target.getvalue()


def _add(archive: zipfile.ZipFile, name: str, data: bytes, how: int) -> None:
    archive.writestr(zipfile.ZipInfo(name, _DAY_ONE), data, compress_type=how)
