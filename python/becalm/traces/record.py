"""Recording: the choice of flows, links and times, and the resulting tables."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from becalm._core import trace as core_trace
from becalm.base import columns
from becalm.base.errors import BecalmError
from becalm.base.folders import new_file
from becalm.base.quantities import seconds
from becalm.scenario import Scenario
from becalm.traces import capture, chrome
from becalm.traces.recording import Recording, switches

if TYPE_CHECKING:
    import polars as pl

MOST = 100_000
"""Default maximum number of rows of each table."""
ROWS = 10_000_000
"""Largest valid maximum number of rows, about a gigabyte."""


@dataclass(frozen=True)
class Trace(Recording):
    """A packet-level record of one replication, with methods that write it to files."""

    def save_calls(self, file: str | PathLike[str], *, overwrite: bool = False) -> None:
        """Write the table of calls as a new Parquet file, with the units and the scenario in its metadata."""
        units = {"unit:time": "ps", "unit:deadline": "ps", "unit:size": "B", "unit:gap": "packet times"}
        with new_file(Path(file), overwrite=overwrite) as partial:
            self.calls.write_parquet(partial, metadata={**units, "scenario": self.scenario.to_toml()})

    def save_packets(self, file: str | PathLike[str], *, overwrite: bool = False) -> None:
        """Write the table of packets as a new Parquet file, with the units in its metadata."""
        units = {"unit:time": "ps", "unit:posted": "ps", "unit:size": "B", "unit:payload": "B"}
        with new_file(Path(file), overwrite=overwrite) as partial:
            self.packets.write_parquet(partial, metadata=units)

    def save_chrome(self, file: str | PathLike[str], *, overwrite: bool = False) -> None:
        """Write a new JSON file for ui.perfetto.dev or chrome://tracing."""
        with new_file(Path(file), overwrite=overwrite) as partial:
            chrome.write(self, partial)

    def save_pcap(self, link: str, file: str | PathLike[str], *, overwrite: bool = False) -> None:
        """Write the packets on one link, as InfiniBand frames in ERF records, to a new capture for Wireshark.

        Raises:
            BecalmError: the link was not recorded, or packets are too long for InfiniBand.

        """
        with new_file(Path(file), overwrite=overwrite) as partial:
            capture.write(self, link, partial)


@dataclass(frozen=True)
class Choice:
    """The content of a trace, checked against its scenario on creation.

    Raises:
        BecalmError: a flow, group or link is unknown, or times or numbers are invalid.

    """

    scenario: Scenario
    flows: Sequence[str | int] | None = None
    """Names of groups, or numbers of flows; None for all."""
    links: Sequence[str] | None = None
    """Names such as `A->B`; None for all."""
    switches: Sequence[str] | None = ()
    """Switches whose marker calls are recorded, together with the calls of the flows' responses.

    None for all.
    """
    start: str = "0 s"
    stop: str | None = None
    """End of the trace; default: the end of the run."""
    most: int = MOST
    """Maximum number of rows of each table."""
    replication: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.most <= ROWS:
            raise BecalmError(f"{self.most} rows: must be between 1 and {ROWS}")
        if not 0 <= self.replication < self.scenario.replications:
            last = self.scenario.replications - 1
            raise BecalmError(f"replication {self.replication}: must be between 0 and {last}")
        if self.begin >= self.end:
            raise BecalmError(f"trace from {self.start}: must start before its end at {self.end / 1e12:g} s")
        _ = self.flow_numbers, self.link_numbers, self.switch_numbers

    @cached_property
    def begin(self) -> int:
        """Start in ps."""
        return _picoseconds(self.start)

    @cached_property
    def end(self) -> int:
        """End in ps, at most the end of the run."""
        duration = _picoseconds(self.scenario.resolved["run"]["duration"])
        return duration if self.stop is None else min(duration, _picoseconds(self.stop))

    @cached_property
    def routing(self) -> Mapping[str, pl.DataFrame]:
        """Links and flows of the scenario, with their numbers."""
        import polars as pl

        network = self.scenario.network()
        tables = {"link": network.links.rename({"link": "name"}), "flow": network.flows}
        return {
            kind: table.with_row_index(kind).with_columns(pl.col(kind).cast(pl.UInt64))
            for kind, table in tables.items()
        }

    @cached_property
    def link_numbers(self) -> list[int] | None:
        """Numbers of the links."""
        if self.links is None:
            return None
        return _numbers("link", self.links, self.routing["link"]["name"].to_list())

    @cached_property
    def switch_numbers(self) -> list[int] | None:
        """Indices of the switches whose calls are recorded, or None if no calls are."""
        if self.switches is not None and not self.switches:
            return None
        known = switches(self.scenario)
        return _numbers("switch", known if self.switches is None else self.switches, known)

    @cached_property
    def flow_numbers(self) -> list[int] | None:
        """Numbers of the flows."""
        if self.flows is None:
            return None
        groups, chosen = self.routing["flow"]["group"].to_list(), []
        for each in self.flows:
            if each in groups:
                chosen += [number for number, group in enumerate(groups) if group == each]
            elif str(each).isdecimal() and len(str(each)) < 10 and int(each) < len(groups):
                chosen.append(int(each))
            else:
                valid = f"0 to {len(groups) - 1}, or a group: {', '.join(list(dict.fromkeys(groups))[:10])}"
                raise BecalmError(f"flow `{each}`: unknown; valid: {valid}")
        return chosen


def trace(
    scenario: Scenario,
    *,
    flows: Sequence[str | int] | None = None,
    links: Sequence[str] | None = None,
    switches: Sequence[str] | None = (),
    start: str = "0 s",
    stop: str | None = None,
    most: int = MOST,
    replication: int = 0,
    progress: Callable[[float, float, int, int], object] | None = None,
) -> Trace:
    """Run one replication of a scenario up to `stop`, and record it packet by packet.

    This is a separate run on one thread, with the same packets at the same times as in `becalm.run`, which
    records nothing and has no overhead. A trace never exceeds the requested size: it ends before the first
    row that does not fit into its table.

    Args:
        scenario: the scenario to run.
        flows: names of groups, or numbers of flows; None for all.
        links: names such as `A->B`; None for all.
        switches: switches whose marker calls are recorded from time zero, together with the calls of the
            flows' responses; None for all.
        start: start of the trace.
        stop: end of the trace; default: the end of the run.
        most: maximum number of rows of each table.
        replication: number of the replication.
        progress: called about every 50 ms with the time, the end, events and packet-hops.

    Raises:
        BecalmError: a flow, group or link is unknown, or times or numbers are invalid.
        FabricError: a flow has no route.

    """
    return recorded(Choice(scenario, flows, links, switches, start, stop, most, replication), progress)


def recorded(choice: Choice, progress: Callable[[float, float, int, int], object] | None = None) -> Trace:
    """Record the given choice; see `trace`."""
    outcome = core_trace(
        choice.scenario.core,
        choice.replication,
        choice.flow_numbers,
        choice.link_numbers,
        choice.begin,
        choice.end,
        choice.most,
        choice.switch_numbers,
        progress,
    )
    tables = {name: columns.table_of(given) for name, given in outcome["tables"].items()}
    return Trace(
        scenario=choice.scenario,
        replication=choice.replication,
        tables=tables,
        links=choice.routing["link"],
        flows=choice.routing["flow"],
        fingerprint=f"{outcome['fingerprint']:016x}",
        start=choice.begin,
        end=outcome["end"],
        full=outcome["end"] < choice.end,
    )


def _numbers(kind: str, names: Sequence[str], known: Sequence[str]) -> list[int]:
    """Return the place of each name in a list."""
    places = {name: place for place, name in enumerate(known)}
    for name in names:
        if name not in places:
            near = difflib.get_close_matches(name, known, n=3) or known[:3]
            raise BecalmError(f"{kind} `{name}`: unknown; valid: {', '.join(near)} ...")
    return [places[name] for name in names]


def _picoseconds(text: str) -> int:
    return round(seconds(text) * 1e12)
