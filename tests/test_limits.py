"""Thresholds of the rules of `becalm explain`, from both sides."""

from __future__ import annotations

import polars as pl
import pytest

import becalm
import explain_scenes
from becalm.analysis import blame
from becalm.analysis.facts import Facts
from explain_scenes import FABRICS, Scene


def run(scene: Scene) -> becalm.Results:
    return becalm.run(scene.scenario, threads=1)


@pytest.mark.parametrize(("share", "harms"), [(0.04, False), (0.06, True)])
def test_a_link_that_waits_for_a_twentieth_of_the_time_belongs_to_a_tree(share: float, harms: bool) -> None:
    """The victim waits behind a branch. If the branch is too short, no root is blamed for its loss."""
    results = run(explain_scenes.hot_host(FABRICS[0]))
    lasting = pl.when(pl.col("branch_share") > 0).then(share).otherwise(0.0)
    results.tables["tree"] = results.tree.with_columns(branch_share=lasting)
    lost = [each.lost for each in blame.bottlenecks(Facts(results, 0))]
    assert (max(lost) > 0) == harms


@pytest.mark.parametrize(("share", "off"), [(0.0005, True), (0.002, False), (0.01, False)])
def test_marking_is_off_if_less_than_a_thousandth_is_marked(share: float, off: bool) -> None:
    results = run(explain_scenes.threshold_off(FABRICS[0]))
    marked = (results.links["packets"] * share).round().cast(pl.UInt64)
    results.tables["links"] = results.links.with_columns(marked=marked)
    assert ("threshold off" in dict(becalm.explain(results).causes)) == off


@pytest.mark.parametrize(("swings", "named"), [(3, False), (4, True), (8, True)])
def test_a_rate_that_swings_four_times_oscillates(swings: int, named: bool) -> None:
    fabric = FABRICS[0]
    table = {"linear": {"entries": 128, "max": "300 us"}}
    parameters = explain_scenes.ibta(ccti_increase=127, ccti_timer=20, cct=table)
    results = becalm.run(
        explain_scenes.made("swing", fabric, explain_scenes.hot_spot(fabric, 4), parameters, "12 ms"),
        threads=1,
    )
    half = ((pl.col("time") - 0.5e-3) / 11.5e-3 * (swings + 1)).floor() % 2
    results.tables["series"] = results.series.with_columns(share=pl.when(half == 0).then(0.9).otherwise(0.3))
    rules = [sentence.rule for sentence in becalm.explain(results).sentences]
    assert ("oscillates" in rules) == named
