"""Pauses by fan-in: n hosts send continuously to one host through one switch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from becalm.lab.model import Experiment, Outcome, Point, Tables
from becalm.lab.tables import at, mean
from becalm.plot import COLOURS, figure, legend
from becalm.plot.lines import simulated
from becalm.quantities import seconds

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SENDERS = (1, 2, 4, 8, 16)


def experiment() -> Experiment:
    """Return the experiment on pauses and the paused share of a sender's link by the number of senders."""
    return Experiment(
        "pfc/fan_in",
        "Pauses of a sender by fan-in",
        cost=6,
        points=lambda short: [Point({"senders": n}, scenario(n, short)) for n in SENDERS],
        measure=measure,
        draw=_draw,
    )


def scenario(senders: int, short: bool) -> dict[str, Any]:
    """Return the scene, with links of 100 Gb/s and 100 m, and XOFF at 64 KiB."""
    names = f"S1..S{senders}"
    edges = {"hosts": [names, "R"], "switches": ["T"], "rate": "100 Gb/s", "delay": "500 ns"}
    return {
        "run": {"duration": "2 ms" if short else "10 ms", "warmup": "500 us"},
        "topology": {"edges": {**edges, "cables": [{"between": [names, "T"]}, {"between": ["T", "R"]}]}},
        "packet": {"mtu": "1024 B", "header": "82 B", "ack": "84 B", "cnp": "84 B"},
        "switch": {"buffer": "64 KiB", "flow_control": {"pfc": {}}},
        "flows": [{"name": "incast", "from": [names], "to": ["R"]}],
    }


def measure(outcomes: list[Outcome]) -> Tables:
    """Return `points`: senders' mean paused share and pauses per second, and the receiver's utilization."""
    return {"points": pl.DataFrame([_point(outcome) for outcome in outcomes])}


def _point(outcome: Outcome) -> dict[str, Any]:
    results = outcome.results
    pauses = results.tables["pauses"].filter(pl.col("from").str.starts_with("S"))
    link = results.links.filter((pl.col("from") == "T") & (pl.col("to") == "R"))
    run = results.scenario.resolved["run"]
    counts = [float(count) for count in pauses["pauses"].to_list()]
    return {
        **outcome.labels,
        "paused_share": mean(pauses["paused_share"].to_list()),
        "per_second": mean(counts) / (seconds(run["duration"]) - seconds(run["warmup"])),
        "pauses": sum(counts),
        "utilization": link["utilization"].item(),
    }


def paused_over_law(tables: Tables, senders: int) -> float:
    """Return the ratio of a sender's paused share to 1 - 1/n. It sends at full rate or not at all."""
    return at(tables, "paused_share", senders=senders) / (1 - 1 / senders)


def _draw(tables: Tables) -> Figure:
    made, axes = figure()
    counts = range(1, SENDERS[-1] + 1)
    axes.plot(counts, [1 - 1 / n for n in counts], color=COLOURS[0], label="1 - 1/n")
    simulated(axes, tables["points"], x="senders", y="paused_share")
    axes.set(xlabel="senders n", ylabel="share of the time in which a sender is paused", ylim=(0, 1))
    legend(made, axes, below=3)
    return made
