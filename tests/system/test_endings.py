"""Runs ended by a full disk, signals or a crash: no leftover files, no traceback."""

from __future__ import annotations

import errno
import itertools
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import becalm
import commands
from becalm.base import folders, parquet
from becalm.results import FOLDER, Results

KILLS = 51


@pytest.fixture(autouse=True)
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_a_disk_that_is_too_small_for_the_results(file: Path, work: Path) -> None:
    resource = pytest.importorskip("resource")

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 17, 1 << 17))

    changes = ("--set", "run.duration=20 ms", "--set", "observe.step=1 us")
    done = commands.becalm("run", file, "--out", "here", *changes, preexec_fn=limit)
    commands.check_message(done, "here: cannot be written: file too large")
    assert commands.names(work) == []


def test_a_full_disk(file: Path, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    script = f"""
        mount -t tmpfs -o size=300k none {disk} || exit 77
        "$@"; code=$?; ls -A {disk} >&2
        head -c 290000 /dev/zero > {disk}/full
        "$@" || ls -A {disk} >&2; exit $code
    """
    arguments = [str(file), "--out", f"{disk}/here", "-q", "--set", "run.duration=20 ms"]
    step = ["--set", "observe.step=1 us"]
    command = ["unshare", "-rm", "sh", "-c", script, "sh", *commands.BECALM, "run", *arguments, *step]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except FileNotFoundError:
        pytest.skip("`unshare` is not there")
    if "here:" not in done.stderr:
        pytest.skip(f"cannot mount here: {done.stderr.strip()}")
    assert done.returncode == 2
    # One message while tables are written, and one before the run.
    message = f"{disk}/here: cannot be written: no space left on device"
    assert done.stderr.splitlines() == [message, message, "full"]


@pytest.mark.parametrize(("number", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_during_the_run(file: Path, work: Path, number: str, code: int) -> None:
    run = commands.start("run", file, *commands.LONG)
    _wait_for(work / "results" / ".partial.small")
    time.sleep(0.3)
    # The first Ctrl-C or SIGTERM asks the run to stop, and the second ends it.
    count = 1 if number == "SIGHUP" else 2
    for _ in range(count):
        run.send_signal(getattr(signal, number))
        time.sleep(0.02)
    out, error = run.communicate(timeout=120)
    assert (run.returncode, out) == (code, "")
    word = "interrupted" if number == "SIGINT" else "terminated"
    asked = "stopping: the results so far follow; once more to end at once\n" if count == 2 else ""
    assert error == f"{asked}{word}; no half-written files remain\n"
    assert commands.names(work) == []


def test_a_signal_while_the_results_are_written(
    scenario: becalm.Scenario, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer that goes on only when it is asked to end: the write ends without being finished."""
    results = becalm.run(scenario)
    rows = 600_000
    numbers = pl.Series(range(rows)).sample(rows, shuffle=True, seed=1)
    results.tables["big"] = pl.DataFrame({f"column{index}": numbers for index in range(4)})
    results.units["big"] = {}
    place = folders._beside(Path("out"), "partial")
    write = parquet._Writer.write

    def stuck(writer: parquet._Writer, data: bytes) -> int:
        big = place / "big.parquet"
        if big.exists() and big.stat().st_size > 1_000_000:
            os.kill(os.getpid(), signal.SIGINT)
            for _ in range(6000):
                writer.check()
                time.sleep(0.01)
            raise AssertionError("the writer was not told to end")
        return write(writer, data)

    monkeypatch.setattr(parquet._Writer, "write", stuck)
    with pytest.raises(KeyboardInterrupt):
        results.save("out")
    assert commands.names(work) == []


def test_killed_runs_lose_nothing_and_their_names_can_be_used_again(file: Path, work: Path) -> None:
    assert commands.becalm("run", file, "--out", "kept", "-q").returncode == 0
    kept = becalm.load_results("kept").fingerprint
    run = commands.start("run", file, "--out", "kept", "--overwrite", *commands.LONG)
    _wait_for(work / ".partial.kept")
    run.kill()
    run.communicate()
    assert becalm.load_results("kept").fingerprint == kept
    assert commands.names(work) == [".lock.kept", ".partial.kept", "kept"]
    done = commands.becalm("run", file, "--out", "kept", "--overwrite", "-q", "--seed", 2)
    assert (done.returncode, done.stderr) == (0, "")
    assert becalm.load_results("kept").fingerprint != kept
    assert commands.names(work) == ["kept"]


def _replace(work: str, place: int) -> None:
    """Replace the contents of `kept` with `new`, and exit at the given disk-changing call."""
    os.chdir(work)
    steps = itertools.count(1)

    def stepping(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: object, **settings: object) -> object:
            if next(steps) == place:
                os._exit(9)
            return function(*arguments, **settings)

        return call

    def fill(folder: Path, _: Callable[[], None]) -> None:
        for file in Path("new").iterdir():
            (folder / file.name).write_bytes(file.read_bytes())

    for name in ("rename", "fsync", "mkdir", "unlink", "rmdir"):
        setattr(os, name, stepping(getattr(os, name)))
    Path.write_bytes = stepping(Path.write_bytes)  # type: ignore[method-assign]
    FOLDER.write("kept", fill, overwrite=True)


def test_a_crash_at_any_step_of_replacing_loses_nothing(
    scenario: becalm.Scenario, work: Path, prepared: ForkServerContext
) -> None:
    """Crash at every disk-changing call; `os._exit` skips all cleanup, like SIGKILL."""
    contents = []
    for seed, name in enumerate(("kept", "new")):
        folder = becalm.run(scenario.replace({"run.seed": seed})).save(name)
        contents.append({path.name: path.read_bytes() for path in folder.iterdir()})
    died = 0
    for place in range(1, KILLS + 1):
        writer = prepared.Process(target=_replace, args=(str(work), place))
        writer.start()
        writer.join()
        assert writer.exitcode in (0, 9)
        died += writer.exitcode == 9
        # The next call repairs the folder before it begins.
        with FOLDER.reserve("kept", overwrite=True):
            pass
        assert commands.names(work) == ["kept", "new"]
        assert {path.name: path.read_bytes() for path in (work / "kept").iterdir()} in contents
        if writer.exitcode == 0:
            break
    assert died > 20
    assert writer.exitcode == 0


GUIDED = ("--guideline", "becalm", "--contributors", "2")
"""Options with which `manage` runs nothing."""


def test_all_files_are_there_where_nobody_reads_what_is_printed(file: Path, work: Path) -> None:
    with commands.start("manage", file, *GUIDED, "--out", "managed.toml", "--opensm", "cc.conf") as managing:
        assert managing.stdout is not None
        managing.stdout.close()
    assert managing.returncode == 1
    assert commands.names(work) == ["cc.conf", "cc.conf.rollback", "managed.toml"]


def test_an_error_while_writing_leaves_the_old_folder(
    scenario: becalm.Scenario, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = becalm.run(scenario)
    results.save("out")
    before = (work / "out" / "manifest.json").read_bytes()

    def fail(_: Results, folder: Path, __: Callable[[], None]) -> None:
        (folder / "groups.parquet").write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Results, "fill", fail)
    with pytest.raises(becalm.ResultsError, match="out: cannot be written: no space left"):
        results.save("out", overwrite=True)
    assert (work / "out" / "manifest.json").read_bytes() == before
    assert commands.names(work) == ["out"]


def _wait_for(path: Path, size: int = 0) -> None:
    end = time.monotonic() + 20
    while not path.exists() or path.stat().st_size < size:
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize("number", ["ENOLCK", "EOPNOTSUPP"])
def test_a_file_system_without_locks(
    scenario: becalm.Scenario, work: Path, number: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fcntl = pytest.importorskip("fcntl")

    def flock(*_: object) -> None:
        raise OSError(getattr(errno, number), "no locks available")

    monkeypatch.setattr(fcntl, "flock", flock)
    results = becalm.run(scenario)
    with FOLDER.reserve("out") as place:
        assert commands.names(work) == [".held.out", ".partial.out"]
        with pytest.raises(folders.Taken, match="another becalm process is writing it, or was killed"):
            results.save("out")
        place.write(results.fill)
    assert commands.names(work) == ["out"]
    assert becalm.load_results("out").fingerprint == results.fingerprint


@pytest.mark.parametrize(("number", "message"), [("SIGINT", "interrupted"), ("SIGTERM", "terminated")])
def test_a_signal_while_the_command_loads(file: Path, work: Path, number: str, message: str) -> None:
    """A signal ends the command with or without results, or precedes Python's handler."""
    signalled = getattr(signal, number)
    codes: list[int] = []
    for step in range(100):
        # A busy machine takes longer to load the command.
        if step >= 12 and 128 + signalled in codes:
            break
        with commands.start("run", file, *commands.LONG) as run:
            time.sleep(0.1 * step)
            run.send_signal(signalled)
            out, error = run.communicate(timeout=120)
        codes.append(run.returncode)
        if run.returncode == 128 + signalled and out:
            # The run had begun: it keeps the results so far.
            assert error.endswith("stopped by a signal; the results end there\n")
            assert commands.names(work) == ["results"]
            shutil.rmtree(work / "results")
        elif run.returncode == 128 + signalled:
            assert error == f"{message}; no half-written files remain\n"
        else:
            # Python was loading its own modules, which ends with 1, or had not reached the command line.
            assert run.returncode in (-signalled, 1), error
            assert "cli" not in error
        assert commands.names(work) == []
    assert 128 + signalled in codes
