from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from becalm.cli import app

runner = CliRunner()


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_prints_a_table_and_what_does_not_hold() -> None:
    done = runner.invoke(
        app, ["design", "max(r / 2, rmin)", "--increase", "min(r * 1.02, rmax)", "--no-trial"]
    )
    assert done.exit_code == 0, done.output
    text = " ".join(done.output.split())
    assert "Condition 2, T_rec(r1) <= T_rec(r2) for r1 < r2, does not hold at rates of 0.00" in text
    assert "Chiu-Jain fails: " in text and "Chiu-Jain, one" not in text
    assert Path("designs/design/design.png").is_file()
    assert json.loads(Path("designs/design/design.json").read_text())["cct"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["r / 2"], "f_dec(0.00390625) = 0.00195312: must not be below rmin"),
        (["max(x, rmin)"], "unknown name `x`"),
        (["points.csv"], "`points.csv`: `Attribute` cannot be used"),
        (["max(r / 2, rmin)", "--out", "."], "already exists"),
    ],
)
def test_bad_input_is_one_message(arguments: list[str], message: str) -> None:
    done = runner.invoke(app, ["design", *arguments, "--no-trial"])
    assert done.exit_code == 2
    assert message in done.output
    assert len(done.output.strip().splitlines()) == 1
    assert not Path("designs").exists()
