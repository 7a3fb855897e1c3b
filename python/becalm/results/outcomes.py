"""The outcomes of single replications."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from becalm._core import _Outcome
    from becalm.scenario import Scenario


@dataclass(frozen=True)
class Outcome:
    """The output of one replication."""

    replication: int
    wall_time: float
    core: _Outcome
    processor_time: float | None = None


@dataclass(frozen=True)
class Replication:
    """One replication, without its tables."""

    replication: int
    """Number of the replication, starting at 0."""
    fingerprint: str
    """16 hexadecimal digits that identify the complete trajectory."""
    events: int
    """Number of events handled."""
    packet_hops: int
    """Number of packets that crossed a link, counted once per link."""
    wall_time: float
    """Wall-clock seconds."""
    guards: list[str]
    """The rules of the model that were checked and held."""
    end: float = math.nan
    """Simulated time at the end [s]; NaN in results of versions that did not keep it."""
    processor_time: float | None = None
    """Processor seconds of all its threads; None if they were not measured."""
    stopped: bool = False
    """Whether it was stopped before its end."""
    train_hops: int | None = None
    """Number of trains and single packets that crossed a link; None if each packet was simulated."""
    left_out: float | None = None
    """Time that was left out, as flows kept their rates [s]; None if a run does not leave out anything."""


def replication(outcome: Outcome, scenario: Scenario) -> Replication:
    """Return an outcome without its tables."""
    core = outcome.core
    fidelity = scenario.resolved["run"]["fidelity"]
    return Replication(
        replication=outcome.replication,
        fingerprint=f"{core['fingerprint']:016x}",
        events=core["events"],
        packet_hops=core["packet_hops"],
        wall_time=outcome.wall_time,
        guards=core["guards"],
        end=core["end"],
        processor_time=outcome.processor_time,
        stopped=core["stopped"],
        train_hops=None if fidelity == "packets" else core["train_hops"],
        left_out=core["left_out"] if fidelity == "steady" else None,
    )
