"""Mistakes that a person makes: each message names the next step."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import becalm
from becalm.cli import app

SCENE = """
[run]
duration = "50 us"
[topology.dumbbell]
[[flows]]
name = "hot"
from = ["B1..B3"]
to = ["BC"]
[response.lipd]
[marking.input_triggered]
"""


def _said(*arguments: str | Path) -> str:
    told = CliRunner().invoke(app, [str(each) for each in arguments])
    assert told.exit_code == 2, told.output
    assert "Traceback" not in told.output
    return " ".join(told.output.split())


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "mine.toml"
    file.write_text(SCENE, encoding="utf-8")
    return file


@pytest.mark.usefixtures("scene")
def test_a_wrong_name_suggests_the_nearest() -> None:
    assert "`becalm run --example storage_incast`" in _said("run", "storage_incast")
    assert "did you mean `mine.toml`?" in _said("run", "mine.tml")
    assert _said("run", "--example", "storage_incst").endswith("did you mean `storage_incast`?")
    assert "valid: all_reduce, " in _said("run", "--example", "zzz")


def test_a_file_of_another_kind_is_named_once(scene: Path) -> None:
    said = _said("sweep", scene)
    assert (
        said
        == f'{scene}: is a scenario; valid: `becalm run {scene}`, or a sweep with `scenario = "mine.toml"`'
    )
    assert f"run a scenario first: `becalm run {scene}`" in _said("explain", scene)


@pytest.mark.usefixtures("scene")
@pytest.mark.parametrize(
    ("command", "step"),
    [
        ("run folder", "folder: is a folder; valid for `becalm run`: a scenario (.toml)"),
        ("play folder", "valid for `becalm play`: a scenario (.toml)"),
        ("run sweep.toml", "is a sweep, not a scenario: `becalm sweep sweep.toml` runs it"),
        ("validate tune.toml", "is a tuning, not a scenario: `becalm tune tune.toml` runs it"),
        ("run mine.toml --example dragonfly", "not both; leave out mine.toml or --example"),
        ("run mine.toml --response own.py:Mine", "`becalm new-scheme own.py` writes one"),
        ("run mine.toml --report notes.html", "not overwritten; choose another name"),
        ("explain nowhere", "it does not exist; `becalm run SCENARIO --out nowhere` writes one"),
        ("report nowhere", "nowhere: no such file or folder; valid: a results folder"),
        ("sweep sweep.toml --out x.csv --table grups", "no such table, did you mean `groups`?"),
        ("whatif mine.toml --hot BX", "there is no host `BX`, did you mean `B1`?"),
        ("run mine.toml --set run.duraton=1ms", "did you mean `duration`?"),
        ("run mine.toml --set response=lipd", "did you mean `{lipd = {}}`?"),
        ("runn mine.toml", "Did you mean 'run'?"),
    ],
)
def test_a_message_names_the_next_step(tmp_path: Path, command: str, step: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "kept").mkdir()
    for name, text in {
        "kept/manifest.json": "{}",
        "notes.html": "<html>",
        "sweep.toml": 'scenario = "mine.toml"\n[grid]\n"run.seed" = [1]\n',
        "tune.toml": '[hot_spot]\nscenario = "mine.toml"\nhost = "BC"\n',
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    said = _said(*command.split())
    assert step in said
    assert "no faults" not in said


def test_control_is_switched_off_by_one_key(scene: Path) -> None:
    changes = ["--set", "response.none={}", "--set", "marking.none={}"]
    told = CliRunner().invoke(app, ["run", str(scene), "--quiet", "--json", *changes])
    assert told.exit_code == 0, told.output
    assert '"verdict": "Without congestion control' in told.stdout
    changed = becalm.load(scene).replace({"response.fimd": {"rmin": 0.1}})
    assert list(changed.resolved["response"]) == ["fimd"]


def test_a_key_of_another_scheme_is_no_scheme(scene: Path) -> None:
    # Only a whole table replaces a scheme: a key would leave the other parameters unsaid.
    with pytest.raises(becalm.ScenarioError, match="only one is allowed"):
        becalm.load(scene).replace({"response.fimd.rmin": 0.1})


def test_paths_are_taken_for_what_they_hold(scene: Path, tmp_path: Path) -> None:
    results = becalm.run(str(scene))
    results.save(tmp_path / "r")
    assert results.fingerprint == becalm.run(becalm.load(scene)).fingerprint
    assert becalm.explain(tmp_path / "r").verdict == results.verdict
    with pytest.raises(becalm.ResultsError, match="run a scenario first"):
        becalm.explain(scene)


def test_names_in_tables_are_not_broken_and_no_pictures(scene: Path) -> None:
    scene.write_text(SCENE.replace('"hot"', '"a:bug:bystander"'), encoding="utf-8")
    told = CliRunner().invoke(app, ["run", str(scene)], terminal_width=80, env={"COLUMNS": "80"})
    assert told.exit_code == 0, told.output
    assert "a:bug:bystander" in told.stdout
