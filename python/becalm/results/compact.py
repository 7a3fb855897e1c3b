"""The tables of a run. Large ones contain numbers in place of names until someone reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from typing import TYPE_CHECKING

from becalm.base.columns import with_names

if TYPE_CHECKING:
    import polars as pl


class CompactTables(MutableMapping[str, "pl.DataFrame"]):
    """Tables whose columns of names are of the type String as soon as someone reads them.

    Until then, a name takes at most four bytes instead of 16 in a table with many rows; see
    `becalm.base.columns.MANY_ROWS`.
    """

    def __init__(self, tables: Mapping[str, pl.DataFrame]) -> None:
        self._tables = dict(tables)

    def compact(self, name: str) -> pl.DataFrame:
        """Return a table in which columns of names may be of the type Enum."""
        return self._tables[name]

    def __getitem__(self, name: str) -> pl.DataFrame:
        self._tables[name] = table = with_names(self._tables[name])
        return table

    def __setitem__(self, name: str, table: pl.DataFrame) -> None:
        self._tables[name] = table

    def __delitem__(self, name: str) -> None:
        del self._tables[name]

    def __contains__(self, name: object) -> bool:
        return name in self._tables

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)
