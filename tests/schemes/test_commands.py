"""The commands for user-defined schemes."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import becalm
from becalm.cli import app
from becalm.reports.page import _about
from becalm.schemes import starts
from becalm.store import Store

RUN = CliRunner()
SCENARIOS = Path(__file__).parents[2] / "scenarios"


@pytest.mark.parametrize("like", starts.names())
def test_a_start_passes_its_check(tmp_path: Path, like: str) -> None:
    file = tmp_path / "my_own.py"
    made = RUN.invoke(app, ["new-scheme", str(file), "--like", like])
    assert made.exit_code == 0 and "MyOwn" in file.read_text(), made.output
    checked = RUN.invoke(app, ["check-scheme", f"{file}:MyOwn"])
    assert checked.exit_code == 0 and "FAIL" not in checked.output, checked.output


def test_a_scheme_that_shares_state_or_never_slows_down_fails(tmp_path: Path) -> None:
    file = tmp_path / "wrong.py"
    file.write_text(
        "import becalm\n\n\nclass Wrong(becalm.Response):\n    seen = [0]\n\n"
        "    def on_ack(self, now, ack):\n        self.seen[0] += 1\n        self.gap = 1.0 / self.seen[0]\n"
    )
    checked = RUN.invoke(app, ["check-scheme", f"{file}:Wrong"])
    assert checked.exit_code == 1
    failed = [line for line in checked.output.splitlines() if line.startswith("FAIL")]
    assert any("the same notices, the same paces" in line for line in failed)
    assert any("flows share no state" in line for line in failed)
    assert any("slower under congestion" in line for line in failed)


def test_the_option_uses_the_scheme_and_the_results_name_its_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    RUN.invoke(app, ["new-scheme", str(file)])
    run = ["run", "--example", "input_triggered_lipd", "--out", str(tmp_path / "results"), "--quiet"]
    done = RUN.invoke(
        app, [*run, "--response", f"{file}:Mine", "--set", "response.external.parameters.rmin=0.01"]
    )
    assert done.exit_code == 0, done.output
    manifest = (tmp_path / "results" / "manifest.json").read_text()
    assert '"sha256"' in manifest and '"rmin": 0.01' in manifest
    shown = RUN.invoke(app, ["explain", str(tmp_path / "results")])
    assert shown.exit_code == 0, shown.output
    wrong = RUN.invoke(app, [*run, "--overwrite", "--marking", f"{file}:Mine"])
    assert wrong.exit_code == 2 and "is not a marking scheme; use --response" in wrong.output


def mine(folder: Path, step: str = "1.01") -> str:
    """Write a response with this rate increase per unmarked ACK."""
    file = folder / "mine.py"
    file.write_text(
        "import becalm\n\n\nclass Mine(becalm.Response):\n"
        "    cut = becalm.Parameter(0.5, 'share that remains', least=0.01, most=1.0)\n"
        "    rate: float\n\n    def start(self, flow):\n        self.rate = 1.0\n\n"
        "    def on_ack(self, now, ack):\n"
        "        slower = max(self.rate * self.cut, 0.01)\n"
        f"        self.rate = slower if ack.marked else min(self.rate * {step}, 1.0)\n"
        "        self.gap = 1.0 / self.rate - 1.0\n"
    )
    return f"{file}:Mine"


def scene(folder: Path) -> Path:
    small = becalm.load(SCENARIOS / "storage_incast.toml").replace({"run.duration": "3 ms"})
    (folder / "scene.toml").write_text(small.to_toml())
    return folder / "scene.toml"


def test_a_sweep_with_a_changed_scheme_runs_again(tmp_path: Path) -> None:
    scene(tmp_path)
    spec, store = tmp_path / "sweep.toml", tmp_path / "store"
    spec.write_text(
        'scenario = "scene.toml"\nstore = "store"\n[grid]\n"response.external.parameters.cut" = [0.5, 0.25]\n'
    )
    sweep = [
        "sweep",
        str(spec),
        "--response",
        mine(tmp_path),
        "--out",
        str(tmp_path / "a.parquet"),
    ]

    def runs() -> int:
        (tmp_path / "a.parquet").unlink(missing_ok=True)
        done = RUN.invoke(app, sweep)
        assert done.exit_code == 0, done.output
        return len(list(Store(store).keys()))

    assert runs() == 2
    assert runs() == 2, "what is there is not run again"
    mine(tmp_path, step="1.02")
    assert runs() == 4, "other code, other runs"
    mine(tmp_path)
    assert runs() == 4, "the first code again: its runs are there"


def test_results_are_reported_and_explained_without_the_code(tmp_path: Path) -> None:
    results, page = tmp_path / "results", tmp_path / "page.html"
    run = ["run", str(scene(tmp_path)), "--response", mine(tmp_path), "--out", str(results), "--quiet"]
    assert RUN.invoke(app, run).exit_code == 0
    (tmp_path / "mine.py").unlink()
    shown = RUN.invoke(app, ["report", str(results), "--out", str(page)])
    assert shown.exit_code == 0, shown.output
    message = RUN.invoke(app, ["explain", str(results)])
    assert message.exit_code == 0 and "Congestion control" in message.output, message.output
    pinned = becalm.load(tmp_path / "scene.toml").using([mine(tmp_path)])
    assert becalm.load_results(results).scenario.hash == pinned.hash == pinned.pinned().hash
    parameters = dict(_about(becalm.load_results(results), None, 0)["parameters"])
    assert parameters["response.external.name"] == "mine"
    assert (
        len(parameters["response.external.sha256"]) == 64 and parameters["response.external.parameters.cut"]
    )


def test_a_comparison_sets_it_beside_others(tmp_path: Path) -> None:
    command = ["compare", "--scheme", mine(tmp_path), "--scheme", "lipd", "--scene", "incast", "--short"]
    done = RUN.invoke(app, [*command, "--seeds", "1"])
    assert done.exit_code == 0 and "mine" in done.output and "LIPD" in done.output, done.output


def test_a_tuning_finds_its_parameters(tmp_path: Path) -> None:
    scene(tmp_path)
    (tmp_path / "tune.toml").write_text(
        '[[case]]\nscenario = "scene.toml"\nlink = "rack2->storage"\nstart = "2 ms"\nstop = "2.5 ms"\n'
        'hot = ["incast"]\nbackground = ["bystander"]\n'
        '[space]\n"response.external.parameters.cut" = { float = [0.1, 0.9] }\n'
        '[fixed]\n"response.external.name" = "mine"\n[budget]\ntrials = 3\nvalidate = 2\n'
    )
    command = ["tune", str(tmp_path / "tune.toml"), "--response", mine(tmp_path), "--engine", "threads"]
    done = RUN.invoke(app, [*command, "--out", str(tmp_path / "out")])
    assert done.exit_code == 0 and "parameters.cut" in done.output, done.output
