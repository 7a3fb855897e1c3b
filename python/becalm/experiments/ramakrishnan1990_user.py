"""Ramakrishnan and Jain 1990, Fig. 4, 5, 7 and 8 and section 5.4: how users change their windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from becalm.experiments.expect import at_least, at_most, each_near, falling, near, rising
from becalm.experiments.measure import axis, curve, mean
from becalm.experiments.model import Experiment, Point, Statement, Tables
from becalm.experiments.ramakrishnan1990_draw import window_panels, windows
from becalm.experiments.ramakrishnan1990_measure import activity, stretch, swing, tables
from becalm.experiments.ramakrishnan1990_scene import EXPONENTIAL, Path, User, feedback
from becalm.theory import jain

KNEE = Path().network.knee
FIRST, SECOND = "user 1", "user 2"
JOINS = 1_000.0
"""When the second user starts, in units; at some other times the two lock, see the readings."""
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
FACTORS = (0.5, 0.7, 0.9)
"""Decrease factors that are compared; the paper names the first and the last."""


def experiments() -> list[Experiment]:
    """Fig. 4, 5, 7 and 8, the decrease factor, the example with integers."""
    return [_fig4(), _fig5(), _fig7(), _fig8(), _factor(), _integer()]


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
                "with both; nearly equal is 10%.",
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
                "train lasts; the average reaches 1 and the users turn back while a sixth of the "
                "bottleneck's time is unused. With a threshold of 2 it takes 53,200 units.",
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
                note="Largest and smallest window of the first user, 15,000 to 20,000 units. The example "
                "takes for granted that users go up until the knee; here they are told to go down at a "
                "sum of 10 or so, as in Fig. 5. With a threshold of 2: 10 and 6.",
            ),
            Statement(
                "cycle_of_the_second",
                "They go up by 1 to 9 and 5. The total window is still less than W_knee, and the users then "
                "go up to 10 and 6. After this, the cycle repeats",
                "6, 4",
                lambda found: _extremes(stretch(found, *late, SECOND, kind="integer")),
                each_near((6, 4), 0),
                note="Largest and smallest window of the second user, likewise. With a threshold of 2: 9 and "
                "5.",
            ),
            Statement(
                "integers_may_be_unfair",
                "If only integer values are maintained for the window, additive increase and multiplicative "
                "decrease may also stabilize to unfair values",
                "> 1",
                lambda found: _ratio(found, late, "integer"),
                at_least(1.2),
                note="Mean window of the first user over that of the second; 1.2 is half of the example's "
                "inequality. With a threshold of 2: 1.14.",
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
