"""The page of a sweep's points, and tables of points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from becalm._core import pack
from becalm.analysis.formats import number
from becalm.base import jsons, provenance
from becalm.base.errors import ResultsError
from becalm.base.intervals import mean_interval
from becalm.base.progress import Steps, steps
from becalm.base.quantities import axis
from becalm.reports.again import again_sweep
from becalm.reports.page import flat, heading
from becalm.sweeps.verdict import contrast

if TYPE_CHECKING:
    import polars as pl

    from becalm.results import Results
    from becalm.scenario import Scenario
    from becalm.store import Store
    from becalm.sweeps.plan import Plan, Planned
from becalm.results.tables import SCHEMA

MEASURES = (
    ("rate", "number", "B/s"),
    ("jain", "index", ""),
    ("marked_share", "share", ""),
    ("latency_p50", "number", "s"),
    ("latency_p99", "number", "s"),
)
"""Columns of the table `groups` that a sweep's page plots: name, kind, unit."""
MOST_ROWS = 500
"""Maximum number of rows of a table of points."""
KEY = 16
"""Number of characters of a run's key in the name of its page."""
MOST_LINES = 6
"""Maximum number of distinguishable lines in a chart."""
MOST_PANELS = 60
"""Maximum number of charts on a page."""


def sweep_page(file: Path, title: str | None, pages: str | None = None) -> tuple[bytes, str]:
    """Return the payload of a sweep's page, with the points in its store, and the verdict.

    Args:
        file: the sweep's file.
        title: the heading; None: the file's name.
        pages: folder of the runs' pages, relative to the sweep's page; None if there are none.

    Raises:
        ResultsError: no point is in the store yet.
        BecalmError: the sweep's file or its scenario is invalid.

    """
    from becalm.sweeps.plan import summary
    from becalm.sweeps.table import Point, SweepResults

    base, store, plan, whole = _stored(file)
    results = SweepResults([Point(point, store) for point in whole], len(plan.points))
    groups, keys = results.table("groups"), results.keys
    panels = _panels(groups, keys)
    about = heading(title or file.stem, provenance.describe()) | {
        "verdict": results.verdict,
        "facts": [f"{len(whole)} of {len(plan.points)} points", f"{len(plan.found)} runs in the store"],
        "notes": [
            *verdicts(groups, keys),
            *_left_out(len(whole) < len(plan.points), len(panels)),
            *(f"Failed with {summary(each.changes)}: {each.error}" for each in plan.failures()[:MOST_LINES]),
        ],
        "parameters": [[key, str(value)] for key, value in flat(whole[0].scenario.resolved)],
        "scenario": file.read_text(encoding="utf-8"),
        "again": again_sweep(file, base),
    }
    page = {
        "kind": "sweep",
        "about": about,
        "panels": panels[:MOST_PANELS],
        "scatters": [],
        "tables": [
            # `share` is a sum over the links of all hosts, and does not describe any one link.
            table("groups", "Groups at every point", groups.drop("share"), results.units["groups"], keys),
            _runs(whole, keys, store, pages),
        ],
    }
    return pack(jsons.dumps(page)), results.verdict


def sweep_runs(file: Path, progress: Steps | None = None) -> Iterator[tuple[str, Results]]:
    """Yield the runs that a sweep's page links to, each with the name of its own page."""
    _, store, _, whole = _stored(file)
    keys = list(dict.fromkeys(key for point in whole for key in point.keys))[:MOST_ROWS]
    for key in steps(keys, progress):
        yield f"{key[:KEY]}.html", store.get(key)


def _stored(file: Path) -> tuple[Scenario, Store, Plan, list[Planned]]:
    """Return the scenario of a sweep, its store, its plan, and the points whose runs are all stored."""
    from becalm.store import Store
    from becalm.sweeps.plan import look
    from becalm.sweeps.spec import read_spec

    spec = read_spec(file)
    store = Store.open(spec.store)
    plan = look(spec.points(), store, "summary")
    whole = [point for point in plan.points if all(key in plan.found for key in point.keys)]
    if not whole:
        raise ResultsError(f"{file}: none of its {len(plan.points)} points is in {spec.store}; run it first")
    return spec.base, store, plan, whole


def _runs(points: Sequence[Planned], keys: Sequence[str], store: Store, pages: str | None) -> dict[str, Any]:
    """Return the table of runs, with links to their pages or else the paths of their files in the store."""
    from becalm.sweeps.plan import label

    numbers = {key: all(isinstance(each.changes.get(key), int | float) for each in points) for key in keys}
    own = [(key, "count" if numbers[key] else "text") for key in keys]
    kinds = [*own, ("replication", "count"), ("run", "page" if pages else "text")]
    rows = [
        [
            *(label(point.changes.get(key)) for key in keys),
            replication,
            f"{pages}/{run[:KEY]}.html" if pages else str(store.path(run)),
        ]
        for point in points
        for replication, run in enumerate(point.keys)
    ]
    columns = [{"name": name, "kind": kind, "unit": ""} for name, kind in kinds]
    return {"name": "runs", "title": "Runs", "total": len(rows), "columns": columns, "rows": rows[:MOST_ROWS]}


def verdicts(groups: pl.DataFrame, keys: Sequence[str]) -> Iterator[str]:
    """Yield for each group the point with its largest rate, and whether the difference is significant."""
    for group in groups["group"].unique(maintain_order=True).to_list()[:MOST_LINES]:
        found = contrast(groups, keys, group)
        if found is None:
            continue
        if not found.sure:
            yield f"{group}: no significant difference in rate between the points, given the seeds' spread."
            continue
        more = found.gain
        ends = (
            f"95% interval {number(more.low, 'B/s')} to {number(more.high, 'B/s')}{found.chosen}"
            if found.seeds > 1
            else "one seed"
        )
        at, other = (
            ", ".join(f"`{key}` = {value}" for key, value in point.items())
            for point in (found.best, found.worst)
        )
        yield (
            f"{group} has its largest rate, {number(found.high, 'B/s')}, at {at}; "
            f"its smallest, {number(found.low, 'B/s')}, at {other} (difference: {ends})."
        )


def _left_out(missing: bool, panels: int) -> Iterator[str]:
    if missing:
        yield "Points whose runs are missing are not shown."
    if panels > MOST_PANELS:
        yield f"The first {MOST_PANELS} of {panels} charts are shown; the tables contain all points."


def _panels(groups: pl.DataFrame, keys: Sequence[str]) -> list[dict[str, Any]]:
    """Return charts of all measures over the first numeric key, one per combination of the other keys."""
    if not keys:
        return []
    places = {key: axis(groups[key].unique(maintain_order=True).to_list()) for key in keys}
    varying = [key for key in keys if groups[key].n_unique() > 1] or list(keys)
    first = next((key for key in varying if places[key]), varying[0])
    others = [key for key in keys if key != first]
    values, unit = groups[first].unique(maintain_order=True).to_list(), ""
    shown = values
    if found := places[first]:
        pairs = sorted(zip(found[0], values, strict=True), key=lambda pair: pair[0])
        shown, values, unit = [pair[0] for pair in pairs], [pair[1] for pair in pairs], found[1]
    names = groups["group"].unique(maintain_order=True).to_list()
    made = []
    for measure, kind, measured in MEASURES:
        if measure not in groups.columns:
            continue
        alike: list[dict[str, Any]] = []
        for part in groups.partition_by(others, maintain_order=True) if others else [groups]:
            lines = [
                _line(part.filter(part["group"] == name), first, values, measure, name) for name in names
            ]
            lines = [line for line in lines if any(value is not None for value in line["values"])]
            point = ", ".join(f"{key} = {part[key][0]}" for key in others)
            title = ": ".join(each for each in (measure.replace("_", " "), point) if each)
            for start in range(0, len(lines), MOST_LINES):
                x = {"name": first, "values": shown, "unit": unit}
                few = lines[start : start + MOST_LINES]
                alike.append({"title": title, "unit": measured, "kind": kind, "x": x, "lines": few})
        ends = [line.get("high", line["values"]) for panel in alike for line in panel["lines"]]
        top = max((value for end in ends for value in end if value is not None), default=0.0)
        made += [panel | {"top": top} for panel in alike]
    return made


def _line(part: pl.DataFrame, first: str, x: Sequence[Any], measure: str, name: str) -> dict[str, Any]:
    """Return the means of a measure over the seeds, with 95% intervals."""
    found: dict[str, list[float | None]] = {"values": [], "low": [], "high": []}
    for value in x:
        values = part.filter(part[first] == value)[measure].drop_nulls().drop_nans().to_list()
        for key, end in zip(found, mean_interval(values) if values else (None,) * 3, strict=True):
            found[key].append(end)
    several = found["low"] != found["high"]
    return {"name": name, **(found if several else {"values": found["values"]})}


def table(
    name: str,
    title: str,
    table: pl.DataFrame,
    units: Mapping[str, str],
    keys: Sequence[str],
    kinds: Mapping[str, tuple[str, str]] = MappingProxyType({}),
) -> dict[str, Any]:
    """Return a table of a page; `kinds` has kind and unit of columns that no result table declares."""
    columns = []
    for column, kind in table.schema.items():
        shown = "text" if not kind.is_numeric() else "number" if kind.is_float() else "count"
        declared = SCHEMA[name].columns.get(column) if name in SCHEMA else None
        found = (shown, units.get(column, ""))
        if declared is not None and column not in keys:
            found = (declared.kind, declared.unit)
        found = kinds.get(column, found)
        columns.append({"name": column, "kind": found[0], "unit": found[1]})
    rows = [[cell(value) for value in row] for row in table.head(MOST_ROWS).iter_rows()]
    return {"name": name, "title": title, "total": table.height, "columns": columns, "rows": rows}


def cell(value: Any) -> Any:  # noqa: ANN401
    """Return a value as a cell of a page's table."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return float(f"{value:.6g}") if finite(value) else None
    return value if value is None or isinstance(value, int | str) else str(value)


def finite(value: Any) -> bool:  # noqa: ANN401
    """Whether a value is a number that can be drawn."""
    return value is not None and value == value and abs(value) != float("inf")
