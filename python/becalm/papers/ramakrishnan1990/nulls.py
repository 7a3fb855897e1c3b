"""Nulls for the claims of ramakrishnan1990: no feedback bits, random bits, or other users.

Without bits, a window grows without limit, by one packet every two windows.
"""

from __future__ import annotations

from becalm.lab.nulls import mark, respond
from becalm.papers.ramakrishnan1990.scene import FEEDBACK, Table, feedback


def _no_satellite(scenario: Table) -> Table:
    edges = scenario["topology"]["edges"]
    cables = [
        {key: value for key, value in cable.items() if key != "delay" or "rate" not in cable}
        for cable in edges["cables"]
    ]
    return {**scenario, "topology": {"edges": {**edges, "cables": cables}}}


NULLS = {
    # Half of the packets, the cutoff of a user.
    "random": mark({"random": {"probability": 0.5}}),
    "as the paper chose": respond(FEEDBACK),
    "additive": respond(feedback(decrease={"additive": {"by": 1}})),
    "no satellite": _no_satellite,
}
