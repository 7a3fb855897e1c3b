"""The search: Optuna proposes parameters, becalm runs them and reports back; a killed search can resume."""

from __future__ import annotations

import json
import math
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from becalm.analysis.hot_spots import HELD_OUT, Case
from becalm.errors import BecalmError
from becalm.tunings.evaluate import UNCONTROLLED, Evaluator, by_case
from becalm.tunings.goals import Goals, Measured, weighted
from becalm.tunings.space import Parameters, Space

if TYPE_CHECKING:
    from optuna.samplers import BaseSampler
    from optuna.study import Study
    from optuna.trial import FrozenTrial, Trial

JOURNAL = "study.journal"
"""Name of Optuna's journal."""
MANY = 500
"""Trials from which on NSGA-II pays where there are several goals."""
POPULATION = 40
SAMPLERS = ("tpe", "cmaes", "nsga2")
"""The samplers; `tpe` unless there are several goals and many trials."""
_MEASURES = "measures"
_SPENT = "seconds"


def check_installed() -> None:
    """Check that Optuna is installed.

    Raises:
        BecalmError: it is not installed.

    """
    try:
        import optuna  # noqa: F401
    except ImportError as error:
        raise BecalmError('tuning needs Optuna: pip install "becalm[tune]"') from error


class Search:
    """A study in a folder, its space and its goals."""

    def __init__(
        self,
        folder: Path,
        space: Space,
        goals: Goals,
        *,
        name: str,
        trials: int,
        seed: int = 1,
        sampler: str | None = None,
    ) -> None:
        import optuna
        from optuna.storages import JournalStorage
        from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        path = str(folder / JOURNAL)
        storage = JournalStorage(JournalFileBackend(path, lock_obj=JournalFileOpenLock(path)))
        self.space = space
        self.goals = goals
        self.trials = trials
        self.study: Study = optuna.create_study(
            storage=storage,
            study_name="becalm",
            directions=["minimize"] * len(goals.minimize),
            load_if_exists=True,
        )
        known = self.study.user_attrs.get("spec")
        if known not in (None, name):
            raise BecalmError(f"{folder}: holds the study of something else; choose another folder")
        if known is None:
            self.study.set_user_attr("spec", name)
        self.study.sampler = _sampler(sampler, goals, trials, space, seed + len(self.study.trials))
        self._recover()

    def finished(self) -> list[FrozenTrial]:
        """Return the trials that are complete."""
        from optuna.trial import TrialState

        return self.study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))

    def enqueue(self, parameters: Parameters | None) -> None:
        """Try these parameters first, once."""
        if parameters is not None:
            self.study.enqueue_trial(parameters, skip_if_exists=True)

    def go(
        self,
        evaluator: Evaluator,
        cases: Sequence[Case],
        seeds: Sequence[int],
        *,
        until: float = math.inf,
    ) -> None:
        """Try until there are as many trials as asked for, or `until` on the monotonic clock."""
        chosen = [case for case in cases if case.role != HELD_OUT]
        free = by_case(evaluator.evaluate({"": UNCONTROLLED}, chosen, seeds), "")
        each = len(chosen) * len(seeds)
        while (left := self.trials - len(self.finished())) > 0 and time.monotonic() < until:
            # As many trials at once as it takes to keep all workers busy.
            ahead = min(left, max(1, math.ceil(evaluator.engine.width / each)))
            asked = [self.study.ask(self.space.distributions()) for _ in range(ahead)]
            candidates = {str(t.number): self.space.changes(self.space.suggest(t)) for t in asked}
            found = evaluator.evaluate(candidates, chosen, seeds)
            for trial in asked:
                self._tell(trial, cases, by_case(found, str(trial.number)), free)

    def best(self, count: int) -> list[FrozenTrial]:
        """Return the best trials that keep all limits, or the best if none does: by the loss, each once."""
        feasible = [trial for trial in self.finished() if _kept(trial)]
        ordered = sorted(feasible or self.finished(), key=lambda trial: float(trial.user_attrs["loss"]))
        once = {json.dumps(trial.params, sort_keys=True): trial for trial in reversed(ordered)}
        kept = set(map(id, once.values()))
        return [trial for trial in ordered if id(trial) in kept][:count]

    def front(self) -> list[FrozenTrial]:
        """Return the trials on the Pareto front."""
        return [trial for trial in self.study.best_trials if _kept(trial)]

    def importance(self) -> dict[str, float]:
        """Return how much each parameter matters for the loss, adding up to 1 (PED-ANOVA)."""
        from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances

        if len(self.finished()) < 10:
            return {}
        try:
            with warnings.catch_warnings():
                # It warns that small values are the good ones: they are.
                warnings.simplefilter("ignore", UserWarning)
                found: Mapping[str, float] = get_param_importances(
                    self.study,
                    evaluator=PedAnovaImportanceEvaluator(),
                    target=lambda trial: float(trial.user_attrs["loss"]),
                )
        except (ValueError, RuntimeError):
            return {}
        return dict(found)

    def _tell(
        self, trial: Trial, cases: Sequence[Case], found: dict[str, Measured], free: dict[str, Measured]
    ) -> None:
        trial.set_user_attr("loss", weighted(cases, found, "loss"))
        trial.set_user_attr(_MEASURES, found)
        for limit, excess in self.goals.excesses(cases, found, free).items():
            trial.set_constraint(limit, min(excess, 1e9))
        self.study.tell(trial, [min(value, 1e9) for value in self.goals.values(cases, found)])

    def _recover(self) -> None:
        """Mark trials of dead processes as failed, and repeat them."""
        from optuna.trial import TrialState

        for trial in self.study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
            self.study.tell(trial.number, state=TrialState.FAIL)
            if set(trial.params) == set(self.space.ranges):
                self.study.enqueue_trial(trial.params, skip_if_exists=False)


def _kept(trial: FrozenTrial) -> bool:
    return all(value <= 0 for value in trial.constraints.values())


def _sampler(name: str | None, goals: Goals, trials: int, space: Space, seed: int) -> BaseSampler:
    from optuna.samplers import CmaEsSampler, NSGAIISampler, TPESampler

    several = len(goals.minimize) > 1
    name = name or ("nsga2" if several and trials >= MANY else "tpe")
    if name not in SAMPLERS:
        raise BecalmError(f"sampler `{name}`: unknown; valid: {', '.join(SAMPLERS)}")
    if name == "nsga2":
        return NSGAIISampler(population_size=POPULATION, seed=seed)
    if name == "cmaes":
        if several:
            raise BecalmError("sampler `cmaes`: knows one goal")
        return CmaEsSampler(seed=seed, warn_independent_sampling=False)
    startup = max(10, 3 * len(space.ranges))
    return TPESampler(multivariate=True, constant_liar=True, n_startup_trials=startup, seed=seed)
