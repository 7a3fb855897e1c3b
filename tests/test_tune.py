"""The tuner: what it measures, what it searches, and that it goes on after it was killed."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import becalm
from becalm import manager
from becalm.analysis.hot_spots import GUARD, HELD_OUT, TUNE
from becalm.analysis.measures import _until, loss, measured
from becalm.cli import app
from becalm.errors import BecalmError
from becalm.store import Store
from becalm.sweeps.engines import Engine, Threads
from becalm.sweeps.random import Range
from becalm.tunings import Case, Goals, HotSpot, Space, Tuned
from becalm.tunings.api import _name, guideline_control, worst_degree
from becalm.tunings.evaluate import UNCONTROLLED, Evaluator, Run, by_case
from becalm.tunings.goals import read_limit
from becalm.tunings.space import guideline_parameters, nested, opensm_space
from becalm.tunings.spec import read_tune
from becalm.tunings.study import Search
from becalm.tunings.tuned import BEST, gain, interval

sys.path.insert(0, str(Path(__file__).parent / "system"))

import tune_tree

ROOT = Path(__file__).parents[1]
FABRIC = """\
[run]
duration = "1 ms"
[topology.tree]
ports = 4
levels = 2
rate = "25 Gb/s"
delay = "40 ns"
[switch]
buffer = "72 KiB"
[packet]
header = "0 B"
[marking.none]
[echo.ibta]
transport = "unreliable"
[response.none]
[[flows]]
name = "background"
from = ["*"]
to = ["*"]
[flows.traffic.poisson]
load = 0.5
"""
"""A tree of 8 hosts."""


@pytest.fixture
def fabric() -> becalm.Scenario:
    return becalm.Scenario(FABRIC, name="fabric.toml")


@pytest.fixture
def spot(fabric: becalm.Scenario) -> HotSpot:
    return HotSpot(fabric, "H7", 3, start=0.1e-3, hot=0.6e-3, after=0.3e-3)


def threads(store: Store) -> Engine:
    return Threads(2, store)


def test_cases_of_a_hot_spot(spot: HotSpot) -> None:
    cases = spot.cases()
    assert [(case.name, case.role) for case in cases] == [
        ("3 hot, 0.5", TUNE),
        ("all hot, 0.5", TUNE),
        ("all hot, 0.9", TUNE),
        ("3 hot, 0.9", HELD_OUT),
        ("all hot, 0.7", HELD_OUT),
        ("none hot, 0.9", GUARD),
    ]
    assert {case.link for case in cases[:5]} == {"L1S3->H7"}
    assert worst_degree(cases) == 7
    assert cases[1].groups(cases[1].background) == ["cold own", "cold"]


def test_all_hot_hosts_offer_three_times_the_link(spot: HotSpot) -> None:
    """7 hosts, 3 / 7 of a link each: three times what the hot link takes."""
    case = spot.cases()[2]
    (hot,) = [group for group in case.scenario.resolved["flows"] if group["name"] == "hot"]
    changes = hot["traffic"]["poisson"]["changes"]
    assert changes[0]["load"] * 7 == pytest.approx(3)
    (cold,) = [group for group in case.scenario.resolved["flows"] if group["name"] == "cold"]
    during = cold["traffic"]["poisson"]["changes"][0]["load"]
    # (N - 1) d + load - d = 3, with N - 1 = 7 sources
    assert during == pytest.approx((0.9 - 2.1 / 6) * 6 / 7)


def test_hosts_that_are_not_there(fabric: becalm.Scenario) -> None:
    with pytest.raises(BecalmError, match=r"hot host H9: no host of fabric\.toml; valid: H0, H1"):
        HotSpot(fabric, "H9").cases()
    with pytest.raises(BecalmError, match="degree 8: must be between 2 and the 7 other hosts"):
        HotSpot(fabric, "H7", 8).cases()


def test_settled_is_after_the_last_sample_that_is_not_right() -> None:
    time = np.arange(5, dtype=np.float64) * 1e-3
    right = np.array([True, False, True, False, True])
    assert _until(time, right, 0.0, 1e-3, 1.0) == pytest.approx(4e-3)
    assert _until(time, ~right, 0.0, 1e-3, 4e-3) == pytest.approx(4e-3)
    assert _until(time, np.full(5, True), 0.0, 1e-3, 1.0) == 0.0


def test_loss_by_hand(spot: HotSpot) -> None:
    case = spot.cases()[1]
    found = {"background": 0.8, "hot_link": 0.9, "fairness": 0.96, "settle": 0.3e-3, "recovery": 0.1e-3}
    # 0.2 + 0.5 * 0.1 + 0.25 * 0.04 + 0.25 * 0.3 / 0.6 + 0.25 * 0.1 / 0.3
    assert loss(found, case, 1e-3) == pytest.approx(0.2 + 0.05 + 0.01 + 0.125 + 0.25 / 3)


def test_measures_tell_control_from_none(spot: HotSpot) -> None:
    case = spot.cases()[2]
    free = measured(becalm.run(case.observed(UNCONTROLLED, 1)), case)
    held = measured(becalm.run(case.observed(guideline_control(spot.scenario, 7, "pfister2005"), 1)), case)
    assert free["hot_link"] > 0.98
    assert held["background"] > free["background"] + 0.03
    assert held["loss"] < free["loss"]
    assert held["settle"] <= free["settle"]


def test_shares_of_the_background_are_what_their_links_carry(spot: HotSpot) -> None:
    """What arrives at cold hosts in the hot period, by the links to them, over what is offered to them."""
    case = spot.cases()[2]
    found = measured(becalm.run(case.observed(UNCONTROLLED, 1)), case)
    links = becalm.run(
        case.scenario.replace({**UNCONTROLLED, "observe": {"step": "10 us", "window": "10 us"}})
    ).series
    cold = links.filter(
        (pl.col("kind") == "link")
        & pl.col("name").str.contains("->H")
        & (pl.col("name") != case.link)
        & pl.col("time").is_between(case.start, case.stop, closed="left")
    )
    arrived = float(cold.group_by("time").agg(pl.col("rate").sum())["rate"].mean())  # type: ignore[arg-type]
    offered = (7 * (0.9 - 2.1 / 6) * 6 / 7 + 0.9) * 25e9 / 8
    assert found["background_uncapped"] == pytest.approx(arrived / offered, abs=0.03)


def test_space_of_opensm(fabric: becalm.Scenario) -> None:
    space = opensm_space(fabric, 7)
    assert set(space.ranges) == {
        "marking.ibta.threshold",
        "marking.ibta.marking_rate",
        "response.ibta.ccti_increase",
        "response.ibta.ccti_timer",
        "response.ibta.cct.linear.max",
    }
    guided = guideline_control(fabric, 7, "pfister2005")
    first = space.clipped(guideline_parameters(guided, fabric))
    assert first is not None
    # 0.9 of a buffer: the nearest of 15/16, 14/16 ... is 14/16, threshold 2
    assert first["marking.ibta.threshold"] == 2
    assert first["response.ibta.ccti_timer"] == manager.TIMER
    changes = space.changes(first)
    assert changes["response"]["ibta"]["cct"]["linear"]["max"].endswith(" us")
    made = fabric.replace(changes)
    assert made.resolved["echo"]["ibta"]["transport"] == "unreliable"
    assert [concern.key for concern in manager.review(made, hot_spot_degree=7)] == []


def test_low_threshold_follows_the_high_one() -> None:
    space = Space({"marking.queue_threshold.high": Range("float", (0.1, 0.9))})
    assert space.changes({"marking.queue_threshold.high": 0.9}) == {
        "marking": {"queue_threshold": {"high": 0.9, "low": pytest.approx(0.8)}}
    }
    assert nested({"run.seed": 3, "echo.ibta": {}}) == {"run.seed": 3, "echo": {"ibta": {}}}


def test_ends_of_ranges_are_told() -> None:
    space = Space(
        {"a.b": Range("int", (1, 9)), "c.d": Range("float", (0.0, 1.0)), "e": Range("choice", ("x",))}
    )
    assert space.at_end({"a.b": 1, "c.d": 0.5, "e": "x"}) == ["a.b"]
    assert space.at_end({"a.b": 5, "c.d": 0.995, "e": "x"}) == ["c.d"]


def test_limits() -> None:
    limit = read_limit("latency_p99 <= 200 us")
    assert limit.excess({"latency_p99": 300e-6}, {}) == pytest.approx(0.5)
    relative = read_limit("guard.delivered >= 0.99 * uncontrolled")
    assert relative.guard
    assert relative.excess({"delivered": 99.0}, {"delivered": 100.0}) == pytest.approx(0)
    assert relative.excess({"delivered": 90.0}, {"delivered": 100.0}) > 0
    for wrong in ("speed >= 1", "background > 1", "latency_p99 <= 3 apples"):
        with pytest.raises(BecalmError, match="valid: a measure"):
            read_limit(wrong)
    with pytest.raises(BecalmError, match="e is no number"):
        read_limit("background >= e")


def test_interval_is_students() -> None:
    """Four values, mean 2.5, deviation 1.29: t of 3 degrees of freedom is 3.182."""
    low, high = interval([1.0, 2.0, 3.0, 4.0])
    assert (low + high) / 2 == pytest.approx(2.5)
    assert high - low == pytest.approx(2 * 3.182446 * math.sqrt(5 / 3) / 2)
    with pytest.raises(BecalmError, match="set at least 2"):
        interval([1.0])


def test_gain_is_paired(spot: HotSpot) -> None:
    """Seeds differ by much, the candidates by 0.1 on each: the interval is of the difference alone."""
    cases = spot.cases()
    found = {
        Run(name, case.name, seed): {"loss": seed + (0.1 if name == "guide" else 0.0)}
        for name in ("guide", BEST)
        for case in cases
        for seed in (1, 2, 3)
    }
    made = gain(found, cases, [1, 2, 3], "guide", held_out=False)
    assert made is not None
    assert made.low == pytest.approx(0.1)
    assert made.high == pytest.approx(0.1)
    assert made.sure
    held = gain(found, cases, [1, 2, 3], "guide", held_out=True)
    assert held is not None
    assert held.tuned == pytest.approx(2)


def test_parameters_that_cannot_be_are_hopeless(spot: HotSpot, tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    engine = Threads(1, store)
    evaluator = Evaluator(spot.cases(), store, engine)
    found = evaluator.evaluate({"bad": {"switch.buffer": "0 packets"}}, spot.cases()[:1], [1])
    engine.close()
    assert by_case(found, "bad")["3 hot, 0.5"]["loss"] == 10


def small(spot: HotSpot, folder: Path, trials: int, **more: Any) -> Tuned:  # noqa: ANN401
    return becalm.tune(spot, trials=trials, validate=2, folder=folder, engine=threads, **more)


def test_tunes_and_goes_on(spot: HotSpot, tmp_path: Path) -> None:
    first = small(spot, tmp_path / "study", 4)
    assert first.trials.height == 4
    known = set(Store(tmp_path / "study" / "store").keys())
    tuned = small(spot, tmp_path / "study", 12)
    assert tuned.trials.height == 12
    assert tuned.trials.head(4)["loss"].to_list() == first.trials["loss"].to_list()
    assert known < set(Store(tmp_path / "study" / "store").keys())
    assert sum(tuned.importance.values()) == pytest.approx(1)
    assert tuned.gain.seeds == 2
    assert set(tuned.validation["candidate"]) == {"no control", tuned.guideline, BEST}
    assert tuned.recommended == (BEST if tuned.gain.sure and not tuned.broken else tuned.guideline)
    tuned.save(tmp_path / "study", spot.scenario)
    found = json.loads((tmp_path / "study" / "tune.json").read_text())
    assert found["trials"] == 12
    made = becalm.load(tmp_path / "study" / "tuned.toml")
    assert "ibta" in made.resolved["response"]
    with pytest.raises(BecalmError, match="holds the study of something else"):
        small(HotSpot(spot.scenario, "H6", 3, 0.1e-3, 0.6e-3, 0.3e-3), tmp_path / "study", 4)


def test_a_trial_that_was_running_is_tried_again(spot: HotSpot, tmp_path: Path) -> None:
    cases, goals, space = spot.cases(), Goals(), opensm_space(spot.scenario, 7)
    name = _name(cases, space, goals, 1)
    search = Search(tmp_path, space, goals, name=name, trials=4)
    lost = search.study.ask(space.distributions())
    again = Search(tmp_path, space, goals, name=name, trials=4)
    assert again.finished() == []
    assert again.study.ask(space.distributions()).params == lost.params


def test_several_goals_give_a_front(spot: HotSpot, tmp_path: Path) -> None:
    goals = Goals(("hot_link", "latency_p99"))
    tuned = small(spot, tmp_path / "study", 5, goals=goals)
    assert 1 <= tuned.front.height <= 5
    assert {"goal.hot_link", "goal.latency_p99"} <= set(tuned.front.columns)


def test_where_nothing_can_be_gained_the_guideline_is_recommended(spot: HotSpot, tmp_path: Path) -> None:
    """A space with one point in it, that never marks: no better than without control."""
    space = Space({"marking.ibta.threshold": Range("int", (0, 0))}, {"response.ibta.ccti_increase": 1})
    tuned = small(spot, tmp_path / "study", 1, space=space)
    assert not tuned.gain.sure
    assert tuned.recommended == tuned.guideline
    assert tuned.scenario(spot.scenario).resolved["marking"] != {"none": {}}


def test_settings_that_cannot_be(spot: HotSpot) -> None:
    cases = spot.cases()
    for wrong, message in (
        ({"trials": 0}, "trials = 0: must be at least 1"),
        ({"validate": 1}, "validate = 1: must be at least 2"),
        ({"seeds": 101}, "must be below 101"),
        ({"finalists": 0.0}, "must be a share"),
    ):
        with pytest.raises(BecalmError, match=message):
            becalm.tune(cases, **wrong)
    with pytest.raises(BecalmError, match="no case to tune on"):
        becalm.tune(cases[3:])
    with pytest.raises(BecalmError, match="no group fits nobody; valid: cold own, cold, hot"):
        becalm.tune([Case("a", cases[1].scenario, ("nobody",), ("cold*",))])


def test_reads_the_ready_tuning() -> None:
    spec = read_tune(ROOT / "scenarios" / "tree32" / "tune.toml")
    assert len(spec.cases) == 6
    assert spec.budget == {"trials": 60, "seeds": 1, "finalists": 0.2, "validate": 8}
    assert worst_degree(spec.cases) == 31


def test_cases_of_a_file(tmp_path: Path, spot: HotSpot) -> None:
    (tmp_path / "all.toml").write_text(spot.cases()[1].scenario.to_toml())
    (tmp_path / "tune.toml").write_text(
        """\
[[case]]
scenario = "all.toml"
link = "L1S3->H7"
start = "0.1 ms"
stop = "0.7 ms"
weight = 2
[[case]]
scenario = "all.toml"
name = "guard"
role = "guard"
background = ["cold"]
[space]
"marking.ibta.threshold" = { int = [1, 15] }
[goals]
minimize = ["background", "settle"]
limits = ["latency_p99 <= 2 ms"]
"""
    )
    spec = read_tune(tmp_path / "tune.toml")
    assert [(case.name, case.role, case.weight) for case in spec.cases] == [
        ("all", TUNE, 2),
        ("guard", GUARD, 1),
    ]
    assert spec.cases[0].hot == ("hot*",)
    assert spec.cases[0].stop == pytest.approx(0.7e-3)
    assert spec.goals.minimize == ("background", "settle")


def test_mistakes_of_a_file_at_once(tmp_path: Path) -> None:
    (tmp_path / "tune.toml").write_text(
        'colour = 1\n[budget]\ntrials = 0\nsampler = "grid"\n[space]\na = { int = [2, 1] }\n'
        '[goals]\nminimize = ["speed"]\n'
    )
    with pytest.raises(becalm.ScenarioError) as caught:
        read_tune(tmp_path / "tune.toml")
    lines = {mistake["key"]: mistake["line"] for mistake in caught.value.mistakes}
    assert lines == {
        **{"colour": 1, "hot_spot": None, "budget.trials": 3, "budget.sampler": 4},
        **{"space.a": 6, "goals.minimize": 8},
    }


def test_command(tmp_path: Path) -> None:
    (tmp_path / "fabric.toml").write_text(FABRIC)
    (tmp_path / "tune.toml").write_text(
        '[hot_spot]\nscenario = "fabric.toml"\nhost = "H7"\nstart = "0.1 ms"\nhot = "0.6 ms"\n'
        'after = "0.3 ms"\n'
        "[budget]\ntrials = 3\nvalidate = 2\n"
    )
    out, conf = tmp_path / "out", tmp_path / "cong.conf"
    arguments = ["tune", str(tmp_path / "tune.toml"), "--engine", "threads", "--out", str(out)]
    done = CliRunner().invoke(app, [*arguments, "--opensm", str(conf)], env={"COLUMNS": "140"})
    assert done.exit_code == 0, done.output
    assert "loss on fresh seeds: " in done.output
    assert "95% interval" in done.output
    assert "loss on the held-out cases: " in done.output
    assert "These are results of the model" in done.output
    assert "congestion_control TRUE" in conf.read_text()
    zeros = conf.with_name("cong.conf.rollback").read_text()
    assert "\ncc_sw_cong_setting_threshold 0\n" in zeros
    assert tune_tree.opensm_differs(conf) in ([], None)
    assert CliRunner().invoke(app, arguments).exit_code == 2
    assert CliRunner().invoke(app, [*arguments[:-1], str(tmp_path / "new"), "--resume"]).exit_code == 2
    assert CliRunner().invoke(app, ["tune", str(tmp_path / "fabric.toml")]).exit_code == 2
    again = CliRunner().invoke(app, [*arguments, "--resume", "--json"])
    assert json.loads(again.stdout.splitlines()[-1])["trials"] == 3
