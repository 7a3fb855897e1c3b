"""Ramakrishnan and Jain 1990, section 5.4: the example of two users whose windows are integers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from becalm.experiments.expect import at_least, at_most
from becalm.experiments.measure import axis
from becalm.experiments.model import Experiment, Point, Statement, Tables
from becalm.experiments.ramakrishnan1990_draw import window_panels
from becalm.experiments.ramakrishnan1990_measure import stretch, tables
from becalm.experiments.ramakrishnan1990_scene import Path, User, feedback
from becalm.experiments.ramakrishnan1990_user import FIRST, KNEE, SECOND

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STARTS = tuple(31.0 * place for place in range(97))
"""Starts of the second user, in units: which stable point the two reach depends on it."""
FACTOR = {"multiplicative": {"factor": 0.8}}
LATE, END = 15_000.0, 20_000.0
"""The time over which windows are looked at."""
DRAWN = 1_500.0
"""How much of it the figure shows."""
CYCLE = {(10, 6), (8, 4), (9, 5)}
"""Windows of the first and the second user in the paper's cycle."""
RUNS = {"integer": "integer windows", "real": "real windows"}


def experiments() -> list[Experiment]:
    """The example with integers."""
    return [
        Experiment(
            "ramakrishnan1990/integer",
            "Two users with a decrease factor of 0.8, integer and real windows",
            cost=3,
            points=_points,
            measure=tables,
            draw=_draw,
            statements=(_cycle(), _unfair(), _fair()),
        )
    ]


def _cycle() -> Statement:
    return Statement(
        "reaches_the_cycle",
        "If the two users start at different times, they may reach a stable point such that user 1 has a "
        "window of 10 and user 2 has a window of 6 [...] They come down (say, using a factor of 0.8) to 8 "
        "and 4 (after truncation) [...] They go up by 1 to 9 and 5 [...] the users then go up to 10 and 6. "
        "After this, the cycle repeats",
        "they may",
        lambda found: float(len(_reached(found))),
        at_least(1),
        short=False,
        note=f"Of {len(STARTS)} starts of the second user, those at which the windows go through just this "
        "cycle from 15,000 to 20,000 units, the second user a part of a round trip after the first. At "
        "the others they go through other cycles, most often between 10 and 8, and 6 and 3.",
    )


def _unfair() -> Statement:
    return Statement(
        "integers_may_be_unfair",
        "If only integer values are maintained for the window, additive increase and multiplicative decrease "
        "may also stabilize to unfair values",
        "> 1",
        lambda found: max(_ratio(found, "integer", joins) for joins in axis(found, "joins")),
        at_least(1.2),
        note="Mean window of one user over that of the other, the larger over the smaller: the largest over "
        "all starts; 1.2 is half of the example's inequality.",
    )


def _fair() -> Statement:
    return Statement(
        "reals_are_fair",
        "For the same configuration, when real values are used, we find that the allocations to the users "
        "are fair, as shown in Figure 8",
        1,
        lambda found: [_ratio(found, "real", joins) for joins in _reached(found)],
        at_most(1.1),
        short=False,
        note="The same ratio with real windows, for the starts at which integer windows go through the "
        "cycle. Packets all alike can lock with real windows, too: see the readings.",
    )


def _points(short: bool) -> list[Point]:
    return [
        Point({"kind": kind, "joins": joins}, _path(kind, joins).scenario())
        for joins in STARTS[: 6 if short else None]
        for kind in RUNS
    ]


def _path(kind: str, joins: float) -> Path:
    response = feedback(decrease=FACTOR, arithmetic=kind)
    return Path(users=(User(), User(start=joins)), response=response, duration=END + 200, step=20)


def _draw(found: Tables) -> Figure:
    joins = [*_reached(found), 0.0][0]
    time = pl.col("time").is_between(LATE, LATE + DRAWN)
    shown = found["windows"].filter((pl.col("joins") == joins) & time)
    return window_panels({"windows": shown}, KNEE, RUNS, "kind")


def _reached(found: Tables) -> list[float]:
    """Return the starts at which integer windows go through the paper's cycle."""
    return [joins for joins in axis(found, "joins") if _cycles(found, joins)]


def _cycles(found: Tables, joins: float) -> bool:
    first, second = (stretch(found, LATE, END, user, kind="integer", joins=joins) for user in (FIRST, SECOND))
    seen = {(int(one), int(other)) for one, other in zip(first, second, strict=True)}
    within = all(8 <= one <= 10 and 4 <= other <= 6 for one, other in seen)
    return within and seen >= CYCLE


def _ratio(found: Tables, kind: str, joins: float) -> float:
    means = [
        float(stretch(found, LATE, END, user, kind=kind, joins=joins).mean()) for user in (FIRST, SECOND)
    ]
    return max(means) / min(means)
