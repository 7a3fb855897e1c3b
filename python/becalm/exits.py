"""How commands end: exit codes, and one clear message for what went wrong."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import typer

FAILED = 1
BAD_INPUT = 2
INTERRUPTED = 130


def guarded(command: Callable[..., None]) -> Callable[..., None]:
    """Turn what becalm raises into one clear message and an exit code."""

    @functools.wraps(command)
    def call(*args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        from becalm.errors import BecalmError, FabricError

        try:
            command(*args, **kwargs)
        except KeyboardInterrupt:
            stop("interrupted; nothing half-written was left behind", INTERRUPTED)
        except FabricError as error:
            stop(str(error), FAILED)
        except (BecalmError, OSError) as error:
            stop(told(error), BAD_INPUT)

    return call


def told(error: Exception) -> str:
    """Return an error as one line; what the system has against a file, in the order of all other messages."""
    if isinstance(error, FileNotFoundError):
        return f"{error.filename}: no such file"
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror[0].lower()}{error.strerror[1:]}"
    return str(error)


def stop(message: str, code: int) -> None:
    """Print a message on the error stream and leave."""
    typer.echo(message, err=True)
    raise typer.Exit(code)
