"""Runs experiments seed by seed, and keeps what their statements measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import polars as pl

from becalm.lab.model import Claim, Experiment, Measured, Report, Statement, Tables
from becalm.lab.runner import Lab
from becalm.lab.verdict import judge_runs
from becalm.progress import SweepProgress

Progress: TypeAlias = Callable[[SweepProgress], object]


class Measurements:
    """What experiments measured so far: values of every statement by seed, tables of the first seed."""

    def __init__(self, chosen: Sequence[Experiment], *, short: bool) -> None:
        """Prepare the runs of experiments, whole or reduced."""
        self._runs = {experiment.id: experiment.runs(short) for experiment in chosen}
        self._statements = {
            experiment.id: [item for item in experiment.statements if item.short or not short]
            for experiment in chosen
        }
        self._seeds: dict[str, list[int]] = {experiment.id: [] for experiment in chosen}
        self._values: dict[str, list[list[Measured]]] = {experiment.id: [] for experiment in chosen}
        self._tables: dict[str, Tables] = {}
        self._points: dict[str, list[pl.DataFrame]] = {experiment.id: [] for experiment in chosen}

    def run(
        self,
        chosen: Sequence[Experiment],
        seeds: Sequence[int],
        threads: int | None,
        progress: Progress | None,
    ) -> None:
        """Run and measure experiments; the results of a seed are gone before the next one, to save memory."""
        if not chosen:
            return
        seeded = [experiment for experiment in chosen if experiment.seeded]
        rounds = [(seed, chosen if seed == seeds[0] else seeded) for seed in seeds]
        total = _Total([self._count(*each) for each in rounds[:2]], len(rounds), progress)
        for seed, experiments in rounds:
            lab = Lab(seed, threads)
            lab.run([point for item in experiments for point in self._runs[item.id]], total.show)
            total.add_round()
            for experiment in experiments:
                self._measure(experiment, lab, seed)

    def report(self, experiment: Experiment) -> Report:
        """Return an experiment's verdicts, and the tables of its first seed."""
        by_statement = zip(*self._values[experiment.id], strict=True)
        claims = [
            judge(statement, self._seeds[experiment.id], values)
            for statement, values in zip(self._statements[experiment.id], by_statement, strict=True)
        ]
        return Report(experiment.id, experiment.title, claims, [], self._tables[experiment.id])

    def points(self, experiment: Experiment) -> pl.DataFrame | None:
        """Return the points of all seeds, with a column `seed`; None: the experiment has no such table."""
        tables = self._points[experiment.id]
        return pl.concat(tables, how="diagonal_relaxed") if tables else None

    def _measure(self, experiment: Experiment, lab: Lab, seed: int) -> None:
        tables = experiment.measure(lab.outcomes(self._runs[experiment.id]))
        self._seeds[experiment.id].append(seed)
        self._values[experiment.id].append([item.measure(tables) for item in self._statements[experiment.id]])
        self._tables.setdefault(experiment.id, tables)
        if "points" in tables:
            self._points[experiment.id].append(tables["points"].with_columns(pl.lit(seed).alias("seed")))

    def _count(self, seed: int, chosen: Sequence[Experiment]) -> int:
        return Lab(seed, None).count(point for item in chosen for point in self._runs[item.id])


class _Total:
    """Progress over all seeds: each but the first has as many runs as the second."""

    def __init__(self, counts: Sequence[int], rounds: int, progress: Progress | None) -> None:
        self._points = counts[0] + (rounds - 1) * counts[-1]
        self._progress = progress
        self._before = self._now = SweepProgress(0, self._points, 0.0, 0, 0)

    def show(self, now: SweepProgress) -> None:
        before = self._before
        finished = before.finished + now.finished
        events, packet_hops = before.events + now.events, before.packet_hops + now.packet_hops
        fraction = finished / self._points
        self._now = SweepProgress(finished, self._points, fraction, events, packet_hops)
        if self._progress is not None:
            self._progress(self._now)

    def add_round(self) -> None:
        self._before = self._now


def judge(statement: Statement, seeds: Sequence[int], measured: Sequence[Measured]) -> Claim:
    """Compare what was measured with what is expected.

    Args:
        statement: what is judged.
        seeds: the seeds of the runs.
        measured: what the statement's measure returned at each.

    Raises:
        ValueError: different numbers of values; the message names the claim.

    """
    runs = [values if isinstance(values, list) else [values] for values in measured]
    try:
        verdict = judge_runs(statement.expect, runs)
    except ValueError as error:
        raise ValueError(f"{statement.id}: {error}") from error
    return Claim(
        id=statement.id,
        quote=statement.quote,
        paper=statement.paper,
        seeds=list(seeds),
        values=[_rounded(values) for values in measured],
        tolerance=statement.expect.tolerance,
        verdict=verdict,
        remarks=statement.remarks,
    )


def _rounded(measured: Measured) -> Measured:
    """Six significant digits: more would only look exact."""
    if isinstance(measured, list):
        return [float(f"{value:.6g}") for value in measured]
    return float(f"{measured:.6g}")
