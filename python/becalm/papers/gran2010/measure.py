"""Tables of results on gran2010's test bed, in Gb/s of payload, and functions that read them."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from becalm.lab.model import Label, Outcome, Point, Tables
from becalm.lab.tables import at, labelled, mean
from becalm.papers.gran2010.scene import INTER_SWITCH, WIRE, Bed
from becalm.results import Results

CONTRIBUTORS = ("F2", "F3", "F4", "F5")
"""The flows of scenario 1 that cause the congestion."""

GBPS = 8e-9
"""Gb/s per B/s."""

WITHOUT = 0.04202744
"""Standard deviation of the paper's samples without congestion control, in Gb/s: Table II(a)."""

SETTLE = 0.2
"""Fraction of the time between two starts that is excluded from a phase's means."""


def point(bed: Bed, **labels: Label) -> Point:
    """Return a point of an experiment. The labels `interval` and `flows` identify the phases."""
    where: dict[str, Label] = {**labels, "interval": bed.interval, "active": len(bed.numbers)}
    return Point(where, bed.scenario_data())


def over_time(outcomes: Sequence[Outcome]) -> Tables:
    """Measure flows that are added one by one.

    `series` is Gb/s of payload over time, and `delays` contains the delays of the responses. `points`
    contains mean, standard deviation, minimum and maximum of the samples per flow and phase. Phase `n` has
    `n` flows. `links` and `buffers` contain means with all flows.
    """
    series = pl.concat([_series(outcome) for outcome in outcomes])
    return {
        "points": pl.concat([_phases(outcome) for outcome in outcomes]),
        "series": series,
        "delays": pl.concat([_delays(outcome) for outcome in outcomes]),
        "links": pl.concat([labelled(outcome.results.links, outcome) for outcome in outcomes]),
        "buffers": pl.concat([labelled(outcome.results.buffers, outcome) for outcome in outcomes]),
    }


def with_all_flows(outcomes: Sequence[Outcome]) -> Tables:
    """Return `points`: Gb/s of payload with all flows active and the contributors' variation, by run."""
    return {"points": pl.concat([_row(outcome) for outcome in outcomes], how="diagonal_relaxed")}


def _rates(results: Results) -> pl.DataFrame:
    """Return a table of time in s, flow or link, and Gb/s of payload."""
    gbps = (pl.col("rate") * (GBPS / WIRE)).alias("gbps")
    return results.series.select("time", pl.col("name").alias("flow"), gbps)


def _series(outcome: Outcome) -> pl.DataFrame:
    return labelled(_rates(outcome.results), outcome)


def _delays(outcome: Outcome) -> pl.DataFrame:
    paces = outcome.results.tables["paces"]
    chosen = paces.select("time", pl.col("group").alias("flow"), (pl.col("delay_mean") * 1e6).alias("us"))
    return labelled(chosen, outcome)


def _phases(outcome: Outcome) -> pl.DataFrame:
    interval, count = float(outcome.labels["interval"]), int(outcome.labels["active"])
    rates = _rates(outcome.results)
    delays = _delays(outcome).select("time", "flow", "us")
    step = float(rates["time"].unique().sort().to_list()[1])
    end = float(rates["time"].to_list()[-1])
    rows = []
    for phase in range(1, count + 1):
        low = (phase - 1 + SETTLE) * interval + step / 2
        high = phase * interval - step / 2 if phase < count else end - step / 2
        window = pl.col("time").is_between(low, high)
        samples = pl.col("gbps")
        summary = rates.filter(window).group_by("flow", maintain_order=True)
        table = summary.agg(
            samples.mean().alias("mean"),
            samples.std().alias("sd"),
            samples.min().alias("min"),
            samples.max().alias("max"),
        )
        waits = delays.filter(window).group_by("flow").agg(pl.col("us").max().alias("delay_max"))
        joined = table.join(waits, on="flow", how="left", maintain_order="left")
        rows.append(joined.with_columns(pl.lit(phase).alias("phase")))
    return labelled(pl.concat(rows), outcome)


def _row(outcome: Outcome) -> pl.DataFrame:
    groups = {row["group"]: row["rate"] * GBPS / WIRE for row in outcome.results.groups.iter_rows(named=True)}
    row: dict[str, Label] = {**outcome.labels, **groups, "waiting": _waiting(outcome.results)}
    if any(flow not in groups for flow in CONTRIBUTORS):
        return pl.DataFrame([row])
    rates = [groups[flow] for flow in CONTRIBUTORS]
    delta = _delta(outcome)
    row |= {
        "contributors": mean(rates),
        "sd": mean([float(value) for value in _deviations(outcome)]),
        "marked": sum(_marked(outcome.results, flow) for flow in CONTRIBUTORS),
        "var": float(delta.var()),  # type: ignore[arg-type]
        "delta": float(delta.mean()),  # type: ignore[arg-type]
    }
    return pl.DataFrame([row])


def _marked(results: Results, flow: str) -> int:
    """Return the number of a flow's marked packets, one BECN each."""
    return int(results.flows.filter(group=flow)["marked"].sum())


def _waiting(results: Results) -> float:
    """Return the mean number of packets in S2's input buffer that the flows from S1 share."""
    chosen = results.buffers.filter((pl.col("switch") == "S2") & (pl.col("peer") == "S1"))
    return float(chosen["mean_packets"].item())


def _tail(outcome: Outcome) -> pl.DataFrame:
    """Return the samples in which all flows are active, from window edge to window edge."""
    rates = _rates(outcome.results)
    step = float(rates["time"].unique().sort().to_list()[1])
    start = (int(outcome.labels["active"]) - 1) * float(outcome.labels["interval"])
    end = float(rates["time"].to_list()[-1])
    window = pl.col("time").is_between(start + step / 2, end - step / 2)
    return rates.filter(window & pl.col("flow").is_in(CONTRIBUTORS))


def _delta(outcome: Outcome) -> pl.Series:
    """Return the range of the contributors' throughput, sample by sample."""
    gbps = pl.col("gbps")
    spread = _tail(outcome).group_by("time").agg((gbps.max() - gbps.min()).alias("delta")).sort("time")
    return spread["delta"]


def _deviations(outcome: Outcome) -> list[float]:
    """Return the standard deviation of each contributor's samples."""
    table = _tail(outcome).group_by("flow").agg(pl.col("gbps").std().alias("sd")).sort("flow")
    return [float(value) for value in table["sd"].to_list()]


def rate(tables: Tables, flow: str, phase: int, column: str = "mean", **where: Label) -> float:
    """Return a flow's mean throughput in a phase in Gb/s, or another `column`."""
    return at(tables, column, flow=flow, phase=phase, **where)


def link(tables: Tables, phase: int, capacity: float, name: str = INTER_SWITCH, **where: Label) -> float:
    """Return a link's mean utilization in a phase. `capacity` is in Gb/s."""
    return at(tables, "mean", flow=name, phase=phase, **where) * WIRE / capacity
