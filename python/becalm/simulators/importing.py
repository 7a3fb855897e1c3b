"""Files of other simulators as scenarios that run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from becalm.opensm import fabric as nodes
from becalm.opensm import traffic
from becalm.simulators import config as configs
from becalm.simulators import htsim, topologies
from becalm.simulators.config import Config, Flow
from becalm.simulators.control import Control
from becalm.simulators.graph import Graph

MOST_GROUPS = 16
"""Ports of flows that become groups of their own."""
RESERVED = 4096
"""Bytes of each port and priority that do not count as shared memory."""

_SWITCH = """\
[switch] # packets are stored before they are forwarded
forwarding_delay = "{latency} ns"
switching = "store_and_forward"

[switch.arbiter.oldest_first]
{paths}
[switch.flow_control.pfc]
delay = "10 ns" # a pause waits only for the packet in transmission
"""

_PFC = """
[switch.flow_control.pfc.thresholds.dynamic]
alpha = 0.125
shared = "{shared} B"
resume_offset = "3072 B"
"""

_REST = """\
# The file does not contain the settings below. Replace these initial values with your own.

[switch.flow_control.pfc.thresholds.dynamic]
alpha = 1.0
shared = "32 MiB"

[packet]
mtu = "4096 B"
header = "78 B" # RoCEv2, with preamble and inter-packet gap
ack = "84 B"
cnp = "84 B"

[marking.ramp]
kmin = 100
kmax = 400
pmax = 0.2
per = 25

[echo.rocev2]

[response.dcqcn]
preset = "connectx"
"""

_RUN = """
[run]
duration = "2 ms"
warmup = "1 ms"
"""


@dataclass(frozen=True)
class Imported:
    """Files of a simulator as a scenario."""

    graph: Graph
    text: str
    """The scenario as TOML, with comments."""
    notes: list[str]


def kind(path: str | PathLike[str]) -> str:
    """Return which file of a simulator a file is: `config`, `topology`, `htsim`, or nothing."""
    path = Path(path)
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        text = file.read(1 << 16).decode(errors="replace").replace("\r\n", "\n")
    first, _, rest = text.lstrip().partition("\n")
    if configs.SIGN.search(text):
        return "config"
    bare = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    if htsim.SIGN.search(bare):
        return "htsim"
    second = rest.lstrip().partition("\n")[0].split()
    counts = topologies.FIRST.fullmatch(first) and all(word.isdigit() for word in second) and second
    return "topology" if counts and len(second) == int(first.split()[1]) else ""


def import_file(path: str | PathLike[str]) -> Imported:
    """Make a scenario of a configuration or topology of HPCC's ns-3, or of a topology of htsim.

    Raises:
        FileNotFoundError: a file does not exist.
        ScenarioError: with all mistakes in a file at once; or something that a scenario cannot say.

    """
    what = kind(path)
    if what == "config":
        return _config(configs.read(path))
    if what == "htsim":
        tree, graph = htsim.read(path)
        notes = [f"latencies of switches differ: all have {tree.latency} ns"] if _differ(tree) else []
        return _alone(path, graph, tree.latency, notes)
    return _alone(path, topologies.read(path), 0, [])


def _differ(tree: htsim.Tree) -> bool:
    return len({each.get("switch_latency_ns", 0) for each in tree.values}) > 1


def _paths(graph: Graph) -> str:
    return "\n[switch.paths.flow] # ECMP\n" if graph.several_paths() else ""


def _head(path: str | PathLike[str], graph: Graph, notes: list[str]) -> Iterator[str]:
    counts = f"{len(graph.hosts)} hosts, {len(graph.switches)} switches, {len(graph.cables)} cables"
    yield f"# Network of {Path(path).name}: {counts}."
    yield from (f"# Note: {note}." for note in notes)
    yield ""


def _alone(path: str | PathLike[str], graph: Graph, latency: int, notes: list[str]) -> Imported:
    """Return a scenario of a topology, with initial traffic."""
    body = "\n".join([*graph.toml(), "", _SWITCH.format(latency=latency, paths=_paths(graph)), _REST])
    hosts = [
        nodes.Host(name, nodes.End(f"H-{name}", 1), nodes.End(graph.leaves[name][0], 1), 0, 0, 0, name)
        for name in graph.hosts
    ]
    fabric = nodes.Fabric("", [], hosts, [], frozenset(), [])
    background = traffic.background(body, fabric)
    text = "\n".join([*_head(path, graph, notes), body, traffic.text(fabric, background)]) + _RUN
    return Imported(graph, text, notes)


def _config(config: Config) -> Imported:
    graph = topologies.read(config.paths["TOPOLOGY_FILE"])
    hosts = set(graph.hosts)
    flows = configs.read_flows(config.paths["FLOW_FILE"], lambda number: f"host{number}" in hosts)
    for key, needed in (("ENABLE_PFC", 1), ("LB_MODE", 0)):
        if config.values[key] != needed:
            problem = "is not what becalm imports: a lossless network, and ECMP"
            raise config.wrong(key, f"{config.values[key]:g}", problem, str(needed))
    priorities = sorted({flow.priority for flow in flows})
    if len(priorities) > 8:
        raise config.wrong("FLOW_FILE", str(len(priorities)), "has too many priorities", "at most 8")
    control = Control(config, graph)
    body = "\n".join(
        [
            *graph.toml(),
            "",
            _SWITCH.format(latency=0, paths=_paths(graph)) + _pfc(config, graph, control),
            *_packet(control),
            "",
            *control.toml(),
            "",
            *_flows(flows, priorities, control.notes),
            *_run(config, flows),
        ]
    )
    if len(priorities) > 1:
        body = body.replace("[switch] ", f"[switch]\nvls = {len(priorities)}\n", 1)
    notes = control.notes
    return Imported(graph, "\n".join([*_head(config.file, graph, notes), body]), notes)


def _pfc(config: Config, graph: Graph, control: Control) -> str:
    """Return thresholds: a share of the buffer that is left besides headroom and reserved memory."""
    total = config.values["BUFFER_SIZE"] * 1024 * 1024
    taken = max(
        sum(3 * cable.rate * cable.delay / 8 + 8 * RESERVED for _, cable in graph.near[name])
        for name in graph.switches
    )
    if taken >= total:
        problem = f"is less than the {taken:.0f} B of headroom and reserved memory of the largest switch"
        raise config.wrong(
            "BUFFER_SIZE", f"{config.values['BUFFER_SIZE']:g}", problem, "a larger buffer in MiB"
        )
    if any(cable.rate > control.rate for cable in graph.cables):
        control.notes.append("alpha is 1/8 at all ports; ns-3 doubles it at ports of twice the hosts' rate")
    return _PFC.format(shared=int(total - taken))


def _packet(control: Control) -> Iterator[str]:
    yield "[packet]"
    yield f'mtu = "{control.payload} B"'
    yield f'header = "{control.header} B"'
    yield f'ack = "{control.ack} B"'


def _flows(flows: list[Flow], priorities: list[int], notes: list[str]) -> Iterator[str]:
    """Yield the flows as groups, by priority and port."""
    ports = {flow.port for flow in flows}
    apart = len(ports) <= MOST_GROUPS
    if not apart:
        notes.append(f"{len(ports)} ports of flows are one group, and `run --fct` writes port 100")
    groups: dict[tuple[int, int], list[Flow]] = defaultdict(list)
    for flow in flows:
        groups[flow.priority, flow.port if apart else 100].append(flow)
    for (priority, port), own in sorted(groups.items()):
        name = f"port_{port}" if len(priorities) == 1 else f"priority_{priority}_port_{port}"
        yield "[[flows]]"
        yield f'name = "{name}"'
        if len(priorities) > 1:
            yield f"sl = {priorities.index(priority)}"
        yield "connections = ["
        for each in own:
            ends = f'from = "host{each.source}", to = "host{each.destination}"'
            yield f'    {{ {ends}, message = "{each.bytes} B", start = "{each.start * 1e9:.12g} ns" }},'
        yield "]"
        yield "[flows.traffic.batch]"
        yield "count = 1"
        yield ""


def _run(config: Config, flows: list[Flow]) -> Iterator[str]:
    stop, first = config.values["SIMULATOR_STOP_TIME"], min(flow.start for flow in flows)
    if stop <= first:
        raise config.wrong(
            "SIMULATOR_STOP_TIME", f"{stop:g}", f"is before the first flow, {first:g}", "later"
        )
    yield "[run]"
    yield f'duration = "{stop:.12g} s"'
    yield 'end = "delivered"'
    yield f'warmup = "{first:.12g} s"'
    yield ""
    yield "[observe]"
    yield "links = []"
    yield "messages = true"
    yield f"message_rows = {len(flows)}"
    yield ""
