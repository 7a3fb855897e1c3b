"""A stopped run leaves its results: those of a run with the duration that it reached."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

import becalm
from becalm.base.errors import StoreError
from becalm.cli import app
from becalm.results import load_results
from becalm.store import Store

sys.path.insert(0, str(Path(__file__).parent / "system"))

import commands

SCENE = """
[run]
duration = "60 s"
[topology.tree]
ports = 4
levels = 2
delay = "1 us"
{parts}
[[flows]]
name = "hot"
from = ["H1..H6"]
to = ["H0"]
[[flows]]
name = "background"
from = ["*"]
to = ["*"]
traffic.poisson = {{load = 0.2, message = "8 KiB"}}
{more}
[observe]
step = "1 ms"
links = []
{observed}
"""
SCHEMES = "[marking.input_triggered]\n[response.lipd]"
JOBS = """
[[jobs]]
name = "ring"
hosts = ["H1..H4"]
collective.all_reduce.bytes = "900 MiB"
"""
SCENES = {
    "plain": SCENE.format(parts="", more="", observed=""),
    "schemes": SCENE.format(parts=SCHEMES, more="", observed=""),
    "spans": SCENE.format(parts=SCHEMES, more="", observed="spans = true"),
    "jobs": SCENE.format(parts="", more=JOBS, observed=""),
    "pfc": SCENE.format(parts='[switch]\nbuffer = "100 KiB"\nflow_control.pfc = {}', more="", observed=""),
}
OWN = """
import becalm

class Mine(becalm.Response):
    "A response."
    def on_ack(self, now, ack):
        self.gap = 9.0 if ack.marked else self.gap * 0.9
"""


def after(seconds: float) -> Callable[[], bool]:
    until = time.monotonic() + seconds
    return lambda: time.monotonic() > until


def repeated(results: becalm.Results) -> str:
    """Return the fingerprint of a run with the duration that a stopped run reached."""
    assert results.stopped is not None
    duration = f"{round(results.stopped * 1e12)} ps"
    return becalm.run(results.scenario.replace({"run.duration": duration})).fingerprint


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", SCENES)
def test_the_fingerprint_is_that_of_a_run_with_that_duration(name: str, threads: int) -> None:
    results = becalm.run(becalm.Scenario(SCENES[name], name=name), threads=threads, stop=after(0.2))
    assert results.stopped is not None and 0 < results.stopped < 60
    assert results.fingerprint == repeated(results)
    said = "\n".join(becalm.explain(results).lines())
    assert "The run was stopped at " in said and "of 60.0 s, so nothing later is known." in said


def test_a_run_with_an_own_scheme_stops_too(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OWN)
    scenario = becalm.Scenario(SCENE.format(parts="[marking.input_triggered]", more="", observed=""))
    results = becalm.run(scenario.using([f"{tmp_path / 'mine.py'}:Mine"]), stop=after(0.2))
    assert results.fingerprint == repeated(results)


def test_replications_that_have_not_begun_are_missing() -> None:
    scenario = becalm.Scenario(SCENES["plain"]).replace({"run.replications": 3})
    results = becalm.run(scenario, threads=1, stop=after(0.2))
    assert [item.replication for item in results.replications] == [0] and results.replications[0].stopped


def test_a_run_that_is_stopped_before_its_window_has_no_results() -> None:
    scenario = becalm.Scenario(SCENES["plain"]).replace({"run.warmup": "59 s"})
    with pytest.raises(becalm.StoppedError, match="before the measured window begins"):
        becalm.run(scenario, stop=lambda: True)


def test_a_store_has_whole_runs_only(tmp_path: Path) -> None:
    results = becalm.run(becalm.Scenario(SCENES["plain"]), stop=after(0.1))
    with pytest.raises(StoreError, match="a store has whole runs"):
        Store(tmp_path / "store").put("ab" * 32, results)


def test_a_run_that_ends_in_time_is_whole() -> None:
    scenario = becalm.Scenario(SCENES["plain"]).replace({"run.duration": "100 us"})
    results = becalm.run(scenario, stop=lambda: False)
    assert results.stopped is None and results.fingerprint == becalm.run(scenario).fingerprint


def checked(folder: Path) -> None:
    """Check the results of a stopped run, and what the commands say about them."""
    results = load_results(folder)
    assert results.fingerprint == repeated(results)
    done = CliRunner().invoke(app, ["explain", str(folder)])
    assert (done.exit_code, "The run was stopped at" in done.output) == (0, True), done.output
    page = folder.with_name("page.html")
    done = CliRunner().invoke(app, ["report", str(folder), "--out", str(page)])
    assert done.exit_code == 0, done.output


def test_max_time_stops_the_run(tmp_path: Path) -> None:
    (tmp_path / "scene.toml").write_text(SCENES["schemes"])
    out = tmp_path / "results"
    command = ["run", str(tmp_path / "scene.toml"), "--out", str(out), "--max-time", "0.3 s"]
    done = CliRunner().invoke(app, command)
    assert (done.exit_code, "stopped at " in done.output, "of 60 s" in done.output) == (0, True, True)
    checked(out)
    for wrong in ("0 s", "3", "-1 s"):
        assert CliRunner().invoke(app, [*command[:-1], wrong, "--overwrite"]).exit_code == 2


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize(("number", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_the_first_signal_stops_the_run_and_the_second_ends_it(
    tmp_path: Path, number: str, code: int
) -> None:
    (tmp_path / "scene.toml").write_text(SCENES["plain"])
    out = tmp_path / "results"
    run = commands.start("run", tmp_path / "scene.toml", "--out", out)
    until = time.monotonic() + 30
    while not (tmp_path / ".partial.results").exists() and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(1)
    run.send_signal(getattr(signal, number))
    said, error = run.communicate(timeout=60)
    assert run.returncode == code and "stopped at " in said, error
    assert error.splitlines()[0].startswith("stopping: the results so far follow")
    checked(out)
