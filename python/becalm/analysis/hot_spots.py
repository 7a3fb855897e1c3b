"""The cases of a tuning: scenarios with a hot spot, its contributors, background and times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

from becalm.scenario import Scenario

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
    """Weight among all cases."""
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
