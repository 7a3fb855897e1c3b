"""Nulls: measurements of a claim without the mechanism that it describes.

A claim that also holds with a wrong mechanism is no evidence for the right one. Each scored claim therefore
has a null: the claim's measure and tolerance, with the first three seeds, in the same scene without the
subject of the sentence. If both the claim and its null hold, the claim is *weak*: it is shown, but does
not count as holding in the score. There is no default: each scored claim states its null, because a scene
without congestion control is the wrong null for a sentence about a setting. The key `null` names it:

| `null` | measured scene |
|---|---|
| `"off"` | the scene without congestion control |
| `"random"`, `"every"` | marks at random, at a fixed rate; marks on every packet |
| another name | the scene after a change from the paper's `NULLS`, such as `"on"` for congestion control |
| `{ control = "off" }` | the same points, and the measure with these arguments instead of its own |
| `"none: reason"` | none, because of the reason, such as arithmetic on printed parameters |

Only the mean over the seeds decides whether a null holds, so it is never undecided. A null fails if there is
nothing to measure because the subject of the sentence does not occur. If a sentence describes behaviour
without control, its null has control or a different cause of the behaviour.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from becalm.lab.model import Change, Experiment, Point, Table

NONE = "none: "
"""Prefix of the reason for having no null."""


def off(window: int | str | None = None) -> Change:
    """Return a change that removes marks and the response, and sets a window of `window` packets.

    If `window` is None, the response stays but receives no marks.
    """

    def change(scenario: Table) -> Table:
        scenario = {**scenario, "marking": {"none": {}}}
        return scenario if window is None else respond({"none": {"window": window}})(scenario)

    return change


def mark(policy: Table) -> Change:
    """Return a change to another marking policy."""
    return lambda scenario: {**scenario, "marking": policy}


def respond(response: Table) -> Change:
    """Return a change to another response for all flows."""

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
"""Changes for all papers. A paper's `NULLS` override changes with the same name."""


def changed(experiment: Experiment, change: Change) -> Experiment:
    """Return an experiment with changed scenarios at the same points."""

    def points(short: bool) -> list[Point]:
        return [replace(point, scenario=change(point.scenario)) for point in experiment.points(short)]

    return replace(experiment, points=points)


def of(experiment: Experiment, short: bool) -> dict[str, Experiment]:
    """Return the experiments that run the nulls of an experiment's claims, by change."""
    nulls = [each.null for each in experiment.statements if each.null and (each.short or not short)]
    return {null.words: changed(experiment, null.change) for null in nulls if null.change}
