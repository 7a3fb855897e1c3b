"""Fig. 2 and 3 of santos2002, and the preceding thought experiment: marking policies over time."""

from __future__ import annotations

from dataclasses import replace

from becalm.lab.dumbbell import ONE_PACKET, Dumbbell, fixed
from becalm.lab.model import Experiment, Point
from becalm.papers.common import marking
from becalm.papers.common.draw import rates_over_time
from becalm.papers.common.marking import INPUT_TRIGGERED, output_triggered
from becalm.papers.common.measure import with_series

FREE = Dumbbell(response=ONE_PACKET)


def experiments() -> list[Experiment]:
    """Return Fig. 2, the remark on paced flows, and Fig. 3."""
    return [_fig2(), _paced(), *_fig3()]


def _fig2() -> Experiment:
    return Experiment(
        "santos2002/fig2",
        "Congestion spreading with 10 local and 10 remote flows, no congestion control",
        cost=0.5,
        points=lambda _: [Point({"run": "none"}, FREE.scenario())],
        measure=with_series,
        draw=rates_over_time("No congestion control, window of one packet", run="none"),
    )


def _paced() -> Experiment:
    """Return the thought experiment of section III, on which the scheme is based."""
    remote = replace(FREE, remote_response=fixed(1 / 20))
    every = replace(FREE, response=fixed(1 / 20), victim_response=ONE_PACKET)
    return Experiment(
        "santos2002/paced",
        "Gain of the victim if the other flows send at 1/20 of the link",
        cost=1,
        points=lambda _: [
            Point({"run": "remote"}, remote.scenario()),
            Point({"run": "all"}, every.scenario()),
        ],
        measure=with_series,
        draw=rates_over_time("Local and remote flows at 1/20 of the link", run="all"),
    )


def _fig3() -> list[Experiment]:
    return [
        Experiment(
            "santos2002/fig3a",
            "Naive marking, buffer of 4 packets",
            cost=0.5,
            points=lambda _: marking.points("naive"),
            measure=with_series,
            draw=rates_over_time("Naive", marking="naive"),
        ),
        Experiment(
            "santos2002/fig3b",
            "Input-triggered marking, buffer of 4 packets",
            cost=1,
            points=lambda _: [
                *marking.points("naive", "input"),
                marking.fair_state("fair", INPUT_TRIGGERED, 4),
            ],
            measure=with_series,
            draw=rates_over_time("Input-triggered", marking="input"),
        ),
        Experiment(
            "santos2002/fig3c",
            "Input-output-triggered marking, output threshold of 4 packets",
            cost=1.5,
            points=lambda _: [
                *marking.points("input", "4"),
                marking.fair_state("fair", output_triggered(8), 16),
            ],
            measure=with_series,
            draw=rates_over_time("Input-output-triggered, threshold 4", marking="4"),
        ),
        Experiment(
            "santos2002/fig3d",
            "Input-output-triggered marking, output threshold of 8 packets",
            cost=1.5,
            points=lambda _: marking.points("input", "4", "8"),
            measure=with_series,
            draw=rates_over_time("Input-output-triggered, threshold 8", marking="8"),
        ),
    ]
