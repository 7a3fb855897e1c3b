"""Numbers from a run, in SI units, for the comparisons of entries.

A measure is a function of results and of options from the quantity's table. It returns a number or, for a
distribution, all samples.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import polars as pl

from becalm.results import Results

Measured = float | list[float]
Measure = Callable[..., Measured]
MEASURES: dict[str, Measure] = {}
"""Measures by name."""


def _measure(function: Measure) -> Measure:
    MEASURES[function.__name__] = function
    return function


def _number(value: Any) -> float:  # noqa: ANN401
    return float("nan") if value is None else float(value)


def _rows(results: Results, table: str, **where: str | int | None) -> pl.DataFrame:
    """Return the rows of a table with these values; None stands for any value."""
    return results.table(table).filter(**{name: value for name, value in where.items() if value is not None})


def _times(results: Results, group: str | None, until: str, below: float | None = None) -> pl.Series:
    """Return the times from messages' posting until `until`: `delivered` or `acknowledged` [s]."""
    messages = _rows(results, "messages", group=group)
    chosen = messages if below is None else messages.filter(pl.col("bytes") <= below)
    return chosen.select(time=pl.col(until) - pl.col("posted"))["time"]


@_measure
def completion_mean(results: Results, group: str | None = None, until: str = "acknowledged") -> float:
    """Mean completion time of messages [s]."""
    return _number(_times(results, group, until).mean())


@_measure
def completion_max(results: Results, group: str | None = None, until: str = "acknowledged") -> float:
    """Largest completion time of messages [s]."""
    return _number(_times(results, group, until).max())


@_measure
def completion_at(
    results: Results, at: float, group: str | None = None, until: str = "acknowledged"
) -> float:
    """Quantile `at` of the completion times of messages [s]."""
    return _number(_times(results, group, until).quantile(at, "linear"))


@_measure
def completions(
    results: Results, group: str | None = None, until: str = "acknowledged", below: float | None = None
) -> list[float]:
    """Completion times of all messages, or of messages up to a size [s]."""
    return _times(results, group, until, below).to_list()


def _link(results: Results, table: str, sender: str, receiver: str) -> pl.DataFrame:
    return _rows(results, table, **{"from": sender, "to": receiver})


@_measure
def queue_mean(results: Results, sender: str, receiver: str) -> float:
    """Mean number of bytes waiting for a link [B]."""
    return _number(_link(results, "queues", sender, receiver)["mean"].sum())


@_measure
def queue_max(results: Results, sender: str, receiver: str) -> float:
    """Largest number of bytes waiting for a link [B]."""
    return _number(_link(results, "queues", sender, receiver)["max"].max())


@_measure
def pauses(results: Results) -> float:
    """Number of pauses of all links."""
    return _number(results.table("pauses")["pauses"].sum())


@_measure
def headroom(results: Results, sender: str, receiver: str) -> float:
    """Largest number of bytes in a buffer above XOFF [B]."""
    return _number(_link(results, "pauses", sender, receiver)["headroom"].max())


@_measure
def job_time(results: Results, job: str | None = None) -> float:
    """Time of a job, or of the longest one [s]."""
    return _number(_rows(results, "jobs", job=job)["time"].max())


@_measure
def rank_end(results: Results, rank: int) -> float:
    """End of a rank's last operation [s]."""
    return _number(_rows(results, "ranks", rank=rank)["end"].max())


@_measure
def latency_mean(results: Results, group: str | None = None) -> float:
    """Mean latency of all delivered packets, equally weighted [s]."""
    flows = _rows(results, "flows", group=group).filter(pl.col("delivered_packets") > 0)
    total = _number((flows["latency_mean"] * flows["delivered_packets"]).sum())
    return total / _number(flows["delivered_packets"].sum())


@_measure
def wait_mean(results: Results, group: str, links: Sequence[float]) -> float:
    """Mean latency of a group's packets less their transmission times on links of these rates [Gb/s] [s]."""
    flows = _rows(results, "flows", group=group)
    size = _number(flows["delivered_bytes"].sum()) / _number(flows["delivered_packets"].sum())
    latency = _number((flows["latency_mean"] * flows["delivered_packets"]).sum())
    latency /= _number(flows["delivered_packets"].sum())
    return latency - sum(8 * size / (rate * 1e9) for rate in links)


@_measure
def deadlocks(results: Results) -> float:
    """Number of deadlocks: 0 for a run with results, since a deadlock ends a run; see `run.check`."""
    del results
    return 0.0


@_measure
def accepted(results: Results) -> float:
    """Mean over sending hosts of delivered bytes, relative to the capacity of the host's link."""
    return _number(results.table("groups")["share"].sum()) / results.table("flows")["source"].n_unique()


@_measure
def rate(results: Results, group: str | None = None) -> float:
    """Total rate of a group's flows [B/s]."""
    return _number(_rows(results, "groups", group=group)["rate"].sum())


@_measure
def share_of(results: Results, group: str) -> float:
    """Rate of a group's flows, relative to that of all flows."""
    groups = results.table("groups")
    return _number(groups.filter(group=group)["rate"].sum()) / _number(groups["rate"].sum())


@_measure
def jain(results: Results, group: str | None = None) -> float:
    """Jain's index of a group's flows."""
    return _number(_rows(results, "groups", group=group)["jain"].mean())
