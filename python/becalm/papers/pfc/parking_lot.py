"""The parking lot of gran2010, Fig. 7(a), with credit and with PFC. It shows port-fair arbitration.

`H1` to `H3` are on `S1`, and `H4` to `H7` on `S2`. `F1` goes from `H1` to `H4`, and `F2` to `F5` go from
`H2`, `H3`, `H6` and `H7` to `H5`. Hosts send and receive 13 Gb/s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from becalm.lab.model import Experiment, Outcome, Point, Tables
from becalm.lab.tables import select_rows
from becalm.plot import COLOURS, figure, legend

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FLOWS = (("H1", "H4"), ("H2", "H5"), ("H3", "H5"), ("H6", "H5"), ("H7", "H5"))
CONTROLS = ("credits", "pfc")
HOST = 13.0
"""Gb/s that a host sends and receives."""
GBPS = 8e-9
"""Gb/s per B/s."""


def experiment() -> Experiment:
    """Return the experiment on flows added one by one, with a separate run for each number of flows."""
    return Experiment(
        "pfc/parking_lot",
        "Flows added one by one on two switches, with credit and with PFC",
        cost=6,
        points=lambda short: [
            Point({"flows": flows, "control": control}, scenario(flows, control, short))
            for flows in range(1, 6)
            for control in CONTROLS
        ],
        measure=measure,
        draw=_draw,
    )


def scenario(flows: int, control: str, short: bool) -> dict[str, Any]:
    """Return the scene with the first `flows` flows."""
    cables = [{"between": [f"H{host}", "S1" if host <= 3 else "S2"]} for host in range(1, 8)]
    edges = {"hosts": ["H1..H7"], "switches": ["S1", "S2"], "rate": "16 Gb/s"}
    trunk = {"between": ["S1", "S2"], "rate": "32 Gb/s"}
    cap = f"{HOST:g} Gb/s"
    return {
        "run": {"duration": "10 ms" if short else "40 ms", "warmup": "2 ms"},
        "topology": {"edges": {**edges, "cables": [*cables, trunk]}},
        "switch": {"buffer": "20 slots", "flow_control": {control: {}}},
        "adapter": {"injection_rate": cap, "drain_rate": cap},
        "flows": [
            {"name": f"F{number}", "from": [source], "to": [destination]}
            for number, (source, destination) in enumerate(FLOWS[:flows], 1)
        ],
    }


def measure(outcomes: list[Outcome]) -> Tables:
    """Return `points`: Gb/s on the wire by flow, number of flows and control."""
    rows = [
        {**outcome.labels, "flow": row["group"], "gbps": row["rate"] * GBPS}
        for outcome in outcomes
        for row in outcome.results.groups.iter_rows(named=True)
    ]
    return {"points": pl.DataFrame(rows)}


def rate(tables: Tables, flow: str, flows: int, control: str = "pfc") -> float:
    """Return a flow's rate in Gb/s with this number of flows."""
    chosen = select_rows(tables["points"], {"flow": flow, "flows": flows, "control": control})
    return float(chosen["gbps"].item())


def off_the_law(tables: Tables) -> list[float]:
    """Return Gb/s of `F2` with 2 to 5 flows minus the port-fair rate: 13 Gb/s / 1, 2, 4 and 6."""
    return [rate(tables, "F2", flows) - HOST / parts for flows, parts in ((2, 1), (3, 2), (4, 4), (5, 6))]


def victim(tables: Tables) -> list[float]:
    """Return the ratio of `F1`, which has another destination, to `F2`, with 3, 4 and 5 flows."""
    return [rate(tables, "F1", flows) / rate(tables, "F2", flows) for flows in (3, 4, 5)]


def _draw(tables: Tables) -> Figure:
    made, axes = figure()
    for place, flow in enumerate(f"F{number}" for number in range(1, 6)):
        for control, style in (("pfc", "o"), ("credits", "x")):
            chosen = select_rows(tables["points"], {"flow": flow, "control": control}).sort("flows")
            label = f"{flow}, {'PFC' if control == 'pfc' else 'credit'}"
            axes.plot(
                chosen["flows"], chosen["gbps"], style, color=COLOURS[place], label=label, fillstyle="none"
            )
    axes.set(xlabel="flows", ylabel="rate (Gb/s)", ylim=(0, 14), xticks=range(1, 6))
    legend(made, axes)
    return made
