"""The facts of one replication as arrays: links, flows and paths."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from becalm.analysis.faults import usual
from becalm.analysis.parts import local
from becalm.analysis.reference import Reference
from becalm.analysis.spreading import Spreading
from becalm.base.errors import ResultsError
from becalm.results.tables import SCHEMA

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from becalm.results import Results

    Floats = NDArray[np.float64]
    Places = NDArray[np.int64]

NEEDED = ("flows", "groups", "links", "tree", "victims")
"""Tables that every explanation needs."""

STEPS = 400
"""Number of times in the window at which the expected utilization of a link is computed."""


@dataclass(frozen=True)
class Links:
    """All links as arrays, in the order of the table `links`, with rates in B/s."""

    row: Places
    """Row of the table."""
    names: list[str]
    start: list[str]
    """Node that sends on the link."""
    to: list[str]
    capacity: Floats
    level: Places
    """Distance of the link's start from the nearest host: 0 for a host's link."""
    to_level: Places
    pairs: Floats
    """Pairs of hosts whose path crosses the link."""
    rate: Floats
    busy: Floats
    packets: Floats
    marked: Floats
    stalled: Floats
    """Share of the window in which the link waited for credit."""
    tree_row: Places
    """Row of the table `tree` for the virtual lane that was a root or branch longest."""
    root: Floats
    """Share of the window in which the link was a root."""
    branch: Floats
    since: Floats
    longest: Floats
    """Duration in s of the longest period in its role."""
    is_root: NDArray[np.bool_]
    """Whether `root` is its role in the table `tree`."""
    demand: Floats
    """Load offered by the flows that cross the link, as a multiple of its capacity."""
    contributors: Places
    """Number of contributors to congestion that begins at the link; 0 without oversubscription."""


@dataclass(frozen=True)
class Flows:
    """All flows as arrays, with rates in B/s."""

    row: Places
    group: list[str]
    source: list[str]
    destination: list[str]
    offered: Floats
    """Rate that the flow offered, up to the rate of its host's link."""
    delivered: Floats
    marked: Floats
    """Share of its packets that were marked."""
    p50: Floats
    p99: Floats
    suffers: NDArray[np.bool_]
    """Whether its role is `victim` or `both`."""
    contributes: NDArray[np.bool_]
    """Whether its role is `contributor` or `both`."""
    lost: Floats
    """Rate that the flow loses, as a victim or for another reason; NaN if unknown."""
    account: Places
    """Row of the table `victims` for its group and host."""


class Facts:
    """Contents of the tables of one replication, prepared for the rules."""

    def __init__(self, results: Results, replication: int) -> None:
        absent = [name for name in NEEDED if name not in results.tables]
        if absent:
            raise ResultsError(f"{results.scenario.name}: lacks the tables {', '.join(absent)}; run it again")
        for name in NEEDED:
            missing = [each for each in SCHEMA[name].columns if each not in results.tables[name].columns]
            if missing:
                which = f"{name}.{missing[0]}, which becalm {results.origin['becalm']} did not write"
                raise ResultsError(f"{results.scenario.name}: lacks {which}; run it again")
        numbers = [item.replication for item in results.replications]
        if replication not in numbers:
            valid = f"0 to {max(numbers)}" if numbers else "none"
            raise ResultsError(f"replication {replication}: not in the results; valid: {valid}")
        self.results = results
        self.replication = replication
        self.scenario = results.scenario
        self.resolved = results.scenario.resolved
        self.warmup = self.scenario.warmup
        self.duration = self.scenario.duration
        (end,) = (item.end for item in results.replications if item.replication == replication)
        if end > self.warmup:
            # A run may end when its jobs or messages end.
            self.duration = min(self.duration, end)
        self.window = self.duration - self.warmup
        self.network = results.scenario.network()

    def table(self, name: str) -> pl.DataFrame:
        """Return this replication's rows of a table, with the row numbers in the column `row`."""
        import polars as pl

        whole = self.results.tables[name].with_row_index("row")
        return whole.filter(pl.col("replication") == self.replication)

    @cached_property
    def cycle(self) -> list[str]:
        """Links each of which may wait for the next; empty if no deadlock is possible."""
        return self.network.cycle()

    @cached_property
    def links(self) -> Links:
        """The links."""
        table, tree, routed = self.table("links"), self.table("tree"), self.network.links
        lanes = tree.height // max(1, table.height)
        root, branch = (_floats(tree, name).reshape(-1, lanes) for name in ("root_share", "branch_share"))
        lane = np.argmax(np.maximum(root, branch), axis=1)
        at = np.arange(table.height) * lanes + lane
        return Links(
            row=_places(table, "row"),
            names=routed["link"].to_list(),
            start=table["from"].to_list(),
            to=table["to"].to_list(),
            capacity=_floats(routed, "capacity"),
            level=_places(routed, "from_level"),
            to_level=_places(routed, "to_level"),
            pairs=_floats(routed, "pairs"),
            rate=_floats(table, "rate"),
            busy=_floats(table, "utilization"),
            packets=_floats(table, "packets"),
            marked=_floats(table, "marked"),
            stalled=_floats(table, "stalled_share"),
            tree_row=_places(tree, "row")[at],
            root=_floats(tree, "root_share")[at],
            branch=_floats(tree, "branch_share")[at],
            since=_floats(tree, "since")[at],
            longest=_floats(tree, "longest")[at],
            is_root=(tree["role"] == "root").to_numpy()[at],
            demand=_floats(tree, "offered")[at],
            contributors=_places(tree, "contributors").reshape(-1, lanes).max(axis=1),
        )

    @cached_property
    def flows(self) -> Flows:
        """The flows."""
        table, accounts = self.table("flows"), self.table("victims")
        keys = zip(accounts["group"].to_list(), accounts["host"].to_list(), strict=True)
        place = {key: number for number, key in enumerate(keys)}
        group, source = table["group"].to_list(), table["source"].to_list()
        account = np.array([place[key] for key in zip(group, source, strict=True)], dtype=np.int64)
        role = table["role"]
        return Flows(
            row=_places(table, "row"),
            group=group,
            source=source,
            destination=table["destination"].to_list(),
            offered=_floats(table, "offered"),
            delivered=_floats(table, "rate"),
            marked=_floats(table, "marked") / np.maximum(1, _floats(table, "delivered_packets")),
            p50=_floats(table, "latency_p50"),
            p99=_floats(table, "latency_p99"),
            suffers=role.is_in(["victim", "both"]).to_numpy(),
            contributes=role.is_in(["contributor", "both"]).to_numpy(),
            lost=_floats(table, "lost"),
            account=_places(accounts, "row")[account],
        )

    @cached_property
    def _paths(self) -> tuple[Places, Places]:
        paths = self.network.flow_paths
        return _places(paths, "flow"), _places(paths, "link")

    @cached_property
    def _by_link(self) -> tuple[Places, Places]:
        """Return the flows of all links, grouped by link, and the position where each link's flows begin."""
        flow, link = self._paths
        counts = np.bincount(link, minlength=len(self.links.capacity))
        return flow[np.argsort(link, kind="stable")], np.concatenate([[0], np.cumsum(counts)])

    def crossing(self, link: int) -> Places:
        """Return the flows whose path crosses a link."""
        flow, first = self._by_link
        crossing: Places = flow[first[link] : first[link + 1]]
        return crossing

    @cached_property
    def _by_flow(self) -> Places:
        """Return the position in the paths where each flow's path begins, and their end."""
        counts = np.bincount(self._paths[0], minlength=len(self.flows.row))
        return np.concatenate([[0], np.cumsum(counts)])

    def crossed(self, flows: Places) -> Places:
        """Return the links that any of the flows crosses. The time depends only on these flows."""
        first, link = self._by_flow, self._paths[1]
        found: Places = np.unique(link[_ranges(first[flows], first[flows + 1])])
        return found

    def meeting(self, links: Places) -> Places:
        """Return the flows that cross any of the links. The time depends only on these links."""
        flow, first = self._by_link
        found: Places = np.unique(flow[_ranges(first[links], first[links + 1])])
        return found

    @cached_property
    def peers(self) -> dict[tuple[int, int, bool], Places]:
        """The links between two levels, by `between`."""
        return _grouped(self.between(link) for link in range(len(self.links.level)))

    def between(self, link: int) -> tuple[int, int, bool]:
        """Return the levels that a link connects, and whether it is one of NVLink."""
        links = self.links
        return int(links.level[link]), int(links.to_level[link]), links.start[link] in self._local

    @cached_property
    def _local(self) -> set[str]:
        return local(self.scenario)

    @cached_property
    def peers_from(self) -> dict[tuple[int, int, str], Places]:
        """The links from a node to a level, by the two levels and the node."""
        links = self.links
        return _grouped(zip(links.level.tolist(), links.to_level.tolist(), links.start, strict=True))

    @cached_property
    def peers_to(self) -> dict[tuple[int, int, str], Places]:
        """The links from a level to a node, by the two levels and the node."""
        links = self.links
        return _grouped(zip(links.level.tolist(), links.to_level.tolist(), links.to, strict=True))

    @cached_property
    def most_cables(self) -> int:
        """Largest number of links from hosts to the same switch."""
        links = self.links
        counts = Counter(to for to, level in zip(links.to, links.level.tolist(), strict=True) if level == 0)
        return max(counts.values(), default=0)

    @cached_property
    def usual_rates(self) -> dict[tuple[int, int, bool], float]:
        """The usual rate of the links between two levels, by `between`."""
        rates = self.links.capacity
        return {levels: usual(rates[own].tolist()) for levels, own in self.peers.items()}

    def summed(self, by_flow: Floats) -> Floats:
        """Return for each link the sum of a value over the flows that cross it."""
        flow, link = self._paths
        return np.bincount(link, by_flow[flow], minlength=len(self.links.capacity)).astype(np.float64)

    @cached_property
    def spreading(self) -> Spreading:
        """The offers to links if packets were spread evenly over equal paths."""
        return Spreading(
            self.scenario, self.flows.offered, self.links.capacity, self.links.demand, self._equivalent
        )

    def _equivalent(self) -> list[Places]:
        """Return the links from the same switch upwards, and to the same switch downwards."""
        up = [own for (level, to_level, _), own in self.peers_from.items() if to_level >= level]
        down = [own for (level, to_level, _), own in self.peers_to.items() if to_level < level]
        return [own for own in (*up, *down) if len(own) > 1]

    def path(self, flow: int) -> Places:
        """Return the links that a flow crosses, in order."""
        first, link = self._by_flow, self._paths[1]
        return link[first[flow] : first[flow + 1]]

    def reach(self, flows: Places) -> Floats:
        """Return the shares of its slowest link that each flow can use by buffers and by its window."""
        found = self.results.scenario.core.reach([int(flow) for flow in flows])
        return np.array(found, dtype=np.float64).reshape(-1, 2)

    @cached_property
    def paused(self) -> dict[tuple[str, str], float]:
        """Return for each link the share of the window for which its most paused lane was paused."""
        found: dict[tuple[str, str], float] = {}
        if "pauses" in self.results.tables:
            for row in self.table("pauses").iter_rows(named=True):
                link = row["from"], row["to"]
                found[link] = max(found.get(link, 0.0), row["paused_share"])
        return found

    def meets(self, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return for each flow whether its path crosses any of the chosen links."""
        flow, link = self._paths
        return np.bincount(flow, chosen[link], minlength=len(self.flows.row)) > 0

    def of_link(self, link: int, *columns: str) -> Reference:
        """Refer to a link's row in the table `links`."""
        return Reference("links", (int(self.links.row[link]),), columns)

    def of_tree(self, link: int) -> Reference:
        """Refer to a link's row in the table `tree`."""
        columns = ("role", "since", "longest", "root_share", "branch_share")
        return Reference("tree", (int(self.links.tree_row[link]),), columns)

    def of_flows(self, flows: Places) -> Reference:
        """Refer to the rows of the flows' groups and hosts in the table `victims`."""
        rows = tuple(int(row) for row in np.unique(self.flows.account[flows]))
        return Reference("victims", rows, ("offered", "delivered", "delivered_share"))

    def expected(self, link: int) -> tuple[Floats, Floats]:
        """Return times in the window, and a link's utilization at each if all offered traffic were delivered.

        A flow offers its traffic evenly while it is active.
        """
        flows, planned = self.crossing(link), self.network.flows
        starts, stops = (
            np.clip(_floats(planned, edge)[flows], self.warmup, self.duration) for edge in ("start", "stop")
        )
        active = np.maximum(stops - starts, 1e-12)
        rate = self.flows.offered[flows] * self.window / active / self.links.capacity[link]
        times = self.warmup + self.window * (np.arange(STEPS) + 0.5) / STEPS
        begun, ended = (
            np.bincount(np.searchsorted(times, at), rate, minlength=STEPS + 1)[:STEPS].cumsum()
            for at in (starts, stops)
        )
        return times, np.minimum(1.0, begun - ended)


def _ranges(first: Places, end: Places) -> Places:
    """Return the numbers of all ranges, one range after the other."""
    lengths = end - first
    before = np.concatenate([[0], np.cumsum(lengths)])
    found: Places = np.arange(before[-1]) + np.repeat(first - before[:-1], lengths)
    return found


_Key = TypeVar("_Key", bound=Hashable)


def _grouped(keys: Iterable[_Key]) -> dict[_Key, Places]:
    """Return the positions of each key."""
    found: dict[_Key, list[int]] = {}
    for place, each in enumerate(keys):
        found.setdefault(each, []).append(place)
    return {each: np.array(places, dtype=np.int64) for each, places in found.items()}


def key(name: str) -> Reference:
    """Refer to a key of the scenario."""
    return Reference("scenario", key=name)


def _floats(table: pl.DataFrame, name: str) -> Floats:
    return table[name].to_numpy().astype(np.float64)


def _places(table: pl.DataFrame, name: str) -> Places:
    return table[name].to_numpy().astype(np.int64)
