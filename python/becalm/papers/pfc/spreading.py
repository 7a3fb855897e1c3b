"""Congestion that spreads to a victim, with credit and with PFC: the dumbbell of santos2003."""

from __future__ import annotations

from typing import Any

from becalm.lab.dumbbell import NO_CONTROL, Dumbbell
from becalm.lab.model import Experiment, Point, Tables
from becalm.papers.common.draw import rates_over_time
from becalm.papers.common.measure import with_series
from becalm.papers.common.spreading import victim

CONTROLS = ("credits", "pfc")
SCENES = {
    "few": Dumbbell(local=5, remote=1, response=NO_CONTROL),
    "many": Dumbbell(local=10, remote=10, response=NO_CONTROL),
}
"""Fig. 2 of santos2003, and twenty flows without congestion control."""


def experiment() -> Experiment:
    """Return the experiment on the victim's share in both scenes."""
    return Experiment(
        "pfc/spreading",
        "A victim of congestion with credit and with PFC, no congestion control",
        cost=4,
        points=lambda _: [
            Point({"run": f"{scene} {control}"}, with_control(dumbbell, control))
            for scene, dumbbell in SCENES.items()
            for control in CONTROLS
        ],
        measure=with_series,
        draw=lambda tables: rates_over_time(
            tables, "Five local flows and one remote flow, PFC", run="few pfc"
        ),
    )


def with_control(dumbbell: Dumbbell, control: str) -> dict[str, Any]:
    """Return the scenario with a flow control. XOFF is the buffer size of the scene with credit."""
    scenario = dumbbell.scenario()
    return {**scenario, "switch": {**scenario["switch"], "flow_control": {control: {}}}}


def beside_credit(tables: Tables) -> float:
    """Return the victim's share with PFC minus that with credit, in the scene of Fig. 2."""
    return victim(tables, "few pfc") - victim(tables, "few credits")
