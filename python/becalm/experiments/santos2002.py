"""Evaluation of Congestion Detection Mechanisms for InfiniBand Switches.

J. R. Santos, Y. Turner, G. Janakiraman, HP Laboratories HPL-2002-224 and IEEE Globecom, 2002.
"""

from __future__ import annotations

from becalm.experiments import santos2002_buffers, santos2002_flows, santos2002_policies
from becalm.experiments.model import Experiment


def experiments() -> list[Experiment]:
    """All figures, in the paper's order."""
    return [
        *santos2002_policies.experiments(),
        *santos2002_buffers.experiments(),
        *santos2002_flows.experiments(),
    ]
