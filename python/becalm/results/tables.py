"""The tables of results as declared by the core: names, columns, kinds, units, meanings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from becalm._core import result_schema

REPLICATION = "Number of the replication, starting at 0."
"""Meaning of the first column of every table."""


@dataclass(frozen=True)
class Column:
    """The declaration of a column."""

    name: str
    kind: str
    """Kind of its values: `name`, `number` (an identifier), `count`, `share`, `index`, `ratio`, `rate`,
    `time`, `bytes`, `quantity`, `flag` or `row` (of bytes)."""
    unit: str
    """Unit of its values; empty for shares, ratios and names."""
    meaning: str


@dataclass(frozen=True)
class Schema:
    """The declaration of a table."""

    name: str
    rows: str
    """What a row describes."""
    asked_by: str
    """The scenario setting that requests the table; empty for a table that every run has."""
    over_time: bool
    """Whether its rows have times; a summary of a run omits such tables."""
    rank: str
    """The column by which a page sorts the rows, largest first; empty for the original order."""
    columns: Mapping[str, Column]

    def written(self) -> dict[str, Any]:
        """Return the declaration in the core's format."""
        return {**vars(self), "columns": [vars(column) for column in self.columns.values()]}


def _read(table: dict[str, Any]) -> Schema:
    columns = {column["name"]: Column(**column) for column in table["columns"]}
    return Schema(**{**table, "columns": columns})


SCHEMA: dict[str, Schema] = {table["name"]: _read(table) for table in json.loads(result_schema())}
"""All tables of results by name."""
