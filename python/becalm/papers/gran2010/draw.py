"""The figures of gran2010, with its axes and legends. Surfaces are maps with a number in each field."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from becalm.lab.model import Label, Tables
from becalm.lab.tables import select_rows
from becalm.plot import COLOURS, MARKERS, curves, figure, legend, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FLOWS = ("F1", "F2", "F3", "F4", "F5")
STYLES = {flow: {"color": COLOURS[place]} for place, flow in enumerate(FLOWS)}
LINES = ("-", "--", ":")
WIDE_STYLES = {
    flow: {**style, "linewidth": 6 - 1.2 * place} for place, (flow, style) in enumerate(STYLES.items())
}
"""Line styles that remain visible where flows have the same throughput."""


NAMES = {
    "F1": "throughput of the victim (Gb/s)",
    "contributors": "mean throughput of the contributors (Gb/s)",
    "var": "Var ((Gb/s)²)",
}


def throughputs(tables: Tables, flows: Sequence[str], *, delays: bool = False, **where: Label) -> Figure:
    """Draw the throughput of each flow over time and, with `delays`, the injection delay in a panel below."""
    made, areas = panels(2 if delays else 1, 1, height=3.4)
    series = select_rows(tables["series"], where)
    styles = STYLES if delays else WIDE_STYLES
    curves(areas[0], series, x="time", y="gbps", by="flow", order=flows, styles=styles, linewidth=1.0)
    areas[0].set_ylabel("throughput (Gb/s)")
    areas[0].set_ylim(0, 14.5)
    if delays:
        _delays(areas[1], select_rows(tables["delays"], where), flows)
    areas[-1].set_xlabel("time (s)")
    legend(made, areas[0])
    return made


def _delays(axes: Axes, table: pl.DataFrame, flows: Sequence[str]) -> None:
    curves(axes, table, x="time", y="us", by="flow", order=flows, styles=STYLES, linewidth=1.0)
    axes.set_ylabel("injection delay (us)")
    axes.set_ylim(bottom=0)


def shares(tables: Tables) -> Figure:
    """Draw the contributors' shares of the congested link as stacked bars."""
    made, axes = figure(width=4.8)
    last = tables["points"].filter(pl.col("phase") == 5)
    flows = FLOWS[1:]
    for place, control in enumerate(("off", "on")):
        means = {
            row["flow"]: row["mean"] for row in select_rows(last, {"control": control}).iter_rows(named=True)
        }
        total = sum(means[flow] for flow in flows)
        bottom = 0.0
        for flow in flows:
            part = means[flow] / total
            label = flow if place == 0 else None
            axes.bar(place, part, 0.55, bottom=bottom, color=STYLES[flow]["color"], label=label)
            axes.text(place, bottom + part / 2, f"{part:.3f}", ha="center", va="center", color="white")
            bottom += part
    axes.set_xticks([0, 1], ["CC off", "CC on"])
    axes.set_ylabel("share of the congested link")
    axes.grid(visible=False)
    legend(made, axes)
    return made


def surface(tables: Tables, column: str) -> Figure:
    """Draw a quantity over CCTI_Timer and Marking_Rate as a map. The axes list the values."""
    points = tables["points"]
    timers = points["timer"].unique().sort().to_list()
    rates = points["rate"].unique().sort().to_list()
    grid = [
        [float(select_rows(points, {"timer": timer, "rate": rate})[column].item()) for timer in timers]
        for rate in rates
    ]
    made, axes = figure(width=7.2, height=0.62 * len(rates) + 1.0)
    image = axes.imshow(grid, origin="lower", aspect="auto", cmap="viridis")
    middle = (min(map(min, grid)) + max(map(max, grid))) / 2
    for row, values in enumerate(grid):
        for place, value in enumerate(values):
            colour = "black" if value > middle else "white"
            axes.text(place, row, f"{value:.2f}", ha="center", va="center", color=colour, fontsize=9)
    axes.set_xticks(range(len(timers)), [str(timer) for timer in timers])
    axes.set_yticks(range(len(rates)), [str(rate) for rate in rates])
    axes.set_xlabel("CCTI_Timer (1.024 us)")
    axes.set_ylabel("Marking_Rate (packets)")
    axes.grid(visible=False)
    made.colorbar(image, ax=axes, label=NAMES[column])
    return made


def bars(tables: Tables, axis: str, label: str, **where: Label) -> Figure:
    """Draw the throughput of the victim and of the mean contributor at each value of a parameter."""
    points = select_rows(tables["points"], where).sort(axis)
    columns = {"F1": "victim", "contributors": "mean contributor"}
    return _grouped(points, axis, label, columns, [{"color": colour} for colour in COLOURS])


def levels(tables: Tables) -> Figure:
    """Draw the throughput of all flows with control per queue pair and per service level."""
    columns = {flow: flow for flow in (*FLOWS, "F6")}
    styles = [*STYLES.values(), {"color": "black"}]
    return _grouped(tables["points"].sort("control"), "control", "control per", columns, styles)


def _grouped(
    points: pl.DataFrame, axis: str, label: str, columns: dict[str, str], styles: Sequence[dict[str, Any]]
) -> Figure:
    """Draw a group of bars per row, one bar per column."""
    made, axes = figure(width=5.6)
    values = points[axis].to_list()
    width = 0.8 / len(columns)
    for place, ((column, name), style) in enumerate(zip(columns.items(), styles, strict=False)):
        left = [index + width * (place - (len(columns) - 1) / 2) for index in range(len(values))]
        axes.bar(left, points[column].to_list(), 0.95 * width, label=name, **style)
    axes.set_xticks(range(len(values)), [str(value) for value in values])
    axes.set_xlabel(label)
    axes.set_ylabel("throughput (Gb/s)")
    axes.set_ylim(0, 14.5)
    legend(made, axes)
    return made


def sizes(tables: Tables) -> Figure:
    """Draw the victim's throughput against its message size, both on logarithmic axes."""
    made, axes = figure()
    names = {"on": "CC active", "off": "CC inactive", "none": "no congestion"}
    styles: dict[str, dict[str, Any]] = {
        key: {"color": COLOURS[place], "marker": MARKERS[place], "linestyle": LINES[place]}
        for place, key in enumerate(names)
    }
    styles["none"] |= {"markersize": 9, "markerfacecolor": "none"}
    curves(
        axes, tables["points"], x="size", y="mbps", by="case", order=list(names), labels=names, styles=styles
    )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("message size (B)")
    axes.set_ylabel("throughput of the victim (Mb/s)")
    legend(made, axes)
    return made


def delay_tables(tables: Tables) -> Figure:
    """Draw the two tables of delays and the error of their encoding."""
    made, areas = panels(1, 2, width=4.8)
    names = {106: "106, paper", 95: "95, manufacturer"}
    for place, (divisor, name) in enumerate(names.items()):
        table = select_rows(tables["entries"], {"divisor": divisor})
        colour = COLOURS[place]
        curves(areas[0], table, x="index", y="wanted_us", label=name, color=colour)
        curves(areas[1], table, x="index", y="error_us", label=name, color=colour, drawstyle="steps-mid")
    areas[0].set_ylabel("injection rate delay (us)")
    areas[1].set_ylabel("encoded less wanted delay (us)")
    for axes in areas:
        axes.set_xlabel("CCTI")
    legend(made, areas[0], title="divisor")
    return made
