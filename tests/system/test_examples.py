from __future__ import annotations

import os
from pathlib import Path

import pytest

import becalm
import commands
from becalm.scenario import examples

ROOT = Path(__file__).parents[2]


def test_every_example_is_listed_with_a_sentence_and_is_valid() -> None:
    assert examples.names() == sorted(file.stem for file in (ROOT / "scenarios").glob("*.toml"))
    listed = commands.becalm("list", "examples", env={**os.environ, "COLUMNS": "250"}).stdout
    for name in examples.names():
        assert 20 < len(examples.summary(name)) < 200
        assert examples.summary(name).count("(") == examples.summary(name).count(")"), name
        assert f"{name} " in listed
        assert examples.summary(name) in listed
        becalm.load(examples.path(name))


def test_an_example_is_run_by_its_name(tmp_path: Path) -> None:
    done = commands.becalm("run", "--example", "blocking_switch", "-q", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    made = becalm.load_results(tmp_path / "results" / "blocking_switch")
    assert made.scenario == becalm.load(ROOT / "scenarios" / "blocking_switch.toml")
    printed = commands.becalm("list", "examples", "blocking_switch").stdout
    assert printed == (ROOT / "scenarios" / "blocking_switch.toml").read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--example", "none"], "no such example; valid: all_reduce, "),
        (["--example", "../errors"], "no such example"),
        ([], "needs a scenario, or --example"),
        (["a.toml", "--example", "on_off"], "takes a scenario or --example, not both"),
    ],
)
def test_wrong_examples(arguments: list[str], said: str, tmp_path: Path) -> None:
    commands.check_message(commands.becalm("run", *arguments, cwd=tmp_path), said)
