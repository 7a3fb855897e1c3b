"""Rules about slowed and unfinished jobs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from becalm.analysis import limits
from becalm.analysis.case import Case
from becalm.analysis.facts import key
from becalm.analysis.formats import number, seconds, share
from becalm.analysis.reference import Reference
from becalm.explanations.model import Sentence
from becalm.explanations.remedies import changed, remedies
from becalm.explanations.rule import rule

if TYPE_CHECKING:
    from becalm.analysis.trials import Effect


def unfinished(case: Case) -> list[dict[str, Any]]:
    """Return the rows of the jobs that have not ended."""
    if "jobs" not in case.facts.results.tables:
        return []
    rows = case.facts.table("jobs").iter_rows(named=True)
    return [row for row in rows if row["end"] is None or not np.isfinite(row["end"])]


def slowed(case: Case) -> list[dict[str, Any]]:
    """Return the rows of the jobs that need at least a tenth more time than without other traffic."""
    if "jobs" not in case.facts.results.tables:
        return []
    return [
        row for row in case.facts.table("jobs").iter_rows(named=True) if row["slowdown"] >= 1 + limits.SLOWED
    ]


@rule("slowed-job", "victims")
def slowed_job(case: Case) -> Iterator[Sentence]:
    """Name a *slowed job* and the reason.

    The job takes at least 10% longer than without other traffic. The reason is the first bottleneck that its
    flows share or wait behind, or else its own response to marks.
    """
    facts = case.facts
    for row in slowed(case):
        text = (
            f"Job {row['job']} takes {row['slowdown']:.2f} times as long as alone, {seconds(row['time'])} "
            f"instead of {seconds(row['time_alone'])}"
        )
        numbers = {key: float(row[key]) for key in ("slowdown", "time", "time_alone")}
        refer = Reference("jobs", (int(row["row"]),), ("time", "time_alone", "slowdown"))
        each = case.delaying(row["job"])
        own = np.flatnonzero(np.array(facts.flows.group) == row["job"])
        marked = float(facts.flows.marked[own].max(initial=0.0))
        if each is not None:
            others = ", ".join([name for name in each.groups if name != row["job"]][: limits.MOST])
            text += f": its flows cross {each.name} or wait behind it, and it is filled by {others}."
            yield Sentence(
                "slowed-job",
                "victims",
                text,
                numbers,
                (refer, facts.of_tree(each.link)),
                "slowed job",
                each.name,
            )
        elif marked > 0:
            text += (
                f": no bottleneck is on its path, and up to {share(marked)} of a flow's packets are marked."
            )
            path = np.unique(np.concatenate([facts.path(int(flow)) for flow in own]))
            at = int(path[np.argmax(facts.links.marked[path])])
            rows = facts.of_link(at, "marked", "packets")
            yield Sentence(
                "slowed-job",
                "victims",
                text,
                numbers,
                (refer, rows),
                "slowed by marks",
                facts.links.names[at],
            )
        else:
            text += (
                ": becalm does not know why. No bottleneck is on its path, no packet is marked, and no other "
                "traffic delays it on a link that is a root for a twentieth of the time."
            )
            yield Sentence("slowed-job", "victims", text, numbers, (refer,), place=row["job"])


@rule("straggler", "victims")
def straggler(case: Case) -> Iterator[Sentence]:
    """Name a *straggler*, the host that slows down a job.

    Its adapter or cable is slower than is usual in the job, and was used to at least 80% while the job ran;
    or its rank computed longer than the median rank, by at least 10% of the job's time. In a trial with the
    usual rate, the job gains.
    """
    hosts = {(each.job, each.host): each for each in reversed(case.stragglers)}
    for each in list(reversed(hosts.values()))[: limits.MOST]:
        tried = _without(case, each.host)
        if tried is not None and tried.score <= 0:
            continue
        if each.what == "computes":
            rates = f"computes for {seconds(each.own)}, and the median rank for {seconds(each.usual)}"
            refer = (Reference("ranks", tuple(case.facts.table("ranks")["row"].to_list()), ("compute",)),)
        else:
            most, other = number(each.own, "B/s"), number(each.usual, "B/s")
            rates = (
                f"{each.what} at most {most}, of which it used {share(each.used)}; other hosts reach {other}"
            )
            column = "sent_bytes" if each.what == "sends" else "received_bytes"
            rows = case.facts.table("hosts")
            row = int(rows.filter(rows["host"] == each.host)["row"][0])
            refer = (Reference("hosts", (row,), (column,)),)
        text = f"Job {each.job} waits for a straggler, {each.host}, which {rates}"
        if tried is not None:
            text += f". At the usual rate, {tried.text}"
        numbers = {"own": each.own, "usual": each.usual, "used": each.used}
        yield Sentence("straggler", "victims", f"{text}.", numbers, refer, "straggler", each.host)


def _without(case: Case, host: str) -> Effect | None:
    """Return the effect of the usual rate of a host; None if it is unknown."""
    repaired = (changed(case.facts.scenario, each) for each in remedies(case, "straggler", host))
    return next((case.tried(each) for each in repaired if each is not None), None)


@rule("unfinished-job", "victims")
def unfinished_job(case: Case) -> Iterator[Sentence]:
    """Name an *unfinished job*, and the rank, operation and peer that it waits for.

    It is a cause if no operation began or ended in the last quarter of the run. Operations require
    `jobs.record_ops`.
    """
    facts = case.facts
    for row in unfinished(case):
        text, where, last = _waiting(case, row["job"])
        still = facts.duration - last > limits.STILL * facts.duration
        since = f"; none of its operations has begun or ended since {seconds(last)}" if still else ""
        refer = (Reference("jobs", (int(row["row"]),), ("end",)), where)
        text = (
            f"Job {row['job']} is unfinished when the run ends at {seconds(facts.duration)}{since}: {text}."
        )
        numbers = {"last": last, "end": facts.duration}
        cause = "unfinished job" if still else ""
        yield Sentence("unfinished-job", "victims", text, numbers, refer, cause, row["job"])


def _waiting(case: Case, job: str) -> tuple[str, Reference, float]:
    """Return what a job waits for, the rows that show it, and the time of the job's last progress."""
    import polars as pl

    facts = case.facts
    if "ops" not in facts.results.tables:
        ranks = facts.table("ranks").filter((pl.col("job") == job) & ~pl.col("end").is_finite())
        series = facts.table("series") if "series" in facts.results.tables else None
        moved = (
            []
            if series is None
            else series.filter((pl.col("kind") == "group") & (pl.col("name") == job) & (pl.col("rate") > 0))[
                "time"
            ].to_list()
        )
        names = ", ".join(
            f"{row['rank']} on {row['host']}" for row in ranks.head(limits.MOST).iter_rows(named=True)
        )
        rows = Reference("ranks", tuple(int(row) for row in ranks["row"]), ("end",))
        count = f"{ranks.height} ranks are" if ranks.height != 1 else "1 rank is"
        text = f"{count} not done: {names}; jobs.record_ops = true records what is awaited"
        return text, rows, max(moved, default=0.0)
    ops = facts.table("ops").filter(pl.col("job") == job)
    times = [*ops["start"].to_list(), *ops["end"].to_list()]
    open_ = ops.filter(pl.col("start").is_finite() & ~pl.col("end").is_finite()).sort("start", "rank", "op")
    rows = Reference("ops", tuple(int(row) for row in open_["row"]), ("start", "end"))
    last = max((time for time in times if time is not None and np.isfinite(time)), default=0.0)
    said = [
        f"rank {row['rank']} waits in operation {row['op']}, {row['kind']} of {number(row['bytes'], 'B')}"
        + ("" if np.isnan(row["peer"]) else f" with rank {row['peer']:.0f}")
        for row in open_.head(limits.MOST).iter_rows(named=True)
    ]
    return "; ".join(said) or "no operation has begun", rows if said else key("jobs"), last
