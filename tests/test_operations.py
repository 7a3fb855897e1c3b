"""Activities of ranks over time, and the critical path, from recorded operations."""

from __future__ import annotations

import math
from itertools import pairwise

import polars as pl
import pytest

import becalm
from becalm.reports.operations import COMPUTES, IDLE, MESSAGES, OTHERS, Operations, Step
from becalm.scenario import examples

COLUMNS = ("rank", "op", "kind", "peer", "bytes", "start", "end")
NONE = math.nan


def operations(*rows: tuple[object, ...], end: float = 10.0) -> Operations:
    return Operations(pl.DataFrame(list(rows), schema=COLUMNS, orient="row"), end)


def test_a_rank_waits_for_another_and_then_for_its_message() -> None:
    found = operations(
        (0, 0, "calc", NONE, 0, 0.0, 3.0),
        (0, 1, "send", 1.0, 8, 3.0, 4.0),
        (1, 0, "recv", 0.0, 8, 0.0, 5.0),
        (1, 1, "calc", NONE, 0, 5.0, 6.0),
    )
    bounds, doing = found.times(1)
    assert (bounds.tolist(), doing.tolist()) == ([0.0, 3.0, 5.0, 6.0], [OTHERS, MESSAGES, COMPUTES, IDLE])
    path = [Step(5.0, 6.0, 1, None), Step(3.0, 5.0, 1, (0, 1)), Step(0.0, 3.0, 0, None)]
    assert found.critical_path() == path


def test_messages_of_one_size_are_received_in_their_order() -> None:
    found = operations(
        (0, 0, "send", 1.0, 8, 0.0, 1.0),
        (0, 1, "send", 1.0, 8, 4.0, 5.0),
        (1, 0, "recv", 0.0, 8, 0.0, 2.0),
        (1, 1, "recv", 0.0, 8, 2.0, 6.0),
        (1, 2, "calc", NONE, 0, 6.0, 9.0),
    )
    bounds, doing = found.times(1)
    assert dict(zip(bounds.tolist(), doing.tolist(), strict=True))[2.0] == OTHERS
    assert [step.begin for step in found.critical_path()] == [6.0, 4.0, 0.0]


def test_a_message_that_is_never_sent_is_waited_for_until_the_end() -> None:
    found = operations(
        (0, 0, "calc", NONE, 0, 0.0, NONE),
        (0, 1, "send", 1.0, 8, NONE, NONE),
        (1, 0, "recv", 0.0, 8, 0.0, NONE),
    )
    assert [each.tolist() for each in found.times(1)] == [[0.0, 10.0], [OTHERS, IDLE]]


@pytest.mark.parametrize("job", ["experts", "training"])
def test_the_critical_path_is_as_long_as_its_job(job: str) -> None:
    scenario = examples.load("two_jobs")
    results = becalm.run(scenario.replace({f"jobs.{job}.record_ops": True}))
    [row] = results.jobs.filter(pl.col("job") == job).iter_rows(named=True)
    path = Operations(results.tables["ops"], row["end"]).critical_path()
    assert sum(step.end - step.begin for step in path) == pytest.approx(row["time"], rel=1e-9)
    assert all(later.begin == before.end for later, before in pairwise(path))
    computed = sum(step.end - step.begin for step in path if step.message is None)
    assert computed == pytest.approx(10 * {"experts": 100e-6, "training": 50e-6}[job])
