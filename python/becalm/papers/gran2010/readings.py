"""Other readings of gran2010's test bed. Their verdicts are shown, but not scored.

Each reading changes one point that the paper leaves open:

- `fig7b_ms`: throughput is sampled every millisecond instead of every ten milliseconds;
- `fig7b_drawn`: switches mark packets at random, with `Marking_Rate` as a mean, instead of counting;
- `table3_fifo`: switches have one queue of 13 packets per input, and serve inputs round-robin;
- `table3_eager`: MPI uses a rendezvous for messages above 8 KiB. MPI libraries do so above some size.
"""

from __future__ import annotations

from dataclasses import replace

from becalm.lab.model import Experiment, Point, Table
from becalm.papers.gran2010 import table3
from becalm.papers.gran2010.adapters import drawn
from becalm.papers.gran2010.added import ALL, added, bed, throughputs
from becalm.papers.gran2010.measure import over_time, point
from becalm.papers.gran2010.scene import HEADER, MTU


def _sampled(short: bool, step: float) -> Point:
    return point(replace(bed(1, True, short), step=step), control="on", timer=150)


def _fifo(scenario: Table) -> Table:
    switch = {"queueing": "fifo", "arbiter": {"round_robin": {}}, "buffer": f"{13 * (MTU + HEADER)} B"}
    return {**scenario, "switch": {**scenario["switch"], **switch}}


def _eager(scenario: Table) -> Table:
    return {**scenario, "jobs": [{**job, "eager": "8 KiB"} for job in scenario["jobs"]]}


EXPERIMENTS = [
    Experiment(
        "gran2010/fig7b_ms",
        "Fig. 7(b) in samples of 1 ms",
        cost=20,
        points=lambda short: [_sampled(short, 1e-3)],
        measure=over_time,
        draw=throughputs(ALL),
    ),
    Experiment(
        "gran2010/fig7b_drawn",
        "Fig. 7(b) with random marks: Marking_Rate as a mean",
        cost=20,
        points=lambda short: [drawn(added(1, True, short))],
        measure=over_time,
        draw=throughputs(ALL),
    ),
    table3.experiment(
        "table3_fifo", "Table III with one queue of 13 packets per input and round-robin", _fifo
    ),
    table3.experiment("table3_eager", "Table III with a rendezvous above 8 KiB", _eager),
]
"""The experiments of all readings."""
