"""Effects of guidelines on a fabric: on hot spots of all sizes, and on random cases with a given hot host."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from tempfile import TemporaryDirectory
from typing import Any

from becalm import manager
from becalm.analysis import limits
from becalm.progress import Steps
from becalm.runs import run
from becalm.runs.drive import closing
from becalm.runs.engines import Threads
from becalm.runs.task import Done
from becalm.scenario import Scenario
from becalm.store import Store
from becalm.tunings.evaluate import Evaluator, Run
from becalm.tunings.goals import Measured
from becalm.tunings.population import VALIDATION, HotSpot
from becalm.tunings.verdict import Verdict, guideline_control, judged, rows_of

ENOUGH = 0.95
"""Smallest acceptable share of the hot link for the contributors."""
LENGTH, SETTLED = 4e-3, 1e-3
"""Simulated time in s of a hot spot without other traffic, and the start of the measurement."""
CASES, AT_ONCE = 24, 3
"""Maximum number of random cases in a comparison, and the number to run before checking the clock."""
SECONDS = 100.0
"""Maximum time of a comparison in s."""


@dataclass(frozen=True)
class Sizes:
    """Effects of settings on hot spots of different sizes."""

    guideline: str
    contributors: int
    """Number of contributors for which the settings are derived."""
    links: dict[int, float]
    """Contributors' share of the hot link, by their number."""

    @property
    def short(self) -> list[int]:
        """Numbers of contributors that get less than `ENOUGH` of the link."""
        return [number for number, share in self.links.items() if share < ENOUGH]


@dataclass(frozen=True)
class Tried:
    """The results of the guidelines on random cases."""

    better: str
    """The guideline with the smallest loss."""
    verdict: Verdict
    """All rows: no control, the fabric's own control, each guideline."""


def sizes_of(scenario: Scenario) -> list[int]:
    """Return the numbers of contributors to try: 2, 4, 8, ... and all other hosts."""
    most = len(scenario.hosts()) - 1
    return sorted({*(2**power for power in range(1, 20) if 2**power < most), most})


def choose(scenario: Scenario, guidelines: Sequence[str], progress: Steps | None = None) -> list[Sizes]:
    """Try guidelines on hot spots of all sizes, and return the results, the chosen guideline's first.

    All settings are derived for the largest hot spot, since a hot spot beyond the settings still spreads. The
    function chooses the first guideline with a share of at least `ENOUGH` at all sizes, or else the guideline
    with the largest share in its worst hot spot.

    Args:
        scenario: the fabric; its flows are replaced.
        guidelines: guidelines to choose from, in order of preference.
        progress: called before each run with the maximum number of runs.

    """
    sizes, tried = sizes_of(scenario), []
    for place, guideline in enumerate(guidelines):
        control = guideline_control(scenario, sizes[-1], guideline)
        links = {}
        for number, size in enumerate(sizes):
            if progress is not None:
                progress(place * len(sizes) + number, len(guidelines) * len(sizes))
            links[size] = _link(scenario, control, size)
        tried.append(Sizes(guideline, sizes[-1], links))
        if not tried[-1].short:
            return [tried[-1], *tried[:-1]]
    return sorted(tried, key=lambda each: -min(each.links.values()))


def starving(scenario: Scenario, contributors: int | None = None) -> list[manager.Concern]:
    """Return the setting to blame if the scenario's own control leaves a hot link partly unused.

    A hot spot of this size, or of each size of `sizes_of`, is simulated without other traffic. The worst
    counts.
    """
    if "ibta" not in scenario.resolved["response"]:
        return []
    sizes = sizes_of(scenario) if contributors is None else [contributors]
    shares = {size: _link(scenario, {}, size) for size in sizes}
    worst = min(shares, key=shares.__getitem__)
    if shares[worst] >= limits.FULL:
        return []
    found = manager.starving(scenario, manager.balance(scenario, worst))
    problem = f"{worst} contributors get only {shares[worst]:.1%} of a hot link: {found.problem}"
    return [replace(found, problem=problem)]


def _link(scenario: Scenario, control: dict[str, Any], size: int) -> float:
    """Return the share of the hot link that `size` contributors get without other traffic."""
    hosts = scenario.hosts()
    # Spread the contributors over the fabric.
    senders = [hosts[1 + place * (len(hosts) - 1) // size] for place in range(size)]
    flows = [{"name": "hot", "from": senders, "to": hosts[:1]}]
    times = {"duration": f"{LENGTH * 1e9:.0f} ns", "warmup": f"{SETTLED * 1e9:.0f} ns"}
    changes = {**control, "flows": flows, "run": times, "observe": {"links": []}}
    if "jobs" in scenario.data():
        changes["jobs"] = None
    made = scenario.replace(changes)
    groups = run(made, threads=1).groups
    return float(groups["rate"][0]) / float(scenario.summary["host_rate"])


def try_guidelines(
    scenario: Scenario,
    host: str,
    contributors: int | None = None,
    threads: int | None = None,
    planned: Callable[[int], object] = lambda _: None,
    progress: Callable[[Done], object] = lambda _: None,
    seconds: float = SECONDS,
) -> Tried:
    """Run random cases with a hot host: without control, with the fabric's own, and with each guideline.

    Args:
        scenario: the fabric; its flows are replaced.
        host: the hot host.
        contributors: maximum number of hosts that send to the hot host; default: all others.
        threads: number of parallel runs.
        planned: called once with the maximum number of runs.
        progress: called for every run.
        seconds: time after which no more cases start.

    Raises:
        BecalmError: the host does not exist, or the number of contributors is invalid.

    """
    population = HotSpot(scenario, host, contributors).population()
    rows = rows_of(scenario, population.range[1])
    cases, began = population.draw(CASES, VALIDATION), time.monotonic()
    planned(sum(len(rows) + (case.calm is not None) for case in cases))
    found: dict[Run, Measured] = {}
    with TemporaryDirectory(prefix="becalm-guidelines-") as folder:
        store = Store(folder)
        engine = Threads(threads, store)
        with closing(engine):
            evaluator = Evaluator(cases, store, engine, progress)
            met = 0
            for part in _parts(len(cases)):
                found |= evaluator.evaluate(rows, cases[part], [1])
                met = part.stop
                spent = time.monotonic() - began
                if spent * (met + AT_ONCE) / met > seconds:
                    break
    verdict = judged(found, cases[:met], list(rows))
    better = min((name for name in manager.GUIDELINES if name in rows), key=verdict.mean)
    return Tried(better, verdict)


def _parts(count: int) -> Iterator[slice]:
    return (slice(place, min(place + AT_ONCE, count)) for place in range(0, count, AT_ONCE))
