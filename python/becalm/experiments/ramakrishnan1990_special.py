"""Ramakrishnan and Jain 1990, section 6.3, Fig. 11 to 13: special cases."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from becalm.experiments.expect import at_least, at_most, between, near
from becalm.experiments.measure import at
from becalm.experiments.model import Experiment, Point, Statement, Tables
from becalm.experiments.ramakrishnan1990_draw import windows
from becalm.experiments.ramakrishnan1990_measure import activity, stretch, swing, tables
from becalm.experiments.ramakrishnan1990_scene import SERVICE, Path, User, feedback
from becalm.theory import ClosedNetwork, converged_at

ALONE = Path(duration=10_000)
KNEE = ALONE.network.knee

LARGE = 60
EAGER = replace(ALONE, duration=12_000, response=feedback(initial=LARGE))

SOURCE = 10.0
"""Time that the source needs for a packet in Fig. 12: twice the bottleneck's."""
BOUND = replace(ALONE, source=SOURCE)

USERS = 9
ARRIVALS = 8_000.0
"""Time between the arrivals of two users in Fig. 13."""
WORK = 4_800
"""Packets of each: the first user is still there when the last one comes, and the last one ends alone."""
CROWD = Path(
    users=tuple(User(start=ARRIVALS * place, packets=WORK) for place in range(USERS)),
    satellite=0.0,
    duration=230_000,
    step=50,
)


def experiments() -> list[Experiment]:
    """Fig. 11 to 13."""
    return [_fig11(), _fig12(), _fig13()]


def _fig11() -> Experiment:
    def settled(found: Tables, run: str) -> float:
        return float(stretch(found, 8_000, 10_000, run=run).mean())

    return Experiment(
        "ramakrishnan1990/fig11",
        f"A user who starts with a window of {LARGE}",
        cost=1,
        points=lambda _: [
            Point({"run": "large"}, EAGER.scenario()),
            Point({"run": "small"}, ALONE.scenario()),
        ],
        measure=tables,
        draw=lambda found: windows(found, KNEE, run="large"),
        statements=(
            Statement(
                "time_to_converge",
                "the network brings down the window size to the correct value so that the network is "
                "operating at the desired operating point of the knee in a relatively small period of time",
                "small",
                _converged,
                at_most(EAGER.duration / 2),
                note="Units until the window stays within two packets of its later mean, where it came down "
                f"from {LARGE} packets; small is half of what is drawn.",
            ),
            Statement(
                "down_without_a_step_up",
                "By setting the congestion indication bit on the packets sent by this user, the network "
                "brings down the window size to the correct value",
                0,
                _steps_up,
                at_most(0),
                note="Increases before the window is first in the range of a user who starts with 1.",
            ),
            Statement(
                "the_same_window",
                "even if the users of the network actually start at any arbitrary window size, the "
                "congestion avoidance policy adapts dynamically and adjusts the window size to its correct "
                "value",
                1,
                lambda found: settled(found, "large") / settled(found, "small"),
                near(1, 0.05),
                note="Mean window, 8,000 to 10,000 units, over that of a user who starts with 1.",
            ),
            Statement(
                "at_the_knee",
                "so that the network is operating at the desired operating point of the knee in a relatively "
                "small period of time",
                KNEE,
                lambda found: settled(found, "large"),
                near(KNEE, 0.1 * KNEE),
                note="Mean window, 8,000 to 10,000 units; 10%. Just enough: 13.95 is needed. With a "
                "threshold of 2: 15.9.",
            ),
        ),
    )


def _converged(found: Tables) -> float:
    table = found["windows"].filter(pl.col("run") == "large").sort("time")
    later = float(stretch(found, 8_000, 10_000, run="large").mean())
    at = converged_at(table["time"].to_numpy(), table["window"].to_numpy(), later, margin=2)
    return float("inf") if at is None else at


def _steps_up(found: Tables) -> float:
    usual = float(stretch(found, 5_000, 10_000, run="small").max())
    falling = stretch(found, 0, EAGER.duration, run="large")
    down = falling[: int(np.argmax(falling <= usual)) + 1]
    return float((np.diff(down) > 0).sum())


def _fig12() -> Experiment:
    fills = float(np.ceil(ClosedNetwork((SOURCE, *SERVICE), ALONE.network.delay).knee))
    return Experiment(
        "ramakrishnan1990/fig12",
        "A source that is slower than the network",
        cost=1,
        points=lambda _: [Point({"run": "source bound"}, BOUND.scenario())],
        measure=tables,
        draw=lambda found: windows(found, fills, name="what the source fills"),
        statements=(
            Statement(
                "limited_by_the_source",
                "The increase in the window size is limited by the source",
                fills,
                lambda found: float(stretch(found, 0, BOUND.duration).max()),
                between(fills - 1, fills + 1),
                note="Largest window; the source can fill one of this size, and may find that out one packet "
                "later.",
            ),
            Statement(
                "flat",
                "We ensure that the window size is not increased if the source has not been able to "
                "implement an increase of the previous epoch",
                0,
                lambda found: swing(stretch(found, BOUND.duration / 2, BOUND.duration)),
                at_most(0),
                note="Largest less smallest window in the second half of the run.",
            ),
            Statement(
                "no_bits",
                "The network, because it is not congested in such a case, does not set the congestion "
                "indication bit",
                0,
                lambda found: at(found, "marked"),
                at_most(0),
                note="Share of marked packets over the whole run.",
            ),
        ),
    )


def _fig13() -> Experiment:
    knee = CROWD.network.knee
    few = (ARRIVALS / 2, ARRIVALS)

    def crowded(found: Tables) -> tuple[float, float]:
        spans = [activity(found, f"user {place}") for place in range(1, USERS + 1)]
        return max(first for first, _ in spans) + ARRIVALS / 2, min(last for _, last in spans)

    return Experiment(
        "ramakrishnan1990/fig13",
        "Nine users, one after the other, on the path without the satellite",
        cost=2,
        points=lambda _: [Point({"run": "crowd"}, CROWD.scenario())],
        measure=tables,
        draw=lambda found: windows(found, knee),
        statements=(
            Statement(
                "oscillates_with_few",
                "The aggregate window initially oscillates because of the relatively fewer number of users "
                "on the network to start with",
                "> 0",
                lambda found: swing(stretch(found, *few)),
                at_least(0.5),
                note="Largest less smallest sum of windows with one user, in the second half of its time "
                "alone.",
            ),
            Statement(
                "all_at_one",
                "all of the users see the congestion avoidance bit set and therefore are all limited to a "
                "window of 1",
                1,
                lambda found: [
                    float(stretch(found, *crowded(found), f"user {place}").max())
                    for place in range(1, USERS + 1)
                ],
                at_most(1.499),
                note="Largest window of each user while all nine are at work; it is used as rounded.",
            ),
            Statement(
                "flat_with_many",
                "As the number of users gets to be larger than the maximally efficient window size, the "
                "overall aggregate window size is flat",
                0,
                lambda found: swing(stretch(found, *crowded(found))),
                at_most(0.5),
                note="Largest less smallest sum of windows while all nine are at work.",
            ),
            Statement(
                "oscillates_again",
                "As each of the sources complete, the aggregate window size changes accordingly, till we see "
                "a sufficiently small number of sources and the oscillation of the window size begins again",
                "> 0",
                _last_swing,
                at_least(0.5),
                note="Largest less smallest sum of windows with the last two users.",
            ),
        ),
    )


def _last_swing(found: Tables) -> float:
    *_, few, _, last = sorted(activity(found, f"user {place}")[1] for place in range(1, USERS + 1))
    return swing(stretch(found, few + 100, last))
