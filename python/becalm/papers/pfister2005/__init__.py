"""Solving Hot Spot Contention Using InfiniBand Architecture Congestion Control.

G. Pfister et al., Workshop on High Performance Interconnects for Distributed Computing (HPI-DC), 2005.

`python/becalm/papers/pfister2005/scene.py` describes the networks, the traffic, and the interpretation of
points that the paper leaves open. The text states no times. Here, the hot period starts after 1 ms and lasts
10 ms (16 ms in Fig. 4, 6 ms in `sizes` and `guideline`). Runs of Fig. 3 and 5 continue for 22 ms after it.

The metrics are computed from rates in samples of 0.1 ms. A *cold port* is any output port to a host except
the hot port. Smoothed values are means over 0.5 ms. A throughput relative to the offered load refers to the
load that is still offered to the cold ports at that time.

- `cold_best`: largest smoothed throughput of the cold ports from 1 ms after the start of the hot period to
  its end, relative to their throughput before it;
- `cold_late`: throughput of the cold ports in the last quarter of the hot period, relative to the offered
  load;
- `cold_worst`: smallest smoothed throughput of the cold ports in the hot period, relative to the offered
  load;
- `cold_again`: smallest smoothed throughput of the cold ports after it first reaches 0.9 of the offered load,
  1 ms into the hot period or later, relative to this load; 0 if it never reaches 0.9;
- `port_best`: mean throughput of the best cold port from 1 ms into the hot period, relative to the mean of
  all cold ports before it;
- `port_best_left`: the same throughput relative to the offered load;
- `innocent`: with three hot sources, throughput of the other hosts' flows to cold ports in the last quarter
  of the hot period, relative to that before it;
- `port_worst`: mean throughput of the worst cold port in the second half of the hot period, relative to the
  offered load;
- `settling`: time from which the smoothed throughput of the cold ports stays at 0.9 of the offered load until
  the end of the hot period; the entire period if it never does;
- `recovery`: time after the hot period from which the smoothed throughput stays at 0.95 of its value before
  the period; the entire remaining simulated time if it never does;
- `hot_late`: throughput of the hot port in the second half of the hot period;
- `hot_worst`: smallest smoothed throughput of the hot port from 1 ms into the hot period;
- `cold_swing`, `hot_swing`: standard deviation over time, in the second half of the hot period, of the mean
  throughput of the cold ports and of the throughput of the hot port;
- `ipd_after`: time after the hot period from which the mean IPD of the hot flows stays below a tenth of
  `max_ipd`.

[pfister2005/readings.md](pfister2005/readings.md) describes the results of other readings, and the variants
that were tried for results that differ from the paper.
"""

from __future__ import annotations

from becalm.papers.pfister2005 import cases, guideline, networks, onset, settings, tree
from becalm.papers.pfister2005.scene import NULLS

__all__ = ["EXPERIMENTS", "NULLS", "PHASE"]

PHASE = ""
"""Arrivals are random, so starts need no random delay."""

PARTS = (onset, tree, cases, settings, guideline, networks)
EXPERIMENTS = [experiment for part in PARTS for experiment in part.EXPERIMENTS]
