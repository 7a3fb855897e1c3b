"""What santos2002 and santos2003 leave open about their switches: every answer is keys of a scenario."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from becalm.lab.model import Experiment, Point

TRIGGERED = ("input_triggered", "input_output_triggered")
"""Marking policies with the two counters, or a scan in their place."""
POLICIES = ("naive", *TRIGGERED)


@dataclass(frozen=True)
class Reading:
    """One answer to each question."""

    reads: str = "many"
    """Packets that an input buffer sends at the same time: `many`, one per output, or `one`."""
    bypass: str = "switch"
    """The bound of 4 on overtaking: of the oldest packet of the `switch`, or of all on their own `output`."""
    full: str = "forwarded"
    """When a buffer counts as full: when a packet is `forwarded` to its output, or `stored`."""
    method: str = "counters"
    """How the packets at a trigger get their marks: by `counters` or by a `scan`."""

    @property
    def name(self) -> str:
        """The four answers."""
        return f"{self.reads}, {self.bypass}, {self.full}, {self.method}"

    def apply(self, scenario: dict[str, Any], varied: Iterable[str] = ()) -> dict[str, Any]:
        """Return a scenario with these switches, but for keys of marking that are varied."""
        arbiter = {**scenario["switch"]["arbiter"]["oldest_first"], "bypass": self.bypass}
        switch = {"input_reads": self.reads, "arbiter": {"oldest_first": arbiter}}
        marking = {
            name: {**keys, **{key: value for key, value in self._marking(name).items() if key not in varied}}
            for name, keys in scenario["marking"].items()
        }
        return {**scenario, "switch": {**scenario["switch"], **switch}, "marking": marking}

    def _marking(self, policy: str) -> dict[str, str]:
        """Return the keys of a marking policy."""
        keys = {"full": self.full} if policy in POLICIES else {}
        return {**keys, "method": self.method} if policy in TRIGGERED else keys

    def read(self, experiments: Iterable[Experiment]) -> list[Experiment]:
        """Return experiments whose scenarios have these switches."""
        return [self._read(experiment) for experiment in experiments]

    def _read(self, experiment: Experiment) -> Experiment:
        def points(short: bool) -> list[Point]:
            return [
                replace(point, scenario=self.apply(point.scenario, point.labels))
                for point in experiment.points(short)
            ]

        return replace(experiment, points=points)


COMMON = Reading(full="stored")
"""The reading that both papers are judged by: of all that differ, most of their sentences together hold."""


def different(full: Iterable[str] = ("forwarded", "stored")) -> list[Reading]:
    """Return all readings that differ.

    Where an input buffer feeds several outputs at once, nothing overtakes on its own output, and the packets
    for an output leave in order of arrival: then a scan marks what the counters mark.
    """
    return [
        Reading(reads, bypass, look, method)
        for reads, bypass, methods in (
            ("many", "switch", ("counters",)),
            ("one", "switch", ("counters", "scan")),
            ("one", "output", ("counters", "scan")),
        )
        for look in full
        for method in methods
    ]
