"""How a command ends: one message, an exit code, nothing half-written."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, NoReturn

from becalm.mistakes import printable

FAILED = 1
BAD_INPUT = 2
INTERRUPTED = 130
_SIGNALLED = 128
"""A shell adds the number of the signal to this."""


class Terminated(KeyboardInterrupt):
    """Another program has asked for the end, with a signal."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def guarded(command: Callable[..., None]) -> Callable[..., None]:
    """Turn what becalm raises into one clear message and an exit code."""

    @functools.wraps(command)
    def call(*args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        from becalm.errors import BecalmError, FabricError

        try:
            command(*args, **kwargs)
        except Terminated as error:
            stop("terminated; nothing half-written was left behind", _SIGNALLED + error.number)
        except KeyboardInterrupt:
            stop("interrupted; nothing half-written was left behind", INTERRUPTED)
        except FabricError as error:
            stop(str(error), FAILED)
        except BrokenPipeError:
            # The reader of the output has seen enough: no mistake of anybody.
            raise
        except (BecalmError, OSError) as error:
            stop(told(error), BAD_INPUT)

    return call


def told(error: Exception) -> str:
    """Return an error as one line; what the system has against a file, in the order of all other messages."""
    if isinstance(error, FileNotFoundError) and error.filename:
        return f"{os.fsdecode(error.filename)}: no such file"
    if isinstance(error, OSError) and error.strerror:
        reason = f"{error.strerror[0].lower()}{error.strerror[1:]}"
        return f"{os.fsdecode(error.filename)}: {reason}" if error.filename else reason
    return str(error)


def stop(message: str, code: int) -> NoReturn:
    """Print a message on the error stream and leave."""
    import typer

    typer.echo(printable(message), err=True)
    raise typer.Exit(code)


def prepare() -> None:
    """Make ready for output that is not in the terminal's character set, and for signals to end at."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # What is ignored stays so: `nohup` relies on it.
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _terminate)


def _terminate(number: int, _: FrameType | None) -> None:
    # A second one must not interrupt the cleaning up.
    with contextlib.suppress(ValueError, OSError):
        signal.signal(number, signal.SIG_IGN)
    raise Terminated(number)
