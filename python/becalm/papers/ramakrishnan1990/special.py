"""Ramakrishnan and Jain 1990, section 6, Fig. 9 to 13: random sizes, a changing bottleneck, special cases."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from becalm.lab.model import Experiment, Point, Tables
from becalm.papers.ramakrishnan1990.draw import windows
from becalm.papers.ramakrishnan1990.measure import activity, stretch, swing, with_windows
from becalm.papers.ramakrishnan1990.scene import EXPONENTIAL, SERVICE, Path, User, feedback
from becalm.theory import ClosedNetwork, converged_at

ALONE = Path(duration=10_000)
KNEE = ALONE.network.knee

RANDOM = replace(ALONE, sizes=EXPONENTIAL, duration=50_000, warmup=2_000, step=20)

BOTTLENECK = 1 + SERVICE.index(max(SERVICE))
SLOWER, FASTER = 10_000.0, 20_000.0
"""Times at which the bottleneck's rate is halved and at which it recovers."""
TRANSIENT = replace(
    ALONE,
    duration=30_000,
    changes=((SLOWER, BOTTLENECK, 2 * max(SERVICE)), (FASTER, BOTTLENECK, max(SERVICE))),
)
SETTLED = 5_000.0
"""Period of steady state before a change of the bottleneck, in units."""
INITIAL = 2_000.0
"""Initial period after the change, in units: a fifth of the time until the recovery."""
SLOW = ClosedNetwork(
    tuple(2 * time if time == max(SERVICE) else time for time in SERVICE), ALONE.network.delay
)
"""The path while the bottleneck is slow."""


def mean_window(tables: Tables) -> float:
    """Return the mean window in use."""
    return float(stretch(tables, RANDOM.warmup, RANDOM.duration).mean())


def undershoot(tables: Tables) -> float:
    """Return the window's initial drop below its later range, relative to the lower end of this range."""
    later = float(stretch(tables, FASTER - SETTLED, FASTER).min())
    return 1 - float(stretch(tables, SLOWER, SLOWER + INITIAL).min()) / later


def returns(tables: Tables) -> float:
    """Return the ratio of the mean window after the recovery to that before the change."""
    return steady_mean(tables, TRANSIENT.duration) / steady_mean(tables, SLOWER)


def steady_mean(tables: Tables, end: float) -> float:
    """Return the mean window in the steady state before the time `end`."""
    return float(stretch(tables, end - SETTLED, end).mean())


def recovered(tables: Tables) -> float:
    """Return the units from the recovery until the window stays within two packets of its later mean."""
    table = tables["windows"].sort("time").filter(pl.col("time") >= FASTER)
    later = steady_mean(tables, TRANSIENT.duration)
    at = converged_at(table["time"].to_numpy() - FASTER, table["window"].to_numpy(), later, margin=2)
    return float("inf") if at is None else at


LARGE = 60
EAGER = replace(ALONE, duration=12_000, response=feedback(initial=LARGE))

SOURCE = 10.0
"""Time that the source needs for a packet in Fig. 12, twice the bottleneck's time."""
BOUND = replace(ALONE, source=SOURCE)

USERS = 9
ARRIVALS = 8_000.0
"""Time between the arrivals of two users in Fig. 13."""
WORK = 4_800
"""Packets of each user. The first user is still active when the last one starts, and the last ends alone."""
CROWD = Path(
    users=tuple(User(start=ARRIVALS * place, packets=WORK) for place in range(USERS)),
    satellite=0.0,
    duration=230_000,
    step=50,
)


def the_same_window(tables: Tables) -> float:
    """Return the ratio of the mean window from 8,000 to 10,000 units to that of a user that starts with 1."""
    return settled(tables, "large") / settled(tables, "small")


def settled(tables: Tables, run: str) -> float:
    """Return the mean window from 8,000 to 10,000 units."""
    return float(stretch(tables, 8_000, 10_000, run=run).mean())


def converged(tables: Tables) -> float:
    """Return the units until the window stays within two packets of its later mean; infinite if never."""
    table = tables["windows"].filter(pl.col("run") == "large").sort("time")
    later = float(stretch(tables, 8_000, 10_000, run="large").mean())
    at = converged_at(table["time"].to_numpy(), table["window"].to_numpy(), later, margin=2)
    return float("inf") if at is None else at


def steps_up(tables: Tables) -> float:
    """Return the number of increases before the window enters the range of a user that starts with 1.

    The value is infinite if it never does.
    """
    usual = float(stretch(tables, 5_000, 10_000, run="small").max())
    falling = stretch(tables, 0, EAGER.duration, run="large")
    if not (falling <= usual).any():
        return float("inf")
    down = falling[: int(np.argmax(falling <= usual)) + 1]
    return float((np.diff(down) > 0).sum())


FILLS = float(np.ceil(ClosedNetwork((SOURCE, *SERVICE), ALONE.network.delay).knee))
"""Window that the source of Fig. 12 fills."""


def limited_by_the_source(tables: Tables) -> float:
    """Return the largest window."""
    return float(stretch(tables, 0, BOUND.duration, run="source bound").max())


def flat(tables: Tables) -> float:
    """Return the range of the window in the second half of the run."""
    return swing(stretch(tables, BOUND.duration / 2, BOUND.duration, run="source bound"))


def far_beyond(tables: Tables, run: str) -> float:
    """Return the ratio of the largest window to the one that the source fills."""
    return float(stretch(tables, 0, BOUND.duration, run=run).max()) / FILLS


def all_at_one(tables: Tables) -> list[float]:
    """Return the largest window of each user while all nine are active."""
    return [float(stretch(tables, *_crowded(tables), f"user {place}").max()) for place in range(1, USERS + 1)]


def range_of_sum(tables: Tables, users: str) -> float:
    """Return the range of the sum of windows with the `first` user alone, with `all`, or with the `last` two.

    The first user counts in the second half of the time in which it is alone.
    """
    period = {"first": lambda _: (ARRIVALS / 2, ARRIVALS), "all": _crowded, "last": _last_two}[users]
    return swing(stretch(tables, *period(tables)))


def _crowded(tables: Tables) -> tuple[float, float]:
    """Return the period in which all nine users are active."""
    spans = [activity(tables, f"user {place}") for place in range(1, USERS + 1)]
    return max(first for first, _ in spans) + ARRIVALS / 2, min(last for _, last in spans)


def _last_two(tables: Tables) -> tuple[float, float]:
    """Return the period in which only the last two users are active."""
    *_, few, _, last = sorted(activity(tables, f"user {place}")[1] for place in range(1, USERS + 1))
    return few + 100, last


EXPERIMENTS = [
    Experiment(
        "ramakrishnan1990/fig9",
        "Exponential packet sizes",
        cost=2,
        points=lambda _: [Point({"sizes": "exponential"}, RANDOM.scenario())],
        measure=with_windows,
        draw=windows(KNEE),
    ),
    Experiment(
        "ramakrishnan1990/fig10",
        "The bottleneck's service time doubles, then returns to its old value",
        cost=1,
        points=lambda _: [Point({"run": "transient"}, TRANSIENT.scenario())],
        measure=with_windows,
        draw=windows(KNEE),
        # The phase of the window's cycle at the change is not stated, so runs spread it over four cycles.
        phase="620 us",
    ),
    Experiment(
        "ramakrishnan1990/fig11",
        f"A user that starts with a window of {LARGE}",
        cost=1,
        points=lambda _: [
            Point({"run": "large"}, EAGER.scenario()),
            Point({"run": "small"}, ALONE.scenario()),
        ],
        measure=with_windows,
        draw=windows(KNEE, run="large"),
    ),
    Experiment(
        "ramakrishnan1990/fig12",
        "A source that is slower than the network",
        cost=1,
        points=lambda _: [
            Point({"run": "source bound"}, BOUND.scenario()),
            Point({"run": "no check"}, replace(BOUND, response=feedback(check_source=False)).scenario()),
        ],
        measure=with_windows,
        draw=windows(FILLS, name="what the source fills", run="source bound"),
    ),
    Experiment(
        "ramakrishnan1990/fig13",
        "Nine users, started at intervals, on the path without the satellite",
        cost=2,
        points=lambda _: [Point({"run": "crowd"}, CROWD.scenario())],
        measure=with_windows,
        draw=windows(CROWD.network.knee),
    ),
]
"""Fig. 11 to 13."""
