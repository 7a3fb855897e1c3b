"""Nulls for the claims of gran2010: its test bed without control, or with the control of Table I."""

from __future__ import annotations

from becalm.lab.nulls import mark, respond
from becalm.papers.gran2010.scene import Bed, Table

RATE = 0.01
"""Share of packets that are marked with the parameters of Table I and all flows of scenario 1."""


def _off(scenario: Table) -> Table:
    return respond({"none": {}})(mark({"none": {}})(scenario))


def _on(scenario: Table) -> Table:
    control = Bed().scenario_data()
    return respond(control["response"])(mark(control["marking"])(scenario))


NULLS = {"off": _off, "on": _on, "random": mark({"random": {"probability": RATE}})}
