"""The end of a command: one message, an exit code, no half-written files."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from becalm.base import interrupts
from becalm.base.errors import ScenarioError
from becalm.base.interrupts import INTERRUPTED, MESSAGE
from becalm.base.mistakes import printable

FAILED = 1
BAD_INPUT = 2
SIGNALLED = 128
"""Base of the shell's exit codes for signals, to which the signal number is added."""
TERMINATED = "terminated; no half-written files remain"


class Terminated(KeyboardInterrupt):
    """Another program ended this one with a signal."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def guarded(command: Callable[..., None]) -> Callable[..., None]:
    """Turn an exception into one clear message and an exit code."""

    @functools.wraps(command)
    def call(*args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        from becalm.base.errors import BecalmError, FabricError
        from becalm.base.machine import check_addresses

        try:
            interrupts.when_loaded()
            check_addresses()
            command(*args, **kwargs)
        except Terminated as error:
            stop(TERMINATED, SIGNALLED + error.number)
        except KeyboardInterrupt:
            stop(MESSAGE, INTERRUPTED)
        except FabricError as error:
            stop(str(error), FAILED)
        except BrokenPipeError:
            # Not an error: the reader closed the pipe, as `head` does.
            raise
        except (BecalmError, OSError) as error:
            stop(error_text(error), BAD_INPUT)
        except MemoryError:
            stop("out of memory; no half-written files remain; see --max-memory", FAILED)

    return call


def error_text(error: Exception) -> str:
    """Return an error in words: the file first, then the reason, in one line if it is the system's."""
    if isinstance(error, ScenarioError):
        return _other_kind(error) or str(error)
    if isinstance(error, FileNotFoundError) and error.filename:
        return f"{os.fsdecode(error.filename)}: no such file{_hint(os.fsdecode(error.filename))}"
    if isinstance(error, IsADirectoryError) and error.filename:
        return f"{os.fsdecode(error.filename)}: is a folder; valid: a file{_inside(Path(error.filename))}"
    if isinstance(error, OSError) and error.strerror:
        reason = f"{error.strerror[0].lower()}{error.strerror[1:]}"
        return f"{os.fsdecode(error.filename)}: {reason}" if error.filename else reason
    return str(error)


def _hint(path: str) -> str:
    """Return what the user of a missing file may have meant: an example, or a file with a similar name."""
    from becalm.base.mistakes import nearest_file
    from becalm.scenario import examples

    file = Path(path)
    if path.startswith(("http:/", "https:/")):
        return "; becalm opens no addresses: save the page as a file first"
    if file.stem in examples.names():
        return f"; the example of this name: `becalm run --example {file.stem}`"
    with contextlib.suppress(OSError):
        if near := nearest_file(file):
            return near
    return "; `becalm list examples` names scenarios to start with" if file.suffix == ".toml" else ""


def _inside(folder: Path) -> str:
    """Return a TOML file of a folder that was given instead of a file."""
    with contextlib.suppress(OSError):
        return "".join(f", such as `{each}`" for each in sorted(folder.glob("*.toml"))[:1])
    return ""


def _other_kind(error: ScenarioError) -> str:
    """Return the message for a file of another kind than its reader expects; empty if it may be of that kind.

    Errors of TOML's syntax tell what was expected; every reader may find that a file is not text.
    """
    from becalm.base.mistakes import NO_TEXT, NO_TOML

    syntax = any(each["problem"].startswith(NO_TOML) for each in error.mistakes)
    if not (syntax or NO_TEXT in str(error)) or not Path(error.file).is_file():
        return ""
    from becalm.opensm import foreign

    looks = foreign.looks(error.file, foreign.SCENARIO)
    mistyped = Path(error.file).suffix == ".toml" and looks is not None and looks.startswith(foreign.NOTHING)
    if looks in (None, foreign.TOML) or mistyped:
        return ""
    if not syntax:
        return f"{error}; it looks like {looks}"
    step = "" if ";" in looks else f"; valid: {foreign.SCENARIO.valid}"
    return f"{error.file}: is not a scenario, sweep or tuning (.toml); it looks like {looks}{step}"


def stop(message: str, code: int) -> NoReturn:
    """Print a message on the error stream and exit."""
    import typer

    typer.echo(printable(message), err=True)
    raise typer.Exit(code)


def prepare() -> None:
    """Prepare for characters that the terminal cannot show, and for signals that end the program."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # An ignored signal stays ignored: `nohup` relies on it.
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _terminate)


def _terminate(number: int, _: FrameType | None) -> None:
    if not interrupts.loaded:
        # No work has started, and typer would end with the code of Ctrl-C.
        os.write(2, f"{TERMINATED}\n".encode())
        os._exit(SIGNALLED + number)
    # A second signal must not interrupt the cleanup.
    with contextlib.suppress(ValueError, OSError):
        signal.signal(number, signal.SIG_IGN)
    raise Terminated(number)
