"""Runs every scenario of a set of experiments once, on all cores."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterable

from becalm.lab.model import Outcome, Point
from becalm.parallel import Cancel, run_all
from becalm.progress import SweepProgress
from becalm.quantities import seconds
from becalm.results import Results
from becalm.runs import run_one
from becalm.scenario import Scenario

DRAWS = 10_000
"""Distance between the seeds of two random samples of a point."""


class Lab:
    """Runs scenarios and keeps their results. Figures with the same scenario share a run."""

    def __init__(self, seed: int, threads: int | None) -> None:
        self._seed = seed
        self._threads = threads
        self._results: dict[str, Results] = {}

    def run(self, points: Iterable[Point], progress: Callable[[SweepProgress], object] | None = None) -> None:
        """Run all points that have not been run yet, longest first."""
        scenarios = {scenario.hash: scenario for scenario in map(self._scenario, points)}
        todo = [scenarios[key] for key in scenarios if key not in self._results]
        todo.sort(key=_simulated_seconds, reverse=True)
        lock = threading.Lock()
        finished = events = packet_hops = 0

        def work(index: int, cancel: Cancel) -> None:
            nonlocal finished, events, packet_hops
            results = _run_alone(todo[index], cancel)
            with lock:
                self._results[todo[index].hash] = results
                finished += 1
                events += results.events
                packet_hops += results.packet_hops
                if progress is not None:
                    fraction = finished / len(todo)
                    progress(SweepProgress(finished, len(todo), fraction, events, packet_hops))

        run_all(work, len(todo), self._threads)

    def count(self, points: Iterable[Point]) -> int:
        """Return the number of runs for these points. Identical points share a run."""
        return len({self._scenario(point).hash for point in points})

    def scenarios(self, points: Iterable[Point]) -> list[Scenario]:
        """Return the scenarios of points, with their seeds."""
        return [self._scenario(point) for point in points]

    def outcomes(self, points: Iterable[Point]) -> list[Outcome]:
        """Return points with their results. `run` must have run all of these points."""
        return [Outcome(point.labels, self._results[self._scenario(point).hash]) for point in points]

    def _scenario(self, point: Point) -> Scenario:
        data = copy.deepcopy(point.scenario)
        data["run"]["seed"] = self._seed + DRAWS * point.draw
        name = " ".join(f"{key}={value}" for key, value in point.labels.items())
        return Scenario(data, name=name, schemes=point.schemes)


def _run_alone(scenario: Scenario, cancel: Cancel) -> Results:
    outcome = run_one(scenario, 0, cancel, lambda _: None)
    return Results.from_outcomes(scenario, [outcome])


def _simulated_seconds(scenario: Scenario) -> float:
    """Return the run's duration. Longer runs start first, so no single long run is left at the end."""
    return seconds(str(scenario.resolved["run"]["duration"]))
