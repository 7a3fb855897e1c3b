"""A Binary Feedback Scheme for Congestion Avoidance in Computer Networks.

K. K. Ramakrishnan, R. Jain, ACM Transactions on Computer Systems 8(2), 1990.

Fig. 1 and 3 are drawings. [ramakrishnan1990/readings.md](ramakrishnan1990/readings.md) describes points that
the paper leaves open, and the results of other readings.
"""

from __future__ import annotations

from becalm.papers.ramakrishnan1990 import decrease, router, signal_filter, single, special, user, windows
from becalm.papers.ramakrishnan1990.scene import NULLS

__all__ = ["EXPERIMENTS", "NULLS", "PHASE"]

PHASE = "77.5 us"
"""Each user starts up to a round trip of 77.5 units later than stated. The text states no start times."""

PARTS = (windows, router, signal_filter, single, user, decrease, special)
EXPERIMENTS = [experiment for part in PARTS for experiment in part.EXPERIMENTS]
