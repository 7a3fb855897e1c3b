"""Broken input of every kind: each reader quickly returns a value or raises an error of becalm.

By default, each target has the same inputs on every run. With `FUZZ_SECONDS=600`, which `make fuzz` sets,
each target gets new inputs for this time. `corpus` contains inputs that exposed faults; they are tried first.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Callable

import pytest
from corrupt import broken
from hypothesis import HealthCheck, given, seed, settings
from targets import CORPUS, TARGETS, Target

import becalm

GIVEN = os.environ.get("FUZZ_SECONDS")
BATCH = 100
"""Inputs per target, or between two checks of the time."""
LONGEST = 3.0
"""Limit on processor time per input in s; a slower reader counts as hanging."""
MOST = 1_500_000_000
"""Limit on growth of the process in bytes."""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", TARGETS)
def test_corrupted_input(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    target = TARGETS[name]
    kept = sorted(path for path in (CORPUS / name).glob("*") if path.is_file())
    before = _peak()
    count = refused = 0
    for content in [*(path.read_bytes() for path in kept), *target.seeds]:
        _try(target, content)
    for content in target.seeds:
        # Valid input must be accepted.
        target.read(content)

    def one(content: bytes) -> None:
        nonlocal refused, count
        count += 1
        refused += _try(target, content)

    begin = time.monotonic()
    batch = 0 if GIVEN is None else time.time_ns()
    _batch(target, batch, one)
    while GIVEN is not None and time.monotonic() < begin + float(GIVEN):
        batch += 1
        _batch(target, batch, one)
    took = time.monotonic() - begin
    with capsys.disabled():
        print(f"\nfuzz {name}: {count} inputs in {took:.0f} s, {refused} of them refused", end="")
    assert _peak() - before < MOST


def _batch(target: Target, number: int, one: Callable[[bytes], None]) -> None:
    checks = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
    limits = settings(
        max_examples=BATCH, deadline=None, database=None, suppress_health_check=checks, print_blob=False
    )
    seed(number)(limits(given(broken(target.seeds, target.words))(one)))()


def _try(target: Target, content: bytes) -> bool:
    """Return whether an input is refused; errors other than becalm's own are not caught."""
    begin = time.process_time()
    try:
        target.read(content)
        refused = False
    except (becalm.BecalmError, OSError) as error:
        # Commands report system errors, such as a missing file, like becalm's errors.
        assert str(error).strip(), "an error without a message"
        refused = True
    assert time.process_time() - begin < LONGEST
    return refused


def _peak() -> int:
    """Return the process's peak memory so far in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
