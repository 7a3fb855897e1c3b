"""The figures of Ramakrishnan and Jain 1990, with the paper's axes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from becalm.lab.model import Label, Tables
from becalm.lab.tables import select_rows
from becalm.plot import COLOURS, MARKERS, curves, figure, legend, panels
from becalm.plot.style import WIDTH

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TOTAL = "all users"


def windows(tables: Tables, knee: float, name: str = "knee", **where: Label) -> Figure:
    """Draw the window of each user over time, their sum, and the knee or another level."""
    made, axes = figure()
    window_panel(axes, tables, knee, "", name, **where)
    legend(made, axes)
    return made


def window_panels(tables: Tables, knee: float, runs: Mapping[Any, str], by: str) -> Figure:
    """Draw a panel of windows over time, with a title, for each value of the label `by`."""
    made, areas = panels(1, len(runs), width=4.2)
    for axes, (value, title) in zip(areas, runs.items(), strict=True):
        window_panel(axes, tables, knee, title, **{by: value})
    legend(made, areas[0])
    return made


def window_panel(
    axes: Axes, tables: Tables, knee: float, title: str, name: str = "knee", **where: Label
) -> None:
    """Draw the windows of one run into a panel."""
    table = select_rows(tables["windows"], where)
    users = table["user"].unique(maintain_order=True).to_list()
    styles = {user: {"color": COLOURS[place % 6]} for place, user in enumerate(users)}
    curves(axes, table, x="time", y="window", by="user", order=users, styles=styles, drawstyle="steps-post")
    if len(users) > 1:
        curves(axes, total(table), x="time", y="window", label=TOTAL, color="black", drawstyle="steps-post")
    axes.axhline(knee, color=COLOURS[-1], linestyle="--", label=f"{name}, {knee:g}")
    axes.set(xlabel="time (units)", ylabel="window (packets)", title=title, ylim=(0, None))


def total(table: pl.DataFrame) -> pl.DataFrame:
    """Sum the windows of all users at each time."""
    return table.group_by("time", maintain_order=True).agg(pl.col("window").sum()).sort("time")


def power(tables: Tables, x: str, xlabel: str, by: str, names: Mapping[Any, str], column: str) -> Figure:
    """Draw power over `x`, with a curve per value of `by` and a panel per value of `column`."""
    values = tables["points"][column].unique(maintain_order=True).to_list()
    made, areas = panels(1, len(values), width=WIDTH if len(values) == 1 else 4.6)
    for axes, value in zip(areas, values, strict=True):
        table = select_rows(tables["points"], {column: value})
        styles = {key: {"color": COLOURS[i], "marker": MARKERS[i]} for i, key in enumerate(names)}
        curves(axes, table, x=x, y="power", by=by, order=list(names), labels=names, styles=styles)
        axes.set(xlabel=xlabel, ylabel="global power (packets / unit$^2$)", title=str(value))
        axes.set_ylim(0, 1.1 * float(table["power"].to_numpy().max()))
    legend(made, areas[0])
    return made


def sweep(tables: Tables, knee: float) -> Figure:
    """Draw throughput, response time and power by window, with theory as lines and simulation as dots."""
    made, areas = panels(1, 3, width=3.6)
    primary = tables["points"].filter(pl.col("path") == "primary")
    for axes, y, label in (
        (areas[0], "throughput", "throughput (packets / unit)"),
        (areas[1], "response", "response time (units)"),
        (areas[2], "power", "power (packets / unit$^2$)"),
    ):
        for colour, (service, name) in zip(COLOURS, SERVICES.items(), strict=False):
            exact = select_rows(tables["theory"], {"service": service})
            if exact.height:
                curves(axes, exact, x="window", y=y, label=f"{name}: theory", color=colour)
            dots = select_rows(primary, {"service": service})
            _dots(axes, dots, "window", y, f"{name}: simulated", colour, ".")
        axes.axvline(knee, color=COLOURS[-1], linestyle="--", label=f"knee, {knee:g}")
        axes.set(xlabel="window (packets)", ylabel=label, ylim=(0, None))
    legend(made, areas[0])
    return made


SERVICES = {
    "constant": "all alike",
    "drawn again": "exponential, drawn again",
    "carried along": "exponential, carried along",
}
"""Kinds of service times in the sweep over windows, and their names."""


def router(tables: Tables) -> Figure:
    """Draw power and the share of marked packets of an M/M/1 router by its utilization."""
    made, axes = figure()
    table = select_rows(tables["points"], {"queue": "M/M/1", "threshold": 1})
    load = np.linspace(0, 0.99, 200)
    rows = (
        ("power", "power (packets / unit$^2$)", load * (1 - load)),
        ("marked", "share of packets marked, C = 1", load),
    )
    for colour, (y, label, exact) in zip(COLOURS, rows, strict=False):
        axes.plot(load, exact, color=colour, label=f"{label}: theory")
        _dots(axes, table, "utilization", y, f"{label}: simulated", colour, "o")
    axes.set(xlabel="utilization", ylim=(0, 1))
    legend(made, axes)
    return made


def _dots(axes: Axes, table: pl.DataFrame, x: str, y: str, label: str, colour: str, marker: str) -> None:
    curves(axes, table, x=x, y=y, label=label, color=colour, linestyle="none", marker=marker)
