"""Ramakrishnan and Jain 1990, section 4.1: averages that send all users the same signal."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from becalm.lab.model import Experiment, Outcome, Point, Table, Tables
from becalm.lab.tables import mean
from becalm.papers.ramakrishnan1990.measure import summary
from becalm.papers.ramakrishnan1990.scene import (
    EXPONENTIAL,
    INSTANTANEOUS,
    REGENERATION,
    Path,
    User,
    units,
)
from becalm.plot import curves, legend, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROUND_TRIP = Path().network.round_trip
INTERVALS = tuple(round(ROUND_TRIP * factor, 3) for factor in (0.25, 0.5, 1, 2, 4, 8))
SHORTER, LONGER = INTERVALS[0], INTERVALS[-1]
STARTS = tuple(600.0 + 117.0 * place for place in range(10))
"""Starts of the second user, in units."""
MANY = 8
ARRIVALS = ROUND_TRIP / max(Path().service)
"""Number of packets that arrive at a saturated bottleneck in a round trip."""
REACHES = (1, 0.25, 8)
"""Time constants of the exponential averages, in round trips."""
WEIGHTS = tuple(1 / (factor * ARRIVALS) for factor in REACHES)


def others_are_less_consistent(tables: Tables) -> list[float]:
    """Return the inconsistency of marks with shorter and longer intervals, minus that with the round trip."""
    return [
        mean_at(tables, "inconsistency", interval) - mean_at(tables, "inconsistency", ROUND_TRIP)
        for interval in (SHORTER, LONGER)
    ]


def exponential_is_less_consistent(tables: Tables) -> list[float]:
    """Return the inconsistency of marks with averages over fewer and more arrivals, minus a round trip's."""
    near, *far = (_weighted(tables, "inconsistency", place) for place in range(len(WEIGHTS)))
    return [value - near for value in far]


def by_filter(tables: Tables, column: str, filter: str) -> float:
    """Return the mean over the starts with one of the filters, such as `cycles` or `instantaneous`."""
    return _of(tables, column, filter)


def more_idle(tables: Tables) -> float:
    """Return the bottleneck's idle share with the queue length itself, minus that with cycle averages."""
    averaged, instantaneous = (_of(tables, "throughput", name) for name in ("cycles", "instantaneous"))
    return (averaged - instantaneous) * max(Path().service)


def adaptive_is_fair(tables: Tables) -> list[float]:
    """Return Jain's index with averages over regeneration cycles, for two and for eight users."""
    return [_of(tables, "jain", "cycles"), _of(tables, "jain", "many users")]


def _points(short: bool) -> list[Point]:
    filters: list[tuple[str, float, Table, int]] = [
        ("intervals", interval, {"interval_average": {"interval": units(interval)}}, 2)
        for interval in INTERVALS
    ]
    filters += [("cycles", 0.0, REGENERATION, 2), ("many users", 0.0, REGENERATION, MANY)]
    filters += [("instantaneous", 0.0, INSTANTANEOUS, 2)]
    filters += [
        (f"weight {weight:.3g}", 0.0, {"exponential_average": {"weight": weight}}, 2) for weight in WEIGHTS
    ]
    path = Path(sizes=EXPONENTIAL, duration=30_000, warmup=15_000, step=1_000)
    return [
        Point(
            {"filter": name, "interval": interval, "joins": joins},
            replace(path, users=_users(count, joins), marking=marking).scenario(),
        )
        for name, interval, marking, count in filters
        for joins in STARTS[: 4 if short else None]
    ]


def _users(count: int, joins: float) -> tuple[User, ...]:
    """Return users that start at equal intervals."""
    return tuple(User(start=joins * place) for place in range(count))


def _measure(outcomes: list[Outcome]) -> Tables:
    """Return `points`, including `inconsistency`, the range of the users' shares of marked packets."""
    shares = [outcome.results.groups["marked_share"].to_numpy() for outcome in outcomes]
    inconsistency = pl.Series("inconsistency", [float(share.max() - share.min()) for share in shares])
    return {"points": summary(outcomes)["points"].with_columns(inconsistency)}


def mean_at(tables: Tables, column: str, interval: float) -> float:
    """Return the mean over the starts with averages over fixed intervals."""
    rows = tables["points"].filter((pl.col("filter") == "intervals") & (pl.col("interval") == interval))
    return mean(rows[column].to_list())


def _of(tables: Tables, column: str, name: str) -> float:
    return mean(tables["points"].filter(pl.col("filter") == name)[column].to_list())


def _weighted(tables: Tables, column: str, place: int) -> float:
    return _of(tables, column, f"weight {WEIGHTS[place]:.3g}")


def _draw(tables: Tables) -> Figure:
    made, areas = panels(1, 2, width=4.6)
    intervals = tables["points"].filter(pl.col("filter") == "intervals")
    means = intervals.group_by("interval").agg(pl.col("inconsistency", "jain").mean())
    for axes, column, label in (
        (areas[0], "inconsistency", "difference between shares of marked packets"),
        (areas[1], "jain", "Jain's index"),
    ):
        curves(axes, means, x="interval", y=column, marker="o", label="fixed intervals")
        axes.axhline(_of(tables, column, "cycles"), color="black", linestyle=":", label="regeneration cycles")
        reached = [
            (ROUND_TRIP * reach, _weighted(tables, column, place)) for place, reach in enumerate(REACHES)
        ]
        axes.plot(*zip(*sorted(reached), strict=True), marker="s", label="exponential averages")
        instantaneous = _of(tables, column, "instantaneous")
        axes.axhline(instantaneous, color="grey", linestyle="-.", label="the length itself")
        axes.axvline(ROUND_TRIP, color="grey", linestyle="--", label="round trip")
        axes.set(xlabel="interval or reach (units)", ylabel=label, xscale="log")
        axes.minorticks_off()
        axes.set_xticks(INTERVALS, [f"{interval:.3g}" for interval in INTERVALS])
    areas[0].set_ylim(0, None)
    legend(made, areas[0])
    return made


EXPERIMENTS = [
    Experiment(
        "ramakrishnan1990/filter",
        "Two users with exponential packet sizes: averages over intervals and cycles, exponential ones, none",
        cost=5,
        points=_points,
        measure=_measure,
        draw=_draw,
    )
]
"""The experiment on the filters of section 4.1."""
