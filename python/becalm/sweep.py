"""Sweeps: one scenario with many changes, spread over the cores, resumed from what is on disk."""

from __future__ import annotations

import itertools
import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from becalm import provenance
from becalm.errors import ResultsError, ScenarioError
from becalm.parallel import Cancel, run_all
from becalm.progress import SweepProgress
from becalm.results import Outcome, Results, load_results, read_manifest
from becalm.run import Progress, run_one
from becalm.scenario import Scenario

if TYPE_CHECKING:
    import polars as pl

INDEX = "sweep.json"
"""Name of the file that lists the points of a sweep beside their folders."""


@dataclass(frozen=True)
class Point:
    """One point of a sweep."""

    changes: dict[str, Any]
    """What was changed, by dotted key."""
    results: Results
    """The results."""

    @property
    def scenario(self) -> Scenario:
        """The changed scenario."""
        return self.results.scenario


class SweepResults(Sequence[Point]):
    """The points of a sweep, in the order of the grid, and their tables put together."""

    def __init__(self, points: list[Point]) -> None:
        self.points = points
        self.units = points[0].results.units if points else {}

    def table(self, name: str) -> pl.DataFrame:
        """One table of all points, with one column in front for each key of the grid.

        A choice such as `{"fimd": {}}` is shown by its name. A key that is also a column of the table is
        called `scenario.<key>`.
        """
        import polars as pl

        keys = list(dict.fromkeys(key for point in self.points for key in point.changes))
        frames = [_with_changes(point, name, keys) for point in self.points]
        return pl.concat(frames, how="vertical_relaxed")

    @property
    def flows(self) -> pl.DataFrame:
        """One row per point, replication and flow."""
        return self.table("flows")

    @property
    def groups(self) -> pl.DataFrame:
        """One row per point, replication and group of flows."""
        return self.table("groups")

    @property
    def links(self) -> pl.DataFrame:
        """One row per point, replication and direction of a cable."""
        return self.table("links")

    @property
    def buffers(self) -> pl.DataFrame:
        """One row per point, replication, switch input buffer and virtual lane."""
        return self.table("buffers")

    @property
    def series(self) -> pl.DataFrame:
        """Rates over time, of every point and replication."""
        return self.table("series")

    @property
    def fingerprints(self) -> list[str]:
        """The fingerprint of every point, in the order of the grid."""
        return [point.results.fingerprint for point in self.points]

    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401
        return self.points[index]

    def __iter__(self) -> Iterator[Point]:
        return iter(self.points)


def sweep(
    base: Scenario,
    grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]],
    *,
    replications: int | None = None,
    threads: int | None = None,
    folder: str | PathLike[str] | None = None,
    progress: Callable[[SweepProgress], object] | None = None,
) -> SweepResults:
    """Run a scenario at every point of a grid.

    Results do not depend on the number of threads or on the order in which points finish.

    Args:
        base: the scenario to change.
        grid: values by dotted key, of which every combination is a point (the last key changes fastest);
            or a list of changes, each one point. See `Scenario.replace`.
        replications: replaces the scenario's own number.
        threads: how many replications run at once; None: as many as there are cores.
        folder: where every point keeps its results as soon as it is finished. What is found there, made by
            the same compiled core from the same scenario, is not run again. None: nothing is kept on disk.
        progress: called often while work is done, by one thread at a time.

    Raises:
        ScenarioError: a point with mistakes; nothing was run.
        KeyboardInterrupt: Ctrl-C; finished points stay in the folder, and nothing else.

    """
    changes = expand(grid)
    scenarios = [_change(base, change, replications) for change in changes]
    work = _Work(scenarios, None if folder is None else Path(folder), progress)
    work.write_index(changes, scenarios)
    run_all(work.step, len(work.todo), threads)
    return SweepResults(
        [Point(change, work.done[each.hash]) for change, each in zip(changes, scenarios, strict=True)]
    )


def expand(grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the changes of every point, in order."""
    if not isinstance(grid, Mapping):
        return [dict(change) for change in grid]
    for key, values in grid.items():
        if isinstance(values, str) or not isinstance(values, Sequence):
            raise ValueError(f"{key}: a grid needs a list of values, not {values!r}")
    return [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]


def label(value: Any) -> str | float | int | bool | None:  # noqa: ANN401
    """Return a changed value as a cell of a table: a choice is shown by its name and parameters."""
    if value is None or isinstance(value, (str, float, int, bool)):
        return value
    if isinstance(value, Mapping) and len(value) == 1:
        ((name, parameters),) = value.items()
        if isinstance(parameters, Mapping):
            inside = ", ".join(f"{key}={each}" for key, each in parameters.items())
            return f"{name}({inside})" if inside else str(name)
    return json.dumps(value)


def _change(base: Scenario, change: Mapping[str, Any], replications: int | None) -> Scenario:
    extra = {} if replications is None else {"run.replications": replications}
    try:
        return base.replace({**change, **extra})
    except ScenarioError as error:
        where = ", ".join(f"{key} = {label(value)}" for key, value in change.items())
        raise ScenarioError(f"with {where}:\n{error}", error.file, error.mistakes) from error


def _with_changes(point: Point, name: str, keys: Sequence[str]) -> pl.DataFrame:
    import polars as pl

    table = point.results.tables[name]
    names = {key: f"scenario.{key}" if key in table.columns else key for key in keys}
    cells = [pl.lit(label(point.changes.get(key))).alias(column) for key, column in names.items()]
    return table.select(*cells, pl.all())


class _Work:
    """The replications to run, and what is known of each point; shared by the threads."""

    def __init__(
        self,
        scenarios: Sequence[Scenario],
        folder: Path | None,
        progress: Callable[[SweepProgress], object] | None,
    ) -> None:
        self.scenarios = {scenario.hash: scenario for scenario in scenarios}
        self.folder = folder
        self.progress = progress
        self.lock = threading.Lock()
        self.done: dict[str, Results] = {}
        self.outcomes: dict[str, dict[int, Outcome]] = {key: {} for key in self.scenarios}
        self.now: dict[tuple[str, int], Progress] = {}
        for key, scenario in self.scenarios.items():
            found = None if folder is None else _find(self.place(key), scenario)
            if found is not None:
                self.done[key] = found
        self.todo = [
            (key, replication)
            for key, scenario in self.scenarios.items()
            if key not in self.done
            for replication in range(scenario.replications)
        ]

    def place(self, key: str) -> Path:
        """Folder of a point."""
        return (self.folder or Path()) / key[:16]

    def write_index(self, changes: Sequence[Mapping[str, Any]], scenarios: Sequence[Scenario]) -> None:
        """List the points in the folder."""
        if self.folder is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        points = [
            {"changes": change, "folder": self.place(scenario.hash).name}
            for change, scenario in zip(changes, scenarios, strict=True)
        ]
        partial = self.folder / f".{INDEX}.partial-{os.getpid()}"
        partial.write_text(json.dumps({"points": points}, indent=2) + "\n")
        partial.replace(self.folder / INDEX)

    def step(self, index: int, cancel: Cancel) -> None:
        """Run one replication, and keep the point when it was the last one of it."""
        key, replication = self.todo[index]
        scenario = self.scenarios[key]

        def report(now: Progress) -> None:
            with self.lock:
                self.now[key, replication] = now
                self._report()

        outcome = run_one(scenario, replication, cancel, report)
        with self.lock:
            self.outcomes[key][replication] = outcome
            if len(self.outcomes[key]) < scenario.replications:
                return
        self._finish(key, scenario)

    def _finish(self, key: str, scenario: Scenario) -> None:
        outcomes = self.outcomes.pop(key)
        results = Results.from_outcomes(scenario, [outcomes[index] for index in sorted(outcomes)])
        if self.folder is not None:
            results.save(self.place(key), overwrite=True)
        with self.lock:
            self.done[key] = results
            self._report()

    def _report(self) -> None:
        if self.progress is None:
            return
        shares = [now.time / now.duration for now in self.now.values()]
        fraction = sum(shares) / len(self.todo) if self.todo else 1.0
        events = sum(now.events for now in self.now.values())
        packet_hops = sum(now.packet_hops for now in self.now.values())
        self.progress(SweepProgress(len(self.done), len(self.scenarios), fraction, events, packet_hops))


def _find(folder: Path, scenario: Scenario) -> Results | None:
    """Return what is on disk for a scenario, if the same compiled core made it."""
    try:
        manifest = read_manifest(folder)
    except ResultsError:
        return None
    if manifest["scenario"]["hash"] != scenario.hash or manifest["core"] != provenance.core_hash():
        return None
    return load_results(folder)
