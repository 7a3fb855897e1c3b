"""Tables of all runs of a store, with a column for each value that differs between their scenarios."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from becalm.base.disk import replacing
from becalm.base.errors import StoreError
from becalm.base.progress import Steps
from becalm.results.tables import SCHEMA
from becalm.store.index import RUNS, runs, table

if TYPE_CHECKING:
    import polars as pl

    from becalm.store.store import Store

WRITERS = (".parquet", ".csv")
"""File extensions that `write_table` supports."""


def exported(store: Store, name: str = "groups", progress: Steps | None = None) -> pl.DataFrame:
    """Return a table of all runs: `key`, the dotted keys that differ between scenarios, and its own columns.

    Args:
        store: the store.
        name: a table of results, or `runs` for one row per run.
        progress: called for every run that is not in the index yet.

    Raises:
        StoreError: the store is empty, or the table was not kept for some run.

    """
    import polars as pl

    index = runs(store, progress)
    if index.is_empty():
        raise StoreError(f"{store.root}: holds no runs")
    found = index.drop("resolved") if name == RUNS else table(store, name, progress)
    columns = differences([json.loads(text) for text in index["resolved"].to_list()])
    labels = {f"scenario.{key}" if key in found.columns else key: cells for key, cells in columns.items()}
    known = pl.DataFrame({"key": index["key"], **labels}, strict=False)
    ordered = ["key", *labels, *(column for column in found.columns if column != "key")]
    return found.join(known, on="key", how="left").select(ordered)


def differences(scenarios: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return every dotted key with different values in the scenarios, and the values."""
    values = [dict(flat(scenario)) for scenario in scenarios]
    keys = sorted({key for each in values for key in each})
    columns = {key: [each.get(key) for each in values] for key in keys}
    return {key: _alike(cells) for key, cells in columns.items() if any(cell != cells[0] for cell in cells)}


def check_writable(path: Path) -> None:
    """Check that a table can be written to a path.

    Raises:
        StoreError: the file extension is unknown.

    """
    if path.suffix not in WRITERS:
        raise StoreError(f"{path}: unknown file extension; valid: {', '.join(WRITERS)}")


def write_table(made: pl.DataFrame, path: Path, name: str = "", *, overwrite: bool = False) -> None:
    """Write a table in the format of the path's extension.

    In CSV, a text that a spreadsheet would interpret as a formula gets a leading apostrophe. In Parquet, the
    file's metadata holds the units of the columns of the table `name`, as `unit:COLUMN`.

    Raises:
        ResultsError: the file exists and `overwrite` is not set, or its folder does not exist.
        StoreError: the file extension is unknown.

    """
    from becalm.base.folders import check_new

    check_writable(path)
    check_new(path, overwrite=overwrite)
    with replacing(path) as partial:
        if path.suffix == ".csv":
            _plain(made).write_csv(partial)
        else:
            known = SCHEMA[name].columns.values() if name in SCHEMA else ()
            units = {f"unit:{each.name}": each.unit for each in known if each.name in made.columns}
            made.write_parquet(partial, metadata=units)


def _plain(made: pl.DataFrame) -> pl.DataFrame:
    """Return a table with an apostrophe before each text that a spreadsheet would interpret as a formula.

    Source: OWASP, "CSV Injection": cells that begin with `=`, `+`, `-`, `@`, a tab or a carriage return.
    """
    import polars as pl

    texts = pl.col(pl.String)
    formula = texts.str.contains(r"^[=+\-@\t\r]")
    return made.with_columns(pl.when(formula).then("'" + texts).otherwise(texts).name.keep())


def flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    """Yield every value in tables and lists of tables with its dotted key. Other lists become JSON."""
    if isinstance(value, Mapping):
        if path and not value:
            yield path, "{}"
        for key, inside in value.items():
            yield from flat(inside, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and value and all(isinstance(each, Mapping) for each in value):
        for place, inside in enumerate(value):
            yield from flat(inside, f"{path}.{inside.get('name', place)}")
    else:
        yield path, json.dumps(value) if isinstance(value, list) else value


def _alike(cells: list[Any]) -> list[Any]:
    """Return cells of one type. Mixed numbers and texts all become texts."""
    kinds = {type(cell) for cell in cells if cell is not None}
    if len(kinds) < 2 or kinds == {int, float}:
        return cells
    return [None if cell is None else str(cell) for cell in cells]
