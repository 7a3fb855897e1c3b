"""Fig. 2 and 3 of santos2002, and the preceding thought experiment: marking policies over time."""

from __future__ import annotations

from dataclasses import replace

from becalm.lab.dumbbell import ONE_PACKET, Dumbbell, fixed
from becalm.papers.common.draw import over_time, runs
from becalm.papers.common.marking import INPUT_TRIGGERED, fair_state, output_triggered, points

FREE = Dumbbell(response=ONE_PACKET)


EXPERIMENTS = [
    over_time(
        "santos2002/fig2",
        "Congestion spreading with 10 local and 10 remote flows, no congestion control",
        0.5,
        runs(none=FREE),
        "No congestion control, window of one packet",
        run="none",
    ),
    over_time(
        "santos2002/paced",
        "Gain of the victim if the other flows send at 1/20 of the link",
        1,
        runs(
            remote=replace(FREE, remote_response=fixed(1 / 20)),
            all=replace(FREE, response=fixed(1 / 20), victim_response=ONE_PACKET),
        ),
        "Local and remote flows at 1/20 of the link",
        run="all",
    ),
    over_time(
        "santos2002/fig3a",
        "Naive marking, buffer of 4 packets",
        0.5,
        points("naive"),
        "Naive",
        marking="naive",
    ),
    over_time(
        "santos2002/fig3b",
        "Input-triggered marking, buffer of 4 packets",
        1,
        [*points("naive", "input"), fair_state("fair", INPUT_TRIGGERED, 4)],
        "Input-triggered",
        marking="input",
    ),
    over_time(
        "santos2002/fig3c",
        "Input-output-triggered marking, output threshold of 4 packets",
        1.5,
        [*points("input", "4"), fair_state("fair", output_triggered(8), 16)],
        "Input-output-triggered, threshold 4",
        marking="4",
    ),
    over_time(
        "santos2002/fig3d",
        "Input-output-triggered marking, output threshold of 8 packets",
        1.5,
        points("input", "4", "8"),
        "Input-output-triggered, threshold 8",
        marking="8",
    ),
]
"""Fig. 2, the thought experiment of section III on paced flows, and Fig. 3."""
