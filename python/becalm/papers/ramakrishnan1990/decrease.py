"""Ramakrishnan and Jain 1990, section 5.4: the decrease factor, and a search of the parameters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from becalm.lab.figures import Curves, single
from becalm.lab.model import Experiment, Outcome, Point, Tables
from becalm.lab.tables import axis, curve, mean
from becalm.papers.ramakrishnan1990.draw import window_panels
from becalm.papers.ramakrishnan1990.measure import stretch, summary, with_windows
from becalm.papers.ramakrishnan1990.scene import EXPONENTIAL, User, feedback
from becalm.papers.ramakrishnan1990.user import FIRST, KNEE, PAIR, SECOND

FACTORS = (0.5, 0.7, 0.9)
"""Compared decrease factors. The paper names the first and the last."""


SETTLED = 400.0
"""Time in units by which packets of the second user have certainly arrived."""
INCREASES = (0.5, 1.0, 2.0)
SEARCHED = (0.5, 0.6, 0.7, 0.8, 0.875, 0.95)
"""Increases in packets, and decrease factors. All combinations are tried."""


STARTS = tuple(600.0 + 37.0 * place for place in range(25))
"""Starts of the second user in the comparison of decrease factors."""


def and_sends_more(tables: Tables) -> list[float]:
    """Return packets per unit by increasing factor, as means over the starts."""
    return [mean(curve(tables, "joins", "throughput", factor=factor)) for factor in FACTORS]


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
"""The comparison of decrease factors, and the search of the parameter space."""
