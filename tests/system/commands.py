"""The command line in processes of its own, as a user has it."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

BECALM = (sys.executable, "-m", "becalm")
LONG = ("--set", "run.duration=100 s", "--set", "observe.links=[]")
"""A run that does not end by itself."""


def becalm(*arguments: object, **how: object) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    settings = {"capture_output": True, "text": True, "timeout": 60, "errors": "backslashreplace", **how}
    return subprocess.run([*BECALM, *words(arguments)], **settings)  # type: ignore[call-overload, no-any-return]


def start(*arguments: object, **how: object) -> subprocess.Popen[str]:
    """Begin a command, with signals as a terminal has them: under `nohup`, children would ignore SIGHUP."""
    settings = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **how}
    if hasattr(signal, "SIGHUP"):
        settings["preexec_fn"] = partial(signal.signal, signal.SIGHUP, signal.SIG_DFL)
    return subprocess.Popen([*BECALM, *words(arguments)], **settings)  # type: ignore[call-overload, no-any-return]


def words(arguments: Sequence[object]) -> list[str | bytes]:
    return [each if isinstance(each, bytes) else str(each) for each in arguments]


def names(folder: Path) -> list[str]:
    """Return everything in a folder, hidden files as well."""
    return sorted(path.name for path in folder.iterdir())


def check_message(done: subprocess.CompletedProcess[str], *expected: str, code: int = 2) -> None:
    """Make sure that a command printed one message, and nothing else."""
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    for part in expected:
        assert part in done.stderr
