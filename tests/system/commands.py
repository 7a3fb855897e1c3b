"""Runs the command line in separate processes, like a user."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any

BECALM = (sys.executable, "-m", "becalm")
LONG = ("--set", "run.duration=100 s", "--set", "observe.links=[]")
"""A run that does not end by itself."""


def becalm(*arguments: object, **how: object) -> subprocess.CompletedProcess[str]:
    """Run a command until it ends."""
    settings = {"capture_output": True, "text": True, "timeout": 60, "errors": "backslashreplace", **how}
    return subprocess.run([*BECALM, *words(arguments)], **settings)  # type: ignore[call-overload, no-any-return]


def start(*arguments: object, **how: object) -> subprocess.Popen[str]:
    """Start a command with a terminal's signal handling; under `nohup`, it would ignore SIGHUP."""
    settings = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **how}
    if hasattr(signal, "SIGHUP"):
        settings["preexec_fn"] = partial(signal.signal, signal.SIGHUP, signal.SIG_DFL)
    return subprocess.Popen([*BECALM, *words(arguments)], **settings)  # type: ignore[call-overload, no-any-return]


def at_once(
    prepared: ForkServerContext, count: int, *arguments: object, folder: Path
) -> list[tuple[int, str, str]]:
    """Run `count` copies of a command in parallel; return exit codes and output."""
    barrier = prepared.Barrier(count)
    places = [folder / f"{number}" for number in range(count)]
    given = [(words(arguments), str(Path.cwd()), str(place), barrier) for place in places]
    processes = [prepared.Process(target=_command, args=each, daemon=True) for each in given]
    for process in processes:
        process.start()
    for process in processes:
        process.join(timeout=60)
    codes = [-1 if process.exitcode is None else process.exitcode for process in processes]
    output = [(Path(f"{place}.out").read_text(), Path(f"{place}.err").read_text()) for place in places]
    return [(code, out, error) for code, (out, error) in zip(codes, output, strict=True)]


def _command(arguments: list[str], work: str, place: str, barrier: Any) -> None:  # noqa: ANN401
    """Run a command in this process, with files instead of a terminal."""
    os.chdir(work)
    for stream, end in ((1, ".out"), (2, ".err")):
        os.dup2(os.open(place + end, os.O_WRONLY | os.O_CREAT, 0o600), stream)
    from becalm.cli import main

    sys.argv = ["becalm", *arguments]
    barrier.wait(timeout=60)
    main()


def words(arguments: Sequence[object]) -> list[str | bytes]:
    return [each if isinstance(each, bytes) else str(each) for each in arguments]


def names(folder: Path) -> list[str]:
    """Return the names of all files in a folder, including hidden ones."""
    return sorted(path.name for path in folder.iterdir())


def check_message(done: subprocess.CompletedProcess[str], *expected: str, code: int = 2) -> None:
    """Check that a command printed one message and nothing else."""
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    for part in expected:
        assert part in done.stderr
