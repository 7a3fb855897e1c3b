"""Mistakes that a person makes: each message names the next step."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import becalm
from becalm.base.mistakes import nearest_file
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

JOB = """
[run]
duration = "1 ms"
end = "jobs"
[topology.dumbbell]
[[jobs]]
name = "j"
collective.all_reduce.bytes = "1 MiB"
"""
FABRIC = Path(__file__).parent / "data" / "ft2_18" / "ibnetdiscover.txt"


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
    assert f"run it first: `becalm run {scene}`" in _said("explain", scene)


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
        ("run fabric.txt", "it looks like a list of cables; `becalm import fabric.txt` reads it"),
        ("sweep fabric.txt", "it looks like a list of cables; `becalm import fabric.txt` reads it"),
        ("check fabric.txt", "it looks like a list of cables; `becalm import fabric.txt` reads it"),
        ("run data.csv", "commas (CSV); valid: what `becalm list examples NAME` prints"),
        ("run mine.py", "a Python program; `becalm run SCENARIO --response mine.py:CLASS` uses"),
        ("run kept/manifest.json", "the index of a folder that becalm wrote; valid: kept"),
        ("run binary.bin", "it looks like a binary file; valid: what `becalm list examples NAME` prints"),
        (
            "run packed.conf",
            "not a text file in UTF-8 (byte 1); it looks like compressed by gzip; unpack it first",
        ),
        ("run empty.toml", "is empty; `becalm list examples NAME` prints a scenario"),
        ("run mine", "mine: no such file, did you mean `mine.toml`?"),
        ("run else/mine.toml", "no such file; there is no folder `else`"),
        ("run zzzzz.toml", "no such file; the folder has `broken.toml`, `empty.toml`, `job.toml`, "),
        ("run https://here/a.toml", "becalm opens no addresses: save the page as a file first"),
        ("run mine.toml --duration 1ms", "`--set run.duration=VALUE` changes this value"),
        ("run mine.toml --degree 8", "No such option: --degree; valid for: `becalm tune`"),
        ("run mine.toml --ouput r", "did you mean --out?"),
        ("run mine.toml sweep.toml", "`becalm sweep` runs many"),
        ("compare mine.toml", "`--scene FILE` names a scene"),
        ("mine.toml", "`becalm run mine.toml` runs a scenario"),
        ("simulate mine.toml", "`becalm --help` lists the commands"),
        ("version", "`becalm --version` prints it"),
        ("validate folder", "folder: is a folder; valid: a file, such as `folder/inside.toml`"),
        ("list response lpid", "no such response, did you mean `lipd`?"),
        ("explain fabric.txt", "it is a file; `becalm run SCENARIO --out FOLDER` writes one"),
        ("explain kept/manifest.json", "valid: `kept`"),
        ("explain outer", "it contains `outer/a`"),
        ("explain sweep.toml", "it is a sweep, not a scenario: `becalm sweep sweep.toml` runs it"),
        ("play data.csv", "is not a scenario; it looks like a table of values between commas (CSV); valid: "),
        ("play sweep.toml", "it looks like a sweep of becalm; `becalm sweep sweep.toml` runs it"),
        ("sweep kept2", "kept2: is the results of a run; valid: `becalm report kept2`, or a sweep with"),
        ("sweep lost.toml", 'lost.toml:1: scenario = "mien.toml": no such file, did you mean `mine.toml`?'),
        ("sweep swep.toml", "did you mean `sweep.toml`?"),
        ("sweep tune.toml", "is a tuning, not a sweep: `becalm tune tune.toml` runs it"),
        ("tune sweep.toml", "is a sweep, not a tuning: `becalm sweep sweep.toml` runs it"),
        ("import fabrc.txt", "fabrc.txt: no such file, did you mean `fabric.txt`?"),
        ("import fabric.txt --lfts fabrc.txt", "fabrc.txt: no such file, did you mean `fabric.txt`?"),
        ("import data.csv", "valid: what `ibnetdiscover > fabric.txt` writes"),
        ("import kept", "`becalm explain kept` describes it"),
        ("import fabric.txt --out mine.toml", "replace it by `--overwrite`"),
        (
            "counters fabric.txt",
            "valid: what `(ibqueryerrors --counters; ibqueryerrors --data) > counters.txt`",
        ),
        ("counters fabric.txt data.csv", "the time from `ibqueryerrors --clear-counts` to the dump"),
        ("whatif mine.toml --hot BC --max-time 1ms", "--max-time 1ms: must be at least 1 s"),
        ("manage mine.toml --max-time 0.5", "--max-time 0.5: must be at least 1 s"),
        ("whatif mine.toml --hot BC --max-time 9x", "must be a number with one of the units"),
        ("whatif mine.toml --hot BC --out kept", "choose another --out"),
        ("store ls nowhere", "it does not exist; `becalm sweep SWEEP --store nowhere` makes one"),
        ("compare --scheme lpid", "did you mean `lipd`?"),
        ("check-scheme own.py", "`becalm new-scheme own.py` writes one"),
        ("check-scheme lipd", "valid: FILE:NAME, such as mine.py:Mine"),
        ("check-scheme mine.py", "has no scheme; `becalm new-scheme FILE` writes one"),
    ],
)
def test_a_message_names_the_next_step(tmp_path: Path, command: str, step: str) -> None:
    for name in ("folder", "kept", "kept2", "outer", "outer/a"):
        (tmp_path / name).mkdir()
    for name, text in {
        "kept/manifest.json": '{\n  "becalm": "0.3.0"}',
        "kept2/manifest.json": json.dumps({"scenario": {"toml": SCENE}}),
        "outer/a/manifest.json": "{}",
        "folder/inside.toml": SCENE,
        "fabric.txt": FABRIC.read_text(encoding="utf-8"),
        "data.csv": "time,value\n1,2\n",
        "mine.py": "import becalm\n",
        "binary.bin": "\0\x01",
        "empty.toml": "",
        "broken.toml": SCENE.replace('us"', "us"),
        "job.toml": JOB,
        "lost.toml": 'scenario = "mien.toml"\n[grid]\n"run.seed" = [1]\n',
        "notes.html": "<html>",
        "sweep.toml": 'scenario = "mine.toml"\n[grid]\n"run.seed" = [1]\n',
        "tune.toml": '[hot_spot]\nscenario = "mine.toml"\nhost = "BC"\n',
    }.items():
        (tmp_path / "packed.conf").write_bytes(b"\x1f\x8b\x08")
        (tmp_path / name).write_text(text, encoding="utf-8")
    said = _said(*command.split())
    assert step in said
    assert "no faults" not in said


def test_one_cause_has_one_line(scene: Path) -> None:
    scene.write_text(JOB, encoding="utf-8")
    assert _said("validate", scene).endswith("hosts is missing: set hosts or nodes")
    scene.write_text(SCENE.replace('us"', "us"), encoding="utf-8")
    # A scenario with a slip stays one: its line is what helps, and the page shows it.
    assert _said("run", scene).startswith(f"{scene}:3: not valid TOML")
    assert CliRunner().invoke(app, ["play", str(scene)]).exit_code == 0


def test_a_similar_extension_makes_no_similar_name(tmp_path: Path) -> None:
    for name in ("lost.toml", "b.toml"):
        (tmp_path / name).touch()
    assert nearest_file(tmp_path / "nosuch.toml").startswith("; the folder has ")
    assert nearest_file(tmp_path / "lots.toml") == f", did you mean `{tmp_path / 'lost.toml'}`?"
    assert nearest_file(tmp_path / "nosuch.csv") == ""


def test_the_scenario_of_results_is_taken_for_a_scenario(scene: Path, tmp_path: Path) -> None:
    becalm.run(scene).save(tmp_path / "r")
    assert CliRunner().invoke(app, ["play", str(tmp_path / "r")]).exit_code == 0
    assert f"run it first: `becalm run {scene}`" in _said("report", tmp_path / "r", scene)
    assert "did you mean `B1`?" in _said("whatif", tmp_path / "r", "--hot", "BX")


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
    with pytest.raises(becalm.ResultsError, match="run it first"):
        becalm.explain(scene)


def test_names_in_tables_are_not_broken_and_no_pictures(scene: Path) -> None:
    scene.write_text(SCENE.replace('"hot"', '"a:bug:bystander"'), encoding="utf-8")
    told = CliRunner().invoke(app, ["run", str(scene)], terminal_width=80, env={"COLUMNS": "80"})
    assert told.exit_code == 0, told.output
    assert "a:bug:bystander" in told.stdout
