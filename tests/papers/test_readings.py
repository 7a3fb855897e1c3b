"""Readings of the switches of santos2002 and santos2003: scenario keys and scores."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from becalm.lab.discovery import select
from becalm.lab.dumbbell import Dumbbell
from becalm.lab.model import Experiment
from becalm.lab.runner import Lab
from becalm.papers.common.marking import INPUT_TRIGGERED
from becalm.papers.common.reading import Reading, different
from becalm.papers.santos2003 import conditions
from becalm.scenario import Scenario

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

from variants import divided, judge_variants, not_failing

PATIENT = Reading(reads="one", bypass="output", full="stored", method="scan")


def test_every_reading_is_a_scenario_of_its_own() -> None:
    scene = Dumbbell(marking=INPUT_TRIGGERED).scenario()
    hashes = {Scenario(reading.apply(scene)).hash for reading in different()}
    assert len(hashes) == len(different()) == 10
    assert Scenario(Reading().apply(scene)).hash == Scenario(scene).hash, "the first is the default"


def test_what_an_experiment_varies_stays_and_the_last_reading_holds() -> None:
    scene = {**Dumbbell().scenario(), "marking": {"input_triggered": {"method": "counters"}}}
    marking = PATIENT.apply(scene, ["method"])["marking"]["input_triggered"]
    assert marking == {"method": "counters", "full": "stored"}
    again = Reading().apply(PATIENT.apply(scene))
    assert Scenario(again).hash == Scenario(Reading().apply(scene)).hash, "the last reading holds"


def _fig3b() -> Experiment:
    return replace(select(["santos2003/fig3b"])[0], phase="")


def test_one_read_and_a_bound_on_each_output_leave_both_links_below_full() -> None:
    experiments = [_fig3b()]
    variants = {reading.name: reading.read(experiments) for reading in (Reading(), PATIENT)}
    judged = judge_variants(variants, [1])
    assert not_failing(judged)["hold"].to_list() == [1, 2], "both links are one sentence"
    (root,) = divided(judged).iter_rows(named=True)
    assert [root[name] for name in variants] == ["fails", "holds"]
    assert divided(judged)["claim"].to_list() == ["fig3b/root_slightly_underutilized"]


@pytest.mark.parametrize("response", ["lipd", "fimd"])
def test_simulated_flows_recover_in_the_time_of_condition_3(response: str) -> None:
    item = next(each for each in conditions.EXPERIMENTS if each.figure == "conditions")
    points = [point for point in item.points(True) if point.labels["response"] == response]
    lab = Lab(1, 1)
    lab.run(points)
    shortest, longest = conditions.recovery_times(item.measure(lab.outcomes(points)), [response])
    assert shortest == pytest.approx(1, abs=0.02) and longest == pytest.approx(1, abs=0.02)
