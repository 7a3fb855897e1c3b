"""Results of a sweep: its points and their combined tables."""

from __future__ import annotations

import html
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, overload

from becalm.results import Results
from becalm.results.attributes import Tables
from becalm.results.tables import SCHEMA
from becalm.runs.task import Shelf
from becalm.scenario import Scenario
from becalm.sweeps.plan import Changes, Planned, label
from becalm.sweeps.verdict import verdict

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure


class Point:
    """One point of a sweep, whose tables are read on demand."""

    def __init__(self, planned: Planned, shelf: Shelf) -> None:
        self.changes: Changes = planned.changes
        """Changed values by dotted key."""
        self.scenario: Scenario = planned.scenario
        """The changed scenario."""
        self._keys = planned.keys
        self._shelf = shelf

    @cached_property
    def results(self) -> Results:
        """The results of all replications."""
        return joined(self.scenario, [self._shelf.get(key) for key in self._keys])

    def __repr__(self) -> str:
        return f"<Point {self.changes}>"


class SweepResults(Tables, Sequence[Point]):
    """The points of a sweep, in the order of the grid, and their combined tables."""

    def __init__(self, points: list[Point], planned: int | None = None) -> None:
        """Make results of finished points; `planned` is the number of all points, default: the same."""
        self.points = points
        self._planned = len(points) if planned is None else planned

    @cached_property
    def units(self) -> Mapping[str, Mapping[str, str]]:
        """The unit of each column, by table; empty for plain numbers and text."""
        return self.points[0].results.units if self.points else {}

    @property
    def keys(self) -> list[str]:
        """The keys that any point changes, in order."""
        return list(dict.fromkeys(key for point in self.points for key in point.changes))

    def table(self, name: str) -> pl.DataFrame:
        """Return one table of all points, with a leading column for each key of the grid.

        A choice such as `{"fimd": {}}` is shown by its name. A key that is also a column of the table is
        named `scenario.<key>`.

        Raises:
            ResultsError: the scenario does not request this table.
            KeyError: no table has this name.

        """
        import polars as pl

        frames = [_with_changes(point, name, self.keys) for point in self.points]
        return pl.concat(frames, how="vertical_relaxed") if frames else pl.DataFrame()

    @property
    def fingerprints(self) -> list[str]:
        """The fingerprint of every point, in the order of the grid."""
        return [point.results.fingerprint for point in self.points]

    @cached_property
    def verdict(self) -> str:
        """Which group of flows the points change most, by how much, and how sure that is, in one sentence."""
        number = len(self.points)
        if not self.points:
            return "No point is finished."
        groups = self.table("groups")
        names = [f"scenario.{key}" if f"scenario.{key}" in groups.columns else key for key in self.keys]
        said = verdict(groups, names, number)
        return said if number == self._planned else f"{number} of {self._planned} points: {said}"

    def plot(self, column: str = "share", *, table: str = "groups", x: str | None = None) -> Figure:
        """Draw a column of a table over a key of the grid.

        Each group, or other subject of the table's rows, has a curve of the mean over the replications with
        its 95% interval. Quantities such as `16 KiB` are on a numeric axis. Each value of a second key has
        its own panel.

        Args:
            column: the column to draw.
            table: the column's table.
            x: a key of the grid; default: the first key that changes.

        Raises:
            ValueError: the column or key does not exist.

        """
        from becalm.plot.sweep import draw_sweep

        made = self.table(table)
        if column not in made.columns and (found := _tables_with(column, self.units)):
            raise ValueError(f"{column}: `{table}` has no such column; {found}")
        names = {key: f"scenario.{key}" if f"scenario.{key}" in made.columns else key for key in self.keys}
        if x is not None and x not in names:
            raise ValueError(f"x = {x}: not a key of the sweep; valid: {', '.join(names)}")
        unit = self.units.get(table, {}).get(column, "")
        return draw_sweep(made, list(names.values()), column, x=None if x is None else names[x], unit=unit)

    def _repr_html_(self) -> str:
        """Return the groups of all points as HTML for notebooks."""
        import polars as pl

        if not self.points:
            return "<p>a sweep without points</p>"
        groups = self.groups
        ahead = groups.columns[: groups.columns.index("replication")]
        shown = [name for name in ("rate", "share", "jain", "marked_share", "latency_p99") if name in groups]
        means = groups.group_by(*ahead, "group", maintain_order=True).agg(pl.col(shown).mean())
        said = f"<p>{html.escape(self.verdict)}</p>"
        return f"{said}<p>{len(self)} points, means over the replications</p>{means._repr_html_()}"

    def __repr__(self) -> str:
        return f"{self.verdict}\n<SweepResults: {len(self)} points over {', '.join(self.keys) or 'no key'}>"

    def __len__(self) -> int:
        return len(self.points)

    @overload
    def __getitem__(self, index: int) -> Point: ...

    @overload
    def __getitem__(self, index: slice) -> list[Point]: ...

    def __getitem__(self, index: int | slice) -> Point | list[Point]:
        return self.points[index]

    def __iter__(self) -> Iterator[Point]:
        return iter(self.points)


def joined(scenario: Scenario, parts: Sequence[Results]) -> Results:
    """Combine the replications of a point."""
    import polars as pl

    tables = {
        name: pl.concat([part.tables[name] for part in parts], how="vertical_relaxed")
        for name in parts[0].tables
    }
    replications = [each for part in parts for each in part.replications]
    return Results(scenario, replications, tables, parts[0].units, parts[0].origin)


def _tables_with(column: str, own: Collection[str]) -> str:
    """Say which tables have a column, and how to request missing ones; empty if no table has it."""
    schemas = [each for each in SCHEMA.values() if column in each.columns]
    ways = [
        f'table="{each.name}"'
        if each.name in own
        else f'table="{each.name}" after a sweep with {each.asked_by}'
        for each in schemas
        if each.name in own or each.asked_by
    ]
    return f"these have it: {', '.join(ways)}" if ways else ""


def _with_changes(point: Point, name: str, keys: Sequence[str]) -> pl.DataFrame:
    import polars as pl

    table = point.results.table(name)
    names = {key: f"scenario.{key}" if key in table.columns else key for key in keys}
    cells = [pl.lit(label(point.changes.get(key))).alias(column) for key, column in names.items()]
    return table.select(*cells, pl.all())
