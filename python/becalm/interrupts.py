"""Ctrl-C while the command line is loading: it exits as it does later, with a message and no traceback."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

INTERRUPTED = 130
"""Exit code that a shell uses for this signal."""
MESSAGE = "interrupted; no half-written files remain"
_asked = False
"""Whether Ctrl-C was pressed while a command ran."""


def is_command(arguments: list[str]) -> bool:
    """Whether a process is `becalm` or `python -m becalm`, not a program that uses the package."""
    started = next((at for at, each in enumerate(arguments) if not each.startswith("-") and at), 0)
    module = arguments[started - 1 : started + 1] == ["-m", "becalm"]
    return module or os.path.basename(arguments[started]).partition(".")[0] == "becalm"  # noqa: PTH119


def while_loading() -> None:
    """Handle Ctrl-C until `when_loaded`; an ignored signal stays ignored."""
    if is_command(sys.orig_argv) and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def when_loaded() -> None:
    """Leave Ctrl-C to a command, which exits by an exception; before that typer would exit silently."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, _interrupt)


def check() -> None:
    """Raise a Ctrl-C again that was lost in an import: some libraries catch all its exceptions."""
    if _asked:
        raise KeyboardInterrupt


def _interrupt(_: int, __: FrameType | None) -> None:
    global _asked
    _asked = True
    raise KeyboardInterrupt


def _end(_: int, __: FrameType | None) -> None:
    # Nothing has begun, and an exception might be lost in the module being imported.
    os.write(2, f"{MESSAGE}\n".encode())
    os._exit(INTERRUPTED)


while_loading()
