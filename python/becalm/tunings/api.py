"""`becalm.tune`: search for parameters, validate the best on new seeds, compare them with guidelines."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, cast

from becalm import manager
from becalm.analysis.hot_spots import Case
from becalm.base.errors import BecalmError
from becalm.runs import memory
from becalm.runs.drive import closing
from becalm.runs.engines import Engine, Processes
from becalm.runs.task import Done
from becalm.scenario import Scenario
from becalm.store import Store
from becalm.tunings.evaluate import Evaluator, Run, by_case
from becalm.tunings.goals import Goals, Measured, score
from becalm.tunings.pace import Pace
from becalm.tunings.population import TRAINING, VALIDATION, HotSpot, Population, load_of
from becalm.tunings.space import (
    Parameters,
    Space,
    family,
    guideline_parameters,
    has_overrides,
    neighbours,
    own_parameters,
    space_of,
)
from becalm.tunings.study import MET, Search, check_installed, name_of, trials_of
from becalm.tunings.tuned import DECIDING, Tuned, choice, gain, validation_of
from becalm.tunings.verdict import BEST, WITHOUT, judged, rows_of, worst_degree

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
JUDGING, AT_MOST = 0.4, 0.7
"""Share of the time that the comparison of all rows uses, and the largest one if runs are long."""
RACING = 0.1
"""Share of the time for the runs of finalists on more cases."""
ENOUGH = 24
"""Number of random cases that a comparison gets even if the search then gets little time. The choice on 24
cases of docs/advice.jsonl is more than .01 worse than the best row in 9% of draws, on 12 cases in 16%.
"""
MEASURED, MEASURING = 6, 0.05
"""Number of cases from which the duration of a run is measured, and the largest share of the time for it."""
MANY_TRIALS = 100_000
"""Maximum number of trials if only time limits the search."""
LEAST = 2
"""Number of cases, or seeds of fixed cases, that a comparison runs however short the time limit."""
LATE = 0.05
"""Share of the time limit by which a comparison with too few cases to decide may exceed it."""
MORE = 4
"""Seed of the additional cases for finalists. A comparison with time left uses the next ones."""
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
    single_ports: bool = True,
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
        single_ports: allow settings of single ports, which a file of OpenSM's options cannot contain.
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
    space = space or space_of(base, most, single_ports=single_ports)
    with TemporaryDirectory(prefix="becalm-tune-") as temporary:
        place = Path(temporary if folder is None else folder)
        place.mkdir(parents=True, exist_ok=True)
        name = name_of([*fixed, *learn], space, goals, seeds)
        tries = TRIALS if trials is None and minutes is None else trials or MANY_TRIALS
        search = Search(place, space, goals, name=name, trials=tries, seed=seed)
        store = Store(place / "store")
        running = engine(store) if engine else Processes(None)
        with closing(running):
            evaluator = Evaluator([*fixed, *learn], store, running, progress)
            tuning = _Tuning(
                population,
                fixed,
                learn,
                base,
                most,
                search,
                evaluator,
                seeds,
                finalists,
                validate,
                single_ports,
            )
            return tuning.go(began, math.inf if minutes is None else began + 60 * minutes, planned)


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
        single_ports: bool,
    ) -> None:
        self.population, self.base, self.most = population, base, most
        self.fixed, self.cases = fixed, [*fixed, *learn]
        self.search, self.evaluator, self.finalists = search, evaluator, finalists
        self.seeds = list(range(1, seeds + 1))
        self.fresh = list(range(FRESH, FRESH + validate))
        self.tried = self.cases
        self.known = rows_of(base, most)
        """Rows from which the search starts. Those that are compared may be fewer."""
        self.rows = {name: row for name, row in self.known.items() if single_ports or not has_overrides(row)}
        self.runs = len(self.rows) + 2
        """Number of runs per compared case: rows, tuned parameters, and neither incast nor control."""
        self.work = evaluator.work(self.cases) / len(self.cases)
        """Work of a run, on average."""
        self.until, self.whole = math.inf, math.inf
        """End of the time limit on the monotonic clock, and the limit in s."""

    def go(self, began: float, until: float, planned: Callable[[Plan], object]) -> Tuned:
        self.until, self.whole = until, until - began
        self._plan(began, planned)
        if family(self.base) != "ibta":
            self.search.enqueue(self.search.space.clipped(own_parameters(self.base, self.search.space)))
        # The second guideline comes first, since it is the best one on most fabrics.
        ordered = sorted(self.known, key=lambda row: row != manager.OWN[1])
        for control in (self.known[row] for row in ordered):
            known = guideline_parameters(control, self.base)
            self.search.enqueue(self.search.space.clipped(known))
        # The third guideline is a part of the second.
        for own in manager.OWN[:2] if family(self.base) == "ibta" else ():
            for known in neighbours(guideline_parameters(self.known[own], self.base)):
                self.search.enqueue(self.search.space.clipped(known))
        self.search.go(self.evaluator, self.tried, self.seeds, until=lambda: self._ends(RACING))
        return self._result(self._race())

    def _plan(self, began: float, planned: Callable[[Plan], object]) -> None:
        """Measure the first runs, and plan the numbers of cases."""
        self._measure()
        left, each = self.until - time.monotonic(), self.evaluator.pace.seconds(self.work)
        learn, judge = len(self.cases), JUDGE if self.population else 0
        if math.isfinite(left) and self.population:
            most = int(JUDGING * left / each / self.runs)
            learn = max(DECIDING, most)
            judge = min(LONG[1], max(LEAST, most - len(self.fixed) * len(self.fresh)))
        self.tried = self.cases[: max(learn, len(self.fixed))]
        compared = judge + len(self.fixed) * len(self.fresh)
        runs = self.runs * compared
        if math.isfinite(left):
            runs += max(0, int((self._ends() - time.monotonic()) / each))
            seconds = self.whole
        else:
            # About half of the runs of a race over random cases are dropped.
            raced = 2 if self.population else 1
            runs += (self.search.trials + 2) * len(self.tried) * len(self.seeds) // raced
            seconds = time.monotonic() - began + runs * each
        loads = [load for case in self.tried if (load := load_of(case)) is not None] or [0.0]
        planned(Plan(runs, len(self.tried), compared, (min(loads), max(loads)), each, seconds))

    def _measure(self) -> None:
        """Run the first cases without control, to measure the pace."""
        # The first runs start the workers, so do not count them if there is time for others.
        width, free = self.evaluator.engine.width, {WITHOUT: self.rows[WITHOUT]}
        self.evaluator.evaluate(free, self.tried[:width], self.seeds)
        more, end = self.tried[width : width + MEASURED], time.monotonic() + MEASURING * self.whole
        for place, part in enumerate(self.evaluator.steps(more, 2 * len(self.seeds), end)):
            self.evaluator.pace = self.evaluator.pace if place else Pace()
            self.evaluator.evaluate(free, part, self.seeds)

    def _ends(self, share: float = 0.0) -> float:
        """Return the time from which the comparison, and a share of the limit before it, need the rest."""
        if math.isinf(self.until):
            return math.inf
        pace, fixed = self.evaluator.pace, len(self.fresh) * self.evaluator.work(self.fixed)
        least, most = (ENOUGH, LONG[1]) if self.population else (0, 0)
        # The clock ends the comparison, so that the mean is enough for the largest one.
        whole = 1.1 * pace.seconds(self.runs * (fixed + most * self.work))
        needed = max(JUDGING * self.whole, pace.at_most(self.runs * (fixed + least * self.work)))
        return self.until - min(needed, AT_MOST * self.whole, whole) - share * self.whole

    def _race(self) -> Parameters:
        """Run the best trials on more cases or seeds, and return the best one that keeps all limits."""
        count = min(FINALISTS, max(1, math.ceil(self.finalists * len(self.search.finished()))))
        best = self.search.best(count)
        trials = {str(trial.number): dict(trial.params) for trial in best}
        candidates = {name: self.search.space.changes(parameters) for name, parameters in trials.items()}
        candidates[WITHOUT] = self.rows[WITHOUT]
        # These runs are known from the search.
        met = [case for case in self.tried if all(case.name in trial.user_attrs[MET] for trial in best)]
        found = self.evaluator.evaluate(candidates, met, self.seeds)
        cases, seeds = self.tried, list(range(len(self.seeds) + 1, RACE + 1))
        if self.population:
            cases, seeds = self.population.draw(min(LEARN, len(self.tried)), MORE), self.seeds
        runs = (len(candidates) + 1) * len(seeds)
        for part in self.evaluator.steps(cases if runs else [], runs, self._ends()):
            found |= self.evaluator.evaluate(candidates, part, seeds)
            met += [case for case in part if case not in met]
        free = by_case(found, WITHOUT)

        def rank(name: str) -> tuple[bool, float]:
            measures = by_case(found, name)
            excesses = self.search.goals.excesses(met, measures, free)
            value = score(met, measures, free, no_regret=self.search.goals.no_regret)
            return any(value > 0 for value in excesses.values()), value

        return trials[min(trials, key=rank)]

    def _compare(self, rows: Mapping[str, Parameters]) -> tuple[dict[Run, Measured], list[Case]]:
        """Run all rows on new seeds of the fixed cases and on new random cases, while time is left."""
        found: dict[Run, Measured] = {}
        pace, random = self.evaluator.pace, self.population is not None
        end = self.until - (pace.at_most(DECIDING * self.runs * self.work) if random else 0.0)
        for place, seed in enumerate(self.fresh if self.fixed else ()):
            needed = pace.at_most(self.runs * self.evaluator.work(self.fixed))
            if place >= LEAST and time.monotonic() + needed > end:
                break
            found |= self.evaluator.evaluate(rows, self.fixed, [seed])
        met: list[Case] = []

        def meet(cases: Sequence[Case], until: float) -> bool:
            before = len(met)
            for part in self.evaluator.steps(cases, self.runs, until, least=0 if met else LEAST):
                found.update(self.evaluator.evaluate(rows, part, self.fresh[:1]))
                met.extend(part)
            return len(met) - before == len(cases)

        late = self.until + LATE * self.whole
        for seed in (VALIDATION, *range(MORE + 1, MORE + LONG[1])) if random else ():
            first = 0 if met else DECIDING
            drawn = self._judge(seed, len(met))
            timely = meet(drawn[:first], late) and meet(drawn[first:], self.until)
            if not drawn or not timely or math.isinf(self.until):
                break
        return found, [*self.fixed, *met]

    def _judge(self, seed: int, known: int) -> list[Case]:
        """Return as many new random cases as time is left for, at the current pace."""
        assert self.population is not None
        left = self.until - time.monotonic()
        count = JUDGE
        if math.isfinite(left):
            count = int(left / self.evaluator.pace.seconds(self.runs * self.work))
            count = min(LONG[1] - known, max(0 if known else DECIDING, count))
        drawn = self.population.draw(count, seed) if count > 0 else []
        # Fewer than these decide nothing, so begin with the short ones.
        first = sorted(drawn[:DECIDING], key=lambda case: self.evaluator.work([case]))
        return [*(drawn[:DECIDING] if known else first), *drawn[DECIDING:]]

    def _result(self, best: Parameters) -> Tuned:
        """Compare the best parameters with all rows, and return the result."""
        control = self.search.space.changes(best)
        rows = {**self.rows, BEST: control}
        found, cases = self._compare(rows)
        verdict = judged(found, cases, list(rows), no_regret=self.search.goals.no_regret)
        means = {name: by_case(found, name) for name in rows}
        excesses = self.search.goals.excesses(cases, means[BEST], means[WITHOUT])
        broken = [limit for limit, excess in excesses.items() if excess > 0]
        published = [name for name in manager.PUBLISHED if name in rows] or [WITHOUT]
        guideline = min(published, key=verdict.mean)
        return Tuned(
            best=best,
            control=control,
            verdict=verdict,
            controls=rows,
            guideline=guideline,
            guideline_control=rows[guideline],
            recommended=choice(verdict, broken),
            trials=trials_of(self.search.finished()),
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
