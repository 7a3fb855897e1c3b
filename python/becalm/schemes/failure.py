"""Messages about exceptions in user-defined schemes, in one sentence."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent
_SHOWN = 60
"""Maximum length of an argument in a message."""


def explain(error: BaseException, call: str, arguments: tuple[Any, ...] | None) -> str:
    """Return a message about an exception in a call, with file, line, call and arguments."""
    shown = ", ".join(_show(each) for each in arguments or ())
    return f"{told(error)}, called as {call}({shown})"


def told(error: BaseException) -> str:
    """Return a message about an exception, with file and line."""
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).parent != _HERE
    ]
    at = f" in {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    text = "is not implemented" if isinstance(error, NotImplementedError) else str(error)
    kind = "" if isinstance(error, NotImplementedError) else f"{type(error).__name__}: "
    return f"{kind}{text}{at}"


def _show(value: Any) -> str:  # noqa: ANN401
    if type(value).__module__ != "becalm._core":
        return _short(repr(value))
    names = [
        name for name in dir(value) if not name.startswith("_") and not callable(getattr(type(value), name))
    ]
    if type(value).__name__ == "Switch":
        return "switch"
    fields = ", ".join(f"{name}={_short(repr(getattr(value, name)))}" for name in names)
    return f"{type(value).__name__}({fields})"


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
