"""Relations between scenarios, and invariants between tables, on random scenes; see `meaning/__init__.py`."""

from __future__ import annotations

import functools
import itertools
import os
import random
from collections.abc import Callable
from typing import NoReturn

import pytest

import becalm
import drawn
from drawn import Tables
from meaning import broken, elsewhere, grouped, invariants, observed, programs, scaled, unused, written
from meaning.relation import RELATIONS, accepted, run
from meaning.shrink import shrunk

SEED = int(os.environ.get("MEANING_SEED", "1"))
MANY = int(os.environ.get("MEANING", "1"))
SCENES = 320
"""Scenes on which the invariants are tested."""
FAMILIES = (written, grouped, unused, observed, scaled, elsewhere, programs, broken)
"""Modules that add relations to the list."""


def kind(found: list[str]) -> str:
    """Return what kind of failure the first violation is. A reduction keeps it."""
    if not found:
        return ""
    start = found[0].partition(":")[0]
    return start if start.endswith("Error") or " " in start else "values"


def disagreements(data: Tables) -> list[str]:
    """Run a scenario if it is valid, and return what its tables contradict."""
    return invariants.violations(run(data)) if accepted(data) else []


def test_every_relation_is_listed() -> None:
    assert {each.write.__module__ for each in RELATIONS.values()} == {each.__name__ for each in FAMILIES}


def failed(
    name: str,
    data: Tables,
    violations: Callable[[Tables], list[str]],
    shown: Callable[[Tables], list[Tables]],
) -> NoReturn:
    """Reduce a scenario that fails, and fail with it and the values that differ."""
    first = kind(violations(data))
    small = shrunk(data, lambda each: kind(violations(each)) == first)
    lines = "\n".join(f"  {text}" for text in violations(small)[:8])
    texts = "\n# and\n".join(becalm.Scenario(each).to_toml() for each in shown(small) if accepted(each))
    pytest.fail(f"{name} (MEANING_SEED={SEED}):\n{lines}\n{texts}", pytrace=False)


@pytest.mark.parametrize("name", RELATIONS)
def test_relation(name: str) -> None:
    relation = RELATIONS[name]
    scenes = relation.drawn(random.Random(f"{name} {SEED}"))
    for data, seed in itertools.islice(scenes, relation.count * MANY):
        violations = functools.partial(relation.violations, seed=seed)
        if violations(data):
            failed(
                f"{name}: {relation.meaning}", data, violations, functools.partial(relation.scenes, seed=seed)
            )


@pytest.mark.parametrize("part", range(8))
def test_tables_agree(part: int) -> None:
    for scenario in drawn.scenes(SCENES * MANY, SEED)[part::8]:
        if disagreements(scenario.data()):
            failed("tables agree", scenario.data(), disagreements, lambda data: [data])
