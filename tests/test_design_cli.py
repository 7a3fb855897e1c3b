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
    assert not Path("designs/design/cct.json").exists()


def test_takes_points_from_files() -> None:
    rows = [(1 / (1 + delay), 1 / min(2 + delay, 256)) for delay in range(256)]
    Path("a.json").write_text(json.dumps(rows))
    Path("a.csv").write_text("r,f_dec\n" + "\n".join(f"{rate!r},{value!r}" for rate, value in rows))
    tables = []
    for file in ("a.json", "a.csv"):
        done = runner.invoke(app, ["design", file, "--no-trial", "--json", "--out", f"{file}.out"])
        assert done.exit_code == 0, done.output
        tables.append(json.loads(done.stdout)["table"]["steps"])
    assert tables[0] == tables[1]
    assert tables[0][255] == [255, 1, 254]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["r / 2"], "f_dec(0.00390625) = 0.00195312: must not be below rmin"),
        (["max(x, rmin)"], "unknown name `x`"),
        (["nowhere.csv"], "nowhere.csv: no such file"),
        (["words.csv"], "words.csv: must contain pairs of a rate and the function's value"),
        (["max(r / 2, rmin)", "--out", "."], "already exists"),
    ],
)
def test_bad_input_is_one_message(arguments: list[str], message: str) -> None:
    Path("words.csv").write_text("a,b\nc,d\n")
    done = runner.invoke(app, ["design", *arguments, "--no-trial"])
    assert done.exit_code == 2
    assert message in done.output
    assert len(done.output.strip().splitlines()) == 1
    assert not Path("designs").exists()
