"""Records for compiled methods, with the methods and computed fields that this module adds in Numba."""

from __future__ import annotations

import ctypes
import inspect
from typing import Any

import numpy as np
from llvmlite import ir
from numba import carray, from_dtype, njit, types
from numba.core.typing.arraydecl import RecordAttribute
from numba.extending import intrinsic, overload, overload_attribute, overload_method

from becalm._core import addresses as core_addresses
from becalm.schemes import abi
from becalm.schemes.base import Scheme
from becalm.schemes.functions import exponential, logarithm, power


def _record(structure: type[ctypes.Structure]) -> np.dtype[Any]:
    """Return the record type of a structure, with signed times and addresses.

    Numba converts expressions that mix signed and unsigned integers to floating-point numbers.
    """
    names, formats, offsets = [], [], []
    for name, kind in structure._fields_:  # type: ignore[misc]
        width = ctypes.sizeof(kind)
        is_address = kind in (ctypes.c_void_p, ctypes.c_char_p)
        names.append(f"_{name}" if is_address else name)
        formats.append("f8" if kind is ctypes.c_double else "i8" if width == 8 else f"u{width}")
        offsets.append(getattr(structure, name).offset)
    size = ctypes.sizeof(structure)
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": size})


FLOW, ACK, SENT, SWITCH, PACKET, VIEW, RECEIVED = (
    from_dtype(_record(kind))
    for kind in (abi.Flow, abi.Ack, abi.Sent, abi.Switch, abi.Packet, abi.View, abi.Received)
)
_HOP, _QUESTIONS = _record(abi.Hop), _record(abi.Questions)


@intrinsic
def pointer(_typing: Any, place: Any) -> Any:  # noqa: ANN401
    """Return an address as a pointer."""

    def generate(context: Any, builder: Any, _signature: Any, values: Any) -> Any:  # noqa: ANN401
        return builder.inttoptr(values[0], context.get_value_type(types.voidptr))

    return types.voidptr(place), generate


@intrinsic
def address(_typing: Any, place: Any) -> Any:  # noqa: ANN401
    """Return a pointer, or the location of a record, as an address."""

    def generate(context: Any, builder: Any, _signature: Any, values: Any) -> Any:  # noqa: ANN401
        return builder.ptrtoint(values[0], context.get_value_type(types.int64))

    return types.int64(place), generate


def _caller(result: Any, *kinds: Any) -> Any:  # noqa: ANN401
    """Return a function that calls the function at an address with a tuple of arguments."""

    @intrinsic
    def call(_typing: Any, place: Any, given: Any) -> Any:  # noqa: ANN401
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ANN401
            own = [builder.extract_value(values[1], number) for number in range(len(kinds))]
            cast = [
                context.cast(builder, value, known, wanted)
                for value, known, wanted in zip(own, signature.args[1].types, kinds, strict=True)
            ]
            to = ir.FunctionType(
                context.get_value_type(result), [context.get_value_type(kind) for kind in kinds]
            )
            return builder.call(builder.inttoptr(values[0], to.as_pointer()), cast)

        return result(place, given), generate

    return call


_METHODS: dict[str, dict[Any, Any]] = {}
"""Numba functions for methods of records: by name, then by record."""
_FIELDS: dict[str, dict[Any, Any]] = {}
"""Numba functions for computed fields of records: by name, then by record."""


def method(function: Any) -> Any:  # noqa: ANN401
    """Return a method of a class for Numba. An index that does not exist raises, as in Python."""
    return njit(boundscheck=True)(function)


def _method(record: Any, name: str, function: Any) -> None:  # noqa: ANN401
    """Add a method to a record."""
    if name not in _METHODS:
        known = _METHODS[name] = {}

        @overload_method(types.Record, name, strict=False)
        def of(self: Any, *arguments: Any) -> Any:  # noqa: ANN401, ARG001
            if self not in known:
                return None
            own = known[self]
            return lambda self, *arguments: own(self, *arguments)

    _METHODS[name][record] = function


def _field(record: Any, name: str, function: Any) -> None:  # noqa: ANN401
    """Add a computed field to a record."""
    if name not in _FIELDS:
        known = _FIELDS[name] = {}

        @overload_attribute(types.Record, name, strict=False)
        def of(self: Any) -> Any:  # noqa: ANN401
            if self not in known:
                return None
            own = known[self]
            return lambda self: own(self)

    _FIELDS[name][record] = function


def _own_fields(template: Any, record: Any, name: str) -> Any:  # noqa: ANN401, ARG001
    return record.fields[name].type if name in record.fields else None


# By default, Numba fails on an unknown field of a record before it looks for a computed field.
RecordAttribute.generic_resolve = _own_fields


@njit
def _functions(view: Any) -> Any:  # noqa: ANN401
    """Return the functions of a view, as a record of addresses."""
    return carray(pointer(view._ask), 1, _QUESTIONS)[0]


def _questions() -> None:
    """Add queries to switches: `switch.waiting(output, vl)` calls the function of the view."""
    wide = {"waiting_bytes", "blocked_until", "packet_time"}
    for name in (name for name, _ in abi.Questions._fields_ if name != "draw"):
        names = ["a", "b", "c"] if name == "present_from" else ["a", "b"]
        kinds = [types.uint16] * len(names)
        if name == "packet_time":
            kinds[1] = types.uint32
        ask = _caller(types.uint64 if name in wide else types.uint32, types.int64, *kinds)
        arguments = ", ".join(names)
        call = f"ask(_functions(self)._{name}, (self._switch_, {arguments}))"
        source = f"def asks(self, {arguments}):\n    return np.int64({call})"
        scope = {"ask": ask, "np": np, "_functions": _functions}
        exec(source, scope)
        _method(VIEW, name, njit(scope["asks"]))
    draw = _caller(types.float64, types.int64)
    _method(VIEW, "draw", njit(lambda self, packet: draw(_functions(self)._draw, (address(packet),))))


def give_methods(cls: type[Scheme], base: type[Scheme], record: Any) -> None:  # noqa: ANN401
    """Add the methods and constants of a class to its record."""
    for name in dir(cls):
        own = inspect.getattr_static(cls, name)
        if name.startswith("__") or own is inspect.getattr_static(base, name, None):
            continue
        if inspect.isfunction(own):
            _method(record, name, method(own))
        elif isinstance(own, (bool, int, float)) and name not in record.fields:
            _field(record, name, _constant(own))


def _constant(value: float) -> Any:  # noqa: ANN401
    return njit(lambda self: value)  # noqa: ARG005


def give_lanes(record: Any, name: str, kind: np.dtype[Any], before: int) -> None:  # noqa: ANN401
    """Add a field per output and lane to the record of a marker, after `before` bytes of each lane."""

    def lanes(self: Any) -> Any:  # noqa: ANN401
        place = self._lanes + before * self._ports * self._vls
        return carray(pointer(place), (self._ports, self._vls), kind)

    _field(record, name, njit(lanes))


def _pure() -> None:
    """Make `power`, `exponential` and `logarithm` call the core's functions."""
    addresses = core_addresses()
    for function, place, count in zip((power, exponential, logarithm), addresses, (2, 1, 1), strict=True):
        call = _caller(types.float64, *([types.float64] * count))
        names = "x, y" if count == 2 else "x"
        source = f"def of({names}):\n    return lambda {names}: call(place, ({names},))\n"
        scope = {"call": call, "place": np.int64(place)}
        exec(source, scope)
        overload(function)(scope["of"])


_questions()
_pure()
_field(ACK, "trail", njit(lambda self: carray(pointer(self._trail), (self.hops,), _HOP)))
