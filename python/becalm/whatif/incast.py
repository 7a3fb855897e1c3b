"""An incast on a host of a fabric: sources, victims, and the throughput that congestion control restores."""

from __future__ import annotations

import difflib
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from becalm.errors import BecalmError
from becalm.quantities import seconds
from becalm.results import Results
from becalm.run import Progress, run
from becalm.scenario import Scenario
from becalm.whatif.faults import Fault, faults
from becalm.whatif.network import Network, network

GROUP = "hot_spot"
"""Group of the flows of the incast; one of this name in the scenario is replaced."""
DEGREE = 8
"""Sources, when not given and there are as many hosts."""

MOST_HOPS = 16e6
"""Packet-hops that a run may have, estimated: some seconds."""
HOPS = 8
"""Links that a packet and its ACK cross together, about."""
SHORTEST = 200e-6
"""Seconds that are simulated at least: a tree needs time to grow."""
WARMUP = 0.25
"""Share of a run that is not measured."""

LOST = 0.05
"""A flow is a victim if it loses more than this share of what it had without the incast."""
MANY = 4
"""A source with more destinations than this in a group counts as one flow: each of them is too small."""
FEWEST = 10
"""Fewest packets that a victim loses: a smaller loss is chance."""
GROWN = 0.05
"""A link is in the tree if it is congested for so much more of the time with the incast than without it."""


class Branch(NamedTuple):
    """A link of the congestion tree."""

    link: str
    role: str
    """`root` or `branch`."""
    without: float
    """Share of the time that it was congested, without congestion control."""
    managed: float
    """Share of the time that it was congested, with congestion control."""


class Victim(NamedTuple):
    """A flow that loses throughput to an incast that it has no part in; rates in B/s."""

    source: str
    destination: str
    """The destination; `*` for all other destinations of the source."""
    group: str
    takes_part: bool
    """Whether its source also sends to the hot host, so that the two share its link."""
    calm: float
    """Rate without the incast."""
    without: float
    """Rate with it, without congestion control."""
    managed: float
    """Rate with both."""

    @property
    def lost(self) -> float:
        """Share of its rate that it loses without congestion control."""
        return 1 - self.without / self.calm

    @property
    def lost_managed(self) -> float:
        """Share of its rate that it loses with congestion control."""
        return 1 - self.managed / self.calm


class Rates(NamedTuple):
    """Rates of one run in B/s."""

    others: float
    """All flows outside of the incast whose destination is not the hot host."""
    incast: float
    """The flows of the incast."""


@dataclass(frozen=True)
class WhatIf:
    """The effects of an incast on a fabric."""

    hot: str
    sources: list[str]
    control: str
    """Where the parameters of congestion control come from."""
    faults: list[Fault]
    tree: list[Branch]
    """Links of switches, the most congested first."""
    congested_before: int
    """Links of switches that are congested without the incast, too."""
    victims: list[Victim]
    """Those that lose most first."""
    rates: dict[str, Rates]
    """By run: `calm`, `without`, `managed`."""
    simulated: float
    """Seconds that each run simulated."""
    took: float
    """Seconds that the three runs took."""


def whatif(
    scenario: Scenario,
    hot: str,
    control: Callable[[Scenario, int], Scenario],
    *,
    control_name: str,
    degree: int | None = None,
    net: Network | None = None,
    max_time: float = 120.0,
    threads: int | None = None,
    progress: Callable[[Progress], object] | None = None,
    on_faults: Callable[[list[Fault]], object] | None = None,
) -> WhatIf:
    """Simulate an incast on a host three times: not at all, without and with congestion control.

    The scenario's own flows are the background, except a group called `hot_spot`. Sources are taken from all
    over the fabric. Each run simulates what the scenario asks for, or less, so that it takes some seconds.

    Args:
        scenario: a fabric with a list of cables, and traffic.
        hot: the host that all send to.
        control: returns a scenario with congestion control, for a degree.
        control_name: its name.
        degree: how many sources there are; 8 when not given, or all other hosts.
        net: the network of the scenario, where it is known already.
        max_time: seconds of the clock that the runs may take together.
        threads: of each run, see `becalm.run`.
        progress: see `becalm.run`.
        on_faults: is called with the faults of the fabric before the first run.

    Raises:
        BecalmError: an unknown host, a degree out of range, no background, or out of time.
        FabricError: a run that stands still.

    """
    net = net or network(scenario)
    sources = _sources(net, hot, degree)
    without = _with_incast(scenario, hot, sources)
    without, simulated = _shortened(without, net)
    calm = without.replace({"flows": _background(without)})
    scenarios = {"calm": _off(calm), "without": _off(without), "managed": control(without, len(sources))}

    def limited(now: Progress) -> None:
        if time.monotonic() - began > max_time:
            raise BecalmError(f"took longer than {max_time:g} s: raise the limit with --max-time")
        if progress is not None:
            progress(now)

    found = faults(scenario, net)
    if on_faults is not None:
        on_faults(found)
    began = time.monotonic()
    results = {name: run(each, limited, threads) for name, each in scenarios.items()}
    tree, before = _tree(net, results)
    return WhatIf(
        hot=hot,
        sources=sources,
        control=control_name,
        faults=found,
        tree=tree,
        congested_before=before,
        victims=_victims(results, hot, sources),
        rates={name: _rates(each, hot) for name, each in results.items()},
        simulated=simulated,
        took=time.monotonic() - began,
    )


def _sources(net: Network, hot: str, degree: int | None) -> list[str]:
    if hot not in net.known:
        near = difflib.get_close_matches(hot, net.hosts, n=3) or net.hosts[:3]
        raise BecalmError(f"host `{hot}`: unknown; valid: {', '.join(near)} ...")
    others = [host for host in net.hosts if host != hot]
    number = min(DEGREE, len(others)) if degree is None else degree
    if not 1 <= number <= len(others):
        raise BecalmError(f"degree {number}: must be between 1 and the {len(others)} other hosts")
    # From all over the fabric, so that the tree has branches.
    return [others[(2 * place + 1) * len(others) // (2 * number)] for place in range(number)]


def _background(scenario: Scenario) -> list[dict[str, Any]]:
    kept = [group for group in _flows(scenario) if group["name"] != GROUP]
    if not kept:
        raise BecalmError(f"{scenario.name}: flows: no background; valid: groups beside `{GROUP}`")
    return kept


def _with_incast(scenario: Scenario, hot: str, sources: list[str]) -> Scenario:
    incast = {"name": GROUP, "from": sources, "to": [hot], "traffic": {"greedy": {}}}
    return scenario.replace({"flows": [*_background(scenario), incast], "run.replications": None})


def _off(scenario: Scenario) -> Scenario:
    """Return a scenario without congestion control, with the window of its response."""
    ((_, params),) = scenario.resolved["response"].items()
    window = {"window": params["window"]} if "window" in params else {}
    flows = [{key: value for key, value in each.items() if key != "response"} for each in _flows(scenario)]
    return scenario.replace(
        {
            "marking": {"none": {}},
            "echo": None,
            "response": {"none": window},
            "flows": flows,
            "adapter.port_control": None,
        }
    )


def _flows(scenario: Scenario) -> list[dict[str, Any]]:
    flows: list[dict[str, Any]] = scenario.data().get("flows", [])
    return flows


def _shortened(scenario: Scenario, net: Network) -> tuple[Scenario, float]:
    """Return the scenario with a run that takes some seconds, and the seconds that it simulates."""
    facts = scenario.summary
    hops_per_second = len(net.hosts) * facts["host_rate"] / facts["packet_bytes"] * HOPS
    asked = seconds(scenario.resolved["run"]["duration"])
    duration = min(asked, max(SHORTEST, MOST_HOPS / hops_per_second))
    if duration == asked:
        return scenario, asked
    nanoseconds = round(duration * 1e9)
    changes = {"run.duration": f"{nanoseconds} ns", "run.warmup": f"{round(nanoseconds * WARMUP)} ns"}
    return scenario.replace(changes), nanoseconds * 1e-9


def _shares(results: Results, net: Network) -> dict[tuple[str, int], tuple[float, float]]:
    """Return for outputs of switches the shares of time as root and as branch; of several lanes, the most."""
    shares: dict[tuple[str, int], tuple[float, float]] = {}
    for row in results.tree.iter_rows(named=True):
        if row["from"] not in net.known:
            place = row["from"], row["from_port"]
            root, branch = shares.get(place, (0.0, 0.0))
            shares[place] = max(root, row["root_share"]), max(branch, row["branch_share"])
    return shares


def _tree(net: Network, results: dict[str, Results]) -> tuple[list[Branch], int]:
    calm, without, managed = (_shares(results[name], net) for name in ("calm", "without", "managed"))
    peers = {place: net.ports[place[0]][place[1]].peer for place in without}
    tree = [
        Branch(
            net.link(*place, peers[place]),
            "root" if root >= branch else "branch",
            root + branch,
            sum(managed.get(place, (0.0, 0.0))),
        )
        for place, (root, branch) in without.items()
        if root + branch - sum(calm.get(place, (0.0, 0.0))) > GROWN
    ]
    tree.sort(key=lambda each: (-round(each.without, 3), each.role != "root", each.link))
    return tree, sum(sum(shares) > GROWN for shares in calm.values())


def _victims(results: dict[str, Results], hot: str, sources: list[str]) -> list[Victim]:
    rates = {name: _by_flow(each, hot) for name, each in results.items()}
    few = FEWEST * results["calm"].scenario.summary["packet_bytes"] / _measured(results["calm"])
    victims = []
    for flow, calm in rates["calm"].items():
        group, source, destination, _ = flow
        without, managed = rates["without"].get(flow, 0.0), rates["managed"].get(flow, 0.0)
        if calm - without > max(LOST * calm, few):
            victims.append(Victim(source, destination, group, source in sources, calm, without, managed))
    return sorted(victims, key=lambda each: (each.without - each.calm, each.source, each.destination))


def _measured(results: Results) -> float:
    """Return the seconds that a run measured."""
    times = results.scenario.resolved["run"]
    return seconds(times["duration"]) - seconds(times["warmup"])


def _by_flow(results: Results, hot: str) -> dict[tuple[str, str, str, int], float]:
    """Return the rates of flows in B/s, by group, source, destination and, of several alike, their place.

    Flows to the hot host are left out.
    """
    rows = [row for row in results.flows.iter_rows(named=True) if row["destination"] != hot]
    destinations = Counter((row["group"], row["source"]) for row in rows)
    found: dict[tuple[str, str, str, int], float] = defaultdict(float)
    alike: Counter[tuple[str, str, str]] = Counter()
    for row in rows:
        key = row["group"], row["source"], row["destination"]
        if destinations[key[:2]] > MANY:
            found[(*key[:2], "*", 0)] += row["rate"]
        else:
            found[(*key, alike[key])] += row["rate"]
            alike[key] += 1
    return dict(found)


def _rates(results: Results, hot: str) -> Rates:
    import polars as pl

    flows = results.flows
    others = flows.filter((pl.col("group") != GROUP) & (pl.col("destination") != hot))
    return Rates(float(others["rate"].sum()), float(flows.filter(pl.col("group") == GROUP)["rate"].sum()))
