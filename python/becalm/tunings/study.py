"""The search: Optuna proposes parameters, and becalm runs them and reports back. A killed search resumes."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from becalm.analysis.hot_spots import Case
from becalm.base.errors import BecalmError
from becalm.sweeps.plan import label
from becalm.tunings.evaluate import Evaluator, by_case, uncontrolled
from becalm.tunings.goals import Goals, Measured, score
from becalm.tunings.population import class_of
from becalm.tunings.space import Parameters, Space

if TYPE_CHECKING:
    import polars as pl
    from optuna.samplers import BaseSampler
    from optuna.study import Study
    from optuna.trial import FrozenTrial, Trial

JOURNAL = "study.journal"
"""Name of Optuna's journal."""
MET = "measures"
"""Key of a trial's measures by case."""
_WHOLE = "whole"
FIRST = 6
"""Number of cases in the first batch of a race."""


def check_installed() -> None:
    """Check that Optuna is installed.

    Raises:
        BecalmError: Optuna is not installed.

    """
    try:
        import optuna  # noqa: F401
    except ImportError as error:
        raise BecalmError('tuning needs Optuna: pip install "becalm[tune]"') from error


def is_study(folder: Path) -> bool:
    """Whether a folder holds the study of an earlier call."""
    return (folder / JOURNAL).is_file()


def name_of(cases: Sequence[Case], space: Space, goals: Goals, seeds: int) -> str:
    """Return the identity of a study, which prevents another study from continuing in its folder."""
    import hashlib

    parts = [[case.name, case.scenario.hash, case.weight] for case in cases]
    text = repr([parts, sorted(space.ranges.items()), sorted(space.fixed.items()), goals, seeds])
    return hashlib.sha256(text.encode()).hexdigest()


class Search:
    """A study in a folder, with its space and goals."""

    def __init__(
        self,
        folder: Path,
        space: Space,
        goals: Goals,
        *,
        name: str,
        trials: int,
        seed: int = 1,
    ) -> None:
        import optuna
        from optuna.storages import JournalStorage
        from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock

        from becalm.tunings import journal

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        path = str(folder / JOURNAL)
        journal.check(folder / JOURNAL)
        self.space = space
        self.goals = goals
        self.trials = trials
        self._free: dict[str, Measured] = {}
        try:
            storage = JournalStorage(JournalFileBackend(path, lock_obj=JournalFileOpenLock(path)))
            self.study: Study = optuna.create_study(
                storage=storage,
                study_name="becalm",
                direction="minimize",
                load_if_exists=True,
            )
        except (AssertionError, KeyError, TypeError, ValueError) as error:
            raise BecalmError(f"{path}: not a study of becalm: {type(error).__name__}: {error}") from error
        known = self.study.user_attrs.get("spec")
        if known not in (None, name):
            raise BecalmError(
                f"{folder}: contains a study of other cases, parameters, goals or seeds; choose another "
                "folder, or the options of that study"
            )
        if known is None:
            self.study.set_user_attr("spec", name)
        self._check(folder / JOURNAL)
        self.study.sampler = _sampler(space, seed + len(self.study.trials))
        self._recover()

    def finished(self) -> list[FrozenTrial]:
        """Return the complete trials."""
        from optuna.trial import TrialState

        return self.study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))

    def enqueue(self, parameters: Parameters | None) -> None:
        """Try these parameters next, unless they were tried before."""
        if parameters is not None:
            self.study.enqueue_trial(parameters, skip_if_exists=True)

    def go(
        self,
        evaluator: Evaluator,
        cases: Sequence[Case],
        seeds: Sequence[int],
        *,
        until: Callable[[], float] = lambda: math.inf,
    ) -> None:
        """Try candidates up to the requested number of trials, or until the time is over.

        Each candidate first runs on some of the cases. It is dropped if it is worse than the best so far on
        these cases by more than the standard error of the difference. The first one meets one case in any
        case.
        """
        control = uncontrolled(cases[0].scenario)
        batches = _batches(cases)
        late = False
        while (left := self.trials - len(self.finished())) > 0 and not late:
            # Run enough trials at once to keep all workers busy.
            ahead = min(left, max(1, math.ceil(evaluator.engine.width / (len(batches[0]) * len(seeds)))))
            asked = [self.study.ask(self.space.distributions()) for _ in range(ahead)]
            known: dict[int, dict[str, Measured]] = {trial.number: {} for trial in asked}
            for batch in batches:
                racing = [trial for trial in asked if not self._behind(known[trial.number])]
                candidates = {str(t.number): self.space.changes(self.space.suggest(t)) for t in racing}
                if not candidates:
                    break
                first = not self._free
                # The first trial needs runs without control, with and without the incast, too.
                runs = (len(candidates) + (2 if first else 0)) * len(seeds)
                met = 0
                for part in evaluator.steps(batch, runs, until(), least=1 if first else 0):
                    found = evaluator.evaluate({**candidates, "": control}, part, seeds)
                    self._free |= by_case(found, "")
                    for trial in racing:
                        known[trial.number] |= by_case(found, str(trial.number))
                    met += len(part)
                late = met < len(batch)
                if late:
                    break
            for trial in asked:
                if not known[trial.number]:
                    self._drop(trial)
                    continue
                self._tell(trial, cases, known[trial.number], whole=len(known[trial.number]) == len(cases))

    def _behind(self, found: Mapping[str, Measured]) -> bool:
        """Whether measures are worse than the best trial's on the same cases, by more than chance."""
        if not found or not self._leader:
            return False
        ends = [found[name]["loss"] - self._leader[name]["loss"] for name in found if name in self._leader]
        if len(ends) < 2:
            return False
        mean = math.fsum(ends) / len(ends)
        error = math.sqrt(math.fsum((end - mean) ** 2 for end in ends) / (len(ends) - 1) / len(ends))
        return mean > error

    @property
    def _leader(self) -> dict[str, Measured]:
        best = self.best(1)
        return best[0].user_attrs[MET] if best else {}

    def best(self, count: int) -> list[FrozenTrial]:
        """Return the distinct trials with the smallest losses, preferring trials that keep all limits.

        Trials that were run on all cases count, or else those that were run on the most.
        """
        finished = self.finished()
        most = max((len(trial.user_attrs[MET]) for trial in finished), default=0)
        whole = [trial for trial in finished if trial.user_attrs[_WHOLE]]
        whole = whole or [trial for trial in finished if len(trial.user_attrs[MET]) == most]
        feasible = [trial for trial in whole if _kept(trial)]
        ordered = sorted(feasible or whole, key=lambda trial: float(trial.user_attrs["loss"]))
        once = {json.dumps(trial.params, sort_keys=True): trial for trial in reversed(ordered)}
        kept = set(map(id, once.values()))
        return [trial for trial in ordered if id(trial) in kept][:count]

    def importance(self) -> dict[str, float]:
        """Return each parameter's importance for the loss (PED-ANOVA). Importances add up to 1."""
        from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances

        if len(self.finished()) < 10:
            return {}
        try:
            with warnings.catch_warnings():
                # Ignore its warning that small values count as good: they are good.
                warnings.simplefilter("ignore", UserWarning)
                found: Mapping[str, float] = get_param_importances(
                    self.study,
                    evaluator=PedAnovaImportanceEvaluator(),
                    target=lambda trial: float(trial.user_attrs["loss"]),
                )
        except (ValueError, RuntimeError):
            return {}
        return dict(found)

    def _tell(self, trial: Trial, cases: Sequence[Case], found: dict[str, Measured], *, whole: bool) -> None:
        chosen = [case for case in cases if case.name in found]
        value = self._score(chosen, found)
        leader = self._leader
        if not whole and leader:
            # Estimate the loss on all cases from the distance to the best on the cases that were run.
            ahead = value - self._score(chosen, leader)
            # A search that continues may have been cut off before all cases were run without control.
            value = self._score([case for case in cases if case.name in self._free], leader) + ahead
        trial.set_user_attr("loss", value)
        trial.set_user_attr(MET, found)
        trial.set_user_attr(_WHOLE, whole)
        for limit, excess in self.goals.excesses(chosen, found, self._free).items():
            trial.set_constraint(limit, min(excess, 1e9))
        self.study.tell(trial, min(value, 1e9))

    def _drop(self, trial: Trial) -> None:
        """Discard a trial for which there was no time."""
        from optuna.trial import TrialState

        self.study.tell(trial, state=TrialState.FAIL)

    def _score(self, cases: Sequence[Case], found: Mapping[str, Measured]) -> float:
        return score(cases, found, self._free, no_regret=self.goals.no_regret)

    def _check(self, file: Path) -> None:
        """Check that the trials of an earlier call fit the space and the goals."""
        known = self.space.distributions()
        for trial in self.study.get_trials(deepcopy=False):
            fits = all(known.get(key) == each for key, each in trial.distributions.items())
            if trial.state.is_finished() and trial.values is not None:
                kept = trial.user_attrs
                fits = fits and len(trial.values) == 1 and set(trial.params) == set(known)
                fits = fits and all(kept.get(key) is not None for key in ("loss", MET, _WHOLE))
                fits = fits and all("loss" in each for each in kept[MET].values())
            if not fits:
                raise BecalmError(f"{file}: trial {trial.number} is not one of this study")

    def _recover(self) -> None:
        """Mark trials of dead processes as failed, and queue them again."""
        from optuna.trial import TrialState

        for trial in self.study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
            self.study.tell(trial.number, state=TrialState.FAIL)
            if set(trial.params) == set(self.space.ranges):
                self.study.enqueue_trial(trial.params, skip_if_exists=False)


def _batches(cases: Sequence[Case]) -> list[list[Case]]:
    """Return the cases in batches of doubling size with all classes of contributors."""
    if len(cases) < 2 * FIRST:
        return [list(cases)]
    by_class: dict[str, list[Case]] = {}
    for case in cases:
        by_class.setdefault(class_of(case), []).append(case)
    places = [((i + 0.5) / len(own), case) for own in by_class.values() for i, case in enumerate(own)]
    mixed = [case for _, case in sorted(places, key=lambda each: each[0])]
    ends = [0, FIRST]
    while ends[-1] < len(mixed):
        ends.append(min(2 * ends[-1], len(mixed)))
    return [mixed[first:last] for first, last in pairwise(ends)]


def _kept(trial: FrozenTrial) -> bool:
    return all(value <= 0 for value in trial.constraints.values())


def _sampler(space: Space, seed: int) -> BaseSampler:
    from optuna.samplers import TPESampler

    startup = max(10, 2 * len(space.ranges))
    return TPESampler(multivariate=True, constant_liar=True, n_startup_trials=startup, seed=seed)


def trials_of(trials: Sequence[FrozenTrial]) -> pl.DataFrame:
    """Return the trials of a search, one per row."""
    import polars as pl

    return pl.DataFrame(
        [
            {
                "number": trial.number,
                **{key: label(value) for key, value in trial.params.items()},
                "loss": float(trial.user_attrs["loss"]),
                "cases": len(trial.user_attrs[MET]),
                "kept": all(value <= 0 for value in trial.constraints.values()),
            }
            for trial in trials
        ]
    )
