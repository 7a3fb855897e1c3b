from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import becalm
from becalm.base.disk import REPLACE
from becalm.cli import FORMER, PANELS, app
from becalm.lab import Claim, Report
from becalm.lab.model import Measured, Remarks


def becalm_command(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


def test_run_prints_a_summary_and_writes_a_folder(file: Path) -> None:
    done = becalm_command("run", file)
    assert done.exit_code == 0
    for word in ("Groups of flows", "local", "victim", "Hottest of", "packet-hops per core-second"):
        assert word in done.stdout
    assert "results in results/small" in done.stdout
    assert becalm.load_results("results/small").fingerprint in done.stdout


def test_run_again_takes_another_folder(file: Path) -> None:
    becalm_command("run", file)
    assert "results in results/small-2" in becalm_command("run", file).stdout


def test_run_never_overwrites_unasked(file: Path) -> None:
    assert becalm_command("run", file, "--out", "here").exit_code == 0
    again = becalm_command("run", file, "--out", "here")
    assert (again.exit_code, again.stdout) == (2, "")
    assert "here: already exists" in again.stderr
    assert becalm_command("run", file, "--out", "here", "--overwrite").exit_code == 0


def test_run_with_changes(file: Path) -> None:
    done = becalm_command(
        "run", file, "-q", "--seed", 7, "--set", "switch.buffer=8 packets", "--set", "response={aimd={}}"
    )
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "")
    resolved = becalm.load_results("results/small").scenario.resolved
    assert resolved["run"]["seed"] == 7
    assert resolved["switch"]["buffer"] == "8 packets"
    assert list(resolved["response"]) == ["aimd"]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("[run]", "[run]\nsede = 3", "seed"),
        ('duration = "1 ms"', "duration = 1", "duration"),
        ('duration = "1 ms"', 'duration = "1 ms"\nwarmup = "2 ms"', "warmup"),
        ("remote = 6", 'remote = 6\nrate = "-1 GB/s"', "rate"),
        ("[response.lipd]", "[response.lpid]", "lipd"),
        ("[response.lipd]", "[response.lipd]\nm = 2", "m"),
        ("[response.lipd]", "[response.lipd]\nwindow = 0", "window"),
        ('from = ["AV"]', 'from = ["AX"]', "AX"),
        ('to = ["BV"]', 'to = ["AV"]', "AV"),
        ("[run]", "[run", "unclosed table"),
    ],
)
def test_bad_scenarios_have_one_clear_message(file: Path, old: str, new: str, expected: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
    for command in ("run", "validate"):
        done = becalm_command(command, file)
        assert (done.exit_code, done.stdout) == (2, "")
        (message,) = done.stderr.splitlines()
        assert re.match(re.escape(str(file)) + r":(\d+:)? ", message)
        assert expected in message


def test_two_mistakes_are_both_reported(file: Path) -> None:
    file.write_text(
        file.read_text().replace("remote = 6", "remote = -6").replace("load = 0.5", "load = 50.0")
    )
    done = becalm_command("validate", file)
    assert done.exit_code == 2
    assert len(done.stderr.splitlines()) >= 2
    assert "remote = -6" in done.stderr
    assert "load = 50" in done.stderr


@pytest.mark.parametrize("command", ["run", "validate"])
def test_missing_file(command: str) -> None:
    step = "; `becalm list examples` names scenarios to start with"
    done = becalm_command(command, "none.toml")
    assert (done.exit_code, done.stderr) == (2, f"none.toml: no such file{step}\n")


def test_a_folder_is_not_a_scenario() -> None:
    of_run = " for `becalm run`: a scenario (.toml), or results"
    for command, valid in (("run", of_run), ("validate", ": a file")):
        done = becalm_command(command, ".")
        assert (done.exit_code, done.stderr) == (2, f".: is a folder; valid{valid}\n")


def test_manage_writes_parameters_whose_names_can_be_copied_to_a_new_file(file: Path, tmp_path: Path) -> None:
    managed = tmp_path / "managed.toml"
    manage = ("manage", file, "--guideline", "pfister2005", "--contributors", 2)
    done = becalm_command(*manage, "--out", managed)
    assert done.exit_code == 0
    assert "response.ibta.cct.linear.packet_time" in done.stdout
    assert "ibta" in becalm.load(managed).resolved["response"]
    done = becalm_command(*manage, "--out", managed)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == f"{managed}: already exists; choose another file, or {REPLACE}\n"


def test_bad_change(file: Path) -> None:
    done = becalm_command("run", file, "--set", "run.sede=1")
    assert done.exit_code == 2
    assert "sede" in done.stderr


def test_validate_checks_every_file(file: Path, tmp_path: Path) -> None:
    done = becalm_command("validate", file, tmp_path / "none.toml", file)
    assert done.exit_code == 2
    assert done.stdout.count(": ok") == 2
    assert becalm_command("validate", file).exit_code == 0


def test_list() -> None:
    everything = becalm_command("list").stdout
    for word in ("papers", "santos2003/fig2", "input_triggered", "ack", "fimd", "dumbbell", "poisson"):
        assert word in everything
    assert "rmin" not in becalm_command("list", "response").stdout
    assert "rmin" in becalm_command("list", "response", "lipd").stdout
    unknown = becalm_command("list", "response", "lpid")
    assert unknown.exit_code == 2
    assert unknown.stderr.startswith("`lpid`: no such response, did you mean `lipd`?; valid: none, ")
    wrong = becalm_command("list", "colours")
    assert wrong.exit_code == 2
    assert "valid: examples, papers, figures" in wrong.stderr


def test_list_as_json() -> None:
    rows = [json.loads(line) for line in becalm_command("list", "--json").stdout.splitlines()]
    assert {"kind": "echo", "name": "rocev2"}.items() <= {
        key: row[key] for row in rows if row["name"] == "rocev2" for key in ("kind", "name")
    }.items()
    (lipd,) = (
        json.loads(line) for line in becalm_command("list", "response", "lipd", "--json").stdout.splitlines()
    )
    assert "rmin" in {each["name"] for each in lipd["parameters"]}
    unknown = becalm_command("list", "response", "lpid", "--json")
    assert unknown.exit_code == 2
    assert "`lpid`: no such response, did you mean `lipd`?; valid: " in unknown.stderr


COMMANDS = [("validate",), ("whatif", "--hot", "BC"), ("manage",), ("tune",)]
"""Commands that take a scenario, with the options that they need."""


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_changes_its_scenario(file: Path, command: tuple[str, ...]) -> None:
    done = becalm_command(*command, file, "--set", "switch.buffer=1 packet", "--set", "run.duration=-1 ms")
    assert done.exit_code == 2
    assert done.stderr.startswith("--set run.duration=-1 ms: must be")


@pytest.mark.parametrize("command", COMMANDS[1:], ids=" ".join)
def test_every_command_takes_an_example(file: Path, command: tuple[str, ...]) -> None:
    both = becalm_command(*command, file, "--example", "two_jobs")
    assert both.exit_code == 2
    assert "takes a scenario or --example, not both" in both.stderr
    changed = becalm_command(*command, "--example", "two_jobs", "--set", "run.duration=-1 ms")
    assert changed.exit_code == 2
    assert changed.stderr.startswith("--set run.duration=-1 ms: must be")
    unknown = becalm_command(*command, "--example", "two_job")
    assert "did you mean `two_jobs`?" in unknown.stderr


def test_reproduce_of_something_unknown() -> None:
    done = becalm_command("reproduce", "santos1999")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "valid: santos2002, santos2003, " in done.stderr


def claim(verdict: str, kind: str = "paper") -> Claim:
    values: list[Measured] = [0.15, 0.16]
    quote = "the victim [gets] little"
    remarks = Remarks("because", kind=kind)
    return Claim("victim_share", quote, 0.15, [1, 2], values, "+-0.02", verdict, remarks)


@pytest.mark.parametrize(
    ("second", "exit_code", "score"),
    [
        (claim("holds"), 0, "1 of 1 sentences of the paper hold, 0 undecided, 0 fail (seeds 1 to 2)"),
        (claim("undecided"), 0, "0 of 1 sentences of the paper hold, 1 undecided, 0 fail (seeds 1 to 2)"),
        (claim("fails"), 1, "0 of 1 sentences of the paper hold, 0 undecided, 1 fail (seeds 1 to 2)"),
        (
            claim("fails", "ours"),
            0,
            "1 of 1 sentences of the paper hold, 0 undecided, 0 fail; not scored: ours 0 of 1",
        ),
    ],
)
@pytest.mark.parametrize("arguments", [[], ["--json"]])
def test_reproduce_prints_claims(
    monkeypatch: pytest.MonkeyPatch, second: Claim, exit_code: int, score: str, arguments: list[str]
) -> None:
    claims = [claim("holds"), second]
    report = Report("santos2003/fig2", "No control", claims, [Path("figures/fig2.png")])
    monkeypatch.setattr("becalm.lab.reproduce", lambda *_, **__: [report])
    done = becalm_command("reproduce", *arguments)
    assert done.exit_code == exit_code
    if arguments:
        (line,) = done.stdout.splitlines()
        assert json.loads(line) == report.to_json()
        return
    assert score in done.stdout
    assert "0.155 +-0.064" in done.stdout
    assert "figures/fig2.png" in done.stdout
    assert ("the victim [gets] little" in done.stdout) is (second.verdict != "holds")


def test_version() -> None:
    assert becalm_command("--version").stdout == f"becalm {becalm.__version__}\n"


@pytest.mark.parametrize("replications", [1, 4])
def test_control_c_ends_a_run_with_its_results(file: Path, replications: int) -> None:
    command = [sys.executable, "-m", "becalm", "run", str(file), "--out", "out"]
    changes = ["run.duration=100 s", "observe.links=[]", f"run.replications={replications}"]
    command += [word for change in changes for word in ("--set", change)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    # Wait until the run has begun. Starting and ending are slow on a busy machine.
    end = time.monotonic() + 60
    while not Path(".partial.out").exists() and time.monotonic() < end:
        time.sleep(0.02)
    # A run that is stopped at its first instant has no results.
    time.sleep(3)
    os.kill(process.pid, signal.SIGINT)
    stdout, stderr = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "results in out" in stdout
    assert "Traceback" not in stderr
    assert [path.name for path in Path().iterdir()] == ["out"]
    assert becalm.load_results("out").flows["delivered_packets"].sum() > 0


def test_claims_are_listed_with_their_tolerances() -> None:
    done = becalm_command("list", "claims")
    assert done.exit_code == 0
    claims = [line for line in done.stdout.splitlines() if "santos2002/fig2/victim_share" in line]
    assert len(claims) == 1
    assert "paper 0.04, expected +-0.02" in claims[0]
    assert "victim_share" not in becalm_command("list").stdout


@pytest.mark.parametrize(("former", "now"), FORMER.items())
def test_former_commands_say_what_has_their_place(former: str, now: str) -> None:
    done = becalm_command(former, "results", "--time", "1 ms")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == f"becalm {former}: replaced by {now}\n"
    assert f"\n│ {former} " not in becalm_command("--help").stdout


def test_every_command_is_in_a_panel() -> None:
    said = becalm_command("--help").stdout
    places = [said.index(f"─ {panel} ─") for panel in PANELS]
    assert places == sorted(places)
    assert "─ Commands ─" not in said
