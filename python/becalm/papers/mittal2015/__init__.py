"""TIMELY: RTT-based Congestion Control for the Datacenter.

R. Mittal et al., SIGCOMM 2015. The original law has no fixed point, but the patched law has one. Both results
are from Y. Zhu, M. Ghobadi, V. Misra, J. Padhye, "ECN or Delay: Lessons Learnt from Analysis of DCQCN and
TIMELY", CoNEXT 2016. `becalm.theory.timely` derives them again.

All claims are derived from closed forms, with bounds set before the first run. No sentence of either paper is
quoted. [mittal2015/readings.md](mittal2015/readings.md) describes what the scenes omit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from becalm.lab.bottleneck import ONE_QUEUE, RECEIVER, Bottleneck, measure
from becalm.lab.figures import Bars, Law, Panel, Plot, simulated, single
from becalm.lab.model import Experiment, Outcome, Point, Table, Tables, grid
from becalm.lab.tables import at, select_rows
from becalm.theory import PatchedTimely

PHASE = "20 us"
"""Each flow starts up to a round trip later than stated."""

SCENE = Bottleneck(flows=2, rate=10.0, packet=1000, round_trip=20.0, response={}, arbiter=ONE_QUEUE)
PLAIN, PATCHED = "plain", "patched"
LAWS = (PLAIN, PATCHED)
WHOLE, TENTH = 1.0, 0.1
"""Common factors of `delta` and `beta`. They reduce the steps and keep the fixed point."""
DELTA, BETA = 0.001, 0.008
STARTS = {
    "5 + 5": (0.5, 0.5, 0.0),
    "7 + 3": (0.7, 0.3, 0.0),
    "9 + 1": (0.9, 0.1, 0.0),
    "10 + 10": (0.96, 0.96, 10.0),
}
"""Initial rates of both flows as shares of the link, and start of the second in ms, by name in Gb/s.

The largest rate of the law is 0.96 of the link.
"""


def timely(law: str, initial: float) -> Table:
    """Return the response with its defaults, and with an initial rate as a share of the link."""
    return {"timely": {"patched": law == PATCHED, "initial": initial}}


def _counts(short: bool) -> list[Point]:
    counts, times = ((2, 10), (200.0, 100.0)) if short else ((2, 10, 64), (500.0, 250.0))
    points = [Point({"flows": n, "steps": WHOLE}, _patched(n, *times)) for n in counts]
    if short:
        return points
    # A tenth of both steps needs ten times as long to settle.
    scene = _patched(64, 1200.0, 800.0)
    scene["response"]["timely"] |= {"delta": TENTH * DELTA, "beta": TENTH * BETA}
    return [*points, Point({"flows": 64, "steps": TENTH}, scene)]


def _patched(flows: int, duration: float, warmup: float) -> Table:
    """Return the scene with the patched law, from equal shares of the link. Times are in ms."""
    response = timely(PATCHED, 1 / flows)
    return replace(SCENE, flows=flows, response=response, duration=duration, warmup=warmup).scenario()


def _two_flows(short: bool, law: str, start: str) -> Table:
    first, second, later = STARTS[start]
    # The patched law needs about 100 ms to make shares equal.
    duration, warmup = (350.0, 225.0) if short else (700.0, 450.0)
    scene = replace(SCENE, duration=duration, warmup=warmup).scenario()
    flow = {"to": [RECEIVER]}
    scene["flows"] = [
        {"name": "first", "from": ["S1"], "response": timely(law, first), **flow},
        {"name": "second", "from": ["S2"], "response": timely(law, second), "start": f"{later:g} ms", **flow},
    ]
    # Every group has its own response.
    del scene["response"]
    return scene


def _measure(outcomes: Sequence[Outcome]) -> Tables:
    """Return the table of the bottleneck, with the rates of `first` and `second` in Gb/s."""
    rates = [[rate * 8e-9 for rate in outcome.results.groups["rate"].to_list()] for outcome in outcomes]
    columns = pl.DataFrame(rates, schema=["first", "second"], orient="row")
    return {"points": measure(outcomes)["points"].hstack(columns)}


def over_formula(tables: Tables, flows: int, steps: float) -> float:
    """Return the ratio of the mean round trip to RTT*."""
    return at(tables, "round_trip", flows=flows, steps=steps) / PatchedTimely(flows).round_trip


def unfair_starts(tables: Tables, law: str, below: float) -> float:
    """Return the number of starts that end with a fairness index below a bound."""
    return float((select_rows(tables["points"], {"law": law})["jain"] < below).sum())


def least_fair(tables: Tables, law: str) -> float:
    """Return the smallest fairness index of all starts."""
    return float(select_rows(tables["points"], {"law": law})["jain"].to_numpy().min())


EXPERIMENTS = [
    Experiment(
        "mittal2015/fixed_point",
        "Patched TIMELY: round trip by number of flows, simulated and by the closed form",
        cost=25,
        points=_counts,
        measure=measure,
        draw=single(
            Law("closed form", range(1, 69), lambda n: PatchedTimely(n).round_trip * 1e6),
            simulated(
                "flows",
                pl.col("round_trip") * 1e6,
                by="steps",
                names={WHOLE: "simulated", TENTH: "a tenth of both steps"},
            ),
            xlabel="flows",
            ylabel="round trip (us)",
            ylim=(0, None),
            below=3,
        ),
    ),
    Experiment(
        "mittal2015/starts",
        "TIMELY: final rates of two flows from four starts, plain and patched",
        cost=60,
        points=grid(_two_flows, law=LAWS, start=tuple(STARTS)),
        measure=_measure,
        draw=Plot(
            *(
                Panel(
                    Bars("start", {"first": "first flow", "second": "second flow"}, {"law": law}),
                    title=law,
                    xlabel="first rates (Gb/s)",
                    ylabel="final rate (Gb/s)" if law == PLAIN else "",
                    ylim=(0, 10),
                )
                for law in LAWS
            ),
            width=4.2,
            below=2,
        ),
    ),
]
"""The experiments on the fixed point of the patched law and on the influence of the start."""
