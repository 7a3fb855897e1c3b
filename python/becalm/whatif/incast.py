"""An incast on a host of a fabric: sources, victims, and the throughput that congestion control restores."""

from __future__ import annotations

import contextlib
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from becalm import manager
from becalm.analysis.faults import Fault, Labels, faults, labels
from becalm.analysis.formats import counted, share
from becalm.analysis.recording import recording
from becalm.base.errors import BecalmError
from becalm.results import Results
from becalm.runs import Progress
from becalm.scenario import Scenario
from becalm.whatif import length
from becalm.whatif.budget import RESERVE, Budget, TooSlow

if TYPE_CHECKING:
    import polars as pl

GROUP = "hot_spot"
"""Name of the incast's group of flows, which replaces a group with this name in the scenario."""
CONTRIBUTORS = 8
"""Default number of sources, if there are enough hosts."""

RUNS = ("calm", "calm_managed", "without", "managed")
"""Names of the runs."""
MANY = 4
"""Number of a source's flows in a group above which they count as one, because each is too small."""
GROWN = 0.05
"""Smallest increase of the share of congested time, due to the incast, for which a link is in the tree."""


NOTICED = 0.02
"""Smallest share of throughput whose loss or gain is not attributed to chance."""


class Branch(NamedTuple):
    """A link of the congestion tree."""

    link: str
    role: str
    """`root` or `branch`."""
    without: float
    """Share of time in which the link was congested without congestion control."""
    managed: float
    """Share of time in which the link was congested with congestion control."""


class Victim(NamedTuple):
    """A victim of congestion in the run without control, by the table `flows`, with rates in B/s."""

    source: str
    destination: str
    """The destination; `*` for all other destinations of the source."""
    group: str
    own_link: bool
    """Whether its source also contributes to the incast, over the same link."""
    calm: float
    """Rate without the incast."""
    without: float
    """Rate with the incast, without congestion control."""
    managed: float
    """Rate with both."""
    calm_managed: float
    """Rate with congestion control and without the incast."""

    @property
    def lost_to_incast(self) -> float:
        """Share of its rate without the incast that the victim loses without control; NaN without a rate."""
        return _lost(self.calm, self.without)

    @property
    def lost_with_control(self) -> float:
        """Share of its rate without the incast that the victim loses with control; NaN without a rate."""
        return _lost(self.calm, self.managed)


def _lost(before: float, now: float) -> float:
    return 1 - now / before if before > 0 else math.nan


class Rates(NamedTuple):
    """Rates of one run in B/s."""

    others: float
    """All flows outside the incast whose destination is not the hot host."""
    incast: float
    """The flows of the incast."""


@dataclass(frozen=True, repr=False)
class WhatIf:
    """The effects of an incast on a fabric."""

    hot: str
    sources: list[str]
    control: str
    """Origin of the congestion control parameters."""
    concerns: list[manager.Concern]
    """Parameters that cannot work, as `becalm manage` and `validate` name them."""
    faults: list[Fault]
    tree: list[Branch]
    """Links of switches, most congested first."""
    congested_before: int
    """Number of switch links that are congested even without the incast."""
    victims: list[Victim]
    """Flows with the role `victim` or `both` in the run without control, largest losses first."""
    rates: dict[str, Rates]
    """Rates by run: `calm`, `calm_managed` (with control), `without` (only the incast), `managed` (both).

    The runs with control are missing if the limit of time is too small for them.
    """
    simulated: float
    """Simulated seconds of each run."""
    decay: float
    """Time in s that control needs to recover from congestion. Shorter runs do not show what it costs."""
    needed: float
    """Estimated limit of time in s that permits the runs with control; 0 if they were made."""
    took: float
    """Wall-clock seconds of the runs."""
    runs: dict[str, Results] = field(default_factory=dict)
    """The results by run, if they were kept."""

    @property
    def verdict(self) -> str:
        """What the incast takes, who suffers most, and what congestion control changes, in one sentence."""
        taken = self.lost("without")
        incast = f"An incast of {counted(len(self.sources), 'host')} on {self.hot}"
        worst = min(self.victims, key=lambda each: each.without - each.calm, default=None)
        hurt = "no flow is a victim"
        if worst is not None:
            number, lost = len(self.victims), max(0.0, worst.lost_to_incast)
            hurt = "1 flow is a victim" if number == 1 else f"{number} flows are victims"
            hurt += f", and {worst.source} -> {worst.destination} loses {share(lost)}"
        return f"{incast} takes {share(taken)} of all other traffic: {hurt}; {self._helps(taken)}."

    def _helps(self, taken: float) -> str:
        if "managed" not in self.rates:
            return "what congestion control changes was not simulated"
        left, before = self.lost("managed"), self.rates["without"].incast
        gain = taken - left
        what = "helps" if gain > NOTICED else "harms" if gain < -NOTICED else "changes little"
        kept = self.rates["managed"].incast / before if before > 0 else math.nan
        return (
            f"congestion control {what}: it leaves a loss of {share(left)}, "
            f"and the incast gets {kept:.0%} of its rate"
        )

    def __repr__(self) -> str:
        return f"{self.verdict}\n<WhatIf: an incast on {self.hot}, {len(self.rates)} runs>"

    def lost(self, run: str) -> float:
        """Return the share that all other traffic loses in a run, compared with no incast and no control."""
        return max(0.0, _lost(self.rates["calm"].others, self.rates[run].others))


def whatif(
    scenario: Scenario,
    hot: str,
    control: Callable[[Scenario, int], Scenario],
    *,
    control_name: str,
    contributors: int | None = None,
    rails: Sequence[Sequence[str]] = (),
    names: Labels | None = None,
    max_time: float = 120.0,
    threads: int | None = None,
    progress: Callable[[Progress], object] | None = None,
    on_faults: Callable[[list[Fault]], object] | None = None,
    keep: bool = False,
) -> WhatIf:
    """Simulate a fabric with and without an incast on a host, each with and without congestion control.

    The scenario's flows are the background, except a group named `hot_spot`. Sources are spread over the
    fabric. Each run has the scenario's duration, or is shortened to a few wall-clock seconds. In a shortened
    run, all groups and jobs start at once, and no rate changes.

    Args:
        scenario: a fabric of any topology, and traffic.
        hot: the host that receives the incast.
        control: returns a scenario with congestion control, for a number of contributors.
        control_name: name of the control.
        contributors: number of sources; default: 8, or all other hosts if fewer.
        rails: hosts by rail, if there are several. The sources are on the hot host's rail.
        names: human-readable names of links, if different from the scenario's.
        max_time: maximum total wall-clock time of all runs, in s.
        threads: threads of each run, see `becalm.run`.
        progress: see `becalm.run`.
        on_faults: called with the faults of the fabric before the first run.
        keep: whether to keep the results, with the data for their page.

    Raises:
        BecalmError: the host is unknown, a number is out of range, there is no background, or time ran out.
        FabricError: a run cannot continue.

    """
    scenario = recording(scenario) if keep else scenario
    names = labels(scenario.network()) if names is None else names
    sources = _sources(scenario, hot, contributors, rails)
    incast = _with_incast(scenario, hot, sources)
    found = faults(scenario, names)
    if on_faults is not None:
        on_faults(found)
    budget = Budget(max_time, threads, progress)
    managed = control(incast, len(sources))
    decay = length.decay(managed)
    least = length.least(decay)

    def runs(duration: float, with_control: bool) -> dict[str, Results]:
        without = length.shortened(incast, duration)
        calm = without.replace({**_background(without)})
        free = {"without": without.without_control(), "calm": calm.without_control()}
        extra = {"managed": control(without, len(sources)), "calm_managed": control(calm, len(sources))}
        return budget.results(free, extra if with_control else {}, min(1.0, least / duration))

    results, duration = _within(budget, runs, length.affordable(incast, least), least)
    tree, before = _tree(names, results)
    return WhatIf(
        hot=hot,
        sources=sources,
        control=control_name,
        concerns=manager.certain(managed),
        faults=found,
        tree=tree,
        congested_before=before,
        victims=_victims(results, hot),
        rates={name: _rates(results[name], hot) for name in RUNS if name in results},
        simulated=duration,
        decay=decay,
        needed=budget.needed,
        took=budget.spent,
        runs=results if keep else {},
    )


def _within(
    budget: Budget, runs: Callable[[float, bool], dict[str, Results]], duration: float, least: float
) -> tuple[dict[str, Results], float]:
    """Make the runs that a limit of time permits: all, shorter ones, or only those without control.

    Returns:
        The results, and the simulated seconds of a run.

    """
    try:
        return runs(duration, True), duration
    except TooSlow as slow:
        pace = slow.needed / duration
    with_control = pace * min(least, duration)
    left = RESERVE * (budget.limit - budget.spent)
    with contextlib.suppress(TooSlow):
        if left >= with_control:
            return runs(left / pace, True), left / pace
        # Half of the runs have twice the time.
        if 2 * left >= pace * length.SHORTEST:
            duration = min(duration, 2 * left / pace)
            needed = budget.spent + with_control / RESERVE
            results = runs(duration, False)
            budget.needed = needed
            return results, duration
    two, four = (budget.spent + needed / RESERVE for needed in (pace * length.SHORTEST / 2, with_control))
    raise BecalmError(
        f"needs about {two:.0f} s, or {four:.0f} s for runs with congestion control, but --max-time permits "
        f"{budget.limit:g} s"
    )


def _sources(
    scenario: Scenario, hot: str, contributors: int | None, rails: Sequence[Sequence[str]]
) -> list[str]:
    hosts = scenario.hosts()
    if hot not in hosts:
        # A range is also not a host. An unknown name raises an error that lists similar names.
        scenario.hosts(hot)
        raise BecalmError(f"host `{hot}`: must be one host")
    rail = next((rail for rail in rails if hot in rail), hosts)
    others = [host for host in rail if host != hot]
    number = min(CONTRIBUTORS, len(others)) if contributors is None else contributors
    if not 1 <= number <= len(others):
        where = "hosts of its rail" if len(rails) > 1 else "hosts"
        raise BecalmError(f"contributors {number}: must be between 1 and the {len(others)} other {where}")
    # Spread sources over the fabric, so that the tree has branches.
    return [others[(2 * place + 1) * len(others) // (2 * number)] for place in range(number)]


def _background(scenario: Scenario) -> dict[str, list[dict[str, Any]]]:
    """Return the groups and jobs of a scenario, without the incast."""
    data = scenario.data()
    kept = [group for group in data.get("flows", []) if group["name"] != GROUP]
    if not kept and not data.get("jobs"):
        raise BecalmError(f"{scenario.name}: flows: no background; valid: groups other than `{GROUP}`")
    return {"flows": kept, "jobs": data.get("jobs", [])}


def _with_incast(scenario: Scenario, hot: str, sources: list[str]) -> Scenario:
    incast = {"name": GROUP, "from": sources, "to": [hot], "traffic": {"greedy": {}}}
    for group in scenario.data().get("flows", []):
        if group["name"] == GROUP and "sl" in group:
            incast["sl"] = group["sl"]
    flows = [*_background(scenario)["flows"], incast]
    # The incast never ends.
    changes = {"flows": flows, "run.replications": None, "run.end": None}
    # Trains are meant for jobs, and not all schemes take them.
    return scenario.exact().replace(changes)


def _shares(results: Results) -> dict[tuple[str, int], tuple[float, float]]:
    """Return switch outputs' shares of time as root and as branch, from the lane with the largest share."""
    hosts = set(results.scenario.hosts())
    shares: dict[tuple[str, int], tuple[float, float]] = {}
    for row in results.tree.iter_rows(named=True):
        if row["from"] not in hosts:
            place = row["from"], row["from_port"]
            root, branch = shares.get(place, (0.0, 0.0))
            shares[place] = max(root, row["root_share"]), max(branch, row["branch_share"])
    return shares


def _tree(names: Labels, results: dict[str, Results]) -> tuple[list[Branch], int]:
    calm, without = _shares(results["calm"]), _shares(results["without"])
    managed = _shares(results["managed"]) if "managed" in results else None
    tree = [
        Branch(
            names[place],
            "root" if root >= branch else "branch",
            root + branch,
            math.nan if managed is None else sum(managed.get(place, (0.0, 0.0))),
        )
        for place, (root, branch) in without.items()
        if root + branch - sum(calm.get(place, (0.0, 0.0))) > GROWN
    ]
    tree.sort(key=lambda each: (-round(each.without, 3), each.role != "root", each.link))
    return tree, sum(sum(shares) > GROWN for shares in calm.values())


_Key = tuple[str, str, str, int]
"""Key of a flow: group, source, destination, and position among identical flows."""


def _victims(results: dict[str, Results], hot: str) -> list[Victim]:
    """Return the victims of the run without control, with their rates in all runs."""
    rates = {name: _by_flow(each, hot) for name, each in results.items()}
    flows = results["without"].flows
    hurt = _keys(flows.filter(flows["role"].is_in(["victim", "both"])), _keys_of_all(flows, hot))
    victims = []
    for key, own_link in hurt.items():
        group, source, destination, _ = key
        found = [
            rates[name].get(key, 0.0) if name in rates else math.nan
            for name in ("calm", "without", "managed", "calm_managed")
        ]
        victims.append(Victim(source, destination, group, own_link, *found))
    return sorted(victims, key=lambda each: (each.without - each.calm, each.source, each.destination))


def _by_flow(results: Results, hot: str) -> dict[_Key, float]:
    """Return the rates of flows in B/s, without flows to the hot host."""
    found: dict[_Key, float] = defaultdict(float)
    keys = _keys_of_all(results.flows, hot)
    for flow, rate in results.flows.select("flow", "rate").iter_rows():
        if flow in keys:
            found[keys[flow]] += rate
    return dict(found)


def _keys_of_all(flows: pl.DataFrame, hot: str) -> dict[int, _Key]:
    """Return the key of each flow by number. A source with many destinations in a group is one flow."""
    rows = flows.filter(flows["destination"] != hot).select("flow", "group", "source", "destination").rows()
    destinations = Counter((group, source) for _, group, source, _ in rows)
    alike: Counter[tuple[str, str, str]] = Counter()
    found: dict[int, _Key] = {}
    for flow, *ends in rows:
        group, source, destination = ends
        if destinations[group, source] > MANY:
            found[flow] = (group, source, "*", 0)
        else:
            found[flow] = (group, source, destination, alike[group, source, destination])
            alike[group, source, destination] += 1
    return found


def _keys(flows: pl.DataFrame, keys: dict[int, _Key]) -> dict[_Key, bool]:
    """Return the keys of some flows, and for each key whether a flow shares its source with a contributor."""
    found: dict[_Key, bool] = {}
    for flow, own_link in flows.select("flow", "own_link").iter_rows():
        if flow in keys:
            found[keys[flow]] = found.get(keys[flow], False) or bool(own_link)
    return found


def _rates(results: Results, hot: str) -> Rates:
    flows = results.flows
    others = flows.filter((flows["group"] != GROUP) & (flows["destination"] != hot))
    return Rates(float(others["rate"].sum()), float(flows.filter(flows["group"] == GROUP)["rate"].sum()))
