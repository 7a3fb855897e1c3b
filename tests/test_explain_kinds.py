"""Every kind of cause is named, its remedy tried, and scenes that resemble it raise no alarm."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import becalm
from becalm import manager
from becalm.cli import app
from becalm.explanations import Explanation
from becalm.tunings.guidelines import starving
from explain_kinds import (
    DCQCN,
    EXCHANGE,
    HEALTHY,
    IBTA,
    PLANTED,
    SLOW,
    Data,
    clos,
    group,
    incast,
    pairs,
    roce,
    scene,
    two_jobs,
)


def explained(data: Data, max_time: float = 120) -> Explanation:
    results = becalm.run(becalm.Scenario(data, name="kinds"), threads=1)
    return becalm.explain(results, max_time=max_time)


@pytest.mark.parametrize("name", PLANTED)
def test_causes_are_named_and_their_remedies_gain(name: str) -> None:
    data, causes, words, gain = PLANTED[name]
    found = explained(data)
    assert {cause for cause, _ in found.causes} == causes, str(found)
    for word in words:
        assert word in str(found), str(found)
    gains = [each.numbers["gain"] for each in found.about("advice") if "gain" in each.numbers]
    assert not gain or max(gains) > gain, str(found)


@pytest.mark.parametrize("name", HEALTHY)
def test_healthy_scenes_raise_no_alarm(name: str) -> None:
    found = explained(HEALTHY[name])
    assert found.causes == [], str(found)
    assert found.about("advice") == [], str(found)


def test_there_are_enough_of_each() -> None:
    assert (len(PLANTED), len(HEALTHY)) == (18, 15)


def test_without_a_paired_run_the_cost_of_control_is_unknown_and_so_said() -> None:
    found = explained(EXCHANGE, max_time=0)
    assert found.causes == []
    (said,) = (each for each in found.about("missing") if each.rule == "unpaired")
    assert "do not show what control costs job train" in said.text
    assert said.numbers["busy"] < 0.9


def test_the_cost_of_control_is_that_of_the_run_without_it() -> None:
    (said,) = (each for each in explained(EXCHANGE).sentences if each.rule == "held-back")
    free = becalm.run(becalm.Scenario(EXCHANGE).without_control(), threads=1)
    assert said.numbers["time_without"] == pytest.approx(float(free.jobs["time"][0]))
    assert said.numbers["cost"] == pytest.approx(said.numbers["time"] / said.numbers["time_without"] - 1)


def test_no_hot_host_is_advised_where_there_is_none(tmp_path: Path) -> None:
    for name, hot in (("one cable between two groups", False), ("a timer that is too long", True)):
        results = becalm.run(becalm.Scenario(PLANTED[name].data), threads=1)
        found = becalm.explain(results, folder=results.save(tmp_path / str(hot)))
        assert ("that send to one hot host" in str(found)) == hot, str(found)


def test_traffic_before_the_window_is_mentioned() -> None:
    early = group("early", ["H4", "H8"], ["H0"], stop="300 us")
    burst = group("burst", ["H5"], ["H1"], traffic={"batch": {"count": 1, "message": "4 KiB"}})
    found = explained(scene(clos(4), [early, burst, pairs("by", {7: 11}, 0.3)]))
    (said,) = (each for each in found.about("missing") if each.rule == "before-window")
    assert said.text.startswith("Before the window, which begins at 500 us, early and burst sent")
    late = explained(scene(clos(4), [pairs("by", {7: 11}, 0.3)]))
    assert not [each for each in late.about("missing") if each.rule == "before-window"]


def test_a_loss_without_a_known_reason_says_what_was_looked_at() -> None:
    """A host sends more slowly than the flow offers, which no table of the run shows."""
    slow = {"message_overhead": "20 us"}
    found = explained(scene(clos(), [pairs("copy", {0: 4}, 0.8)], adapter=slow))
    (said,) = (each for each in found.about("cost") if each.rule == "unexplained")
    assert "becalm does not know why" in said.text and "No bottleneck is on the path" in said.text


def test_pages_and_sentences_have_the_same_roots() -> None:
    """Links that two jobs fill in bursts are roots in the table, in the tile and in the text."""
    results = becalm.run(becalm.Scenario(two_jobs(leaf=False)), threads=1)
    found = becalm.explain(results)
    tree = results.tree
    counted = tree.filter((tree["role"] == "root") & (tree["contributors"] > 0)).height
    named = [each.numbers["roots"] for each in found.about("roots") if "roots" in each.numbers]
    said = named[0] if named else len([each for each in found.about("roots") if each.place])
    assert said == counted > 0
    assert "No link is a bottleneck" not in str(found)


def test_manage_and_explain_blame_the_same_setting(tmp_path: Path) -> None:
    marked = {"marking": {"ibta": {**IBTA["marking"]["ibta"], "victim_mask": "all"}}}
    scenario = becalm.Scenario(incast(["H4", "H8"], **{**IBTA, **marked, "response": SLOW}))
    (starved,) = (
        each for each in becalm.explain(becalm.run(scenario, threads=1)).sentences if each.rule == "starved"
    )
    (blamed,) = starving(scenario, 2)
    assert blamed.rule == starved.cause == "timer too long"
    assert blamed.problem.partition(": ")[2] in starved.text
    (mask,) = manager.certain(scenario)
    assert (mask.key, mask.value, mask.cure) == ("marking.ibta.victim_mask", "all", "none")
    file = tmp_path / "wide.toml"
    file.write_text(scenario.to_toml())
    runner = CliRunner()
    said = " ".join(
        runner.invoke(
            app, ["manage", str(file), "--guideline", "becalm", "--contributors", "2"]
        ).stdout.split()
    )
    assert "no problems found" not in said.partition("as given")[2].partition("with these parameters")[0]
    assert "ccti_timer = 150: 2 contributors get only" in said and "victim_mask = all" in said
    warned = runner.invoke(app, ["validate", str(file)]).stdout
    assert "warning: marking.ibta.victim_mask = all" in warned
    assert starving(becalm.Scenario(incast(["H4", "H8"], **IBTA)), 2) == []


def test_validate_warns_of_marks_without_a_reader(tmp_path: Path) -> None:
    file = tmp_path / "unread.toml"
    for response, warned in (({"none": {}}, True), (DCQCN["response"], False)):
        flows = [group("writes", ["A", "B"], ["C"])]
        data = roce(flows, **{**DCQCN, "response": response})
        file.write_text(becalm.Scenario(data).to_toml())
        said = CliRunner().invoke(app, ["validate", str(file)])
        assert said.exit_code == 0
        assert ("marks have no reader" in said.stdout) == warned
