"""Sweeps on a damaged store: damage is detected, the run is computed again, and tables are unchanged.

`DAMAGE=1` increases the number of trials tenfold, to 200 bits, 50 cuts and 20 exchanged files.
"""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

import becalm
from becalm.cli import app
from becalm.store import Store
from becalm.sweeps import SweepResults
from conftest import SMALL

MANY = 10 if os.environ.get("DAMAGE") else 1
GRID = {"switch.buffer": ["2 packets", "4 packets"], "run.seed": [1, 2]}


class Shelf:
    """A store of four runs that is damaged repeatedly."""

    def __init__(self, folder: Path, scenario: becalm.Scenario) -> None:
        self.folder = folder
        self.scenario = scenario.replace({"run.duration": "60 us"})
        self.message: list[str] = []
        self.tables = self.swept()
        self.store = Store(folder)
        self.keys = list(self.store.keys())
        self.whole = {key: self.store.path(key).read_bytes() for key in self.keys}

    def swept(self) -> dict[str, str]:
        made: SweepResults = becalm.sweep(self.scenario, GRID, folder=self.folder, threads=1)
        return {name: made.table(name).write_csv() for name in ("groups", "links", "flows")}

    def put(self, key: str, content: bytes) -> None:
        """Damage a run, and check that the next sweep detects and repairs it."""
        self.store.path(key).write_bytes(content)
        ((found, problem),) = self.store.verify()
        assert (found, str(self.store.path(key)) in problem) == (key, True)
        assert not self.store.has(key)
        with pytest.warns(UserWarning, match=f"{key[2:]}.zip.*; computed again"):
            assert self.swept() == self.tables
        assert list(self.store.verify()) == []
        assert self.store.get(key).fingerprint == self.fingerprint(key)

    def fingerprint(self, key: str) -> str:
        return self.whole[key].rsplit(b" ", 2)[1].decode()


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    return Shelf(tmp_path_factory.mktemp("damage") / "store", becalm.Scenario(SMALL, name="small.toml"))


def test_every_flipped_bit_is_noticed_and_mended(shelf: Shelf) -> None:
    draw = random.Random(1)
    for _ in range(20 * MANY):
        key = draw.choice(shelf.keys)
        content = bytearray(shelf.whole[key])
        content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
        shelf.put(key, bytes(content))


def test_every_cut_is_noticed_and_mended(shelf: Shelf) -> None:
    draw = random.Random(2)
    for _ in range(5 * MANY):
        key = draw.choice(shelf.keys)
        shelf.put(key, shelf.whole[key][: draw.randrange(len(shelf.whole[key]))])


def test_files_that_change_places_are_noticed_and_mended(shelf: Shelf) -> None:
    draw = random.Random(3)
    for _ in range(2 * MANY):
        one, other = draw.sample(shelf.keys, 2)
        shelf.put(one, shelf.whole[other])


def test_the_command_says_what_it_mends(tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("small.toml").write_text(text)
    grid = '[set]\n"run.duration" = "60 us"\n[grid]\n"run.seed" = [1, 2]\n'
    Path("sweep.toml").write_text(f'scenario = "small.toml"\nstore = "store"\n{grid}')

    def run(*arguments: str) -> tuple[int, str]:
        done = CliRunner().invoke(app, arguments)
        return done.exit_code, done.output

    assert run("sweep", "sweep.toml", "--dry-run")[0] == 0
    assert not Path("store").exists()
    assert run("sweep", "sweep.toml", "--out", "before.csv")[0] == 0
    one, other = (Store("store").path(key) for key in list(Store("store").keys()))
    middle = len(one.read_bytes()) // 2
    one.write_bytes(one.read_bytes()[:middle] + b"\0\0\0\0" + one.read_bytes()[middle + 4 :])
    shutil.copy(one, tmp_path / "damaged.zip")
    code, message = run("store", "verify", "store")
    assert (code, "damaged" in message, "1 of 2 runs are intact" in message) == (1, True, True)
    code, message = run("sweep", "sweep.toml", "--out", "after.csv")
    assert (code, "damaged" in message) == (0, True)
    assert Path("after.csv").read_text() == Path("before.csv").read_text()
    assert run("store", "verify", "store")[0] == 0
    other.write_bytes(one.read_bytes())
    assert run("store", "verify", "store")[0] == 1
    assert run("sweep", "sweep.toml", "--out", "again.csv")[0] == 0
    assert Path("again.csv").read_text() == Path("before.csv").read_text()
    assert run("store", "verify", "store")[0] == 0
