"""Ramakrishnan and Jain 1990, section 6, Fig. 9 and 10: random sizes, and a bottleneck that changes."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from becalm.lab.model import Experiment, Point, Tables
from becalm.papers.ramakrishnan1990.draw import windows
from becalm.papers.ramakrishnan1990.measure import stretch, with_windows
from becalm.papers.ramakrishnan1990.scene import EXPONENTIAL, SERVICE, Path
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
]
"""Fig. 9 and 10."""
