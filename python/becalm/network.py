"""The network of a scenario, as built by the core: nodes, links and paths, for every topology."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from becalm.base import columns
from becalm.base.errors import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from becalm._core import Scenario as Core


class Network:
    """Nodes, links, groups of hosts and paths of a scenario, without a simulation.

    A link is one direction of a cable, named `A->B` after its nodes, or `A[port]->B` if there are several
    between the same two nodes. Links are in the order of the results table `links`, and flows in the order of
    `flows`.
    """

    def __init__(self, core: Core, name: str) -> None:
        self._core = core
        self._name = name

    @cached_property
    def _tables(self) -> dict[str, pl.DataFrame]:
        return {name: columns.table_of(given) for name, given in self._core.network().items()}

    @property
    def nodes(self) -> pl.DataFrame:
        """One row per host and switch: `node`, `kind`, `level` (hosts 0, their switches 1 ...), `ports`."""
        return self._tables["nodes"]

    @property
    def links(self) -> pl.DataFrame:
        """One row per link.

        `link`, its name; `from`, `from_port`, `to`, `to_port`; `capacity` [B/s]; `delay` [s]; `from_level`,
        `to_level`; `pairs`, the pairs of hosts whose path crosses it, NaN if there are too many to count.
        """
        return self._tables["links"]

    @property
    def flows(self) -> pl.DataFrame:
        """One row per flow: `group`, `source`, `destination`, `sl`, `start` [s], `stop` [s].

        Jobs are also groups.
        """
        return self._tables["flows"]

    @property
    def flow_paths(self) -> pl.DataFrame:
        """One row per flow and link on its paths: `flow`, `link` (its row in `links`), `share`.

        `share` is the share of the flow's packets on the link if equal ports are used evenly.
        """
        return self._tables["paths"]

    @cached_property
    def hosts(self) -> list[str]:
        """The names of all hosts."""
        return self._of_kind("host")

    @cached_property
    def switches(self) -> list[str]:
        """The names of all switches."""
        return self._of_kind("switch")

    def _of_kind(self, kind: str) -> list[str]:
        return self.nodes.filter(self.nodes["kind"] == kind)["node"].to_list()

    @cached_property
    def groups(self) -> dict[str, tuple[list[str], list[str]]]:
        """The sending and the receiving hosts, by group of flows or job."""
        found: dict[str, tuple[list[str], list[str]]] = {}
        for name, flows in self.flows.group_by("group", maintain_order=True):
            ends = (flows[end].unique(maintain_order=True).to_list() for end in ("source", "destination"))
            found[str(name[0])] = (next(ends), next(ends))
        return found

    def paths(self, source: str, destination: str) -> pl.DataFrame:
        """Return the links that packets from one host to another can take, in the order of the path.

        These are rows of `links`, with `share`: the share of the packets if equal ports are used evenly.

        Raises:
            ScenarioError: a host is unknown.
            FabricError: there is no path.

        """
        import polars as pl

        found = self._core.path(source, destination, self._name)
        shares = pl.Series("share", [share for _, share in found], dtype=pl.Float64)
        return self.links[[link for link, _ in found]].with_columns(shares)

    def crosses(self, link: str) -> pl.DataFrame:
        """Return the flows whose packets can take a link, as rows of `flows` with the flow number in `flow`.

        Raises:
            ScenarioError: no link has this name.

        """
        names = self.links["link"]
        place = (names == link).arg_max()
        if place is None or names[place] != link:
            raise ScenarioError(
                f"{self._name}: there is no link `{link}`; valid: {_some(names.to_list())}", self._name
            )
        crossing = self.flow_paths.filter(self.flow_paths["link"] == place)["flow"].unique(
            maintain_order=True
        )
        return self.flows.with_row_index("flow")[crossing.to_list()]

    def distances(self, source: str) -> dict[str, int]:
        """Return the distance in cables from a host to every other, along the paths of packets.

        Raises:
            ScenarioError: the host is unknown.

        """
        others = [host for host in self.hosts if host != source]
        # Paths over equal ports have the same length, so the shares add up to the distance.
        return {host: round(self.paths(source, host)["share"].sum()) for host in others}

    def cycle(self, *, of_all: bool = False) -> list[str]:
        """Return a cycle of links in which each may wait for the next; empty if no deadlock is possible.

        Args:
            of_all: whether to use the paths between all hosts, not only the flows' paths.

        """
        return self._core.cycle(of_all)

    def offered(self, start: float, stop: float) -> dict[str, float]:
        """Return the load in B/s that each group of flows offers between two times in s; NaN for a job.

        ON and OFF periods are those of the first replication. Messages at random times count with their mean
        load, and a batch is offered at the rate of its host. A group does not exceed the rate of its hosts.

        Raises:
            ScenarioError: the interval is empty.

        """
        self._check(start, stop)
        names = [name for name, *_ in self._core.groups()]
        return dict(zip(names, self._core.offered(start, stop), strict=True))

    def fair(self, start: float, stop: float) -> pl.Series:
        """Return the mean max-min fair rate of each flow between two times, in B/s, in the order of `flows`.

        A flow demands at most what its source offers. Flows of jobs demand nothing.

        Raises:
            ScenarioError: the interval is empty.

        """
        import polars as pl

        self._check(start, stop)
        return pl.Series("fair", self._core.fair(start, stop), dtype=pl.Float64)

    def _check(self, start: float, stop: float) -> None:
        if not 0 <= start < stop:
            raise ScenarioError(
                f"{self._name}: from {start:g} s to {stop:g} s: not an interval; valid: 0 or a later time, "
                "and a time after it",
                self._name,
            )

    def __repr__(self) -> str:
        return f"<Network of {self._name!r}: {len(self.hosts)} hosts, {len(self.switches)} switches>"


def _some(names: Sequence[str]) -> str:
    return ", ".join(names if len(names) <= 8 else [*names[:7], f"... ({len(names)} in all)"])
