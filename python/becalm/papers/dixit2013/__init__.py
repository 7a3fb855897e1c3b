"""On the Impact of Packet Spraying in Data Center Networks.

A. Dixit, P. Prakash, Y. C. Hu, R. R. Kompella, IEEE INFOCOM, 2013. The paper sets random packet spraying
against ECMP; here both run on a lossless fabric, with adaptive routing beside them.

All claims here are derived: closed forms of `becalm.theory` and bounds that were set before the first run. No
sentence of the paper is quoted: its fabrics drop packets, and its transport is TCP. What a share of a link
means beside ACKs, and how many draws one per cent takes: [dixit2013/readings.md](dixit2013/readings.md).
"""

from __future__ import annotations

from becalm.lab.model import Experiment
from becalm.papers.dixit2013 import collisions, victims, waits

PHASE = "20 us"
"""Each flow starts up to 20 us later than stated, a hundred packet times."""


def experiments() -> list[Experiment]:
    """What hashed flows leave unused, what sprayed packets wait, and who suffers from an incast."""
    return [*collisions.experiments(), *waits.experiments(), *victims.experiments()]
