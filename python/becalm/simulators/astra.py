"""Files of ASTRA-sim: networks of its analytical backend, and settings of its system layer."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

from becalm.base.mistakes import Mistakes, read_lines, read_text, shown
from becalm.simulators.graph import Cable, Graph

SIGN = re.compile(r"^npus_count\s*:", re.MULTILINE)
KINDS = ("Ring", "FullyConnected", "Switch")
KEYS = ("topology", "npus_count", "bandwidth", "latency")
GIGABYTE = 1 << 30
"""Bytes of a GB in a network's `bandwidth`, as ASTRA-sim counts them."""
IMPLEMENTATIONS = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all")
MOST = 65_536
"""Maximum number of NPUs, and of cables between them."""
TRACE = re.compile(r"(.+)\.(\d+)\.(?:et|json)(?:\.gz)?")


@dataclass
class Dimension:
    """A dimension of a network."""

    kind: str
    npus: int
    rate: float
    """b/s of a link in one direction."""
    delay: float
    """Seconds."""


def read_network(path: str | PathLike[str]) -> list[Dimension]:
    """Read a network: its dimensions, the first of which changes fastest with an NPU's number.

    Raises:
        FileNotFoundError: no such file.
        ScenarioError: with all mistakes at once, each with its line.

    """
    mistakes = Mistakes(path)
    found, lines = _lists(path, mistakes)
    mistakes.check()
    count = len(found["topology"])
    for key in KEYS:
        if len(found[key]) != count or not count:
            problem = f"has {len(found[key])} dimensions, but topology has {count}"
            mistakes.add(lines[key], key, ", ".join(found[key])[:60], problem, "a value for each dimension")
    mistakes.check()
    _valid(found, lines, mistakes)
    values = zip(*(found[key] for key in KEYS), strict=True)
    dimensions = [
        Dimension(kind, int(float(npus)), float(fast) * GIGABYTE * 8, float(late) / 1e9)
        for kind, npus, fast, late in values
    ]
    npus = math.prod(each.npus for each in dimensions)
    if npus > MOST:
        mistakes.add(lines["npus_count"], "npus_count", str(npus), "has too many NPUs", f"at most {MOST}")
    mistakes.check()
    return dimensions


def _lists(path: str | PathLike[str], mistakes: Mistakes) -> tuple[dict[str, list[str]], dict[str, int]]:
    """Return the list of each key, and its line."""
    found, lines = dict[str, list[str]](), dict[str, int]()
    for number, line in enumerate(read_lines(path), 1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        key, colon, value = (part.strip() for part in text.partition(":"))
        listed = re.fullmatch(r"\[([^\[\]]*)\]", value)
        if not colon or key not in KEYS or not listed:
            valid = "; ".join(f"{each}: [ ... ]" for each in KEYS)
            mistakes.add(number, "", text[:60], "is not a key with a list", valid)
            continue
        found[key], lines[key] = [each.strip() for each in listed[1].split(",") if each.strip()], number
    for key in KEYS:
        if key not in found and not mistakes.list:
            mistakes.add(1, key, "", "is missing", f"{key}: [ ... ]")
    return found, lines


def _valid(found: dict[str, list[str]], lines: dict[str, int], mistakes: Mistakes) -> None:
    for kind in found["topology"]:
        if kind not in KINDS:
            mistakes.add(lines["topology"], "topology", kind, "is not a topology", ", ".join(KINDS))
    for key, least in (("npus_count", 2), ("bandwidth", 1e-3), ("latency", 0)):
        for each in found[key]:
            value = _number(each)
            if value is None or value < least or (key == "npus_count" and value % 1):
                mistakes.add(lines[key], key, each, "is not such a number", f"at least {least}")
    mistakes.check()


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\d{1,12}(?:\.\d{0,12})?(?:[eE][+-]?\d{1,2})?", text) else None


def graph(dimensions: list[Dimension]) -> Graph:
    """Return a network's hosts `npu0`, `npu1`, ..., which have a switch each if they have several links."""
    npus = math.prod(each.npus for each in dimensions)
    hosts = [f"npu{i}" for i in range(npus)]
    if len(dimensions) == 1 and dimensions[0].kind == "Switch":
        (only,) = dimensions
        return Graph(hosts, ["switch0"], [Cable((host, "switch0"), only.rate, only.delay) for host in hosts])
    switches = [f"at{i}" for i in range(npus)]
    total = sum(each.rate * _degree(each) for each in dimensions)
    cables = [Cable((host, own), total, 0.0) for host, own in zip(hosts, switches, strict=True)]
    step = 1
    for place, each in enumerate(dimensions):
        firsts = [i for i in range(npus) if i // step % each.npus == 0]
        for number, first in enumerate(firsts):
            group = [f"at{first + i * step}" for i in range(each.npus)]
            if each.kind == "Switch":
                switches.append(f"d{place}switch{number}")
                pairs = [(name, switches[-1]) for name in group]
            elif each.kind == "Ring":
                pairs = list(zip(group, [*group[1:], group[0]], strict=True))[: None if each.npus > 2 else 1]
            else:
                pairs = [(one, two) for i, one in enumerate(group) for two in group[i + 1 :]]
            cables += [Cable(pair, each.rate, each.delay) for pair in pairs]
        step *= each.npus
    return Graph(hosts, switches, cables)


def _degree(dimension: Dimension) -> int:
    return {"Switch": 1, "Ring": min(2, dimension.npus - 1)}.get(dimension.kind, dimension.npus - 1)


@dataclass
class System:
    """Settings of the system layer."""

    delay: float = 0.0
    """Nanoseconds at the ends of each message."""
    notes: list[str] = field(default_factory=list)


def is_system(text: str) -> bool:
    """Whether a text contains settings of the system layer."""
    return text.lstrip().startswith("{") and any(
        f'"{each}-implementation"' in text for each in IMPLEMENTATIONS
    )


def read_system(path: str | PathLike[str]) -> System:
    """Read settings of the system layer.

    Raises:
        FileNotFoundError: no such file.
        ScenarioError: the file is no JSON, or has a wrong value.

    """
    mistakes, system = Mistakes(path), System()
    try:
        values = json.loads(read_text(path))
    except ValueError as error:
        mistakes.add(None, "", "", f"is not JSON: {error}", "ASTRA-sim's settings of its system layer")
        mistakes.check()
    late = values.get("endpoint-delay", 0)
    if isinstance(late, bool) or not isinstance(late, int | float) or not 0 <= late < 1e9:
        mistakes.add(None, "endpoint-delay", shown(late), "is not a delay in ns", "0 or more")
        mistakes.check()
    system.delay = float(late)
    for each in IMPLEMENTATIONS:
        key = f"{each}-implementation"
        names = values.get(key, [])
        expected = {"direct", "ring"} if each == "all-to-all" else {"ring"}
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            mistakes.add(None, key, shown(names), "is not a list of algorithms", '["ring"]')
            mistakes.check()
        if other := [name for name in names if name not in expected]:
            does = "pairwise exchanges" if each == "all-to-all" else "a ring"
            system.notes.append(f"{key} {', '.join(other)}: becalm uses {does}")
    splits = values.get("preferred-dataset-splits", 1)
    if splits != 1:
        system.notes.append(f"preferred-dataset-splits {shown(splits)}: becalm does not split collectives")
    return system


def traces(files: list[Path], folder: Path) -> tuple[str, int]:
    """Return the name of Chakra traces relative to a folder, and their number.

    Raises:
        ScenarioError: the files are not those of ranks 0, 1, ...

    """
    found = {int(match[2]): match[1] for each in files if (match := TRACE.fullmatch(str(each)))}
    names = set(found.values())
    if len(names) != 1 or sorted(found) != list(range(len(found))):
        mistakes = Mistakes(files[0])
        mistakes.add(
            None, "", "", "is not with the traces of all ranks", "NAME.0.et, NAME.1.et, ..., or .json"
        )
        mistakes.check()
    return os.path.relpath(names.pop(), folder).replace("\\", "/"), len(found)


def toml(system: System, chakra: tuple[str, int] | None) -> Iterator[str]:
    """Yield a scenario. Networks of ASTRA-sim have unlimited queues and no headers."""
    yield "[switch]"
    yield 'buffer = "unlimited"'
    yield 'forwarding_delay = "0 s"'
    yield "[switch.paths.flow]"
    yield "[packet]"
    yield 'mtu = "4096 B"'
    yield 'header = "0 B"'
    yield "[response.none]"
    yield ""
    yield "[[jobs]]"
    yield 'name = "workload"'
    yield 'hosts = ["*"]'
    if system.delay:
        yield f'overhead = "{system.delay:.9g} ns"'
    if chakra is None:
        yield 'collective.all_reduce.bytes = "1 MiB" # not in the files: replace it with your workload'
    else:
        yield f'chakra = "{chakra[0]}"'
