"""Converts classes to declarations for the core, in the types of `becalm.h`."""

from __future__ import annotations

import ctypes
import hashlib
import inspect
import sys
from pathlib import Path
from typing import Any

from becalm._core import Scheme as CoreScheme
from becalm.base.errors import SchemeError
from becalm.schemes import abi
from becalm.schemes.base import Echo, Marker, Parameter, Response, Scheme
from becalm.schemes.objects import defines, factory, properties, seam_class, seam_of

_TRUTHS = ("moves_window", "counts_marks", "uses_rtt", "sees_passing", "needs_buffer", "needs_credit")


class Declaration:
    """A `becalm_scheme` in memory, and all objects that it points to."""

    def __init__(self, cls: type[Scheme], functions: Any = None) -> None:  # noqa: ANN401
        parameters = cls.parameters()
        self._kept: list[Any] = [functions]
        self._parameters = (abi.Parameter * max(1, len(parameters)))()
        for place, (name, own) in enumerate(parameters.items()):
            self._parameters[place] = self._parameter(name, own)
        doc = (inspect.getdoc(cls) or "").split("\n\n")[0].replace("\n", " ")
        self.raw = abi.Scheme(
            abi=abi.CONSTANTS["ABI"],
            seam=abi.CONSTANTS[seam_of(cls).upper()],
            name=cls.scheme_name().encode(),
            doc=doc.encode(),
            parameters=ctypes.addressof(self._parameters),
            parameter_count=len(parameters),
            functions=None if functions is None else ctypes.addressof(functions),
        )

    def _parameter(self, name: str, own: Parameter) -> Any:  # noqa: ANN401
        number = own.kind == "number"
        least, most = (-sys.float_info.max, sys.float_info.max) if number else (-(2**63), 2**63 - 1)
        if own.kind == "time":
            least = 0
        words = (ctypes.c_char_p * max(1, len(own.words)))(*(word.encode() for word in own.words))
        self._kept.append(words)

        def value(given: Any) -> Any:  # noqa: ANN401
            return abi.Value(number=given) if number else abi.Value(integer=given)

        return abi.Parameter(
            name=name.encode(),
            unit=own.unit.encode(),
            doc=own.doc.encode(),
            words=ctypes.addressof(words),
            kind=abi.CONSTANTS[own.kind.upper()],
            word_count=len(own.words),
            fallback=value(own.value(own.default)),
            least=value(least if own.least is None else own.value(own.least)),
            most=value(most if own.most is None else own.value(own.most)),
        )


def declare(cls: type[Scheme], origin: str | None = None) -> CoreScheme:
    """Return the scheme of a class, for the core.

    Raises:
        SchemeError: the class cannot be a scheme.

    """
    origin = origin or origin_of(cls)
    base = seam_class(cls)
    must = {Response: "on_ack", Marker: "departing", Echo: "answer"}[base]
    if not defines(cls, must):
        raise SchemeError(f"{origin}: lacks the required method `{must}`")
    try:
        _check(cls)
        if cls.native:
            from becalm.schemes.compiled import functions

            declaration, make = Declaration(cls, functions(cls)), None
        else:
            declaration, make = Declaration(cls), factory(cls)
        address = ctypes.addressof(declaration.raw)
        return CoreScheme(address, origin, hash_of(cls), declaration, make, properties(cls))
    except ValueError as error:
        text = str(error)
        raise SchemeError(text if text.startswith(origin) else f"{origin}: {text}") from error


def _check(cls: type[Scheme]) -> None:
    """Check the types of a class's properties.

    Raises:
        ValueError: a property has another type.

    """
    for name in _TRUTHS:
        if not isinstance(own := getattr(cls, name, False), bool):
            raise ValueError(f"{name} = {own!r}: must be True or False")
    for name in ("trail_bytes", "ack_every"):
        own = getattr(cls, name, 0)
        if not isinstance(own, Parameter) and (type(own) is not int or not 0 <= own < 2**32):
            raise ValueError(f"{name} = {own!r}: must be a whole number, at least 0")


def origin_of(cls: type[Scheme]) -> str:
    """Return the file and the name of a class, as users write them."""
    file = _file_of(cls)
    return f"{cls.__module__ if file is None else file.name}:{cls.__name__}"


def hash_of(cls: type[Scheme]) -> str:
    """Return the SHA-256 of a class's file, or of the class's source if it has no file."""
    file = _file_of(cls)
    if file is not None:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    parts = sorted((name, own) for name, own in vars(cls).items() if hasattr(own, "__code__"))
    parts += [(name, own.default) for name, own in cls.parameters().items()]
    text = repr([(name, _code(own)) for name, own in parts])
    return hashlib.sha256(text.encode()).hexdigest()


def _code(own: Any) -> Any:  # noqa: ANN401
    """Return the code of a function defined in a notebook or at a prompt, or the value of anything else."""
    code = getattr(own, "__code__", None)
    if code is None:
        return own
    constants = [each if not hasattr(each, "co_code") else each.co_code for each in code.co_consts]
    return code.co_code, constants, code.co_names


def _file_of(cls: type[Scheme]) -> Path | None:
    try:
        file = Path(inspect.getfile(cls))
    except (OSError, TypeError):
        return None
    return file if file.is_file() else None
