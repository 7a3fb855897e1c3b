"""matplotlib: text of strangers is drawn as text, and a picture that cannot be drawn leaves no file."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import becalm
from becalm.cli import app
from becalm.plot import draw_fabric, save
from conftest import SMALL

NAME = r"$\frac{1}{$ <script>"


@pytest.fixture(scope="module")
def results() -> becalm.Results:
    changes = {"run.duration": "60 us", "observe.snapshots": ["10 us"]}
    return becalm.run(becalm.Scenario(SMALL, name=NAME).replace(changes))


@pytest.mark.parametrize("ending", [".png", ".svg", ".pdf"])
def test_a_name_is_not_read_as_a_formula_or_as_markup(
    results: becalm.Results, tmp_path: Path, ending: str
) -> None:
    file = tmp_path / f"picture{ending}"
    save(draw_fabric(results, 10e-6), file)
    assert file.stat().st_size > 1000
    assert ending != ".svg" or "<script>" not in file.read_text()


def test_a_picture_that_cannot_be_drawn_leaves_no_file(results: becalm.Results, tmp_path: Path) -> None:
    folder, picture = results.save(tmp_path / "results"), tmp_path / "picture.png"
    done = CliRunner().invoke(app, ["report", str(folder), "--time", "30 us", "--out", str(picture)])
    assert (done.exit_code, "Traceback" in done.output) == (2, False), done.output
    assert sorted(each.name for each in tmp_path.iterdir()) == ["results"]
    done = CliRunner().invoke(
        app, ["report", str(folder), "--time", "10 us", "--out", str(tmp_path / "x.exe")]
    )
    assert (done.exit_code, "must end in one of" in done.output.replace("\n", " ")) == (2, True)
