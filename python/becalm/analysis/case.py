"""A case: the facts, bottlenecks, victims and control of a run, each computed once."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from becalm.analysis import blame, limits
from becalm.analysis.blame import Bottleneck
from becalm.analysis.facts import Facts
from becalm.analysis.faults import usual
from becalm.analysis.trials import Bench, Effect, effect
from becalm.base.quantities import rate, seconds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from becalm.analysis.facts import Floats, Places
    from becalm.scenario import Scenario


class Case:
    """Input of the rules."""

    def __init__(self, facts: Facts, file: str | None = None, bench: Bench | None = None) -> None:
        self.facts = facts
        self.file = file
        """Path of the run's scenario or results for use in commands, or None if there is none."""
        self.bench = bench
        """Runs trials; None if only the tables may be used."""
        self.named: list[tuple[str, str]] = []
        """The causes that rules have named so far, each with its link, host or job."""

    def tried(self, scenario: Scenario) -> Effect | None:
        """Return the effect of a changed scenario; None if trials are not wanted or take too long."""
        found = None if self.bench is None else self.bench.run(scenario)
        return None if found is None else effect(self.facts.results, self.facts.replication, found)

    @cached_property
    def bottlenecks(self) -> list[Bottleneck]:
        """The links where congestion begins."""
        return blame.bottlenecks(self.facts)

    @cached_property
    def stragglers(self) -> list[Straggler]:
        """The slower hosts of jobs, if they used their rate, or if a trial at the usual rate ends sooner."""
        return [each for each in Hosts(self.facts).stragglers() if each.used >= limits.SATURATED]

    @cached_property
    def victims(self) -> Places:
        """The flows that are victims, by the column `role` of the table `flows`."""
        return np.flatnonzero(self.facts.flows.suffers)

    @cached_property
    def unexplained(self) -> Places:
        """Flows that lose traffic and are neither contributors nor victims."""
        flows = self.facts.flows
        return np.flatnonzero(~flows.suffers & ~flows.contributes & (flows.lost > 0))

    @cached_property
    def slowed(self) -> Places:
        """The unexplained flows that are marked: their own response slows them down."""
        answers = {name: next(iter(table)) not in ("none", "fixed") for name, table in self.responses.items()}
        flows = self.facts.flows
        chosen = [flow for flow in self.unexplained if flows.marked[flow] > 0 and answers[flows.group[flow]]]
        return np.array(chosen, dtype=np.int64)

    @cached_property
    def narrow(self) -> dict[str, Places]:
        """The unexplained flows that get what a limit on their path lets through, by the limit.

        The limits are `buffer`, the credit of the input buffers, and `window`, a constant window.
        """
        facts = self.facts
        own = np.setdiff1d(self.unexplained, self.slowed)
        shares = facts.reach(own)
        lower = shares.min(axis=1)
        reached = (lower < limits.REACHED) & self._passes(own, lower)
        by = shares.argmin(axis=1)
        return {name: own[reached & (by == place)] for place, name in enumerate(("buffer", "window"))}

    def _passes(self, flows: Places, lower: Floats) -> NDArray[np.bool_]:
        """Return whether each flow gets a share of its slowest link, alone or with others on a link."""
        links, carried = self.facts.links, self.facts.summed(self.facts.flows.delivered)
        found = []
        for flow, least in zip(flows, lower, strict=True):
            path = self.facts.path(int(flow))
            most = least * links.capacity[path].min()
            got = np.append(carried[path], self.facts.flows.delivered[flow])
            found.append(bool((np.abs(got / most - 1) < 1 - limits.REACHED).any()))
        return np.array(found, dtype=np.bool_)

    def delaying(self, job: str) -> Bottleneck | None:
        """Return the first bottleneck of others that a job's flows cross or wait behind."""
        own = np.flatnonzero(np.array(self.facts.flows.group) == job)
        for each in self.bottlenecks:
            behind = (
                blame.behind(self.facts, each.link) if set(each.groups) - {job} else np.array([], np.int64)
            )
            if np.isin(self.facts.meeting(behind), own).any():
                return each
        return None

    @cached_property
    def marking(self) -> str:
        """Name of the marking policy."""
        return self.facts.scenario.marking.name

    @cached_property
    def responses(self) -> dict[str, dict[str, Any]]:
        """Response of each group of flows by group name: a table whose only key is the response's name."""
        common, groups = self.facts.resolved["response"], self.facts.scenario.groups
        return {group["name"]: group["response"] or common for group in groups}

    def controlled(self, bottleneck: Bottleneck) -> bool:
        """Whether switches mark, and at least one of the groups that feed a link reacts to marks."""
        answers = {name for group in bottleneck.groups for name in self.responses[group]}
        return self.marking != "none" and bool(answers - {"none", "fixed"})

    def ibta(self, bottleneck: Bottleneck) -> dict[str, Any] | None:
        """Parameters of IBTA congestion control, if all groups that feed a link use the scenario's."""
        common: dict[str, Any] = self.facts.resolved["response"]
        if any(self.responses[group] != common for group in bottleneck.groups):
            return None
        found: dict[str, Any] | None = common.get("ibta")
        return found

    def use(self, bottleneck: Bottleneck) -> float:
        """Return a link's utilization relative to its utilization if all offered traffic were delivered."""
        _, expected = self.facts.expected(bottleneck.link)
        return float(self.facts.links.busy[bottleneck.link] / max(1e-9, expected.mean()))

    def followed(self, bottleneck: Bottleneck) -> bool:
        """Whether the time series include a link."""
        names = self.facts.resolved["observe"]["links"]
        return "*" in names or bottleneck.name in names

    def steady(self, bottleneck: Bottleneck) -> bool:
        """Whether the traffic offered to a link is steady."""
        traffic = {group["name"]: group["traffic"] for group in self.facts.resolved["flows"]}
        # A job's traffic fluctuates, since its ranks also compute.
        chosen = [traffic.get(group, {}) for group in bottleneck.groups]
        return all(
            "greedy" in each or not each.get("poisson", {"changes": True})["changes"] for each in chosen
        )

    def rates(self, bottleneck: Bottleneck) -> Floats | None:
        """Return the rates of a link during overload, as shares of its capacity.

        The rates are from non-overlapping windows of the series. None if there are too few windows.
        """
        import polars as pl

        facts = self.facts
        times, expected = facts.expected(bottleneck.link)
        loaded = times[expected >= 1.0]
        series = facts.table("series") if "series" in facts.results.tables else None
        if series is None or not len(loaded):
            return None
        window, step = (seconds(facts.resolved["observe"][key]) for key in ("window", "step"))
        inside = series.filter(
            (pl.col("kind") == "link")
            & (pl.col("name") == bottleneck.name)
            & (pl.col("time") >= loaded[0] + window)
            & (pl.col("time") <= loaded[-1] - window)
        )
        rates: Floats = inside["share"].to_numpy()[:: max(1, round(window / step))]
        return rates if len(rates) >= limits.SAMPLES else None


class Straggler(NamedTuple):
    """A host that is slower than the others of its job."""

    job: str
    host: str
    what: str
    """`sends`, `receives` or `computes`."""
    own: float
    """Its rate in B/s, or its time of computation in s."""
    usual: float
    """The same of the job's other hosts."""
    used: float
    """Share of its rate that the host used while the job ran; 1 for computation."""


class Hosts:
    """Rates of hosts."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    @cached_property
    def limits(self) -> dict[str, tuple[float, float]]:
        """The rates in B/s at which each host can send and receive."""
        facts, links = self._facts, self._facts.links
        sends: dict[str, float] = {}
        receives: dict[str, float] = {}
        for start, to, level, to_level, capacity in zip(
            links.start, links.to, links.level, links.to_level, links.capacity, strict=True
        ):
            if level == 0:
                sends[start] = sends.get(start, 0.0) + float(capacity)
            if to_level == 0:
                receives[to] = receives.get(to, 0.0) + float(capacity)
        adapter = facts.resolved["adapter"]
        caps = [*adapter["caps"], {**adapter, "hosts": ["*"]}]
        for cap in caps:
            for key, rates in (("injection_rate", sends), ("drain_rate", receives)):
                if cap[key] is not None:
                    for host in facts.scenario.hosts(*cap["hosts"]):
                        rates[host] = min(rates[host], rate(cap[key]))
        return {host: (sends[host], receives[host]) for host in sends}

    def stragglers(self) -> list[Straggler]:
        """Return the hosts that can send, receive or compute less than the usual host of their job."""
        facts = self._facts
        if "jobs" not in facts.results.tables:
            return []
        found = []
        for row in facts.table("jobs").iter_rows(named=True):
            found += self._slow(row["job"], _lasted(facts, row))
            found += self._computing(row["job"], row["time"])
        return found

    def _slow(self, job: str, lasted: float) -> list[Straggler]:
        facts, found = self._facts, []
        ranks = facts.table("ranks")
        own = ranks.filter(ranks["job"] == job)["host"].unique(maintain_order=True).to_list()
        hosts = facts.table("hosts")
        counts = zip(hosts["host"], hosts["sent_bytes"], hosts["received_bytes"], strict=True)
        carried = {host: (float(sent), float(received)) for host, sent, received in counts}
        for place, what in enumerate(("sends", "receives")):
            normal = usual(self.limits[host][place] for host in own)
            for host in own:
                most = self.limits[host][place]
                if most < limits.SLOWER * normal:
                    used = min(1.0, carried[host][place] / (most * lasted)) if lasted > 0 else 0.0
                    # Otherwise, other traffic delays the job.
                    if self._own(job, host, what) >= limits.MOSTLY * carried[host][place]:
                        found.append(Straggler(job, host, what, most, normal, used))
        return found

    def _own(self, job: str, host: str, what: str) -> float:
        """Return the bytes that a job's flows delivered from a host, or to it."""
        flows = self._facts.flows
        ends = flows.source if what == "sends" else flows.destination
        chosen = [group == job and end == host for group, end in zip(flows.group, ends, strict=True)]
        return float(flows.delivered[np.array(chosen)].sum() * self._facts.window)

    def _computing(self, job: str, time: float | None) -> list[Straggler]:
        """Return the hosts whose ranks compute longer than the median, by a noticeable part of the job."""
        ranks = self._facts.table("ranks")
        own = ranks.filter(ranks["job"] == job)
        if time is None or not time > 0 or not own.height:
            return []
        middle = float(sorted(own["compute"].to_list())[(own.height - 1) // 2])
        return [
            Straggler(job, row["host"], "computes", row["compute"], middle, 1.0)
            for row in own.iter_rows(named=True)
            if row["compute"] - middle >= limits.SLOWED * time
        ]


def _lasted(facts: Facts, row: dict[str, float | None]) -> float:
    """Return the time in s for which a job ran in the measured window."""
    start, end = float(row["start"] or 0.0), row["end"]
    stop = facts.duration if end is None or end != end else min(float(end), facts.duration)
    return stop - max(start, facts.warmup)
