"""Names of results are reserved: files are only replaced on request, and write errors appear immediately."""

from __future__ import annotations

import os
import subprocess
import time
from multiprocessing.context import ForkServerContext
from pathlib import Path

import pytest

import becalm
import commands
from becalm.base import folders
from becalm.base.disk import REPLACE
from becalm.results import FOLDER

AT_ONCE = 20


@pytest.fixture(autouse=True)
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_twenty_runs_at_once_leave_twenty_results(
    file: Path, tmp_path: Path, work: Path, prepared: ForkServerContext
) -> None:
    ended = commands.at_once(prepared, AT_ONCE, "run", file, "-q", "--threads", 1, folder=tmp_path)
    assert ended == [(0, "", "")] * AT_ONCE
    found = [becalm.load_results(folder) for folder in (work / "results").iterdir()]
    assert len(found) == AT_ONCE
    assert len({results.fingerprint for results in found}) == 1


def test_of_twenty_runs_into_one_folder_nineteen_are_refused_early(
    file: Path, tmp_path: Path, work: Path, prepared: ForkServerContext
) -> None:
    first = commands.start("run", file, "--out", "deep/here", *commands.LONG)
    _wait_for(work / "deep" / ".partial.here")
    into = ("--out", "deep/here", "--threads", 1)
    ended = commands.at_once(prepared, AT_ONCE - 1, "run", file, *into, folder=tmp_path)
    # The run itself would never end in time.
    message = "deep/here: another becalm process is writing it; choose another name\n"
    assert ended == [(2, "", message)] * (AT_ONCE - 1)
    # The first signal stops the run with its results.
    first.terminate()
    first.communicate(timeout=20)
    assert commands.names(work / "deep") == ["here"]


def test_of_many_imports_into_one_file_one_is_there(
    tmp_path: Path, work: Path, prepared: ForkServerContext
) -> None:
    fabric = Path(__file__).parents[1] / "data" / "ft2_18" / "ibnetdiscover.txt"
    ended = commands.at_once(prepared, 6, "import", fabric, "--out", "fabric.toml", folder=tmp_path)
    assert sorted(code for code, _, _ in ended) == [0, 2, 2, 2, 2, 2]
    assert all(error.startswith("fabric.toml: ") for code, _, error in ended if code)
    assert commands.names(work) == ["fabric.toml"]
    becalm.load("fabric.toml")


def test_a_folder_that_appears_during_the_run_is_not_replaced(scenario: becalm.Scenario, work: Path) -> None:
    results = becalm.run(scenario)
    with (
        pytest.raises(becalm.ResultsError, match="out: was created by another process"),
        FOLDER.reserve("out") as place,
    ):
        (work / "out").mkdir()
        (work / "out" / "thesis.tex").touch()
        place.write(results.fill)
    assert commands.names(work) == ["out"]
    assert commands.names(work / "out") == ["thesis.tex"]


@pytest.mark.parametrize("links", [True, False])
def test_a_file_that_appears_meanwhile_is_not_replaced(
    work: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    def none(*_: object) -> None:
        raise PermissionError("no hard links here")

    if not links:
        monkeypatch.setattr(os, "link", none)
    with (
        pytest.raises(becalm.ResultsError, match="was created by another process"),
        folders.new_file(Path("a.txt")) as partial,
    ):
        partial.write_text("new")
        (work / "a.txt").write_text("old")
    assert (work / "a.txt").read_text() == "old"
    folders.write_new(Path("b.txt"), "new")
    assert (work / "b.txt").read_text() == "new"
    assert commands.names(work) == ["a.txt", "b.txt"]


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("file/out", "/work/file is not a folder"),
        ("x" * 300, "file name too long"),
        ("/proc/out", "no file can be created in /proc"),
        ("/dev/null/out", "/dev/null is not a folder"),
    ],
)
@pytest.mark.parametrize("command", ["run", "design"])
def test_what_cannot_be_written_is_reported_before_the_run(
    command: str, target: str, reason: str, file: Path, work: Path
) -> None:
    (work / "file").touch()
    what = [file, *commands.LONG] if command == "run" else ["max(r / 2, rmin)"]
    done = commands.becalm(command, *what, "--out", target, timeout=30)
    commands.check_message(done, f"{target}: cannot be written: ", reason)
    assert commands.names(work) == ["file"]


def test_a_read_only_disk_is_reported_before_the_run(file: Path, work: Path) -> None:
    # Root may write to folders without permission, but not to a disk that is mounted read-only.
    script = f"""
        mount -t tmpfs none {work} && mount -o remount,ro {work} || exit 77
        exec "$@"
    """
    command = ["unshare", "-rm", "sh", "-c", script, "sh", *commands.BECALM]
    arguments = commands.words(["run", file, "--out", work / "out", *commands.LONG])
    done = _in_namespace(command, arguments)
    commands.check_message(done, "out: cannot be written: read-only file system")


def test_reproduce_and_draw_replace_nothing(work: Path) -> None:
    picture = work / "figures" / "santos2003" / "fig3a.png"
    picture.parent.mkdir(parents=True)
    picture.write_text("mine")
    command = ("reproduce", "santos2003/fig3a")
    commands.check_message(commands.becalm(*command), "figures/santos2003/fig3a.png: already exists")
    done = commands.becalm(*command, "--overwrite")
    commands.check_message(done, "fig3a.png: was not written by becalm; not overwritten")
    assert picture.read_text() == "mine"
    assert commands.names(picture.parent) == ["fig3a.png"]
    done = commands.becalm("report", "nowhere", "--time", "1ms", "--out", picture)
    commands.check_message(done, f"fig3a.png: already exists; choose another file, or {REPLACE}")
    picture.unlink()
    assert commands.becalm(*command).returncode == 0
    assert commands.becalm(*command, "--overwrite").returncode == 0
    assert commands.names(picture.parent) == ["fig3a.csv", "fig3a.json", "fig3a.png"]


def _wait_for(path: Path) -> None:
    end = time.monotonic() + 20
    while not path.exists():
        assert time.monotonic() < end
        time.sleep(0.02)


def _in_namespace(command: list[str], arguments: list[str | bytes]) -> subprocess.CompletedProcess[str]:
    try:
        done = subprocess.run(
            [*command, *[os.fsdecode(each) for each in arguments]], capture_output=True, text=True, timeout=60
        )
    except FileNotFoundError:
        pytest.skip("`unshare` is not there")
    if done.returncode in (1, 77) and "becalm" not in done.stderr and "out:" not in done.stderr:
        pytest.skip(f"cannot mount here: {done.stderr.strip()}")
    return done
