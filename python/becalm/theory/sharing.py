"""Rates of backlogged flows, by the rule for sharing links.

`max_min_rates` is the fair ideal (Bertsekas and Gallager, "Data Networks", 1992, section 6.5.2).
`port_fair_rates` describes lossless switches without congestion control: each output serves its inputs in
round-robin order, whatever their numbers of flows, and a link that must wait delays everything on it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from becalm._core import max_min

Array = NDArray[np.float64]
Path = Sequence[Hashable]

STEPS = 20_000
"""Maximum number of iterations to the fixed point. A few hundred are usual."""
CLOSE = 1e-9
"""Largest change of limits at the fixed point, as a share of the capacity."""


def max_min_rates(paths: Sequence[Path], capacity: float = 1.0) -> Array:
    """Return the max-min fair rate of each flow. No flow can get more without taking from one that has less.

    Args:
        paths: the links of each flow, with any names.
        capacity: capacity of every link; the result has the same unit.

    Raises:
        ValueError: a path has no links.

    """
    _check(paths)
    names = {link: place for place, link in enumerate({link: None for path in paths for link in path})}
    places = [[names[link] for link in dict.fromkeys(path)] for path in paths]
    return np.array(max_min(places, [capacity] * len(names)))


def port_fair_rates(paths: Sequence[Path], capacity: float = 1.0) -> Array:
    """Return the rate of each flow if switches serve their inputs in round-robin order and drop nothing.

    The rates are a fixed point of three rules:

    - The links that bring packets to an output get equal shares of it, unless they bring less.
    - A link that brings more than its share for any output waits, which delays everything on it. Its traffic
      keeps the proportions that the output before it sets.
    - The flows of a source get equal shares of its link.

    Shares depend on ports instead of flows: a single flow on a port gets as much as all flows on another
    port.

    Args:
        paths: the links of each flow in order, with any names, starting with the source's link.
        capacity: capacity of every link; the result has the same unit.

    Raises:
        ValueError: a path has no links, or links wait for each other in a cycle.

    """
    _check(paths)
    links = _in_order(paths)
    inputs = {link: _inputs(paths, link) for link in links}
    limit = dict.fromkeys(links, 1.0)
    for _ in range(STEPS):
        carried = _forward(inputs, limit)
        wanted = _backward(inputs, limit, carried)
        moved = max(abs(wanted[link] - limit[link]) for link in links)
        limit = {link: (limit[link] + wanted[link]) / 2 for link in links}
        if moved < CLOSE:
            break
    return capacity * np.array([carried[path[-1]][i] for i, path in enumerate(paths)])


def _inputs(paths: Sequence[Path], link: Hashable) -> dict[Hashable, list[int]]:
    """Return the flows of a link by preceding link. Each flow that starts there has its own queue."""
    found: dict[Hashable, list[int]] = {}
    for i, path in enumerate(paths):
        if link in path:
            place = list(path).index(link)
            found.setdefault(path[place - 1] if place else (None, i), []).append(i)
    return found


def _forward(
    inputs: Mapping[Hashable, Mapping[Hashable, list[int]]], limit: Mapping[Hashable, float]
) -> dict[Hashable, dict[int, float]]:
    """Return the rate of each flow on each link, starting at the sources."""
    carried: dict[Hashable, dict[int, float]] = {}
    for link, sources in inputs.items():
        brought = [_brought(carried, source, flows) for source, flows in sources.items()]
        taken = _fill(limit[link], [sum(each) for each in brought])
        carried[link] = {
            i: amount * part / sum(each)
            for (flows, each, part) in zip(sources.values(), brought, taken, strict=True)
            for i, amount in zip(flows, each, strict=True)
        }
    return carried


def _backward(
    inputs: Mapping[Hashable, Mapping[Hashable, list[int]]],
    limit: Mapping[Hashable, float],
    carried: Mapping[Hashable, Mapping[int, float]],
) -> dict[Hashable, float]:
    """Return the limit of each link at which no later output gets more than its share from it."""
    wanted = dict.fromkeys(limit, 1.0)
    for link, sources in inputs.items():
        brought = [sum(_brought(carried, source, flows)) for source, flows in sources.items()]
        for place, source in enumerate(sources):
            if source not in limit:
                continue
            greedy = [*brought[:place], np.inf, *brought[place + 1 :]]
            part = brought[place] / sum(carried[source].values())
            wanted[source] = min(wanted[source], _fill(limit[link], greedy)[place] / part)
    return wanted


def _brought(
    carried: Mapping[Hashable, Mapping[int, float]], source: Hashable, flows: Sequence[int]
) -> list[float]:
    """Return the rate of some flows on a link. A queue at the source supplies up to the link's capacity."""
    return [carried[source][i] if source in carried else 1.0 for i in flows]


def _fill(room: float, wanted: Sequence[float]) -> list[float]:
    """Divide `room` equally among entries that want at least that much. Others get what they want."""
    shares = [0.0] * len(wanted)
    for rank, place in enumerate(sorted(range(len(wanted)), key=lambda each: wanted[each])):
        shares[place] = min(wanted[place], room / (len(wanted) - rank))
        room -= shares[place]
    return shares


def _in_order(paths: Sequence[Path]) -> list[Hashable]:
    """Return the links in topological order, each after the links that lead to it."""
    before: dict[Hashable, set[Hashable]] = {link: set() for path in paths for link in path}
    for path in paths:
        for first, second in pairwise(path):
            before[second].add(first)
    try:
        return list(TopologicalSorter(before).static_order())
    except CycleError as error:
        cycle = ", ".join(map(str, error.args[1]))
        raise ValueError(f"paths: links wait for each other in a cycle: {cycle}") from None


def _check(paths: Sequence[Path]) -> None:
    for i, path in enumerate(paths):
        if not path:
            raise ValueError(f"paths: path {i} has no links")
