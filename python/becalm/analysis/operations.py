"""Activity and waits of a job's ranks over time, and its critical path, from the table `ops`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Places = NDArray[np.int64]

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
