"""Exceptions in compiled methods. Numba prints them and goes on; becalm ends the run with a message.

A wrapper sets `failed` before a method and clears it after the method, which an exception skips. Numba then
passes the exception to `sys.unraisablehook`, where its text is taken.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from numba.core.callconv import CPUCallConv
from numba.core.cpu import CPUContext
from numba.core.lowering import BaseLower

from becalm._core import raised
from becalm.schemes.failure import told

_MARK = "a compiled scheme of becalm"
"""The object that Numba names with an exception in a function that `marked` has compiled."""


def marked(compile_: Callable[[Any], Any], function: Callable[..., Any]) -> Any:  # noqa: ANN401
    """Compile a function for C whose exceptions belong to the run that calls it."""
    if getattr(sys.unraisablehook, "before", None) is None:
        sys.unraisablehook = _hook(sys.unraisablehook)
    # Numba keeps the name of its context in the machine code, to print it with an exception.
    before, CPUContext.__repr__ = CPUContext.__repr__, lambda _: _MARK
    try:
        return compile_(function)
    finally:
        CPUContext.__repr__ = before


def _hook(before: Callable[[Any], object]) -> Callable[[Any], object]:
    def hook(unraisable: Any) -> None:  # noqa: ANN401
        if unraisable.object == _MARK:
            raised(told(unraisable.exc_value))
        else:
            before(unraisable)

    hook.before = before  # type: ignore[attr-defined]
    return hook


def _located(
    self: Any,  # noqa: ANN401
    builder: Any,  # noqa: ANN401
    exc: Any,  # noqa: ANN401
    exc_args: Any = None,  # noqa: ANN401
    loc: Any = None,  # noqa: ANN401
    func_name: Any = None,  # noqa: ANN401
) -> None:
    """Give an exception of Numba's own, such as a division by zero, the line that is being compiled."""
    if loc is None and (lower := _lowering()) is not None:
        loc, func_name = lower.loc, lower.func_ir.func_id.func_name
    _static(self, builder, exc, exc_args=exc_args, loc=loc, func_name=func_name)


def _lowering() -> Any:  # noqa: ANN401
    """Return the innermost step of Numba that is turning a line into machine code."""
    frame = sys._getframe()
    while frame is not None:
        own = frame.f_locals.get("self")
        if isinstance(own, BaseLower):
            return own
        frame = frame.f_back  # type: ignore[assignment]
    return None


_static = CPUCallConv.set_static_user_exc
CPUCallConv.set_static_user_exc = _located
