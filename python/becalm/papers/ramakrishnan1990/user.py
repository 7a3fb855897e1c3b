"""Ramakrishnan and Jain 1990, Fig. 4, 5, 7 and 8: how often users change their windows, and by how much."""

from __future__ import annotations

from dataclasses import replace

from becalm.lab.model import Experiment, Point, Tables
from becalm.papers.ramakrishnan1990.draw import windows
from becalm.papers.ramakrishnan1990.measure import activity, stretch, swing, with_windows
from becalm.papers.ramakrishnan1990.scene import Path, User, feedback
from becalm.theory import jain

KNEE = Path().network.knee
FIRST, SECOND = "user 1", "user 2"
JOINS = 1_000.0
"""When the second user starts, in units; how near the two come depends on it, see the readings."""
WORK = 5_000
"""Packets of each user in Fig. 8."""

ALONE = Path(duration=10_000)
EVERY = replace(ALONE, response=feedback(decide="every_ack"))
PAIR = Path(users=(User(packets=WORK), User(start=JOINS, packets=WORK)), duration=90_000, step=50)
ADDITIVE = replace(
    PAIR,
    users=(User(), User(start=JOINS)),
    duration=20_000,
    response=feedback(decrease={"additive": {"by": 1}}),
)
LATE = (ADDITIVE.duration / 2, ADDITIVE.duration)
"""The second half of Fig. 7."""


def experiments() -> list[Experiment]:
    """Fig. 4, 5, 7 and 8."""
    return [_fig4(), _fig5(), _fig7(), _fig8()]


def _rhythms(_: bool) -> list[Point]:
    return [
        Point({"decision": "every ACK"}, EVERY.scenario()),
        Point({"decision": "every two windows"}, ALONE.scenario()),
    ]


def _settled(tables: Tables, decision: str) -> float:
    return swing(stretch(tables, ALONE.duration / 2, ALONE.duration, decision=decision))


def _fig4() -> Experiment:
    return Experiment(
        "ramakrishnan1990/fig4",
        "A decision at every acknowledgement",
        cost=1,
        points=_rhythms,
        measure=with_windows,
        draw=lambda tables: windows(tables, KNEE, decision="every ACK"),
    )


def considerable_oscillation(tables: Tables) -> float:
    """Largest less smallest window in the second half of the run, over the knee."""
    return _settled(tables, "every ACK") / KNEE


def _fig5() -> Experiment:
    return Experiment(
        "ramakrishnan1990/fig5",
        "A decision every two windows",
        cost=1,
        points=_rhythms,
        measure=with_windows,
        draw=lambda tables: windows(tables, KNEE, decision="every two windows"),
    )


def considerably_reduced(tables: Tables) -> float:
    """Swing of the window in the second half of the run over that of Fig. 4."""
    return _settled(tables, "every two windows") / _settled(tables, "every ACK")


def _fig7() -> Experiment:
    return Experiment(
        "ramakrishnan1990/fig7",
        "Two users, additive increase and additive decrease by 1",
        cost=1,
        points=lambda _: [Point({"decrease": "additive"}, ADDITIVE.scenario())],
        measure=with_windows,
        draw=lambda tables: windows(tables, KNEE),
    )


def unfair(tables: Tables) -> float:
    """Mean window of the first user over that of the second in the second half of the run."""
    return float(stretch(tables, *LATE, FIRST).mean() / stretch(tables, *LATE, SECOND).mean())


def state_is_preserved(tables: Tables) -> float:
    """Difference of the mean windows over that when the second user begins."""
    return float(stretch(tables, *LATE, FIRST).mean() - stretch(tables, *LATE, SECOND).mean()) / float(
        stretch(tables, JOINS - 100, JOINS, FIRST).mean() - 1
    )


def _fig8() -> Experiment:
    return Experiment(
        "ramakrishnan1990/fig8",
        "Two users with 5,000 packets each, additive increase and multiplicative decrease",
        cost=2,
        points=lambda _: [
            Point({"decrease": "additive"}, ADDITIVE.scenario()),
            Point({"decrease": "multiplicative"}, PAIR.scenario()),
        ],
        measure=with_windows,
        draw=lambda tables: windows(tables, KNEE, decrease="multiplicative"),
    )


def total_time(tables: Tables) -> float:
    """When the last packet arrived."""
    return max(activity(tables, user, decrease="multiplicative")[1] for user in (FIRST, SECOND))


def _together(tables: Tables, **where: float | str) -> tuple[float, float]:
    """When both users are at work: the second half of that time."""
    ends = [activity(tables, user, **where)[1] for user in (FIRST, SECOND)]
    return (JOINS + min(ends)) / 2, min(ends)


def _means_together(tables: Tables, **where: float | str) -> list[float]:
    start, end = _together(tables, **where)
    return [float(stretch(tables, start, end, user, **where).mean()) for user in (FIRST, SECOND)]


def ratio_together(tables: Tables, **where: float | str) -> float:
    """Mean window of the first user over that of the second, with both at work."""
    first, second = _means_together(tables, **where)
    return first / second


def jain_together(tables: Tables, decrease: str) -> float:
    """Jain's index of the mean windows, with both users at work."""
    return jain(_means_together(tables, decrease=decrease))
