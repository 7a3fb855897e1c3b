"""Any schemes on any scenes, side by side.

    for scene, table in comparison.compare().items():
        print(scene, table)

    comparison.compare(schemes=["none", "mine.toml"], scenes=["incast", "our_cluster.toml"], seeds=5)

From the bottom up: `shelf` finds files by name, `scheme` and `scene` read schemes and scenes, `merge` applies
a scheme to a scene, `measure` computes one number per column from a run, `tuning` chooses values on other
scenes, this file runs everything with several seeds, and `cells` formats the numbers and ranks the schemes.

A scheme with a grid has two rows: one with the values of its source, and `NAME, tuned elsewhere` with the
values that are best on other scenes. If a scheme's rates have not settled on a scene, the scene runs
longer, up to `longest`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any

import polars as pl

from becalm.base.intervals import mean_interval
from becalm.base.progress import SweepProgress
from becalm.comparison import cells, tuning
from becalm.comparison import scene as scenes_
from becalm.comparison import scheme as schemes_
from becalm.comparison.cells import ranking
from becalm.comparison.measure import change, loss, row
from becalm.comparison.merge import controlled, unreached
from becalm.comparison.scene import Scene
from becalm.comparison.scheme import Scheme
from becalm.results import Results
from becalm.runs.drive import Driver, EngineOf, driver
from becalm.scenario import Scenario
from becalm.schemes.loading import is_code
from becalm.store import SERIES

__all__ = [
    "SEEDS",
    "Scene",
    "Scheme",
    "chosen_scenes",
    "chosen_schemes",
    "compare",
    "ranking",
    "shown",
    "to_json",
]

SEEDS = 3
"""Default number of seeds of a comparison."""
SHORT = 0.2
"""Duration of short runs as a share of the full duration."""
STEADY = 0.05
"""A rate has settled if its relative change between the halves of the measured time is less than this value,
or is explained by the variation over the seeds."""

ELSEWHERE = ", tuned elsewhere"
"""What the name of a tuned row adds to the scheme's."""

Named = str | PathLike[str]


@dataclass
class _Pair:
    """A scheme on a scene, and the results of its runs."""

    scene: Scene
    scheme: Scheme
    scenario: Scenario
    parameters: str = ""
    """Values of a tuned row, and the reason for their choice."""
    factor: int = 1
    """Duration of the runs as a multiple of the scene's."""
    rows: list[dict[str, float]] = field(default_factory=list)
    changes: list[dict[str, float]] = field(default_factory=list)

    def clear(self, factor: int) -> None:
        """Discard the results of shorter runs."""
        self.factor = factor
        self.scenario = controlled(self.scene.times(factor), self.scheme)
        self.rows, self.changes = [], []

    @property
    def settled(self) -> bool:
        """Whether all rates are the same in both halves of the measured time."""
        return all(self._steady(name) for name in (self.changes[0] if self.changes else ()))

    def _steady(self, group: str) -> bool:
        drift = mean_interval([each.get(group, 0.0) for each in self.changes])
        return abs(drift.mean) <= STEADY or drift.low < 0 < drift.high


def compare(
    schemes: Sequence[Named | Scheme] | None = None,
    scenes: Sequence[Named | Scene] | None = None,
    *,
    seeds: int | None = None,
    seed: int = 1,
    short: bool = False,
    threads: int | None = None,
    progress: Callable[[SweepProgress], object] | None = None,
    store: str | PathLike[str] | None = None,
    engine: EngineOf = "threads",
) -> dict[str, pl.DataFrame]:
    """Run schemes on scenes.

    Args:
        schemes: names or files of schemes, see `becalm.comparison.scheme`; default: all.
        scenes: names or files of scenes, see `becalm.comparison.scene`; default: all of becalm's.
        seeds: number of runs of each scheme on each scene; default: 3, or 1 for short runs.
        seed: the first seed.
        short: whether to run for a fifth of the time, without extensions.
        threads: number of concurrent runs; None: one per core.
        progress: called after every finished run.
        store: folder of a store that keeps every run as soon as it is finished. A second call continues where
            the first ended. None: no runs are kept.
        engine: `threads`, `processes`, `dask`, or a function that creates an engine for a shelf. In a script,
            processes need the usual `if __name__ == "__main__"`.

    Returns:
        A table per scene, with one row per scheme, and a tuned row if the scheme has a grid. Columns are
        `scheme`, `settled`, `times` (duration as a multiple of the scene's), `parameters` (of a tuned row),
        `warnings` (about the values of the source), and for each column of `becalm.comparison.measure` its
        mean over the seeds and the ends of the mean's 95% interval, `NAME_low` and `NAME_high`. `behind` is
        the difference in `loss` from the scheme with the smallest loss, paired by seed.

    Raises:
        BecalmError: a name is neither a scheme or scene nor a file, or the engine or store cannot be used.
        ScenarioError: a file is invalid, or a scheme does not fit a scene.
        FabricError: a run cannot continue.
        KeyboardInterrupt: Ctrl-C was pressed.

    """
    wanted = range(seed, seed + (seeds or (1 if short else SEEDS)))
    chosen = chosen_schemes(schemes), chosen_scenes(scenes)
    with driver(threads, store, engine, progress, SERIES) as runs:
        pairs = list(_pairs(*chosen, SHORT if short else 1.0, runs))
        _run(pairs, wanted, runs)
        todo = [] if short else pairs
        while todo := [pair for pair in todo if not pair.settled and 2 * pair.factor <= pair.scene.longest]:
            for pair in todo:
                pair.clear(2 * pair.factor)
            _run(todo, wanted, runs)
    names = dict.fromkeys(pair.scene.name for pair in pairs)
    return {name: _table([pair for pair in pairs if pair.scene.name == name]) for name in names}


def chosen_schemes(given: Sequence[Named | Scheme] | None = None) -> list[Scheme]:
    """Return the schemes with the given names or files; default: becalm's own, covering all responses."""
    if given is not None:
        return [each if isinstance(each, Scheme) else _named(each) for each in given]
    known = [schemes_.find(name) for name in schemes_.names()]
    return [*known, *schemes_.unnamed(known)]


def _named(name: Named) -> Scheme:
    return schemes_.of_code(str(name)) if is_code(str(name)) else schemes_.find(name)


def chosen_scenes(given: Sequence[Named | Scene] | None = None) -> list[Scene]:
    """Return the scenes with the given names or files; default: becalm's own."""
    return [each if isinstance(each, Scene) else scenes_.find(each) for each in given or scenes_.names()]


def _pairs(
    schemes: Sequence[Scheme], scenes: Sequence[Scene], factor: float, driver: Driver
) -> Iterator[_Pair]:
    found = {scheme.name: _losses(scheme, scenes, driver) for scheme in schemes if scheme.tune}
    for scene in scenes:
        timed = scene if factor == 1.0 else scene.times(factor)
        for scheme in schemes:
            whole = schemes_.completed(scheme)
            yield _Pair(timed, whole, controlled(timed, whole))
            if scheme.tune:
                choice = tuning.best(scheme, found[scheme.name], scene.name)
                tuned = replace(scheme, name=f"{scheme.name}{ELSEWHERE}", values=choice.point)
                yield _Pair(timed, tuned, controlled(timed, tuned), choice.words)


def _losses(scheme: Scheme, shown: Sequence[Scene], driver: Driver) -> tuning.Losses:
    """Return the losses of a scheme's grid, either stored or from runs on other scenes."""
    known = tuning.stored(scheme)
    if known is not None:
        return known
    names = {scene.name for scene in shown}
    own = chosen_scenes()
    return tuning.losses(scheme, [each for each in own if each.name not in names] or own, driver)


def _run(pairs: Sequence[_Pair], seeds: Sequence[int], driver: Driver) -> None:
    """Run pairs with several seeds. Results are discarded after measurement."""
    runs = [(pair, seed) for seed in seeds for pair in pairs]

    def measure(place: int, results: Results) -> tuple[dict[str, float], dict[str, float]]:
        scene = runs[place][0].scene
        return row(scene, results), change(scene, results) if scene.settles else {}

    tasks = [driver.task(pair.scenario.replace({"run.seed": seed})) for pair, seed in runs]
    for (pair, _), (found, drift) in zip(runs, driver.drive(tasks, measure), strict=True):
        pair.rows.append({**found, "loss": loss(found)})
        if pair.scene.settles:
            pair.changes.append(drift)


def shown(compared: tuple[str, pl.DataFrame]) -> tuple[list[cells.Shown], list[str]]:
    """Return the tables of a scene as text, and the notes below them."""
    scene, table = compared
    rows = table.to_dicts()
    return cells.tables(scene, rows), cells.notes(rows)


def to_json(table: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table for JSON, without columns that have no number."""
    return [
        {key: value for key, value in row.items() if not (isinstance(value, float) and math.isnan(value))}
        for row in table.to_dicts()
    ]


def _table(pairs: Sequence[_Pair]) -> pl.DataFrame:
    """Return the table of a scene, including each scheme's loss relative to the best, paired by seed."""
    best = min(pairs, key=lambda pair: math.fsum(each["loss"] for each in pair.rows)).rows
    for pair in pairs:
        pair.rows = [
            {**each, "behind": each["loss"] - least["loss"]}
            for each, least in zip(pair.rows, best, strict=True)
        ]
    return pl.DataFrame([_summary(pair) for pair in pairs], infer_schema_length=None)


def _summary(pair: _Pair) -> dict[str, str | bool | float]:
    found: dict[str, str | bool | float] = {
        "scheme": pair.scheme.name,
        "settled": pair.settled,
        "times": pair.factor,
        "parameters": pair.parameters,
        "warnings": ""
        if pair.parameters
        else "; ".join([*pair.scenario.warnings, *unreached(pair.scenario)]),
    }
    for name in pair.rows[0]:
        values = [each[name] for each in pair.rows]
        interval = mean_interval(values) if not any(map(math.isnan, values)) else (math.nan,) * 3
        found |= dict(zip((name, f"{name}_low", f"{name}_high"), interval, strict=True))
    return found
