from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import becalm
from becalm.sweep import expand, label

GRID: dict[str, list[Any]] = {
    "switch.buffer": ["2 packets", "4 packets"],
    "response": [{"lipd": {}}, {"fimd": {"m": 4.0}}],
}


def test_grid_is_every_combination_in_order() -> None:
    assert expand({"a": [1, 2], "b": ["x", "y"]}) == [
        {"a": 1, "b": "x"},
        {"a": 1, "b": "y"},
        {"a": 2, "b": "x"},
        {"a": 2, "b": "y"},
    ]
    assert expand([{"a": 1}, {"b": 2}]) == [{"a": 1}, {"b": 2}]


def test_grid_needs_lists() -> None:
    with pytest.raises(ValueError, match="a grid needs a list of values, not '4 packets'"):
        expand({"switch.buffer": "4 packets"})


def test_labels() -> None:
    assert label({"lipd": {}}) == "lipd"
    assert label({"fimd": {"m": 4}}) == "fimd(m=4)"
    assert label("4 packets") == "4 packets"
    assert label([1, 2]) == "[1, 2]"
    assert label(None) is None


def test_tables_have_the_grids_columns(scenario: becalm.Scenario) -> None:
    swept = becalm.sweep(scenario, GRID, replications=2)
    groups = swept.groups
    assert groups.columns[:3] == ["switch.buffer", "response", "replication"]
    assert groups.height == 4 * 2 * 3
    assert groups["response"].unique(maintain_order=True).to_list() == ["lipd", "fimd(m=4.0)"]
    assert len(swept) == 4
    assert [point.scenario.replications for point in swept] == [2] * 4
    assert len(set(swept.fingerprints)) == 4
    assert swept.units["groups"]["rate"] == "B/s"


def test_does_not_depend_on_threads(scenario: becalm.Scenario) -> None:
    one, two = becalm.sweep(scenario, GRID, threads=1), becalm.sweep(scenario, GRID, threads=2)
    assert one.fingerprints == two.fingerprints
    assert one.flows.equals(two.flows)


def test_equal_points_run_once(scenario: becalm.Scenario) -> None:
    seen: list[becalm.SweepProgress] = []
    swept = becalm.sweep(scenario, [{"run.seed": 1}, {}, {"run.seed": 2}], progress=seen.append)
    assert swept.fingerprints[0] == swept.fingerprints[1] != swept.fingerprints[2]
    assert seen[-1].points == seen[-1].finished == 2


def test_changes_of_a_whole_column(scenario: becalm.Scenario) -> None:
    flows = [{"name": "all", "from": ["A1"], "to": ["BC"], "traffic": {"greedy": {}}}]
    swept = becalm.sweep(scenario, [{}, {"flows": flows}])
    assert swept.groups["scenario.flows"].null_count() == 3


def test_mistakes_name_the_point_and_nothing_runs(scenario: becalm.Scenario, tmp_path: Path) -> None:
    with pytest.raises(becalm.ScenarioError, match=r"with switch\.buffer = 0 packets"):
        becalm.sweep(scenario, {"switch.buffer": ["4 packets", "0 packets"]}, folder=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_resumes_from_what_is_on_disk(scenario: becalm.Scenario, tmp_path: Path) -> None:
    half = becalm.sweep(scenario, {"run.seed": [1, 2]}, folder=tmp_path)
    made = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*/manifest.json")}
    seen: list[becalm.SweepProgress] = []
    whole = becalm.sweep(scenario, {"run.seed": [1, 2, 3]}, folder=tmp_path, progress=seen.append)
    assert whole.fingerprints[:2] == half.fingerprints
    assert {path: path.stat().st_mtime_ns for path in made} == made
    assert seen[-1].finished == seen[-1].points == 3
    assert seen[-1].packet_hops == whole[2].results.packet_hops
    index = json.loads((tmp_path / "sweep.json").read_text())
    assert [point["changes"] for point in index["points"]] == [{"run.seed": seed} for seed in (1, 2, 3)]
    assert all((tmp_path / point["folder"] / "manifest.json").is_file() for point in index["points"])


def test_results_of_another_core_are_not_reused(scenario: becalm.Scenario, tmp_path: Path) -> None:
    becalm.sweep(scenario, {"run.seed": [1]}, folder=tmp_path)
    (path,) = tmp_path.glob("*/manifest.json")
    manifest = json.loads(path.read_text())
    path.write_text(json.dumps({**manifest, "core": "another"}))
    becalm.sweep(scenario, {"run.seed": [1]}, folder=tmp_path)
    assert json.loads(path.read_text())["core"] == manifest["core"]


def test_control_c_keeps_finished_points_and_nothing_else(file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    script = (
        "import becalm, sys\n"
        "scenario = becalm.load(sys.argv[1]).replace({'observe.links': []})\n"
        "durations = ['1 ms', '2 ms', '90 s', '100 s']\n"
        "becalm.sweep(scenario, {'run.duration': durations}, folder=sys.argv[2], threads=2)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script, file, folder], stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 30
    while len(list(folder.glob("*/manifest.json"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.3)
    os.kill(process.pid, signal.SIGINT)
    start = time.monotonic()
    assert process.wait(timeout=10) in (130, -signal.SIGINT)
    assert time.monotonic() - start < 3
    assert len(list(folder.iterdir())) == 3
    for manifest in folder.glob("*/manifest.json"):
        becalm.load_results(manifest.parent)
