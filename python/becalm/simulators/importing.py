"""Files of other simulators as scenarios that run."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import NoReturn

from becalm.base.mistakes import Mistakes
from becalm.opensm import fabric as nodes
from becalm.opensm import traffic
from becalm.simulators import astra, htsim, simai, topologies
from becalm.simulators import config as configs
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

_UNTIL_DONE = """
[run]
duration = "100 s"
end = "jobs"

[observe]
links = []
step = "10 ms"
window = "10 ms"
"""


@dataclass(frozen=True)
class Imported:
    """Files of a simulator as a scenario."""

    graph: Graph | None
    """The network; nothing if the files have none."""
    text: str
    """The scenario as TOML, with comments."""
    notes: list[str]
    more: tuple[str, ...] = ()
    """What else the files have, such as `1789 layers`."""

    @property
    def summary(self) -> str:
        """What the files have, in words."""
        graph = self.graph
        counts = [] if graph is None else [f"{len(graph.hosts)} hosts, {len(graph.switches)} switches"]
        if graph is not None:
            counts.append(f"{len(graph.cables)} cables")
        return ", ".join([*counts, *self.more])


def kind(path: str | PathLike[str]) -> str:
    """Return which file of a simulator a file is.

    `config`, `topology`, `htsim`, `simai`, `simai workload`, `astra`, `astra system` or `astra trace`; or
    nothing.
    """
    path = Path(path)
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        text = file.read(1 << 16).decode(errors="replace").replace("\r\n", "\n")
    first, _, rest = text.lstrip().partition("\n")
    if astra.TRACE.fullmatch(path.name):
        return "astra trace"
    if astra.is_system(text):
        return "astra system"
    if astra.SIGN.search(text):
        return "astra"
    if first.split()[:1] == [simai.POLICY]:
        return "simai workload"
    if simai.FIRST.fullmatch(first.strip()):
        return "simai"
    if configs.SIGN.search(text):
        return "config"
    bare = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    if htsim.SIGN.search(bare):
        return "htsim"
    second = rest.lstrip().partition("\n")[0].split()
    counts = topologies.FIRST.fullmatch(first) and all(word.isdigit() for word in second) and second
    return "topology" if counts and len(second) == int(first.split()[1]) else ""


def import_files(paths: Sequence[Path], folder: Path) -> Imported:
    """Make a scenario of files that belong together.

    Args:
        paths: a file as for `import_file`; a topology of SimAI, a workload, or both; or a network of
            ASTRA-sim, with settings of its system layer and the Chakra traces of all ranks.
        folder: the scenario's folder, for the names of traces.

    Raises:
        FileNotFoundError: a file does not exist.
        ScenarioError: with all mistakes in a file at once; or files that do not belong together.

    """
    if len(paths) == 1 and kind(paths[0]) in ("config", "topology", "htsim"):
        return import_file(paths[0])
    by = defaultdict[str, list[Path]](list)
    for path in paths:
        by[kind(path)].append(path)
    several = [path for what, found in by.items() if what != "astra trace" for path in found[1:]]
    simulators = {what.split()[0] if what else "" for what in by}
    if several or len(simulators) != 1 or "" in simulators or not simulators <= {"simai", "astra"}:
        wrong = (several or by.get("") or list(paths))[-1]
        _apart(wrong, "does not belong to the other files")
    return _simai(by) if "simai" in simulators else _astra(by, folder)


def _apart(path: Path, problem: str) -> NoReturn:
    mistakes = Mistakes(path)
    valid = "files of SimAI: topology, workload; or of ASTRA-sim: network, system settings, traces"
    mistakes.add(None, "", "", problem, valid)
    mistakes.check()
    raise AssertionError(path)


def _simai(by: Mapping[str, list[Path]]) -> Imported:
    workload = simai.read_workload(by["simai workload"][0]) if by.get("simai workload") else None
    servers = simai.read_topology(by["simai"][0]) if by.get("simai") else None
    notes = [] if servers is None else list(servers.notes)
    more: tuple[str, ...] = ()
    if workload is not None:
        gpus = workload.numbers["gpus"]
        if servers is not None and gpus != len(servers.ports):
            found = len(servers.ports)
            _apart(by["simai workload"][0], f"is for {gpus} GPUs, but the topology has {found}")
        notes += workload.notes(math.gcd(gpus, 8) if servers is None else servers.per_server)
        more = (f"{workload.layers} layers", f"{gpus} GPUs")
    if servers is None:
        assert workload is not None
        network, graph = list(simai.rail(workload)), None
        switch = '[switch]\nbuffer = "256 KiB"\n'
    else:
        network, graph = list(servers.toml()), servers.graph
        switch = f"{_SWITCH.format(latency=0, paths=_paths(graph))}\n{_REST}"
    job = _all_reduce(servers) if workload is None else list(workload.toml())
    name = ", ".join(found[0].name for found in by.values())
    head = [f"# {name}", *(f"# Note: {note}." for note in notes), ""]
    return Imported(graph, "\n".join([*head, *network, "", switch, *job, _UNTIL_DONE]), notes, more)


def _all_reduce(servers: simai.Servers | None) -> list[str]:
    channels = 1 if servers is None or len(servers.ports) == servers.per_server else servers.per_server
    keys = 'bytes = "16 MiB"' + (f", channels = {channels}" if channels > 1 else "")
    return [
        "# Not in the file: replace it with your workload.",
        "[[jobs]]",
        'name = "all_reduce"',
        'nodes = ["*"]',
        f"collective.all_reduce = {{ {keys} }}",
    ]


def _astra(by: Mapping[str, list[Path]], folder: Path) -> Imported:
    if not by.get("astra"):
        _apart(next(iter(by.values()))[0], "needs a network")
    network = astra.read_network(by["astra"][0])
    system = astra.read_system(by["astra system"][0]) if by.get("astra system") else astra.System()
    chakra = astra.traces(by["astra trace"], folder) if by.get("astra trace") else None
    graph = astra.graph(network)
    if chakra is not None and chakra[1] != len(graph.hosts):
        problem = f"is one of {chakra[1]} traces, but the network has {len(graph.hosts)} NPUs"
        _apart(by["astra trace"][0], problem)
    notes = system.notes
    head = list(_head(by["astra"][0], graph, notes))
    text = "\n".join([*head, *graph.toml(), "", *astra.toml(system, chakra), _UNTIL_DONE])
    return Imported(graph, text, notes, () if chakra is None else (f"{chakra[1]} traces",))


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
    background = traffic.background(traffic.loaded(body, fabric))
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
