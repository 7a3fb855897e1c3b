"""Solving Hot Spot Contention Using InfiniBand Architecture Congestion Control.

G. Pfister et al., Workshop on High Performance Interconnects for Distributed Computing (HPI-DC), 2005.

The networks, the traffic and what the paper leaves open are described in
`python/becalm/papers/pfister2005/scene.py`. The text states no times, so these are chosen: 1 ms before
the hot period, which lasts 10 ms (16 ms in Fig. 4, 6 ms in `sizes` and `guideline`), and 22 ms after it in
Fig. 3 and 5.

Metrics, from rates in samples of 0.1 ms; a *cold port* is any output port to a host but the hot one, and
smoothed means the mean over 0.5 ms:

- `cold_best`: largest smoothed throughput of the cold ports from 1 ms after the hot period began to its
  end, over what they had before it;
- `cold_late`: throughput of the cold ports in the last quarter of the hot period, over the load that is
  still offered to them;
- `cold_worst`: smallest smoothed throughput of the cold ports in the hot period, over the load that is
  still offered to them;
- `cold_again`: smallest smoothed throughput of the cold ports after it has first reached 0.9 of the load
  offered to them, from 1 ms on, over that load; 0 if it never does;
- `port_best`, `port_worst`: the same for the best cold port from 1 ms on, over the mean before; and for the
  worst one in the second half, over the load offered;
- `settling`: time from which the smoothed throughput of the cold ports stays at 0.9 of the load offered to
  them until the hot period ends; all of the period if it never does;
- `recovery`: time after the hot period from which it stays at 0.95 of what it was before; all the time
  simulated if it never does;
- `hot_late`, `hot_worst`: throughput of the hot port in the second half of the hot period; its smallest
  smoothed value from 1 ms on;
- `cold_swing`, `hot_swing`: standard deviation over time in the second half of the hot period: of the mean
  throughput of the cold ports, of the hot port's;
- `ipd_after`: time after the hot period from which the mean IPD of the hot flows stays below a tenth of
  `max_ipd`.

What other readings give, and what was tried where the paper does not come out:
[pfister2005/readings.md](pfister2005/readings.md).
"""

from __future__ import annotations

from becalm.lab.model import Experiment
from becalm.papers.pfister2005 import cases, guideline, mistakes, networks, onset
from becalm.papers.pfister2005.nulls import NULLS

__all__ = ["NULLS", "PHASE", "experiments"]

PHASE = ""
"""Arrivals are random: no start is spread."""


def experiments() -> list[Experiment]:
    """All figures, in the paper's order."""
    fig3, fig5, *others = cases.experiments()
    last = [*guideline.experiments(), *networks.experiments()]
    return [*onset.experiments(), fig3, *mistakes.experiments(), fig5, *others, *last]
