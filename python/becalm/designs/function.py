"""Functions of a rate as users give them: Python functions or expressions; and their errors.

Rates are shares of the link's rate. An expression is a text such as `max(r / 2, rmin)`.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from numbers import Real
from typing import Any, TypeAlias

import numpy as np

from becalm.base.errors import DesignError
from becalm.base.mistakes import reason, short
from becalm.designs.hermite import Array

FUNCTIONS: dict[str, Callable[..., float]] = {
    "abs": abs,
    "exp": math.exp,
    "log": math.log,
    "max": max,
    "min": min,
    "sqrt": math.sqrt,
}
"""Functions that an expression may call."""

_NODES = (
    ast.Expression,
    ast.BinOp,
    ast.UnaryOp,
    ast.Call,
    ast.Name,
    ast.Load,
    ast.Constant,
    ast.Add,
    ast.Sub,
    ast.Mult,
    ast.Div,
    ast.Pow,
    ast.USub,
    ast.UAdd,
)


def compiled(text: str, rmin: float, rmax: float) -> Callable[[float], float]:
    """Return the function of the rate `r` that an expression defines.

    It may use `r`, `rmin`, `rmax`, numbers, `+ - * / **`, and the functions of `FUNCTIONS`.

    Raises:
        DesignError: anything else.

    """
    shown = short(text)
    try:
        tree = ast.parse(text.strip(), mode="eval")
        for node in ast.walk(tree):
            _check(node, shown)
            if isinstance(node, ast.Constant):
                # A power of floating-point numbers never takes for ever; one of integers may.
                node.value = float(node.value)  # type: ignore[arg-type]
        code = compile(tree, "<expression>", "eval")
    except SyntaxError as error:
        why = reason(ValueError(error.msg)) if "nested" not in error.msg else "is nested too deeply"
        raise DesignError(
            f"`{shown}`: not an expression: {why}; example: max(r - 0.05 * sqrt(r), rmin)"
        ) from error
    # Null bytes are a ValueError before Python 3.11.4.
    except (MemoryError, OverflowError, RecursionError, ValueError) as error:
        raise DesignError(f"`{shown}`: {reason(error)}; example: max(r - 0.05 * sqrt(r), rmin)") from error
    names = {**FUNCTIONS, "rmin": rmin, "rmax": rmax, "__builtins__": {}}

    def call(r: float) -> float:
        result: float = eval(code, names, {"r": r})
        return result

    return call


def _check(node: ast.AST, text: str) -> None:
    valid = f"r, rmin, rmax, numbers, + - * / **, {', '.join(FUNCTIONS)}"
    if isinstance(node, ast.Name) and node.id not in {"r", "rmin", "rmax", *FUNCTIONS}:
        raise DesignError(f"`{text}`: unknown name `{node.id}`; valid: {valid}")
    if isinstance(node, ast.Call) and not (isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS):
        called = node.func.id if isinstance(node.func, ast.Name) else type(node.func).__name__
        raise DesignError(f"`{text}`: `{called}` cannot be called; valid: {valid}")
    if isinstance(node, ast.Constant) and type(node.value) not in (int, float):
        raise DesignError(f"`{text}`: `{short(repr(node.value))}` is not a number; valid: {valid}")
    if not isinstance(node, _NODES):
        raise DesignError(f"`{text}`: `{type(node).__name__}` cannot be used; valid: {valid}")


RateFunction: TypeAlias = "str | Callable[[float], float]"
"""An expression in `r`, `rmin` and `rmax`, or a Python function."""

SLOWEST = 1e-6
"""Smallest rate that can be set."""
SLACK = 1e-9
"""Relative distance below which two rates are the same."""
POINTS = 1024
"""Number of rates at which a function is checked in equal ratios, and again in equal steps."""


class Function:
    """A function of a rate. Errors name the rate at which they occur."""

    def __init__(self, call: Callable[[float], Any], name: str, rmin: float, rmax: float) -> None:
        self.name = name
        self.rmin, self.rmax = rmin, rmax
        self._call = call

    def __call__(self, rates: Array) -> Array:
        """Return the values at `rates`; both lie between rmin and rmax.

        Raises:
            DesignError: the function raises, or its value is not a number between rmin and rmax.

        """
        return np.array([self._value(float(rate)) for rate in rates])

    def at(self, rate: float) -> str:
        """Return `f_dec(0.25)`."""
        return f"{self.name}({rate:.6g})"

    def _value(self, rate: float) -> float:
        try:
            value = self._call(rate)
        except Exception as error:
            raise DesignError(f"{self.at(rate)} raises {type(error).__name__}: {error}", rate) from error
        if isinstance(value, np.ndarray) and value.size == 1:
            value = value.item()
        if not isinstance(value, Real) or isinstance(value, bool):
            raise DesignError(f"{self.at(rate)} = {value!r}: must be a number", rate)
        value = float(value)
        if not math.isfinite(value):
            raise DesignError(f"{self.at(rate)} = {value}: must be a finite number", rate)
        if value < self.rmin * (1 - SLACK):
            raise DesignError(
                f"{self.at(rate)} = {value:.6g}: must not be below rmin = {self.rmin:.6g}; "
                "limit it, for example with max(..., rmin)",
                rate,
            )
        if value > self.rmax * (1 + SLACK):
            raise DesignError(
                f"{self.at(rate)} = {value:.6g}: must not be above rmax = {self.rmax:.6g}; "
                "limit it, for example with min(..., rmax)",
                rate,
            )
        return min(max(value, self.rmin), self.rmax)


def read(given: RateFunction, name: str, rmin: float, rmax: float) -> Function:
    """Make a function from a user's input.

    Raises:
        DesignError: the input is not a function.

    """
    check_rates(rmin, rmax)
    if isinstance(given, str):
        return Function(compiled(given, rmin, rmax), name, rmin, rmax)
    if callable(given):
        return Function(given, name, rmin, rmax)
    raise DesignError(f"{name}: must be a function or an expression, not {type(given).__name__}")


def check_rates(rmin: float, rmax: float) -> None:
    """Make sure that rmin and rmax are a valid range.

    Raises:
        DesignError: they are not.

    """
    if not SLOWEST <= rmin < rmax <= 1:
        raise DesignError(f"rmin = {rmin:g}, rmax = {rmax:g}: must be {SLOWEST:g} <= rmin < rmax <= 1")


def look(rmin: float, rmax: float) -> Array:
    """Return rates from rmin to rmax, closely spaced at both ends."""
    rates: Array = np.union1d(np.geomspace(rmin, rmax, POINTS), np.linspace(rmin, rmax, POINTS))
    rates = rates[np.concatenate([[True], np.diff(rates) > SLACK * rates[1:]])]
    rates[0], rates[-1] = rmin, rmax
    return rates


def check_decrease(f_dec: Function) -> None:
    """Make sure that a function can be a decrease.

    Raises:
        DesignError: it is not below the rate it decreases, falls as the rate rises, or is constant above
            rmin; with the rate.

    """
    rates = look(f_dec.rmin, f_dec.rmax)
    values = f_dec(rates)
    _refuse(
        f_dec, rates[1:], values[1:], values[1:] >= rates[1:] * (1 - 1e-12), "must be below the rate itself"
    )
    rmin = f_dec.rmin
    _refuse(f_dec, rates[:1], values[:1], values[:1] > rmin * (1 + SLACK), f"must be rmin = {rmin:.6g}")
    falls = np.diff(values) < -1e-12 * values[1:]
    before = [
        f"must not fall as the rate rises; {f_dec.at(r)} = {v:.6g}"
        for r, v in zip(rates, values, strict=True)
    ]
    _refuse(f_dec, rates[1:], values[1:], falls, before)
    still = (np.diff(values) < 1e-13 * values[1:]) & (values[:-1] > rmin * (1 + SLACK))
    before = [f"must rise with the rate above rmin; {f_dec.at(r)} is the same" for r in rates]
    _refuse(f_dec, rates[1:], values[1:], still, before)
    if values[-1] <= rmin * (1 + SLACK):
        raise DesignError(
            f"{f_dec.at(rates[-1])} = {values[-1]:.6g}: every decrease ends at rmin",
            float(rates[-1]),
        )


def check_increase(f_inc: Function) -> None:
    """Make sure that a function can be an increase.

    Raises:
        DesignError: it is not above the rate it increases; with the rate.

    """
    rates = look(f_inc.rmin, f_inc.rmax)[:-1]
    values = f_inc(rates)
    _refuse(f_inc, rates, values, values <= rates * (1 + 1e-13), "must be above the rate itself")


def _refuse(function: Function, rates: Array, values: Array, bad: Any, why: str | list[str]) -> None:  # noqa: ANN401
    if not np.any(bad):
        return
    first = int(np.argmax(bad))
    reason = why if isinstance(why, str) else why[first]
    rate = float(rates[first])
    raise DesignError(f"{function.at(rate)} = {values[first]:.6g}: {reason}", rate)
