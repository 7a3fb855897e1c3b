"""The congestion control manager: recommendations and warnings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import becalm
from becalm import manager


def tree(ports: int, levels: int, **changes: object) -> becalm.Scenario:
    scenario = becalm.Scenario(
        {
            "run": {"duration": "100 us"},
            "topology": {"tree": {"ports": ports, "levels": levels, "rate": "3 GB/s"}},
            "packet": {"mtu": "1980 B", "header": "20 B"},
            "flows": [
                {"name": "background", "from": ["*"], "to": ["*"], "traffic": {"poisson": {"load": 0.5}}}
            ],
        }
    )
    return scenario.replace(changes)


def values(recommendation: manager.Recommendation) -> dict[str, Any]:
    return {setting.key: setting.value for setting in recommendation.settings}


@pytest.mark.parametrize(
    ("ports", "levels", "max_ipd", "margin", "increase"), [(8, 2, 21, 1.0, 5), (16, 2, 84, 1.07, 20)]
)
def test_the_guideline_gives_the_papers_own_parameters(
    ports: int, levels: int, max_ipd: float, margin: float, increase: int
) -> None:
    """Section VI-A and VI-B: 21 us and 5 for 32 ports, 84 us and 20 for 128; the paper rounds.

    128 sources wait 85 us for each other. In this time, the timer of 10.24 us removes 8.3 of 127 entries.
    """
    found = values(manager.recommend(tree(ports, levels), guideline="pfister2005"))
    longest = float(str(found["response.ibta.cct.linear.max"]).removesuffix(" us"))
    assert longest == pytest.approx(margin * max_ipd, rel=0.02)
    assert found["response.ibta.ccti_increase"] == pytest.approx(increase, abs=1)
    assert found["marking.queue_threshold.high"] == 0.9


def test_a_smaller_degree_gives_a_shorter_delay_and_smaller_steps() -> None:
    few = values(manager.recommend(tree(16, 2), hot_spot_degree=6, guideline="pfister2005"))
    assert few["response.ibta.ccti_increase"] == 3
    assert few["response.ibta.cct.linear.max"] == "4 us"


@pytest.mark.parametrize("guideline", list(manager.GUIDELINES))
@pytest.mark.parametrize("degree", [2, 16, 128])
def test_what_is_recommended_is_a_scenario_without_concerns(guideline: str, degree: int) -> None:
    scenario = tree(16, 2, adapter={"drain_rate": "2 GB/s"} if guideline == "gran2010" else {})
    recommendation = manager.recommend(scenario, hot_spot_degree=degree, guideline=guideline)
    managed = recommendation.apply(scenario)
    assert all(setting.why for setting in recommendation.settings)
    assert [c.key for c in manager.review(managed, hot_spot_degree=degree) if "ccti_timer" not in c.key] == []
    becalm.run(managed)


def test_a_table_that_ends_at_the_share_of_many_is_too_short() -> None:
    scenario = tree(16, 2)
    managed = manager.recommend(scenario, guideline="pfister2005").apply(scenario)
    assert manager.review(managed) == []
    short = managed.replace({"response.ibta.cct.linear.max": f"{128 * 2 / 3:.6g} us"})
    (concern,) = manager.review(short)
    assert concern.key == "response.ibta.cct"
    assert "1.02 times a link's capacity" in concern.problem


@pytest.mark.parametrize(("longest", "named"), [(126.0, True), (127.5, False)])
def test_the_longest_delay_of_a_table_is_the_share_of_many(longest: float, named: bool) -> None:
    """The fair share of one of 128 sources is a delay of 127 packet times of 2/3 us."""
    scenario = tree(16, 2)
    managed = manager.recommend(scenario, guideline="pfister2005").apply(scenario)
    found = manager.review(managed.replace({"response.ibta.cct.linear.max": f"{longest * 2 / 3:.6g} us"}))
    assert any(concern.problem.startswith("the longest delay") for concern in found) == named


def test_a_hot_spot_of_many_needs_more_than_the_first_hardwares_timer_or_table() -> None:
    recommendation = manager.recommend(tree(16, 2), guideline="gran2010")
    assert values(recommendation)["response.ibta.cct.quadratic.entries"] > 128


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"marking": {"ibta": {"threshold": 0}}}, "marking.ibta.threshold"),
        ({"marking": {"ibta": {"packet_size": 32}}}, "marking.ibta.packet_size"),
        ({"marking": {"ibta": {}}, "adapter": {"drain_rate": "1 GB/s"}}, "marking.ibta.victim_mask"),
        ({"adapter": {"drain_rate": "1 GB/s"}}, "marking.queue_threshold.root_only"),
        ({"response.ibta.ccti_increase": 0}, "response.ibta.ccti_increase"),
        ({"response.ibta.ccti_increase": 127}, "response.ibta.ccti_increase"),
        ({"response.ibta.ccti_timer": 0}, "response.ibta.ccti_timer"),
        ({"response.ibta.ccti_timer": 1}, "response.ibta.ccti_timer"),
        ({"response.ibta.ccti_limit": 20}, "response.ibta.cct"),
        ({"response.ibta.ccti_limit": 0}, "response.ibta.cct"),
        ({"response": {"lipd": {}}}, "response"),
    ],
)
def test_settings_that_cannot_work_are_named(changes: dict[str, object], key: str) -> None:
    scenario = tree(8, 2)
    managed = manager.recommend(scenario, guideline="pfister2005").apply(scenario)
    assert manager.review(managed) == []
    assert key in [concern.key for concern in manager.review(managed.replace(changes))]


@pytest.mark.parametrize(("timer", "named"), [(4, True), (5, False)])
def test_a_timer_may_undo_one_becn_until_the_next(timer: int, named: bool) -> None:
    """32 sources wait 21.3 us for each other: 5.2 steps of 4 units, or 4.2 of 5, and a BECN adds 5."""
    scenario = tree(8, 2)
    managed = manager.recommend(scenario, guideline="pfister2005").apply(scenario)
    found = manager.review(managed.replace({"response.ibta.ccti_timer": timer}))
    assert ("response.ibta.ccti_timer" in [concern.key for concern in found]) == named


@pytest.mark.parametrize(
    ("step", "undone", "rule"),
    [
        (4, 0.5, "step too large"),
        (3, 0.9, "response too strong"),
        (3, 1.1, "timer too long"),
        (3, float("inf"), "timer too long"),
    ],
)
def test_a_starved_link_blames_its_step_or_its_timer(step: int, undone: float, rule: str) -> None:
    """An index of 4 is a source's fair share, and the next BECN may come after 1 s."""
    scenario = tree(8, 2)
    managed = manager.recommend(scenario, guideline="pfister2005").apply(scenario)
    balance = manager.Balance(sources=8, fair=4, step=step, undone=undone, heard=1.0)
    assert manager.starving(managed, balance).rule == rule


@pytest.mark.parametrize(("capacity", "gap"), [(1.0, 7.0), (2.0, 3.0), (0.5, 15.0)])
def test_a_source_at_its_fair_share_waits_for_the_packets_of_the_others(capacity: float, gap: float) -> None:
    """Eight sources share a link with a multiple of the rate of a host's link."""
    scenario = tree(8, 2)
    managed = manager.recommend(scenario, guideline="pfister2005").apply(scenario)
    facts = managed.summary
    found = manager.balance(managed, 8, capacity * facts["host_rate"])
    assert found is not None
    assert facts["cct"][found.fair - 1] < gap <= facts["cct"][found.fair]
    each = 1 + managed.marking.keys["marking_rate"]
    assert found.heard == pytest.approx((gap + 1) * facts["packet_time"] * each)


def test_bad_input_says_what_would_be_valid() -> None:
    with pytest.raises(
        becalm.BecalmError, match="valid: becalm, becalm2, becalm2_opensm, pfister2005, gran2010"
    ):
        manager.recommend(tree(8, 2), guideline="x")
    with pytest.raises(becalm.BecalmError, match="between 2 and the 32 hosts"):
        manager.recommend(tree(8, 2), hot_spot_degree=33)


def test_the_command_writes_the_scenario(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from becalm.cli import app

    source, target = tmp_path / "fabric.toml", tmp_path / "managed.toml"
    source.write_text(tree(8, 2).to_toml())
    result = CliRunner().invoke(
        app, ["manage", str(source), "--guideline", "becalm", "--contributors", "32", "--out", str(target)]
    )
    assert result.exit_code == 0, result.output
    assert "ccti_increase" in result.output
    assert becalm.load(target).resolved["response"]["ibta"]["ccti_timer"] == 3
    again = CliRunner().invoke(app, ["manage", str(source), "--out", str(target)])
    assert again.exit_code == 2


def behind_one_cable(buffer: str) -> becalm.Scenario:
    """Return a scenario in which one cable, and therefore one input buffer, feeds the hot port."""
    scenario = becalm.load("scenarios/storage_incast.toml")
    return scenario.replace({"switch.buffer": buffer, "marking": {"none": {}}, "response": {"none": {}}})


@pytest.mark.parametrize("buffer", ["64 KiB", "4 packets"])
def test_thresholds_are_such_as_a_single_input_can_reach(buffer: str) -> None:
    free = behind_one_cable(buffer)
    managed = manager.recommend(free, hot_spot_degree=8, guideline="pfister2005").apply(free)
    assert manager.review(managed, hot_spot_degree=8) == []
    high = managed.replace({"marking.queue_threshold.high": 0.95})
    assert [each.key for each in manager.review(high, hot_spot_degree=8)] == ["marking.queue_threshold.high"]


def test_a_low_threshold_above_what_packets_leave_behind_ends_marking_at_once() -> None:
    free = behind_one_cable("4 packets")
    managed = manager.recommend(free, hot_spot_degree=8, guideline="pfister2005").apply(free)
    low = managed.replace({"marking.queue_threshold.low": 0.6})
    assert [each.key for each in manager.review(low, hot_spot_degree=8)] == ["marking.queue_threshold.low"]
    shares = [becalm.run(each).groups["marked_share"][0] for each in (low, managed)]
    assert shares[0] < 0.001 < 0.1 < shares[1]


def test_the_recommended_threshold_frees_a_victim_behind_one_cable() -> None:
    free = behind_one_cable("64 KiB")
    managed = manager.recommend(free, hot_spot_degree=8).apply(free)
    before, after = (becalm.run(each).groups["share"][1] for each in (free, managed))
    assert after > 3 * before
