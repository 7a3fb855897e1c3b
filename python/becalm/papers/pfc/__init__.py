"""Priority-based flow control (IEEE 802.1Qbb) against its closed forms, and against credit.

All claims here are derived: numbers of closed forms, with bounds that were set before the first run. No
sentence is quoted. The closed forms are in `becalm.theory.pfc`.
"""

from __future__ import annotations

from becalm.lab.model import Experiment
from becalm.papers.pfc import fan_in, parking_lot, spreading, starvation

PHASE = "10 us"
"""Each flow starts up to 10 us later than stated."""


def experiments() -> list[Experiment]:
    """What PFC shares with credit, then what is its own."""
    return [
        spreading.experiment(),
        parking_lot.experiment(),
        fan_in.experiment(),
        starvation.experiment(),
    ]
