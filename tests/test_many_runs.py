"""The loop of many runs: each run once, the longest first, with one progress, on every engine and shelf."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

import becalm
from becalm import comparison, lab
from becalm.base.progress import SweepProgress
from becalm.results import Results
from becalm.runs.drive import Driver, drive, driver
from becalm.runs.engines import Threads
from becalm.runs.task import Done, Memory, task_of
from becalm.store import ALL, Store
from test_sweep import RING


@pytest.fixture
def scenarios(scenario: becalm.Scenario) -> list[becalm.Scenario]:
    return [scenario.replace({"run.duration": f"{length} us"}) for length in (200, 400, 100, 400)]


def fingerprint(_: int, results: Results) -> str:
    return results.fingerprint


def test_each_run_is_computed_once_and_the_longest_first(scenarios: list[becalm.Scenario]) -> None:
    shelf, done = Memory(), list[Done]()
    tasks = [task_of(each, 0, shelf, ALL) for each in scenarios]
    drive(tasks, Threads(1, shelf), shelf, done.append)
    assert [each.key for each in done] == [tasks[place].key for place in (1, 0, 2)]


@pytest.mark.parametrize("engine", ["threads", "processes", "dask"])
def test_values_are_in_order_on_every_engine(engine: str, scenarios: list[becalm.Scenario]) -> None:
    expected = [becalm.run(each).fingerprint for each in scenarios]
    with driver(2, engine=engine) as runs:
        assert runs.drive([runs.task(each) for each in scenarios], fingerprint) == expected


def test_runs_in_a_store_are_not_computed_again(scenarios: list[becalm.Scenario], tmp_path: Path) -> None:
    seen: list[SweepProgress] = []
    for count in (2, 4):
        with driver(1, tmp_path / "store", progress=seen.append) as runs:
            runs.drive([runs.task(each) for each in scenarios[:count]], fingerprint)
    assert [(now.finished, now.points, now.found) for now in seen] == [
        *((1, 2, 0), (2, 2, 0)),
        *((1, 3, 1), (2, 3, 2), (3, 3, 2)),
    ]
    damaged = Store(tmp_path / "store")
    damaged.path(next(damaged.keys())).write_bytes(b"{}")
    with driver(1, tmp_path / "store", progress=seen.append) as runs:
        runs.drive([runs.task(each) for each in scenarios], fingerprint)
    assert seen[-1].found == 2
    assert list(damaged.verify()) == []


def test_the_time_left_follows_the_work(scenarios: list[becalm.Scenario]) -> None:
    seen: list[SweepProgress] = []
    ticks = itertools.count(step=10)
    runs = Driver(Memory(), lambda shelf: Threads(1, shelf), progress=seen.append, clock=lambda: next(ticks))
    hundred = runs.task(scenarios[2]).work
    runs.expect(4, 10 * hundred)
    runs.drive([runs.task(each) for each in scenarios], fingerprint, expected=True)
    runs.drive([runs.task(scenarios[0].replace({"run.duration": "300 us"}))], fingerprint, expected=True)
    runs.close()
    assert [now.finished for now in seen] == [1, 2, 3, 4]
    assert [now.fraction for now in seen] == pytest.approx([0.4, 0.6, 0.7, 1])
    assert [now.left for now in seen] == pytest.approx([15, 20 * 4 / 6, 30 * 3 / 7, 0])


def test_results_in_memory_are_discarded_after_measurement(scenarios: list[becalm.Scenario]) -> None:
    shelf = Memory()
    runs = Driver(shelf, lambda shelf: Threads(2, shelf))
    tasks = [runs.task(each) for each in scenarios]
    runs.drive(tasks, fingerprint)
    runs.close()
    assert not any(shelf.has(task.key, ALL) for task in tasks)


@pytest.mark.parametrize("engine", ["threads", "processes"])
def test_a_run_that_fails_ends_the_others(engine: str, scenario: becalm.Scenario) -> None:
    endless = scenario.replace({"run.duration": "100 s", "observe.links": []})
    ring = becalm.Scenario(RING)
    with (
        pytest.raises(becalm.DeadlockError, match="deadlock") as caught,
        driver(2, engine=engine) as runs,
    ):
        runs.drive([runs.task(each) for each in (endless, ring)], fingerprint)
    assert caught.value.cycle[0] == caught.value.cycle[-1]


def test_an_exception_in_the_measure_ends_all_runs(scenario: becalm.Scenario) -> None:
    def measure(_: int, __: Results) -> None:
        raise ValueError("not measured")

    endless = scenario.replace({"run.duration": "100 s", "observe.links": []})
    with pytest.raises(ValueError, match="not measured"), driver(2) as runs:
        runs.drive([runs.task(each) for each in (endless, scenario)], measure)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: comparison.compare(engine="ray"), "engine `ray`: unknown; valid: processes, threads"),
        (lambda: lab.reproduce(["santos2002/fig2"], engine="ray"), "engine `ray`: unknown"),
        (lambda: lab.reproduce(["santos2002/fig2"], store=Path(__file__).parent), "not a store"),
    ],
)
def test_engines_and_stores_that_cannot_be(call: Callable[[], object], message: str) -> None:
    with pytest.raises(becalm.BecalmError, match=message):
        call()
