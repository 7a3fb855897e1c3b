"""The pace of the last runs, by which a tuning keeps its time."""

from __future__ import annotations

import pytest

from becalm.tunings.pace import Pace


def test_a_pace_is_seconds_per_work() -> None:
    """Batches of 10 and 30 units that took 1 s and 5 s: 0.15 s per unit, and the slower one 1/6 s."""
    pace = Pace()
    assert (pace.seconds(7), pace.at_most(7)) == (0, 0)
    pace.note(10, 1)
    pace.note(30, 5)
    assert pace.seconds(40) == pytest.approx(6)
    assert pace.at_most(60) == pytest.approx(10)


@pytest.mark.parametrize(("since", "counts"), [(11, True), (12, False)])
def test_only_the_last_twelve_batches_count(since: int, counts: bool) -> None:
    pace = Pace()
    for seconds in [100.0, *[1.0] * since]:
        pace.note(1, seconds)
    assert (pace.seconds(1) > 1) == counts


@pytest.mark.parametrize(("slow", "at_most"), [(2, 1.0), (3, 9.0)])
def test_a_stage_plans_for_the_slowest_fifth(slow: int, at_most: float) -> None:
    """Two slow batches of twelve are fewer than a fifth, three are more."""
    pace = Pace()
    for place in range(12):
        pace.note(1, 9.0 if place < slow else 1.0)
    assert pace.at_most(1) == at_most
