"""Trains: provenance, sentences, and the check of their error."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import pytest
from typer.testing import CliRunner

import becalm
from becalm.cli import app
from becalm.reports.page import payload
from becalm.tunings import Population

SCENE = """
[run]
duration = "20 ms"
end = "jobs"
fidelity = "trains"
[topology.clos]
leaves = 2
spines = 2
hosts_per_leaf = 4
rate = "400 Gb/s"
[switch]
buffer = "1 MiB"
[packet]
mtu = "1 KiB"
[[jobs]]
name = "j"
hosts = ["H0..H7"]
collective.all_to_all = {bytes = "8 MiB", algorithm = "linear"}
"""


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("trains") / "scene.toml"
    file.write_text(SCENE)
    return file


def test_results_say_that_a_run_is_approximate(scene: Path, tmp_path: Path) -> None:
    results = becalm.run(scene)
    assert results.train is not None and results.train > 4
    saved = becalm.load_results(results.save(tmp_path / "saved"))
    assert saved.train == results.train
    (sentence,) = [each for each in becalm.explain(saved).about("missing") if "approximate" in str(each)]
    assert sentence.numbers == {"packets": results.train}
    page = zlib.decompress(payload(results), -zlib.MAX_WBITS).decode(errors="replace")
    assert f"approximate: {results.approximation}" in page and f"{results.train:.1f}" in page
    exact = becalm.run(becalm.load(scene).replace({"run.fidelity": "packets"}))
    assert exact.train is None and "approximate" not in str(becalm.explain(exact))
    assert results.jobs["time"][0] == pytest.approx(exact.jobs["time"][0], rel=0.02)
    assert results.events < exact.events / 3


def test_results_say_what_was_left_out(scene: Path, tmp_path: Path) -> None:
    reduce = {"all_reduce": {"bytes": "64 MiB", "algorithm": "halving_doubling"}}
    change = {"run.fidelity": "steady", "jobs.j.collective": reduce}
    steady = becalm.run(becalm.load(scene).replace(change))
    assert steady.left_out is not None and 0.3 < steady.left_out < 1
    saved = becalm.load_results(steady.save(tmp_path / "saved"))
    assert saved.left_out == steady.left_out
    (sentence,) = [each for each in becalm.explain(saved).about("missing") if "approximate" in str(each)]
    assert sentence.numbers["left_out"] == steady.left_out and "of the time was left out" in str(sentence)
    page = zlib.decompress(payload(steady), -zlib.MAX_WBITS).decode(errors="replace")
    assert f"approximate: {steady.approximation}" in page
    trains = becalm.run(becalm.load(scene).replace(change | {"run.fidelity": "trains"}))
    assert trains.left_out is None and steady.events < trains.events / 2
    assert steady.jobs["time"][0] == pytest.approx(trains.jobs["time"][0], rel=0.01)
    short = becalm.run(becalm.load(scene).replace({"run.fidelity": "steady"}))
    assert short.left_out == 0 and "no time was left out" in str(short.approximation)


def test_marked_trains_are_warned_of(scene: Path) -> None:
    """Trains did not reproduce the exact times where switches mark. In the scene itself, none do."""
    control = {
        "marking": {"ramp": {"kmin": 4000.0, "kmax": 8000.0}},
        "echo": {"rocev2": {}},
        "response": {"dcqcn": {}},
    }
    marked = becalm.load(scene).replace({**control, "switch.buffer": "16 MiB"})
    said = [text for text in marked.warnings if "--check" in text]
    assert len(said) == 1 and said[0].startswith("run.fidelity: ")
    exact = marked.replace({"run.fidelity": "packets"})
    assert not [text for text in [*exact.warnings, *becalm.load(scene).warnings] if "--check" in text]


def test_the_check_prints_the_error_of_smaller_jobs(scene: Path, tmp_path: Path) -> None:
    command = ["run", str(scene), "--set", "jobs.j.collective.all_to_all.bytes=64 MiB", "--check"]
    done = CliRunner().invoke(app, [*command, "--out", str(tmp_path / "one")])
    assert done.exit_code == 0, done.output
    assert "approximate: a simulated packet stood for" in done.output
    assert "check at 1/64 of the size" in done.output and "j: error of its time" in done.output
    done = CliRunner().invoke(app, [*command, "--json", "--out", str(tmp_path / "two")])
    checked = json.loads(done.stdout)["check"]
    (job,) = checked["jobs"]
    assert checked["left_out"] is None
    assert job["error"] == pytest.approx(job["time"] / job["exact"] - 1)
    assert checked["smaller"] == 64 and checked["train"] >= 1 and checked["seconds"]["without"] > 0


def test_the_check_says_what_it_does_not_know(scene: Path, tmp_path: Path) -> None:
    steady = ["--set", "run.fidelity=steady", "--set", "jobs.j.collective.all_to_all.bytes=64 MiB"]
    done = CliRunner().invoke(app, ["run", str(scene), *steady, "--check", "--out", str(tmp_path / "one")])
    assert done.exit_code == 0 and "the error of leaving it out is not known" in done.output, done.output


@pytest.mark.parametrize("fidelity", ["trains", "steady"])
def test_incasts_and_tunings_on_a_fabric_of_jobs_are_exact(scene: Path, fidelity: str) -> None:
    command = [
        "whatif",
        str(scene),
        "--set",
        f"run.fidelity={fidelity}",
        "--hot",
        "H3",
        "--contributors",
        "3",
    ]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0 and "computed in" in done.output, done.output
    fabric = becalm.load(scene).replace({"run.fidelity": fidelity})
    drawn = Population(fabric).draw(2, 1)
    assert {case.scenario.resolved["run"]["fidelity"] for case in drawn} == {"packets"}
    exact = fabric.exact()
    assert exact.exact() is exact


def test_only_a_run_with_trains_and_a_collective_is_checked(scene: Path, tmp_path: Path) -> None:
    def said(*change: str) -> str:
        done = CliRunner().invoke(app, ["run", str(scene), "--check", *change, "--out", str(tmp_path / "no")])
        assert done.exit_code == 2, done.output
        return done.output

    assert "the run is exact" in said("--set", "run.fidelity=packets")
    flow = 'flows=[{name = "f", from = ["H0"], to = ["H1"]}]'
    assert "needs a job" in said("--set", "jobs=[]", "--set", "run.end=duration", "--set", flow)
