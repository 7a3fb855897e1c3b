"""The files of runs: written under a temporary name, renamed, never changed in place.

    becalm-store.json            marks a folder as a store
    runs/ab/<62 digits>.zip      one run; its key is `ab` followed by the digits
    failed/ab/<62 digits>.json   a failed run, and the reason
    index/                       a cache that may be deleted at any time

There are no locks. Files appear atomically, even on a network file system, and processes that compute the
same run write the same file.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from becalm._core import model
from becalm.base.errors import StoreError
from becalm.base.progress import Steps, steps
from becalm.store import archive
from becalm.store.archive import ALL, SERIES, Note
from becalm.store.files import read_regular, write
from becalm.store.key import FORMAT

if TYPE_CHECKING:
    import polars as pl

    from becalm.results import Results

MARK = "becalm-store.json"
"""Name of the file that marks a folder as a store."""
_OURS = {MARK, "runs", "failed", "index", "sweep.json"}
_OLD = 24 * 3600.0
"""Age in s at which a temporary file certainly has no writer anymore."""


class Pruned(NamedTuple):
    """Counts of what `Store.prune` removed."""

    temporary: int
    """Temporary files of killed writers."""
    models: int
    """Runs of other versions of the model."""
    thinned: int
    """Runs that now keep fewer tables."""
    bytes: int
    """Bytes freed."""


class Store:
    """A folder of runs.

    Args:
        root: the folder.
        make: whether to create a missing folder; otherwise a missing store counts as empty.

    Raises:
        StoreError: the folder is not a store, has another format, or has an invalid name.

    """

    def __init__(self, root: str | PathLike[str], *, make: bool = True) -> None:
        self.root = Path(root)
        if "\0" in str(root):
            raise StoreError(f"{str(root)!r}: not a valid folder name: it contains a zero byte")
        if not (self.root / MARK).exists():
            self._check_free()
            if not make:
                return
            write(self.root / MARK, _mark().encode())
        try:
            found = json.loads(read_regular(self.root / MARK))["format"]
        except (ValueError, KeyError, TypeError) as error:
            raise StoreError(f"{self.root / MARK}: damaged; it should contain {_mark()}") from error
        if found != FORMAT:
            raise StoreError(f"{self.root}: has format {found}; this version reads format {FORMAT}")

    @classmethod
    def open(cls, root: str | PathLike[str]) -> Store:
        """Return an existing store.

        Raises:
            StoreError: the folder is not a store.

        """
        if not (Path(root) / MARK).is_file():
            there = f"it has no {MARK}" if Path(root).exists() else "it does not exist"
            raise StoreError(f"{root}: not a store: {there}; `becalm sweep SWEEP --store {root}` makes one")
        return cls(root)

    def path(self, key: str) -> Path:
        """Return the path of a run's file, which need not exist."""
        return self.root / "runs" / key[:2] / f"{key[2:]}.zip"

    def has(self, key: str, keep: str = archive.SUMMARY) -> bool:
        """Return whether a run is stored intact, with at least the tables of `keep`."""
        note = self.note(key)
        return note is not None and note.enough(keep)

    def note(self, key: str) -> Note | None:
        """Return a run's note with its kept tables and fingerprint, or None if it is missing or damaged."""
        try:
            return self.check(key)
        except (FileNotFoundError, StoreError):
            return None

    def check(self, key: str) -> Note:
        """Compare a file with its checksum and its name, and return its note.

        Raises:
            FileNotFoundError: the run is not in the store.
            StoreError: the file is damaged, or belongs to another run.

        """
        return archive.opened(self.path(key), key).note

    def get(self, key: str) -> Results:
        """Return a run.

        Raises:
            FileNotFoundError: the run is not in the store.
            StoreError: the file is damaged, or belongs to another run.

        """
        return archive.opened(self.path(key), key).results()

    def put(self, key: str, results: Results, keep: str = SERIES) -> bool:
        """Add a run atomically. Replace a damaged file, or a file with fewer tables.

        Returns:
            Whether a file was written.

        Raises:
            StoreError: the store has another result for the same run, so results depend on more than the key;
                or the run was stopped before its end.

        """
        if results.stopped is not None:
            raise StoreError(
                f"{results.scenario.name}: was stopped at {results.stopped} s; a store has whole runs"
            )
        note = self.note(key)
        if note is not None:
            if note.fingerprint != results.fingerprint:
                found = f"fingerprint {results.fingerprint}, but {note.fingerprint} in the store"
                raise StoreError(f"{self.path(key)}: different results of the same run: {found}")
            if note.enough(keep):
                return False
        write(self.path(key), archive.pack(results, key, keep))
        self._failure_path(key).unlink(missing_ok=True)
        return True

    def fail(self, key: str, failure: dict[str, Any]) -> None:
        """Record the failure of a run: `kind`, `text` and further details."""
        path = self._failure_path(key)
        write(path, (json.dumps({"key": key, "model": model, **failure}, indent=2) + "\n").encode())

    def failure(self, key: str) -> dict[str, Any] | None:
        """Return the reason for a run's failure, or None if unknown."""
        try:
            found = json.loads(read_regular(self._failure_path(key)))
        except (FileNotFoundError, RecursionError, StoreError, ValueError):
            # Ignore a damaged note, so that the run is repeated.
            return None
        return found if isinstance(found, dict) and isinstance(found.get("text"), str) else None

    def keys(self) -> Iterator[str]:
        """Yield the keys of all runs, sorted, without opening their files."""
        return self._names("runs", ".zip")

    def failed(self) -> Iterator[str]:
        """Yield the keys of all failed runs, sorted."""
        return self._names("failed", ".json")

    def tables(self, name: str, keys: Iterable[str]) -> pl.DataFrame:
        """Return one table of many runs, with `key` as the first column.

        Raises:
            FileNotFoundError: a run is not in the store.
            StoreError: a file is damaged, or the table was not kept.

        """
        import polars as pl

        frames = [
            archive.opened(self.path(key), key).table(name).insert_column(0, pl.lit(key).alias("key"))
            for key in keys
        ]
        # Older versions had fewer columns.
        return pl.concat(frames, how="diagonal_relaxed") if frames else pl.DataFrame({"key": []})

    def verify(self, progress: Steps | None = None) -> Iterator[tuple[str, str]]:
        """Read every file completely, and yield the key and problem of each damaged file."""
        from becalm.base.errors import BecalmError

        for key in steps(list(self.keys()), progress):
            try:
                archive.check_key(archive.opened(self.path(key), key), key)
            except (BecalmError, KeyError, TypeError, ValueError) as error:
                yield key, str(error)

    def prune(self, keep: str = ALL, *, models: bool = False, progress: Steps | None = None) -> Pruned:
        """Remove files that killed writers left over a day ago, and optionally tables or old runs.

        Args:
            keep: tables to keep of each run.
            models: whether to delete the runs of other versions of the model.
            progress: called for every run.

        """
        temporary, freed = self._sweep_temporary()
        other = thinned = 0
        for key in steps(list(self.keys()), progress):
            path = self.path(key)
            try:
                run = archive.opened(path, key)
            except StoreError:
                continue
            size = path.stat().st_size
            if models and run.manifest.model != model:
                path.unlink()
                other, freed = other + 1, freed + size
            elif keep != run.note.keep and run.note.enough(keep):
                write(path, archive.pack(run.results(), key, keep))
                thinned, freed = thinned + 1, freed + size - path.stat().st_size
        if other or thinned:
            for path in (self.root / "index").glob("*.parquet"):
                path.unlink(missing_ok=True)
        return Pruned(temporary, other, thinned, freed)

    def merge(self, other: Store, progress: Steps | None = None) -> tuple[int, int]:
        """Copy the runs of another store.

        Returns:
            The numbers of new runs and of the other store's damaged files, which are skipped.

        Raises:
            StoreError: the stores have different results for the same run.

        """
        new = damaged = 0
        for key in steps(list(other.keys()), progress):
            try:
                theirs = other.check(key)
            except StoreError:
                damaged += 1
                continue
            ours = self.note(key)
            if ours is not None and self._settled(key, ours, theirs):
                continue
            write(self.path(key), read_regular(other.path(key)))
            new += 1
        for key in other.failed():
            failure = other.failure(key)
            if failure is not None and not self.has(key):
                self.fail(key, failure)
        return new, damaged

    def reindex(self) -> pl.DataFrame:
        """Return one row per run. See `becalm.store.index`."""
        from becalm.store.index import runs

        return runs(self)

    def _settled(self, key: str, ours: Note, theirs: Note) -> bool:
        if ours.fingerprint != theirs.fingerprint:
            found = f"fingerprints {ours.fingerprint} and {theirs.fingerprint}"
            raise StoreError(f"{self.path(key)}: different results of the same run: {found}")
        return ours.enough(theirs.keep)

    def _failure_path(self, key: str) -> Path:
        return self.root / "failed" / key[:2] / f"{key[2:]}.json"

    def _check_free(self) -> None:
        if self.root.is_dir():
            there = {each.name for each in self.root.iterdir() if not each.name.startswith(".")}
            if there - _OURS:
                other = sorted(there - _OURS)[0]
                raise StoreError(f"{self.root}: not a store: it contains {other}; choose another folder")
        elif os.path.lexists(self.root):
            raise StoreError(f"{self.root}: not a store: it is not a folder; choose another name")

    def _names(self, part: str, suffix: str) -> Iterator[str]:
        folder = self.root / part
        if not folder.is_dir():
            return
        for branch in sorted(os.listdir(folder)):  # noqa: PTH208  twice as fast as iterdir
            inside = folder / branch
            if len(branch) != 2 or not inside.is_dir():
                continue
            for name in sorted(os.listdir(inside)):  # noqa: PTH208
                if name.endswith(suffix) and not name.startswith("."):
                    yield branch + name.removesuffix(suffix)

    def _sweep_temporary(self) -> tuple[int, int]:
        count = freed = 0
        for path in self.root.rglob(".*.tmp"):
            found = path.stat()
            if found.st_mtime < time.time() - _OLD:
                path.unlink()
                count, freed = count + 1, freed + found.st_size
        return count, freed


def _mark() -> str:
    return json.dumps({"format": FORMAT}) + "\n"
