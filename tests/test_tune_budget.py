"""The time limit of a tuning: what it plans, and what it spends, on a clock that only runs move."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

import becalm
from becalm import manager
from becalm.runs.task import Done
from becalm.tunings import HotSpot, Tuned, api, evaluate
from becalm.tunings.pace import Pace
from becalm.tunings.tuned import DECIDING
from becalm.tunings.verdict import BEST, NOW, WITHOUT
from test_tune import FABRIC, threads


@pytest.fixture
def spot() -> HotSpot:
    return HotSpot(becalm.Scenario(FABRIC, name="fabric.toml"), "H7", 3, start=0.1e-3, hot=0.6e-3)


class Clock:
    """A clock that stands still unless it is advanced."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds


PACES: dict[str, Callable[[int], float]] = {
    "steady": lambda _: 1.0,
    "slower later": lambda place: 1.0 if place < 60 else 4.0,
    "faster later": lambda place: 1.0 if place < 60 else 0.25,
    "in turns": lambda place: 1.0 if place // 20 % 2 else 3.0,
}
"""Paces of a machine at each run."""
HOP = 5e-6
"""Seconds per packet-hop at pace 1: a sixteenth of a second per run on average."""


def timed(
    spot: HotSpot,
    monkeypatch: pytest.MonkeyPatch,
    minutes: float,
    pace: Callable[[int], float] = PACES["steady"],
    **more: Any,  # noqa: ANN401
) -> tuple[float, Tuned, api.Plan]:
    """Tune on a clock that only runs move; return the time, the result and the plan."""
    clock, done, plans = Clock(), itertools.count(), list[api.Plan]()
    for module in (api, evaluate):
        monkeypatch.setattr(module, "time", clock)

    def on_done(one: Done) -> None:
        clock.advance(HOP * one.work * pace(next(done)))

    tuned = becalm.tune(spot, minutes=minutes, engine=threads, planned=plans.append, progress=on_done, **more)
    return clock.now, tuned, plans[0]


@pytest.mark.parametrize("name", PACES)
def test_a_budget_is_kept_at_any_pace(spot: HotSpot, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The clock ends the search and the comparison, which uses the rest of the time."""
    spent, tuned, plan = timed(spot, monkeypatch, 0.25, PACES[name])
    assert plan.seconds == pytest.approx(15)
    assert 0 < plan.load[0] < plan.load[1] <= 1
    assert 0.8 * 15 < spent < 1.2 * 15
    # With four times the planned duration, the comparison has hardly time for six cases.
    assert len(tuned.verdict.classes) >= (4 if name == "slower later" else DECIDING)


def test_runs_too_long_for_the_budget(spot: HotSpot, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty-four runs fit: a trial meets two cases, and so does the comparison, of eight runs each."""
    spent, tuned, _ = timed(spot, monkeypatch, 0.25, lambda _: 10.0)
    assert spent < 1.2 * 15
    assert tuned.trials["cases"].to_list() == [2]
    assert 2 <= len(tuned.verdict.classes) < DECIDING


@pytest.mark.parametrize(
    ("run", "search"),
    [(0.02, 100 - 21.12), (0.04, 100 - 40), (0.2, 100 - 40), (0.25, 100 - 48), (0.5, 100 - 70)],
)
def test_the_comparison_gets_two_fifths_of_the_time(spot: HotSpot, run: float, search: float) -> None:
    """A case takes eight runs. Of 100 s, at most 120 cases and a tenth, at least 24, and at most 70 s."""
    pace = Pace()
    pace.note(1, run)
    evaluator: Any = SimpleNamespace(pace=pace, work=lambda cases: float(len(cases)))
    none: Any = None
    tuning = api._Tuning(
        spot.population(),
        [],
        spot.population().draw(12, 1),
        spot.scenario,
        3,
        none,
        evaluator,
        1,
        0.2,
        8,
        True,
    )
    assert tuning.runs == 8
    tuning.until = tuning.whole = 100.0
    assert tuning._ends() == pytest.approx(search)
    assert tuning._ends(api.RACING) == pytest.approx(search - 10)


def test_all_rows_are_compared_however_short_the_time(spot: HotSpot, monkeypatch: pytest.MonkeyPatch) -> None:
    """Six runs fit, but a comparison needs two cases, and six to decide."""
    _, tuned, _ = timed(spot, monkeypatch, 0.01)
    assert set(tuned.verdict.losses) == {WITHOUT, *manager.GUIDELINES, BEST}
    assert {len(losses) for losses in tuned.verdict.losses.values()} == {api.LEAST}
    assert (tuned.trials.height, tuned.trials["cases"].to_list()) == (1, [2])
    assert tuned.recommended == NOW
    assert tuned.answer() == "undecided: 2 cases are too few; 6 need more --minutes"
