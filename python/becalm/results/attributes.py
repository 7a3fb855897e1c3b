"""The tables of results as attributes. Their types are in `attributes.pyi`, which `make docs` writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from becalm.results.tables import SCHEMA

if TYPE_CHECKING:
    import polars as pl


class Tables:
    """The tables of `SCHEMA` as attributes.

    In results of sweeps, the grid's keys are the first columns, and every point has its own rows.
    """

    def table(self, name: str) -> pl.DataFrame:
        """Return a table.

        Raises:
            ResultsError: the table is missing; the message explains how to request it.
            KeyError: no table has this name.

        """
        raise NotImplementedError

    def __getattr__(self, name: str) -> pl.DataFrame:
        if name in SCHEMA:
            return self.table(name)
        raise AttributeError(f"{type(self).__name__!r} has no attribute or table {name!r}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *SCHEMA]
