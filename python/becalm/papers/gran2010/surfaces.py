"""Fig. 11, 12 and 14 of gran2010, and section VII's statements on the other parameters of a switch.

A surface needs 28 runs. The five flows of scenario 1 start at intervals of a twentieth of a second instead of
a second, and then run for half a second.

Shares of a surface are shares of its area, with axes from 0 to the largest values. Each point represents the
values nearest to it, so the shares do not depend on the density of the points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import polars as pl

from becalm.lab.model import Experiment, Point, Tables
from becalm.lab.tables import at, curve, mean, select_rows, spread
from becalm.papers.gran2010.adapters import steady, throughput
from becalm.papers.gran2010.measure import point, with_all_flows
from becalm.papers.gran2010.scene import HOST_GBPS, Bed
from becalm.plot import figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TIMERS = (25, 100, 150, 250, 500, 1000, 2000)
RATES = (0, 1, 8, 64)
SHORT_TIMERS = (25, 150, 500, 2000)
SHORT_RATES = (1, 8, 64)

SAVED = 0.95 * HOST_GBPS
"""Lower limit of the victim's rate in the yellow area of the paper's surface, in Gb/s."""

TABLE_1 = {"timer": 150, "rate": 1}
VISIBLE = 2.0
"""Ratio to Table I's `Var` above which a point is unstable. A factor of two is visible."""


def _surface(name: str, title: str, column: str, label: str) -> Experiment:
    return Experiment(
        f"gran2010/{name}",
        title,
        cost=30,
        points=_points,
        measure=with_all_flows,
        draw=partial(_map, column=column, label=label),
    )


def _map(tables: Tables, column: str, label: str) -> Figure:
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
    made.colorbar(image, ax=axes, label=label)
    return made


def _points(short: bool) -> list[Point]:
    bed = Bed(interval=0.03, tail=0.25) if short else Bed(interval=0.05, tail=0.5)
    return [
        point(replace(bed, timer=timer, rate=rate), timer=timer, rate=rate)
        for timer in (SHORT_TIMERS if short else TIMERS)
        for rate in (SHORT_RATES if short else RATES)
    ]


def _values(tables: Tables, column: str) -> list[int]:
    values: list[int] = tables["points"][column].unique().sort().to_list()
    return values


def _ends(tables: Tables, timer: int) -> tuple[float, float]:
    """Return the victim's throughput at the lowest and at the highest marking rate."""
    along = curve(tables, "rate", "F1", timer=timer)
    return along[0], along[-1]


def _low_timers(tables: Tables, bound: int) -> list[float]:
    """Return the victim's throughput at all timers up to a bound, for all marking rates."""
    chosen: list[float] = tables["points"].filter(pl.col("timer") <= bound)["F1"].to_list()
    return chosen


def _range(values: Sequence[float]) -> float:
    return max(values) - min(values)


def marking_rate_matters_at_low_timers(tables: Tables) -> list[float]:
    """Return the victim's loss from a high marking rate, at the lowest timer that saves it and at 2000."""
    return [_drop(tables, timer) for timer in (_lowest_that_saves(tables), 2000)]


def tree_forms_at_low_timers(tables: Tables) -> float:
    """Return the victim's best throughput at timers up to 100, over all marking rates."""
    return max(_low_timers(tables, 100))


def low_rate_best(tables: Tables) -> float:
    """Return the share of timers whose lowest marking rate gives the victim visibly more than the highest."""
    timers = _values(tables, "timer")
    return sum(_drop(tables, timer) > 0.01 * HOST_GBPS for timer in timers) / len(timers)


def _drop(tables: Tables, timer: int) -> float:
    low, high = _ends(tables, timer)
    return low - high


def _lowest_that_saves(tables: Tables) -> int:
    return int(min(_yellow(tables)["timer"].to_list()))


def _yellow(tables: Tables) -> pl.DataFrame:
    return tables["points"].filter(pl.col("F1") >= SAVED)


def contributors_vary_little(tables: Tables) -> float:
    """Return the range of the contributors' throughput relative to its mean, where the victim is saved."""
    return _range(_yellow(tables)["contributors"].to_list()) / mean(_yellow(tables)["contributors"].to_list())


def link_used_at_2000(tables: Tables) -> list[float]:
    """Return the contributors' total rate relative to H5's receive rate, by marking rate, at timer 2000."""
    return [4 * value / HOST_GBPS for value in curve(tables, "rate", "contributors", timer=2000)]


def large_part_unstable(tables: Tables) -> float:
    """Return the share of the surface that is not stable."""
    return _part(tables, pl.col("var") > _stable(tables))


def good_values_are_few(tables: Tables) -> float:
    """Return the share of the surface that is stable and gives the victim 95% of 13 Gb/s."""
    return _part(tables, (pl.col("F1") >= SAVED) & (pl.col("var") <= _stable(tables)))


def _stable(tables: Tables) -> float:
    """Return the largest `Var` that counts as stable, in (Gb/s)^2."""
    return VISIBLE * at(tables, "var", **TABLE_1)


def _part(tables: Tables, condition: pl.Expr) -> float:
    """Return the share of the surface's area where a condition holds."""
    areas = {
        (timer, rate): width * height
        for timer, width in _widths(_values(tables, "timer")).items()
        for rate, height in _widths(_values(tables, "rate")).items()
    }
    chosen = tables["points"].filter(condition).select("timer", "rate").rows()
    return sum(areas[row] for row in chosen) / sum(areas.values())


def _widths(values: Sequence[int]) -> dict[int, float]:
    """Return the length of an axis, from 0 to the last value, that is nearest to each value."""
    edges = [0.0, *((low + high) / 2 for low, high in pairwise(values)), float(values[-1])]
    return {value: high - low for value, (low, high) in zip(values, pairwise(edges), strict=True)}


def best_of_thresholds(tables: Tables, threshold: int) -> float:
    """Return the victim's throughput at a threshold minus its best at any other threshold."""
    others = tables["points"].filter(pl.col("threshold") != threshold)["F1"].to_list()
    return at(tables, "F1", threshold=threshold) - max(map(float, others))


def range_over_sizes(tables: Tables, sizes: list[int]) -> float:
    """Return the range of the victim's throughput at these values of `Packet_Size`, in credits of 64 B."""
    return _range([at(tables, "F1", packet_size=size) for size in sizes])


def spread_of_oscillation(tables: Tables) -> float:
    """Return the ratio of the largest to the smallest standard deviation of contributors on the surface."""
    return spread([float(value) for value in tables["points"]["sd"].to_list()])


EXPERIMENTS = [
    _surface(
        "fig11",
        "Throughput of the victim over CCTI_Timer and Marking_Rate",
        "F1",
        "throughput of the victim (Gb/s)",
    ),
    _surface(
        "fig12",
        "Mean throughput of the four contributors over CCTI_Timer and Marking_Rate",
        "contributors",
        "mean throughput of the contributors (Gb/s)",
    ),
    _surface("fig14", "Treatment variation over CCTI_Timer and Marking_Rate", "var", "Var ((Gb/s)²)"),
    Experiment(
        "gran2010/threshold",
        "Throughput of the victim by Threshold, scenario 1 with all flows",
        cost=4,
        points=lambda _: [
            point(replace(steady(), threshold=value), threshold=value) for value in (0, 1, 4, 8, 12, 15)
        ],
        measure=with_all_flows,
        draw=throughput("threshold", "Threshold"),
    ),
    Experiment(
        "gran2010/packet_size",
        "Throughput of the victim by Packet_Size, scenario 1 with all flows",
        cost=3,
        points=lambda _: [
            point(replace(steady(), packet_size=size), packet_size=size) for size in (0, 8, 16, 32, 33)
        ],
        measure=with_all_flows,
        draw=throughput("packet_size", "Packet_Size (64 B)"),
    ),
]
"""Fig. 11, 12 and 14, and the parameters of section VII-A."""
