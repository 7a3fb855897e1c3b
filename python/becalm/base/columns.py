"""Tables as the core writes and reads them, `(column, unit, values)`, and as data frames."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import polars as pl

    Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame)

# Polars loads NumPy at its first array. If two threads do so at once, one of them ends with a TypeError.
_LOADING = threading.Lock()

MANY_ROWS = 1 << 16
"""Number of rows from which names are numbers until someone reads them. They save memory, not time."""


def frame(replication: int, columns: Sequence[tuple[str, str, Any]]) -> pl.DataFrame:
    """Return a replication's table as a data frame, with its number in the first column.

    If it has many rows, columns of names are of the type Enum; see `with_names`.
    """
    import polars as pl

    table = table_of(columns, _compact)
    number = pl.Series("replication", [replication], dtype=pl.UInt32)
    # `pl.repeat` runs a query for each table.
    return table.insert_column(0, number.new_from_index(0, table.height))


def table_of(
    columns: Sequence[tuple[str, str, Any]], convert: Callable[[Any], pl.Series] | None = None
) -> pl.DataFrame:
    """Return a table of the core as a data frame. `convert` is by default `series`."""
    import polars as pl

    convert = convert or series
    return pl.DataFrame(
        {column: values if isinstance(values, list) else convert(values) for column, _, values in columns}
    )


def series(values: Any) -> pl.Series:  # noqa: ANN401
    """Return the core's array, or its names and the place of each row's name among them, as a series."""
    import polars as pl

    if isinstance(values, tuple):
        names, places = values
        return pl.Series(names, dtype=pl.String).gather(places)
    with _LOADING:
        return pl.Series(values)


def _compact(values: Any) -> pl.Series:  # noqa: ANN401
    """Return the core's array or names as a series; with many rows, names are of the type Enum."""
    import polars as pl

    if not isinstance(values, tuple) or len(values[1]) < MANY_ROWS or len(set(values[0])) < len(values[0]):
        return series(values)
    names, places = values
    return pl.Series(names, dtype=pl.Enum(names)).gather(places)


def with_names(table: Frame) -> Frame:
    """Return a table with columns of the type String in place of Enum."""
    import polars as pl

    numbers = [name for name, kind in table.collect_schema().items() if kind == pl.Enum]
    return table.with_columns(pl.col(numbers).cast(pl.String)) if numbers else table


def of(table: pl.DataFrame, replication: int, units: Mapping[str, str]) -> list[tuple[str, str, Any]]:
    """Return a replication's rows of a table of results as the core reads them."""
    import polars as pl

    if table["replication"].n_unique() > 1:
        table = table.filter(pl.col("replication") == replication)
    return [(c, units.get(c, ""), _values(table[c])) for c in table.columns if c != "replication"]


def _values(column: pl.Series) -> Any:  # noqa: ANN401
    """Return numbers as arrays of the core's two types, and text and rows of bytes as lists."""
    import polars as pl

    if column.dtype in (pl.String, pl.Binary):
        return column.to_list()
    kind = pl.Float64 if column.dtype.is_float() else pl.UInt64
    return column.cast(kind).to_numpy()
