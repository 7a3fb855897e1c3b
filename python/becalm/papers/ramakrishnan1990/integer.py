"""Ramakrishnan and Jain 1990, section 5.4: the example of two users whose windows are integers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from becalm.lab.model import Experiment, Label, Point, Tables
from becalm.lab.tables import axis, mean
from becalm.papers.ramakrishnan1990.draw import window_panels
from becalm.papers.ramakrishnan1990.measure import stretch, with_windows
from becalm.papers.ramakrishnan1990.scene import Path, User, feedback
from becalm.papers.ramakrishnan1990.user import FIRST, KNEE, SECOND
from becalm.theory import jain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STARTS = tuple(31.0 * place for place in range(97))
"""Starts of the second user, in units. The stable point of the two users depends on the start."""
FACTOR = {"multiplicative": {"factor": 0.8}}
LATE, END = 15_000.0, 20_000.0
"""Period in which windows are measured."""
DRAWN = 1_500.0
"""Part of the measured period that the figure shows."""
CYCLE = {(10, 6), (8, 4), (9, 5)}
"""Windows of the first and the second user in the paper's cycle."""
RUNS = {"integer": "integer windows", "real": "real windows"}


def reaches_the_cycle(tables: Tables) -> float:
    """Return the number of starts at which the windows follow the paper's cycle."""
    return float(len(_reached(tables)))


def integers_may_be_unfair(tables: Tables) -> float:
    """Return the ratio of the users' mean windows at the worst start."""
    return max(_ratio(tables, "integer", joins) for joins in axis(tables, "joins"))


def index(tables: Tables, kind: str) -> float:
    """Return the mean fairness index of the mean windows over the starts."""
    return mean([jain(_means(tables, kind, joins)) for joins in axis(tables, "joins")])


def _points(short: bool) -> list[Point]:
    return [
        Point({"kind": kind, "joins": joins}, _path(kind, joins).scenario())
        for joins in STARTS[: 6 if short else None]
        for kind in RUNS
    ]


def _path(kind: str, joins: float) -> Path:
    response = feedback(decrease=FACTOR, arithmetic=kind)
    return Path(users=(User(), User(start=joins)), response=response, duration=END + 200, step=20)


def _draw(tables: Tables) -> Figure:
    joins = [*_reached(tables), 0.0][0]
    time = pl.col("time").is_between(LATE, LATE + DRAWN)
    shown = tables["windows"].filter((pl.col("joins") == joins) & time)
    return window_panels(KNEE, RUNS, "kind")({"windows": shown})


def _reached(tables: Tables) -> list[float]:
    """Return the starts at which integer windows follow the paper's cycle."""
    return [joins for joins in axis(tables, "joins") if _cycles(tables, joins)]


def _cycles(tables: Tables, joins: float) -> bool:
    first, second = (
        stretch(tables, LATE, END, user, kind="integer", joins=joins) for user in (FIRST, SECOND)
    )
    seen = {(int(one), int(other)) for one, other in zip(first, second, strict=True)}
    within = all(8 <= one <= 10 and 4 <= other <= 6 for one, other in seen)
    return within and seen >= CYCLE


def _ratio(tables: Tables, kind: str, joins: float) -> float:
    means = _means(tables, kind, joins)
    return max(means) / min(means)


def _means(tables: Tables, kind: str, joins: float) -> list[float]:
    where: dict[str, Label] = {"kind": kind, "joins": joins}
    return [float(stretch(tables, LATE, END, user, **where).mean()) for user in (FIRST, SECOND)]


EXPERIMENTS = [
    Experiment(
        "ramakrishnan1990/integer",
        "Two users with a decrease factor of 0.8, integer and real windows",
        cost=3,
        points=_points,
        measure=with_windows,
        draw=_draw,
    )
]
"""The example with integers."""
