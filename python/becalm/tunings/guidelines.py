"""Decision on a guideline for a fabric, by its effects on random cases, and effects of own settings."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from becalm import manager
from becalm.analysis import limits
from becalm.base.intervals import Interval
from becalm.runs import run
from becalm.runs.drive import closing
from becalm.runs.engines import Threads
from becalm.runs.task import Done
from becalm.scenario import Scenario
from becalm.store import Store
from becalm.tunings.evaluate import Evaluator, Run
from becalm.tunings.goals import Measured
from becalm.tunings.population import VALIDATION, HotSpot, Population
from becalm.tunings.verdict import NOW, WITHOUT, Verdict, judged, rows_of

if TYPE_CHECKING:
    from becalm.analysis.hot_spots import Case

LENGTH, SETTLED = 4e-3, 1e-3
"""Simulated time in s of a hot spot without other traffic, and the start of the measurement."""
CASES, AT_ONCE = 96, 3
"""Maximum number of random cases in a decision, and the number to run before checking the clock."""
FEWEST = 12
"""Number of random cases from which they can decide."""
TRIED = 6
"""Number of random cases that every guideline meets."""
SECONDS = 100.0
"""Default limit of the time of a decision in s."""


@dataclass(frozen=True)
class Decision:
    """The results of guidelines on random cases, and what follows from them."""

    verdict: Verdict
    """All rows: no control, the fabric's own control, each guideline."""
    contributors: int
    """Largest number of contributors of the cases, for which the settings are derived."""
    numbers: list[int]
    """Number of contributors of each case."""
    dropped: Mapping[str, tuple[int, Interval]] = field(default_factory=dict)
    """Guidelines that were certainly worse than the best one, with the number of cases that they met, and
    their excess loss on these."""

    @property
    def best(self) -> str:
        """The guideline with the smallest mean loss; of all rows, if no guideline is possible."""
        rows = list(self.verdict.losses)
        return min([row for row in rows if row not in (WITHOUT, NOW)] or rows, key=self.verdict.mean)

    @property
    def chosen(self) -> str | None:
        """The guideline to use; None to leave the fabric as it is."""
        found = None if len(self.numbers) < FEWEST else self.verdict.recommended
        return None if found in (WITHOUT, NOW) else found

    @property
    def reason(self) -> str:
        """The reason to leave the fabric as it is; empty if there is a better guideline."""
        if self.chosen is not None:
            return ""
        if len(self.numbers) < FEWEST:
            return f"{len(self.numbers)} cases are too few to decide; {FEWEST} need more --max-time"
        if self.verdict.recommended == WITHOUT and NOW in self.verdict.losses:
            return "no congestion control is better than the present one, and than every guideline"
        if self.verdict.recommended is not None:
            now = "the present control" if self.verdict.recommended == NOW else "no congestion control"
            text = f"{now} has the smallest loss, {self.verdict.mean(self.verdict.recommended):.3f}"
            # No control is what prices are compared with.
            prices = self.verdict.prices(self.verdict.recommended)
            return f"{text}; {self.verdict.priced(NOW)}" if prices else text
        return self.verdict.reason


def sizes_of(scenario: Scenario) -> list[int]:
    """Return the numbers of contributors to try: 2, 4, 8, ... and all other hosts."""
    most = len(scenario.hosts()) - 1
    return sorted({*(2**power for power in range(1, 20) if 2**power < most), most})


def starving(scenario: Scenario, contributors: int | None = None) -> list[manager.Concern]:
    """Return the setting to blame if the scenario's own control leaves a hot link partly unused.

    A hot spot of this size, or of each size of `sizes_of`, is simulated without other traffic. The worst
    counts.
    """
    if scenario.response.name != "ibta":
        return []
    sizes = sizes_of(scenario) if contributors is None else [contributors]
    shares = {size: _link(scenario, size) for size in sizes}
    worst = min(shares, key=shares.__getitem__)
    if shares[worst] >= limits.FULL:
        return []
    found = manager.starving(scenario, manager.balance(scenario, worst))
    problem = f"{worst} contributors get only {shares[worst]:.1%} of a hot link: {found.problem}"
    return [replace(found, problem=problem)]


def _link(scenario: Scenario, size: int) -> float:
    """Return the share of the hot link that `size` contributors get without other traffic."""
    hosts = scenario.hosts()
    # Spread the contributors over the fabric.
    senders = [hosts[1 + place * (len(hosts) - 1) // size] for place in range(size)]
    flows = [{"name": "hot", "from": senders, "to": hosts[:1]}]
    times = {"duration": f"{LENGTH * 1e9:.0f} ns", "warmup": f"{SETTLED * 1e9:.0f} ns"}
    changes: dict[str, Any] = {"flows": flows, "run": times, "observe": {"links": []}}
    changes |= {key: None for key in ("jobs", "faults") if key in scenario.data()}
    made = scenario.replace(changes)
    groups = run(made, threads=1).groups
    return float(groups["rate"][0]) / float(scenario.summary["host_rate"])


def decide(
    scenario: Scenario,
    guidelines: Sequence[str] | None = None,
    *,
    host: str | None = None,
    contributors: int | None = None,
    threads: int | None = None,
    planned: Callable[[int], object] = lambda _: None,
    progress: Callable[[Done], object] = lambda _: None,
    seconds: float = SECONDS,
) -> Decision:
    """Run random cases: without control, with the fabric's own, and with each guideline.

    Args:
        scenario: the fabric; its flows are replaced.
        guidelines: the guidelines to try; default: those for the fabric.
        host: the host that is hot in all cases; default: random ones.
        contributors: maximum number of hosts that send to a hot host; default: all others.
        threads: number of parallel runs.
        planned: called once with the maximum number of runs.
        progress: called for every run.
        seconds: time after which no more cases start.

    Raises:
        BecalmError: the host does not exist, or the number of contributors is invalid.

    """
    population = _population(scenario, host, contributors)
    most = population.range[1]
    names = manager.guidelines_for(scenario) if guidelines is None else guidelines
    rows = rows_of(scenario, most, names)
    cases, began = _mixed(population.draw(CASES, VALIDATION)), time.monotonic()
    planned(sum(len(rows) + (case.calm is not None) for case in cases))
    found: dict[Run, Measured] = {}
    dropped: dict[str, tuple[int, Interval]] = {}
    met = 0
    with TemporaryDirectory(prefix="becalm-guidelines-") as folder:
        store = Store(folder)
        engine = Threads(threads, store)
        with closing(engine):
            evaluator = Evaluator(cases, store, engine, progress)
            for part in _parts(len(cases)):
                found |= evaluator.evaluate(rows, cases[part], [1])
                met = part.stop
                worse = _worse(judged(found, cases[:met], list(rows))) if met >= TRIED else {}
                dropped |= {name: (met, gap) for name, gap in worse.items()}
                rows = {name: row for name, row in rows.items() if name not in worse}
                if (time.monotonic() - began) * (met + AT_ONCE) / met > seconds:
                    break
    verdict = judged(found, cases[:met], list(rows))
    return Decision(verdict, most, [case.contributors for case in cases[:met]], dropped)


def _worse(verdict: Verdict) -> dict[str, Interval]:
    """Return the guidelines that are certainly worse than the best one, with their excess loss.

    They need no further runs: the others then meet more cases in the same time.
    """
    guidelines = [row for row in verdict.losses if row not in (WITHOUT, NOW)]
    best = min(guidelines, key=verdict.mean, default="")
    gaps = {row: verdict.difference(row, best) for row in guidelines if row != best}
    return {row: gap for row, gap in gaps.items() if gap.low > 0}


def _population(scenario: Scenario, host: str | None, contributors: int | None) -> Population:
    most = None if contributors is None else (2, min(contributors, len(scenario.hosts()) - 1))
    if host is None:
        population = Population(scenario, contributors=most)
        population.check()
        return population
    return HotSpot(scenario, host, most and most[1]).population()


def _mixed(cases: Sequence[Case]) -> list[Case]:
    """Return the cases in an order in which any first few of them have all numbers of contributors."""
    ordered = sorted(cases, key=lambda case: case.contributors)
    # The golden ratio spreads any number of places evenly.
    return [case for _, case in sorted((0.618034 * place % 1.0, case) for place, case in enumerate(ordered))]


def _parts(count: int) -> Iterator[slice]:
    return (slice(place, min(place + AT_ONCE, count)) for place in range(0, count, AT_ONCE))
