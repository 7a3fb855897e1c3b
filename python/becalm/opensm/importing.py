"""A fabric and its forwarding tables as a scenario that runs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from becalm import manager
from becalm.base.errors import BecalmError, ScenarioError
from becalm.base.quantities import rate_in_words
from becalm.opensm import adapters, foreign, ibnetdiscover, lanes, lfts, path_records, traffic
from becalm.opensm.fabric import Cable, End, Fabric
from becalm.opensm.names import quoted
from becalm.opensm.rates import data_rate
from becalm.scenario import Scenario

_OPTIONS = {foreign.TABLES: "--lfts", foreign.PATHS: "--path-records", foreign.LANES: "--sl2vl"}
"""The option for each kind of file beside the fabric."""

_ASSUMED = """\
# The files do not contain the settings below. Replace these initial values with your own.

[switch]
{lanes}buffer = "32 KiB"
forwarding_delay = "150 ns"
arbiter.round_robin = {{}} # between the inputs

[adapter]
port_control = "qp"
# injection_rate = "13 Gb/s" # limit of the adapter's slot, if below the link's rate
{levels}
[packet]
mtu = "2048 B"
header = "26 B" # LRH, BTH and two CRCs
ack = "30 B"

[marking.none] # `becalm manage` replaces it with IBTA congestion control

[response.none]
"""

_RUN = """
[run] # the slower guideline's delays take {unwind} ms to decay; shorter runs show only the beginning
duration = "{duration} ms"
warmup = "{warmup} ms"
"""

_SMALL = """\
[run]
duration = "1 us"
[topology.dumbbell]
[[flows]]
name = "any"
from = ["A1"]
to = ["BC"]
"""

_ALL_WAYS = """\
[run]
duration = "1 us"
[[flows]]
name = "all"
from = [{sources}]
to = ["*"]
[switch]
{lanes}
[adapter]
{levels}
"""


class Inputs(NamedTuple):
    """The files of a fabric, in the order of the arguments of `import_fabric`."""

    fabric: Path
    lfts: Path | None
    path_records: Path | None
    sl2vl: Path | None


def sort(files: Sequence[Path], lfts: Path | None, path_records: Path | None, sl2vl: Path | None) -> Inputs:
    """Return the files by what they are; a file without a known sign is taken for the fabric.

    Raises:
        FileNotFoundError: a file does not exist.
        BecalmError: two files are of the same kind, or none is a fabric.

    """
    given = dict(zip(_OPTIONS, (lfts, path_records, sl2vl), strict=True))
    fabric: Path | None = None
    for file in files:
        kind = foreign.which(file, (foreign.FABRIC, *_OPTIONS))
        if kind in given:
            if given[kind] is not None:
                raise BecalmError(f"{file}: is the second file of {kind.what}, after {given[kind]}")
            given[kind] = file
        elif fabric is not None:
            foreign.check(file, foreign.FABRIC)
            raise BecalmError(f"{file}: is the second fabric, after {fabric}; a scenario has one")
        else:
            fabric = file
    if fabric is None:
        # Says what the file is, and what reads it.
        foreign.check(files[0], foreign.FABRIC)
        raise BecalmError(f"{files[0]}: is not {foreign.FABRIC.what}")
    return Inputs(fabric, *given.values())


@dataclass(frozen=True)
class Imported:
    """A fabric as a scenario."""

    fabric: Fabric
    text: str
    """The scenario as TOML, with comments."""
    notes: list[str]
    """Notes on omissions, and on faults of the routes."""
    routed: str
    """How packets are routed."""
    background: traffic.Background
    """Load of the initial traffic."""


class Levels(NamedTuple):
    """The service levels of paths and their lanes, as lines of `[adapter]` and of `[switch]`."""

    adapter: str = ""
    switch: str = ""
    notes: tuple[str, ...] = ()

    @property
    def of_paths(self) -> bool:
        """Whether paths have levels."""
        return bool(self.adapter)


def import_fabric(
    discovered: str | PathLike[str],
    tables: str | PathLike[str] | None = None,
    records: str | PathLike[str] | None = None,
    sl2vl: str | PathLike[str] | None = None,
) -> Imported:
    """Make a scenario of a fabric: its nodes, cables and given routes, and initial values for the rest.

    Args:
        discovered: output of `ibnetdiscover`, or another list of cables that `ibnetdiscover.read` reads.
        tables: the forwarding tables: OpenSM's `opensm-lfts.dump`, output of `dump_fts`, or a .fdbs file of
            OpenSM or `ibdiagnet`. Without them packets take shortest paths.
        records: the path records with the service levels of paths: output of `saquery -p`.
        sl2vl: the lanes of these levels: OpenSM's `opensm-sl2vl.dump`. Without them each level has its own.

    Raises:
        FileNotFoundError: no such file.
        ScenarioError: with all mistakes in a file at once.
        BecalmError: fewer than two hosts, or lanes without path records.

    """
    fabric = ibnetdiscover.read(discovered, unique_lids=tables is not None)
    if len(fabric.hosts) < 2:
        raise BecalmError(
            f"{discovered}: needs at least 2 hosts with a cable to a switch, but has {len(fabric.hosts)}"
        )
    cables = numbered(fabric)
    routes = {} if tables is None else lfts.read(tables, fabric)
    topology = "\n".join([*_topology(fabric, cables), *_routes(fabric, cables, routes)])
    levels = _levels(fabric, records, sl2vl)
    notes = [*fabric.notes, *levels.notes]
    cycle = _deadlock(topology, fabric, levels)
    if cycle is not None:
        notes.append(f"{cycle}; {_way_out(tables, records)}")
        topology = topology.replace("[topology.edges]\n", "[topology.edges]\nallow_cycles = true\n", 1)
    routed = "by shortest paths" if tables is None else f"by the forwarding tables of {Path(tables).name}"
    nodes, doubts = adapters.nodes(fabric)
    notes += [*traffic.note(fabric), *doubts]
    topology += "\n".join(["", *adapters.text(nodes)])
    head = "\n".join(_head(fabric, routed, notes))
    idle = f"{head}\n\n{topology}\n\n{_ASSUMED.format(lanes=levels.switch, levels=levels.adapter)}"
    loaded = traffic.loaded(idle, fabric)
    background = traffic.background(loaded)
    text = f"{idle}\n{traffic.text(fabric, background)}"
    return Imported(fabric, text + _run(loaded, len(fabric.hosts)), notes, routed, background)


def _run(scenario: Scenario, hosts: int) -> str:
    """Return `[run]` for a fabric, long enough to show a guideline's effect."""
    # Guidelines derive their tables from the fabric, but tables are the same on any network.
    small = Scenario(_SMALL + _ASSUMED.format(lanes="", levels=""))
    unwind = 1e3 * manager.longest_unwind(scenario, min(hosts, traffic.SOURCES), small)
    warmup = max(1, round(unwind / 4))
    return _RUN.format(unwind=f"{unwind:.3g}", duration=math.ceil(unwind) + warmup, warmup=warmup)


def _levels(fabric: Fabric, records: str | PathLike[str] | None, sl2vl: str | PathLike[str] | None) -> Levels:
    """Return the levels of path records, and the lanes of a dump, or a lane for each level."""
    if records is None:
        if sl2vl is not None:
            raise BecalmError(f"{sl2vl}: needs --path-records FILE, which says which paths have which level")
        return Levels()
    found, notes = path_records.read(records, fabric)
    entries = [
        f"    {{ from = [{quoted(sources)}], to = [{quoted(destinations)}], sl = {level} }},"
        for sources, destinations, level in path_records.entries(found, fabric)
    ]
    of = lanes.assumed(found.values()) if sl2vl is None else lanes.read(sl2vl, fabric, found.values())
    if not entries:
        return Levels(notes=(*notes, "all paths have service level 0"))
    by_level = ", ".join(str(of.of.get(level, 0)) for level in range(max(of.of) + 1))
    source = Path(records).name
    return Levels(
        f"# Service levels of the paths, of {source}; other paths have level 0\npath_sl = [\n"
        + "\n".join(entries)
        + "\n]\n",
        f"vls = {of.vls}\nsl_to_vl = [{by_level}] # virtual lanes of service levels 0 to {max(of.of)}\n",
        (*notes, *filter(None, [of.note])),
    )


def _way_out(tables: str | PathLike[str] | None, records: str | PathLike[str] | None) -> str:
    """Return what to do about routes on which packets could wait for each other."""
    runs = "allow_cycles = true lets the scenario run anyway"
    if tables is None or records is not None:
        return runs
    return (
        "if the routing engine avoids this by service levels, --path-records FILE reads them "
        f"(`saquery -p > FILE`); {runs}"
    )


def _deadlock(topology: str, fabric: Fabric, levels: Levels) -> str | None:
    """Describe the cycle in which packets could wait for each other if every host sent to every other.

    Packets of all hosts of a switch take the same path from there, on the same lane unless paths have levels:
    then one host represents all.
    """
    first: dict[str, str] = {}
    for host in fabric.hosts:
        first.setdefault(host.name if levels.of_paths else host.attached.node, host.name)
    sources = quoted(list(first.values()))
    try:
        return cycle(
            f"{topology}\n{_ALL_WAYS.format(sources=sources, lanes=levels.switch, levels=levels.adapter)}"
        )
    except ScenarioError as error:
        lines = (f"{fabric.file}: {mistake['problem']}" for mistake in error.mistakes)
        raise ScenarioError("\n".join(lines), fabric.file, error.mistakes) from error


def cycle(source: str | Mapping[str, Any]) -> str | None:
    """Describe the cycle in which packets of a scenario could wait for each other; None if there is none.

    Raises:
        ScenarioError: with all other mistakes, such as hosts that cannot be reached.

    """
    try:
        Scenario(source)
    except ScenarioError as error:
        problem, *others = (mistake["problem"] for mistake in error.mistakes)
        if others or "can deadlock" not in problem:
            raise
        return problem.partition(";")[0]
    return None


def numbered(fabric: Fabric) -> list[Cable]:
    """Return the cables, sorted by the port numbers of each switch.

    A scenario numbers the ports of a switch from 0, in the order in which its cables are listed: without gaps
    in between, port 0 is then InfiniBand's port 1. If no such order exists, some ports are out of order.
    """
    at: dict[End, Cable] = {end: cable for cable in fabric.cables for end in cable.ends}
    before: dict[Cable, list[Cable]] = {cable: [] for cable in fabric.cables}
    for switch in fabric.switches:
        own = [at[End(switch.id, port)] for port in switch.ports]
        for earlier, later in pairwise(own):
            before[later].append(earlier)
    ordered: dict[Cable, None] = {}
    for cable in fabric.cables:
        waiting = {cable: iter(before[cable])} if cable not in ordered else {}
        while waiting:
            last = next(reversed(waiting))
            first = next(
                (each for each in waiting[last] if each not in ordered and each not in waiting), None
            )
            if first is None:
                del waiting[last]
                ordered[last] = None
            else:
                waiting[first] = iter(before[first])
    return list(ordered)


def port_numbers(fabric: Fabric) -> dict[tuple[str, int], int]:
    """Return InfiniBand's port numbers of switches, by node and port of the scenario of a fabric."""
    return {
        (fabric.name(end), place): end.port
        for end, place in places(numbered(fabric)).items()
        if not end.is_host
    }


def _head(fabric: Fabric, routed: str, notes: list[str]) -> Iterator[str]:
    counts = f"{len(fabric.hosts)} hosts, {len(fabric.switches)} switches, {len(fabric.cables)} cables"
    yield f"# Fabric of {Path(fabric.file).name}: {counts}."
    yield f"# Packets are routed {routed}."
    yield from (f"# Note: {note}." for note in notes)
    yield "#"
    yield "# Comments number the ports of a switch from 1, as InfiniBand does. Routes number them from 0, in"
    yield "# the order in which the switch's cables are listed."


def _topology(fabric: Fabric, cables: list[Cable]) -> Iterator[str]:
    ((usual, _),) = Counter(cable.speed for cable in cables).most_common(1)
    yield "[topology.edges]"
    yield f"hosts = [{quoted([host.name for host in fabric.hosts])}]"
    yield f"switches = [{quoted([switch.name for switch in fabric.switches])}]"
    yield f'rate = "{rate_in_words(data_rate(usual))}" # {usual}'
    yield 'delay = "25 ns" # 5 m of cable'
    yield "cables = ["
    for cable in cables:
        own = data_rate(cable.speed)
        rate = f', rate = "{rate_in_words(own)}"' if own != data_rate(usual) else ""
        between = ", ".join(f'"{fabric.name(end)}"' for end in cable.ends)
        ports = " to ".join(f"port {end.port}" for end in cable.ends)
        yield f"    {{ between = [{between}]{rate} }}, # {ports}"
    yield "]"


def _routes(fabric: Fabric, cables: list[Cable], routes: lfts.Routes) -> Iterator[str]:
    if not routes:
        return
    numbers = places(cables)
    yield "routes = ["
    for switch in fabric.switches:
        for port, peer in switch.ports.items():
            to = routes.get((switch.name, port))
            # A cable leads to its own host anyway.
            if to and not peer.is_host:
                place = numbers[End(switch.id, port)]
                leads = f"port {port}, to {fabric.name(peer)}"
                yield f'    {{ switch = "{switch.name}", port = {place}, to = [{quoted(to)}] }}, # {leads}'
    yield "]"


def places(cables: list[Cable]) -> dict[End, int]:
    """Return the port numbers of switches in a scenario with cables in this order."""
    used: Counter[str] = Counter()
    numbers = {}
    for cable in cables:
        for end in cable.ends:
            numbers[end] = used[end.node]
            used[end.node] += 1
    return numbers
