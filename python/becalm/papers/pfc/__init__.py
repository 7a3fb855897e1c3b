"""Priority-based flow control (IEEE 802.1Qbb) against its closed forms, and against credit.

All claims are derived from closed forms (`becalm.theory.pfc`), with bounds set before the first run. No
sentence is quoted.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from becalm.lab.dumbbell import NO_CONTROL, Dumbbell
from becalm.lab.figures import DOTS, Curves, Law, Level, simulated, single
from becalm.lab.model import Experiment, Outcome, Table, Tables, grid
from becalm.lab.tables import at, mean, only
from becalm.papers.common.draw import rates_over_time
from becalm.papers.common.measure import victim, with_series
from becalm.plot import COLOURS
from becalm.theory import pfc

PHASE = "10 us"
"""Each flow starts up to 10 us later than stated."""

CONTROLS = {"pfc": "PFC", "credits": "credit"}
SCENES = {
    "few": Dumbbell(local=5, remote=1, response=NO_CONTROL),
    "many": Dumbbell(local=10, remote=10, response=NO_CONTROL),
}
"""Fig. 2 of santos2003, and twenty flows without congestion control."""

FLOWS = {"F1": ("H1", "H4"), "F2": ("H2", "H5"), "F3": ("H3", "H5"), "F4": ("H6", "H5"), "F5": ("H7", "H5")}
"""Hosts of the flows of the parking lot."""
HOST = 13.0
"""Gb/s that a host of the parking lot sends and receives."""

PACKET, XOFF = 1000, 40
"""Bytes of a packet on the wire, and XOFF in packets, with a slow link behind a fast one."""
FAST, SLOW = 2e9, 1e9
"""Bytes per second of the links into the switch and out of it."""
CABLE, FORWARDING = 5e-6, 40e-9
"""Seconds."""
XONS = (0, 2, 4, 6, 8, 10, 12, 13, 14, 20, 30, 40)
"""Packets."""
BLIND = 2 * CABLE + FORWARDING + (PACKET + pfc.PAUSE_FRAME + pfc.response_bytes(FAST)) / FAST
"""Seconds until the sender obeys."""


def _dumbbell(_: bool, run: str) -> Table:
    """Return the scenario with a flow control. XOFF is the buffer size of the scene with credit."""
    scene, control = run.split()
    scenario = SCENES[scene].scenario()
    return {**scenario, "switch": {**scenario["switch"], "flow_control": {control: {}}}}


def beside_credit(tables: Tables) -> float:
    """Return the victim's share with PFC minus that with credit, in the scene of Fig. 2."""
    return victim(tables, run="few pfc") - victim(tables, run="few credits")


def _two_switches(short: bool, flows: int, control: str) -> Table:
    """Return the parking lot of gran2010, Fig. 7(a), with its first `flows` flows.

    `H1` to `H3` are on `S1`, and `H4` to `H7` on `S2`. Arbitration is port-fair.
    """
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
            {"name": name, "from": [source], "to": [destination]}
            for name, (source, destination) in list(FLOWS.items())[:flows]
        ],
    }


def _rates(outcomes: Sequence[Outcome]) -> Tables:
    """Return `points`: Gb/s on the wire by flow, number of flows and control."""
    rows = [
        {**outcome.labels, "flow": row["group"], "gbps": row["rate"] * 8e-9}
        for outcome in outcomes
        for row in outcome.results.groups.iter_rows(named=True)
    ]
    return {"points": pl.DataFrame(rows)}


def rate(tables: Tables, flow: str, flows: int, control: str = "pfc") -> float:
    """Return a flow's rate in Gb/s with this number of flows."""
    return at(tables, "gbps", flow=flow, flows=flows, control=control)


def off_the_law(tables: Tables) -> list[float]:
    """Return Gb/s of `F2` with 2 to 5 flows minus the port-fair rate: 13 Gb/s / 1, 2, 4 and 6."""
    return [rate(tables, "F2", flows) - HOST / parts for flows, parts in ((2, 1), (3, 2), (4, 4), (5, 6))]


def _incast(short: bool, senders: int) -> Table:
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


def _pauses(outcomes: Sequence[Outcome]) -> Tables:
    """Return `points`: senders' mean paused share and pauses per second, and the receiver's utilization."""
    return {"points": pl.DataFrame([_paused(outcome) for outcome in outcomes])}


def _paused(outcome: Outcome) -> Table:
    results = outcome.results
    pauses = results.tables["pauses"].filter(pl.col("from").str.starts_with("S"))
    counts = [float(count) for count in pauses["pauses"].to_list()]
    return {
        **outcome.labels,
        "paused_share": mean(pauses["paused_share"].to_list()),
        "per_second": mean(counts) / (results.scenario.duration - results.scenario.warmup),
        "pauses": sum(counts),
        "utilization": _used(outcome),
    }


def _used(outcome: Outcome) -> float:
    return only(outcome.results.links, {"from": "T", "to": "R"})["utilization"]


def paused_over_law(tables: Tables, senders: int) -> float:
    """Return the ratio of a sender's paused share to 1 - 1/n. It sends at full rate or not at all."""
    return at(tables, "paused_share", senders=senders) / (1 - 1 / senders)


def _fast_to_slow(short: bool, xon: int) -> Table:
    """Return the scene with XON at this number of packets."""
    fast = {"between": ["S", "T"], "rate": "2 GB/s", "delay": "5 us"}
    slow = {"between": ["T", "R"], "rate": "1 GB/s"}
    thresholds = {"static": {"xon": f"{xon * PACKET} B"}}
    return {
        "run": {"duration": "20 ms" if short else "60 ms", "warmup": "1 ms"},
        "topology": {"edges": {"hosts": ["S", "R"], "switches": ["T"], "cables": [fast, slow]}},
        "packet": {"mtu": f"{PACKET - 20} B", "header": "20 B", "ack": "20 B", "cnp": "20 B"},
        "switch": {"buffer": f"{XOFF * PACKET} B", "flow_control": {"pfc": {"thresholds": thresholds}}},
        "flows": [{"name": "flow", "from": ["S"], "to": ["R"]}],
    }


def law(xon: float) -> float:
    """Return the closed form's utilization."""
    return pfc.utilization(
        xoff=XOFF * PACKET, xon=int(xon) * PACKET, packet=PACKET, slow=SLOW, fast=FAST, blind=BLIND
    )


def over_law(tables: Tables, xon: int) -> float:
    """Return the ratio of the utilization to the closed form's."""
    return at(tables, "utilization", xon=xon) / law(xon)


EXPERIMENTS = [
    # Congestion that spreads to a victim: the dumbbell of santos2003.
    Experiment(
        "pfc/spreading",
        "A victim of congestion with credit and with PFC, no congestion control",
        cost=4,
        points=grid(
            _dumbbell, run=[f"{scene} {control}" for scene in SCENES for control in ("credits", "pfc")]
        ),
        measure=with_series,
        draw=rates_over_time("Five local flows and one remote flow, PFC", run="few pfc"),
    ),
    # Flows added one by one, with a separate run for each number of flows.
    Experiment(
        "pfc/parking_lot",
        "Flows added one by one on two switches, with credit and with PFC",
        cost=6,
        points=grid(_two_switches, flows=range(1, 6), control=("credits", "pfc")),
        measure=_rates,
        draw=single(
            *(
                Curves(
                    "flows",
                    "gbps",
                    label=f"{flow}, {name}",
                    style={**DOTS, "color": COLOURS[place], "marker": marker, "fillstyle": "none"},
                    where={"flow": flow, "control": control},
                )
                for place, flow in enumerate(FLOWS)
                for marker, (control, name) in zip("ox", CONTROLS.items(), strict=True)
            ),
            xlabel="flows",
            ylabel="rate (Gb/s)",
            ylim=(0, 14),
            xticks=range(1, 6),
        ),
    ),
    # Hosts that send continuously to one host through one switch.
    Experiment(
        "pfc/fan_in",
        "Pauses of a sender by fan-in",
        cost=6,
        points=grid(_incast, senders=(1, 2, 4, 8, 16)),
        measure=_pauses,
        draw=single(
            Law("1 - 1/n", range(1, 17), lambda n: 1 - 1 / n),
            simulated("senders", "paused_share"),
            xlabel="senders n",
            ylabel="share of the time in which a sender is paused",
            ylim=(0, 1),
            below=3,
        ),
    ),
    # Underflow with a low XON: a fast link with a long cable to a slow link.
    Experiment(
        "pfc/starvation",
        "Utilization of a slow link behind a fast one, by XON",
        cost=4,
        points=grid(_fast_to_slow, xon=XONS),
        measure=lambda outcomes: {
            "points": pl.DataFrame([{**each.labels, "utilization": _used(each)} for each in outcomes])
        },
        draw=single(
            Law("closed form", XONS, law),
            simulated("xon", "utilization"),
            Level("one blind time", BLIND * SLOW / PACKET, upright=True, colour=COLOURS[2]),
            xlabel="XON (packets of 1000 B)",
            ylabel="utilization",
            ylim=(0.8, 1.01),
            below=3,
        ),
        # One flow is measured over many cycles.
        phase="",
        seeded=False,
    ),
]
"""The experiments on properties that PFC shares with credit, then on those specific to PFC."""
