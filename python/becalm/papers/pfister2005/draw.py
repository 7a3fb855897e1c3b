"""The figures of pfister2005, with throughput of every output port and IPDs over time, as in the paper."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from becalm.lab.model import Label, Tables
from becalm.lab.tables import select_rows
from becalm.papers.pfister2005.scene import CASES
from becalm.plot import COLOURS, MARKERS, curves, legend, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLES = {case: f"case {case}: load {load}, HSD {degree or 'N'}" for case, (load, degree) in CASES.items()}
HOT_COLOUR = COLOURS[1]
COLD_COLOUR = COLOURS[0]


def cases(tables: Tables, hot: int, settings: Sequence[str], ipd: Sequence[str]) -> Figure:
    """Draw a column per case, with throughput for every setting, then IPDs for some settings."""
    numbers = sorted(tables["points"]["case"].unique().to_list())
    made, areas = panels(len(settings) + len(ipd), len(numbers), width=3.6, height=2.4)
    for row, setting in enumerate((*settings, *ipd)):
        for column, case in enumerate(numbers):
            axes = areas[row * len(numbers) + column]
            draw = _ports if row < len(settings) else _ipd
            draw(axes, tables, hot, {"case": case, "control": setting})
            axes.set_title(f"{TITLES[case]}\n{setting}", fontsize=8)
            axes.set_xlabel("time (ms)")
            if column == 0:
                axes.set_ylabel("throughput per port" if row < len(settings) else "IPD (us)")
    legend(made, *areas, below=3)
    return made


def settings(tables: Tables, hot: int, keys: Sequence[dict[str, Label]], titles: Sequence[str]) -> Figure:
    """Draw the throughput of the ports in several runs, up to four in a row."""
    rows = math.ceil(len(keys) / 4)
    columns = math.ceil(len(keys) / rows)
    made, areas = panels(rows, columns, width=3.8, height=3.0)
    for place, (axes, key, title) in enumerate(zip(areas[: len(keys)], keys, titles, strict=True)):
        _ports(axes, tables, hot, key)
        axes.set_title(title, fontsize=9)
        axes.set_xlabel("time (ms)")
        if place % columns == 0:
            axes.set_ylabel("throughput per port")
    for axes in areas[len(keys) :]:
        axes.set_axis_off()
    legend(made, *areas, below=3)
    return made


def sizes(tables: Tables, hot: int, names: Sequence[str], controls: Sequence[str]) -> Figure:
    """Draw a column per network and a row per setting. The settings of a single network are side by side."""
    rows, columns = (len(controls), len(names)) if len(names) > 1 else (1, len(controls))
    made, areas = panels(rows, columns, width=2.9, height=2.3)
    for row, control in enumerate(controls):
        for column, name in enumerate(names):
            axes = areas[row * len(names) + column]
            last = min(hot, tables["ports"].filter(pl.col("network") == name)["port"].to_numpy().max())
            _ports(axes, tables, last, {"network": name, "control": control, "case": 4})
            axes.set_title(f"{name} ports\n{control}", fontsize=8)
            axes.set_xlabel("time (ms)")
            if column == 0:
                axes.set_ylabel("throughput per port")
    legend(made, *areas, below=3)
    return made


def onsets(tables: Tables) -> Figure:
    """Draw the loss of the cold ports while a tree grows, and the ports when a hot link is at its limit."""
    names = tables["points"]["network"].unique(maintain_order=True).to_list()
    severities = sorted(tables["points"].filter(pl.col("what") == "load")["severity"].unique().to_list())
    made, areas = panels(1 + len(severities), len(names), width=3.8, height=2.4)
    for column, name in enumerate(names):
        axes = areas[column]
        growing = tables["onset"].filter(pl.col("network") == name)
        for place, buffer in enumerate(sorted(growing["buffer"].unique().to_list())):
            curve = growing.filter(pl.col("buffer") == buffer)
            times, shares = curve["us"].to_numpy(), curve["share"].to_numpy()
            label = f"other ports, input buffers of {buffer} MTUs"
            axes.plot(times, shares, color=COLOURS[place + 2], linewidth=1.2, label=label)
        axes.set_title(f"{name} ports, {TITLES[4]}", fontsize=8)
        axes.set_xlabel("time after the onset (us)")
        axes.set_ylim(0, 1.08)
        for row, severity in enumerate(severities, 1):
            axes = areas[row * len(names) + column]
            _ports(axes, tables, 31, {"network": name, "what": "load", "severity": severity})
            axes.set_title(f"{name} ports, hot link offered {severity:g}", fontsize=8)
            axes.set_xlabel("time (ms)")
    for axes in areas[:: len(names)]:
        axes.set_ylabel("throughput per port")
    legend(made, *areas, below=3)
    return made


def grid(tables: Tables, centre: str, parameters: dict[str, str], columns: dict[str, str]) -> Figure:
    """Draw metrics against the factor on each parameter: a row per network and case, a column per metric.

    All curves pass through the point whose parameter is called `centre`.
    """
    points = tables["points"]
    rows = points.select("network", "case").unique(maintain_order=True).rows()
    made, areas = panels(len(rows), len(columns), width=3.8, height=2.6)
    for row, (network, case) in enumerate(rows):
        here = points.filter((pl.col("network") == network) & (pl.col("case") == case))
        middle = here.filter(pl.col("parameter") == centre)
        chosen = pl.concat(
            [here, *(middle.with_columns(pl.lit(key).alias("parameter")) for key in parameters)]
        )
        for place, (column, name) in enumerate(columns.items()):
            axes = areas[row * len(columns) + place]
            curves(
                axes,
                chosen,
                x="factor",
                y=column,
                by="parameter",
                order=list(parameters),
                labels=parameters,
                styles={
                    key: {"color": COLOURS[at], "marker": MARKERS[at]} for at, key in enumerate(parameters)
                },
            )
            axes.set_xscale("log", base=2)
            axes.set_title(f"{network} ports, {TITLES[case]}", fontsize=8)
            axes.set_ylabel(name)
            axes.set_xlabel("times the guideline's value")
    legend(made, *areas, below=3)
    return made


def _ports(axes: Axes, tables: Tables, hot: int, key: dict[str, Label]) -> None:
    """Draw the cold ports as thin lines, their mean, and the hot port."""
    wide = select_rows(tables["ports"], key).pivot(on="port", index="time_ms", values="share").sort("time_ms")
    time = wide["time_ms"].to_numpy()
    cold = wide.drop("time_ms", str(hot)).to_numpy()
    axes.plot(time, cold, color=COLD_COLOUR, linewidth=0.4, alpha=0.35)
    axes.plot(time, cold.mean(axis=1), color="black", linewidth=1.2, label="mean of the other ports")
    axes.plot(time, wide[str(hot)].to_numpy(), color=HOT_COLOUR, linewidth=1.2, label="hot port")
    axes.set_ylim(0, 1.08)


def _ipd(axes: Axes, tables: Tables, hot: int, key: dict[str, Label]) -> None:
    """Draw the mean and largest IPD of the flows to the hot port and of all others."""
    del hot
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
