"""Rules that need a paired run: control, credit or paths that slow a job down below idle links."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from becalm.analysis import limits
from becalm.analysis.case import Case
from becalm.analysis.facts import key
from becalm.analysis.formats import seconds, share
from becalm.analysis.reference import Reference
from becalm.base.errors import BecalmError
from becalm.explanations.model import Sentence
from becalm.explanations.remedies import changed, remedies
from becalm.explanations.rule import rule

if TYPE_CHECKING:
    from becalm.results import Results


class Held(NamedTuple):
    """A job whose rates control may hold below idle links."""

    row: dict[str, Any]
    """The job's row in the table `jobs`."""
    response: str
    marked: float
    """Share of its packets that are marked."""
    link: str
    """The busiest link on its paths."""
    busy: float
    """Utilization of this link while the job ran."""


def candidates(case: Case) -> list[Held]:
    """Return the jobs that ended, have a response, and left all their links partly idle."""
    if "jobs" not in case.facts.results.tables:
        return []
    rows = case.facts.table("jobs").iter_rows(named=True)
    return [found for row in rows for found in _candidate(case, row)]


def _candidate(case: Case, row: dict[str, Any]) -> Iterator[Held]:
    facts, flows, links = case.facts, case.facts.flows, case.facts.links
    response = next(iter(case.responses[row["job"]]))
    own = np.flatnonzero(np.array(flows.group) == row["job"])
    end = row["end"]
    if response in ("none", "fixed") or end is None or not np.isfinite(end) or not len(own):
        return
    marked = float(np.average(flows.marked[own], weights=np.maximum(flows.delivered[own], 1)))
    lasted = min(float(end), facts.duration) - max(float(row["start"]), facts.warmup)
    if lasted <= 0 or (case.marking != "none" and marked < limits.UNMARKED):
        return
    crossed = facts.crossed(own)
    top = int(crossed[np.argmax(links.busy[crossed])])
    busy = float(links.busy[top]) * facts.window / lasted
    if busy < limits.FULL:
        yield Held(row, response, marked, links.names[top], busy)


def uncontrolled(case: Case) -> Results | None:
    """Return the results of the paired run without congestion control; None if there is none."""
    if case.bench is None:
        return None
    try:
        return case.bench.run(case.facts.scenario.without_control())
    except BecalmError:
        return None


@rule("held-back", "control")
def held_back(case: Case) -> Iterator[Sentence]:
    """Name a job that is *held by control* below idle links, and what that costs.

    No link on its paths was 90% busy while it ran, and in a paired run without congestion control, it needs
    at least 10% less time. Without that run, the section about missing results names the job.
    """
    for each in candidates(case):
        other = uncontrolled(case)
        if other is None:
            continue
        before, after = float(each.row["time"]), _time(other, each.row["job"])
        cost = (before - after) / after if after > 0 else float("nan")
        if not (before - after) >= limits.HELD * before:
            continue
        marks = f"{share(each.marked)} of its packets are marked, " if case.marking != "none" else ""
        text = (
            f"Control holds job {each.row['job']} below idle links: {marks}response.{each.response} slows "
            f"its sources, and the busiest link on its paths, {each.link}, is only {share(each.busy)} used "
            f"while the job runs. It takes {seconds(before)}, and {seconds(after)} in a paired run without "
            f"control: control costs {100 * cost:.0f}%."
        )
        numbers = {"time": before, "time_without": after, "cost": cost, "busy": each.busy}
        numbers["marked_share"] = each.marked
        refer = (Reference("jobs", (int(each.row["row"]),), ("time",)), key("response"))
        yield Sentence("held-back", "control", text, numbers, refer, "held by control", str(each.row["job"]))


def _time(results: Results, job: str) -> float:
    rows = results.jobs.filter(results.jobs["job"] == job)["time"].to_list()
    return float(rows[0]) if rows and rows[0] is not None else float("nan")


@rule("unpaired", "missing")
def unpaired(case: Case) -> Iterator[Sentence]:
    """Name a job that control may hold below idle links if there was no paired run."""
    for each in candidates(case)[:1]:
        if uncontrolled(case) is not None:
            continue
        text = (
            f"The results do not show what control costs job {each.row['job']}: the busiest link on its "
            f"paths, {each.link}, was only {share(each.busy)} used while it ran. `becalm explain` with "
            "--max-time repeats the run without control."
        )
        refer = (Reference("jobs", (int(each.row["row"]),), ("time",)),)
        yield Sentence("unpaired", "missing", text, {"busy": each.busy}, refer)


@rule("narrow-job", "cost")
def narrow_job(case: Case) -> Iterator[Sentence]:
    """Name a *small buffer* or a *small window* that slows a job down.

    The buffers' credit, or a constant window, lets less through than the slowest link on a path of the job,
    and in a trial with larger ones, it ends at least 10% sooner.
    """
    for job, row in _ended(case).items():
        own = np.flatnonzero(np.array(case.facts.flows.group) == job)
        shares = case.facts.reach(own)
        if not len(shares):
            continue
        lower = shares.min(axis=0)
        place = int(np.argmin(lower))
        if lower[place] >= limits.REACHED:
            continue
        kind = ("small buffer", "small window")[place]
        gain = _gained(case, kind, job, job)
        if gain is None:
            continue
        what = "the credit of the input buffers" if place == 0 else "the window"
        text = (
            f"Job {job} is slowed down by {what}, which lets only {share(float(lower[place]))} of the "
            f"slowest link through: with more, {gain}."
        )
        refer = (Reference("jobs", (int(row["row"]),), ("time",)),)
        yield Sentence("narrow-job", "cost", text, {"reach": float(lower[place])}, refer, kind, job)


@rule("job-paths", "causes")
def job_paths(case: Case) -> Iterator[Sentence]:
    """Name the *path collision* of a job's flows on a link.

    Hashed paths put more of the job's flows on a link that was a root for at least 5% of the window than an
    even spread would, and in a trial with adaptive routing, the job ends at least 10% sooner.
    """
    facts, links = case.facts, case.facts.links
    if not case.facts.spreading.has_choice:
        return
    for job, row in _ended(case).items():
        own = np.flatnonzero(np.array(facts.flows.group) == job)
        crossed = facts.crossed(own)
        even = facts.spreading.even[crossed]
        uneven = links.demand[crossed] >= limits.UNEVEN * even
        chosen = crossed[uneven & (links.root[crossed] >= limits.LEAST_ROOT)]
        gain = _gained(case, "path collision", job, job) if len(chosen) else None
        if gain is None:
            continue
        top = int(chosen[np.argmax(links.root[chosen])])
        ratio = float(links.demand[top] / facts.spreading.even[top])
        text = (
            f"Flows of job {job} collide on {links.names[top]}: they load it {ratio:.2f} times as much as if "
            f"they were spread evenly over their equal paths. With adaptive routing, {gain}."
        )
        refer = (facts.of_tree(top), Reference("jobs", (int(row["row"]),), ("time",)))
        yield Sentence(
            "job-paths", "causes", text, {"ratio": ratio}, refer, "path collision", links.names[top]
        )


def _ended(case: Case) -> dict[str, dict[str, Any]]:
    """Return the rows of the jobs that ended."""
    if "jobs" not in case.facts.results.tables:
        return {}
    rows = case.facts.table("jobs").iter_rows(named=True)
    return {row["job"]: row for row in rows if row["end"] is not None and np.isfinite(row["end"])}


def _gained(case: Case, cause: str, place: str, job: str) -> str | None:
    """Return what a job gains by the first remedy for a cause, in words; None if it gains less than 10%."""
    if case.bench is None:
        return None
    scenarios = (changed(case.facts.scenario, each) for each in remedies(case, cause, place))
    other = next((case.bench.run(each) for each in scenarios if each is not None), None)
    before = float(_ended(case)[job]["time"])
    after = float("nan") if other is None else _time(other, job)
    if not (before - after) >= limits.HELD * before:
        return None
    return f"it takes {seconds(after)} instead of {seconds(before)}"
