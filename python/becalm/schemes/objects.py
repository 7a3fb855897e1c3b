"""Properties of scheme classes, and instances of those that are not compiled, made on request of the core."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from becalm.schemes.base import Echo, LaneKind, Lanes, Marker, Parameter, Response, Scheme, state_of

SEAMS: dict[type[Scheme], str] = {Response: "response", Marker: "marking", Echo: "echo"}
"""Names of the seams by base class."""
_ATTENTIONS = ("nothing", "queues", "packets", "tails", "storage")

_METHODS: dict[type[Scheme], tuple[str, ...]] = {
    Response: ("start", "on_ack", "on_becn", "on_timer", "on_restart", "on_sent"),
    Marker: ("start", "arrived", "stored", "departing"),
    Echo: ("answer",),
}


def seam_class(cls: type[Scheme]) -> type[Scheme]:
    """Return the base class of a class: `Response`, `Marker` or `Echo`."""
    return next(base for base in _METHODS if issubclass(cls, base))


def seam_of(cls: type[Scheme]) -> str:
    """Return the name of a class's seam."""
    return SEAMS[seam_class(cls)]


def defines(cls: type[Scheme], method: str) -> bool:
    """Return whether a class overrides a method, which does nothing by default."""
    return getattr(cls, method) is not getattr(seam_class(cls), method)


def properties(cls: type[Scheme]) -> tuple[int, int, bool, int, int]:
    """Return the properties of a class for the core: trail_bytes, flags, sent, attention, ack_every.

    Raises:
        ValueError: the attention is unknown.

    """
    if issubclass(cls, Response):
        flags = cls.moves_window | cls.counts_marks << 1 | cls.uses_rtt << 2
        return cls.trail_bytes, flags, defines(cls, "on_sent"), 0, 1
    if issubclass(cls, Marker):
        if cls.attention not in _ATTENTIONS:
            raise ValueError(f"attention = {cls.attention!r}: must be one of {', '.join(_ATTENTIONS)}")
        flags = cls.sees_passing | cls.needs_buffer << 1 | cls.needs_credit << 2
        return 0, flags, False, _ATTENTIONS.index(cls.attention), 1
    every = getattr(cls, "ack_every", 1)
    return 0, 0, False, 0, 1 if isinstance(every, Parameter) else int(every)


def factory(cls: type[Scheme]) -> Callable[[list[Any]], list[Any]]:
    """Return a function that creates an object from parameter values.

    The function returns the object and its methods, with None for methods that the class does not define.
    """
    base, names, fields = seam_class(cls), list(cls.parameters()), state_of(cls)
    methods = _METHODS[base]
    plain = {key: kind(0) for key, kind in fields.items() if not isinstance(kind, LaneKind)}
    lanes = {key: kind.kind for key, kind in fields.items() if isinstance(kind, LaneKind)}

    def make(values: list[Any]) -> list[Any]:
        made = cls()
        for name, value in zip(names, values, strict=True):
            setattr(made, name, value)
        for name, zero in plain.items():
            if name not in vars(made):
                setattr(made, name, zero)
        found = [made, *(getattr(made, name) if defines(cls, name) else None for name in methods)]
        if base is Response:
            found[1] = made.start  # type: ignore[attr-defined]
        if lanes:
            found[1] = _with_lanes(made, lanes)
        return found

    return make


def _with_lanes(made: Any, lanes: dict[str, type]) -> Callable[[Any], None]:  # noqa: ANN401
    def start(shape: Any) -> None:  # noqa: ANN401
        for name, kind in lanes.items():
            setattr(made, name, Lanes(kind, shape.ports, shape.vls))
        made.start(shape)

    return start
