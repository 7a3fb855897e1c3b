"""`--overwrite` replaces only files written by becalm."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import becalm
import commands


@pytest.fixture
def out(scenario: becalm.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return becalm.run(scenario).save(Path("out"))


def _foreign_file(out: Path) -> str:
    (out / "thesis.tex").write_text("years of work")
    return "out: contains thesis.tex, which becalm did not write; not overwritten"


def _hidden_file(out: Path) -> str:
    (out / ".notes").touch()
    return "out: contains .notes, which"


def _foreign_table(out: Path) -> str:
    (out / "mine.parquet").touch()
    return "out: contains mine.parquet, which"


def _folder_inside(out: Path) -> str:
    (out / "groups.parquet").unlink()
    (out / "groups.parquet").mkdir()
    return "out: contains groups.parquet, which"


def _link_out(out: Path) -> str:
    (out / "groups.parquet").rename("kept.parquet")
    (out / "groups.parquet").symlink_to(Path("kept.parquet").absolute())
    return "out: contains groups.parquet, which"


def _linked_folder(out: Path) -> str:
    out.rename("real")
    out.symlink_to("real")
    return "out: is a symbolic link; not overwritten"


def _manifest_of_others(out: Path) -> str:
    (out / "manifest.json").write_text(json.dumps({"name": "a web page", "tables": {}}))
    return "out: is not a results folder: becalm did not write manifest.json"


def _list(out: Path) -> str:
    (out / "manifest.json").write_text('["becalm"]')
    return "becalm did not write manifest.json"


def _deep(out: Path) -> str:
    (out / "manifest.json").write_text("[" * 100_000)
    return "becalm did not write manifest.json"


def _names_outside(out: Path) -> str:
    manifest = json.loads((out / "manifest.json").read_text())
    manifest["tables"]["groups"]["file"] = "../kept.parquet"
    (out / "manifest.json").write_text(json.dumps(manifest))
    return "becalm did not write manifest.json"


def _no_manifest(out: Path) -> str:
    (out / "manifest.json").unlink()
    return "out: is not a results folder; not overwritten"


def _file(out: Path) -> str:
    out.rename("real")
    out.write_text("a file")
    return "out: is not a results folder; not overwritten"


@pytest.mark.parametrize(
    "corrupt",
    [
        _foreign_file,
        _hidden_file,
        _foreign_table,
        _folder_inside,
        _link_out,
        _linked_folder,
        _manifest_of_others,
        _list,
        _deep,
        _names_outside,
        _no_manifest,
        _file,
    ],
)
def test_what_becalm_did_not_write_stays(
    corrupt: Callable[[Path], str], out: Path, scenario: becalm.Scenario, tmp_path: Path
) -> None:
    expected = corrupt(out)
    before = {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")}
    results = becalm.run(scenario)
    with pytest.raises(becalm.ResultsError) as error:
        results.save(out, overwrite=True)
    assert expected in str(error.value)
    assert {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")} == before


def test_the_command_says_so_before_the_run(out: Path, file: Path) -> None:
    expected = _foreign_file(out)
    done = commands.becalm("run", file, "--out", out, "--overwrite", *commands.LONG, timeout=30)
    commands.check_message(done, expected)


def test_what_becalm_wrote_is_replaced(out: Path, file: Path, tmp_path: Path) -> None:
    assert commands.becalm("run", file, "--out", out, "--overwrite", "--seed", 9).returncode == 0
    assert becalm.load_results(out).scenario.resolved["run"]["seed"] == 9
    assert commands.names(tmp_path) == ["out", file.name]


def test_a_design_is_replaced_by_the_same_rules(tmp_path: Path) -> None:
    made = becalm.design("max(r / 2, rmin)", trial=False)
    out = made.save(tmp_path / "out")
    made.save(out, overwrite=True)
    (out / "notes.txt").touch()
    with pytest.raises(becalm.ResultsError, match=r"contains notes\.txt, which becalm did not write"):
        made.save(out, overwrite=True)
