"""Relations between runs of one scenario on several threads and in another process.

`tests/test_valid_scenes.py` and `make same` compare runs with the WebAssembly core.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterator

import becalm
from becalm._core import run as core_run
from becalm.results import Results
from becalm.results.outcomes import Outcome
from drawn import Tables
from meaning.equal import same
from meaning.relation import relation, run


def threads(scenes: list[Tables]) -> Iterator[str]:
    """Compare runs on one, two and three threads, even if so many are of no use."""
    (data,) = scenes
    scenario = becalm.Scenario(data)
    first = run(data)
    for count in (2, 3):
        cores = [
            core_run(scenario.core, replication, count, lambda *_: None)
            for replication in range(scenario.replications)
        ]
        other = Results.from_outcomes(scenario, [Outcome(i, 0.0, core) for i, core in enumerate(cores)])
        yield from (f"{count} threads: {text}" for text in same(first, other))


@relation(threads, count=15)
def more_threads(data: Tables, _: random.Random) -> list[Tables] | None:
    """The number of threads does not change a result."""
    return [data]


def processes(scenes: list[Tables]) -> Iterator[str]:
    """Compare the fingerprint of a run with the one in a new process."""
    (data,) = scenes
    code = "import becalm, json, sys; print(becalm.run(becalm.Scenario(json.load(sys.stdin))).fingerprint)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps(data),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    here, there = run(data).fingerprint, done.stdout.strip()
    if here != there:
        yield f"fingerprint: {here} and {there}"


@relation(processes, count=5)
def another_process(data: Tables, _: random.Random) -> list[Tables]:
    """A run has the same result in every process."""
    return [data]
