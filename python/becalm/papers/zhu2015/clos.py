"""Unfairness and victims of PFC: a Clos network of 40 Gb/s.

    A1 ... A5 - T1    T2 - B    C1, C2 - T3    T4 - D, R

T1 and T2 are below L1 and L2, T3 and T4 are below L3 and L4, and L1 to L4 are below S1 and S2. A hash of the
flow chooses among equal ports. Switches have the memory of `theory.pfc.SharedBuffer` with 12 MB for 32 ports:
XOFF depends on the free memory.

`unfairness` has four hosts that send to R: three far away over shared links, and D next to it. `victim` has
four far hosts that send to R, a flow from A5 to B that shares no bottleneck with them but is paused, and
hosts next to R that join the incast and share no link with the victim.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from becalm import theory
from becalm.lab.figures import Level, Panel, Plot, single
from becalm.lab.model import Experiment, Outcome, Point, Table, Tables
from becalm.lab.tables import select_rows
from becalm.plot import COLOURS, MARKERS
from becalm.scenario import Scenario
from becalm.theory.pfc import SharedBuffer

if TYPE_CHECKING:
    from matplotlib.axes import Axes


RATE = 40.0
"""Gb/s of every link."""
MEMORY = SharedBuffer(size=12e6, ports=32, headroom=22.4e3)
BETA = 8.0
"""A class may use beta / 8 of the free memory."""
TOP = (("T1", "T2"), ("T3", "T4"))
"""Switches with hosts, by the pair of switches above them."""

PFC, DCQCN = "PFC alone", "DCQCN"
CONTROLS: dict[str, Table] = {
    PFC: {},
    DCQCN: {"marking": {"ramp": {}}, "echo": {"rocev2": {}}, "response": {"dcqcn": {"preset": "paper"}}},
}
"""Additions to the scene. DCQCN and its marks have the paper's parameters, which are the defaults."""
TIMES = {PFC: ("65 ms", "60 ms"), DCQCN: ("150 ms", "50 ms")}
"""Duration and warm-up.

With only PFC, megabytes of buffers along each path must fill, and some of them fill only at the small rates
that other flows leave. DCQCN needs tens of ms to make flows equal.
"""
SHORT = {**TIMES, DCQCN: ("90 ms", "50 ms")}
"""Duration and warm-up of the reduced version."""
DRAWS = {PFC: 4, DCQCN: 1}
"""Random samples of the paths for each seed."""
GBPS = 8e-9
"""Gb/s per B/s."""
FAR, NEAR = ("A1", "A2", "A3"), "D"
FOUR = [{"name": "far", "from": list(FAR), "to": ["R"]}, {"name": "near", "from": [NEAR], "to": ["R"]}]
"""The flows of `unfairness`."""
JOINING = (0, 1, 2)
"""Numbers of senders that join the incast of `victim`."""


def _draws(short: bool) -> list[tuple[str, int]]:
    """Return the numbers of the random samples, with their control."""
    return [(control, draw) for control in CONTROLS for draw in range(1 if short else DRAWS[control])]


def _incast(joining: int) -> list[Table]:
    """Return the victim, four hosts that send to R, and the hosts that join."""
    flows = [
        {"name": "victim", "from": ["A5"], "to": ["B"]},
        {"name": "incast", "from": ["A1..A4"], "to": ["R"]},
    ]
    more = [{"name": "joining", "from": [f"C{number}" for number in range(1, joining + 1)], "to": ["R"]}]
    return flows + (more if joining else [])


def scenario(flows: Sequence[Table], control: str, short: bool = False) -> Table:
    """Return the scene with these groups of flows."""
    duration, warmup = (SHORT if short else TIMES)[control]
    return {
        "run": {"duration": duration, "warmup": warmup},
        "topology": {"edges": _edges()},
        "switch": {
            "forwarding_delay": "500 ns",
            "paths": {"flow": {}},
            "flow_control": {"pfc": {"thresholds": {"dynamic": _thresholds()}}},
        },
        "packet": {"mtu": "942 B", "header": "58 B", "ack": "64 B"},
        "flows": list(flows),
        "observe": {"links": [], "step": "5 ms", "window": "5 ms"},
        **CONTROLS[control],
    }


def _edges() -> Table:
    hosts = (("A1..A5", "T1"), ("B", "T2"), ("C1..C2", "T3"), ("D", "T4"), ("R", "T4"))
    cables = [{"between": [name, switch]} for name, switch in hosts]
    for pair, below in enumerate(TOP):
        for above in (f"L{2 * pair + 1}", f"L{2 * pair + 2}"):
            cables += [{"between": [above, end]} for end in (*below, "S1", "S2")]
    switches = ["T1..T4", "L1..L4", "S1..S2"]
    names = [name for name, _ in hosts]
    return {
        "hosts": names,
        "switches": switches,
        "cables": cables,
        "rate": f"{RATE:g} Gb/s",
        "delay": "500 ns",
    }


def _thresholds() -> Table:
    return {"alpha": BETA / MEMORY.classes, "shared": f"{MEMORY.shared:.0f} B"}


def measure(outcomes: Sequence[Outcome]) -> Tables:
    """Return `points`, a row for each flow of each run.

    The columns are the rate `gbps`, the port-fair rate `by_ports`, the max-min fair rate `fair`, and the
    run's `pauses` per second.
    """
    return {"points": pl.concat([_flows(outcome) for outcome in outcomes])}


def _flows(outcome: Outcome) -> pl.DataFrame:
    results = outcome.results
    paths = paths_of(results.scenario)
    window = results.scenario.duration - results.scenario.warmup
    labels = {name: pl.lit(value) for name, value in outcome.labels.items()}
    table = results.flows.select("group", "source", gbps=pl.col("rate") * GBPS)
    return table.with_columns(
        by_ports=pl.Series(theory.port_fair_rates(paths, RATE)),
        fair=pl.Series(theory.max_min_rates(paths, RATE)),
        pauses=pl.lit(float(results.tables["pauses"]["pauses"].sum()) / window),
        **labels,
    )


def paths_of(scenario: Scenario) -> list[list[str]]:
    """Return the names of each flow's links, starting at its source."""
    network = scenario.network()
    names, paths = network.links["link"].to_list(), network.flow_paths
    found: list[list[str]] = [[] for _ in range(network.flows.height)]
    for flow, link in zip(paths["flow"], paths["link"], strict=True):
        found[flow].append(names[link])
    return found


def _of(tables: Tables, control: str) -> pl.DataFrame:
    return select_rows(tables["points"], {"control": control})


def off_the_ports(tables: Tables) -> float:
    """Return the largest relative deviation of a flow's rate from the port-fair rate, with only PFC."""
    table = _of(tables, PFC)
    return float((table["gbps"] / table["by_ports"] - 1).abs().to_numpy().max())


def pauses_left(tables: Tables) -> float:
    """Return the ratio of pauses per second with DCQCN to those with only PFC, over the common runs."""
    shared = pl.col("draw") < DRAWS[DCQCN]
    means = [_of(tables, control).filter(shared)["pauses"].to_numpy().mean() for control in (DCQCN, PFC)]
    return float(means[0] / means[1])


def near_over_best(tables: Tables) -> float:
    """Return the smallest ratio of the near host's rate to the others' largest with only PFC, at most 1."""
    runs = [run for _, run in _of(tables, PFC).group_by("draw")]
    return min(1.0, *(float(_rates(run, "near").min() / _rates(run, "far").max()) for run in runs))


def near_over_all(tables: Tables) -> float:
    """Return the ratio of the near host's lowest rate to the others' largest with only PFC, at most 1."""
    runs = _of(tables, PFC)
    return min(1.0, float(_rates(runs, "near").min() / _rates(runs, "far").max()))


def _rates(table: pl.DataFrame, group: str) -> np.ndarray:
    return table.filter(pl.col("group") == group)["gbps"].to_numpy()


def least_fair(tables: Tables, control: str) -> float:
    """Return the smallest fairness index of the four flows in any run."""
    return min(_jain_by_draw(tables, control))


def most_fair(tables: Tables, control: str) -> float:
    """Return the largest fairness index of the four flows in any run."""
    return max(_jain_by_draw(tables, control))


def _jain_by_draw(tables: Tables, control: str) -> list[float]:
    runs = [run for _, run in _of(tables, control).group_by("draw")]
    return [theory.jain(np.asarray(run["gbps"].to_numpy(), float)) for run in runs]


def extremes(tables: Tables, control: str) -> list[float]:
    """Return the smallest and largest rate of a flow in Gb/s, over all runs."""
    rates = _of(tables, control)["gbps"].to_numpy()
    return [float(rates.min()), float(rates.max())]


def _spread_by_host(axes: Axes, tables: Tables, control: str) -> None:
    """Draw the median rate of each of the four hosts, from the least to the largest."""
    for place, source in enumerate((*FAR, NEAR)):
        rates = _of(tables, control).filter(pl.col("source") == source)["gbps"].to_numpy()
        spread = [[np.median(rates) - rates.min()], [rates.max() - np.median(rates)]]
        colour = COLOURS[1 if source == NEAR else 0]
        axes.bar(place, np.median(rates), 0.6, yerr=spread, capsize=4, color=colour)
    axes.set_xticks(range(4), [*FAR, NEAR])


def _victims(tables: Tables, control: str, joining: int, column: str = "gbps") -> np.ndarray:
    table = select_rows(_of(tables, control), {"joining": joining, "group": "victim"})
    return table[column].to_numpy()


def means(tables: Tables, control: str) -> list[float]:
    """Return the victim's mean rate in Gb/s with 0, 1 and 2 joining senders."""
    return [float(_victims(tables, control, n).mean()) for n in JOINING]


def over_fair(tables: Tables, control: str, joining: int) -> float:
    """Return the ratio of the victim's mean rate to its mean max-min fair rate."""
    rates, fair = (_victims(tables, control, joining, column) for column in ("gbps", "fair"))
    return float(rates.mean() / fair.mean())


def _spread_by_joining(axes: Axes, tables: Tables) -> None:
    """Draw the victim's median rate with each control, from the least to the largest."""
    for place, control in enumerate(CONTROLS):
        rates = [_victims(tables, control, n) for n in JOINING]
        middle = np.array([np.median(values) for values in rates])
        spread = [middle - [values.min() for values in rates], [values.max() for values in rates] - middle]
        style: Table = {"color": COLOURS[place], "marker": MARKERS[place], "capsize": 4}
        axes.errorbar(np.array(JOINING) + 0.08 * place - 0.04, middle, yerr=spread, label=control, **style)
    fair = [np.median(_victims(tables, PFC, n, "fair")) for n in JOINING]
    axes.plot(JOINING, fair, "k--", label="max-min fair, median")


EXPERIMENTS = [
    Experiment(
        "zhu2015/unfairness",
        "Rates of three hosts far away and one next to the receiver, with only PFC and with DCQCN",
        cost=25,
        points=lambda short: [
            Point({"control": control, "draw": draw}, scenario(FOUR, control, short), draw)
            for control, draw in _draws(short)
        ],
        measure=measure,
        draw=Plot(
            *(
                Panel(
                    partial(_spread_by_host, control=control),
                    Level("a quarter of the link", RATE / 4, colour="black"),
                    title=control,
                    ylabel="rate (Gb/s): median, least, largest" if control == PFC else "",
                    ylim=(0, RATE / 2 + 2),
                )
                for control in CONTROLS
            ),
            width=4.2,
            below=1,
        ),
    ),
    Experiment(
        "zhu2015/victim",
        "Rate of a victim of pauses, by the number of senders that join an incast elsewhere",
        cost=80,
        points=lambda short: [
            Point(
                {"control": control, "joining": joining, "draw": draw},
                scenario(_incast(joining), control, short),
                draw,
            )
            for joining in JOINING
            for control, draw in _draws(short)
        ],
        measure=measure,
        draw=single(
            _spread_by_joining,
            xlabel="senders that join elsewhere",
            ylabel="rate of the victim (Gb/s): median, range",
            xticks=JOINING,
            ylim=(0, 42),
            below=3,
        ),
    ),
]
"""Both experiments, over samples of the paths."""
