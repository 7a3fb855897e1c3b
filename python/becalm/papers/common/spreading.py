"""Effect of a full network on the victim without congestion control.

Both papers describe it in nearly the same words: santos2002, Fig. 2, and santos2003, Fig. 2 and 3(a), and
the thought experiment in section III of each.
"""

from __future__ import annotations

from becalm.lab.dumbbell import INTER_SWITCH
from becalm.lab.model import Tables
from becalm.papers.common.marking import VICTIM_MS
from becalm.papers.common.measure import during


def victim(tables: Tables, run: str) -> float:
    """Return the victim's share of a link while it is active."""
    return during(tables, "group", "victim", VICTIM_MS, run=run)


def inter_switch(tables: Tables, run: str) -> float:
    """Return the utilization of the inter-switch link while the victim is active."""
    return during(tables, "link", INTER_SWITCH, VICTIM_MS, run=run)
