"""Ramakrishnan and Jain 1990, section 5.4: decrease factor, integer windows, and a search of parameters."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from becalm.lab.figures import Curves, single
from becalm.lab.model import Experiment, Label, Outcome, Point, Tables
from becalm.lab.tables import axis, mean
from becalm.papers.ramakrishnan1990.draw import window_panels
from becalm.papers.ramakrishnan1990.measure import stretch, summary, with_windows
from becalm.papers.ramakrishnan1990.scene import EXPONENTIAL, Path, User, feedback
from becalm.papers.ramakrishnan1990.user import FIRST, KNEE, PAIR, SECOND
from becalm.theory import jain

if TYPE_CHECKING:
    from matplotlib.figure import Figure


JOINS = tuple(31.0 * place for place in range(97))
"""Starts of the second user, in units. The stable point of the two users depends on the start."""
FACTOR = {"multiplicative": {"factor": 0.8}}
LATE, END = 15_000.0, 20_000.0
"""Period in which windows are measured."""
DRAWN = 1_500.0
"""Part of the measured period that the figure shows."""
CYCLE = {(10, 6), (8, 4), (9, 5)}
"""Windows of the first and the second user in the paper's cycle."""
RUNS = {"integer": "integer windows", "real": "real windows"}
KINDS = (*RUNS, "single")
"""Arithmetic of the windows. The figure does not show single precision."""


def reaches_the_cycle(tables: Tables) -> float:
    """Return the number of starts at which the windows follow the paper's cycle."""
    return float(len(_reached(tables)))


def integers_may_be_unfair(tables: Tables) -> float:
    """Return the ratio of the users' mean windows at the worst start."""
    return max(_ratio(tables, "integer", joins) for joins in axis(tables, "joins"))


def index(tables: Tables, kind: str) -> float:
    """Return the mean fairness index of the mean windows over the starts."""
    return mean([jain(_means(tables, kind, joins)) for joins in axis(tables, "joins")])


def unlike_real(tables: Tables, kind: str) -> float:
    """Return the mean relative difference of the users' mean windows from those of real windows."""
    differences = [
        abs(one - other) / other
        for joins in axis(tables, "joins")
        for one, other in zip(_means(tables, kind, joins), _means(tables, "real", joins), strict=True)
    ]
    return mean(differences)


def _points(short: bool) -> list[Point]:
    return [
        Point({"kind": kind, "joins": joins}, _path(kind, joins).scenario())
        for joins in JOINS[: 6 if short else None]
        for kind in KINDS
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


FACTORS = (0.5, 0.7, 0.9)
"""Compared decrease factors. The paper names the first and the last."""


SETTLED = 400.0
"""Time in units by which packets of the second user have certainly arrived."""
INCREASES = (0.5, 1.0, 2.0)
SEARCHED = (0.5, 0.6, 0.7, 0.8, 0.875, 0.95)
"""Increases in packets, and decrease factors. All combinations are tried."""


STARTS = tuple(600.0 + 37.0 * place for place in range(25))
"""Starts of the second user in the comparison of decrease factors."""


def _factor_points(short: bool) -> list[Point]:
    path = replace(PAIR, sizes=EXPONENTIAL, duration=40_000, step=20)
    return [
        Point(
            {"factor": factor, "joins": joins},
            replace(
                path,
                users=(User(), User(start=joins)),
                response=feedback(decrease={"multiplicative": {"factor": factor}}),
            ).scenario(),
        )
        for factor in FACTORS
        for joins in STARTS[: 3 if short else None]
    ]


def fair_after(tables: Tables, factor: float) -> float:
    """Return the median number of units until the second user has 80% of the first user's window."""
    return float(np.median([_fair_once(tables, factor, joins) for joins in STARTS]))


def _fair_once(tables: Tables, factor: float, joins: float) -> float:
    begin, end = joins + SETTLED, 39_000.0
    first, second = (
        stretch(tables, begin, end, user, factor=factor, joins=joins) for user in (FIRST, SECOND)
    )
    fair = np.flatnonzero(second >= 0.8 * first)
    return SETTLED + 20.0 * float(fair[0]) if len(fair) else float("inf")


def deviation(tables: Tables, factor: float) -> float:
    """Return the ratio of standard deviation to mean of both windows' sum in the second half of the run."""
    starts = axis(tables, "joins", factor=factor)
    sums = [stretch(tables, 20_000, 39_000, factor=factor, joins=joins) for joins in starts]
    return mean([float(np.std(windows) / np.mean(windows)) for windows in sums])


def _search_points(short: bool) -> list[Point]:
    path = replace(PAIR, sizes=EXPONENTIAL, duration=40_000, warmup=20_000, step=1_000)
    return [
        Point(
            {"increase": increase, "factor": factor, "joins": joins},
            replace(
                path,
                users=(User(), User(start=joins)),
                response=feedback(increase=increase, decrease={"multiplicative": {"factor": factor}}),
            ).scenario(),
        )
        for increase in INCREASES
        for factor in SEARCHED
        for joins in STARTS[: 1 if short else 5]
    ]


def _grid(outcomes: list[Outcome]) -> Tables:
    """Return `points`: mean fairness of throughput after 20,000 units over the starts, by both parameters."""
    points = summary(outcomes)["points"]
    return {"points": points.group_by("increase", "factor", maintain_order=True).agg(pl.col("jain").mean())}


def least_fair(tables: Tables) -> float:
    """Return the smallest fairness index of all combinations."""
    return float(tables["points"]["jain"].to_numpy().min())


EXPERIMENTS = [
    Experiment(
        "ramakrishnan1990/integer",
        "Two users with a decrease factor of 0.8, integer and real windows",
        cost=3,
        points=_points,
        measure=with_windows,
        draw=_draw,
    ),
    Experiment(
        "ramakrishnan1990/factor",
        "Two users with decrease factors from 0.5 to 0.9, exponential packet sizes",
        cost=5,
        points=_factor_points,
        measure=with_windows,
        draw=window_panels(
            KNEE, {factor: f"decrease factor {factor:g}" for factor in FACTORS}, "factor", joins=STARTS[0]
        ),
    ),
    Experiment(
        "ramakrishnan1990/search",
        "Two users with every increase and decrease factor of a grid, exponential packet sizes",
        cost=5,
        points=_search_points,
        measure=_grid,
        draw=single(
            Curves("factor", "jain", "increase", {increase: f"{increase:g}" for increase in INCREASES}),
            xlabel="decrease factor",
            ylabel="fairness index",
            ylim=(0.5, 1.02),
            heading="increase (packets)",
        ),
    ),
]
"""The example with integers, the comparison of decrease factors, and the search of the parameter space."""
