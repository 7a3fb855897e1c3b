"""The key of a run: a hash of exactly the inputs that its results depend on."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from becalm._core import model as core_model
from becalm.scenario import Scenario

FORMAT = 1
"""Format version of the files in a store."""


def run_key(scenario: Scenario, replication: int, model: str = core_model) -> str:
    """Return the key of one replication: 64 hexadecimal digits.

    The key does not depend on the number of replications, so a scenario can get more and reuse existing runs.

    Args:
        scenario: the scenario. Files that resolve to the same scenario have the same keys.
        replication: number of the replication, from 0.
        model: hash of the model's sources; default: this program's model.

    """
    return key_of(scenario.resolved, replication, model)


def key_of(resolved: dict[str, Any], replication: int, model: str) -> str:
    """Return the key of a scenario resolved by any version of becalm."""
    parts = [FORMAT, _single_hash(resolved), model, replication]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _single_hash(resolved: dict[str, Any]) -> str:
    single = {**resolved, "run": {**resolved["run"], "replications": 1}}
    canonical = json.dumps(single, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
