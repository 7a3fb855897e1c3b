"""Ramakrishnan and Jain 1990, section 5.4: the decrease factor."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from becalm.experiments.expect import falling, rising
from becalm.experiments.measure import axis, curve, mean
from becalm.experiments.model import Experiment, Point, Statement, Tables
from becalm.experiments.ramakrishnan1990_draw import window_panels
from becalm.experiments.ramakrishnan1990_measure import stretch, tables
from becalm.experiments.ramakrishnan1990_scene import EXPONENTIAL, User, feedback
from becalm.experiments.ramakrishnan1990_user import FIRST, KNEE, PAIR, SECOND

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
        measure=tables,
        draw=lambda found: window_panels(
            {"windows": found["windows"].filter(pl.col("joins") == STARTS[0])},
            KNEE,
            {factor: f"decrease factor {factor:g}" for factor in FACTORS},
            "factor",
        ),
        statements=(
            Statement(
                "fair_sooner",
                "By using a small decrease factor (e.g., reducing the window size to 50 percent of the "
                "current value, compared to 90 percent of the current value), we achieve fairness more "
                "rapidly, compared to a larger decrease factor",
                "rising",
                lambda found: [_fair_after(found, factor) for factor in FACTORS],
                rising(),
                short=False,
                note="Units from the second user's start until it has 80% of the first one's window, factors "
                "in rising order; median over 25 starts. Packets all alike can lock, see the "
                "readings.",
            ),
            Statement(
                "larger_factor_oscillates_less",
                "we would like to minimize the oscillations around the maximally efficient window size as "
                "much as possible. This is achieved by using as large a multiplicative factor for the "
                "decrease of the window size as possible",
                "falling",
                lambda found: [_deviation(found, factor) for factor in FACTORS],
                falling(),
                note="Standard deviation of the sum of both windows in the second half of the run, over its "
                "mean; factors in rising order, mean over the starts.",
            ),
            Statement(
                "and_sends_more",
                "we find that the reduced oscillations improve the throughput because of the "
                "increase/decrease policies",
                "rising",
                lambda found: [
                    mean(curve(found, "joins", "throughput", factor=factor)) for factor in FACTORS
                ],
                rising(),
                note="Packets per unit, factors in rising order, mean over the starts.",
            ),
        ),
    )


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


def _fair_after(found: Tables, factor: float) -> float:
    return float(np.median([_fair_once(found, factor, joins) for joins in STARTS]))


def _fair_once(found: Tables, factor: float, joins: float) -> float:
    begin, end = joins + 200, 39_000.0
    first, second = (stretch(found, begin, end, user, factor=factor, joins=joins) for user in (FIRST, SECOND))
    fair = np.flatnonzero(second >= 0.8 * first)
    return 200 + 20.0 * float(fair[0]) if len(fair) else float("inf")


def _deviation(found: Tables, factor: float) -> float:
    starts = axis(found, "joins", factor=factor)
    sums = [stretch(found, 20_000, 39_000, factor=factor, joins=joins) for joins in starts]
    return mean([float(np.std(windows) / np.mean(windows)) for windows in sums])
