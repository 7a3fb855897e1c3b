"""Functions of a rate written as text: `max(r / 2, rmin)`."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable

from becalm.errors import DesignError
from becalm.mistakes import reason, short

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
    except (MemoryError, OverflowError, RecursionError, UnicodeError) as error:
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
