"""Points that santos2002 and santos2003 leave open about their switches. Each answer sets scenario keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from becalm.lab.dumbbell import NO_CONTROL
from becalm.lab.model import Change, Experiment, Point, Table
from becalm.lab.nulls import mark, off, respond
from becalm.papers.common.marking import INPUT_TRIGGERED

TRIGGERED = ("input_triggered", "input_output_triggered")
"""Marking policies that use the two counters or a scan."""
POLICIES = ("naive", *TRIGGERED)


@dataclass(frozen=True)
class Reading:
    """One answer to each question."""

    reads: str = "many"
    """Packets that an input buffer sends simultaneously: `many`, one per output, or `one`."""
    bypass: str = "switch"
    """Scope of the bound of 4 on overtaking: the `switch`'s oldest packet, or each packet on its `output`."""
    full: str = "forwarded"
    """Time of the check for a full buffer: when a packet is `forwarded` to its output, or `stored`."""
    method: str = "counters"
    """Method of marking packets at a trigger: `counters` or a `scan`."""

    @property
    def name(self) -> str:
        """Return the four answers as a name."""
        return f"{self.reads}, {self.bypass}, {self.full}, {self.method}"

    def apply(self, scenario: Table, varied: Iterable[str] = ()) -> Table:
        """Return a scenario with these switches, except for marking keys that the scenario varies."""
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
"""Reading used for both papers. In total, most of their sentences hold with it."""


def different(full: Iterable[str] = ("forwarded", "stored")) -> list[Reading]:
    """Return all readings that differ.

    If an input buffer feeds several outputs simultaneously, no packet overtakes another on its output.
    Packets for an output then leave in order of arrival, and a scan marks the same packets as the counters.
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


RATE = 0.15
"""Share of packets that input-triggered marking with LIPD marks in Fig. 3(b) of santos2002."""
FEW = ["A1..A2"]
"""Number of remote flows. Together with the victim, there are fewer flows than slots in a buffer."""


def nulls(reading: Reading) -> Mapping[str, Change]:
    """Return the nulls of both papers: the same scene under another policy or none, as a reading has it."""

    def on(scenario: Table) -> Table:
        return reading.apply(respond({"lipd": {}})(mark(INPUT_TRIGGERED)(scenario)))

    def few(scenario: Table) -> Table:
        flows = [{**flow, "from": FEW} if flow["name"] == "remote" else flow for flow in scenario["flows"]]
        return {**scenario, "flows": flows}

    def only_input(scenario: Table) -> Table:
        return reading.apply(mark(INPUT_TRIGGERED)(scenario))

    return {
        # Windows of one packet, as in the figures without control.
        "off": off(1),
        "on": on,
        # No output-triggered marking.
        "input": only_input,
        "random": mark({"random": {"probability": RATE}}),
        "no window": respond(NO_CONTROL),
        "few flows": few,
    }
