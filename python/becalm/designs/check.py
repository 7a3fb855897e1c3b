"""Whether a response function meets the conditions of Santos 2003, section V-A, and those of Chiu and Jain.

Both flow rates and times are taken from the law's functions and its rate over time without marks; nothing is
simulated.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from becalm.designs.function import look
from becalm.designs.hermite import Array
from becalm.designs.law import PACKET_TIME, Law

REGAIN = 1e-6
"""Relative amount by which an increase may exceed the rate before the decrease without violating
Condition 1."""
RECOVERY = 5e-3
"""Relative differences of recovery times that are ignored: a curve made from an increase function is accurate
to 0.2%."""
POWER = 0.01
"""Powers of the rate by which the growth may differ from the rate itself and still keep fairness."""
RATIO = 1e-9
"""Relative changes of f_dec(r)/r from one rate to the next that are ignored."""
GROWTH_RATES = 256
"""Number of rates at which the growth is evaluated."""


@dataclass(frozen=True)
class Condition:
    """A condition and its verdict."""

    name: str
    text: str
    """What it requires."""
    holds: bool
    fails: list[tuple[float, float]]
    """Where it does not hold: ranges of rates, as shares of the link's rate; empty if no rate is to blame."""
    note: str = ""
    """The finding, in words."""


@dataclass(frozen=True)
class Check:
    """The result of a check."""

    name: str
    """Name of the law."""
    conditions: tuple[Condition, ...]
    rates: Array
    """Rates, as shares of the link's rate."""
    recovery: Array
    """Recovery time after a decrease from each of them, in packet times."""
    free: float
    """f_dec^-1(rmin): the rate up to which a decrease ends at rmin."""
    shortest: float
    """1/rmin: the recovery time of Condition 3, in packet times."""
    total: float
    """Time from rmin to rmax, in packet times."""
    packet_time: float
    """Transmission time of a packet in s."""

    def __getitem__(self, name: str) -> Condition:
        """Return a condition by its name."""
        return next(condition for condition in self.conditions if condition.name == name)

    @property
    def recovery_range(self) -> tuple[float, float]:
        """Shortest and longest recovery time in packet times, of decreases that do not end at rmin."""
        times = self.recovery[self.rates >= self.free]
        return float(times.min()), float(times.max())

    def to_json(self) -> dict[str, Any]:
        """Return the verdicts as plain data."""
        shortest, longest = self.recovery_range
        return {
            "name": self.name,
            "conditions": [asdict(condition) for condition in self.conditions],
            "recovery_packet_times": {"condition_3": self.shortest, "least": shortest, "most": longest},
            "rmin_to_rmax": {"packet_times": self.total, "seconds": self.total * self.packet_time},
        }


def check(law: Law, *, packet_time: float = PACKET_TIME) -> Check:
    """Check a law over [rmin, rmax].

    Args:
        law: from `derive`, `pair`, `lipd`, `fimd` or `aimd`.
        packet_time: transmission time of a packet in s; only times in seconds depend on it.

    """
    free = law.lowest_free
    rates = np.union1d(look(law.rmin, law.rmax), [free])
    lower = law.f_dec(rates)
    recovery = law.curve.time(rates) - law.curve.time(lower)
    conditions = (
        _regains_no_more(law, rates, lower, free),
        _slower_recovers_sooner(rates, recovery),
        _recovers_soonest(law, rates, recovery, free),
        *_chiu_jain(law, rates, lower, free),
    )
    return Check(law.name, conditions, rates, recovery, free, 1 / law.rmin, law.curve.total, packet_time)


def _regains_no_more(law: Law, rates: Array, lower: Array, free: float) -> Condition:
    """Below f_dec^-1(rmin) a decrease is cut off, and an ACK at rmin regains more than it took."""
    ratio = law.f_inc(lower) / rates
    bad = (rates >= free) & (ratio > 1 + REGAIN)
    note = (
        f"the increase after a decrease reaches up to {ratio[bad].max():.4g} times the original rate"
        if bad.any()
        else ""
    )
    return _verdict("Condition 1", "f_inc(f_dec(r)) <= r for f_dec^-1(rmin) <= r", rates, bad, note)


def _slower_recovers_sooner(rates: Array, recovery: Array) -> Condition:
    longest = np.maximum.accumulate(recovery)
    bad = recovery < longest * (1 - RECOVERY)
    note = ""
    if bad.any():
        worst = int(np.argmin(np.where(bad, recovery / np.maximum(longest, 1e-300), np.inf)))
        slower = int(np.argmax(recovery[: worst + 1]))
        note = (
            f"recovery at {rates[worst]:.4g} takes {recovery[worst]:.4g} packet times, "
            f"but {recovery[slower]:.4g} at {rates[slower]:.4g}"
        )
    return _verdict("Condition 2", "T_rec(r1) <= T_rec(r2) for r1 < r2", rates, bad, note)


def _recovers_soonest(law: Law, rates: Array, recovery: Array, free: float) -> Condition:
    times = recovery * law.rmin
    bad = (rates >= free) & (np.abs(times - 1) > RECOVERY)
    note = f"T_rec from {times[bad].min():.4g} to {times[bad].max():.4g} times 1/rmin" if bad.any() else ""
    return _verdict("Condition 3", "T_rec(r) = 1/rmin for f_dec^-1(rmin) <= r", rates, bad, note)


def _chiu_jain(law: Law, rates: Array, lower: Array, free: float) -> tuple[Condition, ...]:
    """Chiu and Jain 1989, with feedback to all flows at once.

    One of increase and decrease must improve fairness, and the other must not worsen it. A step brings the
    ratio of rates closer to 1 if its result divided by the rate falls as the rate rises. For the increase
    this is required of the growth in time, dF_inc/dt / r, since faster flows get more ACKs.
    """
    places = np.geomspace(law.rmin, law.rmax, GROWTH_RATES + 1)
    middles = np.sqrt(places[1:] * places[:-1])
    power = np.diff(np.log(law.curve.growth(places))) / np.diff(np.log(middles)) - 1
    inner = np.sqrt(middles[1:] * middles[:-1])
    above = rates >= free
    ratio = np.diff(np.log(lower[above] / rates[above]))
    increase = _verdict(
        "Chiu-Jain increase",
        "dF_inc/dt / r does not rise with r",
        inner,
        power > POWER,
        _fairness(power, POWER),
    )
    decrease = _verdict(
        "Chiu-Jain decrease",
        "f_dec(r) / r does not rise with r",
        rates[above][1:],
        ratio > RATIO,
        _fairness(ratio, RATIO),
    )
    improves = any(bool(np.all(change < -slack)) for change, slack in ((power, POWER), (ratio, RATIO)))
    both = Condition(
        "Chiu-Jain",
        "increase or decrease improves fairness, and the other does not worsen it",
        increase.holds and decrease.holds and improves,
        [],
        ""
        if increase.holds and decrease.holds and improves
        else "increase or decrease worsens fairness"
        if improves
        else "neither increase nor decrease improves fairness at every rate",
    )
    return increase, decrease, both


def _fairness(change: Array, slack: float) -> str:
    if np.all(change < -slack):
        return "improves fairness"
    if np.all(np.abs(change) <= slack):
        return "keeps fairness"
    if np.all(change > slack):
        return "worsens fairness"
    return "worsens fairness at some rates" if np.any(change > slack) else "keeps or improves fairness"


def _verdict(name: str, text: str, rates: Array, bad: np.ndarray, note: str) -> Condition:
    return Condition(name, text, not bad.any(), _ranges(rates, bad), note)


def _ranges(rates: Array, bad: np.ndarray) -> list[tuple[float, float]]:
    """Return runs of bad rates as pairs of their first and last rates."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], bad.astype(int), [0]])))
    return [(float(rates[a]), float(rates[b - 1])) for a, b in zip(edges[::2], edges[1::2], strict=True)]
