"""`becalm report` from results, runs in a store, sweeps and tunings; existing files are kept."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import becalm
from becalm import _core
from becalm.reports.source import page_of
from becalm.reports.tunings import _comparison

SCENE = """\
[run]
duration = "300 us"
[topology.dumbbell]
remote = 2
local = 2
[[flows]]
name = "hot"
from = ["A1..A2", "B1..B2"]
to = ["BC"]
[observe]
frames = "50 us"
spans = true
"""


def header(page: str) -> dict[str, Any]:
    """Return a page's payload header."""
    data = re.search(r'id="payload">([^<]+)<', page)
    assert data is not None
    whole = zlib.decompress(base64.b64decode(data[1]), -zlib.MAX_WBITS)
    length = int.from_bytes(whole[:8], "little")
    found: dict[str, Any] = json.loads(whole[8 : 8 + length])
    return found


def command(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    call = [sys.executable, "-m", "becalm", *arguments]
    return subprocess.run(call, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("report")
    (made / "scene.toml").write_text(SCENE)
    becalm.run(becalm.load(made / "scene.toml")).save(made / "results")
    return made


def test_a_page_tells_of_the_run_and_of_who_wrote_the_page(folder: Path, tmp_path: Path) -> None:
    reported = dict(header(page_of(folder / "results"))["about"]["provenance"])
    assert reported["becalm"] == becalm.__version__
    assert not any(key.startswith("page written by") for key in reported)

    shutil.copytree(folder / "results", tmp_path / "old")
    manifest = json.loads((tmp_path / "old" / "manifest.json").read_text())
    old = {"becalm": "0.0.1", "core": "abc", "platform": {"machine": "vax"}}
    old["created"] = "2020-01-01T00:00:00+00:00"
    (tmp_path / "old" / "manifest.json").write_text(json.dumps(manifest | old))
    about = header(page_of(tmp_path / "old"))["about"]
    reported = dict(about["provenance"])
    assert (reported["becalm"], reported["core"], reported["platform.machine"]) == ("0.0.1", "abc", "vax")
    assert reported["page written by.becalm"] == becalm.__version__
    assert f"becalm 0.0.1, page by becalm {becalm.__version__}" in about["facts"]
    assert old["created"] in about["facts"]


def test_the_command_writes_a_page_and_replaces_none(folder: Path) -> None:
    done = command("report", "results", "--out", "page.html", folder=folder)
    assert (done.returncode, done.stdout.strip()) == (0, "page.html")
    page = header((folder / "page.html").read_text(encoding="utf-8"))
    assert page["about"]["title"] == "scene"
    assert len(page["runs"][0]["frames"]["times"]) == 6
    again = command("report", "results", "--out", "page.html", folder=folder)
    assert again.returncode != 0
    assert "already exists" in again.stderr


def test_a_run_can_end_with_a_page_and_keeps_its_fingerprint(folder: Path) -> None:
    plain = SCENE.split("[observe]")[0]
    (folder / "plain.toml").write_text(plain)
    done = command("run", "plain.toml", "--report", "run.html", "--out", "watched", folder=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith("run.html")
    watched = becalm.load_results(folder / "watched")
    assert 50 <= watched.frames.time.size <= 100
    assert watched.fingerprint == becalm.run(becalm.Scenario(plain)).fingerprint


def test_view_prints_the_path_where_there_is_no_screen(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    done = command("report", "results", "--view", folder=folder)
    assert Path(done.stdout.strip()).read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize("name", ["nothing", "scene.txt"])
def test_what_is_not_a_source_is_reported(folder: Path, name: str) -> None:
    (folder / "scene.txt").touch()
    with pytest.raises(
        becalm.ResultsError, match=r"(nothing to report|no such file or folder); valid: a results"
    ):
        page_of(folder / name)


def test_a_bad_size_is_reported(folder: Path) -> None:
    done = command("report", "results", "--max-size", "big", folder=folder)
    assert done.returncode == 2
    assert "--max-size big: not a size" in done.stderr


def test_the_page_says_what_it_leaves_out(folder: Path) -> None:
    page = header(page_of(folder / "results", max_size=1))
    assert page["every"] == 4
    with pytest.raises(becalm.ResultsError, match="no replication 3; valid: 0"):
        page_of(folder / "results", replication=3)


def test_a_sweep_shows_its_points_over_its_keys(folder: Path) -> None:
    (folder / "sweep.toml").write_text(
        'scenario = "scene.toml"\nstore = "store"\n[grid]\n'
        '"topology.dumbbell.remote" = [2, 3]\n"run.seed" = [1, 2]\n'
    )
    done = command("sweep", "sweep.toml", "--engine", "threads", folder=folder)
    assert done.returncode == 0, done.stderr
    made = command("report", "sweep.toml", "--out", "sweep.html", folder=folder)
    assert made.returncode == 0, made.stderr
    page = header((folder / "sweep.html").read_text(encoding="utf-8"))
    assert page["tables"][0]["total"] == 4
    rates = [panel for panel in page["panels"] if panel["title"].startswith("rate: ")]
    assert [rate["title"] for rate in rates] == ["rate: run.seed = 1", "rate: run.seed = 2"]
    assert rates[0]["x"] == {"name": "topology.dumbbell.remote", "values": [2, 3], "unit": ""}
    assert "hot" in [line["name"] for line in rates[0]["lines"]]
    assert rates[0]["top"] == rates[1]["top"] > 0
    stored = next((folder / "store" / "runs").rglob("*.zip"))
    assert header(page_of(stored))["kind"] == "run"


def test_only_a_sweep_has_pages_of_its_runs(folder: Path) -> None:
    done = command("report", "results", "--runs", "--out", "alone.html", folder=folder)
    assert done.returncode == 2
    assert "has no separate runs; valid: a sweep (.toml)" in done.stderr
    assert not (folder / "alone.html").exists()


def test_a_tuning_shows_its_trials(tmp_path: Path) -> None:
    reported = {
        **{"becalm": "1", "model": "m", "recommended": "tuned", "guideline": "pfister2005"},
        **{"parameters": {"a": 1.0}, "trials": 2, "runs": 8, "importance": {"a": 1.0}, "note": "n"},
        **{"broken": [], "at_end": ["a"]},
        "gain": {"guideline": 2.0, "tuned": 1.0, "low": 0.5, "high": 1.5, "seeds": 2, "ratio": 0.5},
    }
    (tmp_path / "tune.json").write_text(json.dumps(reported))
    trials = pl.DataFrame(
        {"number": [0, 1, 2], "a": [1.0, 2.0, 3.0], "loss": [2.0, 1.0, 0.5], "kept": [True, True, False]}
    )
    trials.write_parquet(tmp_path / "trials.parquet")
    pl.DataFrame({"candidate": ["tuned"], "loss": [1.0]}).write_parquet(tmp_path / "validation.parquet")
    page = header(page_of(tmp_path))
    assert page["kind"] == "tune"
    assert [each["title"] for each in page["scatters"]] == ["loss over trial"]
    points = page["scatters"][0]["points"]
    assert [(point["name"], point["kind"]) for point in points] == [
        ("trial 0", "trial"),
        ("trial 2", "trial"),
        ("trial 1", "best of all"),
    ]


def test_arrays_come_back_as_they_were(folder: Path) -> None:
    results = becalm.load_results(folder / "results")
    packed = _core.report(
        results.scenario.core,
        [
            (
                0,
                "f",
                1,
                None,
                {
                    "frames": [
                        ("time", "s", results.frames.time),
                        ("vl", "", results.tables["frames"]["vl"].to_numpy()),
                        ("occupancy", "", results.tables["frames"]["occupancy"].to_list()),
                        ("role", "", results.tables["frames"]["role"].to_list()),
                    ]
                },
            )
        ],
        "{}",
        0,
        True,
    )[0]
    whole = zlib.decompress(packed, -zlib.MAX_WBITS)
    length = int.from_bytes(whole[:8], "little")
    page = json.loads(whole[8 : 8 + length])
    entry = page["arrays"][page["runs"][0]["frames"]["lanes"][0]["occupancy"]["$"]]
    data = bytearray(whole[8 + length + entry["at"] :][: entry["length"]])
    for at in range(entry["width"], len(data)):
        data[at] = (data[at] + data[at - entry["width"]]) & 255
    assert bytes(data) == results.frames.occupancy.tobytes()


def test_notebooks_show_a_frame_that_reaches_nothing_outside(folder: Path) -> None:
    shown = becalm.load_results(folder / "results")._repr_html_() or ""
    assert shown.startswith('<iframe sandbox="allow-scripts"')
    assert "<script" not in shown


def test_a_sweep_without_its_scenario_is_named_by_that_scenario(tmp_path: Path) -> None:
    (tmp_path / "sweep.toml").write_text('scenario = "absent.toml"\n[grid]\n"run.seed" = [1, 2]\n')
    done = command("report", "sweep.toml", "--out", "page.html", folder=tmp_path)
    assert (done.returncode, done.stderr.strip()) == (
        2,
        'sweep.toml:1: scenario = "absent.toml": no such file; the folder has `sweep.toml`',
    )
    assert [each.name for each in tmp_path.iterdir()] == ["sweep.toml"]


def test_many_cases_of_a_tuning_are_drawn_as_their_mean() -> None:
    rows = [
        (name, f"case {number}", float(number)) for name in ("tuned", "pfister2005") for number in range(9)
    ]
    validation = pl.DataFrame(rows, schema=["candidate", "case", "loss"], orient="row")
    (chart,) = _comparison(validation, "pfister2005")
    assert chart["x"]["values"] == ["mean of 9 cases"]
    assert [(line["name"], line["values"]) for line in chart["lines"]] == [
        ("pfister2005", [4.0]),
        ("tuned", [4.0]),
    ]
    (by_case,) = _comparison(validation.filter(pl.col("loss") < 3), "pfister2005")
    assert by_case["x"]["values"] == ["case 0", "case 1", "case 2"]
