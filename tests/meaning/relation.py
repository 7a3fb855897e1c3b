"""What a relation is: two ways to write or run a scenario that must have equal results. The list of all."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import becalm
import drawn
from drawn import Tables

Write = Callable[[Tables, random.Random], list[Tables] | None]
"""Returns scenarios that mean the same as a drawn one, or None if the relation does not apply to it."""
Equal = Callable[[list[Tables]], Iterator[str]]
"""Runs scenarios that mean the same, and yields each difference with both values."""


@dataclass(frozen=True)
class Relation:
    """Scenarios that mean the same, and what must be equal in their results."""

    name: str
    meaning: str
    write: Write
    equal: Equal
    count: int
    """Number of scenes in `make meaning`."""
    kinds: tuple[str, ...]
    """Kinds of traffic to draw."""
    topologies: tuple[str, ...]
    """Topologies to draw."""

    def violations(self, data: Tables, seed: int) -> list[str]:
        """Return the differences between the scenarios that mean the same as a valid one."""
        if not accepted(data):
            return []
        scenes = self.scenes(data, seed)
        if not scenes or not accepted(scenes[0]):
            return []
        try:
            return list(self.equal(scenes))
        except becalm.BecalmError as error:
            return [f"{type(error).__name__}: {error}"]

    def scenes(self, data: Tables, seed: int) -> list[Tables]:
        """Return the scenarios that mean the same; none if the relation does not apply."""
        return self.write(copy.deepcopy(data), random.Random(seed)) or []

    def drawn(self, draw: random.Random) -> Iterator[tuple[Tables, int]]:
        """Yield valid scenarios to which the relation applies, each with a seed for `violations`."""
        parts = [(a, b, c) for a, b, c in drawn.parts() if a in self.topologies and c in self.kinds]
        while True:
            data, seed = drawn.drawn(draw, *draw.choice(parts)), draw.randrange(1 << 30)
            try:
                scenes = self.scenes(data, seed)
            except becalm.ScenarioError:
                continue
            if scenes and accepted(data) and accepted(scenes[0]):
                yield data, seed


RELATIONS: dict[str, Relation] = {}
"""All relations by name."""


def relation(
    equal: Equal,
    count: int,
    kinds: tuple[str, ...] = drawn.TRAFFIC,
    topologies: tuple[str, ...] = tuple(drawn.TOPOLOGIES),
) -> Callable[[Write], Write]:
    """Add the decorated function to the relations, under its own name."""

    def add(write: Write) -> Write:
        name = write.__name__.replace("_", " ")
        meaning = (write.__doc__ or "").partition("\n")[0]
        RELATIONS[name] = Relation(name, meaning, write, equal, count, kinds, topologies)
        return write

    return add


def accepted(data: Tables) -> bool:
    """Return whether a scenario is valid."""
    try:
        becalm.Scenario(data)
    except becalm.BecalmError:
        return False
    return True


def run(data: Tables) -> becalm.Results:
    """Run a scenario on one thread."""
    return becalm.run(becalm.Scenario(data), threads=1)
