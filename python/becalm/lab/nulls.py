"""Nulls: what a claim would measure without the mechanism that it is about.

A claim that also holds with a wrong mechanism says nothing about the right one. So each scored claim has a
null: its own measure and tolerance, with the first three seeds, in the same scene without the subject of the
sentence. A claim that holds, and whose null holds, is *weak*: it is shown, but not in the headline. The key
`null` of a claim names it:

| `null` | what is measured |
|---|---|
| `"off"` | the scene without congestion control; the default, `NULL` of a paper's package may be another |
| `"random"`, `"every"` | marks at random, at a fixed rate; marks on every packet |
| another name | the scene after a change from the paper's `NULLS`, such as `"on"`: with control |
| `{ control = "off" }` | the same points, and the measure with these arguments in place of its own |
| `"none: reason"` | nothing; the reason why no null makes sense, such as arithmetic on printed parameters |

The mean over the seeds decides on a null: it gets no benefit of the doubt, and is never undecided.
A null with nothing to measure, since the subject of the sentence does not occur, fails.
A sentence about behaviour without control is not its own null: its null has control, or another cause.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from becalm.lab.model import Change, Experiment, Point, Table

NULL = "off"
"""The null of a claim that does not name one."""
NONE = "none: "
"""Prefix of the reason for having no null."""


def off(window: int | str | None = None) -> Change:
    """Return the change to no marks and no response, with a window of this many packets.

    Without a window the response stays, but it receives no marks.
    """

    def change(scenario: Table) -> Table:
        scenario = {**scenario, "marking": {"none": {}}}
        return scenario if window is None else respond({"none": {"window": window}})(scenario)

    return change


def mark(policy: Table) -> Change:
    """Return the change to another marking policy."""
    return lambda scenario: {**scenario, "marking": policy}


def respond(response: Table) -> Change:
    """Return the change to another response, for all flows."""

    def change(scenario: Table) -> Table:
        flows = [
            {key: value for key, value in flow.items() if key != "response"} for flow in scenario["flows"]
        ]
        return {**scenario, "response": response, "flows": flows}

    return change


GENERAL: Mapping[str, Change] = {
    "off": off(),
    "random": mark({"random": {"probability": 0.02}}),
    "every": mark({"random": {"probability": 1.0}}),
}
"""Changes that all papers have, unless their `NULLS` have others with the same name."""


def changed(experiment: Experiment, change: Change) -> Experiment:
    """Return an experiment with other scenarios at the same points."""

    def points(short: bool) -> list[Point]:
        return [replace(point, scenario=change(point.scenario)) for point in experiment.points(short)]

    return replace(experiment, points=points)


def of(experiment: Experiment, short: bool) -> dict[str, Experiment]:
    """Return the experiments that run the nulls of an experiment's claims, by change."""
    nulls = [each.null for each in experiment.statements if each.null and (each.short or not short)]
    return {null.words: changed(experiment, null.change) for null in nulls if null.change}
