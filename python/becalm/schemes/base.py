"""Classes to derive user-defined schemes from, and their parameters. All times are whole picoseconds."""

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
"""No window. None means the same, but not to compiled classes."""
NEVER = 2**63 - 1
"""No timer. None means the same, but not to compiled classes."""
NO_ACK = -1
"""An answer without an ACK. None means the same, but not to compiled classes."""


class Parameter:
    """A parameter of a scheme: an attribute of its class, and a key in scenarios.

    Args:
        default: the value of an absent key. Its type decides what is valid: a bool, an int, a float, one
        of `words`, or else
            a time with its unit, such as "50 us".
        doc: a description in a few words.
        least: the least value, of the type of the default.
        most: the greatest value.
        unit: its unit, for messages.
        words: the words to choose from.

    In the methods, a parameter is a number: a time is a whole number of ps, a word its index in `words`.

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
        """Return a value as methods see it.

        Raises:
            ValueError: not a value of this kind.

        """
        if self.kind == "word":
            if given not in self.words:
                raise ValueError(f"{given!r} is none of {', '.join(self.words)}")
            return self.words.index(str(given))
        if self.kind == "time":
            seconds = core_seconds(str(given))
            if seconds is None:
                raise ValueError(f"{given!r} is not a time with its unit, such as '50 us'")
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
    """A user-defined scheme: the common part of `Response`, `Marker` and `Echo`."""

    name: ClassVar[str] = ""
    """Its name in scenarios; default: that of the class in lower case with `_`."""
    native: ClassVar[bool] = False
    """Whether Numba compiles it; see `becalm.native`."""

    @classmethod
    def scheme_name(cls) -> str:
        """Return its name in scenarios."""
        return cls.name or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()

    @classmethod
    def parameters(cls) -> dict[str, Parameter]:
        """Return its parameters, those of its bases first."""
        found: dict[str, Parameter] = {}
        for base in reversed(cls.__mro__):
            found.update({key: own for key, own in vars(base).items() if isinstance(own, Parameter)})
        return found


class Response(Scheme):
    """Decides how fast a source sends, and how it reacts to feedback. Each flow has an object of its own.

    The methods set `gap`, `window` and `timer`; these hold until they are set again. All methods except
    `start` and `on_ack` may be left out.
    """

    gap: float = 0.0
    """Idle time after a packet, as a multiple of its own transmission time, at least 0: 1 / rate - 1."""
    window: int | None = None
    """Packets that may be under way, at least 1; None for no limit."""
    timer: int | None = None
    """Time in ps of the next call of `on_timer`, after which it is None again; None for no timer."""
    trail_bytes: ClassVar[int] = 0
    """If switches must record the path of packets, for `ack.trail`: bytes of the records in each packet."""
    moves_window: ClassVar[bool] = False
    """Whether the window changes during a run."""
    counts_marks: ClassVar[bool] = False
    """Whether it reacts to the share of packets that are marked, so that each mark has to reach it."""
    uses_rtt: ClassVar[bool] = False
    """Whether it reacts to round-trip times, not to marks."""

    def start(self, flow: CoreFlow) -> None:
        """Prepare for a flow of this shape, before it sends."""

    def on_ack(self, now: int, ack: CoreAck) -> None:
        """Handle an ACK."""
        raise NotImplementedError

    def on_becn(self, now: int) -> None:
        """Handle a congestion notification packet."""

    def on_timer(self, now: int) -> None:
        """Handle the timer: `timer` was set to this time."""

    def on_restart(self, now: int) -> None:
        """Restart: a new flow begins between the same hosts after a pause."""

    def on_sent(self, now: int, sent: CoreSent) -> None:
        """Handle an outgoing packet."""


class Marker(Scheme):
    """Decides which packets a switch marks. Each switch has an object of its own."""

    attention: ClassVar[str] = "tails"
    """Events that it must see: `queues`, packets that join a queue or leave one; `packets`, all that arrive
    and depart; `tails`, also the times at which tails leave, if it uses `room` or `present`; `storage`, also
    `stored`."""
    sees_passing: ClassVar[bool] = True
    """Whether it must see packets that leave at once and meet no other."""
    needs_buffer: ClassVar[bool] = False
    """Whether it depends on how full an input buffer is."""
    needs_credit: ClassVar[bool] = False
    """Whether it uses credit."""

    def start(self, shape: CoreShape) -> None:
        """Prepare for a switch of this shape."""

    def arrived(self, packet: CorePacket, switch: CoreSwitch) -> None:
        """Handle the arrival of a packet."""

    def stored(self, packet: CorePacket, switch: CoreSwitch) -> None:
        """Handle the arrival of the last byte of a packet that still waits."""

    def departing(self, packet: CorePacket, switch: CoreSwitch) -> bool:
        """Return whether a packet that is about to leave is marked."""
        raise NotImplementedError


class Answer(NamedTuple):
    """The answer of a destination to a data packet."""

    ack: int | None = None
    """Marked packets that an ACK reports; None for no ACK."""
    cnp: bool = False
    """Whether a congestion notification packet goes out."""


class Echo(Scheme):
    """Decides how a destination answers data packets. Each host has an object of its own."""

    ack_every: ClassVar[Any] = 1
    """Maximum number of packets that one ACK covers; 0 if there are no ACKs. It may be a `Parameter`."""

    def answer(self, packet: CoreReceived) -> Answer:
        """Return the answer to a packet."""
        raise NotImplementedError


class Lanes:
    """State for each output and virtual lane of a switch.

    A field `marks: becalm.Lanes[int]` is read and set as `self.marks[output, vl]`.
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
    """The annotation of a field for each output and lane."""

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
