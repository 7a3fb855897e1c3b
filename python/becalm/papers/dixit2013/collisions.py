"""A permutation between leaves, by the rule that chooses among equal uplinks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from becalm import theory
from becalm.lab.model import Experiment, Label, Outcome, Point, Tables
from becalm.lab.tables import at
from becalm.papers.dixit2013.scene import ACK, LAWS, PACKET, Table, clos, with_acks
from becalm.plot import COLOURS, MARKERS, curves, figure, legend

if TYPE_CHECKING:
    from matplotlib.figure import Figure

UPLINKS = (2, 4, 8, 16)
HOSTS, FEWER = 256, 32
"""Numbers of hosts, with hashing and otherwise. Hashing needs a mean over many groups of flows."""
DRAWS = 60
"""Runs with hashed flows for each seed.

The share of n uplinks that n flows use has a standard deviation of 0.25, 0.161, 0.112 and 0.079 for n = 2, 4,
8 and 16. With 60 runs of 256 hosts and five seeds, there are 38400, 19200, 9600 and 4800 groups. The relative
error of the mean is 0.17 to 0.18%, and the 95% confidence interval over five seeds is half a percent on
either side. The tolerance is 1%.
"""
ACKS = "packet, ACKs"
"""Spraying with an ACK for each packet, in a separate traffic class."""
RUNS: dict[str, str] = {law: law for law in LAWS} | {ACKS: "packet"}
"""Rules of choice by the names of the runs."""
SHORT = ("flow", "packet")


def experiments() -> list[Experiment]:
    """Return the experiment on the hosts' shares, by the number of uplinks and by the rule."""
    return [
        Experiment(
            "dixit2013/collisions",
            "A permutation's share of its links, by the number of equal uplinks",
            cost=60,
            points=_points,
            measure=_measure,
            draw=_draw,
            # A start spread of a dozen packet times allows many short runs.
            phase="2 us",
        )
    ]


def _points(short: bool) -> list[Point]:
    uplinks, runs = ((2, 8), SHORT) if short else (UPLINKS, tuple(RUNS))
    return [
        Point({"uplinks": n, "paths": run}, _permutation(n, run), draw)
        for n in uplinks
        for run in runs
        for draw in range(DRAWS if run == "flow" and not short else 1)
    ]


def _permutation(uplinks: int, run: str) -> Table:
    """Return the scene in which every host sends to the host in the same position on the next leaf.

    At full load, the queues of random arrivals grow as the square root of time, and queued packets do not
    count as delivered. Runs with sprayed packets are therefore longer. Hashed flows have their final rates
    once all have started.
    """
    hashed = run == "flow"
    leaves = max(2, (HOSTS if hashed else FEWER) // uplinks)
    end, warmup = ("25 us", "5 us") if hashed else ("2500 us", "500 us")
    scene = clos(leaves, uplinks, RUNS[run]) | {
        "run": {"duration": end, "warmup": warmup},
        "flows": [{"name": "flows", "from": ["*"], "pattern": {"shift": {"by": uplinks}}}],
        "observe": {"links": []},
    }
    return with_acks(scene) if run == ACKS else scene


def _measure(outcomes: Sequence[Outcome]) -> Tables:
    """Return `points`: means over the runs of the hosts' link shares and of packets out of order."""
    rows = pl.DataFrame([_point(outcome) for outcome in outcomes])
    means = pl.col("share", "early").mean(), pl.col("least").min()
    return {"points": rows.group_by("uplinks", "paths", maintain_order=True).agg(*means)}


def _point(outcome: Outcome) -> dict[str, Label]:
    flows = outcome.results.flows
    shares = flows["share"].to_numpy()
    early = float(flows["out_of_order"].to_numpy().sum() / flows["delivered_packets"].to_numpy().sum())
    return {**outcome.labels, "share": float(np.mean(shares)), "least": float(np.min(shares)), "early": early}


def over_closed_form(tables: Tables, uplinks: int) -> float:
    """Return the ratio of the hosts' share with hashed flows to 1 - (1 - 1/n)^n."""
    return at(tables, "share", uplinks=uplinks, paths="flow") / theory.used_paths(uplinks)


def beside_acks(tables: Tables, uplinks: int) -> float:
    """Return the ratio of the hosts' share to the share that ACKs, one per packet, leave of a link."""
    return at(tables, "share", uplinks=uplinks, paths=ACKS) / (PACKET / (PACKET + ACK))


def _draw(tables: Tables) -> Figure:
    made, axes = figure()
    counts = np.arange(2, 17)
    closed = [theory.used_paths(int(n)) for n in counts]
    axes.plot(counts, closed, color="black", linestyle="--", label="1 - (1 - 1/n)^n")
    for run, colour, marker in zip(RUNS, COLOURS, MARKERS, strict=False):
        points = tables["points"].filter(pl.col("paths") == run)
        if points.height:
            curves(axes, points, x="uplinks", y="share", color=colour, marker=marker, label=run)
    axes.set(xlabel="equal uplinks", ylabel="share of the hosts' links", ylim=(0, 1.05))
    legend(made, axes, below=3)
    return made
