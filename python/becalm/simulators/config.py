"""Configurations and flows of HPCC's ns-3 and its relatives."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from becalm.base.errors import ScenarioError
from becalm.base.mistakes import Mistakes, read_lines
from becalm.simulators.topologies import rate

SIGN = re.compile(r"^\s*TOPOLOGY_FILE\s+\S+", re.MULTILINE)
CONTROLS = {0: "none", 1: "DCQCN", 3: "HPCC", 7: "TIMELY", 8: "DCTCP"}
"""Values of CC_MODE."""

OFF: dict[str, tuple[str, str]] = {
    "ERROR_RATE_PER_LINK": ("is an error rate; becalm's links lose nothing", "0"),
    "LINK_DOWN": ("takes a link down with its packets; faults of becalm lose none, see [[faults]]", "0 0 0"),
    "MULTI_RATE": ("gives HPCC a rate per hop, which becalm does not model", "0"),
    "SAMPLE_FEEDBACK": ("samples HPCC's feedback, which becalm does not model", "0"),
    "ENABLE_IRN": ("retransmits by IRN, but becalm's networks lose nothing", "0"),
}
"""Keys that must be zero, why, and what they may be."""

NUMBERS = {
    "PACKET_PAYLOAD_SIZE": 1000.0,
    "SIMULATOR_STOP_TIME": 3.01,
    "CC_MODE": 1.0,
    "ALPHA_RESUME_INTERVAL": 55.0,
    "RATE_DECREASE_INTERVAL": 4.0,
    "CLAMP_TARGET_RATE": 0.0,
    "RP_TIMER": 1500.0,
    "EWMA_GAIN": 1 / 16,
    "FAST_RECOVERY_TIMES": 5.0,
    "HAS_WIN": 1.0,
    "VAR_WIN": 0.0,
    "FAST_REACT": 1.0,
    "U_TARGET": 0.95,
    "MI_THRESH": 5.0,
    "BUFFER_SIZE": 12.0,
    "ENABLE_QCN": 1.0,
    "ENABLE_PFC": 1.0,
    "LB_MODE": 0.0,
    "L2_ACK_INTERVAL": 1.0,
}
"""Keys with a number, and the values that are used without them."""
RATES = {"RATE_AI": 5e6, "RATE_HAI": 50e6, "MIN_RATE": 100e6}
"""Keys with a rate in b/s, and the values that are used without them."""
MAPS = ("KMIN_MAP", "KMAX_MAP", "PMAX_MAP")
FILES = ("TOPOLOGY_FILE", "FLOW_FILE")

_MOST_FLOWS = 1_000_000


class Flow(NamedTuple):
    """A message."""

    source: int
    destination: int
    priority: int
    port: int
    bytes: int
    start: float
    """Seconds."""


@dataclass
class Config:
    """A configuration."""

    file: str
    values: dict[str, float] = field(default_factory=lambda: NUMBERS | RATES)
    maps: dict[str, dict[float, float]] = field(default_factory=dict)
    """By rate in b/s: Kmin and Kmax in kB of 1000 B, and Pmax."""
    paths: dict[str, Path] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)

    def wrong(self, key: str, value: str, problem: str, valid: str) -> ScenarioError:
        """Return an error about a key."""
        mistakes = Mistakes(self.file)
        mistakes.add(self.lines.get(key), key, value, problem, valid)
        try:
            mistakes.check()
        except ScenarioError as error:
            return error
        raise AssertionError(key)


def read(path: str | PathLike[str]) -> Config:
    """Read a configuration. Text in braces is a comment, and keys for output have no meaning here.

    Raises:
        FileNotFoundError: no such file, or a file that it names.
        ScenarioError: with all mistakes at once, each with its line.

    """
    config, mistakes = Config(str(path)), Mistakes(path)
    for number, line in enumerate(read_lines(path), 1):
        words = re.sub(r"\{.*", "", line).split()
        if words:
            config.lines.setdefault(words[0], number)
            _take(config, number, words[0], words[1:], mistakes)
    for key in FILES:
        if key not in config.paths:
            mistakes.add(1, key, "", "is missing", f"{key} FILE")
    mistakes.check()
    return config


def _take(config: Config, number: int, key: str, words: list[str], mistakes: Mistakes) -> None:
    def wrong(problem: str, valid: str) -> None:
        mistakes.add(number, key, " ".join(words), problem, valid)

    if key in OFF:
        if any(_number(word) != 0 for word in words):
            wrong(*OFF[key])
    elif key in NUMBERS:
        value = _number(words[0]) if len(words) == 1 else None
        if value is None:
            wrong("is not a number", f"such as {NUMBERS[key]:g}")
        else:
            config.values[key] = value
    elif key in RATES:
        speed = rate(words[0]) if len(words) == 1 else None
        if speed is None:
            wrong("is not a rate", f"such as {RATES[key] / 1e6:g}Mb/s")
        else:
            config.values[key] = speed
    elif key in MAPS:
        found = [_number(word) for word in words]
        pairs = dict(zip(found[1::2], found[2::2], strict=False))
        if None in found or not found or len(found) != 1 + 2 * int(found[0] or 0) or len(pairs) != found[0]:
            wrong("is not a map", "`number rate value rate value ...`")
        else:
            config.maps[key] = {one: two for one, two in pairs.items() if one is not None and two is not None}
    elif key in FILES:
        if len(words) == 1 and words[0].isprintable():
            config.paths[key] = _found(Path(config.file), words[0])
        else:
            wrong("is not the name of a file", f"{key} FILE")


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\d{1,18}(?:\.\d{0,18})?(?:e-?\d{1,2})?", text) else None


def _found(config: Path, name: str) -> Path:
    """Return a file that a configuration names: relative to the folder where ns-3 runs, or beside it."""
    folder = config.parent
    choices = [folder / name, folder.parent / name, *(up / name for up in folder.resolve().parents)]
    choices.append(folder / Path(name).name)
    return next((each for each in choices if each.is_file()), choices[-1])


def read_flows(path: str | PathLike[str], is_host: Callable[[int], bool]) -> list[Flow]:
    """Read a file of flows: their number, then a line for each.

    A line has the source, destination, priority, port, bytes and start in seconds.

    Args:
        path: the file.
        is_host: whether a number is that of a host.

    Raises:
        FileNotFoundError: no such file.
        ScenarioError: with all mistakes at once, each with its line.

    """
    mistakes, flows = Mistakes(path), list[Flow]()
    expected = -1
    for number, line in enumerate(read_lines(path), 1):
        words = line.split()
        if not words:
            continue
        if expected < 0:
            if len(words) != 1 or not words[0].isdigit() or not 0 < int(words[0][:9]) <= _MOST_FLOWS:
                mistakes.add(number, "", line[:60], "is not a number of flows", f"1 to {_MOST_FLOWS}")
                break
            expected = int(words[0])
        elif len(flows) < expected:
            _flow(flows, number, words, is_host, mistakes)
    if expected > len(flows) and not mistakes.list:
        problem = f"has {len(flows)} flows, but the first line says {expected}"
        mistakes.add(1, "", str(expected), problem, "as many lines as flows")
    elif expected < 0 and not mistakes.list:
        mistakes.add(1, "", "", "is empty", "a number of flows, and a line for each")
    mistakes.check()
    return flows


def _flow(
    flows: list[Flow], number: int, words: list[str], is_host: Callable[[int], bool], mistakes: Mistakes
) -> None:
    numbers = [_number(word) for word in words]
    if len(words) != 6 or None in numbers or any(not word.isdigit() for word in words[:5]):
        valid = "`source destination priority port bytes start`"
        mistakes.add(number, "", " ".join(words)[:60], "is not a flow", valid)
        mistakes.check()
    source, destination, priority, port, size = (int(word) for word in words[:5])
    for end in (source, destination):
        if not is_host(end):
            mistakes.add(number, "", str(end), "is not a host of the topology", "a node that is no switch")
    if source == destination or not size or size > 2**40:
        problem = "is a flow to its source, without bytes, or above 1 TiB"
        mistakes.add(number, "", " ".join(words), problem, "two hosts and at most 1 TiB")
    flows.append(Flow(source, destination, priority, port, size, float(words[5])))
