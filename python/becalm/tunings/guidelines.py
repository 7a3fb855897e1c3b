"""Both guidelines on a fabric: effects on the background and the hot link, and the better one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from becalm import manager
from becalm.analysis.hot_spots import LOADS, Case, HotSpot
from becalm.scenario import Scenario
from becalm.store import Store
from becalm.sweeps.engines import Threads
from becalm.sweeps.task import Done
from becalm.tunings.api import WITHOUT, guideline_control
from becalm.tunings.evaluate import UNCONTROLLED, Evaluator, by_case
from becalm.tunings.goals import weighted

if TYPE_CHECKING:
    import polars as pl

SHORTEST = 3e-3
"""Least length of the hot period, in s."""


@dataclass(frozen=True)
class Tried:
    """The results of the guidelines."""

    better: str
    """The guideline with the smaller loss."""
    length: float
    """Simulated time of each run, in s."""
    table: pl.DataFrame
    """One row per case and candidate: all measures."""


def try_guidelines(
    scenario: Scenario,
    host: str,
    degree: int | None = None,
    threads: int | None = None,
    progress: Callable[[Done], object] = lambda _: None,
) -> Tried:
    """Run a hot spot without control and with each guideline.

    The hot period and the time after it are as long as the longest table of a guideline takes to unwind: what
    is shorter shows the beginning alone.

    Args:
        scenario: the fabric; its flows are replaced.
        host: the hot host.
        degree: sources of the hot spot in the worst case; three and all hosts if not given.
        threads: runs side by side.
        progress: called for every run.

    Raises:
        BecalmError: no such host, or a degree that cannot be.

    """
    import polars as pl

    hosts = scenario.summary["hosts"]
    controls = {
        name: guideline_control(scenario, hosts if degree is None else degree, name)
        for name in manager.GUIDELINES
    }
    longest = max(SHORTEST, *(manager.unwind(scenario.replace(control)) for control in controls.values()))
    cases = _cases(HotSpot(scenario, host, degree, hot=longest, after=longest), degree)
    with TemporaryDirectory(prefix="becalm-guidelines-") as folder:
        store = Store(folder)
        engine = Threads(threads, store)
        whole = False
        try:
            evaluator = Evaluator(cases, store, engine, progress)
            found = evaluator.evaluate({WITHOUT: UNCONTROLLED, **controls}, cases, [1])
            whole = True
        finally:
            engine.close(abort=not whole)
    means = {name: by_case(found, name) for name in (WITHOUT, *controls)}
    rows = [
        {"case": case.name, "with": name, **each[case.name]} for case in cases for name, each in means.items()
    ]
    better = min(controls, key=lambda name: weighted(cases, means[name], "loss"))
    return Tried(better, cases[0].stop + longest, pl.DataFrame(rows))


def _cases(spot: HotSpot, degree: int | None) -> list[Case]:
    if degree is None:
        return [spot.case(LOADS[0], few=True), spot.case(LOADS[1], few=False)]
    return [spot.case(load, few=True) for load in LOADS]
