"""Comparisons of any schemes on any scenes: keys of files, merged settings, and lengths of runs."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import becalm
from becalm import comparison
from becalm.cli import app
from becalm.comparison import _Pair, cells, measure, merge, scene, scheme, tuning
from becalm.comparison.scene import Scene
from becalm.comparison.scheme import Scheme
from becalm.scenario import contents

MINE = """\
name = "mine"
[marking.naive]
[echo.ack]
[response.lipd]
persistent = false
[switch]
buffer = "8 packets"
"""
SMALL = """\
[run]
duration = "400 us"
warmup = "100 us"
[topology.dumbbell]
[response.lipd]
[marking.input_triggered]
[[flows]]
name = "hot"
from = ["B1..B4"]
to = ["BC"]
STOP
[[flows]]
name = "others"
from = ["A1"]
to = ["BV"]
traffic.poisson = {load = 0.3, message = "10 kB"}
restart = "message"
[observe]
messages = true
step = "10 us"
window = "10 us"
[compare]
background = ["others"]
contributors = ["hot"]
link = "B->BC"
sizes = [1000]
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small_scene.toml"
    path.write_text(SMALL.replace("STOP", ""))
    return path


@pytest.fixture(scope="module")
def scenes() -> dict[str, pl.DataFrame]:
    chosen = itertools.chain.from_iterable(("--scene", name) for name in ("dumbbell", "hot_spot"))
    result = CliRunner().invoke(app, ["compare", "--short", "--json", *chosen])
    assert result.exit_code == 0, result.output
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    return {line["scene"]: pl.DataFrame(line["schemes"], infer_schema_length=None) for line in lines}


def value(table: pl.DataFrame, name: str, column: str) -> float:
    return float(table.filter(pl.col("scheme") == name)[column].item())


@pytest.mark.parametrize("name", scene.names())
def test_every_scheme_fits_every_scene(name: str) -> None:
    (found,) = comparison.chosen_scenes([name])
    for each in comparison.chosen_schemes():
        scenario = merge.controlled(found, scheme.completed(each))
        assert scenario.resolved["response"] != {} and scenario.hash


def test_every_response_is_compared() -> None:
    """This includes responses from lists outside becalm, which do not require a file."""
    there = {entry.name for entry in contents.catalogue()["response"]} - set(scheme.NO_SCHEMES)
    compared = {"ibta"} | {
        name for each in comparison.chosen_schemes() for name in each.tables.get("response", {})
    }
    assert there <= compared


WHOLE = [
    entry.name
    for entry in contents.catalogue()["response"]
    if not any(each["required"] for each in entry.parameters)
]


@pytest.mark.parametrize("response", WHOLE)
def test_a_response_alone_gets_the_marking_and_the_echo_that_it_is_meant_for(response: str) -> None:
    (found,) = comparison.chosen_scenes(["dumbbell"])
    whole = scheme.completed(Scheme("bare", {"response": {response: {}}}))
    assert whole.name == f"bare ({next(iter(whole.tables['marking']))}, {next(iter(whole.tables['echo']))})"
    warnings = merge.controlled(found, whole).warnings
    assert [each for each in warnings if each.startswith(("marking.", "echo."))] == []


def test_companions_are_those_of_becalms_own_schemes() -> None:
    own = {name: each for each in comparison.chosen_schemes() for name in each.tables.get("response", {})}
    for entry in contents.catalogue()["response"]:
        if entry.companions is None or entry.name not in own:
            continue
        marking, echo = (
            next(iter(own[entry.name].tables.get(kind, {"none": {}}))) for kind in ("marking", "echo")
        )
        assert echo == entry.companions["echo"]
        assert entry.companions["also"] != "no" or marking == entry.companions["marking"]


def test_a_response_that_does_not_exist_is_a_mistake() -> None:
    (found,) = comparison.chosen_scenes(["dumbbell"])
    with pytest.raises(becalm.ScenarioError, match="no_such_response"):
        merge.controlled(found, scheme.completed(Scheme("bare", {"response": {"no_such_response": {}}})))


def test_a_scheme_of_ones_own_on_a_scene_of_ones_own(tmp_path: Path, small: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(MINE)
    result = CliRunner().invoke(
        app, ["compare", "--scheme", str(mine), "--scheme", "none", "--scene", str(small), "--seeds", "2"]
    )
    assert result.exit_code == 0, result.output
    assert "small scene" in result.stdout
    assert "mine" in result.stdout
    assert "slowdown of messages by size, 50/95/99%" in result.stdout


def test_what_a_scheme_lays_over_a_scene(tmp_path: Path, small: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(MINE)
    resolved = merge.controlled(scene.read(small), scheme.read(mine)).resolved
    assert resolved["response"]["lipd"]["persistent"] is False
    assert list(resolved["marking"]) == ["naive"], "the scene's own is left out"
    assert resolved["switch"]["buffer"] == "8 packets"
    assert resolved["flows"][1]["restart"] == "message"
    free = merge.controlled(scene.read(small), scheme.find("none")).resolved
    assert free["flows"][1]["restart"] == "never", "nothing restarts without a response"
    assert free["switch"]["buffer"] == "auto"


def test_scenes_are_lengthened_as_a_whole(small: Path) -> None:
    longer = scene.read(small).times(4).data
    assert (longer["run"]["duration"], longer["run"]["warmup"]) == ("1600 us", "400 us")
    one = scene.read(small)
    one.data["observe"] = {**one.data.get("observe", {}), "snapshots": ["0.1 ms", "200 us"]}
    one.data["changes"] = [{"link": "A->B", "at": "10 us", "rate": "1 Gb/s"}]
    shorter = one.times(0.2).data
    assert shorter["observe"]["snapshots"] == ["20 us", "40 us"]
    assert shorter["changes"] == [{"link": "A->B", "at": "2 us", "rate": "1 Gb/s"}]


def test_what_has_not_settled_runs_longer_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "drift.toml"
    # The contributors always stop in the second half of the run.
    path.write_text(SMALL.replace("STOP", 'stop = "300 us"') + "longest = 4\n")
    table = comparison.compare(["none"], [path], seeds=2)["drift"]
    assert table.select("settled", "times").row(0) == (False, 4)
    ((shown, _), notes) = cells.tables("drift", table.to_dicts()), cells.notes(table.to_dicts())
    assert shown.rows[0][0] == "none *"
    assert notes == ["* rates were still changing in the longest run"]
    table = comparison.compare(["none"], [path], short=True)["drift"]
    assert table["times"].item() == 1


def test_a_change_by_chance_is_no_drift() -> None:
    (found,) = comparison.chosen_scenes(["dumbbell"])
    (none,) = comparison.chosen_schemes(["none"])
    pair = _Pair(found, none, merge.controlled(found, none))
    assert pair.settled
    for changes, settled in (
        ((0.3, -0.2, 0.1), True),
        ((0.2, 0.21, 0.22), False),
        ((0.04, 0.041, 0.04), True),
    ):
        pair.changes = [{"hot": change} for change in changes]
        assert pair.settled == settled, changes


def test_columns_have_intervals_over_the_seeds(small: Path) -> None:
    table = comparison.compare(["aimd"], [small], seeds=3)["small scene"]
    row = table.to_dicts()[0]
    assert row["jain_low"] <= row["jain"] <= row["jain_high"]
    assert row["paused"] == 0
    assert math.isnan(row["job"])
    assert math.isnan(row["slowdown_to 1 kB_50"])
    assert row["slowdown_above 1 kB_50"] >= 1
    assert "job" not in comparison.to_json(table)[0]
    again = comparison.compare(["aimd"], [small], seeds=3, threads=1)["small scene"]
    assert again.equals(table, null_equal=True)


def test_a_window_does_not_free_the_victim_of_the_dumbbell(scenes: dict[str, pl.DataFrame]) -> None:
    dumbbell = scenes["dumbbell"]
    for name in ("window of 1", "binary feedback"):
        assert 0.03 < value(dumbbell, name, "background") < 0.06
    for name in ("LIPD", "FIMD", "AIMD"):
        assert value(dumbbell, name, "background") > 0.6


def test_without_control_the_tree_collapses(scenes: dict[str, pl.DataFrame]) -> None:
    tree = scenes["hot spot"]
    assert value(tree, "none", "background") < 0.3
    assert value(tree, "binary feedback", "background") > 0.95


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ":1: sets nothing; valid: guideline, marking"),
        ("name = 3\n[response.none]\n", ":1: name = 3: must be a string"),
        ("respons = 3\n[response.none]\n", ":1: respons: unknown key; valid: name, guideline"),
        ("# my\nresponse = 3\n", ":2: response = 3: must be a table"),
        (
            'guideline = "best"\n',
            ':1: guideline = "best": unknown; valid: becalm, becalm2, becalm2_opensm, pfister2005, gran2010',
        ),
        ('guideline = "gran2010"\n[marking.none]\n', ":1: marking: cannot be combined with guideline"),
    ],
)
def test_mistakes_in_a_scheme(tmp_path: Path, text: str, expected: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(becalm.ScenarioError) as caught:
        scheme.read(path)
    assert f"{path}{expected}" in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('duration = "400 us"\n', "", ":1: run.duration: is missing; valid: a time"),
        ("[compare]", "[compare]\nvictim = 3", ":23: compare.victim: unknown key; valid: name, background"),
        (
            '["others"]\ncontr',
            '["other"]\ncontr',
            ':23: compare.background[0] = "other": no such group; valid: hot, others',
        ),
        ('"B->BC"', '"B"', ':25: compare.link = "B": wrong form; valid: a link, such as "A->B"'),
        ("[1000]", "[1000, 10]", ":26: compare.sizes = [1000, 10]: must be an ascending list of sizes"),
        (
            "sizes = [1000]",
            "longest = 0",
            ":26: compare.longest = 0: out of range; valid: 1 to 1024",
        ),
        (
            "sizes = [1000]",
            "hot_spot_degree = 1",
            ":26: compare.hot_spot_degree = 1: out of range; valid: 2 or more",
        ),
        ("STOP", "response.lipd = {}", ":11: flows[0].response: is set by the schemes instead"),
    ],
)
def test_mistakes_in_a_scene(tmp_path: Path, old: str, new: str, expected: str) -> None:
    path = tmp_path / "bad.toml"
    assert old in SMALL
    path.write_text(SMALL.replace(old, new).replace("STOP", ""))
    with pytest.raises(becalm.ScenarioError) as caught:
        scene.read(path)
    assert f"{path}{expected}" in str(caught.value)


def test_unknown_names_are_refused(small: Path) -> None:
    for option, kind in (("--scheme", "scheme"), ("--scene", "scene")):
        result = CliRunner().invoke(app, ["compare", option, "nothing"])
        assert result.exit_code == 2
        assert (
            f"{kind} `nothing`: no such {kind} and no such file; valid: a TOML file, or one of"
            in result.output.replace("\n", " ")
        )
    with pytest.raises(becalm.ScenarioError, match="LIPD on small scene"):
        merge.controlled(
            Scene("small scene", {**scene.read(small).data, "switch": {"buffer": 3}}), scheme.find("lipd")
        )


TUNED = [each for each in comparison.chosen_schemes() if each.tune]


@pytest.mark.parametrize("chosen", TUNED, ids=lambda each: each.name)
def test_stored_losses_belong_to_the_grids(chosen: Scheme) -> None:
    found = tuning.stored(chosen)
    assert found is not None, "make compare"
    assert 2 <= len(tuning.grid(chosen)) <= 24 and 2 <= len(chosen.tune) <= 4
    assert set(found) == {each.name for each in comparison.chosen_scenes()}
    assert {len(values) for values in found.values()} == {len(tuning.grid(chosen))}


def test_a_tuned_row_has_not_seen_its_scene() -> None:
    chosen = Scheme("mine", {}, tune={"a.b": [1, 2, 3]})
    losses: tuning.Losses = {"one": [0.0, 9.0, 9.0], "two": [9.0, 1.0, 2.0], "three": [9.0, 3.0, None]}
    assert tuning.best(chosen, losses, "one").point == {"a.b": 2}
    assert tuning.best(chosen, losses, "three").point == {"a.b": 1}
    assert tuning.best(chosen, losses, "one").losses == [9.0, 2.0, None]


@pytest.mark.parametrize("name", ["incast", "dumbbell"])
def test_tuned_thresholds_can_be_reached(name: str) -> None:
    """The published thresholds of DCQCN and DCTCP are out of reach, and their rows state this."""
    (shown,) = comparison.chosen_scenes([name])
    for chosen in comparison.chosen_schemes(["dcqcn", "dctcp"]):
        assert "a buffer holds" in " ".join(merge.unreached(merge.controlled(shown, chosen)))
        found = tuning.stored(chosen)
        assert found
        choice = tuning.best(chosen, found, shown.name)
        tuned = merge.controlled(shown, replace(chosen, values=choice.point)).resolved
        holds = 65.536 if name == "incast" else 4 * 2.068
        assert tuned["marking"]["ramp"]["kmax"] <= 2 * holds * 1.001
        assert tuned["marking"]["ramp"]["per"] is None


def test_published_and_tuned_rows(tmp_path: Path, small: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(MINE + '[tune]\n"response.lipd.rmin" = [0.01, 0.1]\n')
    table = comparison.compare([mine, "dctcp"], [small], short=True)["small scene"]
    assert table["scheme"].to_list() == ["mine", "mine, tuned elsewhere", "DCTCP", "DCTCP, tuned elsewhere"]
    rows = table.to_dicts()
    assert "rmin = " in rows[1]["parameters"] and "mean loss on the other scenes" in rows[1]["parameters"]
    assert "marking.ramp.kmin is" in rows[2]["warnings"] and rows[3]["warnings"] == ""
    assert min(row["behind"] for row in rows) == 0
    notes = cells.notes(rows)
    assert any(note.startswith("DCTCP: warning: ") for note in notes)
    mine.write_text(MINE + f'[tune]\n"response.lipd.rmin" = {[n / 100 for n in range(1, 26)]}\n')
    with pytest.raises(becalm.ScenarioError, match="tune: 25 points; valid: at most 24"):
        scheme.read(mine)


def test_a_loss_adds_up_what_is_missing() -> None:
    assert measure.loss({"background": 1.0, "link": 1.0, "jain": 1.0, "job": math.nan}) == 0
    assert measure.loss({"background": 0.5, "link": 0.8, "jain": 0.6}) == pytest.approx(0.5 + 0.1 + 0.1)
    assert measure.loss({"job": 2.0, "slowdown_all_99": 100.0}) == pytest.approx(0.5 + 0.5)


def test_a_job_that_does_not_end_costs_all_of_its_time() -> None:
    (whole,) = comparison.chosen_scenes(["all_reduce"])
    made = whole.times(0.001)
    (chosen,) = comparison.chosen_schemes(["dcqcn"])
    found = measure.row(made, becalm.run(merge.controlled(made, chosen)))
    assert found["unended"] == 1.0 and math.isnan(found["job_time"])
    ended = {**found, "unended": math.nan, "job": 1.0}
    assert measure.loss(found) == pytest.approx(measure.loss(ended) + 1)


def _ranked(scheme: str, behind: float, *, settled: bool = True, **measures: float) -> dict[str, Any]:
    return {
        "scheme": scheme,
        "settled": settled,
        "behind": behind,
        "behind_low": behind - 0.05,
        "behind_high": behind + 0.05,
        **measures,
    }


def test_ranks_follow_the_weights() -> None:
    victims = _ranked("saves victims", 0.1, background=1.0, link=0.5, jain=0.2)
    link = _ranked("fills the link", 0.0, background=0.6, link=1.0, jain=1.0)
    found = comparison.ranking({"a": [victims, link]})
    assert found.columns == ("scheme", "a", "as tuned", "victims only", "all equal")
    # 0.5/2 + 0.8/4 = 0.45 and 0.4 as tuned; 0 and 0.4 for the victims; 1.3 and 0.4 with equal weights.
    assert found.rows == [
        ("fills the link", "0.00 =", "1", "2", "1"),
        ("saves victims", "0.10", "2", "1", "2"),
    ]


def test_a_slow_hot_flow_costs_a_rank_where_all_parts_are_equal() -> None:
    """Ten times the latency is a decade, as much as all of the background."""
    slow = _ranked("slow", 0.0, background=1.0, hot_latency=1e-3)
    fast = _ranked("fast", 0.5, background=0.5, hot_latency=1e-4)
    found = comparison.ranking({"a": [slow, fast]})
    assert found.rows == [("slow", "0.00 =", "1", "1", "2"), ("fast", "0.50", "2", "2", "1")]


def test_a_row_that_has_not_settled_is_not_ranked() -> None:
    best, drifts = _ranked("best", 0.2, background=0.8), _ranked("drifts", 0.0, settled=False, background=1.0)
    other = [_ranked("best", 0.3, background=0.7), _ranked("drifts", 0.0, background=1.0)]
    unsettled = [_ranked(name, 0.0, settled=False, background=1.0) for name in ("best", "drifts")]
    found = comparison.ranking({"a": [best, drifts], "b": other, "c": unsettled})
    assert found.columns[1:3] == ("a", "b")
    assert found.rows == [("best", "0.20", "0.30", "1", "1", "1"), ("drifts", "*", "0.00 =", "-", "-", "-")]
