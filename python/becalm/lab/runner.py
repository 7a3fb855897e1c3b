"""Runs every scenario of a set of experiments once, and keeps the results."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterable

from becalm.lab.model import Outcome, Point
from becalm.progress import SweepProgress
from becalm.results import Results
from becalm.runs import drive
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
