"""The nodes and GPUs to which hosts belong, in scenarios whose nodes have several adapters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from becalm.scenario import Scenario

_RANGE = re.compile(r"(.*?)(\d+)\.\.(.*?)(\d+)")
_OF_RAIL = re.compile(r"(N\d+)[GV](\d+)(?:P\d+)?")
_WORD = re.compile(r"[\w.:-]+")


def owners(scenario: Scenario) -> dict[str, str]:
    """Return the owner of each adapter in words, by its host: `GPU 1 of node N0`; empty without nodes."""
    resolved = scenario.resolved
    if "rail" in resolved["topology"]:
        found = ((host, _OF_RAIL.fullmatch(host)) for host in scenario.hosts("*"))
        return {host: f"GPU {match[2]} of node {match[1]}" for host, match in found if match}
    return {host: owner for nodes in resolved["nodes"] for host, owner in _listed(scenario, nodes)}


def _listed(scenario: Scenario, nodes: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    names, gpus = list(_expanded(nodes["name"])), nodes["gpus"]
    lists = [*nodes["nics"], *([nodes["local"]] if nodes["local"] else [])]
    for ports in lists:
        # A list names the port of every GPU, node by node.
        for place, host in enumerate(scenario.hosts(*ports)):
            node = names[place // gpus % len(names)]
            yield host, f"GPU {place % gpus} of node {node}" if gpus > 1 else f"node {node}"


def _expanded(name: str) -> Iterator[str]:
    match = _RANGE.fullmatch(name)
    if match is None:
        yield name
    else:
        yield from (f"{match[1]}{number}" for number in range(int(match[2]), int(match[4]) + 1))


def named(text: str, owner_of: Mapping[str, str]) -> str:
    """Add the owner to the first adapter that a text names, except in text for copying."""
    said = text.split("`")
    for place in range(0, len(said), 2):
        for match in _WORD.finditer(said[place]):
            host = match[0].rstrip(".:-")
            if host in owner_of:
                end = match.start() + len(host)
                said[place] = f"{said[place][:end]} ({owner_of[host]}){said[place][end:]}"
                return "`".join(said)
    return text
