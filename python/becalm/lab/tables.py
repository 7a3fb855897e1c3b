"""Selects rows of tables by label. The measures of all papers use it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import cast

import polars as pl

from becalm.lab.model import Label, Outcome, Tables


def labelled(table: pl.DataFrame, outcome: Outcome) -> pl.DataFrame:
    """Return a table with an additional column for each label of its point."""
    return table.with_columns([pl.lit(value).alias(name) for name, value in outcome.labels.items()])


def only(table: pl.DataFrame, where: Mapping[str, Label]) -> dict[str, float]:
    """Return the only row with these labels.

    Raises:
        LookupError: there is no such row, or there are several.

    """
    chosen = select_rows(table, where)
    if chosen.height != 1:
        raise LookupError(f"{chosen.height} rows with {where}, wanted one")
    return cast("dict[str, float]", chosen.row(0, named=True))


def select_rows(table: pl.DataFrame, where: Mapping[str, Label]) -> pl.DataFrame:
    """Return the rows with these labels."""
    for name, value in where.items():
        table = table.filter(pl.col(name) == value)
    return table


def at(tables: Tables, column: str, **where: Label) -> float:
    """Return one value of one point."""
    return float(only(tables["points"], where)[column])


def curve(tables: Tables, x: str, y: str, **where: Label) -> list[float]:
    """Return the values of `y` along the axis `x`, in ascending order of `x`."""
    return [float(value) for value in select_rows(tables["points"], where).sort(x)[y].to_list()]


def along(tables: Tables, x: str, y: str, take: str, **where: Label) -> float:
    """Return one value of `y` along the axis `x`: see `TAKEN`."""
    return TAKEN[take](curve(tables, x, y, **where))


def difference(tables: Tables, column: str, than: Mapping[str, Label], **where: Label) -> float:
    """Return one value of one point minus that of the point with some other labels."""
    return at(tables, column, **where) - at(tables, column, **{**where, **than})


def ratio(tables: Tables, column: str, to: Mapping[str, Label], **where: Label) -> float:
    """Return the ratio of one value of one point to that of the point with some other labels."""
    return at(tables, column, **where) / at(tables, column, **{**where, **to})


def among(tables: Tables, column: str, take: str, of: Mapping[str, Sequence[Label]], **where: Label) -> float:
    """Return one value of a column over the points with several values of a label: see `TAKEN`."""
    ((label, values),) = of.items()
    return TAKEN[take]([at(tables, column, **{label: value}, **where) for value in values])


def axis(tables: Tables, x: str, **where: Label) -> list[float]:
    """Return the values of an axis, in ascending order."""
    return sorted(float(value) for value in select_rows(tables["points"], where)[x].unique().to_list())


def mean(values: Sequence[float]) -> float:
    """Return the arithmetic mean."""
    return math.fsum(values) / len(values)


def spread(values: Sequence[float]) -> float:
    """Return the ratio of the largest to the smallest value; 1 means fair."""
    return max(values) / min(values) if min(values) > 0 else math.inf


def unfairness(ratio: float) -> float:
    """Return the larger of a ratio of rates and its inverse; 1 means fair."""
    return max(ratio, 1 / ratio) if ratio > 0 else math.inf


TAKEN: Mapping[str, Callable[[list[float]], float]] = {
    "first": lambda values: values[0],
    "last": lambda values: values[-1],
    "least": min,
    "most": max,
    "mean": mean,
    "range": lambda values: max(values) - min(values),
    "spread": spread,
}
"""What `along` and `among` take of several values."""
