"""santos2002: the footnotes on marking, which no figure shows."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from becalm.lab.dumbbell import FOUR_BYPASSES, Dumbbell
from becalm.lab.figures import Curves, single
from becalm.lab.model import Experiment, Outcome, Point, Table, Tables, grid
from becalm.lab.tables import at, curve, only
from becalm.papers.common.draw import SHARE, bars, rates_over_time
from becalm.papers.common.marking import INPUT_TRIGGERED, NAIVE, fair_state, output_triggered
from becalm.papers.common.measure import summary, with_series

SMALL, LARGE = 4, 10
"""Buffer sizes in slots: the paper's, and the largest in Fig. 4 that ten flows and a victim can fill."""
HEADROOM = {SMALL: (0, 1, 2, 3), LARGE: (0, 2, 4, 6)}
"""Numbers of free slots with which a buffer counts as full."""
RECENTLY = "20 us"
"""About ten packet times."""
LONG = 8
"""Output threshold of Fig. 3(d), in packets."""
SIZES = (4, 6, 8, 10)
"""Buffer sizes in slots, up to the largest in Fig. 4 that ten flows and a victim can fill."""
FLOWS = 10
"""Flows per switch that congest the far end of the row."""


def _headroom_points(short: bool) -> list[Point]:
    return [
        Point({"buffer": buffer, "headroom": free}, _with_headroom(buffer, free, short))
        for buffer, steps in HEADROOM.items()
        for free in steps
    ]


def _with_headroom(buffer: int, free: int, short: bool) -> Table:
    scenario = Dumbbell(buffer=buffer, marking=INPUT_TRIGGERED).long(short).scenario()
    return {**scenario, "marking": {"input_triggered": {"headroom": free}}}


def lowest_root_with_headroom(tables: Tables, buffer: int) -> float:
    """Return the lowest root utilization with a positive headroom."""
    return min(curve(tables, "headroom", "root", buffer=buffer)[1:])


def less_blocked(tables: Tables, buffer: int) -> float:
    """Return the inter-switch link's blocked share of time, without minus with the smallest headroom."""
    blocked = curve(tables, "headroom", "inter_switch_stalled", buffer=buffer)
    return blocked[0] - blocked[1]


SPARED: dict[str, Table] = {
    "no": INPUT_TRIGGERED,
    "yes": {"input_triggered": {"spare_blocked": RECENTLY}},
    "naive": NAIVE,
}
"""Marking policies of the row: the paper's, its variant that spares blocked links, and another."""


def _row(short: bool, spared: str) -> Table:
    """Return a scene with switches A, B and C in a row.

    Flows from all three switches send to one host at C, and a victim sends from A to another host at C.
    Congestion at C's output fills C's buffer for the link from B, which then blocks. Packets that wait for
    this link, including the victim's, fill B's buffer for the link from A. The policies differ there.
    """
    sides = [(name, [f"{name}1..{name}{FLOWS}"]) for name in "ABC"]
    hosts = [*(host for _, names in sides for host in names), "AV", "CV", "CC"]
    cables = [
        *({"between": [names[0], name]} for name, names in sides),
        *({"between": [host, host[0]]} for host in ("AV", "CV", "CC")),
        {"between": ["A", "B"]},
        {"between": ["B", "C"]},
    ]
    flows = [
        {"name": name, "from": names, "to": ["CC"], "start": f"{place} ms", "stagger": "100 us"}
        for place, (name, names) in enumerate(sides)
    ]
    duration = 250 if short else 500
    return {
        "run": {"duration": f"{duration} ms", "warmup": f"{duration // 5} ms"},
        "topology": {"edges": {"hosts": hosts, "switches": ["A", "B", "C"], "cables": cables}},
        "switch": {"buffer": "4 slots", "arbiter": FOUR_BYPASSES},
        "marking": SPARED[spared],
        "echo": {"ack": {}},
        "response": {"lipd": {}},
        "flows": [*flows, {"name": "victim", "from": ["AV"], "to": ["CV"], "start": "4 ms"}],
    }


def _links(outcomes: list[Outcome]) -> Tables:
    """Return `points`: utilization of the row's links, blocked share of the middle link, victim's rate."""
    rows: list[Table] = []
    for outcome in outcomes:
        links, groups = outcome.results.links, outcome.results.groups
        ends = {"first": ("A", "B"), "middle": ("B", "C"), "root": ("C", "CC")}
        found = {name: only(links, {"from": a, "to": b}) for name, (a, b) in ends.items()}
        rows.append(
            {
                **dict(outcome.labels),
                **{name: link["utilization"] for name, link in found.items()},
                "blocked": found["middle"]["stalled_share"],
                "victim": only(groups, {"group": "victim"})["share"],
            }
        )
    return {"points": pl.DataFrame(rows)}


def differences(tables: Tables, other: str = "yes") -> list[float]:
    """Return the effect of another policy on link utilization and on the victim's rate."""
    columns = ("root", "middle", "first", "victim")
    return [abs(at(tables, name, spared=other) - at(tables, name, spared="no")) for name in columns]


POLICIES = {
    "both": output_triggered(LONG),
    "output": {"queue_threshold": {"high": LONG / SMALL, "low": LONG / SMALL, "root_only": False}},
}
"""Marks at long output queues, with and without marks at full input buffers."""


def _with_share(tables: Tables) -> Tables:
    marked, sent = (
        sum(pl.col(f"{side}_{what}") for side in ("local", "remote")) for what in ("marked", "delivered")
    )
    return {"points": tables["points"].with_columns(marked=marked / sent)}


def share_marked(tables: Tables) -> list[float]:
    """Return the marked share of the local and remote flows' packets, by increasing buffer size."""
    return curve(_with_share(tables), "buffer", "marked")


EXPERIMENTS = [
    Experiment(
        "santos2002/headroom",
        "Footnote 3: marking thresholds below a full buffer, of 4 and of 10 slots",
        cost=8,
        points=_headroom_points,
        measure=summary,
        draw=single(
            Curves("headroom", "root", "buffer", {size: f"{size} slots" for size in HEADROOM}),
            xlabel="free slots at which a buffer counts as full",
            ylabel="root link utilization",
            ylim=SHARE,
        ),
    ),
    Experiment(
        "santos2002/blocked",
        "Footnote 4: no marks on packets for a recently blocked link, three switches in a row",
        cost=3,
        points=grid(_row, spared=tuple(SPARED)),
        measure=_links,
        draw=bars("spared", "middle", "utilization of the link that is blocked"),
    ),
    Experiment(
        "santos2002/output_only",
        "Marks if more than 8 packets wait for an output, with and without marks at full input buffers",
        cost=1,
        points=grid(
            lambda _, marking: Dumbbell(marking=POLICIES[marking]).scenario(), marking=tuple(POLICIES)
        ),
        measure=with_series,
        draw=rates_over_time("Marks at a long output queue alone", marking="output"),
    ),
    Experiment(
        "santos2002/marks",
        "Input-triggered marking of flows that do not respond, against the size of the buffers",
        cost=8,
        points=lambda short: [
            replace(fair_state("input", INPUT_TRIGGERED, buffer), labels={"buffer": buffer})
            for buffer in (SIZES[::3] if short else SIZES)
        ],
        measure=summary,
        draw=lambda tables: bars("buffer", "marked", "share of packets marked")(_with_share(tables)),
    ),
]
"""Footnotes 3 and 4, and section IV's remarks on output-only triggers and the rate of marks."""
