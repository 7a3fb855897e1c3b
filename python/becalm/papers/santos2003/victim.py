"""Fig. 2 to 4 of santos2003, and the preceding thought experiment: the effect of congestion on a victim."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from becalm.lab.dumbbell import NO_CONTROL, ONE_PACKET, Dumbbell
from becalm.lab.model import Point, Table, Tables
from becalm.papers.common import marking
from becalm.papers.common.draw import over_time, runs
from becalm.papers.common.marking import INPUT_TRIGGERED
from becalm.papers.common.measure import VICTIM_MS, during, victim


def scheduled(rate: float) -> Table:
    """Return a fixed rate limit whose packets have times in a schedule, with a window of one packet."""
    return {"fixed": {"rate": rate, "window": 1, "pacing": "schedule"}}


FREE = Dumbbell(local=5, remote=1, response=NO_CONTROL)
WINDOW = Dumbbell(local=5, remote=1, response=ONE_PACKET)
CROWD = Dumbbell(local=5, remote=5, response=ONE_PACKET)
OPTIMAL = replace(CROWD, response=scheduled(1 / 10), victim_response=scheduled(1 / 2))
SIXTH = {"fixed": {"rate": 1 / 6, "window": "unlimited"}}


def _alone(window: int) -> Point:
    scene = Dumbbell(
        local=0, remote=1, response={"none": {"window": window}}, victim=None, duration=20, warmup=2
    )
    return Point({"window": window}, scene.scenario())


def victim_takes_the_rest(tables: Tables) -> float:
    """Return the ratio of the victim's rate to the capacity that the remote flow leaves."""
    return victim(tables, run="window") / (1 - during(tables, "group", "remote", VICTIM_MS, run="window"))


def extremes(tables: Tables) -> list[float]:
    """Return the smallest and largest rate among the local and remote flows at their optimal rate limits."""
    chosen = tables["flows"].filter((pl.col("run") == "optimal") & (pl.col("group") != "victim"))
    shares = chosen["share"].to_list()
    return [min(shares), max(shares)]


EXPERIMENTS = [
    over_time(
        "santos2003/fig2",
        "Congestion spreading with 5 local flows and 1 remote flow, no congestion control",
        1,
        runs(none=FREE),
        "No congestion control",
        run="none",
    ),
    over_time(
        "santos2003/paced",
        "Gain of the victim if the other flows send at 1/6 of the link",
        1,
        runs(
            remote=replace(FREE, remote_response=SIXTH),
            all=replace(FREE, response=SIXTH, victim_response=NO_CONTROL),
        ),
        "Local and remote flows at 1/6 of the link",
        run="all",
    ),
    over_time(
        "santos2003/window",
        "Utilization of an empty path with windows of one and of two packets",
        0.2,
        [_alone(window) for window in (1, 2)],
        "One flow, window of one packet",
        window=1,
    ),
    over_time(
        "santos2003/fig3a",
        "1 remote flow, no window limit (the same as Fig. 2)",
        0.5,
        runs(none=FREE),
        "L = 5, R = 1, no window limit",
        run="none",
    ),
    over_time(
        "santos2003/fig3b",
        "1 remote flow, window of one packet",
        0.5,
        runs(window=WINDOW),
        "L = 5, R = 1, window of one packet",
        run="window",
    ),
    over_time(
        "santos2003/fig3c",
        "5 remote flows, window of one packet",
        0.5,
        runs(window=CROWD),
        "L = 5, R = 5, window of one packet",
        run="window",
    ),
    over_time(
        "santos2003/fig3d",
        "5 remote flows, window of one packet and rates set by hand",
        1,
        runs(optimal=OPTIMAL, window=CROWD),
        "L = 5, R = 5, optimal rate limits",
        run="optimal",
    ),
    over_time(
        "santos2003/fig4a",
        "Naive marking, buffer of 4 packets",
        0.5,
        marking.points("naive"),
        "Marking packets in a full buffer",
        marking="naive",
    ),
    over_time(
        "santos2003/fig4b",
        "Input-triggered marking, buffer of 4 packets",
        1,
        [*marking.points("naive", "input"), marking.fair_state("fair", INPUT_TRIGGERED, 4)],
        "Marking all packets that generate congestion",
        marking="input",
    ),
]
"""Fig. 2, section III's thought experiment, section IV-B's single flow, and Fig. 3 and 4."""
