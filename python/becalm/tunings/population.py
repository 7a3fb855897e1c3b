"""Random cases that a fabric may meet. A tuning searches on some and compares rows on others.

The number of contributors is log-uniform from 2 to all hosts that can reach the hot host. The background
ranges from a low load to what the links carry without a hot spot. The kind of hot spot is one of `KINDS`.
Samples are stratified, so that a few cases cover each range evenly. Training, validation and test use
different seeds.
"""

from __future__ import annotations

import math
import random
from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from typing import Any

from becalm.analysis.hot_spots import Case
from becalm.analysis.parts import parts
from becalm.base.errors import BecalmError
from becalm.scenario import Scenario

KINDS: dict[str, float] = {"rest": 0.4, "moving": 0.2, "several": 0.15, "bursts": 0.15, "none": 0.1}
"""Kinds of cases with their shares.

`rest`: one hot host throughout. `moving`: the same contributors move from host to host. `several`: two or
three hot hosts at once, each with different contributors. `bursts`: all contributors send repeated short
bursts, on average half of the hot link's capacity. `none`: only background.
"""
PLACES = 3
"""Number of hosts that a moving hot spot visits."""
BURSTS = 6
"""Number of bursts in a hot period."""
LEAST = 0.1
"""Smallest background load, unless a quarter of what the links carry is less."""
MOST = 0.95
"""Largest background, as a share of what the links carry. At the limit, queues grow without a hot spot."""
PARTNERS = (1, 4, 16)
"""Numbers of background destinations per host. On small fabrics, the last number means all hosts."""
LARGE = 150
"""Smallest number of hosts of a fabric that is not small."""
CLASSES = {"2-4": 4, "5-16": 16, "more": math.inf}
"""Largest number of contributors in each class."""
TRAINING, VALIDATION, TEST = 1, 2, 3
"""Seeds of the random cases."""


def class_of(case: Case) -> str:
    """Return the class of a case by its number of contributors, or `none` without a hot spot."""
    number = case.contributors
    return next(name for name, most in CLASSES.items() if number <= most) if number else "none"


@dataclass(frozen=True)
class Population:
    """A distribution of random cases for a fabric."""

    scenario: Scenario
    """The fabric with its switches, adapters and packets. Its traffic is replaced, and it has no faults."""
    hosts: tuple[str, ...] = ("*",)
    """Hosts that may be hot, as patterns."""
    contributors: tuple[int, int] | None = None
    """Minimum and maximum number of hosts that send to a hot host; default: 2 to all others."""
    load: tuple[float, float] | None = None
    """Smallest and largest background load; default: up to what the links carry."""
    kinds: Sequence[str] = field(default=tuple(KINDS))
    """Kinds of cases to draw, from `KINDS`."""
    start: float = 0.4e-3
    """Start of hot periods in s."""
    hot: float = 3e-3
    """Duration of hot periods in s."""
    after: float = 0.0
    """Simulated time after hot periods in s. Only goals on recovery need it."""

    def __post_init__(self) -> None:
        """Let every packet count: trains are meant for jobs, and not all schemes take them."""
        object.__setattr__(self, "scenario", self.scenario.exact())

    @cached_property
    def all_hosts(self) -> list[str]:
        """All hosts of the fabric; of several parts that no cable connects, those of the largest."""
        first, *others = parts(self.scenario.network())
        return [host for host in self.scenario.hosts() if host in set(first)] if others else first

    @property
    def range(self) -> tuple[int, int]:
        """Minimum and maximum number of contributors."""
        return self.contributors or (2, len(self.all_hosts) - 1)

    def check(self) -> None:
        """Check that the settings are valid.

        Raises:
            BecalmError: invalid hosts, kinds or numbers.

        """
        others = len(self.all_hosts) - 1
        if others < 3:
            raise BecalmError(f"{self.scenario.name}: a hot spot needs at least 4 hosts")
        low, high = self.range
        if not 2 <= low <= high <= others:
            shown = high if low == 2 else f"{low} to {high}"
            raise BecalmError(f"contributors {shown}: must be between 2 and the {others} other hosts")
        for kind in self.kinds:
            if kind not in KINDS:
                raise BecalmError(f"kind `{kind}`: unknown; valid: {', '.join(KINDS)}")

    def draw(self, count: int, seed: int) -> list[Case]:
        """Return `count` cases. The same seed returns the same cases.

        Raises:
            BecalmError: the settings are invalid.

        """
        self.check()
        made = random.Random(seed)
        numbers, loads = _strata(count, made), _strata(count, made)
        return [
            self._case(f"{seed}.{place}", kind, numbers[place], loads[place], made)
            for place, kind in enumerate(_kinds(count, self.kinds, made))
        ]

    def case(self, number: int, load: float | None, seed: int = 1, kind: str = "rest") -> Case:
        """Return a case with `number` contributors and the background `load`, if any."""
        self.check()
        only = load or LEAST
        narrow = replace(self, contributors=(number, number), load=(only, only), kinds=(kind,))
        made = random.Random(seed)
        return narrow._case(f"{seed}", kind, 0.5, 0.5, made, quiet=load is None)

    def _case(
        self,
        name: str,
        kind: str,
        number: float,
        load: float,
        made: random.Random,
        *,
        quiet: bool = False,
    ) -> Case:
        low, high = self.range
        spots = {"none": 0, "moving": PLACES, "several": made.choice((2, 3))}.get(kind, 1)
        spots = min(spots, (len(self.all_hosts) - 1) // 3) if spots > 1 else spots
        hot = self._hot(max(spots, 1), made)
        others = [host for host in self.all_hosts if host not in hot]
        teams = spots if kind == "several" else min(spots, 1)
        most = max(2, min(high, len(others) // max(teams, 1)))
        count = min(most, int(low * ((most + 1) / low) ** number)) if spots else 0
        senders = made.sample(others, count * teams)
        rest = [host for host in others if host not in set(senders)]
        flows = [] if quiet else self._background(rest, made)
        carried = 0.0
        if flows:
            carried = min(1.0, self._carried(flows))
            shares = self.load or (min(LEAST, carried / 4), MOST * carried)
            amount = min(shares[0] + (shares[1] - shares[0]) * load, MOST * carried)
            for flow in flows:
                flow["traffic"] = {"poisson": {"load": max(1e-3, amount / len(flows))}}
            carried = amount
        background = ("cold*",) if flows else ()
        flows += self._hot_flows(kind, hot, senders, count)
        if not flows:
            raise BecalmError(f"{self.scenario.name}: no host is left for background traffic")
        length = {"duration": _ns(self.start + self.hot + self.after), "warmup": "0 s"}
        changes: dict[str, Any] = {"flows": flows, "run": length, "observe": {}}
        changes |= {key: None for key in ("jobs", "faults") if key in self.scenario.data()}
        return Case(
            name=f"{name}: {kind}, {count}, {carried:.2f}",
            scenario=self.scenario.replace(changes),
            hot=("hot*",) if spots else (),
            background=background,
            start=self.start,
            stop=self.start + self.hot,
            kind=kind,
        )

    def _hot(self, count: int, made: random.Random) -> list[str]:
        """Return random hot hosts, first from the given hosts, then from the rest."""
        given = [host for host in self.scenario.hosts(*self.hosts) if host in set(self.all_hosts)]
        first = made.sample(given, min(count, len(given)))
        more = [host for host in self.all_hosts if host not in first]
        return first + made.sample(more, count - len(first))

    def _background(self, hosts: list[str], made: random.Random) -> list[dict[str, Any]]:
        """Return one group of all hosts per shift, or a single group from all hosts to all."""
        if len(hosts) < 2:
            return []
        partners = min(made.choice(PARTNERS), len(hosts) - 1)
        if partners > PARTNERS[1] and len(hosts) < LARGE:
            return [{"name": "cold0", "from": hosts, "to": hosts}]
        return [
            {"name": f"cold{place}", "from": hosts, "pattern": {"shift": {"by": by}}}
            for place, by in enumerate(made.sample(range(1, len(hosts)), partners))
        ]

    def _carried(self, flows: list[dict[str, Any]]) -> float:
        """Return the background load at which the first link is full, by max-min fair rates."""
        changes: dict[str, Any] = {"flows": flows, "run.duration": "1 ms", "run.warmup": "0 s"}
        if "faults" in self.scenario.data():
            changes["faults"] = None
        scenario = self.scenario.replace(changes)
        network = scenario.network()
        flows_of_host = network.flows.height / network.flows["source"].n_unique()
        least = float(network.fair(0.0, 1e-3).min())  # type: ignore[arg-type]
        return least * flows_of_host / float(scenario.summary["host_rate"])

    def _hot_flows(self, kind: str, hot: list[str], senders: list[str], count: int) -> list[dict[str, Any]]:
        start, length = self.start, self.hot
        if kind == "moving":
            part = length / len(hot)
            return [
                _group(f"hot{i}", senders, host, start + i * part, start + (i + 1) * part)
                for i, host in enumerate(hot)
            ]
        if kind == "several":
            return [
                _group(f"hot{i}", senders[i * count : (i + 1) * count], host, start, start + length)
                for i, host in enumerate(hot)
            ]
        if kind == "none":
            return []
        group = _group("hot", senders, hot[0], start, start + length)
        if kind == "bursts":
            period = length / BURSTS
            on = period / (2 * count)
            changes = [{"at": _ns(start + on), "load": 0.0}]
            for i in range(1, BURSTS):
                changes += [
                    {"at": _ns(start + i * period + shift), "load": load}
                    for shift, load in ((0, 1.0), (on, 0.0))
                ]
            group["traffic"] = {"poisson": {"load": 1.0, "changes": changes}}
        return [group]


@dataclass(frozen=True)
class HotSpot:
    """A population with a given first hot host."""

    scenario: Scenario
    """The fabric with its switches, adapters and packets. Its flows are replaced."""
    host: str
    """The hot host."""
    contributors: int | None = None
    """Maximum number of hosts that send to it at once; default: all others."""
    start: float = 0.4e-3
    """Start of the hot period in s."""
    hot: float = 3e-3
    """Duration of the hot period in s."""
    after: float = 0.0
    """Simulated time after the hot period in s."""

    @property
    def degree(self) -> int | None:
        """Another name for `contributors`."""
        return self.contributors

    def population(self) -> Population:
        """Return the population.

        Raises:
            BecalmError: the host or the number of contributors is invalid.

        """
        hosts = self.scenario.hosts()
        if self.host not in hosts:
            raise BecalmError(
                f"hot host {self.host}: not a host of {self.scenario.name}; valid: {_some(hosts)}"
            )
        most = None if self.contributors is None else (2, self.contributors)
        made = Population(
            self.scenario, (self.host,), most, None, tuple(KINDS), self.start, self.hot, self.after
        )
        made.check()
        return made


def _strata(count: int, made: random.Random) -> list[float]:
    """Split the range 0 to 1 into `count` equal parts, and return a number from each, in random order."""
    found = [(place + made.random()) / count for place in range(count)]
    made.shuffle(found)
    return found


def _kinds(count: int, kinds: Sequence[str], made: random.Random) -> list[str]:
    """Return kinds, approximately in proportion to their shares, in random order."""
    whole = sum(KINDS[kind] for kind in kinds)
    ends = list(accumulate(KINDS[kind] / whole for kind in kinds))
    found = [kinds[min(bisect(ends, (place + 0.5) / count), len(kinds) - 1)] for place in range(count)]
    made.shuffle(found)
    return found


def _group(name: str, senders: list[str], host: str, start: float, stop: float) -> dict[str, Any]:
    return {"name": name, "from": senders, "to": [host], "start": _ns(start), "stop": _ns(stop)}


def _ns(seconds: float) -> str:
    return f"{seconds * 1e9:.0f} ns"


def _some(names: list[str]) -> str:
    return ", ".join(names if len(names) <= 8 else [*names[:7], f"... {names[-1]}"])


def load_of(case: Case) -> float | None:
    """Return the background load of a random case."""
    groups = case.scenario.data()["flows"]
    loads = [
        each["traffic"]["poisson"]["load"]
        for each in groups
        if each["name"].startswith("cold") and "traffic" in each
    ]
    return sum(loads) if case.kind and loads else None
