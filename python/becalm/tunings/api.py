"""`becalm.tune`: search parameters on cases, validate the best on fresh seeds, compare with guidelines."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from becalm import manager, memory
from becalm.analysis.hot_spots import GUARD, HELD_OUT, Case, HotSpot
from becalm.errors import BecalmError
from becalm.scenario import Scenario
from becalm.store import Store
from becalm.sweeps.changes import label
from becalm.sweeps.engines import Engine, Processes
from becalm.sweeps.task import Done
from becalm.tunings.evaluate import UNCONTROLLED, Evaluator, by_case
from becalm.tunings.goals import NO_LOSS, Goals, Measured, read_limit, weighted
from becalm.tunings.space import Parameters, Space, guideline_parameters, nested, opensm_space
from becalm.tunings.study import JOURNAL, Search, check_installed
from becalm.tunings.tuned import BEST, Tuned, gain

if TYPE_CHECKING:
    import polars as pl
    from optuna.trial import FrozenTrial

TRIALS = 60
"""Default number of trials."""
RACE = 3
"""Seeds of the second stage, those of the first included."""
FRESH = 101
"""First seed of the validation; the search never sees it or a later one."""
WITHOUT = "no control"


def tune(
    cases: Sequence[Case] | HotSpot,
    *,
    space: Space | None = None,
    goals: Goals | None = None,
    trials: int = TRIALS,
    minutes: float | None = None,
    seeds: int = 1,
    finalists: float = 0.2,
    validate: int = 8,
    sampler: str | None = None,
    seed: int = 1,
    folder: str | PathLike[str] | None = None,
    engine: Callable[[Store], Engine] | None = None,
    progress: Callable[[Done], object] = lambda _: None,
    max_memory: int | str | None = None,
) -> Tuned:
    """Search parameters of congestion control, by default those that OpenSM can set.

    The search sees many cases with few seeds. The best of its trials are run with more seeds, and the best of
    these is compared with the guideline on fresh seeds, and on cases that were held out.

    Args:
        cases: what to try parameters on; or a hot spot, of which cases are made.
        space: what to search; the parameters that OpenSM can set if not given.
        goals: what to make better, and limits; the loss, and that traffic without a hot spot loses nothing.
        trials: how many to try, the guideline and the present parameters included.
        minutes: when to end the search even so.
        seeds: of the search.
        finalists: share of the trials that are run with more seeds.
        validate: fresh seeds, at least 2.
        sampler: `tpe`, `cmaes` or `nsga2`.
        seed: of the sampler.
        folder: where the study and all runs are kept; a second call goes on where the first one ended. None:
            nothing is kept.
        engine: makes the engine; processes of this machine if not given. Called in a script, that needs the
            usual `if __name__ == "__main__"`.
        progress: called for every run.
        max_memory: what one run may take, in bytes or as a size such as `4 GB`. None: 80% of what the machine
            has.

    Raises:
        BecalmError: Optuna is not installed, the folder holds another study, or settings that cannot be.
        ScenarioError: a case with mistakes.
        MemoryLimitError: a case would need more memory; nothing was run.

    """
    check_installed()
    made = cases.cases() if isinstance(cases, HotSpot) else list(cases)
    _check(made, trials, seeds, finalists, validate)
    memory.check((case.scenario for case in made), max_memory)
    goals = goals or Goals(limits=(read_limit(NO_LOSS),))
    base = made[0].scenario
    degree = worst_degree(made)
    space = space or opensm_space(base, degree)
    with TemporaryDirectory(prefix="becalm-tune-") as temporary:
        place = Path(temporary if folder is None else folder)
        place.mkdir(parents=True, exist_ok=True)
        name = _name(made, space, goals, seeds)
        search = Search(place, space, goals, name=name, trials=trials, seed=seed, sampler=sampler)
        store = Store(place / "store")
        running = engine(store) if engine else Processes(None)
        whole = False
        try:
            evaluator = Evaluator(made, store, running, progress)
            until = math.inf if minutes is None else time.monotonic() + 60 * minutes
            found = _Tuning(made, base, degree, search, evaluator, seeds, finalists, validate).go(until)
            whole = True
        finally:
            running.close(abort=not whole)
    return found


def is_study(folder: Path) -> bool:
    """Whether a folder holds the study of an earlier call."""
    return (folder / JOURNAL).is_file()


def worst_degree(cases: Sequence[Case]) -> int:
    """Return the largest number of hosts that send to a hot link at once."""
    found = [2]
    for case in cases:
        hot = case.groups(case.hot)
        if hot:
            flows = case.scenario.network().flows
            found.append(flows.filter(flows["group"].is_in(hot))["source"].n_unique())
    return max(found)


def guideline_control(scenario: Scenario, degree: int, guideline: str) -> dict[str, Any]:
    """Return what a guideline says as changes of a scenario, which keeps how its marks are sent back."""
    recommendation = manager.recommend(scenario, hot_spot_degree=degree, guideline=guideline)
    echoes = "ibta" in scenario.resolved["echo"]
    settings = {
        setting.key: setting.value
        for setting in recommendation.settings
        if not (echoes and setting.key.startswith("echo."))
    }
    return nested(settings)


class _Tuning:
    def __init__(
        self,
        cases: list[Case],
        base: Scenario,
        degree: int,
        search: Search,
        evaluator: Evaluator,
        seeds: int,
        finalists: float,
        validate: int,
    ) -> None:
        self.cases, self.base, self.degree = cases, base, degree
        self.search, self.evaluator = search, evaluator
        self.seeds = list(range(1, seeds + 1))
        self.finalists = finalists
        self.fresh = list(range(FRESH, FRESH + validate))
        self.tried = [case for case in cases if case.role != HELD_OUT]

    def go(self, until: float) -> Tuned:
        guidelines = {name: guideline_control(self.base, self.degree, name) for name in manager.GUIDELINES}
        guideline = self._better(guidelines)
        self._enqueue(guidelines[guideline])
        self.search.go(self.evaluator, self.tried, self.seeds, until=until)
        if not self.search.finished():
            raise BecalmError("no trial was finished in this time: allow more minutes")
        best = self._race()
        return self._validated(best, guideline, guidelines[guideline])

    def _better(self, guidelines: Mapping[str, dict[str, Any]]) -> str:
        """Return the guideline that does better on the cases that are tuned on."""
        found = self.evaluator.evaluate(guidelines, self.tried, self.seeds)
        losses = {name: weighted(self.cases, by_case(found, name), "loss") for name in guidelines}
        return min(losses, key=losses.__getitem__)

    def _enqueue(self, guideline: dict[str, Any]) -> None:
        """Have the guideline and the present parameters tried first, as near as the space has them."""
        for control in (guideline, {}):
            known = guideline_parameters(control, self.base)
            self.search.enqueue(self.search.space.clipped(known))

    def _race(self) -> Parameters:
        """Run the best trials with more seeds, and return the best of them that keeps all limits."""
        count = max(1, math.ceil(self.finalists * len(self.search.finished())))
        space, seeds = self.search.space, list(range(1, max(RACE, len(self.seeds)) + 1))
        trials = {str(trial.number): dict(trial.params) for trial in self.search.best(count)}
        candidates = {name: space.changes(parameters) for name, parameters in trials.items()}
        found = self.evaluator.evaluate({**candidates, WITHOUT: UNCONTROLLED}, self.tried, seeds)
        free = by_case(found, WITHOUT)

        def rank(name: str) -> tuple[bool, float]:
            measures = by_case(found, name)
            excesses = self.search.goals.excesses(self.cases, measures, free)
            return any(value > 0 for value in excesses.values()), weighted(self.cases, measures, "loss")

        return trials[min(trials, key=rank)]

    def _validated(self, best: Parameters, guideline: str, guided: dict[str, Any]) -> Tuned:
        control = self.search.space.changes(best)
        candidates = {WITHOUT: UNCONTROLLED, guideline: guided, BEST: control}
        found = self.evaluator.evaluate(candidates, self.cases, self.fresh)
        means = {name: by_case(found, name) for name in candidates}
        excesses = self.search.goals.excesses(self.cases, means[BEST], means[WITHOUT])
        broken = [limit for limit, excess in excesses.items() if excess > 0]
        whole = gain(found, self.cases, self.fresh, guideline, held_out=False)
        assert whole is not None, "some case is tuned on"
        return Tuned(
            best=best,
            control=control,
            guideline=guideline,
            guideline_control=guided,
            recommended=BEST if whole.sure and not broken else guideline,
            trials=self._table(self.search.finished()),
            front=self._table(self.search.front()),
            importance=self.search.importance(),
            at_end=self.search.space.at_end(best),
            validation=_validation(means, self.cases),
            gain=whole,
            gain_held_out=gain(found, self.cases, self.fresh, guideline, held_out=True),
            broken=broken,
            runs=self.evaluator.runs,
            concerns=manager.review(self.base.replace(control), hot_spot_degree=self.degree),
        )

    def _table(self, trials: Sequence[FrozenTrial]) -> pl.DataFrame:
        import polars as pl

        goals = self.search.goals.minimize
        rows = [
            {
                "number": trial.number,
                **{key: label(value) for key, value in trial.params.items()},
                **{f"goal.{goal}": value for goal, value in zip(goals, trial.values or [], strict=False)},
                "loss": float(trial.user_attrs["loss"]),
                "kept": all(value <= 0 for value in trial.constraints.values()),
            }
            for trial in trials
        ]
        return pl.DataFrame(rows)


def _validation(means: Mapping[str, Mapping[str, Measured]], cases: Sequence[Case]) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame(
        [
            {"candidate": name, "case": case.name, "role": case.role, **found[case.name]}
            for case in cases
            for name, found in means.items()
        ]
    )


def _check(cases: Sequence[Case], trials: int, seeds: int, finalists: float, validate: int) -> None:
    names = [case.name for case in cases]
    if len(set(names)) < len(names):
        raise BecalmError(f"cases of the same name: {', '.join(sorted(names))}")
    if all(case.role in (GUARD, HELD_OUT) for case in cases):
        raise BecalmError("no case to tune on: all are guards or held out")
    for what, value, least in (("trials", trials, 1), ("seeds", seeds, 1), ("validate", validate, 2)):
        if value < least:
            raise BecalmError(f"{what} = {value}: must be at least {least}")
    if seeds >= FRESH:
        raise BecalmError(f"seeds = {seeds}: must be below {FRESH}, from where the validation takes its own")
    if not 0 < finalists <= 1:
        raise BecalmError(f"finalists = {finalists}: must be a share above 0 and up to 1")
    for case in cases:
        if not case.scenario.resolved["flows"]:
            raise BecalmError(f"case {case.name}: has no [[flows]], by whose rates parameters are judged")
        for patterns in (case.hot, case.background):
            if patterns and not case.groups(patterns):
                listed = ", ".join(group["name"] for group in case.scenario.resolved["flows"])
                raise BecalmError(f"case {case.name}: no group fits {', '.join(patterns)}; valid: {listed}")


def _name(cases: Sequence[Case], space: Space, goals: Goals, seeds: int) -> str:
    """Return what a study is of: another study does not go on in its folder."""
    import hashlib

    parts = [[case.name, case.scenario.hash, case.role, case.weight] for case in cases]
    text = repr([parts, sorted(space.ranges.items()), sorted(space.fixed.items()), goals, seeds])
    return hashlib.sha256(text.encode()).hexdigest()
