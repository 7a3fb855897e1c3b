"""Nulls for the claims of pfister2005: its networks without control, or with the control of Fig. 3."""

from __future__ import annotations

from becalm.lab.nulls import mark, off
from becalm.papers.pfister2005.scene import IN_FIG3, Table

RATE = 0.02
"""Share of packets that are marked with the parameters of Fig. 3 while all sources are hot."""


def _paced(scenario: Table, paced: bool) -> Table:
    flows = [
        {**flow, "traffic": {"poisson": {**flow["traffic"]["poisson"], "paced": paced}}}
        for flow in scenario["flows"]
    ]
    return {**scenario, "flows": flows}


NULLS = {
    "off": lambda scenario: _paced(off("unlimited")(scenario), paced=False),
    "on": lambda scenario: _paced({**scenario, **IN_FIG3.tables()}, paced=True),
    "random": mark({"random": {"probability": RATE}}),
}
