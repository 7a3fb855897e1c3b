"""Underflow of a link with a low XON: one flow from a fast link with a long cable to a slow link."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from becalm.lab.model import Experiment, Outcome, Point, Tables
from becalm.lab.tables import at
from becalm.plot import COLOURS, figure, legend
from becalm.plot.lines import simulated
from becalm.theory import pfc

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PACKET = 1000
"""Bytes of a packet on the wire."""
XOFF = 40
"""Packets."""
FAST, SLOW = 2e9, 1e9
"""Bytes per second of the links into the switch and out of it."""
CABLE, FORWARDING = 5e-6, 40e-9
"""Seconds."""
XONS = (0, 2, 4, 6, 8, 10, 12, 13, 14, 20, 30, 40)
"""Packets."""

BLIND = 2 * CABLE + FORWARDING + (PACKET + pfc.PAUSE_FRAME + pfc.response_bytes(FAST)) / FAST
"""Seconds until the sender obeys."""


def experiment() -> Experiment:
    """Return the experiment on the slow link's utilization by XON."""
    return Experiment(
        "pfc/starvation",
        "Utilization of a slow link behind a fast one, by XON",
        cost=4,
        points=lambda short: [Point({"xon": xon}, scenario(xon, short)) for xon in XONS],
        measure=lambda outcomes: {"points": pl.DataFrame([_point(outcome) for outcome in outcomes])},
        draw=_draw,
        # One flow is measured over many cycles.
        phase="",
        seeded=False,
    )


def scenario(xon: int, short: bool) -> dict[str, Any]:
    """Return the scene with XON at this number of packets."""
    fast = {"between": ["S", "T"], "rate": "2 GB/s", "delay": "5 us"}
    edges = {
        "hosts": ["S", "R"],
        "switches": ["T"],
        "cables": [fast, {"between": ["T", "R"], "rate": "1 GB/s"}],
    }
    thresholds = {"static": {"xon": f"{xon * PACKET} B"}}
    return {
        "run": {"duration": "20 ms" if short else "60 ms", "warmup": "1 ms"},
        "topology": {"edges": edges},
        "packet": {"mtu": f"{PACKET - 20} B", "header": "20 B", "ack": "20 B", "cnp": "20 B"},
        "switch": {"buffer": f"{XOFF * PACKET} B", "flow_control": {"pfc": {"thresholds": thresholds}}},
        "flows": [{"name": "flow", "from": ["S"], "to": ["R"]}],
    }


def _point(outcome: Outcome) -> dict[str, Any]:
    links = outcome.results.links
    link = links.filter((pl.col("from") == "T") & (pl.col("to") == "R"))
    return {**outcome.labels, "utilization": link["utilization"].item()}


def law(xon: float) -> float:
    """Return the closed form's utilization."""
    return pfc.utilization(
        xoff=XOFF * PACKET, xon=int(xon) * PACKET, packet=PACKET, slow=SLOW, fast=FAST, blind=BLIND
    )


def over_law(tables: Tables, xon: int) -> float:
    """Return the ratio of the utilization to the closed form's."""
    return at(tables, "utilization", xon=xon) / law(xon)


def _draw(tables: Tables) -> Figure:
    made, axes = figure()
    axes.plot(XONS, [law(xon) for xon in XONS], color=COLOURS[0], label="closed form")
    simulated(axes, tables["points"], x="xon", y="utilization")
    axes.axvline(BLIND * SLOW / PACKET, color=COLOURS[2], linestyle="--", label="one blind time")
    axes.set(xlabel="XON (packets of 1000 B)", ylabel="utilization", ylim=(0.8, 1.01))
    legend(made, axes, below=3)
    return made
