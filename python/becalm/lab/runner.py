"""Runs every scenario of experiments once per seed, and keeps the measurements of their statements."""

from __future__ import annotations

import contextlib
import copy
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import polars as pl

from becalm.base.progress import SweepProgress
from becalm.lab.expect import FAILS, HOLDS, Expectation, judge_runs
from becalm.lab.model import Against, Claim, Experiment, Measured, Outcome, Point, Report, Statement, Tables
from becalm.lab.nulls import of
from becalm.results import Results
from becalm.runs import drive
from becalm.runs.drive import Driver
from becalm.runs.task import work_of
from becalm.scenario import Scenario

DRAWS = 10_000
"""Distance between the seeds of two random samples of a point."""


class Lab:
    """Runs scenarios and keeps their results. Figures with the same scenario share a run.

    Args:
        seed: seed of the first random sample of every point.
        threads: number of concurrent runs; None: one per core.
        driver: where the runs are computed and kept; None: in threads of this process.

    """

    def __init__(self, seed: int, threads: int | None = None, driver: drive.Driver | None = None) -> None:
        self._seed = seed
        self._threads = threads
        self._driver = driver
        self._results: dict[str, Results] = {}

    def run(self, points: Iterable[Point], progress: Callable[[SweepProgress], object] | None = None) -> None:
        """Run all points that have not been run yet, longest first."""
        scenarios = {scenario.hash: scenario for scenario in map(self._scenario, points)}
        todo = [scenarios[key] for key in scenarios if key not in self._results]
        with self._driving(progress) as runs:
            tasks = [runs.task(scenario) for scenario in todo]
            results = runs.drive(tasks, lambda _, results: results, expected=runs is self._driver)
        self._results.update(zip((scenario.hash for scenario in todo), results, strict=True))

    def scenarios(self, points: Iterable[Point]) -> list[Scenario]:
        """Return the scenarios of points, with their seeds."""
        return [self._scenario(point) for point in points]

    def outcomes(self, points: Iterable[Point]) -> list[Outcome]:
        """Return points with their results. `run` must have run all of these points."""
        return [Outcome(point.labels, self._results[self._scenario(point).hash]) for point in points]

    def _driving(
        self, progress: Callable[[SweepProgress], object] | None
    ) -> contextlib.AbstractContextManager[drive.Driver]:
        if self._driver is not None:
            return contextlib.nullcontext(self._driver)
        return drive.driver(self._threads, progress=progress)

    def _scenario(self, point: Point) -> Scenario:
        data = copy.deepcopy(point.scenario)
        data["run"]["seed"] = self._seed + DRAWS * point.draw
        name = " ".join(f"{key}={value}" for key, value in point.labels.items())
        return Scenario(data, name=name, schemes=point.schemes)


NULL_SEEDS = 3
"""Maximum number of seeds for a null."""


class Measurements:
    """Measurements of experiments so far: values of every statement by seed, and tables of the first seed."""

    def __init__(self, chosen: Sequence[Experiment], *, short: bool, nulls: bool = True) -> None:
        """Prepare full or reduced runs of experiments, with or without the nulls of their claims."""
        self._runs = {experiment.id: experiment.runs(short) for experiment in chosen}
        # The reduced version only shows that everything works, so it has no nulls.
        self._held = nulls and not short
        against = {experiment.id: of(experiment, short) if self._held else {} for experiment in chosen}
        self._nulls = {
            name: {words: each.runs(short) for words, each in others.items()}
            for name, others in against.items()
        }
        self._statements = {
            experiment.id: [item for item in experiment.statements if item.short or not short]
            for experiment in chosen
        }
        self._seeds: dict[str, list[int]] = {experiment.id: [] for experiment in chosen}
        self._values: dict[str, list[list[Measured]]] = {experiment.id: [] for experiment in chosen}
        self._null_values: dict[str, list[list[Measured | None]]] = {item.id: [] for item in chosen}
        self._tables: dict[str, Tables] = {}
        self._points: dict[str, list[pl.DataFrame]] = {experiment.id: [] for experiment in chosen}

    def run(self, chosen: Sequence[Experiment], seeds: Sequence[int], driver: Driver) -> None:
        """Run and measure experiments. To save memory, discard a seed's results before the next seed."""
        if not chosen:
            return
        seeded = [experiment for experiment in chosen if experiment.seeded]
        done = len(self._seeds[chosen[0].id])
        rounds = [
            (chosen if seed == seeds[0] else seeded, done + i < NULL_SEEDS) for i, seed in enumerate(seeds)
        ]
        _expect([self._due(*each) for each in rounds], driver)
        for seed, (experiments, held) in zip(seeds, rounds, strict=True):
            lab = Lab(seed, driver=driver)
            lab.run(self._due(experiments, held))
            for experiment in experiments:
                self._measure(experiment, lab, seed)

    def report(self, experiment: Experiment) -> Report:
        """Return an experiment's verdicts, and the tables of its first seed."""
        by_statement = zip(*self._values[experiment.id], strict=True)
        against = zip(*self._null_values[experiment.id], strict=True)
        claims = [
            judge(statement, self._seeds[experiment.id], values, held)
            for statement, values, held in zip(
                self._statements[experiment.id], by_statement, against, strict=True
            )
        ]
        return Report(experiment.id, experiment.title, claims, [], self._tables[experiment.id])

    def points(self, experiment: Experiment) -> pl.DataFrame | None:
        """Return the points of all seeds with a column `seed`, or None if the experiment has no points."""
        tables = self._points[experiment.id]
        return pl.concat(tables, how="diagonal_relaxed") if tables else None

    def _measure(self, experiment: Experiment, lab: Lab, seed: int) -> None:
        statements = self._statements[experiment.id]
        tables = experiment.measure(lab.outcomes(self._runs[experiment.id]))
        if len(self._seeds[experiment.id]) < NULL_SEEDS:
            other = {
                name: experiment.measure(lab.outcomes(points))
                for name, points in self._nulls[experiment.id].items()
            }
            measured = [self._null(statement, tables, other) for statement in statements]
            self._null_values[experiment.id].append(measured)
        self._seeds[experiment.id].append(seed)
        self._values[experiment.id].append([item.measure(tables) for item in statements])
        self._tables.setdefault(experiment.id, tables)
        if "points" in tables:
            self._points[experiment.id].append(tables["points"].with_columns(pl.lit(seed).alias("seed")))

    def _null(self, statement: Statement, tables: Tables, other: dict[str, Tables]) -> Measured | None:
        """Measure the null of a statement."""
        null = statement.null
        if null is None or not null.is_run or not self._held:
            return None
        try:
            return (null.measure or statement.measure)(other.get(null.words, tables))
        except (LookupError, ArithmeticError, ValueError):
            # The subject of the sentence does not occur.
            return math.nan

    def _due(self, chosen: Sequence[Experiment], held: bool) -> list[Point]:
        """Return the points to run with one seed, with or without the nulls."""
        against = [points for item in chosen for points in self._nulls[item.id].values() if held]
        return [point for points in (*(self._runs[item.id] for item in chosen), *against) for point in points]


def _expect(rounds: Sequence[Sequence[Point]], driver: Driver) -> None:
    """Count the runs of all rounds. Identical points share a run, in every round."""
    # Rounds with the same number of points are identical except for their seeds.
    for points in {len(points): points for points in rounds}.values():
        alike = sum(len(other) == len(points) for other in rounds)
        work = {each.hash: work_of(each) for each in Lab(0).scenarios(points)}.values()
        driver.expect(alike * len(work), alike * sum(work))


def judge(
    statement: Statement,
    seeds: Sequence[int],
    measured: Sequence[Measured],
    null: Sequence[Measured | None] = (),
) -> Claim:
    """Compare measured values with the expectation.

    Args:
        statement: the statement to judge.
        seeds: the seeds of the runs.
        measured: values of the statement's measure for each seed.
        null: values of its null for each seed; None: the null was not run.

    Raises:
        ValueError: seeds have different numbers of values; the message names the claim.

    """
    try:
        verdict = _verdict(statement.expect, measured)
    except ValueError as error:
        raise ValueError(f"{statement.id}: {error}") from error
    claim = Claim(
        id=statement.id,
        quote=statement.quote,
        paper=statement.paper,
        seeds=list(seeds),
        values=[_rounded(values) for values in measured],
        tolerance=statement.expect.tolerance,
        verdict=verdict,
        remarks=statement.remarks,
    )
    values = [each for each in null if each is not None]
    if statement.null is None or statement.null.is_run > bool(values):
        return claim
    against = Against(statement.null.words)
    if any(isinstance(value, float) and math.isnan(value) for value in values):
        against = replace(against, mean=math.nan, verdict=FAILS)
    elif values:
        mean = _rounded(replace(claim, values=values).mean)
        # Only the mean decides, so a null is never undecided.
        passes = statement.expect.test(mean if isinstance(mean, list) else [mean])
        against = replace(against, mean=mean, verdict=HOLDS if passes else FAILS)
    return replace(claim, null=against)


def _verdict(expect: Expectation, measured: Sequence[Measured]) -> str:
    return judge_runs(expect, [values if isinstance(values, list) else [values] for values in measured])


def _rounded(measured: Measured) -> Measured:
    """Round values to six significant digits, since more would suggest false precision."""
    if isinstance(measured, list):
        return [float(f"{value:.6g}") for value in measured]
    return float(f"{measured:.6g}")
