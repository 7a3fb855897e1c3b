"""Ramakrishnan and Jain 1990, sections 5.1, 5.2 and 5.4: how and how often users change windows."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from becalm.lab.model import Experiment, Label, Point, Table, Tables
from becalm.lab.tables import axis, mean, select_rows
from becalm.papers.ramakrishnan1990.draw import window_panels, windows
from becalm.papers.ramakrishnan1990.measure import activity, stretch, swing, with_windows
from becalm.papers.ramakrishnan1990.scene import Path, User, feedback
from becalm.theory import jain

KNEE = Path().network.knee
FIRST, SECOND = "user 1", "user 2"
JOINS = 1_000.0
"""Start of the second user in the figures, in units."""
STARTS = (0.0, 100.0, 250.0, 333.0, 500.0, 777.0, JOINS, 1_500.0, 2_000.0, 2_013.3, 2_500.0, 3_000.0, 4_001.7)
"""Starts over which claims are evaluated. Fairness depends on the start, and the paper states none."""
JOINED = STARTS.index(JOINS)
"""Earliest start at which the first user is well ahead, so that it has a lead to keep in Fig. 7."""
NEARLY = 0.1
"""Largest relative difference between nearly equal windows."""
HISTORIES: dict[str, Table] = {"none": {}, "1,000 decisions": {"keep_bits": True, "history": 1_000}}
"""Earlier decisions whose bits count again."""
OVERLOAD = 60
"""Initial window of a user that finds itself far above the knee, as in Fig. 11."""
WORK = 5_000
"""Packets of each user in Fig. 8."""

ALONE = Path(duration=10_000)
KEPT = replace(ALONE, response=feedback(keep_bits=True))
EVERY = replace(ALONE, response=feedback(decide="every_ack"))
PAIR = Path(users=(User(packets=WORK), User(start=JOINS, packets=WORK)), duration=70_000, step=50)
ADDITIVE = replace(
    PAIR,
    users=(User(), User(start=JOINS)),
    duration=20_000,
    response=feedback(decrease={"additive": {"by": 1}}),
)
LATE = (ADDITIVE.duration / 2, ADDITIVE.duration)
"""The second half of Fig. 7."""


INITIAL = (5, 15, 30, 60)
"""Initial windows of the second user. Both users start together, the first with a window of 1."""
DECREASES: dict[str, Table] = {"additive": {"decrease": {"additive": {"by": 1}}}, "multiplicative": {}}


def _rhythms(_: bool) -> list[Point]:
    return [
        Point({"decision": "every ACK"}, EVERY.scenario()),
        Point({"decision": "every two windows"}, ALONE.scenario()),
    ]


def _settled(tables: Tables, decision: str) -> float:
    return swing(stretch(tables, ALONE.duration / 2, ALONE.duration, decision=decision))


def considerable_oscillation(tables: Tables) -> float:
    """Return the range of the window in the second half of the run, relative to the knee."""
    return _settled(tables, "every ACK") / KNEE


def considerably_reduced(tables: Tables) -> float:
    """Return the ratio of the window's range in the second half of the run to that of Fig. 4."""
    return _settled(tables, "every two windows") / _settled(tables, "every ACK")


def beyond(tables: Tables, decision: str) -> float:
    """Return by how much the window leaves the range of Fig. 5, below or above, in the second half."""
    usual, found = (
        stretch(tables, ALONE.duration / 2, ALONE.duration, decision=each)
        for each in ("every two windows", decision)
    )
    return float(max(usual.min() - found.min(), found.max() - usual.max()))


def congested_for(tables: Tables, history: str) -> float:
    """Return the time of the window's first increase, relative to that without a history."""
    with_it, without = (
        float(_first_increase(tables, history=each)) for each in (history, next(iter(HISTORIES)))
    )
    return with_it / without


def _first_increase(tables: Tables, **where: Label) -> float:
    table = select_rows(tables["windows"], where).sort("time")
    up = table.filter(pl.col("window").diff() > 0)
    return float(up["time"][0]) if up.height else float("inf")


def swing_with(tables: Tables, bits: str) -> float:
    """Return the range of the window in the second half of the run, relative to the knee."""
    return swing(stretch(tables, ALONE.duration / 2, ALONE.duration, bits=bits)) / KNEE


def state_is_preserved(tables: Tables) -> float:
    """Return the mean ratio of the late to the initial difference of the mean windows, over the starts."""
    return mean([_preserved(tables, joins) for joins in axis(tables, "joins")])


def _preserved(tables: Tables, joins: float) -> float:
    first, second = (float(stretch(tables, *LATE, user, joins=joins).mean()) for user in (FIRST, SECOND))
    before = float(stretch(tables, joins - 100, joins, FIRST, joins=joins).mean())
    return (first - second) / (before - 1)


def _pairs(short: bool) -> list[Point]:
    """Return runs of both decrease functions for each start of the second user."""
    paths = {"additive": ADDITIVE, "multiplicative": PAIR}
    return [
        Point({"decrease": name, "joins": joins}, _joined(path, joins).scenario())
        for joins in (STARTS[JOINED : JOINED + 2] if short else STARTS)
        for name, path in paths.items()
    ]


def _joined(path: Path, joins: float) -> Path:
    first, second = path.users
    return replace(path, users=(first, replace(second, start=joins)))


def in_time(tables: Tables) -> float:
    """Return the number of starts for which the last packet arrives near the earliest possible time."""
    best = len(PAIR.users) * WORK * max(PAIR.service)
    finished = [_finished(tables, joins) for joins in axis(tables, "joins")]
    return float(sum(abs(time - best) <= NEARLY * best for time in finished))


def _finished(tables: Tables, joins: float) -> float:
    where: dict[str, Label] = {"decrease": "multiplicative", "joins": joins}
    return max(activity(tables, user, **where)[1] for user in (FIRST, SECOND))


def _means_together(tables: Tables, decrease: str, joins: float) -> list[float]:
    """Return the mean windows in the second half of the time with both users active."""
    where: dict[str, Label] = {"decrease": decrease, "joins": joins}
    end = min(activity(tables, user, **where)[1] for user in (FIRST, SECOND))
    return [float(stretch(tables, (joins + end) / 2, end, user, **where).mean()) for user in (FIRST, SECOND)]


def jain_together(tables: Tables, decrease: str) -> float:
    """Return the mean fairness index, over the starts, of the mean windows with both users active."""
    return mean([jain(_means_together(tables, decrease, joins)) for joins in axis(tables, "joins")])


def nearly_equal(tables: Tables) -> float:
    """Return the share of starts for which the smaller mean window is at least 90% of the larger."""
    pairs = [_means_together(tables, "multiplicative", joins) for joins in axis(tables, "joins")]
    return mean([float(min(pair) >= (1 - NEARLY) * max(pair)) for pair in pairs])


def _unlike(parameters: Table, first: int) -> Path:
    response = feedback(**parameters)
    second = User(response=feedback(initial=first, **parameters))
    return replace(ADDITIVE, users=(User(), second), response=response)


def jain_unlike(tables: Tables, initial: int, decrease: str) -> float:
    """Return the fairness index of the mean windows in the second half of the run."""
    where: dict[str, Label] = {"decrease": decrease, "initial": initial}
    low, high = LATE
    return jain([float(stretch(tables, low, high, user, **where).mean()) for user in (FIRST, SECOND)])


EXPERIMENTS = [
    Experiment(
        "ramakrishnan1990/fig4",
        "A decision at every acknowledgement",
        cost=1,
        points=_rhythms,
        measure=with_windows,
        draw=windows(KNEE, decision="every ACK"),
    ),
    Experiment(
        "ramakrishnan1990/fig5",
        "A decision every two windows",
        cost=1,
        points=_rhythms,
        measure=with_windows,
        draw=windows(KNEE, decision="every two windows"),
    ),
    Experiment(
        "ramakrishnan1990/bits",
        "Bits that are discarded after a decision, and bits that are counted again",
        cost=1,
        points=lambda _: [
            Point({"bits": "forgotten"}, ALONE.scenario()),
            Point({"bits": "kept"}, KEPT.scenario()),
        ],
        measure=with_windows,
        draw=window_panels(KNEE, {"forgotten": "forgotten", "kept": "kept for one more decision"}, "bits"),
    ),
    Experiment(
        "ramakrishnan1990/history",
        f"A user that starts with a window of {OVERLOAD}, without and with a long history of bits",
        cost=1,
        points=lambda _: [
            Point(
                {"history": name},
                replace(ALONE, duration=60_000, response=feedback(initial=OVERLOAD, **keys)).scenario(),
            )
            for name, keys in HISTORIES.items()
        ],
        measure=with_windows,
        draw=window_panels(KNEE, {name: f"history: {name}" for name in HISTORIES}, "history"),
    ),
    Experiment(
        "ramakrishnan1990/fig7",
        "Two users, additive increase and additive decrease by 1",
        cost=1,
        points=lambda short: [
            Point({"decrease": "additive", "joins": joins}, _joined(ADDITIVE, joins).scenario())
            for joins in (STARTS[JOINED : JOINED + 1] if short else STARTS[JOINED:])
        ],
        measure=with_windows,
        draw=windows(KNEE, joins=JOINS),
    ),
    Experiment(
        "ramakrishnan1990/fig8",
        "Two users with 5,000 packets each, additive increase and multiplicative decrease",
        cost=10,
        points=_pairs,
        measure=with_windows,
        draw=windows(KNEE, decrease="multiplicative", joins=JOINS),
    ),
    Experiment(
        "ramakrishnan1990/initial",
        "Two users with other initial windows, constant sizes",
        cost=2,
        points=lambda _: [
            Point({"decrease": name, "initial": first}, _unlike(parameters, first).scenario())
            for name, parameters in DECREASES.items()
            for first in INITIAL
        ],
        measure=with_windows,
        draw=windows(KNEE, decrease="multiplicative", initial=INITIAL[-1]),
    ),
]
"""Fig. 4, 5, 7 and 8, and the experiments on old bits and on other initial windows."""
