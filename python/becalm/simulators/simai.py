"""Files of SimAI: topologies of GPU nodes, and workloads of training steps."""

from __future__ import annotations

import itertools
import math
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from os import PathLike

from becalm.base.mistakes import Mistakes, read_lines
from becalm.opensm.names import ranges
from becalm.simulators.graph import Cable, Graph
from becalm.simulators.topologies import MOST, delay, rate

FIRST = re.compile(r"\d{1,9}(?:[ \t]+\d{1,9}){4}[ \t]+[A-Za-z]\w*[ \t]*")
"""Nodes, GPUs of a server, NVSwitches, other switches, cables, and the kind of the GPUs."""
POLICY = "HYBRID_TRANSFORMER_FWD_IN_BCKWD"
HEADER = {
    "model_parallel_NPU_group": "tensor",
    "ep": "experts",
    "pp": "pipeline",
    "vpp": "virtual",
    "ga": "microbatches",
    "all_gpus": "gpus",
    "pp_comm": "boundary",
}
"""Keys of a workload's first line, and what becalm calls them."""
SHARES = {"NONE": 0.0, "ALLREDUCE": 1.0, "ALLGATHER": 0.5, "REDUCESCATTER": 0.5, "ALLTOALL": 0.5}
"""Bytes that a collective operation moves, as a share of those of an all-reduce of the same vector."""
_EXPECTED = (
    "`nodes gpus_per_server nvswitches switches links gpu_type`, a line with the switches, then cables"
)
_LAYER = "name, dependency, three times `time collective bytes`, and the update time"


@dataclass
class Servers:
    """A topology: each GPU's ports to leaf switches and to the NVLink switch of its server are hosts."""

    graph: Graph
    per_server: int
    ports: list[list[str]]
    """By GPU, the ports of its NIC."""
    local: list[str]
    """By GPU, its NVLink port; empty without NVLink switches."""
    notes: list[str]

    def toml(self) -> Iterator[str]:
        """Yield `[topology.edges]` and `[[nodes]]`."""
        yield from self.graph.toml()
        yield ""
        yield "[[nodes]]"
        count = len(self.ports) // self.per_server
        yield f'name = "N0..N{count - 1}"' if count > 1 else 'name = "N0"'
        if self.per_server > 1:
            yield f"gpus = {self.per_server}"
        ports = ", ".join(f"[{_listed(names)}]" for names in zip(*self.ports, strict=True))
        yield f"nics = [{ports}]"
        if self.local:
            yield f"local = [{_listed(self.local)}]"


def _listed(names: tuple[str, ...] | list[str]) -> str:
    return ", ".join(f'"{each}"' for each in ranges(names))


def read_topology(path: str | PathLike[str]) -> Servers:
    """Read a topology. Several NVLink switches of a server become one with the sum of their rates.

    Raises:
        FileNotFoundError: no such file.
        ScenarioError: with all mistakes at once, each with its line.

    """
    reader = _Reader(path)
    for number, line in enumerate(read_lines(path), 1):
        if line.strip():
            reader.line(number, line.split())
    return reader.servers()


class _Reader:
    def __init__(self, path: str | PathLike[str]) -> None:
        self.mistakes = Mistakes(path)
        self.counts: list[int] = []
        """Nodes, GPUs of a server, NVSwitches, other switches, and cables."""
        self.switches: list[int] = []
        self.lines: list[tuple[int, int, float, float]] = []
        """Both ends of each cable, its rate and its delay."""

    def wrong(self, number: int, value: str, problem: str, valid: str) -> None:
        self.mistakes.add(number, "", value, problem, valid)

    def line(self, number: int, words: list[str]) -> None:
        if not self.counts:
            self.counts = [int(word) for word in words[:5]]
            if max(self.counts) > MOST or not self.gpus > 0 or self.gpus % max(1, self.counts[1]):
                self.wrong(number, " ".join(words), "has no whole servers of GPUs", _EXPECTED)
                self.mistakes.check()
        elif not self.switches:
            found = [int(word) for word in words if word.isdigit() and len(word) < 10]
            if found != list(range(self.gpus, self.counts[0])) or len(found) != len(words):
                valid = f"{self.gpus} to {self.counts[0] - 1}"
                self.wrong(number, " ".join(words)[:60], "are not the numbers of the switches", valid)
                self.mistakes.check()
            self.switches = found
        else:
            self.cable(number, words)

    @property
    def gpus(self) -> int:
        return self.counts[0] - self.counts[2] - self.counts[3]

    def cable(self, number: int, words: list[str]) -> None:
        text = " ".join(words)
        if len(words) != 5 or not all(word.isdigit() and len(word) < 10 for word in words[:2]):
            self.wrong(number, text[:60], "is not a cable", "`source destination rate delay error_rate`")
            self.mistakes.check()
        one, two = sorted(int(word) for word in words[:2])
        fast, late = rate(words[2]), delay(words[3])
        if two >= self.counts[0] or two < self.gpus:
            self.wrong(number, text, "does not lead to a switch", "cables with a switch at one end or both")
        if not fast:
            self.wrong(number, words[2], "is not a rate", "such as 100Gbps")
        if late is None:
            self.wrong(number, words[3], "is not a delay", "such as 0.0005ms")
        if not re.fullmatch(r"0*\.?0*", words[4]):
            self.wrong(number, words[4], "is an error rate; becalm's links lose nothing", "0")
        self.lines.append((one, two, fast or 1.0, late or 0.0))

    def servers(self) -> Servers:
        if not self.counts:
            self.wrong(1, "", "is empty", _EXPECTED)
        elif len(self.lines) != self.counts[4] and not self.mistakes.list:
            problem = f"has {len(self.lines)} cables, but the first line says {self.counts[4]}"
            self.wrong(1, "", problem, "as many lines as cables")
        self.mistakes.check()
        per_server, gpus = self.counts[1], self.gpus
        nv = range(gpus, gpus + self.counts[2])
        nics: dict[int, list[tuple[int, float, float]]] = defaultdict(list)
        links: dict[int, list[tuple[int, float, float]]] = defaultdict(list)
        between = []
        for one, two, fast, late in self.lines:
            if one >= gpus:
                between.append(Cable((self.name(one), self.name(two)), fast, late))
            else:
                (links if two in nv else nics)[one].append((two, fast, late))
        domains = self.checked(nics, links)
        planes = len(nics[0])
        cables = []
        ports = [
            [f"gpu{gpu}" if planes == 1 else f"gpu{gpu}p{i}" for i in range(planes)] for gpu in range(gpus)
        ]
        local = [f"gpu{gpu}v" for gpu in range(gpus)] if nv else []
        for gpu in range(gpus):
            for name, (leaf, fast, late) in zip(ports[gpu], nics[gpu], strict=True):
                cables.append(Cable((name, self.name(leaf)), fast, late))
            if nv:
                sum_of_rates = sum(fast for _, fast, _ in links[gpu])
                latest = max(late for _, _, late in links[gpu])
                cables.append(
                    Cable((local[gpu], self.name(domains[gpu // per_server])), sum_of_rates, latest)
                )
        names = [self.name(node) for node in self.switches if node not in nv or node in domains]
        hosts = [name for gpu in range(gpus) for name in (*ports[gpu], *local[gpu : gpu + 1])]
        notes = []
        if len(links[0]) > 1:
            notes.append(
                f"the {len(links[0])} NVLink switches of a server are one with the sum of their rates"
            )
        return Servers(Graph(hosts, names, cables + between), per_server, ports, local, notes)

    def name(self, node: int) -> str:
        first = self.gpus
        return f"nvswitch{node}" if node < first + self.counts[2] else f"switch{node}"

    def checked(
        self,
        nics: dict[int, list[tuple[int, float, float]]],
        links: dict[int, list[tuple[int, float, float]]],
    ) -> list[int]:
        """Return the NVLink switch of each server, the first of several."""
        domains = []
        valid = "the same number of cables to leaf switches for each GPU, and NVLink switches of its server"
        for gpu in range(self.gpus):
            own = [node for node, _, _ in links[gpu]]
            if gpu % self.counts[1] == 0:
                shared = own
                domains += own[:1]
            if (
                not nics[gpu]
                or len(nics[gpu]) != len(nics[0])
                or own != shared
                or bool(own) != bool(self.counts[2])
            ):
                self.wrong(1, f"GPU {gpu}", "has other cables than its neighbours, or no NIC", valid)
                break
        self.mistakes.check()
        return domains


@dataclass
class Workload:
    """A workload, which contains the passes of all microbatches of one stage."""

    file: str
    layers: int = 0
    numbers: dict[str, int] = field(default_factory=dict)
    forward: int = 0
    """Nanoseconds of computation of all layers, as the other times."""
    backward: int = 0
    update: int = 0
    tensor: float = 0.0
    """Bytes of all-reduces that move as much as all collective operations of tensor-parallel groups."""
    data: float = 0.0
    experts: int = 0
    """Bytes of collective operations of expert-parallel groups."""

    @property
    def replicas(self) -> int:
        """Number of data-parallel replicas."""
        return self.numbers["gpus"] // (self.numbers["tensor"] * self.numbers["pipeline"])

    def toml(self) -> Iterator[str]:
        """Yield a job."""
        passes = self.numbers["microbatches"]
        tensor, pipeline = self.numbers["tensor"], self.numbers["pipeline"]
        yield "[[jobs]]"
        yield 'name = "train"'
        yield 'nodes = ["*"]'
        yield "[jobs.step]"
        yield f"tensor = {tensor}"
        yield f"pipeline = {pipeline}"
        yield f"data = {self.replicas}"
        yield f"microbatches = {passes}"
        yield f'forward = "{round(self.forward / passes)} ns"'
        yield f'backward = "{round(self.backward / passes)} ns"'
        yield "[jobs.step.bytes]"
        yield f'tensor = "{round(self.tensor / 2 / passes) if tensor > 1 else 0} B"'
        yield f'pipeline = "{self.numbers["boundary"] if pipeline > 1 else 0} B"'
        yield f'data = "{round(self.data) if self.replicas > 1 else 0} B"'

    def notes(self, per_server: int) -> list[str]:
        """Return what the job leaves out, or how it differs."""
        notes = []
        if self.experts:
            notes.append(
                f"collective operations of expert-parallel groups are left out: {self.experts} B of each rank"
            )
        if self.numbers["virtual"] > 1 and self.numbers["pipeline"] > 1:
            notes.append(f"vpp {self.numbers['virtual']}: each rank has one stage")
        if self.update:
            notes.append(f"update times are left out: {self.update} ns")
        apart = self.numbers["pipeline"] > 1 or (self.replicas > 1 and self.data)
        if not apart and self.numbers["tensor"] <= per_server:
            notes.append("all collective operations stay within a node: no message takes a NIC")
        return notes


def read_workload(path: str | PathLike[str]) -> Workload:
    """Read a workload.

    Raises:
        FileNotFoundError: no such file.
        ScenarioError: with all mistakes at once, each with its line.

    """
    mistakes, workload, expected = Mistakes(path), Workload(str(path)), -1
    for number, line in enumerate(read_lines(path), 1):
        words = line.split()
        if not words:
            continue
        if not workload.numbers:
            _header(workload, number, words, mistakes)
        elif expected < 0:
            if len(words) != 1 or not words[0].isdigit():
                mistakes.add(number, "", line[:60], "is not a number of layers", "a line for each layer")
                mistakes.check()
            expected = int(words[0])
        elif workload.layers < expected:
            _layer(workload, number, words, mistakes)
    if workload.layers < expected or expected < 1:
        problem = f"has {workload.layers} layers, but the second line says {max(expected, 0)}"
        mistakes.add(2, "", "", problem, "as many lines as layers")
    mistakes.check()
    return workload


def _header(workload: Workload, number: int, words: list[str], mistakes: Mistakes) -> None:
    numbers = {"experts": 1, "virtual": 1, "microbatches": 1, "boundary": 0, "pipeline": 1}
    for word, value in itertools.pairwise(words):
        name = HEADER.get(word.removesuffix(":"))
        if name is None:
            continue
        if not value.isdigit() or len(value) > 15 or (int(value) < 1 and name != "boundary"):
            mistakes.add(number, word.removesuffix(":"), value, "is not a number", "at least 1")
            mistakes.check()
        numbers[name] = int(value)
    for key, name in HEADER.items():
        if name not in numbers:
            mistakes.add(number, key, "", "is missing", f"`{key}: NUMBER`")
    mistakes.check()
    group = numbers["tensor"] * numbers["pipeline"]
    if numbers["gpus"] % group:
        valid = f"a multiple of model_parallel_NPU_group times pp, {group}"
        mistakes.add(number, "all_gpus", str(numbers["gpus"]), "has no whole replicas", valid)
        mistakes.check()
    workload.numbers = numbers


def _layer(workload: Workload, number: int, words: list[str], mistakes: Mistakes) -> None:
    times = [words[i] for i in (2, 5, 8, 11) if i < len(words)]
    sizes = [words[i] for i in (4, 7, 10) if i < len(words)]
    if len(words) != 12 or not all(word.isdigit() and len(word) < 19 for word in (*times, *sizes)):
        mistakes.add(number, "", " ".join(words)[:60], "is not a layer of 12 columns", _LAYER)
        mistakes.check()
    workload.layers += 1
    forward, inputs, weights, update = map(int, times)
    workload.forward += forward
    workload.backward += inputs + weights
    workload.update += update
    for place, (kind, size) in enumerate(zip((words[3], words[6], words[9]), map(int, sizes), strict=True)):
        name, _, group = kind.partition("_")
        if name not in SHARES or group not in ("", "EP", "DP_EP"):
            valid = ", ".join(SHARES)
            mistakes.add(number, "", kind, "is not a collective operation", f"{valid}; with _EP or _DP_EP")
            mistakes.check()
        if name == "NONE":
            continue
        if group:
            workload.experts += size
        elif place == 2:
            workload.data += SHARES[name] * size
        else:
            workload.tensor += SHARES[name] * size


def rail(workload: Workload) -> Iterator[str]:
    """Yield `[topology.rail]` for a workload without a topology."""
    gpus = workload.numbers["gpus"]
    per_node = math.gcd(gpus, 8)
    nodes = gpus // per_node
    yield "[topology.rail] # not in the file: replace it with your fabric"
    yield f"nodes = {nodes}"
    yield f"gpus = {per_node}"
    yield f"spines = {min(nodes, 64)}"
    yield 'rate = "50 GB/s"'
    yield 'local_rate = "450 GB/s"'
    yield 'delay = "250 ns"'
