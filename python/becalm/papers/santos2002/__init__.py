"""Evaluation of Congestion Detection Mechanisms for InfiniBand Switches.

J. R. Santos, Y. Turner, G. Janakiraman, HP Laboratories HPL-2002-224 and IEEE Globecom, 2002.
"""

from __future__ import annotations

from becalm.papers.common import delays, hardware
from becalm.papers.common.reading import COMMON, nulls
from becalm.papers.santos2002 import buffers, events, flows, policies, remarks

PHASE = "100 us"
"""Flows start 100 us apart, each with up to 100 us of random delay. The text states no start times."""

NULLS = nulls(COMMON)


EXPERIMENTS = COMMON.read(
    [
        *policies.EXPERIMENTS,
        *buffers.EXPERIMENTS,
        *flows.EXPERIMENTS,
        hardware.experiment("santos2002"),
        *remarks.EXPERIMENTS,
        *events.EXPERIMENTS,
        delays.experiment("santos2002"),
    ]
)
"""All figures in the paper's order."""
