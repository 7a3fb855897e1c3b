"""The rows to compare, their comparison on cases that no search used, and the recommendation.

Rows are no control, the fabric's current settings, each guideline and the tuned parameters. All rows run on
the same cases. Differences are paired by case, so that random variation in the traffic cancels out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from becalm import manager
from becalm.analysis.hot_spots import Case
from becalm.base.intervals import Interval, mean_interval
from becalm.scenario import Scenario
from becalm.tunings.evaluate import Run, uncontrolled
from becalm.tunings.goals import PRICE, Measured
from becalm.tunings.population import CLASSES, class_of
from becalm.tunings.space import family, nested

if TYPE_CHECKING:
    import polars as pl


UNMOVED = ("none", "fixed")
"""Responses that do not react to congestion."""


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
    """Return a guideline's settings as changes to a scenario, which keeps its echo."""
    recommendation = manager.recommend(scenario, hot_spot_degree=degree, guideline=guideline)
    echoes = "ibta" in scenario.resolved["echo"]
    settings = {
        setting.key: setting.value
        for setting in recommendation.settings
        if not (echoes and setting.key.startswith("echo."))
    }
    return nested(settings)


def rows_of(
    scenario: Scenario, contributors: int, guidelines: Sequence[str] | None = None
) -> dict[str, dict[str, Any]]:
    """Return the rows to compare tuned parameters with, as changes to a scenario.

    Args:
        scenario: the fabric.
        contributors: maximum number of hosts that send to a hot host.
        guidelines: the guidelines; default: those for the scenario's kind of control.

    """
    rows = {WITHOUT: uncontrolled(scenario)}
    if scenario.response.name not in UNMOVED:
        rows[NOW] = {}
    if guidelines is None:
        kind = family(scenario)
        roce = kind != "ibta" and manager.is_roce(scenario) and scenario.marking.name == "ramp"
        guidelines = tuple(manager.GUIDELINES if kind == "ibta" else manager.STANDING if roce else ())
    rows |= {name: guideline_control(scenario, contributors, name) for name in guidelines}
    return rows


KNOWN = 6
"""Number of random cases of a class from which its price is known."""
WORTH = 0.005
"""Smallest fall of the mean loss for which a tuning changes settings without a significant difference."""
WITHOUT, NOW, BEST = "no control", "now", "tuned"
"""Rows: no control, the current settings and the tuned parameters."""
ALL, FIXED = "all", "fixed"
"""All classes of contributors, and the class of fixed cases."""


class Price(NamedTuple):
    """The cost of a row in a class of contributors, compared with no control."""

    contributors: str
    """The class of contributors."""
    loss: Interval
    """Loss of the row minus the loss without control."""
    hot_link: tuple[float, float]
    """Contributors' share of the capacity available to them, with the row and without control."""
    background: tuple[float, float]
    """Share of its throughput that the background keeps, with the row and without control."""
    cases: int
    """Number of cases in the class."""

    @property
    def known(self) -> bool:
        """Whether there are enough cases in the class. The seeds of fixed cases always are."""
        return self.contributors == FIXED or self.cases >= KNOWN

    def sentence(self) -> str:
        """Return the price in words, with the interval of the loss."""
        (own, free), (kept, before) = self.hot_link, self.background
        found = f"loss {_interval(self.loss)}"
        if self.contributors == "none":
            return (
                f"without a hot spot, the background keeps {kept:.0%} of its throughput, "
                f"compared with {before:.0%} without control ({found})"
            )
        words = _words(self.contributors)
        text = f"{words} get {own:.0%} of their link, compared with {free:.0%} without control"
        if kept >= before - 0.01:
            return f"{text} ({found})"
        return (
            f"{text}; the background keeps {kept:.0%} of its throughput, "
            f"compared with {before:.0%} without control ({found})"
        )


@dataclass(frozen=True)
class Verdict:
    """All rows on the same cases, and the recommendation."""

    losses: Mapping[str, Sequence[float]]
    """Losses of each row, one per case."""
    classes: Sequence[str]
    """Class of contributors of each case."""
    measures: Mapping[str, Sequence[Measured]]
    """Measures of each case, by row."""
    no_regret: bool = False

    def mean(self, row: str, contributors: str = ALL) -> float:
        """Return the mean loss of a row, in a class of contributors or in all."""
        chosen = self._chosen(self.losses[row], contributors)
        return math.fsum(chosen) / len(chosen)

    def difference(self, row: str, other: str, contributors: str = ALL) -> Interval:
        """Return the mean paired difference in loss between two rows, with its 95% interval."""
        pairs = zip(self.losses[row], self.losses[other], strict=True)
        found = self._chosen([one - two for one, two in pairs], contributors)
        if len(found) < 2:
            return Interval(found[0], -math.inf, math.inf)
        return mean_interval(found)

    @property
    def present(self) -> list[str]:
        """The cases' classes of contributors, in order."""
        return [name for name in (*CLASSES, "none", FIXED) if name in self.classes]

    @property
    def best(self) -> str:
        """The row with the smallest mean loss."""
        return min(self.losses, key=self.mean)

    @property
    def recommended(self) -> str | None:
        """The row with the smallest mean loss; None to keep the current settings.

        It must be significantly better than the rows that need no change: no control, the current settings.
        The interval does not allow for the choice among rows, since the losses of guidelines go together:
        with the losses of docs/advice.jsonl, less each guideline's mean effect, a guideline is recommended on
        12 to 60 resampled cases at most 5% of the time on IBTA's fabrics, and up to 18% with RoCE's ones.
        """
        best, near = self._leading()
        return None if near else best

    @property
    def leaning(self) -> str | None:
        """The row that a tuning chooses although its cases decide nothing; None to keep the settings.

        It has the smallest mean loss, at least `WORTH` below the rows that need no change. On 12 cases from
        docs/advice.jsonl, the mean loss exceeds that of the best row by .000 to .062, by fabric, if settings
        change only with significance, and by .000 to .008 if they also change to this row; on 24 cases, by
        .000 to .042 and .000 to .005. Without any effect, they change in 56% of these draws
        (tools/choices.py).
        """
        best, near = self._leading()
        gains = [-self.difference(best, row).mean for row in near]
        return best if near and best != NOW and min(gains) >= WORTH else None

    @property
    def reason(self) -> str:
        """The reason why no row is recommended; empty if one is."""
        best, near = self._leading()
        if not near:
            return ""
        gap = _interval(self.difference(best, near[0]))
        return (
            f"{best} has the smallest loss, but may be no better than {', '.join(near)} "
            f"({gap}, against {near[0]})"
        )

    def _leading(self) -> tuple[str, list[str]]:
        """Return the row with the smallest mean loss, and the rows without a change that may be as good."""
        allowed = [row for row in self.losses if not (self.no_regret and self._regrets(row))]
        best = min(allowed, key=self.mean, default=WITHOUT)
        idle = [row for row in (NOW, WITHOUT) if row in allowed and row != best]
        return best, [row for row in idle if self.difference(best, row).high >= 0]

    def prices(self, row: str | None) -> list[Price]:
        """Return the prices in the classes where a row is worse than no control by more than `PRICE`."""
        if row in (None, WITHOUT) or WITHOUT not in self.losses:
            return []
        assert row is not None
        return [
            price for price in (self.price(row, name) for name in self.present) if price.loss.mean > PRICE
        ]

    def price(self, row: str, contributors: str) -> Price:
        """Return the cost of a row in a class."""

        def mean(name: str, measure: str) -> float:
            found = self._chosen([1 - each[measure] for each in self.measures[name]], contributors)
            return math.fsum(found) / len(found)

        return Price(
            contributors,
            self.difference(row, WITHOUT, contributors),
            (mean(row, "starved"), mean(WITHOUT, "starved")),
            (mean(row, "lost"), mean(WITHOUT, "lost")),
            len(self._chosen(self.classes, contributors)),
        )

    @property
    def priced_now(self) -> bool:
        """Whether the current settings are known to cost a class of contributors more than `PRICE`."""
        return NOW in self.losses and any(price.known for price in self.prices(NOW))

    def sentence(self) -> str:
        """Return the recommendation and its price in one line."""
        chosen = self.recommended
        if chosen in (None, NOW):
            why = self.reason or "they are better than every other row"
            text = f"keep the current settings: {why}"
            return f"{text}; {self.priced(NOW)}" if self.priced_now else text
        if chosen == WITHOUT:
            return f"recommended: no congestion control{self._next(chosen)}"
        said = self._priced(str(chosen))
        return f"recommended: {chosen}{'; ' if said else ''}{said}"

    def _next(self, row: str) -> str:
        """Return the row with the second smallest loss, and its difference, in words."""
        second = min((other for other in self.losses if other != row), key=self.mean, default=None)
        if second is None:
            return ""
        return f"; the next best is {second} ({_interval(self.difference(second, row))})"

    def priced(self, row: str) -> str:
        """Return the prices of a row in words; those of classes with few cases are not known."""
        return self._priced(row) or f"costs no class of contributors more than {PRICE:g}"

    def _priced(self, row: str) -> str:
        if row == WITHOUT or WITHOUT not in self.losses:
            return ""
        every = [self.price(row, name) for name in self.present]
        known = "; ".join(price.sentence() for price in self.prices(row) if price.known)
        unknown = ", ".join(
            f"{_words(price.contributors)} ({price.cases} case{'s' * (price.cases > 1)})"
            for price in every
            if not price.known
        )
        parts = (known and f"its price: {known}", unknown and f"its price is not known for {unknown}")
        return "; ".join(part for part in parts if part)

    def table(self) -> pl.DataFrame:
        """Return a table by row and class: loss, excess loss over no control, and shares of the traffic."""
        import polars as pl

        rows: list[dict[str, Any]] = []
        for name in self.losses:
            for group in (*self.present, ALL):
                price = self.price(name, group)
                own = self._chosen(self.losses[name], group)
                spread = mean_interval(own) if len(own) > 1 else Interval(own[0], -math.inf, math.inf)
                rows.append(
                    {
                        "row": name,
                        "contributors": group,
                        "cases": price.cases,
                        "loss": spread.mean,
                        "loss_low": spread.low,
                        "loss_high": spread.high,
                        "to_no_control": price.loss.mean,
                        "low": price.loss.low,
                        "high": price.loss.high,
                        "hot_link": price.hot_link[0],
                        "background": price.background[0],
                    }
                )
        return pl.DataFrame(rows)

    def _regrets(self, row: str) -> bool:
        return row != WITHOUT and bool(self.prices(row))

    def _chosen(self, values: Sequence[Any], contributors: str) -> list[Any]:
        return [value for value, own in zip(values, self.classes, strict=True) if contributors in (ALL, own)]


def judged(
    found: Mapping[Run, Measured], cases: Sequence[Case], rows: Sequence[str], *, no_regret: bool = False
) -> Verdict:
    """Return the verdict on runs of rows on cases.

    Each random case is one observation. If all cases are fixed, each seed is one observation instead, with
    the weighted mean over the cases, because a few hand-picked cases are not a random sample.
    """
    seeds = {case.name: sorted({run.seed for run in found if run.case == case.name}) for case in cases}
    if any(case.kind for case in cases):
        units = [(class_of(case), [(case, seed, 1.0) for seed in seeds[case.name]]) for case in cases]
    else:
        units = [
            (FIXED, [(case, seed, case.weight) for case in cases])
            for seed in sorted(set().union(*seeds.values()))
        ]
    measures: dict[str, list[Measured]] = {}
    for row in rows:
        for _, parts in units:
            whole = math.fsum(weight for *_, weight in parts)
            each = [(found[Run(row, case.name, seed)], weight / whole) for case, seed, weight in parts]
            mean = {name: math.fsum(one[name] * weight for one, weight in each) for name in each[0][0]}
            measures.setdefault(row, []).append(mean)
    losses = {row: [each["loss"] for each in own] for row, own in measures.items()}
    return Verdict(losses, [name for name, _ in units], measures, no_regret)


def _interval(gap: Interval) -> str:
    """Return a difference in loss with its interval in words."""
    return f"{gap.mean:+.3f}, 95% interval {gap.low:+.3f} to {gap.high:+.3f}"


def _words(contributors: str) -> str:
    """Return a class of contributors in words."""
    if contributors == "none":
        return "cases without a hot spot"
    return "more contributors" if contributors == "more" else f"{contributors} contributors"
