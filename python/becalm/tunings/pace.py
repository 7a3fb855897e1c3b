"""The wall-clock time that runs need, from that of the last ones: a machine's load may change at any time."""

from __future__ import annotations

import math
from collections import deque

WINDOW = 12
"""Number of batches that count."""
UPPER = 0.8
"""Quantile of the batches' paces that a stage with a limit plans for."""


class Pace:
    """Seconds per packet-hop of the last batches of runs, as estimated before each run."""

    def __init__(self) -> None:
        self._batches: deque[tuple[float, float]] = deque(maxlen=WINDOW)

    def note(self, work: float, seconds: float) -> None:
        """Add a batch that took some seconds for an amount of work."""
        self._batches.append((work, seconds))

    def seconds(self, work: float) -> float:
        """Return the seconds that work needs on average; 0 before the first batch."""
        whole = math.fsum(each for each, _ in self._batches)
        return work * math.fsum(seconds for _, seconds in self._batches) / whole if whole else 0.0

    def at_most(self, work: float) -> float:
        """Return the seconds that work needs at the pace of a slow batch; 0 before the first batch."""
        slowest = sorted(seconds / each for each, seconds in self._batches)
        return work * slowest[math.ceil(UPPER * len(slowest)) - 1] if slowest else 0.0
