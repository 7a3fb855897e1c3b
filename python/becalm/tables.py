"""The tables of results, by their names."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

ASKED_FOR = {
    "paces": "observe.paces = true",
    "snapshots": 'observe.snapshots = ["5 ms"]',
    "frames": 'observe.frames = "50 us"',
    "frames_groups": 'observe.frames = "50 us"',
    "spans": "observe.spans = true",
    "queues": "observe.queues = true",
    "completion": "observe.messages = true",
    "completion_by_size": "observe.messages = true",
    "completion_times": "observe.messages = true",
    "messages": "observe.messages = true, and a larger observe.message_rows where there are more",
    "jobs": "[[jobs]]",
    "ranks": "[[jobs]]",
    "ops": "jobs.record_ops = true",
}
"""Tables that a scenario has to ask for, and how."""


class Tables:
    """Tables as attributes; results of sweeps have the keys of the grid in front, and rows of every point."""

    def table(self, name: str) -> pl.DataFrame:
        """Return a table; for one that must be asked for, a message says how.

        Raises:
            ResultsError: the scenario does not ask for it.

        """
        raise NotImplementedError

    @property
    def flows(self) -> pl.DataFrame:
        """One row per flow: what it sent, its rate and its latency."""
        return self.table("flows")

    @property
    def groups(self) -> pl.DataFrame:
        """One row per group of flows: rate, fairness, marks, latency."""
        return self.table("groups")

    @property
    def latencies(self) -> pl.DataFrame:
        """Histogram of latencies: one row per group and range of latencies that has packets."""
        return self.table("latencies")

    @property
    def links(self) -> pl.DataFrame:
        """One row per direction of a cable: rate, utilization, share of time without credit."""
        return self.table("links")

    @property
    def buffers(self) -> pl.DataFrame:
        """One row per switch input buffer and virtual lane: how full it was."""
        return self.table("buffers")

    @property
    def hosts(self) -> pl.DataFrame:
        """One row per host: what its adapter sent and received, and the marks that came."""
        return self.table("hosts")

    @property
    def tree(self) -> pl.DataFrame:
        """One row per output and virtual lane: root or branch of congestion, since when, for how long."""
        return self.table("tree")

    @property
    def victims(self) -> pl.DataFrame:
        """One row per group and source host: its victims of congestion, what it offered and what arrived."""
        return self.table("victims")

    @property
    def series(self) -> pl.DataFrame:
        """Rates of groups and links over time, in a sliding window."""
        return self.table("series")

    @property
    def paces(self) -> pl.DataFrame:
        """Gaps that the flows of each group have to keep, and their windows, over time.

        Raises:
            ResultsError: the scenario does not ask for it with `observe.paces`.

        """
        return self.table("paces")

    @property
    def snapshots(self) -> pl.DataFrame:
        """One row per link, virtual lane and chosen time: the buffer at its end, and its role.

        Raises:
            ResultsError: the scenario does not ask for it with `observe.snapshots`.

        """
        return self.table("snapshots")

    @property
    def frames_groups(self) -> pl.DataFrame:
        """One row per step of `observe.frames` and group: its rate and marks.

        Raises:
            ResultsError: the scenario does not ask for it with `observe.frames`.

        """
        return self.table("frames_groups")

    @property
    def spans(self) -> pl.DataFrame:
        """One row per period in which an output was root or branch of congestion.

        Raises:
            ResultsError: the scenario does not ask for it with `observe.spans`.

        """
        return self.table("spans")

    @property
    def queues(self) -> pl.DataFrame:
        """One row per output of a switch and virtual lane: the bytes that wait for it, over time.

        Raises:
            ResultsError: the scenario does not ask for it with `observe.queues`.

        """
        return self.table("queues")

    @property
    def completion(self) -> pl.DataFrame:
        """One row per group of flows: completion times and slowdowns of its messages.

        Raises:
            ResultsError: the scenario does not ask for it with `observe.messages`.

        """
        return self.table("completion")

    @property
    def completion_by_size(self) -> pl.DataFrame:
        """Completion times and slowdowns by size: up to 20 rows per group.

        Raises:
            ResultsError: the scenario does not ask for it with `observe.messages`.

        """
        return self.table("completion_by_size")

    @property
    def completion_times(self) -> pl.DataFrame:
        """Histogram of completion times: one row per group and range that has messages.

        Raises:
            ResultsError: the scenario does not ask for it with `observe.messages`.

        """
        return self.table("completion_times")

    @property
    def messages(self) -> pl.DataFrame:
        """One row per message: when it was posted, when it was delivered, its slowdown.

        Raises:
            ResultsError: the scenario does not ask for it with `observe.messages`.

        """
        return self.table("messages")

    @property
    def jobs(self) -> pl.DataFrame:
        """One row per job: its time, how much slower it is than alone, its bus bandwidth.

        Raises:
            ResultsError: the scenario does not ask for it with `jobs`.

        """
        return self.table("jobs")

    @property
    def ranks(self) -> pl.DataFrame:
        """One row per rank of each job: its end, its shares of computation and of waiting.

        Raises:
            ResultsError: the scenario does not ask for it with `jobs`.

        """
        return self.table("ranks")

    @property
    def ops(self) -> pl.DataFrame:
        """One row per operation of each rank: its start and end.

        Raises:
            ResultsError: the scenario does not ask for it with `jobs.record_ops`.

        """
        return self.table("ops")
