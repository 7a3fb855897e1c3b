"""Other readings of gran2010's bed, whose verdicts are shown next to the scored ones: nothing here is scored.

Each changes what the paper leaves open, in one place, with everything else as it is:

- `fig7b_ms`: throughput sampled every millisecond in place of every ten;
- `fig7b_drawn`: switches draw the packets that they mark, by `Marking_Rate` as a mean, in place of counting;
- `table3_fifo`: switches with one queue per input of 13 packets, and inputs in turn;
- `table3_eager`: MPI asks before it sends a message above 8 KiB, as libraries of it do from some size on.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from becalm.lab.model import Experiment, Point
from becalm.papers.gran2010 import table3
from becalm.papers.gran2010.adapters import drawn
from becalm.papers.gran2010.added import ALL, added, bed
from becalm.papers.gran2010.draw import throughputs
from becalm.papers.gran2010.measure import over_time, point
from becalm.papers.gran2010.scene import HEADER, MTU, Table


def experiments() -> list[Experiment]:
    """All readings."""
    return [
        Experiment(
            "gran2010/fig7b_ms",
            "Fig. 7(b) in samples of 1 ms",
            cost=20,
            points=lambda short: [_sampled(short, 1e-3)],
            measure=over_time,
            draw=partial(throughputs, flows=ALL),
        ),
        Experiment(
            "gran2010/fig7b_drawn",
            "Fig. 7(b) with marks that are drawn: Marking_Rate as a mean",
            cost=20,
            points=lambda short: [drawn(added(1, True, short))],
            measure=over_time,
            draw=partial(throughputs, flows=ALL),
        ),
        table3.experiment(
            "table3_fifo", "Table III with one queue per input of 13 packets, inputs in turn", _fifo
        ),
        table3.experiment("table3_eager", "Table III with a rendezvous above 8 KiB", _eager),
    ]


def _sampled(short: bool, step: float) -> Point:
    return point(replace(bed(1, True, short), step=step), control="on", timer=150)


def _fifo(scenario: Table) -> Table:
    switch = {"queueing": "fifo", "arbiter": {"round_robin": {}}, "buffer": f"{13 * (MTU + HEADER)} B"}
    return {**scenario, "switch": {**scenario["switch"], **switch}}


def _eager(scenario: Table) -> Table:
    return {**scenario, "jobs": [{**job, "eager": "8 KiB"} for job in scenario["jobs"]]}
