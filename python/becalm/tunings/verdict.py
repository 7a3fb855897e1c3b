"""The comparison of all rows on cases that no search saw, and which of them is recommended.

Rows are no control, what the fabric has now, each guideline and the tuned parameters. All are run on the same
cases: differences are taken case by case, so that chance in the traffic cancels out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from becalm.analysis.hot_spots import Case
from becalm.intervals import Interval, mean_interval
from becalm.tunings.evaluate import Run
from becalm.tunings.goals import PRICE, Measured
from becalm.tunings.population import CLASSES, class_of

if TYPE_CHECKING:
    import polars as pl

WITHOUT, NOW, BEST, OWN = "no control", "now", "tuned", "becalm"
"""Rows: without control, what the fabric has, the tuned parameters, and becalm's own guideline."""
ALL, FIXED = "all", "fixed"
"""All classes of contributors, and cases that were not drawn."""


class Price(NamedTuple):
    """The cost of a row in a class of contributors, against no control."""

    contributors: str
    """The class."""
    loss: Interval
    """Its loss minus that without control."""
    hot_link: tuple[float, float]
    """Share that contributors get of what the links can give them, with the row and without control."""
    background: tuple[float, float]
    """Share that the background keeps, with the row and without control."""

    def sentence(self) -> str:
        """Return it in words."""
        (own, free), (kept, before) = self.hot_link, self.background
        if self.contributors == "none":
            return f"without a hot spot the background gets {kept:.0%}, {before:.0%} without control"
        words = "more contributors" if self.contributors == "more" else f"{self.contributors} contributors"
        text = f"{words} get {own:.0%} of their link, {free:.0%} without control"
        return (
            text if kept >= before - 0.01 else f"{text}, and the background {kept:.0%}, {before:.0%} without"
        )


@dataclass(frozen=True)
class Verdict:
    """All rows on the same cases, and the recommendation."""

    losses: Mapping[str, Sequence[float]]
    """Loss of each case, by row."""
    classes: Sequence[str]
    """Class of contributors of each case."""
    measures: Mapping[str, Sequence[Measured]]
    """Measures of each case, by row."""
    no_regret: bool = False

    def mean(self, row: str, contributors: str = ALL) -> float:
        """Return the mean loss of a row, in all or in a class of contributors."""
        chosen = self._chosen(self.losses[row], contributors)
        return math.fsum(chosen) / len(chosen)

    def difference(self, row: str, other: str, contributors: str = ALL) -> Interval:
        """Return the loss of a row minus that of another, case by case, with its 95% interval."""
        pairs = zip(self.losses[row], self.losses[other], strict=True)
        found = self._chosen([one - two for one, two in pairs], contributors)
        if len(found) < 2:
            return Interval(found[0], -math.inf, math.inf)
        return mean_interval(found)

    @property
    def present(self) -> list[str]:
        """The classes of contributors that cases have, in order."""
        return [name for name in (*CLASSES, "none", FIXED) if name in self.classes]

    @property
    def best(self) -> str:
        """The row with the smallest mean loss."""
        return min(self.losses, key=self.mean)

    @property
    def recommended(self) -> str | None:
        """The row that is better than every other one, outside the interval; None: keep the current settings.

        Between becalm's own guideline and what was tuned from it, the better mean suffices.
        """
        allowed = [row for row in self.losses if not (self.no_regret and self._regrets(row))]
        best = min(allowed, key=self.mean, default=WITHOUT)
        rivals = [row for row in self.losses if row in allowed and row != best]
        ours = {BEST, OWN}
        if any(self.difference(best, each).high >= 0 for each in rivals if {best, each} != ours):
            return None
        return best

    @property
    def reason(self) -> str:
        """Why nothing is recommended, in words; empty if something is."""
        if self.recommended is not None:
            return ""
        allowed = [row for row in self.losses if not (self.no_regret and self._regrets(row))]
        best = min(allowed, key=self.mean, default=WITHOUT)
        near = [
            row
            for row in allowed
            if row != best and {best, row} != {BEST, OWN} and self.difference(best, row).high >= 0
        ]
        gap = self.difference(best, near[0])
        return (
            f"{best} has the least loss, but may be no better than {', '.join(near)} "
            f"({gap.mean:+.3f}, 95% interval {gap.low:+.3f} to {gap.high:+.3f}, against {near[0]})"
        )

    def prices(self, row: str | None) -> list[Price]:
        """Return the classes where a row is worse than no control by more than `PRICE`."""
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
        )

    def sentence(self) -> str:
        """Return the answer in one line, including its price."""
        chosen = self.recommended
        if chosen is None:
            return f"keep the current settings: {self.reason}"
        if chosen == NOW:
            return "keep the current settings: they are better than every other row"
        prices = "; ".join(price.sentence() for price in self.prices(chosen))
        what = "recommended: no congestion control" if chosen == WITHOUT else f"recommended: {chosen}"
        return f"{what}; its price: {prices}" if prices else what

    def table(self) -> pl.DataFrame:
        """Return a row for each row and class: its loss, that minus no control's, and what all get."""
        import polars as pl

        rows: list[dict[str, Any]] = []
        for name in self.losses:
            for group in (*self.present, ALL):
                price = self.price(name, group)
                rows.append(
                    {
                        "row": name,
                        "contributors": group,
                        "cases": len(self._chosen(self.classes, group)),
                        "loss": self.mean(name, group),
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

    Drawn cases count one by one. If all are fixed, seeds count instead, each with the weighted mean over
    the cases: a handful of hand-picked cases is not a random sample.
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
