"""The key of a run: a hash of everything that its results depend on, and of nothing else."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from becalm._core import model as core_model
from becalm.scenario import Scenario

FORMAT = 1
"""Version of the files of a store."""


def run_key(scenario: Scenario, replication: int, model: str = core_model) -> str:
    """Return the key of one replication: 64 hexadecimal digits.

    The number of replications does not count: a scenario that gets more of them keeps the existing ones.

    Args:
        scenario: what is run, as resolved; two files that mean the same have the same keys.
        replication: number of the replication, from 0.
        model: hash of the sources of the model; that of this program if not given.

    """
    return key_of(scenario.resolved, replication, model)


def key_of(resolved: dict[str, Any], replication: int, model: str) -> str:
    """Return the key of a resolved scenario, whichever version of becalm resolved it."""
    parts = [FORMAT, _single_hash(resolved), model, replication]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _single_hash(resolved: dict[str, Any]) -> str:
    single = {**resolved, "run": {**resolved["run"], "replications": 1}}
    canonical = json.dumps(single, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
