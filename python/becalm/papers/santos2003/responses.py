"""santos2003, sections IV-B, V and VI-B.2: effects of single marks, and of a change of demand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import polars as pl

from becalm.lab.dumbbell import ONE_PACKET, ROOT, Dumbbell, fixed
from becalm.lab.model import Experiment, Outcome, Point, Table, Tables, grid
from becalm.lab.tables import at, select_rows
from becalm.papers.common.draw import bars
from becalm.papers.common.marking import INPUT_TRIGGERED
from becalm.papers.common.measure import summary, with_series
from becalm.papers.santos2003 import curves
from becalm.papers.santos2003.dynamic import scene
from becalm.papers.santos2003.remarks import chain
from becalm.papers.santos2003.static import RESPONSES

SHARING = (2, 5, 10, 20)
"""Numbers of flows at one link. The optimal rate of each is the inverse."""
FACTORS = (4.0, 2.0, 1.25)
"""Decrease factors m of FIMD, from large steps to small ones."""
PART = (0.5, 0.8, 0.9)
"""Rates of the flows as shares of the optimal rate."""
STOP_MS = 60
"""Time at which all but two flows stop."""
RECLAIMED = 0.9
"""Utilization at which the root link counts as reclaimed: the papers call utilization above 90% high."""


def _marked_once(_: bool, response: str, sharing: int) -> Table:
    """Return a scene with one flow at its share of a link, all of whose packets are marked."""
    flow = Dumbbell(
        local=0,
        remote=1,
        marking={"random": {"probability": 1.0}},
        response={response: {"initial": 1 / sharing}},
        victim=None,
        duration=0.5,
        warmup=0,
        step=0.001,
        window=0.01,
    ).scenario()
    return {**flow, "observe": {**flow["observe"], "paces": True}}


def _steps(outcomes: list[Outcome]) -> Tables:
    """Return `points`: the rate limit after the first mark, by response and number of flows."""
    rows = []
    for outcome in outcomes:
        gaps = outcome.results.paces.sort("time")["gap_mean"].to_numpy()
        after = 1 / (1 + gaps[np.flatnonzero(gaps > gaps[0] + 1e-9)[0]])
        before = 1 / float(outcome.labels["sharing"])
        rows.append({**outcome.labels, "after": float(after), "step": float(before - after)})
    return {"points": pl.DataFrame(rows)}


def after_one_mark(tables: Tables, response: str) -> list[float]:
    """Return the rate after a mark relative to the optimal rate of one more flow, by number of flows."""
    return [at(tables, "after", response=response, sharing=n) * (n + 1) for n in SHARING]


def step_to_multiplicative(tables: Tables, response: str) -> list[float]:
    """Return the ratio of a response's step to FIMD's, at rates of 1/5, 1/10 and 1/20."""
    return [
        at(tables, "step", response=response, sharing=n) / at(tables, "step", response="fimd", sharing=n)
        for n in SHARING[1:]
    ]


def _demand(_: bool, response: str) -> Table:
    scene = Dumbbell(marking=INPUT_TRIGGERED, response={response: {}}, victim=None, duration=200, window=1)
    data = scene.scenario()
    flows = []
    for flow in data["flows"]:
        host = flow["from"][0][0]
        stays = {**flow, "name": f"{flow['name']} that stays", "from": [f"{host}1"]}
        leaves = {**flow, "name": f"{flow['name']} that leaves", "from": [f"{host}2..{host}10"]}
        flows += [stays, {**leaves, "stop": f"{STOP_MS} ms"}]
    return {**data, "flows": flows}


def reclaimed(tables: Tables, response: str) -> float:
    """Return the ms after most flows have stopped until the root link is highly utilized again."""
    where = {"kind": "link", "name": ROOT, "response": response}
    table = select_rows(tables["series"], where).filter(pl.col("time") > (STOP_MS + 1) * 1e-3).sort("time")
    times = table.filter(pl.col("share") >= RECLAIMED)["time"]
    return float(times[0]) * 1e3 - STOP_MS if len(times) else float("inf")


def slower_than_fimd(tables: Tables) -> list[float]:
    """Return the times to reclaim the link of LIPD and AIMD, each minus FIMD's, in ms."""
    return [reclaimed(tables, response) - reclaimed(tables, "fimd") for response in ("lipd", "aimd")]


def _factor(short: bool, m: float) -> Table:
    busy = scene(2.0, short, "fimd", persistent=True, static=0)
    return replace(busy, response={"fimd": {"m": m}}).scenario()


def _deaf(short: bool, mean_on: float, dynamic: str) -> Table:
    """Return Fig. 7(a) without persistence; the dynamic flows obey marks, or ignore them."""
    made = scene(mean_on, short, "lipd", persistent=False, static=5)
    length = min(made.duration, 350.0 if short else math.inf)
    data = replace(made, duration=length, victim=(40, length)).scenario()
    if dynamic == "obeys":
        return data
    flows = [
        {**flow, "response": ONE_PACKET} if "dynamic" in flow["name"] else flow for flow in data["flows"]
    ]
    return {**data, "flows": flows}


def impact_of_marks(tables: Tables, mean_on: float) -> float:
    """Return the rate of dynamic flows that obey marks relative to that of flows that ignore them."""
    return at(tables, "dynamic", mean_on=mean_on, dynamic_flows="obeys") / at(
        tables, "dynamic", mean_on=mean_on, dynamic_flows="ignores"
    )


def _partly(_: bool, rate: float) -> Table:
    """Return Fig. 3(d) with the flows at a share of their optimal rate; 0: only a window of one packet."""
    response = fixed(rate / 10) if rate else ONE_PACKET
    return Dumbbell(local=5, remote=5, response=response, victim_response=ONE_PACKET).scenario()


def _limit_points(short: bool) -> list[Point]:
    near = Dumbbell(local=0, remote=1, victim=None, duration=20, warmup=4)
    points = [
        Point({"path": "far", "by": "window", "limit": window}, chain(short, window)) for window in (1, 2, 3)
    ]
    points += [
        Point(
            {"path": "near", "by": "window", "limit": window},
            replace(near, response={"none": {"window": window}}).scenario(),
        )
        for window in (1, 2, 3)
    ]
    lowest = replace(near, response=fixed(curves.RMIN), duration=100)
    return [*points, Point({"path": "near", "by": "rate", "limit": 1}, lowest.scenario())]


def _limits(outcomes: list[Outcome]) -> Tables:
    """Return `points`: the share of the link that a flow gets by its limit."""
    rows = [{**each.labels, "share": float(each.results.flows["share"][0])} for each in outcomes]
    return {"points": pl.DataFrame(rows)}


def product_bytes(tables: Tables, path: str) -> float:
    """Return the bandwidth-delay product in bytes: what the link could send in a round trip.

    The transmission time of the packet itself does not count.
    """
    return (1 / at(tables, "share", path=path, by="window", limit=1) - 1) * 2068


def gain_of_third_packet(tables: Tables, path: str) -> float:
    """Return the utilization with a window of three packets minus that with two."""
    two, three = (at(tables, "share", path=path, by="window", limit=window) for window in (2, 3))
    return three - two


EXPERIMENTS = [
    Experiment(
        "santos2003/steps",
        "The rate limit of a flow after one mark",
        cost=0.5,
        points=grid(_marked_once, response=RESPONSES, sharing=SHARING),
        measure=_steps,
        draw=bars("sharing", "after", "rate after a mark"),
    ),
    Experiment(
        "santos2003/demand",
        "18 of 20 flows stop: the time until the others use the root link again",
        cost=2,
        points=grid(_demand, response=RESPONSES),
        measure=with_series,
        draw=bars("response", "root", "root link utilization"),
    ),
    Experiment(
        "santos2003/factor",
        "Flows that come and go, FIMD with decrease factors from 4 to 1.25",
        cost=4,
        points=grid(_factor, m=FACTORS),
        measure=summary,
        draw=bars("m", "root", "root link utilization"),
    ),
    Experiment(
        "santos2003/ignored",
        "Dynamic flows that obey marks, and that ignore them, Fig. 7(a) without persistence",
        cost=8,
        points=lambda short: [
            Point({"mean_on": mean_on, "dynamic_flows": how}, _deaf(short, mean_on, how))
            for mean_on in (0.02, 0.05, 20.0)
            for how in ("obeys", "ignores")
        ],
        measure=summary,
        draw=bars("mean_on", "dynamic", "rate of the dynamic flows"),
    ),
    Experiment(
        "santos2003/less_than_one",
        "5 local and 5 remote flows below their optimal rates, with 4 slots",
        cost=0.5,
        points=grid(_partly, rate=(0.0, *PART)),
        measure=summary,
        draw=bars("rate", "inter_switch_stalled", "blocked share of the inter-switch link"),
    ),
    Experiment(
        "santos2003/limits",
        "One flow by its window or rate limit, on the path of Fig. 1 and across 32 switches",
        cost=0.5,
        points=_limit_points,
        measure=_limits,
        draw=bars("limit", "share", "share of the link"),
        phase="",
        seeded=False,
    ),
]
"""The experiments on single marks, demand, decrease factors and limits."""
