"""The figures of pfister2005, with throughput of every output port and IPDs over time, as in the paper."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import polars as pl

from becalm.lab.figures import PLAIN, Curves, Panel, Part, Plot
from becalm.lab.model import Label, Tables
from becalm.lab.tables import select_rows
from becalm.papers.pfister2005.scene import CASES
from becalm.plot import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLES = {case: f"case {case}: load {load}, HSD {degree or 'N'}" for case, (load, degree) in CASES.items()}
HOT_COLOUR = COLOURS[1]
COLD_COLOUR = COLOURS[0]
PORTS = "throughput per port"
"""Label of the vertical axis."""
Key: TypeAlias = Mapping[str, Label]
"""Labels of a run."""


def cases(settings: Sequence[str], ipd: Sequence[str]) -> Callable[[Tables], Figure]:
    """Show a column per case, with throughput for every setting, then IPDs for some settings."""

    def draw(tables: Tables) -> Figure:
        numbers = sorted(tables["points"]["case"].unique().to_list())
        panels = [
            _panel(
                part,
                label,
                f"{TITLES[case]}\n{setting}",
                {"case": case, "control": setting},
                case == numbers[0],
            )
            for part, label, rows in ((_ports, PORTS, settings), (_ipd, "IPD (us)", ipd))
            for setting in rows
            for case in numbers
        ]
        return Plot(*panels, columns=len(numbers), width=3.6, height=2.4, below=3)(tables)

    return draw


def settings(runs: Mapping[str, Key]) -> Plot:
    """Show the throughput of the ports in several runs by title, up to four in a row."""
    columns = math.ceil(len(runs) / math.ceil(len(runs) / 4))
    panels = [
        _panel(_ports, PORTS, title, key, place % columns == 0, fontsize=9)
        for place, (title, key) in enumerate(runs.items())
    ]
    return Plot(*panels, columns=columns, width=3.8, height=3.0, below=3)


def sizes(names: Sequence[str], controls: Sequence[str]) -> Plot:
    """Show a column per network and a row per setting. The settings of a single network are side by side."""
    panels = [
        _panel(
            _ports,
            PORTS,
            f"{name} ports\n{control}",
            {"network": name, "control": control, "case": 4},
            name == names[0],
        )
        for control in controls
        for name in names
    ]
    columns = len(names) if len(names) > 1 else len(controls)
    return Plot(*panels, columns=columns, width=2.9, height=2.3, below=3)


def onsets(tables: Tables) -> Figure:
    """Draw the loss of the cold ports while a tree grows, and the ports when a hot link is at its limit."""
    names = tables["points"]["network"].unique(maintain_order=True).to_list()
    severities = sorted(tables["points"].filter(pl.col("what") == "load")["severity"].unique().to_list())
    buffers = sorted(tables["onset"]["buffer"].unique().to_list())
    labels = {buffer: f"other ports, input buffers of {buffer} MTUs" for buffer in buffers}
    style = {**PLAIN, "linewidth": 1.2}
    growing = [
        Panel(
            Curves(
                "us", "share", "buffer", labels, first=2, style=style, where={"network": name}, table="onset"
            ),
            _title(f"{name} ports, {TITLES[4]}"),
            xlabel="time after the onset (us)",
            ylabel=PORTS if name == names[0] else "",
            ylim=(0, 1.08),
        )
        for name in names
    ]
    limits = [
        _panel(
            _ports,
            PORTS,
            f"{name} ports, hot link offered {severity:g}",
            {"network": name, "what": "load", "severity": severity},
            name == names[0],
        )
        for severity in severities
        for name in names
    ]
    return Plot(*growing, *limits, columns=len(names), width=3.8, height=2.4, below=3)(tables)


def grid(tables: Tables, centre: str, parameters: dict[str, str], columns: dict[str, str]) -> Figure:
    """Draw metrics against the factor on each parameter: a row per network and case, a column per metric.

    All curves pass through the point whose parameter is called `centre`.
    """
    points = tables["points"]
    middle = points.filter(pl.col("parameter") == centre)
    points = pl.concat([points, *(middle.with_columns(parameter=pl.lit(key)) for key in parameters)])
    panels = [
        Panel(
            Curves("factor", column, "parameter", parameters, where={"network": network, "case": case}),
            lambda axes, _: axes.set_xscale("log", base=2),
            _title(f"{network} ports, {TITLES[case]}"),
            xlabel="times the guideline's value",
            ylabel=label,
        )
        for network, case in points.select("network", "case").unique(maintain_order=True).rows()
        for column, label in columns.items()
    ]
    return Plot(*panels, columns=len(columns), width=3.8, height=2.6, below=3)({"points": points})


def _panel(
    draw: Callable[[Axes, Tables, Key], None],
    label: str,
    title: str,
    key: Key,
    first: bool,
    fontsize: int = 8,
) -> Panel:
    """Return a panel over time, with a label of the vertical axis in the first column."""
    ylabel = label if first else ""
    return Panel(
        lambda axes, tables: draw(axes, tables, key),
        _title(title, fontsize),
        xlabel="time (ms)",
        ylabel=ylabel,
    )


def _title(title: str, fontsize: int = 8) -> Part:
    return lambda axes, _: axes.set_title(title, fontsize=fontsize)


def _ports(axes: Axes, tables: Tables, key: Key) -> None:
    """Draw the cold ports as thin lines, their mean, and the hot port, which is the last that is shown."""
    table = select_rows(tables["ports"], key)
    if table.is_empty():
        # The reduced version has fewer runs.
        return
    hot = str(table["port"].max())
    wide = table.pivot(on="port", index="time_ms", values="share").sort("time_ms")
    time = wide["time_ms"].to_numpy()
    cold = wide.drop("time_ms", hot).to_numpy()
    axes.plot(time, cold, color=COLD_COLOUR, linewidth=0.4, alpha=0.35)
    axes.plot(time, cold.mean(axis=1), color="black", linewidth=1.2, label="mean of the other ports")
    axes.plot(time, wide[hot].to_numpy(), color=HOT_COLOUR, linewidth=1.2, label="hot port")
    axes.set_ylim(0, 1.08)


def _ipd(axes: Axes, tables: Tables, key: Key) -> None:
    """Draw the mean and largest IPD of the flows to the hot port and of all others."""
    table = select_rows(tables["ipd"], key)
    for flows, column, label, colour, line in (
        ("hot", "max", "flows to the hot port: largest IPD", HOT_COLOUR, ":"),
        ("hot", "mean", "flows to the hot port: mean IPD", HOT_COLOUR, "-"),
        ("cold", "max", "other flows: largest IPD", COLD_COLOUR, ":"),
        ("cold", "mean", "other flows: mean IPD", COLD_COLOUR, "-"),
    ):
        chosen = table.filter(pl.col("flows") == flows).sort("time_ms")
        times, values = chosen["time_ms"].to_numpy(), chosen[column].to_numpy()
        axes.plot(times, values, color=colour, linestyle=line, linewidth=1.0, label=label)
