"""Fig. 2 to 4 of santos2003, and the preceding thought experiment: the effect of congestion on a victim."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from becalm.lab.dumbbell import NO_CONTROL, ONE_PACKET, Dumbbell, fixed
from becalm.lab.model import Experiment, Point, Tables
from becalm.papers.common import marking, spreading
from becalm.papers.common.draw import rates_over_time
from becalm.papers.common.marking import INPUT_TRIGGERED, VICTIM_MS
from becalm.papers.common.measure import during, with_series

FREE = Dumbbell(local=5, remote=1, response=NO_CONTROL)
WINDOW = Dumbbell(local=5, remote=1, response=ONE_PACKET)
CROWD = Dumbbell(local=5, remote=5, response=ONE_PACKET)


def experiments() -> list[Experiment]:
    """Return Fig. 2 to 4, and the remarks that precede them."""
    return [
        _fig2(),
        _paced(),
        _window(),
        _fig3a(),
        _fig3b(),
        _fig3c(),
        _fig3d(),
        _fig4a(),
        _fig4b(),
    ]


def _fig2() -> Experiment:
    return Experiment(
        "santos2003/fig2",
        "Congestion spreading with 5 local flows and 1 remote flow, no congestion control",
        cost=1,
        points=lambda _: [Point({"run": "none"}, FREE.scenario())],
        measure=with_series,
        draw=rates_over_time("No congestion control", run="none"),
    )


def _paced() -> Experiment:
    """Return the thought experiment of section III, on which the scheme is based."""
    sixth = {"fixed": {"rate": 1 / 6, "window": "unlimited"}}
    return Experiment(
        "santos2003/paced",
        "Gain of the victim if the other flows send at 1/6 of the link",
        cost=1,
        points=lambda _: [
            Point({"run": "remote"}, replace(FREE, remote_response=sixth).scenario()),
            Point({"run": "all"}, replace(FREE, response=sixth, victim_response=NO_CONTROL).scenario()),
        ],
        measure=with_series,
        draw=rates_over_time("Local and remote flows at 1/6 of the link", run="all"),
    )


def _window() -> Experiment:
    """Return the experiment of section IV-B on a single flow."""

    def alone(window: int) -> Point:
        scene = Dumbbell(
            local=0, remote=1, response={"none": {"window": window}}, victim=None, duration=20, warmup=2
        )
        return Point({"window": window}, scene.scenario())

    return Experiment(
        "santos2003/window",
        "Utilization of an empty path with windows of one and of two packets",
        cost=0.2,
        points=lambda _: [alone(window) for window in (1, 2)],
        measure=with_series,
        draw=rates_over_time("One flow, window of one packet", window=1),
    )


def _fig3a() -> Experiment:
    return Experiment(
        "santos2003/fig3a",
        "1 remote flow, no window limit (the same as Fig. 2)",
        cost=0.5,
        points=lambda _: [Point({"run": "none"}, FREE.scenario())],
        measure=with_series,
        draw=rates_over_time("L = 5, R = 1, no window limit", run="none"),
    )


def _fig3b() -> Experiment:
    return Experiment(
        "santos2003/fig3b",
        "1 remote flow, window of one packet",
        cost=0.5,
        points=lambda _: [Point({"run": "window"}, WINDOW.scenario())],
        measure=with_series,
        draw=rates_over_time("L = 5, R = 1, window of one packet", run="window"),
    )


def victim_takes_the_rest(tables: Tables) -> float:
    """Return the ratio of the victim's rate to the capacity that the remote flow leaves."""
    return spreading.victim(tables, "window") / (
        1 - during(tables, "group", "remote", VICTIM_MS, run="window")
    )


def _fig3c() -> Experiment:
    return Experiment(
        "santos2003/fig3c",
        "5 remote flows, window of one packet",
        cost=0.5,
        points=lambda _: [Point({"run": "window"}, CROWD.scenario())],
        measure=with_series,
        draw=rates_over_time("L = 5, R = 5, window of one packet", run="window"),
    )


def _fig3d() -> Experiment:
    optimal = replace(CROWD, response=fixed(1 / 10), victim_response=fixed(1 / 2))
    return Experiment(
        "santos2003/fig3d",
        "5 remote flows, window of one packet and rates set by hand",
        cost=1,
        points=lambda _: [
            Point({"run": "optimal"}, optimal.scenario()),
            Point({"run": "window"}, CROWD.scenario()),
        ],
        measure=with_series,
        draw=rates_over_time("L = 5, R = 5, optimal rate limits", run="optimal"),
    )


def extremes(tables: Tables) -> list[float]:
    """Return the smallest and largest rate among the local and remote flows at their optimal rate limits."""
    chosen = tables["flows"].filter((pl.col("run") == "optimal") & (pl.col("group") != "victim"))
    shares = chosen["share"].to_list()
    return [min(shares), max(shares)]


def _fig4a() -> Experiment:
    return Experiment(
        "santos2003/fig4a",
        "Naive marking, buffer of 4 packets",
        cost=0.5,
        points=lambda _: marking.points("naive"),
        measure=with_series,
        draw=rates_over_time("Marking packets in a full buffer", marking="naive"),
    )


def _fig4b() -> Experiment:
    return Experiment(
        "santos2003/fig4b",
        "Input-triggered marking, buffer of 4 packets",
        cost=1,
        points=lambda _: [*marking.points("naive", "input"), marking.fair_state("fair", INPUT_TRIGGERED, 4)],
        measure=with_series,
        draw=rates_over_time("Marking all packets that generate congestion", marking="input"),
    )
