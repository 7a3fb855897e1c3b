"""The cases of a tuning: scenarios with a hot spot, its contributors, background and times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

from becalm.errors import BecalmError
from becalm.scenario import Scenario

TUNE, GUARD, HELD_OUT = "tune", "guard", "held_out"
ROLES = (TUNE, GUARD, HELD_OUT)
"""Role of a case: to be improved, not to become worse, or only to be checked at the end."""

SEVERITY = 3.0
"""Load offered to the hot link where all hosts are hot, as a multiple of it (Pfister 2005, HSV 300%)."""
LOADS = (0.5, 0.9)
"""Background loads of the cases that are made (Pfister 2005, Table 1)."""
BETWEEN = 0.7
"""Background load of a case that is held out: one that the search never saw, all hosts hot."""
SAMPLES = 60
"""Samples of a hot period: what comes back to normal is seen with this resolution."""


@dataclass(frozen=True)
class Case:
    """A scenario for trials of parameters."""

    name: str
    scenario: Scenario
    """With groups of flows that suffer, and some that are hot; its control is replaced."""
    hot: tuple[str, ...]
    """Groups that cause the congestion, as patterns; none in a case without it."""
    background: tuple[str, ...]
    """Groups that suffer from it, as patterns."""
    link: str | None = None
    """The link that all hot flows share, such as `L1S7->H31`."""
    start: float = 0.0
    """When the hot period begins, in s."""
    stop: float = 0.0
    """When it ends, in s; `start` where there is none."""
    weight: float = 1.0
    """Weight among the tuning cases."""
    role: str = TUNE

    def groups(self, patterns: Sequence[str]) -> list[str]:
        """Return the groups of the scenario that fit patterns such as `cold*`."""
        names = [group["name"] for group in self.scenario.resolved["flows"]]
        return [name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns)]

    def observed(self, control: Mapping[str, Any], seed: int) -> Scenario:
        """Return the scenario with other parameters and seed, and the observations that measures need.

        Raises:
            ScenarioError: parameters that cannot be.

        """
        seen: dict[str, Any] = {"run.seed": seed, "run.replications": 1}
        seen["observe.links"] = [] if self.link is None else [self.link]
        if self.stop > self.start:
            step = f"{(self.stop - self.start) / SAMPLES * 1e9:.0f} ns"
            seen |= {"observe.step": step, "observe.window": step}
        return self.scenario.replace({**control, **seen})


@dataclass(frozen=True)
class HotSpot:
    """Cases that are made for a fabric: a hot spot that comes and goes, in background traffic (Pfister 2005).

    Packets are posted during delays, too: sources have a backlog. That is the harder case.
    """

    scenario: Scenario
    """The fabric, its switches, adapters and packets; its flows are replaced."""
    host: str
    """The hot host."""
    degree: int | None = None
    """Sources of the smaller hot spot; three if not given. In the other cases all hosts are hot."""
    start: float = 0.4e-3
    """When the hot period begins, in s."""
    hot: float = 3e-3
    """How long it lasts, in s."""
    after: float = 2.4e-3
    """What is simulated after it, in s."""

    def cases(self) -> list[Case]:
        """Return the cases: few and all hosts hot, at each load, and a guard; two are held out.

        Raises:
            BecalmError: the host or the degree cannot be.

        """
        few = [self.case(load, few=True) for load in LOADS]
        whole = [self.case(load, few=False) for load in LOADS]
        unseen = self.case(BETWEEN, few=False)
        return [few[0], *whole, replace(few[1], role=HELD_OUT), replace(unseen, role=HELD_OUT), self._guard()]

    @cached_property
    def hosts(self) -> list[str]:
        """All hosts of the fabric."""
        return self.scenario.hosts()

    def case(self, load: float, *, few: bool) -> Case:
        """Return a case with few or with all hosts hot.

        Raises:
            BecalmError: the host or the degree cannot be.

        """
        hosts = self.hosts
        if self.host not in hosts:
            raise BecalmError(f"hot host {self.host}: no host of {self.scenario.name}; valid: {_some(hosts)}")
        others = [host for host in hosts if host != self.host]
        degree = min(3, len(others)) if self.degree is None else self.degree
        if not 2 <= degree <= len(others):
            raise BecalmError(f"degree {degree}: must be between 2 and the {len(others)} other hosts")
        flows = self._few(others, load, degree) if few else self._all(others, load)
        scenario = self._with(flows, self.start + self.hot + self.after)
        return Case(
            name=f"{degree if few else 'all'} hot, {load:g}",
            scenario=scenario,
            hot=("hot",),
            background=("cold*",),
            link=self._link(),
            start=self.start,
            stop=self.start + self.hot,
        )

    def _guard(self) -> Case:
        flow = _group("background", ["*"], ["*"], LOADS[-1])
        scenario = self._with([flow], self.start + self.hot)
        return Case(f"none hot, {LOADS[-1]:g}", scenario, (), ("background",), role=GUARD)

    def _all(self, others: list[str], load: float) -> list[dict[str, Any]]:
        """All hosts offer the hot link three times what it takes, background included; less to others."""
        count = len(others)
        diverted = (SEVERITY - load) / max(count - 1, 1)
        elsewhere = (count - 1) / count
        before, during = load * elsewhere, max(load - diverted, 0.0) * elsewhere
        changes = [(self.start, during), (self._stop, before)]
        hot = [(self.start, SEVERITY / count), (self._stop, load / count)]
        return [
            _group("cold own", [self.host], others, load),
            _group("cold", others, others, before, changes),
            _group("hot", others, [self.host], load / count, hot),
        ]

    def _few(self, others: list[str], load: float, degree: int) -> list[dict[str, Any]]:
        """Some hosts, spread over the fabric, send to the hot host alone; all others go on as before."""
        count = len(others)
        chosen = [others[place * count // degree] for place in range(degree)]
        rest = [host for host in others if host not in chosen]
        elsewhere, background = load * (count - 1) / count, load / count
        groups = [
            _group("cold own", [self.host], others, load),
            _group("cold of hot", chosen, others, elsewhere, [(self.start, 0.0), (self._stop, elsewhere)]),
            _group("hot", chosen, [self.host], background, [(self.start, 1.0), (self._stop, background)]),
        ]
        if rest:
            groups.insert(1, _group("cold", rest, others, elsewhere))
            groups.append(_group("background", rest, [self.host], background))
        return groups

    @property
    def _stop(self) -> float:
        return self.start + self.hot

    def _with(self, flows: list[dict[str, Any]], duration: float) -> Scenario:
        length = {"duration": _ns(duration), "warmup": "0 s"}
        return self.scenario.replace(
            {"flows": flows, "run": length, "observe": {}, "adapter.injection": "posted"}
        )

    def _link(self) -> str:
        """Return the link to the hot host."""
        links = self.scenario.network().links
        return str(links.filter(links["to"] == self.host)["link"][0])


def _group(
    name: str,
    sources: list[str],
    destinations: list[str],
    load: float,
    changes: Sequence[tuple[float, float]] = (),
) -> dict[str, Any]:
    later = [{"at": _ns(time), "load": value} for time, value in changes]
    traffic = {"poisson": {"load": load, "message": "2048 B", "changes": later}}
    return {"name": name, "from": sources, "to": destinations, "traffic": traffic}


def _ns(seconds: float) -> str:
    return f"{seconds * 1e9:.0f} ns"


def _some(names: list[str]) -> str:
    return ", ".join(names if len(names) <= 8 else [*names[:7], f"... {names[-1]}"])
