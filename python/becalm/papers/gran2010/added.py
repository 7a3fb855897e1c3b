"""Flows of gran2010 that are added one by one: Fig. 7 and 8, Fig. 10 with Table II, and Fig. 13."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from becalm.lab.figures import PLAIN, Curves, Panel, Plot
from becalm.lab.model import Experiment, Label, Measured, Point, Tables
from becalm.lab.tables import mean, select_rows, spread
from becalm.papers.gran2010.measure import CONTRIBUTORS, WITHOUT, over_time, point, rate
from becalm.papers.gran2010.scene import HOST_GBPS, INTER_SWITCH, Bed
from becalm.plot import COLOURS, figure, legend
from becalm.plot.style import WIDTH

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ALL = ("F1", *CONTRIBUTORS)
THREE = ("F1", "F2", "F3")
TAILS = {1: 1.0, 2: 6.0}
"""Seconds with all flows, by scenario. In scenario 2, flows alternate in periods of seconds."""
LEAST = 0.01
"""Smallest visible difference between rates in a figure, in Gb/s."""

SLOW_TIMER = 2000


def throughputs(flows: Sequence[str], *, delays: bool = False, **where: Label) -> Plot:
    """Show the throughput of each flow over time and, with `delays`, the injection delay in a panel below."""
    names = {flow: flow for flow in flows}
    # Lines of different widths remain visible where flows have the same throughput.
    widths = {flow: {"linewidth": 6 - 1.2 * place} for place, flow in enumerate(flows)}
    style = {**PLAIN, "linewidth": 1.0}
    styles = {} if delays else widths
    rates = Curves("time", "gbps", "flow", names, style=style, styles=styles, where=where, table="series")
    waits = Curves("time", "us", "flow", names, style=style, where=where, table="delays")
    time = {"xlabel": "time (s)"}
    upper = Panel(rates, ylabel="throughput (Gb/s)", ylim=(0, 14.5), **({} if delays else time))
    lower = Panel(waits, ylabel="injection delay (us)", ylim=(0, None), **time)
    return Plot(*((upper, lower) if delays else (upper,)), columns=1, width=WIDTH, height=3.4)


def bed(scenario: int, control: bool, short: bool, timer: int = 150) -> Bed:
    """Return a scenario with the paper's times in seconds, or with tenths of them in the reduced version."""
    if short:
        return Bed(scenario, control, interval=0.1, tail=0.4, settle=0.02, timer=timer)
    return Bed(scenario, control, tail=TAILS[scenario], settle=0.2, timer=timer)


def added(scenario: int, control: bool, short: bool, timer: int = 150) -> Point:
    """Return the run of a scenario with or without congestion control."""
    labels = {"control": "on" if control else "off", "timer": timer}
    return point(bed(scenario, control, short, timer), **labels)


def parking_lot(tables: Tables) -> float:
    """Return the ratio of the rate of F2 and F3 together to that of F4, with 4 flows."""
    return (rate(tables, "F2", 4) + rate(tables, "F3", 4)) / rate(tables, "F4", 4)


def victim_constant(tables: Tables) -> list[float]:
    """Return how far the victim's samples are from 13 Gb/s, as a share of it, in the root mean square."""
    found = []
    for phase in (1, 2, 3, 4, 5):
        mean_rate, sd = (rate(tables, "F1", phase, column, control="on") for column in ("mean", "sd"))
        found.append(math.hypot(mean_rate - HOST_GBPS, sd) / HOST_GBPS)
    return found


def link_after(tables: Tables, phase: int, than: int) -> float:
    """Return the utilization of the link between the switches in a phase, relative to an earlier one."""
    return rate(tables, INTER_SWITCH, phase) / rate(tables, INTER_SWITCH, than)


def shares_of_the_link(tables: Tables) -> float:
    """Return the ratio of the contributors' largest to smallest rate with all flows."""
    return spread([rate(tables, flow, 5) for flow in CONTRIBUTORS])


def stalled(tables: Tables, host: str) -> float:
    """Return the share of time in which a host waits for credit with all flows."""
    links = tables["links"]
    return float(links.filter(links["from"] == host)["stalled_share"].item())


def least_full(tables: Tables, switch: str) -> float:
    """Return the mean fill of the least full input buffer at a switch that congested flows use."""
    feeding = {"S1": ["H1", "H2", "H3"], "S2": ["S1", "H6", "H7"]}[switch]
    buffers = tables["buffers"].filter(tables["buffers"]["switch"] == switch)
    filled = buffers.filter(buffers["peer"].is_in(feeding))["mean_packets"].to_list()
    return min(float(value) for value in filled) / Bed().buffer


def oscillation(tables: Tables) -> list[float]:
    """Return the ratio of each contributor's standard deviation to the paper's without control."""
    return [rate(tables, flow, 5, "sd", control="on") / WITHOUT for flow in CONTRIBUTORS]


def _share(tables: Tables, flow: str, control: str) -> float:
    total = sum(rate(tables, other, 5, control=control) for other in CONTRIBUTORS)
    return rate(tables, flow, 5, control=control) / total


def a_third_each(tables: Tables) -> list[float]:
    """Return the shares of F4, of F5, and of F2 and F3 together, without congestion control."""
    return [
        _share(tables, "F4", "off"),
        _share(tables, "F5", "off"),
        _share(tables, "F2", "off") + _share(tables, "F3", "off"),
    ]


def equal_shares(tables: Tables) -> float:
    """Return the ratio of the contributors' largest to smallest share with congestion control."""
    return spread([_share(tables, flow, "on") for flow in CONTRIBUTORS])


def contributors_fill_the_link(tables: Tables) -> float:
    """Return the ratio of the contributors' total rate to the rate at which H5 can receive."""
    return sum(rate(tables, flow, 5, control="on") for flow in CONTRIBUTORS) / HOST_GBPS


def _shares(tables: Tables) -> Figure:
    """Draw the contributors' shares of the congested link as stacked bars."""
    made, axes = figure(width=4.8)
    last = tables["points"].filter(pl.col("phase") == 5)
    flows = CONTRIBUTORS
    for place, control in enumerate(("off", "on")):
        means = {
            row["flow"]: row["mean"] for row in select_rows(last, {"control": control}).iter_rows(named=True)
        }
        total = sum(means[flow] for flow in flows)
        bottom = 0.0
        for number, flow in enumerate(flows):
            part = means[flow] / total
            label = flow if place == 0 else None
            axes.bar(place, part, 0.55, bottom=bottom, color=COLOURS[1 + number], label=label)
            axes.text(place, bottom + part / 2, f"{part:.3f}", ha="center", va="center", color="white")
            bottom += part
    axes.set_xticks([0, 1], ["CC off", "CC on"])
    axes.set_ylabel("share of the congested link")
    axes.grid(visible=False)
    legend(made, axes)
    return made


def loss(tables: Tables) -> Measured:
    """Return the throughput that the three flows lose with congestion control, in percent."""
    on, off = (mean([rate(tables, flow, 3, control=control) for flow in THREE]) for control in ("on", "off"))
    return 100 * (1 - on / off)


def jitter_ratio(tables: Tables) -> float:
    """Return the ratio of the samples' standard deviation to the paper's value without congestion control."""
    return mean([rate(tables, flow, 3, "sd", control="on") for flow in THREE]) / WITHOUT


def triggered_by_third_flow(tables: Tables) -> list[float]:
    """Return the largest injection delay in us with 1, 2 and 3 flows."""
    return [
        max(rate(tables, flow, phase, "delay_max", control="on") for flow in THREE[:phase])
        for phase in (1, 2, 3)
    ]


def unfair_for_longer(tables: Tables) -> list[float]:
    """Return the ratio of the contributors' spread to that with a timer of 150, for 3, 4 and 5 flows."""
    return [
        _unfair(tables, phase, SLOW_TIMER) / max(LEAST, _unfair(tables, phase, 150)) for phase in (3, 4, 5)
    ]


def _contributors(phase: int) -> Sequence[str]:
    return CONTRIBUTORS[: phase - 1]


def _unfair(tables: Tables, phase: int, timer: int) -> float:
    found_rates = [rate(tables, flow, phase, timer=timer) for flow in _contributors(phase)]
    return max(found_rates) - min(found_rates)


def late_spread(tables: Tables, phase: int, timer: int) -> float:
    """Return the ratio of largest to smallest mean contributor throughput in the last fifth of a phase."""
    series = tables["series"].filter(tables["series"]["timer"] == timer)
    interval = float(series["interval"].to_list()[0])
    late = series.filter(series["time"].is_between((phase - 0.2) * interval, phase * interval - 0.01))
    return spread(
        [mean(late.filter(late["flow"] == flow)["gbps"].to_list()) for flow in _contributors(phase)]
    )


EXPERIMENTS = [
    Experiment(
        "gran2010/fig7a",
        "Scenario 1, flows added one per second, congestion control off",
        cost=8,
        points=lambda short: [added(1, False, short)],
        measure=over_time,
        draw=throughputs(ALL),
    ),
    Experiment(
        "gran2010/fig7b",
        "Scenario 1, flows added one per second, congestion control on",
        cost=20,
        points=lambda short: [added(1, control, short) for control in (False, True)],
        measure=over_time,
        draw=throughputs(ALL, delays=True, control="on"),
    ),
    Experiment(
        "gran2010/fig8",
        "Shares of the congested link with all five flows, congestion control off and on",
        cost=20,
        points=lambda short: [added(1, control, short) for control in (False, True)],
        measure=over_time,
        draw=_shares,
    ),
    Experiment(
        "gran2010/fig10a",
        "Scenario 2, flows added one per second, congestion control off",
        cost=8,
        points=lambda short: [added(2, False, short)],
        measure=over_time,
        draw=throughputs(THREE),
    ),
    Experiment(
        "gran2010/fig10b",
        "Scenario 2, flows added one per second, congestion control on, and Table II",
        cost=16,
        points=lambda short: [added(2, control, short) for control in (False, True)],
        measure=over_time,
        draw=throughputs(THREE, delays=True, control="on"),
    ),
    Experiment(
        "gran2010/fig13",
        "Scenario 1 with a CCTI_Timer of 2000",
        cost=28,
        points=lambda short: [added(1, True, short, timer) for timer in (150, SLOW_TIMER)],
        measure=over_time,
        draw=throughputs(ALL, delays=True, timer=SLOW_TIMER),
    ),
]
"""Scenario 1 without and with control, then scenario 2, then scenario 1 with a long timer."""
