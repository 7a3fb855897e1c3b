"""TIMELY, Swift and HPCC: claims of mittal2015, kumar2020 and li2019 that short runs can judge."""

from __future__ import annotations

import pytest
from swift_model import mean_round_trip

import becalm
from becalm.lab.bottleneck import measure
from becalm.lab.discovery import select
from becalm.lab.model import Outcome
from becalm.lab.reports import reproduce
from becalm.papers import kumar2020
from becalm.theory import periodic_queue

PAPERS = ("mittal2015", "kumar2020", "li2019")


@pytest.mark.parametrize("paper", PAPERS)
def test_no_sentence_is_quoted(paper: str) -> None:
    for experiment in select([paper]):
        assert {statement.remarks.kind for statement in experiment.statements} == {"derived"}


def test_hop_scaling_takes_the_bias_against_long_routes_away() -> None:
    (report,) = reproduce(["kumar2020/hops"], short=True)
    assert {claim.id: claim.verdict for claim in report.claims} == {
        "hop_scaling_is_fair": "holds",
        "without_it_long_routes_starve": "holds",
        # With equal windows, shares depend on round trips, which differ with long cables: see the readings.
        "hop_scaling_with_long_cables": "fails",
    }


def test_the_mean_round_trip_of_swift_is_that_of_a_model_apart_from_it() -> None:
    """With a small increase, the mean lies below the target, because flows cut twice for the same queue."""
    flows, increase = 100, 0.1
    scene = kumar2020.bottleneck(True, flows, increase)
    (point,) = measure([Outcome({}, becalm.run(becalm.Scenario(scene)))])["points"].to_dicts()
    target = kumar2020.LAW.standing(flows, kumar2020.LINK)
    model = mean_round_trip(flows, increase, 12e-3, 6e-3)
    assert point["round_trip"] == pytest.approx(model, rel=0.01)
    assert model < 0.96 * target
    gentle = kumar2020.bottleneck(True, flows, increase, kumar2020.GENTLE)
    (point,) = measure([Outcome({}, becalm.run(becalm.Scenario(gentle)))])["points"].to_dicts()
    assert 0 < point["round_trip"] - target < kumar2020.LAW.swing(flows, kumar2020.LINK, increase)
    # With `pause`, a second cut follows only after the first has taken effect.
    assert model < mean_round_trip(flows, increase, 12e-3, 6e-3, pause=20e-6) < target


def test_the_utilization_of_hpcc_follows_its_law() -> None:
    (report,) = reproduce(["li2019/utilization"], short=True)
    points = report.tables["points"]
    assert points["flows"].to_list() == [2, 16, 16]
    two, sixteen, small = points["utilization"]
    assert two == pytest.approx(0.951, rel=0.005)
    # More flows fall below the law because colliding packets wait; small packets fall less: see the readings.
    assert 0.99 * 0.958 < sixteen < 0.995 * 0.958 < 0.997 * 0.958 < small < 0.958
    assert points["mean"][1] == pytest.approx(1.042 * periodic_queue(16, sixteen), rel=0.1)
