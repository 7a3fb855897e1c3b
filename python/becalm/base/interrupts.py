"""Ctrl-C while the command line is loading: exit with a message and no traceback, as later."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

INTERRUPTED = 130
"""The shell's exit code for this signal."""
MESSAGE = "interrupted; no half-written files remain"
loaded = False
"""Whether a command runs."""
_asked = False
"""Whether Ctrl-C was pressed while a command ran."""


def is_command(arguments: list[str]) -> bool:
    """Whether a process is `becalm` or `python -m becalm` rather than a program that uses the package."""
    started = next((at for at, each in enumerate(arguments) if not each.startswith("-") and at), 0)
    module = arguments[started - 1 : started + 1] == ["-m", "becalm"]
    return module or os.path.basename(arguments[started]).partition(".")[0] == "becalm"  # noqa: PTH119


def while_loading() -> None:
    """Handle Ctrl-C until `when_loaded`. An ignored signal stays ignored."""
    if is_command(sys.orig_argv) and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def when_loaded() -> None:
    """Let Ctrl-C raise an exception in the command, where typer would otherwise exit silently."""
    global loaded
    loaded = True
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, _interrupt)


def check() -> None:
    """Raise Ctrl-C again if an import lost it. Some libraries catch all exceptions of an import."""
    if _asked:
        raise KeyboardInterrupt


def _interrupt(_: int, __: FrameType | None) -> None:
    global _asked
    _asked = True
    raise KeyboardInterrupt


def _end(_: int, __: FrameType | None) -> None:
    # No work has started, and the module being imported might swallow an exception.
    os.write(2, f"{MESSAGE}\n".encode())
    os._exit(INTERRUPTED)


while_loading()
