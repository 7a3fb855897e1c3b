"""Valid scenarios run, and can be explained, shown and drawn: topologies x flow control x traffic x schemes.

`SCENES=300` tests 300 random scenes, and runs all commands on all ready scenarios and a scene of each kind.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import becalm
import drawn
from becalm.base.quantities import seconds
from becalm.cli import app
from becalm.comparison.scene import Scene
from becalm.plot import draw_fabric
from becalm.reports import playground

COUNT = int(os.environ.get("SCENES", "56"))
ROOT = Path(__file__).parents[1]
READY = sorted((ROOT / "scenarios").glob("*.toml"))


@pytest.mark.parametrize("part", range(8))
def test_what_is_valid_runs_and_is_explained_shown_and_drawn(part: int) -> None:
    for number, scenario in enumerate(drawn.scenes(COUNT)):
        if number % 8 != part:
            continue
        try:
            results = becalm.run(scenario, threads=1)
            assert becalm.explain(results).lines()
            assert "<html" in becalm.report(results)
            if "snapshots" in results.tables and not results.snapshots.is_empty():
                import matplotlib.pyplot as plt

                draw_fabric(results, 5e-6)
                plt.close("all")
        except Exception as error:
            raise AssertionError(f"scene {number}:\n{scenario.to_toml()}") from error


def test_the_playground_runs_what_is_valid(tmp_path: Path) -> None:
    """The committed page's WebAssembly core yields the same results as becalm, packet by packet."""
    web = ROOT / "web"
    if shutil.which("node") is None or not (web / "node_modules").is_dir():
        pytest.skip("needs Node and npm ci in web/")
    files = []
    for number, scenario in enumerate(drawn.scenes(COUNT)):
        files.append(tmp_path / f"{number}.toml")
        # A page reads no files, but the resolved scenario includes their contents.
        files[-1].write_text(becalm.Scenario(_without_none(scenario.resolved)).to_toml())
    done = subprocess.run(
        ["node", "test/same.mjs", str(playground.page()), *map(str, files)],
        cwd=web,
        env={**os.environ, "PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, f"{done.stdout[-2000:]}{done.stderr[-2000:]}"
    assert done.stdout.count(": same ") == COUNT


def cases() -> list[tuple[str, becalm.Scenario]]:
    """Return shortened ready scenarios, and one scene per topology, flow control and kind of traffic."""
    found = []
    for path in READY:
        scenario = becalm.load(path)
        shorter = 100e-6 / seconds(scenario.resolved["run"]["duration"])
        data = Scene(path.stem, _without_none(scenario.resolved)).times(shorter).data
        data["flows"] = [{**group, "stagger": "0 s"} for group in data["flows"]]
        found.append((path.stem, becalm.Scenario(data, name=path.stem)))
    for topology in drawn.TOPOLOGIES:
        for control in drawn.FLOW_CONTROL:
            for traffic in drawn.TRAFFIC:
                scene = drawn.valid(random.Random(7), topology, control, traffic)
                found.append((f"{topology} {control} {traffic}", scene))
    return found


SWEPT = """scenario = "scene.toml"
keep = "summary"
store = "store"
[grid]
"run.seed" = [1, 2]
"""
TUNED = """[[case]]
scenario = "scene.toml"
[budget]
trials = 1
seeds = 1
validate = 2
"""
COMPARED = """[compare]
name = "scene"
"""
TRACES = ("packets", "perfetto", "events")


def written(place: Path, scenario: becalm.Scenario) -> None:
    """Write a scenario, and files for its sweep, tuning and comparison."""
    # A ready scenario may refer to files; its resolved form includes their contents.
    text = becalm.Scenario(_without_none(scenario.resolved)).to_toml()
    for name, content in (("scene", text), ("sweep", SWEPT), ("tune", TUNED), ("compare", text + COMPARED)):
        (place / f"{name}.toml").write_text(content)


def commands(place: Path, scenario: becalm.Scenario) -> dict[str, list[str]]:
    """Return all commands that accept a scenario or a folder of results."""
    file, folder = place / "scene.toml", place / "results"
    host, link = scenario.hosts("*")[0], scenario.network().links["link"][0]
    traces = [word for name in TRACES for word in (f"--{name}", str(place / name))]
    one = ["--engine", "threads", "--workers", "1"]
    return {
        "play": ["play", str(file)],
        "sweep": ["sweep", str(place / "sweep.toml"), *one],
        "report of a sweep": ["report", str(place / "sweep.toml"), "--out", str(place / "sweep.html")],
        "tune": ["tune", str(place / "tune.toml"), "--out", str(place / "tuned"), *one],
        "compare": [
            *("compare", "--scene", str(place / "compare.toml"), "--short", "--threads", "1"),
            *("--scheme", "none", "--scheme", "lipd"),
        ],
        "run with traces": [
            *("run", str(file), "--out", str(place / "traced"), "--quiet", "--trace", "most=1000"),
            *("--pcap", f"{link}={place / 'link.pcap'}", *traces),
        ],
        "validate": ["validate", str(file)],
        "run": ["run", str(file), "--out", str(folder), "--quiet"],
        "explain": ["explain", str(folder)],
        "report": ["report", str(folder), "--out", str(folder / ".." / "page.html")],
        "report --time": ["report", str(folder), "--time", "5 us", "--out", str(folder / ".." / "a.png")],
        "manage": ["manage", str(file), "--max-time", "1"],
        # A given guideline is not tried.
        "manage --opensm": [
            *("manage", str(file), "--guideline", "becalm", "--contributors", "2"),
            *("--opensm", str(folder / ".." / "cc.conf")),
        ],
        "whatif": ["whatif", str(file), "--hot", host, "--degree", "2", "--max-time", "5"],
    }


def reason(message: str) -> str:
    """Return a message without scene-specific parts."""
    plain = re.sub(r"\S*/\S*", "FILE", message.strip().splitlines()[-1])
    return re.sub(r"\d[\d.,e+-]*", "N", re.sub(r"`[^`]*`|\"[^\"]*\"", "NAME", plain))


def test_every_command_gives_a_result_or_one_refusal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Test every 18th scene, or all with `SCENES=300`."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    pairs, refusals, crashes = 0, Counter[str](), Counter[str]()
    for number, (name, scenario) in enumerate(cases()[:: 1 if "SCENES" in os.environ else 18]):
        place = tmp_path / str(number)
        place.mkdir()
        written(place, scenario)
        for command, words in commands(place, scenario).items():
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
            elif done.exit_code == 1:
                refusals[f"{command}: failed: {reason(done.stderr or done.stdout)}"] += 1
    print(json.dumps({"pairs": pairs, "refusals": refusals.total(), "reasons": refusals}, indent=1))
    assert not crashes


FAULTY = {
    "storm": {
        "topology": {"clos": {"leaves": 2, "spines": 2, "hosts_per_leaf": 2, "rate": "10 Gb/s"}},
        "switch": {
            "paths": {"flow": {}},
            "flow_control": {"pfc": {"watchdog": {"detection": "20 us", "poll": "5 us"}}},
        },
        "marking": {"ramp": {}},
        "echo": {"rocev2": {}},
        "response": {"dcqcn": {"preset": "connectx"}},
        "faults": [
            {"kind": {"pause_storm": {"link": "leaf1->H3"}}, "at": "20 us", "until": "80 us"},
            {"kind": {"slow_receiver": {"hosts": ["H0"], "drain_rate": "1 Gb/s"}}, "at": "1 us"},
        ],
    },
    "down": {
        "topology": {"clos": {"leaves": 2, "spines": 2, "hosts_per_leaf": 2, "rate": "10 Gb/s"}},
        "switch": {"paths": {"round_robin": {}}},
        "faults": [
            {"kind": {"link_down": {"link": "leaf0->spine0"}}, "at": "10 us", "until": "60 us"},
            {"kind": {"host_stop": {"hosts": ["H3"]}}, "at": "90 us"},
        ],
    },
}
"""Scenes with faults in time, one with watchdogs."""


@pytest.mark.parametrize("name", FAULTY)
def test_every_command_suits_faults_and_watchdogs(name: str, tmp_path: Path) -> None:
    """A result, or one sentence with exit code 2."""
    flows = [{"name": "f", "from": ["*"], "to": ["*"], "traffic": {"poisson": {"load": 0.3}}}]
    run = {"duration": "100 us"}
    observe = {"frames": "10 us", "step": "10 us"}
    scenario = becalm.Scenario(FAULTY[name] | {"run": run, "flows": flows, "observe": observe})
    written(tmp_path, scenario)
    codes = {}
    for command, words in commands(tmp_path, scenario).items():
        more = ["--max-time", "1"] if words[0] == "manage" else []
        done = CliRunner().invoke(app, [*words, *more])
        assert done.exception is None or isinstance(done.exception, SystemExit), (
            f"{command}: {done.exception!r}"
        )
        codes[command] = done.exit_code
        if done.exit_code == 2:
            assert len(done.stderr.strip().splitlines()) == 1, f"{command}: {done.stderr}"
        if command == "manage":
            assert "the random cases have no [[faults]]" in done.stderr
    refused = {command for command, code in codes.items() if code == 2}
    assert refused == ({"manage --opensm"} if name == "storm" else set()), codes


def _without_none(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, dict):
        return {key: _without_none(inside) for key, inside in value.items() if inside is not None}
    if isinstance(value, list):
        return [_without_none(inside) for inside in value]
    return value
