"""Runs the cases of entries, compares the results with the references, and shows them as rows."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from becalm.base.errors import DeadlockError
from becalm.base.progress import SweepProgress
from becalm.crosscheck.entry import (
    FORMULA,
    KINDS,
    Case,
    Entry,
    Quantity,
    difference,
    find,
    names,
    same_distribution,
)
from becalm.crosscheck.measure import MEASURES, Measured
from becalm.results import Results
from becalm.runs.drive import driver
from becalm.runs.runs import run
from becalm.scenario import Scenario


@dataclass(frozen=True)
class Found:
    """A quantity of a case, with its reference value, becalm's value and the verdict."""

    case: str
    key: str
    name: str
    unit: str
    kind: str
    reference: float
    becalm: float
    difference: float
    """Difference as a share of the reference; for a distribution, p."""
    tolerance: float
    agrees: bool
    why: str
    """Explanation of a quantity outside its tolerance, or an empty string."""
    spread: float | None
    """Half the range over the other program's seeds."""
    range: float | None
    """Half the range over becalm's seeds; None for one seed."""

    @property
    def apart(self) -> str:
        """The difference as text."""
        return f"p = {self.difference:.2g}" if self.kind == "distribution" else f"{self.difference:+.2%}"


@dataclass(frozen=True, repr=False)
class Checked:
    """An entry with all its results."""

    entry: Entry
    quantities: tuple[Found, ...]
    samples: Mapping[tuple[str, str], tuple[float, ...]]
    """Samples of becalm's distributions by case and quantity, in the quantity's unit."""
    seconds: float
    """Total wall time of the entry's runs."""

    @property
    def agreeing(self) -> int:
        """Number of quantities within their tolerances."""
        return sum(each.agrees for each in self.quantities)

    @property
    def unexplained(self) -> list[Found]:
        """Quantities outside their tolerances without an explanation."""
        return [each for each in self.quantities if not each.agrees and not each.why]

    @property
    def verdict(self) -> str:
        """How far becalm and the other program agree on this entry, in one sentence."""
        return f"{score([self])}."

    def __repr__(self) -> str:
        return f"{self.verdict}\n<Checked {self.entry.name!r}>"

    def to_json(self) -> dict[str, Any]:
        """Return the entry and its results as a JSON object."""
        program = self.entry.program
        return {
            "entry": self.entry.name,
            "title": self.entry.title,
            "program": program.name,
            "version": program.version,
            "made": program.made,
            "parameters": program.parameters,
            "quantities": [vars(each) for each in self.quantities],
        }


Changed = Callable[[Scenario], Scenario]


def check(
    chosen: Iterable[str | Entry] | None = None,
    *,
    short: bool = False,
    threads: int | None = None,
    progress: Callable[[SweepProgress], object] | None = None,
    changed: Changed = lambda scenario: scenario,
) -> list[Checked]:
    """Run becalm's side of entries and compare it with the references.

    Args:
        chosen: names of entries, or entries; all if not given.
        short: if none is chosen, run only the entries of the short comparison.
        threads: number of parallel runs; None: one per core.
        progress: called after every finished run.
        changed: modifies each scenario before its run, to test that the comparison detects errors.

    Raises:
        BecalmError: an entry does not exist or has mistakes.
        FabricError: a run cannot continue.
        KeyboardInterrupt: Ctrl-C.

    """
    entries = [find(each) if isinstance(each, str) else each for each in (chosen or names())]
    if short and chosen is None:
        entries = [entry for entry in entries if entry.short]
    runs = [
        (entry, case, changed(entry.scenario(case)).replace({"run.seed": seed}))
        for entry in entries
        for case in entry.cases
        for seed in range(1, case.seeds + 1)
    ]

    def measure(place: int, results: Results) -> tuple[dict[str, Measured], float]:
        entry, case, _ = whole[place]
        return {key: _measured(entry.quantities[key], results) for key in case.values}, results.wall_time

    may_end = [_may_deadlock(entry, case) for entry, case, _ in runs]
    whole = [each for each, ends in zip(runs, may_end, strict=True) if not ends]
    with driver(threads, progress=progress) as running:
        driven = iter(running.drive([running.task(scenario) for *_, scenario in whole], measure))
    measured = iter(
        _deadlock(case, scenario) if ends else next(driven)
        for (_, case, scenario), ends in zip(runs, may_end, strict=True)
    )
    return [
        _judged(entry, [(case, [next(measured) for _ in range(case.seeds)]) for case in entry.cases])
        for entry in entries
    ]


def _may_deadlock(entry: Entry, case: Case) -> bool:
    """Return whether a deadlock may end the runs of a case."""
    return any(entry.quantities[key].measure == "deadlocks" for key in case.values)


def _deadlock(case: Case, scenario: Scenario) -> tuple[dict[str, Measured], float]:
    """Run a case that only tells whether there is a deadlock."""
    begin = time.monotonic()
    try:
        run(scenario)
    except DeadlockError:
        found = 1.0
    else:
        found = 0.0
    return dict.fromkeys(case.values, found), time.monotonic() - begin


def _measured(quantity: Quantity, results: Results) -> Measured:
    found = MEASURES[quantity.measure](results, **quantity.options)
    if isinstance(found, list):
        return [each / quantity.scale for each in found]
    return found / quantity.scale


Runs = Sequence[tuple[dict[str, Measured], float]]


def _judged(entry: Entry, cases: Sequence[tuple[Case, Runs]]) -> Checked:
    found: list[Found] = []
    samples: dict[tuple[str, str], tuple[float, ...]] = {}
    for case, runs in cases:
        for key in case.values:
            values = [values[key] for values, _ in runs]
            found.append(judge(case, entry.quantities[key], values))
            if isinstance(values[0], list):
                samples[case.name, key] = _flat(values)
    return Checked(entry, tuple(found), samples, sum(wall for _, runs in cases for _, wall in runs))


def _flat(values: Sequence[Measured]) -> tuple[float, ...]:
    return tuple(each for part in values for each in (part if isinstance(part, list) else [part]))


def judge(case: Case, quantity: Quantity, values: Sequence[Measured]) -> Found:
    """Compare the results of the seeds with the reference of a case."""
    reference, kind = case.values[quantity.key], quantity.kind
    flat = _flat(values)
    if isinstance(reference, tuple):
        share = same_distribution(reference, flat)
        numbers = (statistics.median(reference), statistics.median(flat), share, share > kind.tolerance)
    else:
        mean = statistics.fmean(flat)
        share = difference(reference, mean)
        numbers = (reference, mean, share, abs(share) <= kind.tolerance)
    before, after, share, agrees = numbers
    return Found(
        case=case.name,
        key=quantity.key,
        name=quantity.name,
        unit=quantity.unit,
        kind=kind.name,
        reference=before,
        becalm=after,
        difference=share,
        tolerance=kind.tolerance,
        agrees=agrees,
        why="" if agrees else case.why.get(quantity.key, ""),
        spread=case.spread.get(quantity.key),
        range=(max(flat) - min(flat)) / 2 if len(values) > 1 and not isinstance(reference, tuple) else None,
    )


AGREES, DIFFERS, EXPLAINED = "agrees", "differs", "explained"
"""Verdicts: within the tolerance; outside it; outside it for a known and documented reason."""


def verdict(found: Found) -> str:
    """Return the verdict on a quantity as one word."""
    if found.agrees:
        return AGREES
    return EXPLAINED if found.why else DIFFERS


def number(value: float) -> str:
    """Return a value with 4 significant digits, or as an integer from 10,000."""
    return f"{value:,.0f}" if abs(value) >= 1e4 else f"{value:.4g}"


def rows(checked: Checked) -> Iterator[tuple[str, ...]]:
    """Yield the rows of an entry's table; values include their units."""
    for each in checked.quantities:
        unit = f" {each.unit}" if each.unit else ""
        tolerance = KINDS[each.kind].shown
        yield (
            each.case,
            each.name,
            number(each.reference) + unit,
            number(each.becalm) + unit,
            each.apart,
            tolerance,
            verdict(each),
        )


def reasons(checked: Checked) -> Iterator[tuple[str, str, str]]:
    """Return case, quantity and reason of each explained difference."""
    for each in checked.quantities:
        if not each.agrees and each.why:
            yield each.case, each.name, each.why


def score(found: Sequence[Checked]) -> str:
    """Return the numbers of verdicts, as a sentence without its full stop."""
    quantities = [each for checked in found for each in checked.quantities]
    agree = sum(each.agrees for each in quantities)
    open_ = sum(len(each.unexplained) for each in found)
    explained = len(quantities) - agree - open_
    programs = [checked.entry.program.name for checked in found]
    others = sorted({*programs} - {FORMULA})
    forms = programs.count(FORMULA)
    of = [others[0] if len(others) == 1 else f"{len(others)} programs"] if others else []
    if forms:
        of.append("1 closed form" if forms == 1 else f"{forms} closed forms")
    scenes = "1 scene" if len(found) == 1 else f"{len(found)} scenes"
    return (
        f"{agree} of {len(quantities)} quantities of {' and '.join(of)} in {scenes} agree within their "
        f"tolerances, {explained} differ for a known reason, and {open_} for an unknown one"
    )
