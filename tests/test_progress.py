"""Long-running commands show progress and remaining time on a terminal."""

from __future__ import annotations

import io
import shutil
import time
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

import becalm
from becalm.base.progress import steps
from becalm.cli import app, console
from becalm.cli.screen import Screen
from becalm.opensm.importing import import_fabric
from becalm.runs.task import Done
from fabrics import DATA

SWEEP = 'scenario = "scene.toml"\nstore = "store"\n[grid]\n"run.seed" = [1, 2, 3]\n'


@pytest.fixture
def folder(tmp_path: Path, scenario: becalm.Scenario, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "scene.toml").write_text(scenario.to_toml())
    (tmp_path / "sweep.toml").write_text(SWEEP)
    (tmp_path / "fabric.toml").write_text(import_fabric(DATA / "ft2_18" / "ibnetdiscover.txt", None).text)
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["sweep", "sweep.toml"])
    assert done.exit_code == 0, done.output
    # The sweep indexed its runs; without the index, each command reads them.
    shutil.rmtree(tmp_path / "store" / "index")
    for command in ("run scene.toml --out run0", "new-scheme mine.py"):
        made = CliRunner().invoke(app, command.split())
        assert made.exit_code == 0, made.output
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("run scene.toml --out run", "simulated"),
        ("run scene.toml --out run --packets packets.parquet", "recording"),
        ("sweep sweep.toml --store new", "of 3 computed"),
        ("compare --short --scheme none --scene dumbbell", "1 of 1 computed"),
        ("reproduce santos2002/fig2 --short", "1 of 1 computed"),
        ("store verify store", "3 of 3 runs"),
        ("store prune store", "3 of 3 runs"),
        ("store merge other store", "3 of 3 runs"),
        ("store ls store", "3 of 3 runs"),
        ("store export store table.csv", "3 of 3 runs"),
        ("check-scheme mine.py:Mine", "rules"),
        ("explain run0", "looking for roots"),
        ("report run0", "writing the page"),
        ("report sweep.toml --out page.html --runs", "3 of 3 runs"),
        ("manage fabric.toml --out managed.toml --guideline becalm2 --max-time 2", " runs"),
        ("whatif fabric.toml --hot host0", "simulated"),
    ],
)
def test_progress_is_on_the_terminal(command: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(console, "err", Console(file=screen, force_terminal=True, width=200))
    done = CliRunner().invoke(app, command.split())
    assert done.exit_code == 0, done.output
    assert said in screen.getvalue()


def test_the_time_left_of_a_sweep_follows_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    screen = Screen(3, work=1000.0, quiet=True)
    left = []
    for key, found, work in (("a", True, 500.0), ("b", False, 400.0), ("c", False, 100.0)):
        clock[0] += 0.0 if found else 10.0
        screen.on_done(Done(key, found, 1.0, 0, 0, None, work))
        left.append(screen.left)
    # One run was found. The first of the two others has four fifths of the work, and ends after 10 s.
    assert left == [None, 2.5, 0.0]


def test_steps_are_counted_before_and_after() -> None:
    seen: list[tuple[int, int]] = []
    assert list(steps("ab", lambda *now: seen.append(now))) == ["a", "b"]
    assert seen == [(0, 2), (1, 2), (2, 2)]
    assert list(steps("ab", None)) == ["a", "b"]
