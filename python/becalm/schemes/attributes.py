"""Attributes of `self` in compiled classes must be declared. Numba's own message does not name them."""

from __future__ import annotations

import dis
import inspect
from collections.abc import Callable, Iterator
from typing import Any

from becalm.errors import SchemeError
from becalm.schemes.base import Scheme
from becalm.schemes.objects import seam_class


def check(cls: type[Scheme], fields: set[str], lanes: set[str]) -> None:
    """Check that the methods of a class use only declared attributes.

    Args:
        cls: the class.
        fields: names of the fields of its state.
        lanes: names of its fields per lane.

    Raises:
        SchemeError: a method uses another attribute.

    """
    for name, method in _methods(cls):
        for attribute, line, is_set in _used(method):
            if attribute in fields or (not is_set and (attribute in lanes or hasattr(cls, attribute))):
                continue
            where = f"{method.__code__.co_filename}:{line}: `{cls.__name__}.{name}`"
            how = f"annotate its state in the class, as in `{attribute}: float`"
            raise SchemeError(
                f"{where} {'sets' if is_set else 'reads'} `self.{attribute}`, which is not declared; {how}"
            )


def _methods(cls: type[Scheme]) -> Iterator[tuple[str, Callable[..., Any]]]:
    base = seam_class(cls)
    for name in dir(cls):
        own = inspect.getattr_static(cls, name)
        if inspect.isfunction(own) and own is not inspect.getattr_static(base, name, None):
            yield name, own


def _used(method: Callable[..., Any]) -> Iterator[tuple[str, int, bool]]:
    """Yield the attributes of the first argument: name, line, and whether it is set."""
    code = method.__code__
    own, before = code.co_varnames[0] if code.co_argcount else None, None
    for step in dis.get_instructions(code):
        loaded = before.argval if before is not None and before.opname.startswith("LOAD_FAST") else None
        # Newer versions of Python load two variables at once.
        if own is not None and (loaded[-1] if isinstance(loaded, tuple) else loaded) == own:
            line = (step.positions.lineno if step.positions else None) or code.co_firstlineno
            if step.opname in ("STORE_ATTR", "LOAD_ATTR", "LOAD_METHOD"):
                yield str(step.argval), line, step.opname == "STORE_ATTR"
        before = step
