"""What the hosts of a run can send and receive, and how much of it they did."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from becalm.analysis import limits
from becalm.analysis.facts import Facts
from becalm.analysis.faults import usual
from becalm.quantities import rate


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
