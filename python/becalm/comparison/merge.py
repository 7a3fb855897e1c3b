"""Applies schemes to scenes."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from os import PathLike

from becalm import manager
from becalm.base.documents import Table
from becalm.base.errors import ScenarioError
from becalm.comparison.scene import Scene, read
from becalm.comparison.scheme import CHOSEN, LAID_OVER, Scheme, find
from becalm.scenario import Scenario

_SHARE = re.compile(r"([0-9.]+) buffers?")
_RESTART = re.compile(r"flows\[(\d+)\]\.restart")


def controlled(scene: Scene, scheme: Scheme) -> Scenario:
    """Return the scenario of a scheme on a scene.

    A group's `restart` is omitted if it has no effect with the scheme.

    Raises:
        ScenarioError: the scheme does not fit the scene, or either is invalid.

    """
    point = dict(scheme.values)
    found = _bare(scene, replace(scheme, guideline=point.pop("guideline", scheme.guideline)))
    return _tuned(found, point) if point else found


def uncontrolled(path: str | PathLike[str]) -> Scenario:
    """Return a scene as a scenario without congestion control.

    Raises:
        FileNotFoundError: the file does not exist.
        ScenarioError: the scene is invalid; the error lists the mistakes in `[compare]`, or else in the rest.

    """
    return controlled(read(path), find("none"))


def _bare(scene: Scene, scheme: Scheme) -> Scenario:
    """Return the scenario with the scheme's original values."""
    if scheme.guideline is not None:
        bare = _scenario(_laid_over(scene, scheme, {}), scene, scheme)
        settings = manager.recommend(bare, hot_spot_degree=scene.hot_spot_degree, guideline=scheme.guideline)
        tables = tomllib.loads(settings.apply(bare).to_toml())
        return _scenario(_laid_over(scene, scheme, {key: tables[key] for key in CHOSEN}), scene, scheme)
    return _scenario(_laid_over(scene, scheme, scheme.tables), scene, scheme)


def _tuned(scenario: Scenario, point: Table) -> Scenario:
    """Return a scenario with the values of a point of a grid."""
    changes: Table = {}
    for keys, value in point.items():
        for key in keys.split():
            share = _SHARE.fullmatch(str(value))
            changes[key] = (
                value if share is None else float(share[1]) * scenario.summary["buffer_bytes"] / 1000
            )
            if share is not None:
                changes[f"{key.rpartition('.')[0]}.per"] = None
    return scenario.replace(changes)


def unreached(scenario: Scenario) -> list[str]:
    """Return warnings about marking thresholds that packets from a single input never reach."""
    ramp, facts = scenario.marking.get("ramp"), scenario.summary
    if ramp is None or facts["buffer_bytes"] is None:
        return []
    grown = facts["host_rate"] * 8e-9 / ramp["per"] if ramp["per"] else 1.0
    holds = facts["buffer_bytes"] / 1000
    return [
        f"marking.ramp.{key} is {ramp[key] * grown:.4g} kB at a host's rate; a buffer holds {holds:.4g} kB"
        for key in ("kmax", "kmin")
        if ramp[key] * grown > holds
    ][-1:]


def _laid_over(scene: Scene, scheme: Scheme, control: Table) -> Table:
    """Return the tables of a scene combined with a scheme's tables and congestion control."""
    data = {**scene.data, **{key: control[key] for key in CHOSEN if key in control}}
    for key in LAID_OVER:
        if key in scheme.tables:
            data[key] = {**data.get(key, {}), **scheme.tables[key]}
    return data


def _scenario(data: Table, scene: Scene, scheme: Scheme) -> Scenario:
    name = f"{scheme.name} on {scene.name}"
    try:
        return Scenario(data, name=name, schemes=scheme.own)
    except ScenarioError as error:
        places = [_RESTART.fullmatch(mistake["key"]) for mistake in error.mistakes]
        idle = {int(place[1]) for place in places if place}
        if not idle:
            raise
        flows = [
            {key: value for key, value in group.items() if key != "restart" or number not in idle}
            for number, group in enumerate(data["flows"])
        ]
        return Scenario({**data, "flows": flows}, name=name, schemes=scheme.own)
