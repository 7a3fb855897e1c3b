from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import becalm
from becalm.base.quantities import axis
from becalm.plot.sweep import draw_sweep
from becalm.reports.points import verdicts
from becalm.store import Store
from becalm.sweeps.plan import expand, label

GRID: dict[str, list[Any]] = {
    "switch.buffer": ["2 packets", "4 packets"],
    "response": [{"lipd": {}}, {"fimd": {"m": 4.0}}],
}

RING = """\
[run]
duration = "2 ms"
[switch]
arbiter.oldest_first.max_bypass = 4
[topology.edges]
allow_cycles = true
hosts = ["a", "b", "c", "d"]
switches = ["A", "B", "C", "D"]
cables = [
    { between = ["a", "A"] }, { between = ["b", "B"] }, { between = ["c", "C"] }, { between = ["d", "D"] },
    { between = ["A", "B"] }, { between = ["B", "C"] }, { between = ["C", "D"] }, { between = ["D", "A"] },
]
routes = [
    { switch = "A", to = ["c"], via = "B" },
    { switch = "B", to = ["d"], via = "C" },
    { switch = "C", to = ["a"], via = "D" },
    { switch = "D", to = ["b"], via = "A" },
]
[[flows]]
name = "round"
from = ["*"]
[flows.pattern.shift]
by = 2
[flows.traffic.greedy]
"""
"""All hosts send to the opposite host in the same direction, so buffers wait for each other in a cycle."""


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
    made = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.zip")}
    assert len(made) == 2
    seen: list[becalm.SweepProgress] = []
    whole = becalm.sweep(scenario, {"run.seed": [1, 2, 3]}, folder=tmp_path, progress=seen.append)
    assert whole.fingerprints[:2] == half.fingerprints
    assert {path: path.stat().st_mtime_ns for path in made} == made
    assert seen[-1].finished == seen[-1].points == 3
    assert seen[-1].packet_hops == whole[2].results.packet_hops
    index = json.loads((tmp_path / "sweep.json").read_text())
    assert [point["changes"] for point in index["points"]] == [{"run.seed": seed} for seed in (1, 2, 3)]
    assert all(Store(tmp_path).has(key) for point in index["points"] for key in point["keys"])


def test_more_replications_run_only_those(scenario: becalm.Scenario, tmp_path: Path) -> None:
    grid = {"switch.buffer": ["2 packets"]}
    three = becalm.sweep(scenario, grid, replications=3, folder=tmp_path)
    seen: list[becalm.SweepProgress] = []
    five = becalm.sweep(scenario, grid, replications=5, folder=tmp_path, progress=seen.append)
    new = five[0].results.replications[3:]
    assert five[0].results.fingerprints[:3] == three[0].results.fingerprints
    assert seen[-1].packet_hops == sum(each.packet_hops for each in new)


def test_takes_values_of_numpy_and_polars(scenario: becalm.Scenario) -> None:
    import numpy as np

    load = "flows.victim.traffic.poisson.load"
    swept = becalm.sweep(scenario, {"run.seed": np.arange(1, 3), load: np.linspace(0.1, 0.3, 2)})
    assert [point.changes for point in swept] == [
        {"run.seed": seed, load: value} for seed in (1, 2) for value in (0.1, 0.3)
    ]
    plain = becalm.sweep(scenario, [{"run.seed": 1, load: 0.1}])
    assert (
        becalm.sweep(scenario, [{"run.seed": np.int64(1), load: np.float64(0.1)}])[0].scenario
        == plain[0].scenario
    )
    assert expand({"a": pl.Series([1, 2]), "b": range(2), "c": ("x",)})[0] == {"a": 1, "b": 0, "c": "x"}


def test_results_have_every_table(scenario: becalm.Scenario) -> None:
    asked = scenario.replace({"observe.paces": True, "observe.snapshots": ["500 us"]})
    swept = becalm.sweep(asked, {"switch.buffer": ["2 packets", "4 packets"]})
    for name, table in swept[0].results.tables.items():
        assert getattr(swept, name).height >= 2 * table.height - 5, name
    with pytest.raises(becalm.ResultsError, match=r"observe\.paces"):
        _ = becalm.sweep(scenario, [{}]).paces


def test_shows_itself_in_notebooks(scenario: becalm.Scenario) -> None:
    swept = becalm.sweep(scenario, GRID)
    html = swept._repr_html_()
    assert "4 points" in html
    assert "fimd" in html
    assert repr(swept) == f"{swept.verdict}\n<SweepResults: 4 points over switch.buffer, response>"


def test_plots_a_column_over_a_key(scenario: becalm.Scenario) -> None:
    swept = becalm.sweep(scenario, GRID, replications=2)
    figure = swept.plot("share")
    assert [axes.get_title() for axes in figure.axes] == ["response = lipd", "response = fimd(m=4.0)"]
    assert {axes.get_xlabel() for axes in figure.axes} == {"switch.buffer (packets)"}
    assert len({axes.get_ylim() for axes in figure.axes}) == 1
    (legend,) = figure.legends
    assert len(legend.get_texts()) == 3
    assert swept.plot("jain", x="response").axes[0].get_xlabel() == "response"
    with pytest.raises(ValueError, match="not a numeric column; valid: "):
        swept.plot("speed")
    with pytest.raises(
        ValueError, match=r"slowdown_p99: `groups` has no such column; .*`?table=\"completion\" after"
    ):
        swept.plot("slowdown_p99")
    with pytest.raises(ValueError, match=r"utilization: `groups` has no such column; .*: table=\"links\"$"):
        swept.plot("utilization")
    with pytest.raises(ValueError, match=r"not a key of the sweep; valid: switch\.buffer, response"):
        swept.plot(x="speed")


@pytest.mark.parametrize(
    ("values", "found"),
    [
        (["32 KiB", "512 B", "1 MiB"], ([32768, 512, 1048576], "B")),
        (["10 us", "1 ms", "2us"], ([10, 1000, 2], "us")),
        (["100 Gb/s", "25 GB/s"], ([100, 200], "Gb/s")),
        (["2 packets", "4 packets"], ([2, 4], "packets")),
        ([4, 0.5, "1e3"], ([4, 0.5, 1000], "")),
        (["2 packets", "4 KiB"], None),
        (["lipd", "fimd"], None),
        ([True, False], None),
        ([None, 3], None),
        ([], None),
    ],
)
def test_quantities_are_places_on_one_axis(values: list[Any], found: tuple[list[float], str] | None) -> None:
    made = axis(values)
    assert (made is None) == (found is None)
    if made and found:
        assert made[0] == pytest.approx(found[0]) and made[1] == found[1]


def test_bars_of_a_sweep_are_intervals_of_the_mean() -> None:
    rates = [1.0, 2.0, 3.0, 5.0, 5.0, 5.0]
    table = pl.DataFrame(
        {"buffer": ["512 B"] * 3 + ["1 KiB"] * 3, "replication": [0, 1, 2] * 2, "rate": rates}
    )
    (axes,) = draw_sweep(table, ["buffer"], "rate").axes
    bars: Any = axes.containers[0]
    (low, high), _ = (segment[:, 1] for segment in bars.lines[2][0].get_segments())
    assert (low, high) == pytest.approx((2 - 4.302653 / 3**0.5, 2 + 4.302653 / 3**0.5))
    assert [tuple(point) for point in bars.lines[0].get_xydata()] == [(512, 2), (1024, 5)]


def test_the_verdict_names_the_best_point_where_it_is_more_than_chance() -> None:
    def said(rates: list[float]) -> list[str]:
        half = len(rates) // 2
        points = {"buffer": ["8 KiB"] * half + ["16 KiB"] * half, "group": ["hot"] * len(rates)}
        return list(verdicts(pl.DataFrame({**points, "rate": rates}), ["buffer"]))

    assert said([1e9, 1.1e9, 1.2e9, 2e9, 2.1e9, 2.2e9]) == [
        "hot has its largest rate, 2.10 GB/s, at `buffer` = 16 KiB; "
        "its smallest, 1.10 GB/s, at `buffer` = 8 KiB (difference: 95% interval 1.00 GB/s to 1.00 GB/s)."
    ]
    assert said([1e9, 2e9, 1.1e9, 2.2e9]) == [
        "hot: no significant difference in rate between the points, given the seeds' spread."
    ]
    assert "(difference: one seed)" in said([1e9, 2e9])[0]
    assert said([float("nan"), 2e9]) == []


@pytest.mark.parametrize("damage", [b"", b"{}", bytes(40_000), b"\x89PNG\r\n"])
def test_a_damaged_point_is_named_and_computed_again(
    scenario: becalm.Scenario, tmp_path: Path, damage: bytes
) -> None:
    grid = {"switch.buffer": ["2 packets", "4 packets"]}
    before = becalm.sweep(scenario, grid, folder=tmp_path).fingerprints
    index = json.loads((tmp_path / "sweep.json").read_text())
    (key,) = index["points"][1]["keys"]
    Store(tmp_path).path(key).write_bytes(damage)
    with pytest.warns(UserWarning, match="with switch.buffer = 4 packets: .* damaged: .*; computed again"):
        after = becalm.sweep(scenario, grid, folder=tmp_path)
    assert after.fingerprints == before
    Store(tmp_path).path(key).unlink()
    assert becalm.sweep(scenario, grid, folder=tmp_path).fingerprints == before


def test_a_point_that_fails_is_named_and_the_others_go_on(tmp_path: Path) -> None:
    ring = becalm.Scenario(RING)
    loads = {"flows.0.traffic": [{"greedy": {}}, {"poisson": {"load": 0.01}}]}
    with pytest.raises(becalm.SweepError, match="1 of 2 points failed") as caught:
        becalm.sweep(ring, loads, folder=tmp_path)
    (failure,) = caught.value.failed
    assert failure.changes == {"flows.0.traffic": {"greedy": {}}}
    assert "with flows.0.traffic = greedy: " in str(caught.value)
    assert caught.value.results is not None
    assert [point.changes for point in caught.value.results] == [
        {"flows.0.traffic": {"poisson": {"load": 0.01}}}
    ]
    seen: list[becalm.SweepProgress] = []
    with pytest.raises(becalm.SweepError, match=failure.error[:30]):
        becalm.sweep(ring, loads, folder=tmp_path, progress=seen.append)
    assert seen == []


def test_control_c_keeps_finished_points_and_nothing_else(file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    script = (
        "import becalm, sys\n"
        "scenario = becalm.load(sys.argv[1]).replace({'observe.links': []})\n"
        "durations = ['1 ms', '2 ms', '90 s', '100 s']\n"
        "becalm.sweep(scenario, {'run.duration': durations}, folder=sys.argv[2], threads=3)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script, file, folder], stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 30
    while len(list(folder.glob("runs/*/*.zip"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.3)
    os.kill(process.pid, signal.SIGINT)
    assert process.wait(timeout=120) in (130, -signal.SIGINT)
    assert sorted(path.name for path in folder.iterdir()) == ["becalm-store.json", "runs", "sweep.json"]
    assert len([path for path in (folder / "runs").rglob("*") if path.is_file()]) == 2
    assert list(Store(folder).verify()) == []
