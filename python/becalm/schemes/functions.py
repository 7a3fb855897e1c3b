"""Tools for classes that Numba compiles: a decorator, and functions with equal results on all machines."""

from __future__ import annotations

from typing import Any, TypeVar

from becalm._core import exponential as core_exponential
from becalm._core import logarithm as core_logarithm
from becalm._core import power as core_power
from becalm.schemes.base import Scheme

_Class = TypeVar("_Class", bound=Scheme)
_MADE: dict[type[Scheme], Any] = {}
"""Cache of compiled classes, since Numba needs seconds for each."""


def native(cls: type[_Class]) -> type[_Class]:
    """Return the class, marked for compilation by Numba on first use. Requires the extra `becalm[native]`.

    The state must be annotated, as in `rate: float`, with `float`, `int` or `bool`, or with
    `becalm.Lanes[int]` for a value per output and lane of a switch. Methods may call each other and Numba
    functions, and use numbers from outside the class.

    """
    if cls not in _MADE:
        body = {
            "native": True,
            "name": cls.scheme_name(),
            "__module__": cls.__module__,
            "__doc__": cls.__doc__,
        }
        _MADE[cls] = type(cls.__name__, (cls,), body)
    made: type[_Class] = _MADE[cls]
    return made


def power(x: float, y: float) -> float:
    """Return x to the power of y, with the same bits on every machine."""
    return core_power(x, y)


def exponential(x: float) -> float:
    """Return e to the power of x, with the same bits on every machine."""
    return core_exponential(x)


def logarithm(x: float) -> float:
    """Return the natural logarithm of x, with the same bits on every machine."""
    return core_logarithm(x)
