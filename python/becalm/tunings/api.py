"""`becalm.tune`: search for parameters, validate the best on new seeds, compare them with guidelines."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple, cast

from becalm import manager
from becalm.analysis.hot_spots import Case
from becalm.errors import BecalmError
from becalm.runs import memory
from becalm.runs.drive import closing
from becalm.runs.engines import Engine, Processes
from becalm.runs.task import Done
from becalm.scenario import Scenario
from becalm.store import Store
from becalm.sweeps.plan import label
from becalm.tunings.evaluate import Evaluator, Run, by_case
from becalm.tunings.goals import Goals, Measured, score
from becalm.tunings.population import TRAINING, VALIDATION, HotSpot, Population, load_of
from becalm.tunings.space import (
    Parameters,
    Space,
    family,
    guideline_parameters,
    neighbours,
    own_parameters,
    space_of,
)
from becalm.tunings.study import JOURNAL, Search, check_installed
from becalm.tunings.tuned import Tuned, gain, validation_of
from becalm.tunings.verdict import BEST, NOW, WITHOUT, judged, rows_of, worst_degree

if TYPE_CHECKING:
    import polars as pl
    from optuna.trial import FrozenTrial

TRIALS = 60
"""Default number of trials."""
RACE = 3
"""Number of seeds in the second stage, including those of the first. Random cases are doubled instead."""
FRESH = 101
"""First seed of the validation. The search never uses this seed or a later one."""
LEARN, JUDGE = 24, 48
"""Default numbers of random cases for the search and for the comparison, without a time limit."""
LONG = 60, 120
"""Maximum numbers of cases with a time limit."""
JUDGING = 0.4
"""Share of the time that the comparison of all rows uses."""
MEASURED = 6
"""Number of cases from which the duration of a run is measured."""
MANY_TRIALS = 100_000
"""Maximum number of trials if only time limits the search."""
ROUND = 6
"""Number of cases after which a comparison that runs out of time may end: the least of cases, however short
the time limit."""
LATE = 0.1
"""Share of the time limit by which the comparison may exceed it."""
MORE = 4
"""Seed of the additional cases for finalists."""
FINALISTS = 5
"""Maximum number of trials that are run on more cases."""


class Plan(NamedTuple):
    """The plan of a tuning, estimated from its first runs."""

    runs: int
    """Expected number of runs, including finished ones."""
    learn: int
    """Number of cases for the search."""
    judge: int
    """Number of cases for the comparison."""
    load: tuple[float, float]
    """Smallest and largest background load of the cases."""
    each: float
    """Wall-clock seconds of a run."""
    seconds: float
    """Expected duration of the entire tuning in s."""


def tune(
    cases: Sequence[Case] | HotSpot | Population,
    *,
    space: Space | None = None,
    goals: Goals | None = None,
    trials: int | None = None,
    minutes: float | None = None,
    seeds: int = 1,
    finalists: float = 0.2,
    validate: int = 8,
    seed: int = 1,
    folder: str | PathLike[str] | None = None,
    engine: Callable[[Store], Engine] | None = None,
    progress: Callable[[Done], object] = lambda _: None,
    max_memory: int | str | None = None,
    also: Sequence[Case] = (),
    no_regret: bool = False,
    planned: Callable[[Plan], object] = lambda _: None,
) -> Tuned:
    """Search for congestion control parameters, by default those that OpenSM can set.

    The search is a race over random cases: it drops bad candidates after a few cases. It then compares the
    best with no control, with the fabric's own control and with each guideline, on new cases.

    Args:
        cases: a population of random cases, a hot spot that defines one, or fixed cases.
        space: the search space; default: the parameters that OpenSM can set.
        goals: limits that the parameters must keep; default: none.
        trials: number of trials, including guidelines and current parameters; default: 60, or what the time
            allows.
        minutes: maximum total time.
        seeds: seeds of the search, for fixed cases.
        finalists: share of the trials to run on more cases or seeds.
        validate: number of new seeds for fixed cases, at least 2.
        seed: seed of the sampler.
        folder: folder of the study and all runs; a second call continues where the first ended. None:
            nothing is kept.
        engine: creates the engine; default: processes on this machine. In a script, processes need the usual
            `if __name__ == "__main__"`.
        progress: called for every run.
        max_memory: memory that one run may use, in bytes or as a size such as `4 GB`. None: 80% of the
            machine's memory.
        also: fixed cases in addition to the population's.
        no_regret: exclude parameters that are worse than no control in any class of contributors.
        planned: called with the plan after the first runs.

    Raises:
        BecalmError: Optuna is not installed, the folder holds another study, or a setting is invalid.
        ScenarioError: a case is invalid.
        MemoryLimitError: a case would need more memory; nothing was run.

    """
    began = time.monotonic()
    check_installed()
    drawn = cases.population() if isinstance(cases, HotSpot) else cases
    population = drawn if isinstance(drawn, Population) else None
    fixed = list(also) if population else list(cast("Sequence[Case]", drawn))
    learn = population.draw(LEARN if minutes is None else LONG[0], TRAINING) if population else []
    _check([*fixed, *learn], TRIALS if trials is None else trials, seeds, finalists, validate)
    memory.check((case.scenario for case in [*fixed, *learn]), max_memory)
    goals = replace(goals or Goals(), no_regret=no_regret)
    base = population.scenario if population else fixed[0].scenario
    most = (
        worst_degree([*fixed, *learn])
        if population is None
        else max(population.range[1], worst_degree(fixed))
    )
    space = space or space_of(base, most)
    with TemporaryDirectory(prefix="becalm-tune-") as temporary:
        place = Path(temporary if folder is None else folder)
        place.mkdir(parents=True, exist_ok=True)
        name = _name([*fixed, *learn], space, goals, seeds)
        tries = TRIALS if trials is None and minutes is None else trials or MANY_TRIALS
        search = Search(place, space, goals, name=name, trials=tries, seed=seed)
        store = Store(place / "store")
        running = engine(store) if engine else Processes(None)
        with closing(running):
            evaluator = Evaluator([*fixed, *learn], store, running, progress)
            tuning = _Tuning(
                population, fixed, learn, base, most, search, evaluator, seeds, finalists, validate
            )
            return tuning.go(began, math.inf if minutes is None else began + 60 * minutes, planned)


def is_study(folder: Path) -> bool:
    """Whether a folder holds the study of an earlier call."""
    return (folder / JOURNAL).is_file()


class _Tuning:
    def __init__(
        self,
        population: Population | None,
        fixed: list[Case],
        learn: list[Case],
        base: Scenario,
        most: int,
        search: Search,
        evaluator: Evaluator,
        seeds: int,
        finalists: float,
        validate: int,
    ) -> None:
        self.population, self.base, self.most = population, base, most
        self.fixed, self.cases = fixed, [*fixed, *learn]
        self.search, self.evaluator = search, evaluator
        self.seeds = list(range(1, seeds + 1))
        self.finalists = finalists
        self.fresh = list(range(FRESH, FRESH + validate))
        self.tried = self.cases
        self.compared = 0
        """Number of runs that the comparison of all rows needs, with a time limit."""
        self.rows = rows_of(base, most)
        self.whole = math.inf
        """Seconds of the time limit."""

    def go(self, began: float, until: float, planned: Callable[[Plan], object]) -> Tuned:
        self.whole = until - began
        self._plan(began, until, planned)
        if family(self.base) != "ibta":
            self.search.enqueue(self.search.space.clipped(own_parameters(self.base, self.search.space)))
        # The second guideline comes first, since it is the best one on most fabrics.
        ordered = sorted(self.rows, key=lambda row: row != manager.OWN[1])
        for control in (self.rows[row] for row in ordered):
            known = guideline_parameters(control, self.base)
            self.search.enqueue(self.search.space.clipped(known))
        # The third guideline is a part of the second.
        for own in manager.OWN[:2] if family(self.base) == "ibta" else ():
            for known in neighbours(guideline_parameters(self.rows[own], self.base)):
                self.search.enqueue(self.search.space.clipped(known))
        self.search.go(
            self.evaluator, self.tried, self.seeds, over=lambda: time.monotonic() > until - self._reserve()
        )
        return self._result(self._race(until), until)

    def _plan(self, began: float, until: float, planned: Callable[[Plan], object]) -> None:
        """Measure the first runs, and divide the time between search and comparison."""
        each = self._run_time()
        left = until - time.monotonic()
        learn, judge = self._cases_within(left, each)
        self.tried = self.cases[: max(learn, len(self.fixed))]
        self.judge = self.population.draw(judge, VALIDATION) if self.population else []
        compared = judge + len(self.fixed) * len(self.fresh)
        runs = (len(self.rows) + 2) * compared
        if math.isfinite(left):
            self.compared = runs
            runs += max(0, int((left - self._reserve()) / each))
            seconds = until - began
        else:
            # About half of the runs of a race over random cases are dropped.
            raced = 2 if self.population else 1
            runs += (self.search.trials + 2) * len(self.tried) * len(self.seeds) // raced
            seconds = time.monotonic() - began + runs * each
        loads = [load for case in [*self.tried, *self.judge] if (load := load_of(case)) is not None] or [0.0]
        planned(Plan(runs, len(self.tried), compared, (min(loads), max(loads)), each, seconds))

    def _reserve(self) -> float:
        """Return the seconds that the comparison needs, at the speed of all runs so far."""
        return 1.1 * self.evaluator.each * self.compared

    def _run_time(self) -> float:
        """Run the first cases without control, and return the wall-clock seconds of a run."""
        # The first runs start the workers, so do not count them.
        width, free = self.evaluator.engine.width, {WITHOUT: self.rows[WITHOUT]}
        self.evaluator.evaluate(free, self.tried[:width], self.seeds)
        before = self.evaluator.runs, self.evaluator.spent
        self.evaluator.evaluate(free, self.tried[: width + MEASURED], self.seeds)
        runs, spent = self.evaluator.runs - before[0], self.evaluator.spent - before[1]
        return spent / runs if runs else self.evaluator.spent / max(self.evaluator.runs, 1)

    def _cases_within(self, left: float, each: float) -> tuple[int, int]:
        """Return the numbers of cases for the search, and of random cases for the comparison.

        Args:
            left: seconds left; infinite without a time limit.
            each: seconds of a run.

        """
        if not self.population:
            return len(self.cases), 0
        if math.isinf(left):
            return len(self.cases), JUDGE
        most = int(JUDGING * left / each / (len(self.rows) + 2))
        judge = max(ROUND, most - len(self.fixed) * len(self.fresh))
        return max(ROUND, most), min(LONG[1], judge)

    def _race(self, until: float) -> Parameters:
        """Run the best trials on more cases or seeds, and return the best one that keeps all limits."""
        count = min(FINALISTS, max(1, math.ceil(self.finalists * len(self.search.finished()))))
        space, seeds = self.search.space, list(range(1, max(RACE, len(self.seeds)) + 1))
        trials = {str(trial.number): dict(trial.params) for trial in self.search.best(count)}
        cases = self.tried
        if self.population:
            cases = [*self.tried, *self.population.draw(min(LEARN, len(self.tried)), MORE)]
            seeds = self.seeds
        candidates = {name: space.changes(parameters) for name, parameters in trials.items()}
        found: dict[Run, Measured] = {}
        met: list[Case] = []
        for case in [*cases[len(self.tried) :], *cases[: len(self.tried)]] if self.population else cases:
            if time.monotonic() > until - self._reserve() and met:
                break
            found |= self.evaluator.evaluate({**candidates, WITHOUT: self.rows[WITHOUT]}, [case], seeds)
            met.append(case)
        free = by_case(found, WITHOUT)

        def rank(name: str) -> tuple[bool, float]:
            measures = by_case(found, name)
            excesses = self.search.goals.excesses(met, measures, free)
            value = score(met, measures, free, no_regret=self.search.goals.no_regret)
            return any(value > 0 for value in excesses.values()), value

        return trials[min(trials, key=rank)]

    def _compare(
        self, rows: Mapping[str, Parameters], until: float
    ) -> tuple[dict[Run, Measured], list[Case]]:
        """Run all rows on new seeds of the fixed cases, and on new random cases while time is left."""
        found = self.evaluator.evaluate(rows, self.fixed, self.fresh)
        judge: list[Case] = []
        for place in range(0, len(self.judge), ROUND):
            # The next round must end in time, too.
            needed = self.evaluator.each * ROUND * (len(rows) + 1)
            if place and time.monotonic() + needed > until + LATE * self.whole:
                break
            judge += self.judge[place : place + ROUND]
            found |= self.evaluator.evaluate(rows, self.judge[place : place + ROUND], self.fresh[:1])
        return found, [*self.fixed, *judge]

    def _result(self, best: Parameters, until: float) -> Tuned:
        """Compare the best parameters with all rows, and return the result."""
        control = self.search.space.changes(best)
        rows = {**self.rows, BEST: control}
        found, cases = self._compare(rows, until)
        verdict = judged(found, cases, list(rows), no_regret=self.search.goals.no_regret)
        means = {name: by_case(found, name) for name in rows}
        excesses = self.search.goals.excesses(cases, means[BEST], means[WITHOUT])
        broken = [limit for limit, excess in excesses.items() if excess > 0]
        published = [name for name in manager.PUBLISHED if name in rows] or [WITHOUT]
        guideline = min(published, key=verdict.mean)
        chosen = verdict.recommended
        return Tuned(
            best=best,
            control=control,
            verdict=verdict,
            controls=rows,
            guideline=guideline,
            guideline_control=rows[guideline],
            recommended=NOW if chosen is None or (chosen == BEST and broken) else chosen,
            trials=self._table(self.search.finished()),
            importance=self.search.importance(),
            at_end=self.search.space.at_end(best),
            validation=validation_of(means, cases),
            gain=gain(verdict, guideline, len(self.fresh)),
            broken=broken,
            runs=self.evaluator.runs,
            concerns=self._concerns(control),
        )

    def _concerns(self, control: Parameters) -> list[manager.Concern]:
        if family(self.base) != "ibta":
            return []
        return manager.review(self.base.replace(control), hot_spot_degree=self.most)

    def _table(self, trials: Sequence[FrozenTrial]) -> pl.DataFrame:
        import polars as pl

        rows = [
            {
                "number": trial.number,
                **{key: label(value) for key, value in trial.params.items()},
                "loss": float(trial.user_attrs["loss"]),
                "cases": len(trial.user_attrs["measures"]),
                "kept": all(value <= 0 for value in trial.constraints.values()),
            }
            for trial in trials
        ]
        return pl.DataFrame(rows)


def _check(cases: Sequence[Case], trials: int, seeds: int, finalists: float, validate: int) -> None:
    names = [case.name for case in cases]
    if len(set(names)) < len(names):
        raise BecalmError(f"cases with the same name: {', '.join(sorted(names))}")
    if not cases:
        raise BecalmError("no case to tune on")
    for what, value, least in (("trials", trials, 1), ("seeds", seeds, 1), ("validate", validate, 2)):
        if value < least:
            raise BecalmError(f"{what} = {value}: must be at least {least}")
    if seeds >= FRESH:
        raise BecalmError(f"seeds = {seeds}: must be below {FRESH}, the first seed of the validation")
    if not 0 < finalists <= 1:
        raise BecalmError(f"finalists = {finalists}: must be a share above 0 and up to 1")
    for case in cases:
        if not case.scenario.resolved["flows"]:
            raise BecalmError(f"case {case.name}: has no [[flows]], whose rates rank the parameters")
        for patterns in (case.hot, case.background):
            if patterns and not case.groups(patterns):
                listed = ", ".join(group["name"] for group in case.scenario.resolved["flows"])
                raise BecalmError(f"case {case.name}: no group fits {', '.join(patterns)}; valid: {listed}")


def _name(cases: Sequence[Case], space: Space, goals: Goals, seeds: int) -> str:
    """Return the identity of a study, which prevents another study from continuing in its folder."""
    import hashlib

    parts = [[case.name, case.scenario.hash, case.weight] for case in cases]
    text = repr([parts, sorted(space.ranges.items()), sorted(space.fixed.items()), goals, seeds])
    return hashlib.sha256(text.encode()).hexdigest()
