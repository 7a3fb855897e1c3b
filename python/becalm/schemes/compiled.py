"""Classes compiled by Numba, as tables of functions for `becalm.h`.

`self` of a compiled method is a record in the state that becalm keeps: `gap`, `timer`, `window`, the
parameters, and the annotated fields. `records` adds the methods of the class and the fields per lane, which a
record lacks. Other attributes of `self` must be declared; Numba's own message does not name them.
"""

from __future__ import annotations

import ctypes
import dis
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from becalm.base.errors import SchemeError
from becalm.schemes import abi, raising, records
from becalm.schemes.base import Echo, LaneKind, Marker, Response, Scheme, state_of
from becalm.schemes.objects import defines, properties, seam_class


def _check(cls: type[Scheme], fields: set[str], lanes: set[str]) -> None:
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


try:
    from numba import TypingError, carray, cfunc, from_dtype, njit, types
except ImportError as error:  # pragma: no cover
    raise SchemeError("compiled classes need Numba: pip install 'becalm[native]'") from error


_KINDS = {float: "f8", int: "i8", bool: "?"}
_NEVER = np.uint64(2**64 - 1)
_LARGEST = np.int64(2**63 - 1)
_UNLIMITED = np.int64(2**32 - 1)
_STATE, _CONTEXT = types.voidptr, types.voidptr
_PACE = from_dtype(np.dtype([("gap", "f8"), ("timer", "u8"), ("window", "u4"), ("failed", "u4")]))
_ANSWER = from_dtype(np.dtype([("ack", "u4"), ("marks", "u4"), ("cnp", "u4"), ("failed", "u4")]))


class Layout:
    """The record of a class: its fields, and its fields per lane."""

    def __init__(self, cls: type[Scheme]) -> None:
        self.parameters = [
            (name, "f8" if own.kind == "number" else "i8") for name, own in cls.parameters().items()
        ]
        state = state_of(cls)
        plain = [(name, _KINDS[kind]) for name, kind in state.items() if not isinstance(kind, LaneKind)]
        lanes = [
            (name, np.dtype(_KINDS[own.kind])) for name, own in state.items() if isinstance(own, LaneKind)
        ]
        # Sort by size, largest first, so that each field's block is aligned for any number of lanes.
        self.lanes = sorted(lanes, key=lambda lane: -lane[1].itemsize)
        pace = [("gap", "f8"), ("timer", "i8"), ("window", "i8")] if issubclass(cls, Response) else []
        hidden = (
            [("_lanes", "i8"), ("_ports", "i8"), ("_vls", "i8"), ("_failed", "i8")]
            if issubclass(cls, Marker)
            else []
        )
        # Add a unique name, because Numba distinguishes records by their fields.
        own_name = [(f"_{cls.__module__}_{cls.__qualname__}_{id(cls)}".replace(".", "_"), "u1")]
        self.dtype = np.dtype([*pace, *hidden, *self.parameters, *plain, *own_name], align=True)
        self.record = from_dtype(self.dtype)

    @property
    def lane_bytes(self) -> int:
        """Size of the state per lane in bytes."""
        return sum(kind.itemsize for _, kind in self.lanes)


def functions(cls: type[Scheme]) -> Any:  # noqa: ANN401
    """Return the table of a class for the core.

    Raises:
        SchemeError: Numba cannot compile it.

    """
    layout = Layout(cls)
    _check(cls, set(layout.record.fields), {name for name, _ in layout.lanes})
    base = seam_class(cls)
    records.give_methods(cls, base, layout.record)
    for name, kind in layout.lanes:
        before = layout.lanes[: [own for own, _ in layout.lanes].index(name)]
        records.give_lanes(layout.record, name, kind, sum(own.itemsize for _, own in before))
    make: dict[type[Scheme], Any] = {Response: _response, Marker: _marker, Echo: _echo}
    return make[base](cls, layout)


def _compiled(cls: type[Scheme], name: str, signature: Any, function: Callable[..., Any]) -> Any:  # noqa: ANN401
    try:
        return raising.marked(cfunc(signature), function)
    except TypingError as error:
        where = inspect.getsourcefile(getattr(cls, name)) or "?"
        line = inspect.unwrap(getattr(cls, name)).__code__.co_firstlineno
        message = [each.strip() for each in str(error).splitlines() if each.strip()]
        wanted = [
            each
            for each in message
            if "rror" in each or "nknown" in each or "nvalid" in each or "File" in each
        ]
        problem = "\n  ".join(dict.fromkeys(wanted[-6:] or message[:3]))
        raise SchemeError(
            f"{where}:{line}: Numba cannot compile `{cls.__name__}.{name}`; "
            f"try it as a Python class first:\n  {problem}"
        ) from error


def _copies(layout: Layout) -> Any:  # noqa: ANN401
    """Return a function that copies the values of the parameters into a record."""
    lines = [
        f"    self.{name} = values[{place}].{'number' if kind == 'f8' else 'integer'}"
        for place, (name, kind) in enumerate(layout.parameters)
    ]
    source = (
        "def copies(self, context):\n"
        f"    values = carray(pointer(carray(context, 1, word)[0]), {max(1, len(lines))}, value)\n"
        + "\n".join(lines)
    )
    # Both members of the union, at the same address.
    value = np.dtype(
        {"names": ["number", "integer"], "formats": ["f8", "i8"], "offsets": [0, 0], "itemsize": 8}
    )
    scope = {"carray": carray, "pointer": records.pointer, "word": np.int64, "value": value}
    exec(source if lines else "def copies(self, context):\n    pass", scope)
    return njit(scope["copies"])


@njit
def _before(self: Any, pace: Any) -> None:  # noqa: ANN401
    # An exception leaves the method, and so this mark.
    pace.failed = 1
    self.gap = pace.gap
    self.timer = _LARGEST if pace.timer >= np.uint64(_LARGEST) else np.int64(pace.timer)
    self.window = np.int64(pace.window)


@njit
def _after(self: Any, pace: Any) -> None:  # noqa: ANN401
    pace.gap = self.gap
    pace.timer = _NEVER if self.timer == _LARGEST else np.uint64(self.timer)
    pace.window = np.uint32(min(max(self.window, 0), _UNLIMITED))
    pace.failed = 0


def _response(cls: type[Response], layout: Layout) -> Any:  # noqa: ANN401
    record, copies = layout.dtype, _copies(layout)
    pointers = types.CPointer(_PACE)

    def tick(name: str) -> Any:  # noqa: ANN401
        method = records.method(getattr(cls, name))

        def call(state: Any, context: Any, now: Any, pace: Any) -> None:  # noqa: ANN401, ARG001
            self, limits = carray(state, 1, record)[0], carray(pace, 1)[0]
            _before(self, limits)
            method(self, np.int64(now))
            _after(self, limits)

        return _compiled(cls, name, types.void(_STATE, _CONTEXT, types.uint64, pointers), call)

    begin, acked, sends = (records.method(each) for each in (cls.start, cls.on_ack, cls.on_sent))

    def start(state: Any, context: Any, flow: Any, pace: Any) -> None:  # noqa: ANN401
        self, limits = carray(state, 1, record)[0], carray(pace, 1)[0]
        copies(self, context)
        _before(self, limits)
        begin(self, carray(flow, 1)[0])
        _after(self, limits)

    def ack(state: Any, context: Any, now: Any, ack: Any, pace: Any) -> None:  # noqa: ANN401, ARG001
        self, limits = carray(state, 1, record)[0], carray(pace, 1)[0]
        _before(self, limits)
        acked(self, np.int64(now), carray(ack, 1)[0])
        _after(self, limits)

    def sent(state: Any, context: Any, sent: Any, pace: Any) -> None:  # noqa: ANN401, ARG001
        self, limits = carray(state, 1, record)[0], carray(pace, 1)[0]
        packet = carray(sent, 1)[0]
        _before(self, limits)
        sends(self, np.int64(packet.now), packet)
        _after(self, limits)

    of_flow, of_ack, of_sent = (types.CPointer(kind) for kind in (records.FLOW, records.ACK, records.SENT))
    made = {
        "start": _compiled(cls, "start", types.void(_STATE, _CONTEXT, of_flow, pointers), start),
        "ack": _compiled(cls, "on_ack", types.void(_STATE, _CONTEXT, types.uint64, of_ack, pointers), ack),
    }
    for name in ("becn", "timer", "restart"):
        if defines(cls, f"on_{name}"):
            made[name] = tick(f"on_{name}")
    if defines(cls, "on_sent"):
        made["sent"] = _compiled(cls, "on_sent", types.void(_STATE, _CONTEXT, of_sent, pointers), sent)
    trail_bytes, flags, *_ = properties(cls)
    table = abi.Response(state_bytes=layout.dtype.itemsize, trail_bytes=trail_bytes, flags=flags)
    return _filled(table, made)


def _marker(cls: type[Marker], layout: Layout) -> Any:  # noqa: ANN401
    record, copies = layout.dtype, _copies(layout)
    begin = records.method(cls.start)

    def start(state: Any, lanes: Any, context: Any, shape: Any) -> None:  # noqa: ANN401
        self, switch = carray(state, 1, record)[0], carray(shape, 1)[0]
        self._lanes, self._ports, self._vls = records.address(lanes), switch.ports, switch.vls
        self._failed = 1
        copies(self, context)
        begin(self, switch)
        self._failed = 0

    def sees(name: str) -> Any:  # noqa: ANN401
        method = records.method(getattr(cls, name))

        def call(state: Any, lanes: Any, context: Any, packet: Any, view: Any) -> None:  # noqa: ANN401, ARG001
            self, switch = carray(state, 1, record)[0], carray(view, 1)[0]
            self._lanes = records.address(lanes)
            switch.failed = 1
            method(self, carray(packet, 1)[0], switch)
            switch.failed = self._failed

        return _compiled(cls, name, types.void(_STATE, _STATE, _CONTEXT, of_packet, of_view), call)

    judge = records.method(cls.departing)

    def departing(state: Any, lanes: Any, context: Any, packet: Any, view: Any) -> Any:  # noqa: ANN401, ARG001
        self, switch = carray(state, 1, record)[0], carray(view, 1)[0]
        self._lanes = records.address(lanes)
        switch.failed = 1
        marks = bool(judge(self, carray(packet, 1)[0], switch))
        switch.failed = self._failed
        return np.uint8(marks)

    of_packet, of_view = types.CPointer(records.PACKET), types.CPointer(records.VIEW)
    of_shape = types.CPointer(records.SWITCH)
    made = {
        "start": _compiled(cls, "start", types.void(_STATE, _STATE, _CONTEXT, of_shape), start),
        "departing": _compiled(
            cls, "departing", types.uint8(_STATE, _STATE, _CONTEXT, of_packet, of_view), departing
        ),
    }
    for name in ("arrived", "stored"):
        if defines(cls, name):
            made[name] = sees(name)
    _, flags, _, attention, _ = properties(cls)
    table = abi.Marker(
        state_bytes=layout.dtype.itemsize, lane_bytes=layout.lane_bytes, attention=attention, flags=flags
    )
    return _filled(table, made)


def _echo(cls: type[Echo], layout: Layout) -> Any:  # noqa: ANN401
    record, copies, asked = layout.dtype, _copies(layout), records.method(cls.answer)

    def answer(context: Any, packet: Any, reply: Any) -> None:  # noqa: ANN401
        self, out = np.zeros(1, record)[0], carray(reply, 1)[0]
        out.failed = 1
        copies(self, context)
        ack, cnp = asked(self, carray(packet, 1)[0])
        out.ack, out.marks, out.cnp = np.uint32(ack >= 0), np.uint32(max(ack, 0)), np.uint32(cnp)
        out.failed = 0

    signature = types.void(_CONTEXT, types.CPointer(records.RECEIVED), types.CPointer(_ANSWER))
    table = abi.Echo(ack_every=properties(cls)[-1])
    return _filled(table, {"answer": _compiled(cls, "answer", signature, answer)})


def _filled(table: ctypes.Structure, made: dict[str, Any]) -> ctypes.Structure:
    for name, function in made.items():
        setattr(table, name, function.address)
    # Keep the machine code alive as long as the table.
    table.kept = made
    return table
