"""Ramakrishnan and Jain 1990, Fig. 4, 5, 7 and 8: how often users change their windows, and by how much."""

from __future__ import annotations

from dataclasses import replace

from becalm.experiments.expect import at_least, at_most, near, rising
from becalm.experiments.model import Experiment, Point, Statement, Tables
from becalm.experiments.ramakrishnan1990_draw import windows
from becalm.experiments.ramakrishnan1990_measure import activity, stretch, swing, tables
from becalm.experiments.ramakrishnan1990_scene import Path, User, feedback
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


def experiments() -> list[Experiment]:
    """Fig. 4, 5, 7 and 8."""
    return [_fig4(), _fig5(), _fig7(), _fig8()]


def _rhythms(_: bool) -> list[Point]:
    return [
        Point({"decision": "every ACK"}, EVERY.scenario()),
        Point({"decision": "every two windows"}, ALONE.scenario()),
    ]


def _settled(found: Tables, decision: str) -> float:
    return swing(stretch(found, ALONE.duration / 2, ALONE.duration, decision=decision))


def _fig4() -> Experiment:
    return Experiment(
        "ramakrishnan1990/fig4",
        "A decision at every acknowledgement",
        cost=1,
        points=_rhythms,
        measure=tables,
        draw=lambda found: windows(found, KNEE, decision="every ACK"),
        statements=(
            Statement(
                "considerable_oscillation",
                "Altering the window size after every acknowledgment causes considerable oscillation in the "
                "user's window size",
                "considerable",
                lambda found: _settled(found, "every ACK") / KNEE,
                at_least(0.5),
                note="Largest less smallest window in the second half of the run, over the knee; half of it "
                "is considerable.",
            ),
        ),
    )


def _fig5() -> Experiment:
    return Experiment(
        "ramakrishnan1990/fig5",
        "A decision every two windows",
        cost=1,
        points=_rhythms,
        measure=tables,
        draw=lambda found: windows(found, KNEE, decision="every two windows"),
        statements=(
            Statement(
                "considerably_reduced",
                "Figure 5 shows the behavior of the window size with the frequency of update being once "
                "every W_p + W_c acknowledgments. The oscillation of the window size is now considerably "
                "reduced",
                "< 1",
                lambda found: _settled(found, "every two windows") / _settled(found, "every ACK"),
                at_most(0.5),
                note="Largest less smallest window in the second half of the run, over that of Fig. 4; half "
                "is considerably reduced.",
            ),
        ),
    )


def _fig7() -> Experiment:
    late = (ADDITIVE.duration / 2, ADDITIVE.duration)
    return Experiment(
        "ramakrishnan1990/fig7",
        "Two users, additive increase and additive decrease by 1",
        cost=1,
        points=lambda _: [Point({"decrease": "additive"}, ADDITIVE.scenario())],
        measure=tables,
        draw=lambda found: windows(found, KNEE),
        statements=(
            Statement(
                "unfair",
                "We find that Algorithm A is unfair",
                "> 1",
                lambda found: float(
                    stretch(found, *late, FIRST).mean() / stretch(found, *late, SECOND).mean()
                ),
                at_least(1.5),
                note="Mean window of the first user over that of the second in the second half of the run.",
            ),
            Statement(
                "state_is_preserved",
                "This is because the state of unfairness of the system (e.g., when one of the sources is at "
                "a lower window size than another) is preserved by the additive increase and the additive "
                "decrease functions",
                1,
                lambda found: (
                    float(stretch(found, *late, FIRST).mean() - stretch(found, *late, SECOND).mean())
                    / float(stretch(found, JOINS - 100, JOINS, FIRST).mean() - 1)
                ),
                near(1, 0.25),
                note="Difference of the mean windows in the second half of the run, over that when the "
                "second user begins with a window of 1; 25% is two packets of eight.",
            ),
        ),
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
        measure=tables,
        draw=lambda found: windows(found, KNEE, decrease="multiplicative"),
        statements=(
            Statement(
                "fair",
                "We found that, ultimately, the two sources converge to a fair value so that their window "
                "sizes are nearly equal",
                1,
                lambda found: _ratio_together(found, decrease="multiplicative"),
                near(1, 0.1),
                note="Mean window of the first user over that of the second in the second half of the time "
                "with both; nearly equal is 10%. Packets all alike repeat themselves: of 13 "
                "starts of the second user three give a ratio within 10%, nine 0.87 to 0.90 or 1.12 to 1.13, "
                "and one 0.69.",
            ),
            Statement(
                "fairer_than_additive",
                "We show in Figure 8 that we can achieve fairness by using Algorithm B for the primary "
                "configuration",
                "rising",
                lambda found: [_jain_together(found, run) for run in ("additive", "multiplicative")],
                rising(),
                note="Jain's index of the mean windows with additive and with multiplicative decrease, in "
                "the second half of the time with both users.",
            ),
            Statement(
                "total_time",
                "The time to complete sending the total work load is approximately 50,000 time units, "
                "indicating that the binary feedback scheme is efficient",
                50_000,
                lambda found: max(
                    activity(found, user, decrease="multiplicative")[1] for user in (FIRST, SECOND)
                ),
                near(50_000, 5_000),
                note="When the last packet arrived; approximately is 10%. The packets of a window go round "
                "as a train. When it gets longer, one packet waits at the bottleneck for as long as the "
                "train lasts; the average reaches 1 and the users turn back while a tenth of the "
                "bottleneck's time is unused. With a threshold of 2 it takes 53,100 units.",
            ),
        ),
    )


def _together(found: Tables, **where: float | str) -> tuple[float, float]:
    """When both users are at work: the second half of that time."""
    ends = [activity(found, user, **where)[1] for user in (FIRST, SECOND)]
    return (JOINS + min(ends)) / 2, min(ends)


def _means_together(found: Tables, **where: float | str) -> list[float]:
    start, end = _together(found, **where)
    return [float(stretch(found, start, end, user, **where).mean()) for user in (FIRST, SECOND)]


def _ratio_together(found: Tables, **where: float | str) -> float:
    first, second = _means_together(found, **where)
    return first / second


def _jain_together(found: Tables, decrease: str) -> float:
    return jain(_means_together(found, decrease=decrease))
