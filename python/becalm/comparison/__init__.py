"""Any schemes on any scenes, side by side.

    for scene, table in comparison.compare().items():
        print(scene, table)

    comparison.compare(schemes=["none", "mine.toml"], scenes=["incast", "our_cluster.toml"], seeds=5)

From the bottom up: `shelf` finds files by name, `scheme` and `scene` read what is compared, `merge` lays one
over the other, `measure` takes one number per column from a run, `tuning` chooses values on other scenes,
this file runs everything over several seeds, and `cells` writes the numbers.
A scheme with a grid has two rows: one with the values of its source, and `NAME, tuned` with those that are
best on other scenes. A scene whose rates have not settled with a scheme runs longer with it, up to `longest`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any

import polars as pl

from becalm.comparison import cells, tuning
from becalm.comparison import scene as scenes_
from becalm.comparison import scheme as schemes_
from becalm.comparison.measure import change, loss, row
from becalm.comparison.merge import accepted, controlled, unreached
from becalm.comparison.scene import Scene
from becalm.comparison.scheme import Scheme
from becalm.intervals import mean_interval
from becalm.lab.model import Outcome, Point
from becalm.lab.runner import Lab
from becalm.progress import SweepProgress
from becalm.scenario import Scenario
from becalm.schemes.loading import is_code

__all__ = ["SEEDS", "Scene", "Scheme", "chosen_scenes", "chosen_schemes", "compare", "shown", "to_json"]

SEEDS = 3
"""Default number of seeds of a comparison."""
SHORT = 0.2
"""Length of short runs as a share of the full length."""
STEADY = 0.05
"""A rate has settled if it changes by less than this share of itself between the halves of the measured time,
or by no more than the variation over the seeds explains."""

Named = str | PathLike[str]


@dataclass
class _Pair:
    """A scheme on a scene, and the results of its runs."""

    scene: Scene
    scheme: Scheme
    scenario: Scenario
    parameters: str = ""
    """Values of a tuned row, and how they were chosen."""
    factor: int = 1
    """Length of the runs as a multiple of the scene's."""
    rows: list[dict[str, float]] = field(default_factory=list)
    changes: list[dict[str, float]] = field(default_factory=list)

    def clear(self, factor: int) -> None:
        """Discard the results of shorter runs."""
        self.factor = factor
        self.scenario = controlled(self.scene.times(factor), self.scheme)
        self.rows, self.changes = [], []

    @property
    def settled(self) -> bool:
        """Whether no rate still changes from the first half of the measured time to the second."""
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
) -> dict[str, pl.DataFrame]:
    """Run schemes on scenes.

    Args:
        schemes: names or files of schemes, see `becalm.comparison.scheme`; all if not given.
        scenes: names or files of scenes, see `becalm.comparison.scene`; all of becalm's if not given.
        seeds: runs of each scheme on each scene; 3 if not given, 1 for short ones.
        seed: the first seed.
        short: runs of a fifth of the length, which are never extended.
        threads: runs at once; None: as many as there are cores.
        progress: called after every finished run.

    Returns:
        A table per scene, with one row per scheme, and a tuned one where it has a grid: `scheme`, `settled`,
        `times` (how many times as long as the scene says it ran), `parameters` (of a tuned row), `warnings`
        (about the values of the source), and for each column of `becalm.comparison.measure` its mean over the
        seeds and the ends of the mean's 95% interval, `NAME_low` and `NAME_high`. `behind` is the `loss`
        relative to that of the scheme with the least, seed by seed.

    Raises:
        BecalmError: a name that belongs to no scheme or scene and to no file.
        ScenarioError: mistakes in a file, or a scheme that does not fit a scene.
        FabricError: a run that cannot continue.
        KeyboardInterrupt: Ctrl-C.

    """
    run = _Run(seed, seeds or (1 if short else SEEDS), threads, progress)
    pairs = list(_pairs(chosen_schemes(schemes), chosen_scenes(scenes), SHORT if short else 1.0, threads))
    run.run(pairs)
    todo = [] if short else pairs
    while todo := [pair for pair in todo if not pair.settled and 2 * pair.factor <= pair.scene.longest]:
        for pair in todo:
            pair.clear(2 * pair.factor)
        run.run(todo)
    names = dict.fromkeys(pair.scene.name for pair in pairs)
    return {name: _table([pair for pair in pairs if pair.scene.name == name]) for name in names}


def chosen_schemes(given: Sequence[Named | Scheme] | None = None) -> list[Scheme]:
    """Return the schemes with these names or files; if not given, becalm's own with all of its responses."""
    if given is not None:
        return [each if isinstance(each, Scheme) else _named(each) for each in given]
    known = [schemes_.find(name) for name in schemes_.names()]
    return [*known, *schemes_.unnamed(known)]


def _named(name: Named) -> Scheme:
    return schemes_.of_code(str(name)) if is_code(str(name)) else schemes_.find(name)


def chosen_scenes(given: Sequence[Named | Scene] | None = None) -> list[Scene]:
    """Return the scenes with these names or files; if not given, becalm's own."""
    return [each if isinstance(each, Scene) else scenes_.find(each) for each in given or scenes_.names()]


def _pairs(
    schemes: Sequence[Scheme], scenes: Sequence[Scene], factor: float, threads: int | None
) -> Iterator[_Pair]:
    found = {scheme.name: _losses(scheme, scenes, threads) for scheme in schemes if scheme.tune}
    for scene in scenes:
        timed = scene if factor == 1.0 else scene.times(factor)
        for scheme in schemes:
            alone = scheme.guideline is None and list(scheme.tables) == ["response"]
            whole = accepted(timed, scheme) if alone else scheme
            yield _Pair(timed, whole, controlled(timed, whole))
            if scheme.tune:
                choice = tuning.best(scheme, found[scheme.name], scene.name)
                tuned = replace(scheme, name=f"{scheme.name}, tuned", values=choice.point)
                yield _Pair(timed, tuned, controlled(timed, tuned), choice.words)


def _losses(scheme: Scheme, shown: Sequence[Scene], threads: int | None) -> tuning.Losses:
    """Return the losses of a scheme's grid: the stored ones, or those of runs on other scenes."""
    known = tuning.stored(scheme)
    if known is not None:
        return known
    names = {scene.name for scene in shown}
    own = chosen_scenes()
    return tuning.losses(scheme, [each for each in own if each.name not in names] or own, threads)


@dataclass(frozen=True)
class _Run:
    """Runs of pairs with several seeds; their results are discarded as soon as they are measured."""

    seed: int
    seeds: int
    threads: int | None
    progress: Callable[[SweepProgress], object] | None

    def run(self, pairs: Sequence[_Pair]) -> None:
        points = [
            Point({"pair": place}, pair.scenario.data(), schemes=pair.scheme.own)
            for place, pair in enumerate(pairs)
        ]
        for number in range(self.seeds):
            lab = Lab(self.seed + number, self.threads)
            lab.run(points, self._shown(number))
            for pair, outcome in zip(pairs, lab.outcomes(points), strict=True):
                _measure(pair, outcome)

    def _shown(self, number: int) -> Callable[[SweepProgress], object] | None:
        """Return a callback that shows the progress of one seed as progress of all seeds."""
        show = self.progress
        if show is None:
            return None

        def of_all(now: SweepProgress) -> object:
            points = self.seeds * now.points
            finished = number * now.points + now.finished
            return show(now._replace(finished=finished, points=points, fraction=finished / points))

        return of_all


def _measure(pair: _Pair, outcome: Outcome) -> None:
    found = row(pair.scene, outcome.results)
    pair.rows.append({**found, "loss": loss(found)})
    if pair.scene.settles:
        pair.changes.append(change(pair.scene, outcome.results))


def shown(compared: tuple[str, pl.DataFrame]) -> tuple[list[cells.Shown], list[str]]:
    """Return the tables of a scene as text, and the notes below them."""
    scene, table = compared
    rows = table.to_dicts()
    return cells.tables(scene, rows), cells.notes(rows)


def to_json(table: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as JSON has them, without columns that have no number."""
    return [
        {key: value for key, value in row.items() if not (isinstance(value, float) and math.isnan(value))}
        for row in table.to_dicts()
    ]


def _table(pairs: Sequence[_Pair]) -> pl.DataFrame:
    """Return the table of a scene, with each scheme's loss relative to that of the best, seed by seed."""
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
