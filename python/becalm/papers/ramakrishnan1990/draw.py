"""The figures of several experiments of Ramakrishnan and Jain 1990, with the paper's axes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from becalm.lab.figures import Curves, Level, Panel, Plot
from becalm.lab.model import Label, Tables
from becalm.lab.tables import select_rows
from becalm.plot import COLOURS, curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TOTAL = "all users"


def windows(knee: float, name: str = "knee", **where: Label) -> Plot:
    """Show the window of each user over time, their sum, and the knee or another level."""
    return Plot(_panel(knee, "", name, where))


def window_panels(knee: float, runs: Mapping[Any, str], by: str, **where: Label) -> Plot:
    """Show a panel of windows over time, with a title, for each value of the label `by`."""
    panels = [_panel(knee, title, "knee", {**where, by: value}) for value, title in runs.items()]
    return Plot(*panels, width=4.2)


def _panel(knee: float, title: str, name: str, where: Mapping[str, Label]) -> Panel:
    return Panel(
        partial(_draw_windows, where=where),
        Level(f"{name}, {knee:g}", knee),
        xlabel="time (units)",
        ylabel="window (packets)",
        title=title,
        ylim=(0, None),
    )


def _draw_windows(axes: Axes, tables: Tables, where: Mapping[str, Label]) -> None:
    """Draw the windows of one run, and their sum if there are several users."""
    table = select_rows(tables["windows"], where)
    users = table["user"].unique(maintain_order=True).to_list()
    styles = {user: {"color": COLOURS[place % 6]} for place, user in enumerate(users)}
    curves(axes, table, x="time", y="window", by="user", order=users, styles=styles, drawstyle="steps-post")
    if len(users) > 1:
        total = table.group_by("time").agg(pl.col("window").sum())
        curves(axes, total, x="time", y="window", label=TOTAL, color="black", drawstyle="steps-post")


POWERS = {"power": "global power", "router": "power at the bottleneck"}


def power(
    x: str,
    xlabel: str,
    by: str,
    names: Mapping[Any, str],
    sizes: Iterable[str],
    column: str,
    **where: Label,
) -> Plot:
    """Show one of `POWERS` over `x`: a curve per value of `by` and a panel per kind of packet sizes."""
    panels = [
        Panel(
            Curves(x, column, by, names, where={"sizes": size, **where}),
            lambda axes, _: axes.set_ylim(0, 1.1 * axes.dataLim.ymax),
            xlabel=xlabel,
            ylabel=f"{POWERS[column]} (packets / unit$^2$)",
            title=size,
        )
        for size in sizes
    ]
    return Plot(*panels)
