"""Fig. 13 of gran2010: scenario 1 with a long timer."""

from __future__ import annotations

from collections.abc import Sequence

from becalm.lab.model import Experiment, Tables
from becalm.lab.tables import mean
from becalm.papers.gran2010.added import ALL, added
from becalm.papers.gran2010.draw import throughputs
from becalm.papers.gran2010.measure import CONTRIBUTORS, over_time, rate, spread

LEAST = 0.01
"""Smallest visible difference between rates in a figure, in Gb/s."""

SLOW_TIMER = 2000


def experiments() -> list[Experiment]:
    """Fig. 13."""
    return [_fig13()]


def _fig13() -> Experiment:
    return Experiment(
        "gran2010/fig13",
        "Scenario 1 with a CCTI_Timer of 2000",
        cost=28,
        points=lambda short: [added(1, True, short, timer) for timer in (150, SLOW_TIMER)],
        measure=over_time,
        draw=lambda tables: throughputs(tables, ALL, delays=True, timer=SLOW_TIMER),
    )


def unfair_for_longer(tables: Tables) -> list[float]:
    """Return the ratio of the contributors' spread to that with a timer of 150, for 3, 4 and 5 flows."""
    return [
        _unfair(tables, phase, SLOW_TIMER) / max(LEAST, _unfair(tables, phase, 150)) for phase in (3, 4, 5)
    ]


def _contributors(phase: int) -> Sequence[str]:
    return CONTRIBUTORS[: phase - 1]


def _unfair(tables: Tables, phase: int, timer: int) -> float:
    found_rates = [rate(tables, flow, phase, timer=timer) for flow in _contributors(phase)]
    return max(found_rates) - min(found_rates)


def late_spread(tables: Tables, phase: int, timer: int) -> float:
    """Return the ratio of largest to smallest mean contributor throughput in the last fifth of a phase."""
    series = tables["series"].filter(tables["series"]["timer"] == timer)
    interval = float(series["interval"].to_list()[0])
    late = series.filter(series["time"].is_between((phase - 0.2) * interval, phase * interval - 0.01))
    return spread(
        [mean(late.filter(late["flow"] == flow)["gbps"].to_list()) for flow in _contributors(phase)]
    )
