"""Optuna: its journal is data of a stranger. It runs no code, and a damaged one ends with a message."""

from __future__ import annotations

import json
import pickle
import random
from pathlib import Path
from typing import Any

import damage
import pytest

from becalm.base.errors import BecalmError
from becalm.sweeps.random import Range
from becalm.tunings import Goals, Space
from becalm.tunings.study import JOURNAL, Search

pytest.importorskip("optuna")

SPACE = Space({"a.b": Range("float", (0.0, 1.0)), "c": Range("choice", ("x", "y"))})


class Touches:
    """An object whose pickle creates a file when it is read."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.file,)


def search(folder: Path) -> Search:
    return Search(folder, SPACE, Goals(), name="study", trials=20)


def studied(folder: Path) -> list[str]:
    """Write a study of a few trials, and return the lines of its journal."""
    folder.mkdir()
    made = search(folder)
    made.enqueue({"a.b": 0.5, "c": "y"})
    for _ in range(12):
        trial = made.study.ask(SPACE.distributions())
        told = {"loss": trial.params["a.b"], "measures": {"case": {"loss": 0.1}}, "whole": True}
        for key, value in told.items():
            trial.set_user_attr(key, value)
        trial.set_constraint("limit", -0.5)
        made.study.tell(trial, trial.params["a.b"])
    made.study.ask(SPACE.distributions())
    return (folder / JOURNAL).read_text().splitlines()


def used(folder: Path) -> None:
    """Do with a study what a search does."""
    found = search(folder)
    found.best(3)
    found.importance()
    found.study.ask(SPACE.distributions())


@pytest.mark.parametrize("key", ["cma:optimizer:0", "cma:generation", "anything"])
def test_a_journal_with_a_pickle_is_refused_and_its_code_does_not_run(tmp_path: Path, key: str) -> None:
    lines, marker = studied(tmp_path / "study"), tmp_path / "ran"
    hidden = {"op_code": 9, "worker_id": "w", "trial_id": 12}
    hidden["system_attr"] = {key: pickle.dumps(Touches(marker)).hex()}
    (tmp_path / "study" / JOURNAL).write_text("\n".join([*lines, json.dumps(hidden)]) + "\n")
    with pytest.raises(
        BecalmError, match=f"study.journal:{len(lines) + 1}: .*`{key}`, which becalm's samplers"
    ):
        used(tmp_path / "study")
    assert not marker.exists()


def test_an_intact_study_continues(tmp_path: Path) -> None:
    studied(tmp_path / "study")
    used(tmp_path / "study")


def test_a_half_written_last_line_is_dropped(tmp_path: Path) -> None:
    lines = studied(tmp_path / "study")
    journal = tmp_path / "study" / JOURNAL
    journal.write_text("\n".join(lines) + '\n{"op_code":8,"wor')
    used(tmp_path / "study")
    for line in journal.read_text().splitlines():
        json.loads(line)


def test_a_damaged_study_is_read_or_refused_with_one_line(tmp_path: Path) -> None:
    lines = studied(tmp_path / "study")
    source = random.Random(1)
    refused = 0
    for _ in range(100):
        number = source.randrange(len(lines))
        broken = [*lines]
        broken[number] = json.dumps(damage.mutated(json.loads(lines[number]), source))
        (tmp_path / "study" / JOURNAL).write_text("\n".join(broken) + "\n")
        try:
            used(tmp_path / "study")
        except BecalmError as error:
            assert "\n" not in str(error), error
            refused += 1
    assert refused > 50
