"""Tables of a response function, as hardware holds them, with the errors of rounding.

Two kinds: steps over the 256 inter-packet delays (`DelayTable`, which `[response.table]` runs), and a
congestion control table of IBTA adapters (`Cct`, for `[response.ibta]`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from becalm.base.errors import DesignError
from becalm.designs.hermite import Array
from becalm.designs.law import PACKET_TIME, Law
from becalm.manager import TIMER_UNIT, nearest

DELAYS = 256
"""InfiniBand writes an inter-packet delay in 8 bits."""
SLACK = 1e-6
"""Relative error of a rate that is ignored: the accuracy of a derived function."""
MOST_ACKS = 10_000_000
"""Maximum number of unmarked ACKs that a step may wait for."""

LEAST_ENTRIES, MOST_ENTRIES = 128, 16_384
"""Minimum and maximum number of entries of a congestion control table; the specification has the minimum."""
MAX_TIMER, MAX_INCREASE = 65_535, 255


@dataclass(frozen=True)
class DelayTable:
    """A step [slower, acks, faster] for each inter-packet delay 0, 1, 2, ...

    The rate of delay i is rmax / (1 + i). A marked ACK leads to the delay `slower`, and `acks` unmarked ones
    in a row to the delay `faster`.
    """

    name: str
    rmax: float
    steps: tuple[tuple[int, int, int], ...]

    @property
    def rates(self) -> Array:
        """The rate of each delay."""
        delays: Array = np.arange(len(self.steps), dtype=np.float64)
        return self.rmax / (1.0 + delays)

    def response(self, **settings: Any) -> dict[str, Any]:  # noqa: ANN401
        """Return the table as `[response.table]` of a scenario; `settings`: window, initial, persistent."""
        return {"table": {"steps": [list(step) for step in self.steps], "rmax": self.rmax, **settings}}

    def to_json(self) -> dict[str, Any]:
        """Return the table as plain data."""
        steps = [list(step) for step in self.steps]
        return {"kind": "delays", "name": self.name, "rmax": self.rmax, "steps": steps}

    def to_toml(self) -> str:
        """Return the table as the text of `[response.table]` of a scenario."""
        steps = [f"[{slower}, {acks}, {faster}]" for slower, acks, faster in self.steps]
        lines = [f"    {', '.join(steps[start : start + 8])}," for start in range(0, len(steps), 8)]
        return "\n".join(
            [f"# {self.name}", "[response.table]", f"rmax = {self.rmax!r}", "steps = [", *lines, "]", ""]
        )

    def errors(self, law: Law) -> dict[str, Array]:
        """Return the relative errors of a law from rounding to delays, per delay.

        `decrease`: the rate after a mark, divided by that of f_dec, minus 1. `increase`: the time to the next
        faster delay, divided by that of the rate without steps, minus 1; 0 for delay 0.
        """
        rates = self.rates
        slower, acks, faster = (np.array(column) for column in zip(*self.steps, strict=True))
        decrease = rates[slower] / law.f_dec(_inside(rates, law)) - 1
        meant = law.curve.time(_inside(rates[faster], law)) - law.curve.time(_inside(rates, law))
        taken = acks / rates
        increase = np.where(faster < np.arange(len(rates)), taken / np.where(meant > 0, meant, 1.0) - 1, 0.0)
        return {"decrease": decrease, "increase": increase}

    @property
    def climb(self) -> float:
        """Time from the last delay to delay 0 without marks, in packet times."""
        delay, time = len(self.steps) - 1, 0.0
        while delay > 0:
            _, acks, faster = self.steps[delay]
            time += acks * (1 + delay) / self.rmax
            if faster == delay:
                return math.inf
            delay = faster
        return time


@dataclass(frozen=True)
class Cct:
    """A congestion control table of IBTA adapters and the settings that go with it.

    Entry i is the delay of the rate that the law would have i / `increase` decreases below rmax. A BECN adds
    `increase` to the index; the timer subtracts 1 every `timer` units of 1.024 us. Thus a source recovers
    from a decrease in a recovery time.
    """

    name: str
    entries: tuple[tuple[int, int], ...]
    """Pairs (shift, multiplier): a delay of multiplier / 2^shift times the packet's own transmission time."""
    increase: int
    """CCTI_Increase."""
    timer: int
    """CCTI_Timer, in units of 1.024 us."""
    limit: int
    """CCTI_Limit: the last index that the law uses."""

    @property
    def gaps(self) -> Array:
        """The delay of each entry in packet times."""
        return np.array([multiplier / 2**shift for shift, multiplier in self.entries])

    @property
    def recovery_time(self) -> float:
        """Time in s in which the timer undoes a BECN."""
        return self.increase * self.timer * TIMER_UNIT

    def response(self, window: int | str = 1) -> dict[str, Any]:
        """Return the table as `[response.ibta]` of a scenario."""
        entries = [list(entry) for entry in self.entries]
        return {
            "ibta": {
                "ccti_increase": self.increase,
                "ccti_timer": self.timer,
                "ccti_limit": self.limit,
                "cct": {"list": {"entries": entries}},
                "window": window,
            }
        }

    def to_json(self) -> dict[str, Any]:
        """Return the table and its settings as plain data."""
        return {
            "kind": "cct",
            "name": self.name,
            "increase": self.increase,
            "timer": self.timer,
            "limit": self.limit,
            "entries": [list(entry) for entry in self.entries],
        }

    def errors(self, law: Law) -> Array:
        """Return the rate of each entry divided by the law's, minus 1."""
        return (1 + _gaps(law, self.increase, len(self.entries))) / (1 + self.gaps) - 1


def tabulate(law: Law) -> DelayTable:
    """Return the table nearest to a law.

    A mark leads to the next slower delay. As many ACKs as the law takes to gain a delay lead to the delay
    that it has then.

    Raises:
        DesignError: rmin is below rmax / 256, or an increase takes too many ACKs.

    """
    last = int(law.rmax / law.rmin * (1 + SLACK)) - 1
    if last >= DELAYS:
        raise DesignError(
            f"rmin = {law.rmin:g}: must be at least rmax / {DELAYS} = {law.rmax / DELAYS:g} for a table",
            law.rmin,
        )
    delays = np.arange(last + 1)
    starts = _inside(law.rmax / (1.0 + delays.astype(np.float64)), law)
    slower = np.clip(_delay(law.rmax, law.f_dec(starts)), delays, last)
    acks, reached = _climb(law, starts)
    faster = np.minimum(_delay(law.rmax, reached), np.maximum(delays - 1, 0))
    steps = zip(slower.tolist(), acks.tolist(), faster.tolist(), strict=True)
    return DelayTable(law.name, law.rmax, tuple(steps))


def tabulate_cct(law: Law, *, packet_time: float = PACKET_TIME) -> Cct:
    """Return the congestion control table of a law that recovers from every decrease in the same time.

    Args:
        law: a law that meets Condition 3.
        packet_time: transmission time in s of the packets for which the timer is set.

    Raises:
        DesignError: the recovery time does not fit the timer, or the table is too long.

    """
    recoveries = law.curve.total * law.rmin
    units = packet_time / law.rmin / TIMER_UNIT
    increase = _increase(math.ceil((LEAST_ENTRIES - 1) / recoveries), units)
    timer = round(units / increase)
    if not 1 <= timer <= MAX_TIMER:
        raise DesignError(
            f"rmin = {law.rmin:g}: CCTI_Timer would be {timer}; must be between 1 and {MAX_TIMER}",
            law.rmin,
        )
    limit = math.ceil(recoveries * increase - SLACK)
    if limit >= MOST_ENTRIES:
        raise DesignError(
            f"{law.name}: {limit + 1} entries; must be at most {MOST_ENTRIES}; a larger rmin needs fewer",
            law.rmin,
        )
    gaps = _gaps(law, increase, max(limit + 1, LEAST_ENTRIES))
    return Cct(law.name, tuple(nearest(float(gap)) for gap in gaps), increase, timer, limit)


def _increase(least: int, units: float) -> int:
    """Return the steps of a decrease: `least`, or up to twice as many if the timer then fits better.

    They are never more than the units of the timer in a recovery time.
    """
    most = max(min(MAX_INCREASE, int(units)), 1)
    choices = range(min(least, most), min(2 * least - 1, most) + 1)
    return min(choices, key=lambda steps: round(abs(round(units / steps) * steps / units - 1), 6))


def _gaps(law: Law, increase: int, count: int) -> Array:
    """Return the delays of the rates at equal steps back in time, starting at rmax and ending at rmin."""
    times = law.curve.total - np.arange(count) / increase / law.rmin
    result: Array = np.maximum(1 / law.curve.rate(np.maximum(times, 0.0)) - 1, 0.0)
    return result


def _climb(law: Law, starts: Array) -> tuple[np.ndarray, Array]:
    """Return the ACKs after which each rate has gained at least one delay, and the rate then."""
    rates, acks = starts.copy(), np.zeros(len(starts), dtype=np.int64)
    goals = law.rmax / np.maximum(np.arange(len(starts)), 1) * (1 - SLACK)
    acks[0] = 1
    climbing = np.flatnonzero(rates < goals)
    while len(climbing):
        rates[climbing] = law.f_inc(rates[climbing])
        acks[climbing] += 1
        if acks[climbing[0]] > MOST_ACKS:
            rate = float(starts[climbing[0]])
            raise DesignError(f"f_inc({rate:.6g}): more than {MOST_ACKS} ACKs to the next delay", rate)
        climbing = climbing[rates[climbing] < goals[climbing]]
    return acks, rates


def _delay(rmax: float, rates: Array) -> np.ndarray:
    """Return the shortest integer delays that are not shorter than those of the rates."""
    delays = rmax / rates - 1
    return np.maximum(np.ceil(delays - SLACK * (1 + delays)), 0).astype(np.int64)


def _inside(rates: Array, law: Law) -> Array:
    return np.clip(rates, law.rmin, law.rmax)
