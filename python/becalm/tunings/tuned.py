"""The result of a tuning, its confidence interval, and the recommendation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from becalm import manager
from becalm._core import __version__, model
from becalm.analysis.hot_spots import Case
from becalm.base import jsons
from becalm.base.disk import replace_file
from becalm.base.errors import BecalmError
from becalm.base.intervals import mean_interval
from becalm.scenario import Scenario
from becalm.store.export import write_table
from becalm.tunings.goals import Measured
from becalm.tunings.verdict import BEST, FIXED, NOW, WITHOUT, Verdict

if TYPE_CHECKING:
    import polars as pl

NOTE = "These results are from the model, with the traffic of the cases."
"""Note for every result."""

FEW = 20
"""Number of trials from which a search may say to keep settings that have a price."""
DECIDING = 6
"""Number of random cases from which a comparison can decide."""


class Gain(NamedTuple):
    """Loss of the guideline and of the tuned parameters, on the same cases and new seeds."""

    guideline: float
    tuned: float
    low: float
    """Lower end of the interval of the difference, guideline minus tuned."""
    high: float
    seeds: int

    @property
    def ratio(self) -> float:
        """Loss of the tuned parameters as a share of the guideline's."""
        return self.tuned / self.guideline if self.guideline > 0 else math.inf

    @property
    def sure(self) -> bool:
        """Whether the entire interval is above 0, so that the tuned parameters are better."""
        return self.low > 0


@dataclass(frozen=True, repr=False)
class Tuned:
    """The result of a tuning."""

    best: dict[str, Any]
    """The best parameters, by dotted key, without units."""
    control: dict[str, Any]
    """The best parameters as changes to a scenario."""
    guideline: str
    """The better of the published guidelines."""
    guideline_control: dict[str, Any]
    recommended: str
    """The chosen row (`choice`)."""
    trials: pl.DataFrame
    """One row per trial: `number`, the parameters, `loss`, `cases`, `kept` (all limits)."""
    importance: dict[str, float]
    """Importance of each parameter for the loss. Importances add up to 1."""
    at_end: list[str]
    """Parameters at an end of their range."""
    validation: pl.DataFrame
    """Means of all measures on new seeds, one row per candidate and case."""
    gain: Gain
    """Gain over all cases that count, on new seeds."""
    broken: list[str]
    """Limits that the tuned parameters break on new seeds."""
    runs: int
    """Number of requested runs."""
    verdict: Verdict
    """The comparison of all rows on cases that the search did not use."""
    controls: dict[str, dict[str, Any]]
    """Each row as changes to a scenario; empty for the current settings."""
    concerns: list[manager.Concern] = field(default_factory=list)
    """Settings of the tuned parameters that cannot work."""

    def scenario(self, case: Case | Scenario) -> Scenario:
        """Return a scenario with the recommended parameters."""
        scenario = case.scenario if isinstance(case, Case) else case
        return scenario.replace(self.recommended_control)

    @property
    def recommended_control(self) -> dict[str, Any]:
        """The recommended parameters as changes to a scenario."""
        return self.controls.get(self.recommended, {})

    def answer(self) -> str:
        """Return the recommendation and its price in one line."""
        if few(self.verdict):
            return f"undecided: {len(self.verdict.classes)} cases are too few; {DECIDING} need more --minutes"
        leading = self.verdict.recommended or self.verdict.leaning
        if leading == BEST and self.broken:
            return f"keep the current settings: the tuned parameters exceed the limit `{self.broken[0]}`"
        if self.recommended == NOW and self.verdict.priced_now and self.trials.height < FEW:
            return (
                f"undecided: {self.trials.height} trials, too few to keep the current settings, which have a "
                f"price, found nothing better: {self.verdict.priced(NOW)}; valid: {FEW} trials"
            )
        if self.verdict.leaning:
            price = "" if leading == WITHOUT else f"; {self.verdict.priced(self.verdict.leaning)}"
            return f"chosen without certainty: {self.verdict.reason}{price}"
        return self.verdict.sentence()

    def __repr__(self) -> str:
        return f"{self.answer()}\n<Tuned: {self.trials.height} trials, {self.runs} runs>"

    def to_json(self) -> dict[str, Any]:
        """Return everything except the tables of trials, for JSON."""
        return {
            "becalm": __version__,
            "model": model,
            "recommended": self.recommended,
            "answer": self.answer(),
            "rows": self.verdict.table().to_dicts(),
            "differences": {
                row: self.verdict.difference(self.verdict.best, row)._asdict()
                for row in self.verdict.losses
                if row != self.verdict.best
            },
            "parameters": self.best,
            "control": self.control,
            "guideline": self.guideline,
            "gain": self.gain._asdict() | {"ratio": self.gain.ratio},
            "trials": self.trials.height,
            "runs": self.runs,
            "importance": self.importance,
            "at_end": self.at_end,
            "broken": self.broken,
            "concerns": [vars(concern) for concern in self.concerns],
            "validation": self.validation.to_dicts(),
            "note": NOTE,
        }

    def save(self, folder: Path, scenario: Scenario) -> None:
        """Write `tune.json`, `trials.parquet`, `validation.parquet` and `tuned.toml` into a folder."""
        texts = {
            "tune.json": jsons.dumps(self.to_json(), indent=2, default=str) + "\n",
            "tuned.toml": self.scenario(scenario).to_toml(),
        }
        for name, text in texts.items():
            replace_file(folder / name, text)
        for name, table in (("trials.parquet", self.trials), ("validation.parquet", self.validation)):
            (folder / name).unlink(missing_ok=True)
            write_table(table, folder / name)


def few(verdict: Verdict) -> bool:
    """Whether a verdict has too few random cases to decide."""
    return FIXED not in verdict.classes and len(verdict.classes) < DECIDING


def choice(verdict: Verdict, broken: Sequence[str]) -> str:
    """Return the row that is significantly better than no change, else the one that the cases lean to.

    Returns `now`, which keeps the current settings, if there is no such row, if there are too few cases, or
    if it is `tuned` and breaks a limit.
    """
    row = verdict.recommended or verdict.leaning
    return NOW if row is None or few(verdict) or (row == BEST and broken) else row


def gain(verdict: Verdict, guideline: str, count: int) -> Gain:
    """Return the gain with its paired interval over all cases.

    Args:
        verdict: all rows on the same cases.
        guideline: the row to compare with.
        count: number of seeds per case.

    """
    guided, tuned = verdict.losses[guideline], verdict.losses[BEST]
    low, high = interval([one - other for one, other in zip(guided, tuned, strict=True)])
    return Gain(sum(guided) / len(guided), sum(tuned) / len(tuned), low, high, count)


def validation_of(means: Mapping[str, Mapping[str, Measured]], cases: Sequence[Case]) -> pl.DataFrame:
    """Return the means of all measures on new cases, one row per candidate and case."""
    import polars as pl

    return pl.DataFrame(
        [
            {
                **{"candidate": name, "case": case.name, "kind": case.kind},
                "contributors": case.contributors,
                **found[case.name],
            }
            for case in cases
            for name, found in means.items()
        ]
    )


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the confidence interval of a mean, by Student's distribution.

    Raises:
        BecalmError: there are fewer than two values.

    """
    if len(values) < 2:
        raise BecalmError(f"validation on {len(values)} seed cannot estimate the spread: set at least 2")
    _, low, high = mean_interval(values)
    return low, high
