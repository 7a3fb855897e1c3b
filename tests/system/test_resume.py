"""`becalm compare` and `becalm reproduce` continue after a kill, and give the same tables on every engine."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from pathlib import Path

import pytest

import commands

SCENE = """\
[run]
duration = "60 ms"
warmup = "1 ms"
[topology.dumbbell]
[[flows]]
name = "hot"
from = ["B1..B4"]
to = ["BC"]
[[flows]]
name = "others"
from = ["A1"]
to = ["BV"]
traffic.poisson = {load = 0.3, message = "10 kB"}
[observe]
messages = true
[compare]
background = ["others"]
contributors = ["hot"]
link = "B->BC"
longest = 1
"""
LIMIT = 300.0
"""Timeout in s."""


@pytest.fixture
def compare(tmp_path: Path) -> list[object]:
    scene = tmp_path / "scene.toml"
    scene.write_text(SCENE)
    schemes = ("--scheme", "none", "--scheme", "binary_feedback")
    return ["compare", *schemes, "--scene", scene, "--seeds", 3, "--json"]


@pytest.fixture
def reproduce(tmp_path: Path) -> list[object]:
    return ["reproduce", "santos2003/fig2", "--short", "--seeds", 6, "--json", "--out", tmp_path / "figures"]


def _called(*arguments: object) -> str:
    done = commands.becalm(*arguments, timeout=LIMIT)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _files(store: Path) -> dict[str, int]:
    """Return the inode of every run, which changes when the run is written again."""
    return {str(path): path.stat().st_ino for path in store.glob("runs/*/*.zip")}


@pytest.mark.parametrize("command", ["compare", "reproduce"])
def test_a_killed_command_goes_on(command: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    words = request.getfixturevalue(command)
    store = tmp_path / "store"
    kept = [*words, "--store", store, "--workers", 1]
    process = commands.start(*kept)
    deadline = time.monotonic() + LIMIT
    while len(_files(store)) < 2 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL, "it ended before it was killed"
    before = _files(store)
    plain = [word for word in kept if word != "--json"]
    done = commands.becalm(*plain, timeout=LIMIT)
    assert done.returncode == 0, done.stderr
    counted = re.search(r"(\d+) of 6 runs found in .*store", done.stderr.replace("\n", " "))
    assert counted, done.stderr
    assert 2 <= int(counted[1]) == len(before) < 6
    after = _files(store)
    assert len(after) == 6
    assert after | before == after, "a finished run was written again"
    over = ["--overwrite"] if command == "reproduce" else []
    assert _called(*kept, *over) == _called(*words, *over)
    assert _files(store) == after
    assert not list(store.rglob("*.tmp"))


@pytest.mark.parametrize("engine", ["processes", "dask"])
@pytest.mark.parametrize("command", ["compare", "reproduce"])
def test_two_workers_give_the_same_tables(
    command: str, engine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    words = request.getfixturevalue(command)
    over = ["--overwrite"] if command == "reproduce" else []
    direct = _called(*words)
    store = tmp_path / "store"
    assert _called(*words, *over, "--engine", engine, "--workers", 2, "--store", store) == direct
    assert len(_files(store)) == 6
    assert json.loads(direct.splitlines()[0])


def test_a_scheme_of_ones_own_is_kept(tmp_path: Path, compare: list[object]) -> None:
    """The store holds the scheme's hash, not its code."""
    made = commands.becalm("new-scheme", "mine.py", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    scene = compare[compare.index("--scene") + 1]
    words = ["compare", "--scheme", f"{tmp_path / 'mine.py'}:Mine", "--scene", scene, "--seeds", 1, "--json"]
    direct = _called(*words)
    for _ in range(2):
        kept = _called(*words, "--store", tmp_path / "store", "--engine", "processes", "--workers", 1)
        assert kept == direct
    assert len(_files(tmp_path / "store")) == 1


def test_options_that_cannot_be(compare: list[object], tmp_path: Path) -> None:
    commands.check_message(commands.becalm(*compare, "--engine", "ray"), "--engine ray", "valid")
    address = ("--engine", "dask", "--address", "tcp://127.0.0.1:9")
    commands.check_message(commands.becalm(*compare, *address), "--address", "--store")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("mine")
    said = commands.becalm(*compare, "--store", tmp_path / "full")
    commands.check_message(said, "not a store", "mine")
