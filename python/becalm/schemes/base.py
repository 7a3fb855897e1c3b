"""Base classes of user-defined schemes, and their parameters. All times are integers in picoseconds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from becalm._core import Ack as CoreAck
from becalm._core import Flow as CoreFlow
from becalm._core import Packet as CorePacket
from becalm._core import Received as CoreReceived
from becalm._core import Sent as CoreSent
from becalm._core import Shape as CoreShape
from becalm._core import Switch as CoreSwitch
from becalm._core import seconds as core_seconds

NS = 10**3
"""Picoseconds in a nanosecond."""
US = 10**6
"""Picoseconds in a microsecond."""
MS = 10**9
"""Picoseconds in a millisecond."""
S = 10**12
"""Picoseconds in a second."""
UNLIMITED = 2**32 - 1
"""No window. In classes that are not compiled, None means the same."""
NEVER = 2**63 - 1
"""No timer. In classes that are not compiled, None means the same."""
NO_ACK = -1
"""An answer without an ACK. In classes that are not compiled, None means the same."""


class Parameter:
    """A parameter of a scheme: an attribute of its class, and a key in scenarios.

    Args:
        default: the value of an absent key. Its type sets the valid type: a bool, an int, a float, one of
            `words`, or else a time with its unit, such as "50 us".
        doc: a short description.
        least: the smallest valid value, of the same type as the default.
        most: the largest valid value.
        unit: the unit, for messages.
        words: the valid words.

    In methods, a parameter is a number: a time is an integer in ps, and a word is its index in `words`.

    """

    def __init__(
        self,
        default: bool | float | str,
        doc: str = "",
        *,
        least: float | str | None = None,
        most: float | str | None = None,
        unit: str = "",
        words: Sequence[str] = (),
    ) -> None:
        self.default, self.doc, self.unit, self.words = default, doc, unit, tuple(words)
        self.least, self.most = least, most
        self.kind = _kind(default, self.words)

    def value(self, given: bool | float | str) -> float | int:
        """Return a value in the form that methods use.

        Raises:
            ValueError: the value is invalid for this parameter.

        """
        if self.kind == "word":
            if given not in self.words:
                raise ValueError(f"{given!r} is not one of {', '.join(self.words)}")
            return self.words.index(str(given))
        if self.kind == "time":
            seconds = core_seconds(str(given))
            if seconds is None:
                raise ValueError(f"{given!r} is not a time with a unit, such as '50 us'")
            return round(seconds * S)
        return float(given) if self.kind == "number" else int(given)


def _kind(default: bool | float | str, words: Sequence[str]) -> str:
    if words:
        return "word"
    if isinstance(default, bool):
        return "truth"
    if isinstance(default, str):
        return "time"
    return "integer" if isinstance(default, int) else "number"


class Scheme:
    """A user-defined scheme: the common base of `Response`, `Marker` and `Echo`."""

    name: ClassVar[str] = ""
    """Name in scenarios; default: the class name in lower case with `_`."""
    native: ClassVar[bool] = False
    """Whether Numba compiles it; see `becalm.native`."""

    @classmethod
    def scheme_name(cls) -> str:
        """Return the scheme's name in scenarios."""
        return cls.name or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()

    @classmethod
    def parameters(cls) -> dict[str, Parameter]:
        """Return the scheme's parameters, starting with inherited ones."""
        found: dict[str, Parameter] = {}
        for base in reversed(cls.__mro__):
            found.update({key: own for key, own in vars(base).items() if isinstance(own, Parameter)})
        return found


class Response(Scheme):
    """Sets the rate of a source and its reaction to feedback. Each flow has its own object.

    The methods set `gap`, `window` and `timer`, which stay valid until set again. All methods except `start`
    and `on_ack` are optional.
    """

    gap: float = 0.0
    """Idle time after a packet as a multiple of its transmission time, at least 0: 1 / rate - 1."""
    window: int | None = None
    """Maximum number of packets in flight, at least 1; None for no limit."""
    timer: int | None = None
    """Time in ps of the next call of `on_timer`, which resets it to None; None for no timer."""
    trail_bytes: ClassVar[int] = 0
    """Bytes per packet for the records of switches on its path, for `ack.trail`; 0 for no records."""
    moves_window: ClassVar[bool] = False
    """Whether the window changes during a run."""
    counts_marks: ClassVar[bool] = False
    """Whether it reacts to the share of marked packets, so that it must receive every mark."""
    uses_rtt: ClassVar[bool] = False
    """Whether it reacts to round-trip times instead of marks."""

    def start(self, flow: CoreFlow) -> None:
        """Prepare for a flow with these properties, before it sends."""

    def on_ack(self, now: int, ack: CoreAck) -> None:
        """Handle an ACK."""
        raise NotImplementedError

    def on_becn(self, now: int) -> None:
        """Handle a congestion notification packet."""

    def on_timer(self, now: int) -> None:
        """Handle the expiry of `timer`."""

    def on_restart(self, now: int) -> None:
        """Handle the start of a new flow between the same hosts after a pause."""

    def on_sent(self, now: int, sent: CoreSent) -> None:
        """Handle an outgoing packet."""


class Marker(Scheme):
    """Decides which packets a switch marks. Each switch has its own object."""

    attention: ClassVar[str] = "tails"
    """Events that the marker needs: `queues`, packets that join or leave a queue; `packets`, all packets that
    arrive and depart; `tails`, also the departure times of tails, for `room` and `present`; `storage`, also
    `stored`."""
    sees_passing: ClassVar[bool] = True
    """Whether the marker needs packets that leave at once without meeting others."""
    needs_buffer: ClassVar[bool] = False
    """Whether the marker depends on the occupancy of an input buffer."""
    needs_credit: ClassVar[bool] = False
    """Whether the marker uses credit."""

    def start(self, shape: CoreShape) -> None:
        """Prepare for a switch with these properties."""

    def arrived(self, packet: CorePacket, switch: CoreSwitch) -> None:
        """Handle the arrival of a packet."""

    def stored(self, packet: CorePacket, switch: CoreSwitch) -> None:
        """Handle the arrival of the last byte of a packet that is still waiting."""

    def departing(self, packet: CorePacket, switch: CoreSwitch) -> bool:
        """Return whether to mark a packet that is about to leave."""
        raise NotImplementedError


class Answer(NamedTuple):
    """The answer of a destination to a data packet."""

    ack: int | None = None
    """Number of marked packets that an ACK reports; None for no ACK."""
    cnp: bool = False
    """Whether to send a congestion notification packet."""


class Echo(Scheme):
    """Decides how a destination answers data packets. Each host has its own object."""

    ack_every: ClassVar[Any] = 1
    """Maximum number of packets per ACK; 0 for no ACKs. It may be a `Parameter`."""

    def answer(self, packet: CoreReceived) -> Answer:
        """Return the answer to a packet."""
        raise NotImplementedError


class Lanes:
    """State for each output and virtual lane of a switch.

    Use `self.marks[output, vl]` to read and set a field `marks: becalm.Lanes[int]`.
    """

    def __init__(self, kind: type, ports: int, vls: int) -> None:
        self._vls = vls
        self._flat: list[Any] = [kind(0)] * (ports * vls)

    def __class_getitem__(cls, kind: type) -> LaneKind:
        return LaneKind(kind)

    def __getitem__(self, place: tuple[int, int]) -> Any:  # noqa: ANN401
        output, vl = place
        return self._flat[output * self._vls + vl]

    def __setitem__(self, place: tuple[int, int], value: Any) -> None:  # noqa: ANN401
        output, vl = place
        self._flat[output * self._vls + vl] = value


class LaneKind(NamedTuple):
    """The annotation of a field with a value per output and lane."""

    kind: type


def state_of(cls: type[Scheme]) -> dict[str, Any]:
    """Return the annotated fields of a class and their types: `float`, `int`, `bool` or a `LaneKind`."""
    import inspect

    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        if base.__module__ == __name__ or base is object:
            continue
        found.update(inspect.get_annotations(base, eval_str=True))
    return {
        key: kind
        for key, kind in found.items()
        if (kind in (float, int, bool) or isinstance(kind, LaneKind)) and key not in _PACE
    }


_PACE = ("gap", "window", "timer")
