"""Rows to compare tuned parameters with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from becalm import manager
from becalm.analysis.hot_spots import Case
from becalm.scenario import Scenario
from becalm.tunings.evaluate import uncontrolled
from becalm.tunings.space import family, nested
from becalm.tunings.verdict import NOW, WITHOUT

UNMOVED = ("none", "fixed")
"""Responses that do not react to congestion."""


def worst_degree(cases: Sequence[Case]) -> int:
    """Return the largest number of hosts that send to a hot link at once."""
    found = [2]
    for case in cases:
        hot = case.groups(case.hot)
        if hot:
            flows = case.scenario.network().flows
            found.append(flows.filter(flows["group"].is_in(hot))["source"].n_unique())
    return max(found)


def guideline_control(scenario: Scenario, degree: int, guideline: str) -> dict[str, Any]:
    """Return a guideline's settings as changes to a scenario, which keeps its echo."""
    recommendation = manager.recommend(scenario, hot_spot_degree=degree, guideline=guideline)
    echoes = "ibta" in scenario.resolved["echo"]
    settings = {
        setting.key: setting.value
        for setting in recommendation.settings
        if not (echoes and setting.key.startswith("echo."))
    }
    return nested(settings)


def rows_of(scenario: Scenario, contributors: int) -> dict[str, dict[str, Any]]:
    """Return the rows to compare tuned parameters with, as changes to a scenario."""
    rows = {WITHOUT: uncontrolled(scenario)}
    (response,) = scenario.resolved["response"]
    if response not in UNMOVED:
        rows[NOW] = {}
    if family(scenario) == "ibta":
        rows |= {name: guideline_control(scenario, contributors, name) for name in manager.GUIDELINES}
    return rows
