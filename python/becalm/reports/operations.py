"""Activity of the ranks of jobs over time, for a page: lanes of steps, and the critical path in words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from becalm.analysis.formats import seconds, share
from becalm.analysis.operations import IDLE, Operations, Step

if TYPE_CHECKING:
    from becalm.analysis.operations import Floats, Places
    from becalm.results import Replication, Results

STEPS = 480
"""Number of time steps in a lane."""
MOST_LANES = 40
"""Maximum number of lanes per job. Ranks that are longest on the critical path come first."""
MOST_OPS = 1_000_000
"""Maximum number of operations of a job with lanes, because more would need seconds."""


def lanes(results: Results, run: Replication) -> Iterator[dict[str, Any]]:
    """Yield the lanes of each job whose operations were recorded."""
    import polars as pl

    if "ops" not in results.tables:
        return
    chosen = pl.col("replication") == run.replication
    jobs, ranks, ops = (results.tables[name].filter(chosen) for name in ("jobs", "ranks", "ops"))
    for job in jobs.iter_rows(named=True):
        own, places = ops.filter(pl.col("job") == job["job"]), ranks.filter(pl.col("job") == job["job"])
        if not 0 < own.height <= MOST_OPS:
            continue
        end = job["end"] if np.isfinite(job["end"]) else run.end
        found = Operations(own, end)
        path = found.critical_path()
        at = job["start"] + (np.arange(STEPS) + 0.5) * (end - job["start"]) / STEPS
        rows = [_lane(row, *found.times(row["rank"]), at) for row in places.iter_rows(named=True)]
        summary = _summary(path, np.sum([row["times"] for row in rows], axis=0))
        on = np.full(STEPS, -1)
        for step in path:
            on[(at >= step.begin) & (at < step.end)] = step.rank
        yield {"job": job["job"], "lanes": _shown(rows, path), "path": on.tolist(), "summary": summary}


def _lane(row: dict[str, Any], bounds: Floats, doing: Places, at: Floats) -> dict[str, Any]:
    # A rank is idle before its first operation and after its last.
    now = np.append(doing, IDLE)[np.searchsorted(bounds, at, side="right") - 1]
    times = np.bincount(doing[:-1], np.diff(bounds), 4)[1:] if len(bounds) else np.zeros(3)
    steps = "".join(map(str, now))
    return {"rank": row["rank"], "host": row["host"], "steps": steps, "times": times.tolist()}


def _shown(rows: list[dict[str, Any]], path: list[Step]) -> list[dict[str, Any]]:
    time: dict[int, float] = defaultdict(float)
    for step in path:
        time[step.rank] += step.end - step.begin
    first = sorted(rows, key=lambda row: (-time[row["rank"]], row["rank"]))[:MOST_LANES]
    return sorted(first, key=lambda row: int(row["rank"]))


def _summary(path: list[Step], times: Floats) -> str:
    """Describe what ranks wait for, and where messages dominate the critical path."""
    parts = times / max(float(times.sum()), 1e-12)
    waits = f"{share(parts[1])} of the time for messages in transit, {share(parts[2])} for others to send"
    text = f"Ranks wait {waits}."
    whole = sum(step.end - step.begin for step in path)
    between: dict[tuple[int, int], float] = defaultdict(float)
    for step in path:
        if step.message:
            between[step.message] += step.end - step.begin
    if not between:
        return text
    (sender, rank), longest = max(between.items(), key=lambda item: item[1])
    most = f", most of all from rank {sender} to rank {rank} ({seconds(longest)})" if sender >= 0 else ""
    return f"{text} The critical path is {share(sum(between.values()) / whole)} messages{most}."
