"""One run as one file: an archive of the manifest and the tables, with a note in the last bytes.

The note holds the format, the kept tables, the fingerprint and a checksum of all preceding bytes. Only
`opened` reads files. It verifies the checksum, and compares the key in the file with the file's name.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from becalm.base import jsons, machine, provenance
from becalm.base.columns import with_names
from becalm.base.errors import BecalmError, StoreError
from becalm.base.mistakes import reason, short
from becalm.base.parquet import mismatch
from becalm.results import MANIFEST, Results
from becalm.results.outcomes import Replication
from becalm.results.tables import SCHEMA
from becalm.scenario import Scenario
from becalm.store.files import read_regular
from becalm.store.key import FORMAT, key_of

if TYPE_CHECKING:
    import polars as pl

    from becalm.results.manifests import StoredManifest

SUMMARY, SERIES, ALL = "summary", "series", "all"
KEEPS = (SUMMARY, SERIES, ALL)
"""Kept tables of a run. `summary`: tables without time. `series`: also the series of groups and of the links
that the scenario names. `all`: all tables."""

_DAMAGED = (
    *(EOFError, NotImplementedError, OSError, OverflowError, RecursionError, RuntimeError, ValueError),
    *(zipfile.BadZipFile, zlib.error),
)
"""Exceptions that a damaged archive can raise, since it may seem to be encrypted, split or compressed."""

_NOTE = re.compile(rb"becalm run %d (%s) (\w{16})(?: ([0-9a-f]{16}))?\Z" % (FORMAT, "|".join(KEEPS).encode()))
"""The end of a file. Version 0.2.0 wrote no checksum."""
_SUM = 16
"""Number of digits of the checksum."""
_LARGEST_MANIFEST = 1 << 28
"""Maximum size in bytes of an uncompressed manifest, which contains an entire scenario."""
_DAY_ONE = (1980, 1, 1, 0, 0, 0)


class Note(NamedTuple):
    """The note in the last bytes of a file."""

    keep: str
    fingerprint: str
    checksum: str | None
    """Checksum of all preceding bytes."""

    def enough(self, keep: str) -> bool:
        """Whether at least this much was kept."""
        return KEEPS.index(self.keep) >= KEEPS.index(keep)


def pack(results: Results, key: str, keep: str) -> bytes:
    """Return the file contents of one replication."""
    tables = {name: _kept(results, name, keep) for name in results.tables}
    kept = {name: table for name, table in tables.items() if table is not None}
    slim = Results(results.scenario, results.replications, kept, results.units, results.origin)
    manifest = {**slim.manifest(), "key": key, "keep": keep}
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        _add(archive, MANIFEST, jsons.dumps(manifest).encode(), zipfile.ZIP_DEFLATED)
        for name, table in kept.items():
            _add(archive, f"{name}.parquet", _parquet(table), zipfile.ZIP_STORED)
        # The length of the note precedes it.
        archive.comment = f"becalm run {FORMAT} {keep} {results.fingerprint} {'0' * _SUM}".encode()
    summed = target.getvalue()[:-_SUM]
    return summed + _checksum(summed)


class Opened(NamedTuple):
    """An intact file."""

    path: Path
    archive: zipfile.ZipFile
    note: Note
    manifest: StoredManifest

    def table(self, name: str) -> pl.DataFrame:
        """Return one table.

        Raises:
            StoreError: the file is damaged, or the table was not kept.

        """
        return _table(self, name)

    def results(self) -> Results:
        """Return the run.

        Raises:
            StoreError: the file is damaged.

        """
        manifest = self.manifest
        units = {name: entry.units for name, entry in manifest.tables.items()}
        replications = [Replication(**vars(item)) for item in manifest.replications]
        scenario = Scenario(manifest.scenario.toml, name=manifest.scenario.name, schemes=None)
        tables = {name: self.table(name) for name in units}
        return Results(scenario, replications, tables, units, provenance.of(vars(manifest)))


def opened(path: Path, key: str) -> Opened:
    """Read the file of a run, and compare it with its checksum and its name.

    Raises:
        FileNotFoundError: the file does not exist.
        StoreError: the file is damaged, or its run has another key.

    """
    content = read_regular(path)
    note = _note(content)
    if note is None:
        raise StoreError(f"{path}: damaged: the end of the run is missing")
    if note.checksum is not None and note.checksum.encode() != _checksum(content[:-_SUM]):
        raise StoreError(f"{path}: damaged: it does not match its checksum")
    archive = _open(content, path)
    if note.checksum is None:
        _test(archive, path)
    manifest = _manifest(archive, path)
    if manifest.key != key:
        raise StoreError(
            f"{path}: contains the run {short(manifest.key[:16])}, which does not match the file's name"
        )
    return Opened(path, archive, note, manifest)


def check_key(run: Opened, key: str) -> None:
    """Check that the scenario in a file matches its key.

    Raises:
        StoreError: the scenario does not match.

    """
    # Hash the stored scenario as it is, because older versions of becalm had fewer keys.
    resolved, (replication,) = run.manifest.scenario.resolved, run.manifest.replications
    found = key_of(resolved, replication.replication, run.manifest.model)
    if found != key:
        raise StoreError(f"{run.path}: contains the run {found[:16]}, which does not match the file's name")


def _checksum(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest()[:_SUM].encode()


def _note(content: bytes) -> Note | None:
    """Return the note at the end of a file, or None if the file is damaged or not a run."""
    found = _NOTE.search(content, max(0, len(content) - 128))
    if found is None:
        return None
    keep, fingerprint, checksum = found.groups()
    return Note(keep.decode(), fingerprint.decode(), None if checksum is None else checksum.decode())


def _test(archive: zipfile.ZipFile, path: Path) -> None:
    """Verify the checksums of all parts of a file that has no overall checksum."""
    try:
        bad = archive.testzip()
    except _DAMAGED as error:
        raise StoreError(f"{path}: damaged: {error}") from error
    if bad is not None:
        raise StoreError(f"{path}: damaged: its part {bad} does not match its checksum")


def _manifest(archive: zipfile.ZipFile, path: Path) -> StoredManifest:
    from becalm.results import manifests

    try:
        content = json.loads(_member(archive, path, MANIFEST))
    except (RecursionError, ValueError) as error:
        raise StoreError(f"{path}: damaged: its {MANIFEST} {reason(error)}") from error
    try:
        return manifests.read_stored(content, f"{path}: damaged: its {MANIFEST}")
    except BecalmError as error:
        raise StoreError(str(error)) from error


def _open(content: bytes, path: Path) -> zipfile.ZipFile:
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
    except _DAMAGED as error:
        raise StoreError(f"{path}: damaged: {error}") from error
    for part in archive.infolist():
        # Tables are not compressed in the archive. A compressed part could expand to any size.
        most = _LARGEST_MANIFEST if part.filename == MANIFEST else len(content)
        if part.file_size > most:
            raise StoreError(f"{path}: damaged: its part {part.filename} claims {part.file_size} bytes")
    return archive


def _member(archive: zipfile.ZipFile, path: Path, name: str) -> bytes:
    try:
        return archive.read(name)
    except KeyError as error:
        raise StoreError(f"{path}: {name} was not kept for this run") from error
    except _DAMAGED as error:
        raise StoreError(f"{path}: damaged: {error}") from error


def _table(run: Opened, name: str) -> pl.DataFrame:
    import polars as pl

    content = _member(run.archive, run.path, f"{name}.parquet")
    entry = run.manifest.tables.get(name)
    if entry is None:
        raise StoreError(f"{run.path}: damaged: its {MANIFEST} does not list its table {name}")
    cells = entry.rows * len(entry.units)
    # The machine's memory takes a while to find, and no table with fewer cells than bytes fills it.
    if cells > len(content) and cells > machine.machine_limit():
        raise StoreError(f"{run.path}: damaged: its table {name} claims {cells} cells")
    try:
        # One row more than the manifest says is enough to see that there are more.
        table = pl.scan_parquet(io.BytesIO(content), n_rows=entry.rows + 1).collect()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise StoreError(f"{run.path}: damaged: its table {name}: {error}") from error
    if problem := mismatch(table, entry.rows, entry.units):
        raise StoreError(f"{run.path}: damaged: its table {name}: {problem}")
    return table


def _kept(results: Results, name: str, keep: str) -> pl.DataFrame | None:
    """Return the kept part of a table, or None if nothing is kept."""
    import polars as pl

    table = results.tables.compact(name)
    if keep == ALL or name not in SCHEMA or not SCHEMA[name].over_time:
        return table
    if keep == SUMMARY:
        return None
    if name != "series":
        return table
    named = [link for link in results.scenario.resolved["observe"]["links"] if link != "*"]
    return table.filter((pl.col("kind") != "link") | pl.col("name").is_in(named))


def _parquet(table: pl.DataFrame) -> bytes:
    target = io.BytesIO()
    with_names(table.lazy()).sink_parquet(target, compression="zstd", statistics=False)
    return target.getvalue()


def _add(archive: zipfile.ZipFile, name: str, data: bytes, how: int) -> None:
    archive.writestr(zipfile.ZipInfo(name, _DAY_ONE), data, compress_type=how)
