"""Functions of a rate written as text: `max(r / 2, rmin)`."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable

from becalm.errors import DesignError

FUNCTIONS: dict[str, Callable[..., float]] = {
    "abs": abs,
    "exp": math.exp,
    "log": math.log,
    "max": max,
    "min": min,
    "sqrt": math.sqrt,
}
"""What an expression may call."""

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
    """Return the function of the rate `r` that an expression stands for.

    It may use `r`, `rmin`, `rmax`, numbers, `+ - * / **`, and the functions of `FUNCTIONS`.

    Raises:
        DesignError: anything else.

    """
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        raise DesignError(
            f"`{text}`: not an expression: {reason}; such as max(r - 0.05 * sqrt(r), rmin)"
        ) from error
    for node in ast.walk(tree):
        _check(node, text)
    code = compile(ast.fix_missing_locations(_Floats().visit(tree)), "<expression>", "eval")
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
        raise DesignError(f"`{text}`: `{ast.unparse(node.func)}` cannot be called; valid: {valid}")
    if isinstance(node, ast.Constant) and type(node.value) not in (int, float):
        raise DesignError(f"`{text}`: `{node.value!r}` is not a number; valid: {valid}")
    if not isinstance(node, _NODES):
        raise DesignError(f"`{text}`: `{type(node).__name__}` cannot be used; valid: {valid}")


class _Floats(ast.NodeTransformer):
    """Integers become floating-point numbers, so that no power of them takes for ever."""

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        try:
            return ast.copy_location(ast.Constant(float(str(node.value))), node)
        except (OverflowError, ValueError) as error:
            raise DesignError("an integer in the expression has too many digits") from error
