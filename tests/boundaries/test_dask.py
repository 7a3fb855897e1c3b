"""Dask: what a task carries is data, and what a worker returns is checked. Failures count as failed runs."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from typer.testing import CliRunner

import becalm
from becalm.base.errors import SchemeError
from becalm.cli import app
from conftest import SMALL

MINE = "import becalm\nclass Mine(becalm.Response):\n    def on_ack(self, now, ack): self.gap = 1.0\n"


def test_a_scenario_travels_as_text_and_a_scheme_as_its_file_and_hash(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    scenario = becalm.Scenario(SMALL).using([f"{tmp_path / 'mine.py'}:Mine"])
    content = pickle.dumps(scenario)
    assert b"on_ack" not in content
    (tmp_path / "mine.py").write_text(MINE + "\n# changed\n")
    with pytest.raises(SchemeError, match="has changed since the runs started"):
        pickle.loads(content)


def test_a_scheme_without_a_file_does_not_travel() -> None:
    class Mine(becalm.Response):
        def on_ack(self, _: int, __: object) -> None:
            self.gap = 1.0

    with pytest.raises(SchemeError, match="is not in a file, so other processes cannot load it"):
        pickle.dumps(becalm.Scenario(SMALL).using([Mine]))


def test_a_scheduler_that_is_not_there_ends_with_one_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.chdir(tmp_path)
    Path("small.toml").write_text(SMALL)
    Path("sweep.toml").write_text('scenario = "small.toml"\nstore = "store"\n[grid]\n"run.seed" = [1]\n')
    monkeypatch.setattr("becalm.runs.cluster.TIMEOUT", 2.0)
    done = CliRunner().invoke(
        app, ["sweep", "sweep.toml", "--engine", "dask", "--address", "tcp://127.0.0.1:1"]
    )
    assert isinstance(done.exception, SystemExit | None), done.exception
    assert done.exit_code in (1, 2) and "Traceback" not in done.output
