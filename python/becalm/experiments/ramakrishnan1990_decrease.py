"""Ramakrishnan and Jain 1990, section 5.4: the decrease factor, and windows that are integers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from becalm.experiments.expect import at_least, each_near, falling, near, rising
from becalm.experiments.measure import axis, curve, mean
from becalm.experiments.model import Experiment, Point, Statement, Tables
from becalm.experiments.ramakrishnan1990_draw import window_panels
from becalm.experiments.ramakrishnan1990_measure import stretch, tables
from becalm.experiments.ramakrishnan1990_scene import EXPONENTIAL, User, feedback
from becalm.experiments.ramakrishnan1990_user import FIRST, KNEE, PAIR, SECOND

FACTORS = (0.5, 0.7, 0.9)
"""Decrease factors that are compared; the paper names the first and the last."""


def experiments() -> list[Experiment]:
    """The comparison of decrease factors, and the example with integers."""
    return [_factor(), _integer()]


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


def _integer() -> Experiment:
    eight = {"multiplicative": {"factor": 0.8}}
    runs = {"integer": "integer windows", "real": "real windows"}
    paths = {
        kind: replace(
            PAIR,
            users=(User(), User(response=feedback(initial=6, decrease=eight, arithmetic=kind))),
            response=feedback(initial=10, decrease=eight, arithmetic=kind),
            duration=20_000,
        )
        for kind in runs
    }
    late = (15_000.0, 20_000.0)
    return Experiment(
        "ramakrishnan1990/integer",
        "Two users at windows of 10 and 6, decrease factor 0.8, integer and real windows",
        cost=1,
        points=lambda _: [Point({"kind": kind}, path.scenario()) for kind, path in paths.items()],
        measure=tables,
        draw=lambda found: window_panels(found, KNEE, runs, "kind"),
        statements=(
            Statement(
                "cycle_of_the_first",
                "they may reach a stable point such that user 1 has a window of 10 and user 2 has a window "
                "of 6 [...] They come down (say, using a factor of 0.8) to 8 and 4 (after truncation)",
                "10, 8",
                lambda found: _extremes(stretch(found, *late, FIRST, kind="integer")),
                each_near((10, 8), 0),
                note="Largest and smallest window of the first user, 15,000 to 20,000 units. With a "
                "threshold of 2: 9 and 5.",
            ),
            Statement(
                "cycle_of_the_second",
                "They go up by 1 to 9 and 5. The total window is still less than W_knee, and the users then "
                "go up to 10 and 6. After this, the cycle repeats",
                "6, 4",
                lambda found: _extremes(stretch(found, *late, SECOND, kind="integer")),
                each_near((6, 4), 0),
                note="Largest and smallest window of the second user, likewise. The example takes for "
                "granted that both come down together, and once; here the second comes down before the "
                "first, and at times twice in a row. With a threshold of 2: 10 and 6.",
            ),
            Statement(
                "integers_may_be_unfair",
                "If only integer values are maintained for the window, additive increase and multiplicative "
                "decrease may also stabilize to unfair values",
                "> 1",
                lambda found: _ratio(found, late, "integer"),
                at_least(1.2),
                note="Mean window of the first user over that of the second; 1.2 is half of the example's "
                "inequality. With a threshold of 2: 0.88.",
            ),
            Statement(
                "reals_are_fair",
                "For the same configuration, when real values are used, we find that the allocations to the "
                "users are fair, as shown in Figure 8",
                1,
                lambda found: _ratio(found, late, "real"),
                near(1, 0.1),
                note="Likewise, with real windows.",
            ),
        ),
    )


def _extremes(values: Sequence[float] | np.ndarray) -> list[float]:
    return [float(max(values)), float(min(values))]


def _ratio(found: Tables, late: tuple[float, float], kind: str) -> float:
    means = [stretch(found, *late, user, kind=kind).mean() for user in (FIRST, SECOND)]
    return float(means[0] / means[1])
