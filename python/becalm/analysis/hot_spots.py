"""The cases of a tuning: scenarios with a hot spot, its contributors, background and times."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import pairwise
from typing import Any

from becalm.quantities import seconds
from becalm.scenario import Scenario

TUNE, GUARD, HELD_OUT = "tune", "guard", "held_out"
ROLES = (TUNE, GUARD, HELD_OUT)
"""Role of a case: improve it, do not make it worse, or only check it at the end."""

SAMPLES = 60
"""Number of samples in a hot period, which sets the resolution of `settle` and `recovery`."""


@dataclass(frozen=True)
class Case:
    """A scenario for trials of parameters."""

    name: str
    scenario: Scenario
    """Scenario with background and hot groups of flows. Its control is replaced."""
    hot: tuple[str, ...]
    """Groups that cause the congestion, as patterns; empty in a case without congestion."""
    background: tuple[str, ...]
    """Groups that suffer from the congestion, as patterns."""
    link: str | None = None
    """The link that all hot flows share, such as `L1S7->H31`."""
    start: float = 0.0
    """Start of the hot period in s."""
    stop: float = 0.0
    """End of the hot period in s; equal to `start` if there is none."""
    weight: float = 1.0
    """Weight among the tuning cases."""
    role: str = TUNE
    kind: str = ""
    """Kind of hot spot of a random case; see `becalm.tunings.population`."""

    def groups(self, patterns: Sequence[str]) -> list[str]:
        """Return the groups of the scenario that match patterns such as `cold*`."""
        names = [group["name"] for group in self.scenario.resolved["flows"]]
        return [name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns)]

    def observed(self, control: Mapping[str, Any], seed: int) -> Scenario:
        """Return the scenario with new parameters, a new seed, and the observations that measures need.

        Raises:
            ScenarioError: the parameters are invalid.

        """
        seen: dict[str, Any] = {"run.seed": seed, "run.replications": 1}
        seen["observe.links"] = [] if self.link is None else [self.link]
        if self.stop > self.start:
            step = f"{(self.stop - self.start) / SAMPLES * 1e9:.0f} ns"
            seen |= {"observe.step": step, "observe.window": step}
        return self.scenario.replace({**control, **seen})

    @cached_property
    def contributors(self) -> int:
        """The largest number of hosts that send to one hot host; 0 without a hot spot."""
        if not self.hot:
            return 0
        flows = self.scenario.network().flows
        flows = flows.filter(flows["group"].is_in(self.groups(self.hot)))
        by_host: dict[str, set[str]] = {}
        for source, destination in flows.select("source", "destination").iter_rows():
            by_host.setdefault(destination, set()).add(source)
        return max(map(len, by_host.values()), default=0)

    @cached_property
    def calm(self) -> Case | None:
        """The case without its hot flows: the case itself if it has none, or None if no flow is left."""
        hot = set(self.groups(self.hot))
        if not hot:
            return self
        left = [group for group in self.scenario.data()["flows"] if group["name"] not in hot]
        if not left:
            return None
        return replace(
            self, name=f"{self.name}, calm", scenario=self.scenario.replace({"flows": left}), hot=()
        )

    @cached_property
    def fair(self) -> dict[str, float]:
        """Max-min fair rate of each group in the hot period, in B/s.

        The demand of a flow is the load that its traffic offers in that period, or unlimited.
        """
        import numpy as np

        from becalm.theory.sharing import fair_rates

        network, groups = self.scenario.network(), self.scenario.resolved["flows"]
        names = network.flows["group"].to_list()
        paths, capacities = network.flow_paths, network.links["capacity"].to_numpy()
        flow, link = (paths[name].to_numpy().astype(np.int64) for name in ("flow", "link"))
        share = paths["share"].to_numpy()
        wanted = np.full(len(names), np.inf)
        places = {each["name"]: np.array([n == each["name"] for n in names]) for each in groups}
        sources = network.flows["source"].to_list()
        for each in groups:
            counts: dict[str, int] = {}
            for place in np.flatnonzero(places[each["name"]]):
                counts[sources[place]] = counts.get(sources[place], 0) + 1
            for place in np.flatnonzero(places[each["name"]]):
                offered = _offered(each["traffic"], self.start, self.stop)
                wanted[place] = (
                    offered
                    * float(self.scenario.summary["host_rate"])
                    / (counts[sources[place]] if "poisson" in each["traffic"] else 1)
                )
        spans = {each["name"]: _span(each, self.start, self.stop) for each in groups}
        edges = sorted({edge for span in spans.values() for edge in span} | {self.start, self.stop})
        found = dict.fromkeys(places, 0.0)
        for begin, end in pairwise(edges):
            active = np.zeros(len(names), dtype=bool)
            for name, (first, last) in spans.items():
                active |= places[name] & (first <= begin) & (last >= end)
            now = fair_rates(flow, link, share, capacities, np.where(active, wanted, 0.0))
            for name, own in places.items():
                found[name] += float(now[own].sum()) * (end - begin) / (self.stop - self.start)
        return found


def _offered(traffic: Mapping[str, Any], start: float, stop: float) -> float:
    """Return a source's load between two times, as a share of its link; infinite if always backlogged."""
    if "on_off" in traffic:
        on, off = (seconds(traffic["on_off"][key]) for key in ("mean_on", "mean_off"))
        return on / (on + off)
    if "poisson" not in traffic:
        return math.inf
    steps = [(0.0, traffic["poisson"]["load"])]
    steps += [(seconds(str(each["at"])), each["load"]) for each in traffic["poisson"]["changes"]]
    ends = [*(at for at, _ in steps[1:]), math.inf]
    sent = sum(
        load * max(0.0, min(end, stop) - max(at, start)) for (at, load), end in zip(steps, ends, strict=True)
    )
    return float(sent / (stop - start))


def _span(group: Mapping[str, Any], start: float, stop: float) -> tuple[float, float]:
    """Return the part of an interval in which a group is active."""
    last = stop if group["stop"] is None else seconds(str(group["stop"]))
    return min(max(start, seconds(str(group["start"]))), stop), max(start, min(stop, last))
