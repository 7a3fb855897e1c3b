"""Nulls for the claims of santos2002 and santos2003: the same scene under another policy or none."""

from __future__ import annotations

from collections.abc import Mapping

from becalm.lab.dumbbell import NO_CONTROL, Table
from becalm.lab.model import Change
from becalm.lab.nulls import mark, off, respond
from becalm.papers.common.marking import INPUT_TRIGGERED
from becalm.papers.common.reading import Reading

RATE = 0.15
"""Share of packets that input-triggered marking with LIPD marks in Fig. 3(b) of santos2002."""
FEW = ["A1..A2"]
"""Number of remote flows. Together with the victim, there are fewer flows than slots in a buffer."""


def changes(reading: Reading) -> Mapping[str, Change]:
    """Return the changes for nulls, with the switches of a reading."""

    def on(scenario: Table) -> Table:
        return reading.apply(respond({"lipd": {}})(mark(INPUT_TRIGGERED)(scenario)))

    def few(scenario: Table) -> Table:
        flows = [{**flow, "from": FEW} if flow["name"] == "remote" else flow for flow in scenario["flows"]]
        return {**scenario, "flows": flows}

    return {
        # Windows of one packet, as in the figures without control.
        "off": off(1),
        "on": on,
        "random": mark({"random": {"probability": RATE}}),
        "no window": respond(NO_CONTROL),
        "few flows": few,
    }
