"""Ramakrishnan and Jain 1990, section 5.4: the decrease factor."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from becalm.lab.model import Experiment, Point, Tables
from becalm.lab.tables import axis, curve, mean
from becalm.papers.ramakrishnan1990.draw import window_panels
from becalm.papers.ramakrishnan1990.measure import stretch, with_windows
from becalm.papers.ramakrishnan1990.scene import EXPONENTIAL, User, feedback
from becalm.papers.ramakrishnan1990.user import FIRST, KNEE, PAIR, SECOND

FACTORS = (0.5, 0.7, 0.9)
"""Decrease factors that are compared; the paper names the first and the last."""


def experiments() -> list[Experiment]:
    """The comparison of decrease factors."""
    return [_factor()]


STARTS = tuple(600.0 + 37.0 * place for place in range(25))
"""Starts of the second user in the comparison of decrease factors."""


def _factor() -> Experiment:
    return Experiment(
        "ramakrishnan1990/factor",
        "Two users with decrease factors from 0.5 to 0.9, exponential packet sizes",
        cost=5,
        points=_factor_points,
        measure=with_windows,
        draw=lambda tables: window_panels(
            {"windows": tables["windows"].filter(pl.col("joins") == STARTS[0])},
            KNEE,
            {factor: f"decrease factor {factor:g}" for factor in FACTORS},
            "factor",
        ),
    )


def and_sends_more(tables: Tables) -> list[float]:
    """Packets per unit, factors in rising order, mean over the starts."""
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
    """Time in units until the second user has 80% of the first one's window; median over the starts."""
    return float(np.median([_fair_once(tables, factor, joins) for joins in STARTS]))


def _fair_once(tables: Tables, factor: float, joins: float) -> float:
    begin, end = joins + 200, 39_000.0
    first, second = (
        stretch(tables, begin, end, user, factor=factor, joins=joins) for user in (FIRST, SECOND)
    )
    fair = np.flatnonzero(second >= 0.8 * first)
    return 200 + 20.0 * float(fair[0]) if len(fair) else float("inf")


def deviation(tables: Tables, factor: float) -> float:
    """Standard deviation of the sum of both windows over its mean, in the second half of the run."""
    starts = axis(tables, "joins", factor=factor)
    sums = [stretch(tables, 20_000, 39_000, factor=factor, joins=joins) for joins in starts]
    return mean([float(np.std(windows) / np.mean(windows)) for windows in sums])
