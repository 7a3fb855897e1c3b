"""Priority-based flow control (IEEE 802.1Qbb) against its closed forms, and against credit.

All claims are derived from closed forms (`becalm.theory.pfc`), with bounds set before the first run. No
sentence is quoted.
"""

from __future__ import annotations

from becalm.lab.model import Experiment
from becalm.papers.pfc import fan_in, parking_lot, spreading, starvation

PHASE = "10 us"
"""Each flow starts up to 10 us later than stated."""


def experiments() -> list[Experiment]:
    """Return the experiments on properties that PFC shares with credit, then on those specific to PFC."""
    return [
        spreading.experiment(),
        parking_lot.experiment(),
        fan_in.experiment(),
        starvation.experiment(),
    ]
