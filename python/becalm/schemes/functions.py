"""Requirements of classes for Numba: a decorator, and functions with the same bits on every machine."""

from __future__ import annotations

from typing import Any, TypeVar

from becalm._core import exponential as core_exponential
from becalm._core import logarithm as core_logarithm
from becalm._core import power as core_power
from becalm.schemes.base import Scheme

_Class = TypeVar("_Class", bound=Scheme)
_MADE: dict[type[Scheme], Any] = {}
"""Classes that were compiled before: Numba takes seconds for each."""


def native(cls: type[_Class]) -> type[_Class]:
    """Return the class as one that Numba compiles when it is used: extra `becalm[native]`.

    The methods are those of the class. Its state must be annotated, as in `rate: float`: `float`, `int`,
    `bool`, and for each output and lane of a switch `becalm.Lanes[int]`. Methods may call each other and
    functions of Numba, and use numbers from outside the class.

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
