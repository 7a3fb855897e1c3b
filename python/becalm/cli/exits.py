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

from becalm import interrupts
from becalm.interrupts import INTERRUPTED, MESSAGE
from becalm.mistakes import printable

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
        from becalm.errors import BecalmError, FabricError
        from becalm.machine import check_addresses

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
    """Return an error as one line: the file first, then the system's reason."""
    if isinstance(error, FileNotFoundError) and error.filename:
        return f"{os.fsdecode(error.filename)}: no such file{_hint(os.fsdecode(error.filename))}"
    if isinstance(error, IsADirectoryError) and error.filename:
        return f"{os.fsdecode(error.filename)}: is a folder; valid: a file"
    if isinstance(error, OSError) and error.strerror:
        reason = f"{error.strerror[0].lower()}{error.strerror[1:]}"
        return f"{os.fsdecode(error.filename)}: {reason}" if error.filename else reason
    return str(error)


def _hint(path: str) -> str:
    """Return what the user of a missing file may have meant: an example, or a file with a similar name."""
    from becalm import examples
    from becalm.mistakes import nearest

    file = Path(path)
    if file.stem in examples.names():
        return f"; the example of this name: `becalm run --example {file.stem}`"
    with contextlib.suppress(OSError):
        return nearest(file.name, (each.name for each in file.parent.iterdir()))
    return ""


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
