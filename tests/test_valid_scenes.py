"""What is valid runs, and is explained, shown and drawn: over topologies x flow control x traffic x schemes.

`SCENES=300` draws as many, and then runs every command on the ready scenarios and on one scene of each kind.
"""

from __future__ import annotations

import json
import os
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import becalm
import drawn
from becalm.cli import app
from becalm.plot import draw_fabric

COUNT = int(os.environ.get("SCENES", "56"))
READY = sorted((Path(__file__).parents[1] / "scenarios").glob("*.toml"))


@pytest.mark.parametrize("part", range(8))
def test_what_is_valid_runs_and_is_explained_shown_and_drawn(part: int) -> None:
    for number, scenario in enumerate(drawn.scenes(COUNT)):
        if number % 8 != part:
            continue
        try:
            results = becalm.run(scenario, threads=1)
            assert becalm.explain(results).lines()
            assert "<html" in becalm.report(results)
            if scenario.resolved["observe"]["snapshots"]:
                import matplotlib.pyplot as plt

                draw_fabric(results, 50e-6)
                plt.close("all")
        except Exception as error:
            raise AssertionError(f"scene {number}:\n{scenario.to_toml()}") from error


def cases() -> list[tuple[str, becalm.Scenario]]:
    """The ready scenarios, shortened, and one scene of each topology, flow control and kind of traffic."""
    short = {"run.duration": "100 us", "run.warmup": "0 us"}
    found = []
    for path in READY:
        scenario = becalm.load(path)
        try:
            found.append((path.stem, scenario.replace(short)))
        except becalm.ScenarioError:
            found.append((path.stem, scenario))
    for topology in drawn.TOPOLOGIES:
        for control in drawn.FLOW_CONTROL:
            for traffic in drawn.TRAFFIC:
                scene = drawn.valid(random.Random(7), topology, control, traffic)
                found.append((f"{topology} {control} {traffic}", scene))
    return found


def commands(file: Path, folder: Path, host: str) -> dict[str, list[str]]:
    """Every command that takes a scenario or a folder of results."""
    return {
        "validate": ["validate", str(file)],
        "run": ["run", str(file), "--out", str(folder), "--quiet"],
        "explain": ["explain", str(folder)],
        "report": ["report", str(folder), "--out", str(folder / ".." / "page.html")],
        "report --time": ["report", str(folder), "--time", "50 us", "--out", str(folder / ".." / "a.png")],
        "manage": ["manage", str(file)],
        "manage --opensm": ["manage", str(file), "--opensm", str(folder / ".." / "cc.conf")],
        "whatif": ["whatif", str(file), "--hot", host, "--degree", "2", "--max-time", "20"],
    }


def reason(message: str) -> str:
    """A message without what differs from scene to scene."""
    plain = re.sub(r"\S*/\S*", "FILE", message.strip().splitlines()[-1])
    return re.sub(r"\d[\d.,e+-]*", "N", re.sub(r"`[^`]*`|\"[^\"]*\"", "NAME", plain))


@pytest.mark.skipif("SCENES" not in os.environ, reason="takes minutes: SCENES=300")
def test_every_command_gives_a_result_or_one_refusal(tmp_path: Path) -> None:
    pairs, refusals, crashes = 0, Counter[str](), Counter[str]()
    for number, (name, scenario) in enumerate(cases()):
        place = tmp_path / str(number)
        place.mkdir()
        # A scenario of the repository names files beside it; its resolved form has their contents.
        (place / "scene.toml").write_text(becalm.Scenario(_without_none(scenario.resolved)).to_toml())
        host = next(
            each for each in drawn.hosts("dumbbell" if "dumbbell" in scenario.resolved["topology"] else "")
        )
        for command, words in commands(place / "scene.toml", place / "results", host).items():
            done = CliRunner().invoke(app, words)
            pairs += 1
            crashed = done.exception is not None and not isinstance(done.exception, SystemExit)
            if crashed or done.exit_code not in (0, 1, 2):
                crashes[f"{command}: {done.exception!r:.200}"] += 1
                print(f"{name}: {command}: {done.exception!r}")
            if done.exit_code == 2:
                message = done.stderr
                assert message.strip(), f"{name}: {command}: says nothing"
                refusals[f"{command}: {reason(message)}"] += 1
    print(json.dumps({"pairs": pairs, "refusals": refusals.total(), "reasons": refusals}, indent=1))
    assert not crashes


def _without_none(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, dict):
        return {key: _without_none(inside) for key, inside in value.items() if inside is not None}
    if isinstance(value, list):
        return [_without_none(inside) for inside in value]
    return value
