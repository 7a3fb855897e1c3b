"""Parts of the lab that require no run: expectations, reading tables, the dumbbell."""

from __future__ import annotations

import polars as pl
import pytest

from becalm.lab.dumbbell import Dumbbell
from becalm.lab.expect import at_least, at_most, between, decreasing, increasing, near
from becalm.lab.model import Tables
from becalm.lab.tables import at, axis, curve, unfairness
from becalm.papers.common.measure import during
from becalm.plot import COLOURS, SCHEMES, scheme_colours


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
    assert increasing().test([1, 2, 3])
    assert not increasing().test([1, 1])
    assert increasing(0.1).test([1, 0.95, 2])
    assert decreasing().test([3, 2, 1])
    assert not decreasing().test([3, 3])
    assert decreasing(0.1).test([3, 3.05, 1])


def test_not_a_number_never_passes() -> None:
    nan = float("nan")
    for expectation in (
        near(1, 1),
        at_least(0),
        at_most(0),
        between(0, 1),
        increasing(),
        decreasing(),
    ):
        assert not expectation.test([0.5, nan])


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
    tables = _tables()
    assert at(tables, "root", run="a", buffer=2) == 0.8
    assert curve(tables, "buffer", "root", run="a") == [0.8, 0.9]
    assert axis(tables, "buffer") == [2.0, 4.0]
    assert during(tables, "group", "victim", (20, 30), run="a") == pytest.approx(0.3)


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


def test_a_scheme_has_one_colour_everywhere() -> None:
    assert len(set(SCHEMES.values())) == len(SCHEMES)
    assert scheme_colours(["AIMD", "mine", "lipd", "other"]) == {
        "AIMD": SCHEMES["aimd"],
        "mine": COLOURS[-1],
        "lipd": SCHEMES["lipd"],
        "other": COLOURS[-2],
    }
