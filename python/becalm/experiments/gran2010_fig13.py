"""Fig. 13 of gran2010: scenario 1 with a long timer."""

from __future__ import annotations

from collections.abc import Sequence

from becalm.experiments.expect import at_least, near
from becalm.experiments.gran2010_added import ALL, FAIR, FIVE_PERCENT, added
from becalm.experiments.gran2010_draw import throughputs
from becalm.experiments.gran2010_measure import CONTRIBUTORS, over_time, rate, rates, spread
from becalm.experiments.measure import mean
from becalm.experiments.model import Experiment, Statement, Tables

LEAST = 0.01
"""Difference between rates in Gb/s that a figure could show at all."""

SLOW_TIMER = 2000


def experiments() -> list[Experiment]:
    """Fig. 13."""
    return [_fig13()]


SETTLING_NOTE = (
    "With four and five flows they happen to come close together within the second, see sd and the readings: "
    "which of them a long timer holds back depends on when each last heard of congestion."
)
"""Why not every interval of Fig. 13 is as unfair as the paper's."""


def _fig13() -> Experiment:
    return Experiment(
        "gran2010/fig13",
        "Scenario 1 with a CCTI_Timer of 2000",
        cost=28,
        points=lambda short: [added(1, True, short, timer) for timer in (150, SLOW_TIMER)],
        measure=over_time,
        draw=lambda found: throughputs(found, ALL, delays=True, timer=SLOW_TIMER),
        statements=(
            Statement(
                "unfair_for_longer",
                "Comparing this figure to fig. 7(b), we clearly see how the contributors now experience "
                "unfairness among each other for an extended period of time, each time a new contributor "
                "is added",
                "2000 >> 150",
                lambda found: [
                    _unfair(found, phase, SLOW_TIMER) / max(LEAST, _unfair(found, phase, 150))
                    for phase in (3, 4, 5)
                ],
                at_least(1.5),
                short=False,
                note="Highest less lowest mean throughput of the contributors over the interval, over the "
                "same with a timer of 150 (at least 0.01), with 3, 4 and 5 flows; 1.5 for clearly. "
                f"{SETTLING_NOTE}",
            ),
            Statement(
                "not_stable_in_a_second",
                "The CC mechanism is not able to stabilize the contributors, with regard to fairness "
                "between these flows, during the one second interval between adding new flows",
                "unfair",
                lambda found: [_late_spread(found, phase, SLOW_TIMER) for phase in (4, 5)],
                at_least(FAIR),
                short=False,
                note="Largest over smallest rate of the contributors in the last fifth of the interval, "
                f"with 4 and 5 flows. {SETTLING_NOTE}",
            ),
            Statement(
                "victim_still_saved",
                "In the bright yellow area the throughput of the victim is limited by the PCIe bus "
                "capacity of the hosts",
                13,
                rates(["F1"], [5], timer=SLOW_TIMER),
                near(13, FIVE_PERCENT),
                note="The yellow area of Fig. 11 includes this timer.",
            ),
        ),
    )


def _contributors(phase: int) -> Sequence[str]:
    return CONTRIBUTORS[: phase - 1]


def _unfair(found: Tables, phase: int, timer: int) -> float:
    found_rates = [rate(found, flow, phase, timer=timer) for flow in _contributors(phase)]
    return max(found_rates) - min(found_rates)


def _late_spread(found: Tables, phase: int, timer: int) -> float:
    series = found["series"].filter(found["series"]["timer"] == timer)
    interval = float(series["interval"].to_list()[0])
    late = series.filter(series["time"].is_between((phase - 0.2) * interval, phase * interval - 0.01))
    return spread(
        [mean(late.filter(late["flow"] == flow)["gbps"].to_list()) for flow in _contributors(phase)]
    )
