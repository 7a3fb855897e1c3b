"""santos2002: marking events, from the calls of a marker."""

from __future__ import annotations

import math

import polars as pl
import pytest

from becalm.papers.santos2002 import events
from becalm.papers.santos2002.events import _dispersion, _events, _mean

SHARED, OTHER = 0, 1


def calls(*rows: tuple[str, int, bool, int, int]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["call", "input", "waits", "room", "present"], orient="row")


CALLS = calls(
    ("arrived", SHARED, False, 3, 1),
    ("departing", SHARED, False, 3, 1),
    ("arrived", OTHER, True, 3, 2),
    ("arrived", SHARED, True, 2, 3),
    ("stored", SHARED, True, 2, 3),
    ("arrived", SHARED, True, 0, 4),
    ("stored", SHARED, True, 0, 4),
)


@pytest.mark.parametrize(
    ("marking", "found"),
    [
        ({"input_triggered": {}}, [(1, 2)]),
        ({"input_output_triggered": {"threshold": 2}}, [(1, 1), (1, 2), (1, 2)]),
        ({"input_output_triggered": {"threshold": 4}}, [(1, 2)]),
        ({"random": {"probability": 0.1}}, []),
    ],
)
def test_events_find_the_packets_that_wait(
    marking: dict[str, dict[str, float]], found: list[tuple[int, int]]
) -> None:
    seen, arrived = _events(CALLS, SHARED, marking)
    assert ([(event.local, event.remote) for event in seen], arrived) == (found, 4)


def test_regular_arrivals_have_no_dispersion() -> None:
    step = events.WINDOW_PS // 5
    regular = pl.DataFrame({"time": [place * step for place in range(1000)]})
    bursts = pl.DataFrame({"time": [place // 5 * 5 * events.WINDOW_PS for place in range(1000)]})
    assert _dispersion(regular) == pytest.approx(0, abs=1e-9)
    assert _dispersion(bursts) == pytest.approx(4, rel=0.02), "five packets in every fifth window"
    assert math.isnan(_mean([]))
