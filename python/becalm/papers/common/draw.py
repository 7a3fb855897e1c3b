"""The figures of several experiments, with the papers' axes, order and legends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from becalm.lab.dumbbell import INTER_SWITCH, ROOT, Dumbbell
from becalm.lab.figures import PLAIN, Bars, Curves, Panel, Plot, Style, single
from becalm.lab.model import Experiment, Label, Point
from becalm.papers.common.measure import with_series
from becalm.plot import MARKERS, ROLES, SCHEMES

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
TIME_MS = pl.col("time") * 1e3
RESPONSE_NAMES = {name: name.upper() for name in ("lipd", "fimd", "aimd")}
"""Names of the responses in figures."""
RESPONSE_STYLES = {name: {"color": SCHEMES[name]} for name in RESPONSE_NAMES}
SHARE = (0.0, 1.05)
"""Ends of an axis that shows shares of a link."""
BUFFERS: dict[str, Any] = {"xlabel": "buffer size (packets per input port)", "xticks": range(2, 17, 2)}
"""The axis of buffer sizes."""


def rates_over_time(title: str, **where: Label) -> Plot:
    """Show the rates of links and groups of flows over time, as shares of a link, in a sliding window."""
    rates = Curves(
        TIME_MS, "share", "name", RATES, style=PLAIN, styles=RATE_STYLES, where=where, table="series"
    )
    return single(rates, xlabel="time (ms)", ylabel="normalized rate", title=title, ylim=SHARE)


def over_time(
    id: str, title: str, cost: float, points: Sequence[Point], caption: str, **shown: Label
) -> Experiment:
    """Return the experiment that shows one of its points over time."""
    return Experiment(
        id,
        title,
        cost=cost,
        points=lambda _: list(points),
        measure=with_series,
        draw=rates_over_time(caption, **shown),
    )


def runs(**scenes: Dumbbell) -> list[Point]:
    """Return points with the label `run`."""
    return [Point({"run": name}, scene.scenario()) for name, scene in scenes.items()]


DISCRETE: dict[str, Style] = {
    "continuous": {},
    "discrete": {"linestyle": "--", "markerfacecolor": "none"},
    "discrete, slower": {"linestyle": ":", "markerfacecolor": "none"},
}
"""Styles of continuous and discrete rates."""


def response_curves(x: str, rates: Sequence[str], **axes: Any) -> Plot:  # noqa: ANN401
    """Show the utilization of root and inter-switch link by response and by kind of rates."""
    pairs = {f"{response} {kind}": (response, kind) for response in RESPONSE_NAMES for kind in rates}
    names = {
        pair: f"{RESPONSE_NAMES[response]}, {kind}" if len(rates) > 1 else RESPONSE_NAMES[response]
        for pair, (response, kind) in pairs.items()
    }
    markers = dict(zip(RESPONSE_NAMES, MARKERS, strict=False))
    styles = {
        pair: {**RESPONSE_STYLES[response], "marker": markers[response], **DISCRETE[kind]}
        for pair, (response, kind) in pairs.items()
    }
    by = pl.concat_str("response", "rates", separator=" ")
    return Plot(
        *(
            Panel(
                Curves(x, y, by, names, styles=styles),
                ylabel="link utilization",
                title=title,
                ylim=SHARE,
                **axes,
            )
            for y, title in (("root", "root link"), ("inter_switch", "inter-switch link"))
        )
    )


def bars(x: str, y: str, label: str) -> Plot:
    """Show one column of the points as bars, one per point."""
    return single(Bars(x, {y: ""}), xlabel=x, ylabel=label, ylim=(0, None))
