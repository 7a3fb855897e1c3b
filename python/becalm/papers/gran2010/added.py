"""Runs of gran2010 in which flows are added one by one, shared by several figures."""

from __future__ import annotations

from becalm.lab.model import Point
from becalm.papers.gran2010.measure import CONTRIBUTORS, point
from becalm.papers.gran2010.scene import Bed

ALL = ("F1", *CONTRIBUTORS)
THREE = ("F1", "F2", "F3")


TAILS = {1: 1.0, 2: 6.0}
"""Seconds with all flows, by scenario. In scenario 2, flows alternate in periods of seconds."""


def bed(scenario: int, control: bool, short: bool, timer: int = 150) -> Bed:
    """Return a scenario with the paper's times in seconds, or with tenths of them in the reduced version."""
    if short:
        return Bed(scenario, control, interval=0.1, tail=0.4, settle=0.02, timer=timer)
    return Bed(scenario, control, tail=TAILS[scenario], settle=0.2, timer=timer)


def added(scenario: int, control: bool, short: bool, timer: int = 150) -> Point:
    """Return the run of a scenario with or without congestion control."""
    labels = {"control": "on" if control else "off", "timer": timer}
    return point(bed(scenario, control, short, timer), **labels)
