"""Flows of gran2010 that are added one by one: what the figures that show them have in common."""

from __future__ import annotations

from becalm.lab.model import Point
from becalm.papers.gran2010.measure import CONTRIBUTORS, point
from becalm.papers.gran2010.scene import Bed

ALL = ("F1", *CONTRIBUTORS)
THREE = ("F1", "F2", "F3")


TAILS = {1: 1.0, 2: 6.0}
"""Seconds with all flows, by scenario: in the second, flows take turns that last for seconds."""


def bed(scenario: int, control: bool, short: bool, timer: int = 150) -> Bed:
    """Return a scenario with the paper's seconds; reduced: tenths of seconds instead."""
    if short:
        return Bed(scenario, control, interval=0.1, tail=0.4, settle=0.02, timer=timer)
    return Bed(scenario, control, tail=TAILS[scenario], settle=0.2, timer=timer)


def added(scenario: int, control: bool, short: bool, timer: int = 150) -> Point:
    """Return the run of a scenario with or without congestion control."""
    labels = {"control": "on" if control else "off", "timer": timer}
    return point(bed(scenario, control, short, timer), **labels)
