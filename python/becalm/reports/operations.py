"""Activity and waits of the ranks of jobs over time, for a page, and the critical path in words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from becalm.analysis.formats import seconds, share

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Places = NDArray[np.int64]
    from becalm.results import Results
    from becalm.results.outcomes import Replication


IDLE, COMPUTES, MESSAGES, OTHERS = range(4)
"""Activity of a rank: idle, computing, messages from or to it in transit, or waiting for others to send."""


@dataclass(frozen=True)
class Step:
    """A step of the critical path: a computation of a rank, or a message that it waits for or sends."""

    begin: float
    """Seconds."""
    end: float
    rank: int
    message: tuple[int, int] | None
    """Sender (-1 if the program does not specify it) and receiver; None for a computation."""


class Operations:
    """The recorded operations of one job. Unfinished operations last until `end`."""

    def __init__(self, ops: pl.DataFrame, end: float) -> None:
        import polars as pl

        begun = ops.filter(pl.col("start").is_finite()).with_columns(
            pl.when(pl.col("end").is_finite()).then("end").otherwise(end).alias("end")
        )
        # Messages of equal size between two ranks arrive in the order in which they are sent.
        count = pl.int_range(pl.len()).over("kind", "rank", "peer", "bytes").alias("count")
        ordered = begun.sort("rank", "end", "start", "op", maintain_order=True).with_row_index("place")
        counted = ordered.sort("rank", "op").with_columns(count)
        sent = counted.filter(pl.col("kind") == "send").select(
            *("bytes", "count", pl.col("peer").cast(pl.Int64).alias("rank")),
            *(pl.col("rank").cast(pl.Float64).alias("peer"), pl.col("place").cast(pl.Int64).alias("sent")),
        )
        keys = ["rank", "peer", "bytes", "count"]
        received = counted.filter(pl.col("kind") == "recv").with_columns(pl.col("rank").cast(pl.Int64))
        pairs = received.join(sent, on=keys, how="inner")
        self._sent = np.full(ordered.height, -1)
        self._sent[pairs["place"].to_numpy()] = pairs["sent"].to_numpy()
        self._peer: Places = ordered["peer"].fill_nan(-1).cast(pl.Int64).to_numpy()
        self._rank: Places = ordered["rank"].cast(pl.Int64).to_numpy()
        self._start, self._end = ordered["start"].to_numpy(), ordered["end"].to_numpy()
        kinds = ordered["kind"]
        self._computes, self._receives = (kinds == "calc").to_numpy(), (kinds == "recv").to_numpy()

    def times(self, rank: int) -> tuple[Floats, Places]:
        """Return the times of a rank's changes of activity, and the new activities. The last one is `IDLE`.

        A message that may come from any rank counts as in transit.
        """
        own = self._of(rank)
        begin, end, sent = self._start[own], self._end[own], self._sent[own]
        computes, receives = self._computes[own], self._receives[own]
        # A message is in transit to a rank once the rank waits for it and the sender has begun to send.
        never = np.where(receives & (self._peer[own] >= 0), end, begin)
        under_way = np.where(sent >= 0, np.clip(self._start[sent], begin, end), never)
        bounds = np.unique(np.concatenate([begin, under_way, end]))

        def open_(chosen: NDArray[np.bool_], since: Floats) -> Places:
            change = np.zeros(len(bounds), dtype=np.int64)
            np.add.at(change, np.searchsorted(bounds, since[chosen]), 1)
            np.add.at(change, np.searchsorted(bounds, end[chosen]), -1)
            return np.cumsum(change)

        messages, others = open_(~computes, under_way) > 0, open_(receives, begin) > 0
        doing = np.select(
            [open_(computes, begin) > 0, messages, others], [COMPUTES, MESSAGES, OTHERS], default=IDLE
        )
        return bounds, doing

    def critical_path(self) -> list[Step]:
        """Return the chain of operations that ends last, in reverse order.

        The predecessor of a receive that had to wait is its message, before which come the sender's earlier
        operations. The predecessor of any other operation is the last one that its rank ended before it.
        """
        path: list[Step] = []
        at = int(np.argmax(self._end)) if len(self._end) else -1
        while at >= 0 and len(path) <= len(self._end):
            rank, peer, end = int(self._rank[at]), int(self._peer[at]), float(self._end[at])
            receives, message = self._receives[at], (rank, peer)
            if receives:
                message = (peer, rank)
                if self._sent[at] >= 0 and self._end[self._sent[at]] > self._start[at]:
                    at = int(self._sent[at])
            begin = float(self._start[at])
            if end > begin:
                path.append(Step(begin, end, rank, None if self._computes[at] else message))
            own = self._of(int(self._rank[at]))
            before = own.start + int(np.searchsorted(self._end[own], begin, side="right")) - 1
            before = min(before, at - 1)
            at = before if before >= own.start else -1
        return path

    def _of(self, rank: int) -> slice:
        first, after = np.searchsorted(self._rank, [rank, rank + 1])
        return slice(int(first), int(after))


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
