"""On the Impact of Packet Spraying in Data Center Networks.

A. Dixit, P. Prakash, Y. C. Hu, R. R. Kompella, IEEE INFOCOM, 2013. The paper compares random packet spraying
with ECMP. Here both run on a lossless fabric, as does adaptive routing.

All claims are derived from closed forms of `becalm.theory`, with bounds set before the first run. No sentence
of the paper is quoted, because its fabrics drop packets and its transport is TCP.
[dixit2013/readings.md](dixit2013/readings.md) explains shares of a link that also carries ACKs, and the
number of samples that one per cent requires.
"""

from __future__ import annotations

from becalm.lab.model import Experiment
from becalm.papers.dixit2013 import collisions, victims, waits

PHASE = "20 us"
"""Each flow starts up to 20 us later than stated, which is about a hundred packet times."""


def experiments() -> list[Experiment]:
    """Return the experiments on collisions of hashed flows, waits of sprayed packets, and victims."""
    return [*collisions.experiments(), *waits.experiments(), *victims.experiments()]
