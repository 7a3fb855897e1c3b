"""The comparison of marking policies with L = R = 10 and LIPD.

Both papers print it in nearly the same words: santos2002, Fig. 3(a, b) and santos2003, Fig. 4(a, b).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from becalm.lab.dumbbell import NO_CONTROL, Dumbbell
from becalm.lab.model import Point, Table, Tables
from becalm.lab.tables import at, unfairness

NAIVE: Table = {"naive": {}}
INPUT_TRIGGERED: Table = {"input_triggered": {}}


def output_triggered(threshold: int) -> Table:
    """Return input-output-triggered marking."""
    return {"input_output_triggered": {"threshold": threshold}}


def points(*policies: str) -> list[Point]:
    """Return the scene with the named policies, in runs of 100 ms."""
    markings = {"naive": NAIVE, "input": INPUT_TRIGGERED, "4": output_triggered(4), "8": output_triggered(8)}
    return [Point({"marking": name}, Dumbbell(marking=markings[name]).scenario()) for name in policies]


def fair_state(name: str, policy: Table, buffer: int) -> Point:
    """Return the scene in the fair state: all flows have the same rate, and send packets at random times.

    The root link is loaded to 95%, so buffers fill, but no flow is held back. Runs are long because the marks
    of the two sides differ by only a few percent.
    """
    scene = Dumbbell(marking=policy, buffer=buffer, response=NO_CONTROL, load=0.95 / 20)
    return Point({"marking": name}, replace(scene.long(short=False), victim=None).scenario())


def marked_remote_to_local(tables: Tables, marking: str) -> float:
    """Return the ratio of the remote to the local flows' marked packets; nan if nothing is marked."""
    remote, local = (at(tables, f"{side}_marked", marking=marking) for side in ("remote", "local"))
    return remote / max(local, 1) if remote + local else math.nan


def fairness(tables: Tables, markings: Sequence[str]) -> list[float]:
    """Return the ratio of the larger to the smaller aggregate rate of local and remote flows."""
    return [unfairness(at(tables, "ratio", marking=marking)) for marking in markings]
