"""The tuned row of a scheme: the best point of its grid on all scenes except the one shown.

A scheme's file has a table `[tune]` with values for a scenario key, or for several keys with the same value,
separated by spaces. A text such as `"0.5 buffers"` is a share of the scene's input buffer, in kB. Such
thresholds do not grow with the rate of the port. The grid has at most 24 points, and a scene omits points
that are invalid for it. `tuned.json` contains the loss of every point for becalm's own schemes and scenes,
from runs of half the duration with one seed. `make compare` rewrites it.
"""

from __future__ import annotations

import contextlib
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from becalm.base.errors import ScenarioError
from becalm.comparison.measure import loss, row
from becalm.comparison.merge import controlled
from becalm.comparison.scene import Scene
from becalm.comparison.scheme import Scheme
from becalm.results import Results
from becalm.runs.drive import Driver

LENGTH = 0.5
"""Duration of the runs of a grid as a share of the full duration."""
STORED = Path(__file__).parent / "tuned.json"

Losses = Mapping[str, Sequence[float | None]]
"""Losses of the points of a grid by scene, in order, with None for points that are invalid for the scene."""


class Choice(NamedTuple):
    """The best point of a grid on some scenes."""

    point: dict[str, Any]
    losses: list[float | None]
    """Mean loss of every point over these scenes; None if the point is invalid for any of them."""

    @property
    def words(self) -> str:
        """The chosen values, and the losses of the grid."""
        known = sorted(each for each in self.losses if each is not None)
        keys = {keys: " and ".join(key.rpartition(".")[2] for key in keys.split()) for keys in self.point}
        values = ", ".join(f"{keys[key]} = {value}" for key, value in self.point.items())
        others = f"{known[0]:.2f}; median of {len(known)} points {known[len(known) // 2]:.2f}"
        return f"{values}; mean loss on the other scenes {others}, worst {known[-1]:.2f}"


def grid(scheme: Scheme) -> list[dict[str, Any]]:
    """Return the points of a scheme's grid, or an empty list if its file has no table `[tune]`."""
    keys, values = list(scheme.tune), list(scheme.tune.values())
    return [dict(zip(keys, point, strict=True)) for point in itertools.product(*values)] if keys else []


def losses(scheme: Scheme, scenes: Sequence[Scene], driver: Driver) -> dict[str, list[float | None]]:
    """Run a scheme's grid on scenes, each for half of its duration, and return the losses."""
    points = list(enumerate(grid(scheme)))
    found: dict[str, list[float | None]] = {scene.name: [None] * len(points) for scene in scenes}
    runs, tasks = [], []
    for scene in scenes:
        for place, values in points:
            with contextlib.suppress(ScenarioError):
                scenario = controlled(scene.times(LENGTH), replace(scheme, values=values))
                tasks.append(driver.task(scenario.replace({"run.seed": 1})))
                runs.append((scene, place))

    def measure(at: int, results: Results) -> float:
        return loss(row(runs[at][0], results))

    for (scene, place), value in zip(runs, driver.drive(tasks, measure), strict=True):
        found[scene.name][place] = value
    return found


def stored(scheme: Scheme) -> Losses | None:
    """Return the losses of a scheme's grid in `tuned.json`; None if they are missing or for another grid."""
    entry = json.loads(STORED.read_text(encoding="utf-8")).get(scheme.name) if STORED.exists() else None
    return entry["losses"] if entry and entry["grid"] == grid(scheme) else None


def best(scheme: Scheme, found: Losses, shown: str) -> Choice:
    """Return the point with the smallest mean loss over all scenes except the one shown."""
    others = [values for name, values in found.items() if name != shown]
    columns = zip(*others, strict=True)
    means = [None if None in each else sum(map(float, each)) / len(each) for each in columns]
    least = min(each for each in means if each is not None)
    return Choice(grid(scheme)[means.index(least)], means)
