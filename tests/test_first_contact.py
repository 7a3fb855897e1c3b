"""Defaults suit a stranger: links are full, or `becalm validate` says which key prevents it.

`SCENES=300` tests all combinations; `python tests/test_first_contact.py` counts them.
"""

from __future__ import annotations

import os
import random
import sys
from collections import Counter

import pytest

import first_contact
from first_contact import Case

SAMPLE = 48
"""Number of combinations in a short test."""


def chosen() -> list[Case]:
    cases = first_contact.cases()
    everything = int(os.environ.get("SCENES", "0")) >= 300
    return cases if everything else random.Random(1).sample(cases, SAMPLE)


@pytest.mark.parametrize("part", range(4))
def test_defaults_fill_links_or_a_warning_says_why_not(part: int) -> None:
    for case in chosen()[part::4]:
        for scene in first_contact.reached(case):
            congested = scene.shared and case.response != "none"
            assert scene.full or scene.explained or congested, f"{case}: {scene}"


@pytest.mark.parametrize("topology", first_contact.TOPOLOGIES)
def test_without_control_every_topology_is_full(topology: str) -> None:
    case = Case(topology, "credits", "none", 400, "100 m")
    assert [scene.scene for scene in first_contact.reached(case) if not scene.full] == []


def test_a_buffer_of_four_packets_is_too_small_and_explained() -> None:
    """The former default: the test would have noticed it, and the warning is right."""
    case = Case("clos", "credits", "none", 400, "100 m")
    data = case.data() | {"switch": {"buffer": "4 packets"}}
    flows = [{"name": "f", "from": ["H0"], "to": ["H7"]}]
    scene = first_contact.streams(case, "lone", data | {"flows": flows}, 4e-6)
    assert not scene.full
    assert scene.explained
    assert scene.part < 0.2


if __name__ == "__main__":
    found: Counter[str] = Counter()
    for case in first_contact.cases():
        for scene in first_contact.reached(case):
            outcome = "full" if scene.full else "explained" if scene.explained else "congested"
            if outcome == "congested" and not scene.shared:
                outcome = "unexplained"
            found[f"{scene.scene} {outcome}"] += 1
            if outcome in ("congested", "unexplained"):
                print(case, scene, file=sys.stderr)
    print("\n".join(f"{name}: {count}" for name, count in sorted(found.items())))
