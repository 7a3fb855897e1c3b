"""Machines with several adapters, as descriptions say (`node1 mlx5_0`, `node1 mlx5_1`), and nodes."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from becalm.opensm import names
from becalm.opensm.fabric import Fabric, Host

_DEVICE = re.compile(r"(HCA-\d+|(?:mlx[45]|hfi1)_\d+|(?:mthca|qib)\d+|ib[ops]\w+) p\d+")
"""A device's name, `HCA-1` or that of a driver in Linux, and a port. OpenIB's scripts and rdma-core's
rdma-ndd describe an adapter by its host and device."""

_NAMED = 3
"""Number of machines that a note names."""


class Machine(NamedTuple):
    """A machine with several adapters, or with an adapter that has cables at several ports."""

    name: str
    hosts: dict[str, Host]
    """Its hosts by the words that tell them apart, in natural order."""

    def recurs(self, owners: Counter[str]) -> bool:
        """Return whether another machine has one of its words."""
        return any(owners[word] > 1 for word in self.hosts)

    def adapters(self) -> list[list[Host]]:
        """Return the hosts of each adapter, by port."""
        by_adapter: dict[str, list[Host]] = defaultdict(list)
        # By word, because some lists of cables have no GUIDs of adapters, only of ports.
        for word, host in self.hosts.items():
            by_adapter[word.rpartition(" p")[0]].append(host)
        return [sorted(hosts, key=lambda host: host.end.port) for hosts in by_adapter.values()]


def machine_and_word(host: Host) -> tuple[str, str]:
    """Return the first word of a host's description, and what tells its adapters and their ports apart."""
    machine, _, rest = host.description.strip().partition(" ")
    return machine, f"{rest.strip()} p{host.end.port}"


def machines(fabric: Fabric) -> tuple[list[Machine], list[str]]:
    """Return machines with several hosts whose words differ, and names of machines with a word twice.

    Their descriptions have the same first word. This alone does not make them one machine: see
    `Machine.recurs`.
    """
    found: dict[str, dict[str, list[Host]]] = defaultdict(lambda: defaultdict(list))
    for host in fabric.hosts:
        name, word = machine_and_word(host)
        found[name][word].append(host)
    several = {name: words for name, words in found.items() if sum(map(len, words.values())) > 1}
    apart = [
        Machine(name, {word: words[word][0] for word in sorted(words, key=names.natural)})
        for name, words in several.items()
        if all(len(hosts) == 1 for hosts in words.values())
    ]
    return apart, [name for name in several if all(name != machine.name for machine in apart)]


def owners(apart: list[Machine]) -> Counter[str]:
    """Return the number of machines that have each word."""
    return Counter(word for machine in apart for word in machine.hosts)


def nodes(fabric: Fabric) -> tuple[list[Machine], list[str]]:
    """Return the machines that are nodes of a scenario, in natural order, and notes on those that may be.

    Hosts whose descriptions have the same first word are one node if the other words are devices, or those of
    another machine, too. Without such descriptions, they are in no node.
    """
    apart, same = machines(fabric)
    of = owners(apart)
    sure = [
        machine
        for machine in sorted(apart, key=lambda machine: names.natural(machine.name))
        if names.legal(machine.name)
        and (machine.recurs(of) or all(_DEVICE.fullmatch(word) for word in machine.hosts))
    ]
    even = [machine for machine in sure if len({len(hosts) for hosts in machine.adapters()}) == 1]
    notes = []
    if same:
        notes.append(f"adapters with the same description are in no node: {_some(same)}")
    if uneven := [machine.name for machine in sure if machine not in even]:
        notes.append(f"adapters with different numbers of cables are in no node: {_some(uneven)}")
    return even, notes


def _some(machines: list[str]) -> str:
    more = ", ..." if len(machines) > _NAMED else ""
    return ", ".join(f'"{machine}"' for machine in machines[:_NAMED]) + more


def text(nodes: list[Machine]) -> Iterator[str]:
    """Yield `[[nodes]]` as lines of a scenario."""
    if not nodes:
        return
    yield ""
    yield "# Nodes with several adapters or ports, by the descriptions of adapters. Each rank of a job on"
    yield "# nodes has an adapter of its own; `gpus` is the number of adapters of a node."
    for name, group in _grouped(nodes):
        adapters = [hosts for machine in group for hosts in machine.adapters()]
        ports = (names.quoted([hosts[port].name for hosts in adapters]) for port in range(len(adapters[0])))
        yield "[[nodes]]"
        yield f'name = "{name}"'
        yield f"gpus = {len(adapters) // len(group)}"
        yield f"nics = [{', '.join(f'[{hosts}]' for hosts in ports)}]"


def _grouped(nodes: list[Machine]) -> Iterator[tuple[str, list[Machine]]]:
    """Yield nodes with as many adapters and ports each whose names form a range, with this range."""
    shapes: dict[tuple[int, int], list[Machine]] = defaultdict(list)
    for machine in nodes:
        shapes[len(machine.hosts), len(machine.adapters())].append(machine)
    for group in shapes.values():
        rest = iter(group)
        for name in names.ranges(names.legal(machine.name) for machine in group):
            yield name, [next(rest) for _ in range(names.count(name))]
