"""`becalm run --check`: the error of trains, measured on smaller jobs."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from becalm.base.quantities import in_bytes
from becalm.cli.exits import BAD_INPUT, stop

if TYPE_CHECKING:
    from becalm.results import Results
    from becalm.scenario import Scenario

SMALLER = 64
"""By how much the messages of the check are smaller."""
MOST_WORK = 1e9
"""Packet-hops of the exact run, at most, which take several minutes; beyond, messages are still smaller."""


def smaller(scenario: Scenario) -> tuple[Scenario, int]:
    """Return the scenario with smaller messages, and by how much they are smaller.

    Raises:
        BecalmError: a size is too small to be divided.

    """
    if scenario.resolved["run"]["fidelity"] == "packets":
        stop('--check: the run is exact; it needs run.fidelity = "trains" or "steady"', BAD_INPUT)
    sizes = {key: int(in_bytes(size)) for key, size in _sizes(scenario.resolved)}
    if not any(key.startswith("jobs.") for key in sizes):
        stop("--check: needs a job with a collective, whose bytes it divides", BAD_INPUT)
    factor = SMALLER
    while True:
        less = scenario.replace({key: f"{max(size // factor, 1)} B" for key, size in sizes.items()})
        exact = less.exact()
        if exact.core.work_estimate <= MOST_WORK or factor > max(sizes.values()):
            return less, factor
        factor *= 2


def _sizes(resolved: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the sizes of collectives and of batches, each with its key."""
    found = []
    for number, job in enumerate(resolved["jobs"]):
        for name, collective in (job["collective"] or {}).items():
            found.append((f"jobs.{number}.collective.{name}.bytes", collective["bytes"]))
    for number, group in enumerate(resolved["flows"]):
        batch = group["traffic"].get("batch")
        if batch and batch["message"]:
            found.append((f"flows.{number}.traffic.batch.message", batch["message"]))
    return found


def check(scenario: Scenario, factor: int, run: Callable[[Scenario], Results]) -> dict[str, Any]:
    """Run smaller jobs with trains and exactly; return the length of trains, times and errors.

    The result has `smaller`, the factor; `train`, the mean number of packets of a train; `left_out`, the
    share of time that was left out, or None; `seconds`, the wall-clock time `with` and `without` trains; and
    `jobs`, for each job its `time` [s] with trains, the `exact` one, and the relative `error`.
    """
    spent = {}
    found = {}
    for name, one in (("with", scenario), ("without", scenario.exact())):
        begin = time.monotonic()
        found[name] = run(one)
        spent[name] = time.monotonic() - begin
    jobs = []
    exact = found["without"].jobs["time"]
    for job, own, true in zip(found["with"].jobs["job"], found["with"].jobs["time"], exact, strict=True):
        error = None if own is None or not true else own / true - 1
        jobs.append({"job": job, "time": own, "exact": true, "error": error})
    left_out = found["with"].left_out
    return {
        "smaller": factor,
        "train": found["with"].train,
        "left_out": left_out,
        "seconds": spent,
        "jobs": jobs,
    }


def lines(checked: dict[str, Any]) -> list[str]:
    """Return what a check found, one line per job."""
    size = f"1/{checked['smaller']} of the size"
    spent = checked["seconds"]
    said = [
        f"check at {size}: {checked['train']:.1f} packets per train, "
        f"{spent['with']:.1f} s instead of {spent['without']:.1f} s"
    ]
    if checked["left_out"] is not None:
        known = "" if checked["left_out"] else ": the error of leaving it out is not known"
        said.append(f"  {100 * checked['left_out']:.1f}% of the time was left out{known}")
    for job in checked["jobs"]:
        error = "did not end" if job["error"] is None else f"error of its time {100 * job['error']:+.1f}%"
        said.append(f"  {job['job']}: {error}")
    return said
