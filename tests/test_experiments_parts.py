"""The parts of the experiments that need no run: expectations, closed forms, measures."""

from __future__ import annotations

import polars as pl
import pytest

from becalm.papers.santos2003 import curves
from becalm.lab.expect import at_least, at_most, between, falling, near, rising
from becalm.lab.tables import at, axis, curve, unfairness
from becalm.papers.common.measure import during
from becalm.lab.model import Tables
from becalm.lab.dumbbell import Dumbbell


def test_expectations_judge_every_value() -> None:
    assert near(0.3, 0.02).test([0.29, 0.319])
    assert not near(0.3, 0.02).test([0.3, 0.33])
    assert at_least(0.6).test([0.6, 0.9])
    assert not at_least(0.6).test([0.9, 0.5])
    assert at_most(0.0).test([0.0])
    assert not at_most(0.0).test([0.0, 1.0])
    assert between(5, 10).test([5.0, 10.0])
    assert not between(5, 10).test([10.1])


def test_orders_are_strict_but_for_their_slack() -> None:
    assert rising().test([1, 2, 3])
    assert not rising().test([1, 1])
    assert rising(0.1).test([1, 0.95, 2])
    assert falling().test([3, 2, 1])
    assert not falling().test([3, 3])
    assert falling(0.1).test([3, 3.05, 1])


def test_not_a_number_never_passes() -> None:
    nan = float("nan")
    for expectation in (
        near(1, 1),
        at_least(0),
        at_most(0),
        between(0, 1),
        rising(),
        falling(),
    ):
        assert not expectation.test([0.5, nan])


@pytest.mark.parametrize(
    ("response", "recoveries"), [("fimd", 8), ("lipd", 255), ("aimd", 255)], ids=["fimd", "lipd", "aimd"]
)
def test_total_times_in_recovery_times(response: str, recoveries: int) -> None:
    """From R_max/256: eight doublings, and 255 steps of the inter-packet delay or of R_min."""
    assert curves.total_ms(response) == pytest.approx(recoveries * 0.524288, rel=1e-9)


def test_aimd_is_a_straight_line() -> None:
    assert curves.slope("aimd", 0.1) == pytest.approx(curves.slope("aimd", 0.9), rel=1e-6)


def test_lipd_at_a_fourth_of_the_rate() -> None:
    """Inter-packet delay 3: dr/dt = r^2 / T_rec."""
    assert curves.slope("lipd", 0.25) == pytest.approx(0.25**2 / curves.RECOVERY_MS, rel=1e-2)


def _tables() -> Tables:
    points = pl.DataFrame({"run": ["a", "a", "b"], "buffer": [4, 2, 2], "root": [0.9, 0.8, 0.1]})
    series = pl.DataFrame(
        {
            "run": ["a"] * 4,
            "kind": ["group"] * 4,
            "name": ["victim"] * 4,
            "time": [0.01, 0.02, 0.03, 0.04],
            "share": [0.0, 0.2, 0.4, 1.0],
        }
    )
    return {"points": points, "series": series}


def test_reading_of_tables() -> None:
    found = _tables()
    assert at(found, "root", run="a", buffer=2) == 0.8
    assert curve(found, "buffer", "root", run="a") == [0.8, 0.9]
    assert axis(found, "buffer") == [2.0, 4.0]
    assert during(found, "group", "victim", (20, 30), run="a") == pytest.approx(0.3)


def test_a_point_that_is_not_there_is_an_error() -> None:
    with pytest.raises(LookupError, match="2 rows"):
        at(_tables(), "root", run="a")
    with pytest.raises(LookupError, match="no samples"):
        during(_tables(), "group", "victim", (50, 60), run="a")


def test_unfairness_has_no_side() -> None:
    assert unfairness(2.0) == unfairness(0.5) == 2.0
    assert unfairness(0.0) == float("inf")


def test_flows_start_one_after_the_other_locals_first() -> None:
    flows = Dumbbell(local=5, remote=3).scenario()["flows"]
    assert [flow["name"] for flow in flows] == ["local", "remote", "victim"]
    assert [flow["start"] for flow in flows] == ["0 us", "500 us", "40 ms"]
    assert flows[0]["from"] == ["B1..B5"]


def test_mixed_flows() -> None:
    flows = Dumbbell(mean_on=0.2, static=5, victim=None).scenario()["flows"]
    assert [flow["name"] for flow in flows] == [
        "static local",
        "dynamic local",
        "static remote",
        "dynamic remote",
    ]
    assert [flow["from"] for flow in flows] == [["B1..B5"], ["B6..B10"], ["A1..A5"], ["A6..A10"]]
