"""Four hosts that send to one: three far away over shared links, and one next to the receiver."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from becalm.lab.model import Experiment, Point, Tables
from becalm.papers.zhu2015.clos import CONTROLS, DRAWS, PFC, RATE, jain_by_draw, measure, scenario
from becalm.plot import COLOURS, legend, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FAR, NEAR = ("A1", "A2", "A3"), "D"
FLOWS = [{"name": "far", "from": list(FAR), "to": ["R"]}, {"name": "near", "from": [NEAR], "to": ["R"]}]


def experiments() -> list[Experiment]:
    """Return the experiment on rates with only PFC and with DCQCN, over samples of the paths."""
    return [
        Experiment(
            "zhu2015/unfairness",
            "Rates of three hosts far away and one next to the receiver, with only PFC and with DCQCN",
            cost=25,
            points=_points,
            measure=measure,
            draw=_draw,
        )
    ]


def _points(short: bool) -> list[Point]:
    return [
        Point({"control": control, "draw": draw}, scenario(FLOWS, control, short), draw)
        for control in CONTROLS
        for draw in range(1 if short else DRAWS[control])
    ]


def _of(tables: Tables, control: str) -> pl.DataFrame:
    return tables["points"].filter(pl.col("control") == control)


def near_over_best(tables: Tables) -> float:
    """Return the smallest ratio of the near host's rate to the others' largest with only PFC, at most 1."""
    runs = [run for _, run in _of(tables, PFC).group_by("draw")]
    return min(1.0, *(float(_near(run).min() / _far(run).max()) for run in runs))


def near_over_all(tables: Tables) -> float:
    """Return the ratio of the near host's lowest rate to the others' largest with only PFC, at most 1."""
    return min(1.0, float(_near(_of(tables, PFC)).min() / _far(_of(tables, PFC)).max()))


def least_fair(tables: Tables, control: str) -> float:
    """Return the smallest fairness index of the four flows in any run."""
    return min(jain_by_draw(_of(tables, control)))


def most_fair(tables: Tables, control: str) -> float:
    """Return the largest fairness index of the four flows in any run."""
    return max(jain_by_draw(_of(tables, control)))


def extremes(tables: Tables, control: str) -> list[float]:
    """Return the smallest and largest rate of a flow in Gb/s, over all runs."""
    rates = _of(tables, control)["gbps"].to_numpy()
    return [float(rates.min()), float(rates.max())]


def _near(run: pl.DataFrame) -> np.ndarray:
    return run.filter(pl.col("group") == "near")["gbps"].to_numpy()


def _far(run: pl.DataFrame) -> np.ndarray:
    return run.filter(pl.col("group") == "far")["gbps"].to_numpy()


def _draw(tables: Tables) -> Figure:
    made, areas = panels(1, len(CONTROLS), width=4.2)
    for axes, control in zip(areas, CONTROLS, strict=True):
        table = _of(tables, control)
        for place, source in enumerate((*FAR, NEAR)):
            rates = table.filter(pl.col("source") == source)["gbps"].to_numpy()
            spread = [[np.median(rates) - rates.min()], [rates.max() - np.median(rates)]]
            colour = COLOURS[1 if source == NEAR else 0]
            axes.bar(place, np.median(rates), 0.6, yerr=spread, capsize=4, color=colour)
        axes.axhline(RATE / 4, color="black", linestyle="--", label="a quarter of the link")
        axes.set(title=control, xticks=range(4), xticklabels=[*FAR, NEAR], ylim=(0, RATE / 2 + 2))
    areas[0].set(ylabel="rate (Gb/s): median, least, largest")
    legend(made, areas[0], below=1)
    return made
