"""Power, fairness and windows over time from results. Times are in units, for packets of mean size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from becalm import theory
from becalm.lab.model import Label, Outcome, Tables
from becalm.lab.tables import labelled, select_rows
from becalm.papers.ramakrishnan1990.scene import PACKET, REST

Array: TypeAlias = NDArray[np.float64]

UNIT = 1e-6
"""Seconds of a unit."""


def with_windows(outcomes: Sequence[Outcome]) -> Tables:
    """Return `points`, one row per run, and `windows`: the window of each user over time."""
    return {**summary(outcomes), "windows": pl.concat([_windows(outcome) for outcome in outcomes])}


def summary(outcomes: Sequence[Outcome], rest: float = REST) -> Tables:
    """Return only `points`, sufficient for a sweep. `rest` is the return delay of an acknowledgement."""
    return {"points": pl.DataFrame([_point(outcome, rest) for outcome in outcomes])}


def _point(outcome: Outcome, rest: float) -> dict[str, Label]:
    """Return means over the measured time: throughput in packets per unit, response time, global power."""
    flows = outcome.results.flows
    throughput = float(flows["rate"].to_numpy().sum()) / PACKET * UNIT
    packets = flows["messages"].to_numpy()
    one_way = float(flows["latency_mean"].to_numpy() @ packets / packets.sum()) / UNIT
    return {
        **outcome.labels,
        "throughput": throughput,
        "response": one_way + rest,
        "power": theory.power(throughput, one_way + rest),
        "jain": theory.jain(flows["rate"].to_numpy()),
        "marked": float(flows["marked"].to_numpy().sum() / flows["delivered_packets"].to_numpy().sum()),
    }


def _windows(outcome: Outcome) -> pl.DataFrame:
    """Return `time` in units, `user`, `window` while that user's packets arrive, and the run's labels."""
    results = outcome.results
    rates = results.series.filter(pl.col("kind") == "group").rename({"name": "group"})
    active = rates.filter(pl.col("rate") > 0).group_by("group").agg(first=pl.min("time"), last=pl.max("time"))
    paces = results.paces.join(active, on="group", maintain_order="left")
    paces = paces.filter(pl.col("time").is_between(pl.col("first"), pl.col("last")))
    paces = paces.select(time=pl.col("time") / UNIT, user=pl.col("group"), window=pl.col("window_mean"))
    return labelled(paces, outcome)


def stretch(tables: Tables, start: float, end: float, user: str | None = None, **where: Label) -> Array:
    """Return a user's windows from `start` to `end` in chronological order, or the sum of all users'."""
    table = select_rows(tables["windows"], where).filter(pl.col("time").is_between(start, end))
    if user is not None:
        table = table.filter(pl.col("user") == user)
    values = table.group_by("time").agg(pl.col("window").sum()).sort("time")["window"].to_numpy()
    if not len(values):
        raise LookupError(f"no windows of {user or 'any user'} from {start} to {end} with {where}")
    return np.asarray(values, dtype=np.float64)


def activity(tables: Tables, user: str, **where: Label) -> tuple[float, float]:
    """Return the times of a user's first and last arrival, to within a sampling step."""
    table = select_rows(tables["windows"], {"user": user, **where})
    times = table["time"].to_numpy()
    return float(times.min()), float(times.max())


def swing(windows: Array) -> float:
    """Return the range of the windows."""
    return float(windows.max() - windows.min())
