"""The figures, with the papers' axes, order and legends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from becalm.lab.dumbbell import INTER_SWITCH, ROOT
from becalm.lab.model import Label, Tables
from becalm.lab.tables import select_rows
from becalm.plot import COLOURS, MARKERS, ROLES, SCHEMES, curves, figure, legend, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RATES = {
    ROOT: "root link",
    INTER_SWITCH: "inter-switch link",
    "local": "local flows",
    "remote": "remote flows",
    "victim": "victim flow",
}
"""The curves of a figure of rates over time, in the papers' order."""

PARTS = {ROOT: "root", INTER_SWITCH: "inter_switch"}
"""Roles of the links in the scene. Groups of flows are named after their role."""
RATE_STYLES = {name: {"color": ROLES[PARTS.get(name, name)]} for name in RATES}
RESPONSES = ("lipd", "fimd", "aimd")
SHARE = (0.0, 1.05)
"""Ends of an axis that shows shares of a link."""


def rates_over_time(tables: Tables, title: str, **where: Label) -> Figure:
    """Draw the rates of links and groups of flows over time, as shares of a link, in a sliding window."""
    series = select_rows(tables["series"], where).with_columns((pl.col("time") * 1e3).alias("time_ms"))
    present = series["name"].unique().to_list()
    order = [name for name in RATES if name in present]
    made, axes = figure()
    curves(axes, series, x="time_ms", y="share", by="name", order=order, labels=RATES, styles=RATE_STYLES)
    _dress(axes, "time (ms)", "normalized rate", title=title, y_range=SHARE)
    legend(made, axes)
    return made


def flow_rates(tables: Tables) -> Figure:
    """Draw the rate of one flow over time, one curve per response."""
    series = select_rows(tables["series"], {"name": "local probe"})
    series = series.with_columns((pl.col("time") * 1e3).alias("time_ms"))
    labels = {name: name.upper() for name in RESPONSES}
    made, axes = figure()
    styles = _schemes()
    curves(axes, series, x="time_ms", y="share", by="response", order=RESPONSES, labels=labels, styles=styles)
    _dress(axes, "time (ms)", "normalized rate of one flow", y_range=(0, 0.2))
    legend(made, axes)
    return made


def threshold_curves(tables: Tables, column: str, y: str, top: float) -> Figure:
    """Draw a quantity against the buffer size, one curve per output threshold. 0 means no threshold."""
    keys = sorted(tables["points"]["threshold"].unique().to_list(), key=lambda key: key or 99)
    made, axes = figure()
    _buffer_panel(axes, tables["points"], column, "threshold", keys, lambda key: f"{key}" if key else "none")
    _dress(axes, "buffer size (packets per input port)", y, y_range=(0, top))
    legend(made, axes, title="output threshold")
    return made


def flow_curves(tables: Tables) -> Figure:
    """Draw root utilization and fairness with threshold 8 against the buffer size, by number of flows."""
    points = select_rows(tables["points"], {"threshold": 8})
    made, areas = panels(1, 2, width=4.6)
    keys = sorted(points["flows"].unique().to_list())
    for axes, column, y, top in (
        (areas[0], "root", "root link utilization", SHARE[1]),
        (areas[1], "ratio", "rate of remote flows / rate of local flows", None),
    ):
        _buffer_panel(axes, points, column, "flows", keys, str)
        _dress(axes, "buffer size (packets per input port)", y, title="output threshold 8", y_range=(0, top))
    legend(made, areas[0], title="flows of each type")
    return made


def _buffer_panel(
    axes: Axes, points: pl.DataFrame, column: str, by: str, keys: Sequence[int], name: Callable[[int], str]
) -> None:
    labels = {key: name(key) for key in keys}
    curves(axes, points, x="buffer", y=column, by=by, order=keys, labels=labels, styles=_marked(keys))
    axes.set_xticks(range(2, 17, 2))


def response_curves(tables: Tables, axis: str, x: str, *, log: bool = False) -> Figure:
    """Draw utilization of root and inter-switch link by response, with discrete rates dashed or dotted."""
    points = tables["points"].with_columns(
        pl.concat_str("response", "rates", separator=" ").alias("line"),
    )
    lines = {f"{response} {rates}": (response, rates) for response in RESPONSES for rates in _rates(points)}
    labels = {key: _response_label(*line, _rates(points)) for key, line in lines.items()}
    styles = {key: _response_style(*line) for key, line in lines.items()}
    made, areas = panels(1, 2, width=4.6)
    for axes, column, title in zip(
        areas, ("root", "inter_switch"), ("root link", "inter-switch link"), strict=True
    ):
        curves(axes, points, x=axis, y=column, by="line", order=list(lines), labels=labels, styles=styles)
        _dress(axes, x, "link utilization", title=title, y_range=SHARE, log=log)
        if not log:
            axes.set_xticks(range(2, 17, 2))
    legend(made, areas[0])
    return made


def _rates(points: pl.DataFrame) -> list[str]:
    rates: list[str] = points["rates"].unique().sort().to_list()
    return rates


def _response_label(response: str, rates: str, all_rates: Sequence[str]) -> str:
    return f"{response.upper()}, {rates}" if len(all_rates) > 1 else response.upper()


def _response_style(response: str, rates: str) -> dict[str, Any]:
    style = {"color": SCHEMES[response], "marker": MARKERS[RESPONSES.index(response)]}
    dash = {"discrete": "--", "discrete, slower": ":"}.get(rates)
    return {**style, "linestyle": dash, "markerfacecolor": "none"} if dash else style


def dynamic_curves(tables: Tables) -> Figure:
    """Draw the rates of static and dynamic flows against the mean ON time, with persistent state dashed."""
    made, axes = figure()
    for state, suffix in (("new", ""), ("persistent", ", persistent state")):
        for place, kind in enumerate(("static", "dynamic")):
            curves(
                axes,
                select_rows(tables["points"], {"state": state}),
                x="mean_on",
                y=kind,
                label=f"{kind} flows{suffix}",
                color=COLOURS[place],
                marker=MARKERS[place],
                linestyle="--" if state == "persistent" else "-",
            )
    _dress(axes, "mean ON time (ms)", "normalized rate", y_range=SHARE, log=True)
    legend(made, axes)
    return made


def increase_curves(tables: Tables) -> Figure:
    """Draw F_inc(t) of the three responses: closed forms as lines, a single simulated flow as dots."""
    order = ("aimd", "fimd", "lipd")
    colours = _schemes()
    made, axes = figure()
    labels = {name: name.upper() for name in order}
    curves(
        axes,
        tables["curves"],
        x="time_ms",
        y="rate",
        by="response",
        order=order,
        labels=labels,
        styles=colours,
    )
    # At the lowest rates, single packets are too coarse to draw, so means over 4 ms are used.
    dots = tables["simulated"].with_columns(pl.col("time_ms") // 4 * 4 + 2)
    dots = dots.group_by("response", "time_ms", maintain_order=True).agg(pl.col("share").mean())
    labels = {name: f"{name.upper()}, simulated" for name in order}
    curves(
        axes,
        dots,
        x="time_ms",
        y="share",
        by="response",
        order=order,
        labels=labels,
        styles=colours,
        linestyle="none",
        marker=".",
    )
    _dress(axes, "time (ms)", "rate / maximum rate", y_range=SHARE)
    legend(made, axes)
    return made


def recovery_curves(tables: Tables) -> Figure:
    """Draw the recovery time after a mark against the rate before it, by response."""
    made, axes = figure()
    labels = {name: name.upper() for name in RESPONSES}
    styles = _schemes()
    points = tables["points"]
    curves(axes, points, x="rate", y="recovery", by="response", order=RESPONSES, labels=labels, styles=styles)
    _dress(axes, "rate before the mark / maximum rate", "recovery time x R_min", y_range=(0.5, 200), log=True)
    axes.set_yscale("log")
    legend(made, axes)
    return made


def headroom_curves(tables: Tables) -> Figure:
    """Draw root utilization against the free slots of a buffer that counts as full, by buffer size."""
    points = tables["points"]
    keys = sorted(points["buffer"].unique().to_list())
    labels = {key: f"{key} slots" for key in keys}
    made, axes = figure()
    curves(axes, points, x="headroom", y="root", by="buffer", order=keys, labels=labels, styles=_marked(keys))
    _dress(axes, "free slots at which a buffer counts as full", "root link utilization", y_range=SHARE)
    legend(made, axes)
    return made


def bars(tables: Tables, x: str, y: str, label: str) -> Figure:
    """Draw one column of the points as bars, one per point."""
    points = tables["points"]
    made, axes = figure()
    axes.bar([str(name) for name in points[x]], points[y].to_list(), width=0.5, color=COLOURS[0])
    _dress(axes, x, label, y_range=(0, None))
    return made


def _schemes() -> dict[str, dict[str, Any]]:
    return {name: {"color": SCHEMES[name]} for name in RESPONSES}


def _marked(keys: Sequence[Any]) -> dict[Any, dict[str, Any]]:
    return {key: {"color": COLOURS[place], "marker": MARKERS[place]} for place, key in enumerate(keys)}


def _dress(
    axes: Axes,
    x: str,
    y: str,
    *,
    title: str = "",
    y_range: tuple[float | None, float | None] = (None, None),
    log: bool = False,
) -> None:
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_title(title)
    axes.set_ylim(*y_range)
    if log:
        axes.set_xscale("log")
