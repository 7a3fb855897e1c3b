"""One row per run of a store, and tables of all runs, as Parquet files that may be deleted at any time.

The next reader adds missing runs and writes a new file. No process waits for another. Programs that
read Parquet (DuckDB, pandas, R) can use the newest file of `index/` directly.
"""

from __future__ import annotations

import io
import json
import os
import socket
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from becalm.base.errors import BecalmError, StoreError
from becalm.base.progress import Steps, steps
from becalm.store import archive
from becalm.store.files import read_regular, write

if TYPE_CHECKING:
    import polars as pl

RUNS = "runs"


class Store(Protocol):
    """The part of a store that an index uses."""

    root: Path

    def keys(self) -> Iterator[str]:
        """Yield the keys of all runs."""
        ...

    def path(self, key: str) -> Path:
        """Return the file of a run."""
        ...

    def tables(self, name: str, keys: Iterable[str]) -> pl.DataFrame:
        """Return one table of the given runs."""
        ...


def runs(store: Store, progress: Steps | None = None) -> pl.DataFrame:
    """Return one row per readable run; `progress` counts runs that are not in the index yet.

    Columns: `key`, `scenario` (its name), `hash`, `model`, `replication`, `seed`, `created`, `keep`,
    `wall_time` in s, `events`, `packet_hops`, `fingerprint`, `bytes` of its file, `resolved` (as JSON).
    """
    import polars as pl

    old, known, fresh = _known(store, RUNS)
    rows = [row for key in steps(fresh, progress) for row in _row(store, key)]
    if not rows and old is not None and known is not None and known.height == old.height:
        return known
    new = pl.DataFrame(rows, schema=_schema())
    found = (new if known is None else pl.concat([known, new])).sort("key")
    _keep(store, RUNS, found)
    return found


def table(store: Store, name: str, progress: Steps | None = None) -> pl.DataFrame:
    """Return one table of all runs, with a column `key`. Runs that were read before come from the cache.

    `progress` counts the newly read runs.
    """
    import polars as pl

    _, known, missing = _known(store, name)
    if known is not None and not missing:
        return known
    new = store.tables(name, steps(missing, progress))
    found = new if known is None or known.is_empty() else pl.concat([known, new], how="diagonal_relaxed")
    _keep(store, name, found)
    return found


def _known(store: Store, name: str) -> tuple[pl.DataFrame | None, pl.DataFrame | None, list[str]]:
    """Return the newest file, its rows of runs that the store still has, and the keys of the other runs."""
    import polars as pl

    keys = list(store.keys())
    old = _newest(store, name)
    if old is None:
        return None, None, keys
    known = old.filter(pl.col("key").is_in(keys))
    have = set(known["key"].to_list())
    return old, known, [key for key in keys if key not in have]


def _schema() -> dict[str, Any]:
    import polars as pl

    text, whole = pl.String, pl.Int64
    return {
        "key": text,
        "scenario": text,
        "hash": text,
        "model": text,
        "replication": whole,
        "seed": whole,
        "created": text,
        "keep": text,
        "wall_time": pl.Float64,
        "events": whole,
        "packet_hops": whole,
        "fingerprint": text,
        "bytes": whole,
        "resolved": text,
    }


def _row(store: Store, key: str) -> list[dict[str, Any]]:
    path = store.path(key)
    try:
        manifest = archive.opened(path, key).manifest
        size = path.stat().st_size
    except (BecalmError, FileNotFoundError):
        return []
    (replication,), scenario = manifest.replications, manifest.scenario
    return [
        {
            "key": key,
            "scenario": scenario.name,
            "hash": scenario.hash,
            "model": manifest.model,
            "replication": replication.replication,
            "seed": manifest.seed,
            "created": manifest.created,
            "keep": manifest.keep,
            "wall_time": replication.wall_time,
            "events": replication.events,
            "packet_hops": replication.packet_hops,
            "fingerprint": replication.fingerprint,
            "bytes": size,
            "resolved": json.dumps(scenario.resolved, sort_keys=True),
        }
    ]


def _files(store: Store, name: str) -> list[Path]:
    return sorted((store.root / "index").glob(f"*.{name}.parquet"))


def _newest(store: Store, name: str) -> pl.DataFrame | None:
    import polars as pl

    for path in reversed(_files(store, name)):
        try:
            return pl.read_parquet(read_regular(path))
        except (OSError, StoreError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
            continue
    return None


def _keep(store: Store, name: str, found: pl.DataFrame) -> None:
    """Write a new file and delete the old files, unless the store is read-only."""
    target = io.BytesIO()
    found.write_parquet(target, compression="zstd")
    old = _files(store, name)
    stamp = f"{time.time_ns() // 1_000_000:015d}-{socket.gethostname()}-{os.getpid()}"
    try:
        write(store.root / "index" / f"{stamp}.{name}.parquet", target.getvalue())
        for path in old:
            path.unlink(missing_ok=True)
    except OSError:
        return
