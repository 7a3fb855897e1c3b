"""The tuner: its measurements, its search space, and its resumption after a kill."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import becalm
from becalm import manager
from becalm.analysis.measures import _until, loss, measured
from becalm.base.errors import BecalmError
from becalm.cli import app
from becalm.runs.engines import Engine, Threads
from becalm.store import Store
from becalm.sweeps.random import Range
from becalm.tunings import Case, Goals, HotSpot, Population, Space, Tuned, api
from becalm.tunings.api import LEARN
from becalm.tunings.evaluate import Evaluator, Run, by_case
from becalm.tunings.goals import read_limit
from becalm.tunings.population import KINDS, class_of
from becalm.tunings.space import guideline_parameters, has_overrides, nested, opensm_space, space_of
from becalm.tunings.spec import read_tune
from becalm.tunings.study import Search, _batches, name_of
from becalm.tunings.tuned import choice
from becalm.tunings.verdict import BEST, WITHOUT, guideline_control

sys.path.insert(0, str(Path(__file__).parent / "system"))

import tune_tree

ROOT = Path(__file__).parents[1]
UNCONTROLLED: dict[str, Any] = {"marking": {"none": {}}, "response": {"none": {"window": "unlimited"}}}
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
    return HotSpot(fabric, "H7", 3, start=0.1e-3, hot=0.6e-3)


def threads(store: Store) -> Engine:
    return Threads(2, store)


@pytest.fixture
def cases(spot: HotSpot) -> list[Case]:
    return spot.population().draw(12, 1)


@pytest.fixture
def fixed(spot: HotSpot) -> list[Case]:
    """Cases with seven, two, and no contributors."""
    population = Population(spot.scenario, ("H7",), None, None, ("rest",), 0.1e-3, 0.6e-3)
    made = [population.case(7, 0.5), population.case(2, 0.5)]
    quiet = population.case(2, 0.9, kind="none")
    return [
        replace(made[0], name="seven", kind=""),
        replace(made[1], name="two", kind=""),
        replace(quiet, name="none", kind=""),
    ]


def test_draws_are_the_same_for_a_seed_and_cover_the_ranges(spot: HotSpot) -> None:
    population = spot.population()
    drawn = population.draw(40, 1)
    again, other = population.draw(40, 1), population.draw(40, 2)
    assert [case.scenario.hash for case in drawn] == [case.scenario.hash for case in again]
    assert [case.scenario.hash for case in drawn] != [case.scenario.hash for case in other]
    assert {case.kind for case in drawn} == set(KINDS)
    assert {2, 3} <= {case.contributors for case in drawn if case.hot} <= {2, 3}
    everything = Population(spot.scenario).draw(60, 1)
    assert max(case.contributors for case in everything) == 7
    # With a log-uniform distribution from 2 to 7, 2 and 3 make up more than half of the cases.
    few = sum(case.contributors in (2, 3) for case in everything if case.kind == "rest")
    assert few / sum(case.kind == "rest" for case in everything) == pytest.approx(
        math.log(4 / 2) / math.log(8 / 2), abs=0.15
    )
    assert all("H7" in case.scenario.data()["flows"][-1]["to"] for case in drawn if case.kind == "rest")


def test_background_is_what_the_links_carry(spot: HotSpot) -> None:
    """Without oversubscription and without a hot spot, the tree delivers the entire offered load."""
    for case in Population(spot.scenario, kinds=("none",), start=0.1e-3, hot=0.6e-3).draw(6, 1):
        found = measured(becalm.run(case.observed(UNCONTROLLED, 1)), case)
        assert found["background"] > 0.93, case.name


def fair(case: Case) -> float:
    """Return the fair rate of all flows of a case in its hot period, in B/s."""
    return float(case.scenario.network().fair(case.start, case.stop).sum())


def test_fair_rates_of_a_case_by_hand(spot: HotSpot) -> None:
    """Seven hosts share one link; two bursty hosts together offer half of its rate."""
    rate = 25e9 / 8
    population = Population(spot.scenario, ("H7",), (7, 7), None, ("rest",))
    assert fair(population.case(7, None)) == pytest.approx(rate)
    assert fair(population.case(2, None, kind="bursts")) == pytest.approx(rate / 2)
    assert population.case(2, None).contributors == 2
    assert fair(population.case(3, None, kind="moving")) == pytest.approx(rate, rel=1e-6)


def test_hosts_that_are_not_there(fabric: becalm.Scenario) -> None:
    with pytest.raises(BecalmError, match=r"hot host H9: not a host of fabric\.toml; valid: H0, H1"):
        HotSpot(fabric, "H9").population()
    with pytest.raises(BecalmError, match="contributors 8: must be between 2 and the 7 other hosts"):
        HotSpot(fabric, "H7", 8).population()
    with pytest.raises(BecalmError, match="kind `odd`: unknown; valid: rest"):
        Population(fabric, kinds=("odd",)).draw(1, 1)


def test_settled_is_after_the_last_sample_that_is_not_right() -> None:
    time = np.arange(5, dtype=np.float64) * 1e-3
    right = np.array([True, False, True, False, True])
    assert _until(time, right, 0.0, 1e-3, 1.0) == pytest.approx(4e-3)
    assert _until(time, ~right, 0.0, 1e-3, 4e-3) == pytest.approx(4e-3)
    assert _until(time, np.full(5, True), 0.0, 1e-3, 1.0) == 0.0


def test_loss_by_hand(fixed: list[Case]) -> None:
    """Victims have weight 1, contributors 1/2; without a hot spot, the cost of control has weight 1."""
    found = {"lost": 0.2, "starved": 0.3}
    assert loss(found, fixed[0]) == pytest.approx(0.2 + 0.5 * 0.3)
    assert loss(found, fixed[2]) == pytest.approx(0.2)


def test_measures_tell_control_from_none(spot: HotSpot, tmp_path: Path) -> None:
    population = Population(spot.scenario, ("H7",), None, None, ("rest",), 0.1e-3, 0.6e-3)
    case = population.case(6, 0.6)
    store = Store(tmp_path / "store")
    engine = Threads(1, store)
    rows = {"free": UNCONTROLLED, "held": guideline_control(spot.scenario, 7, "becalm")}
    found = Evaluator([case], store, engine).evaluate(rows, [case], [1])
    engine.close()
    free, held = (found[Run(row, case.name, 1)] for row in rows)
    assert free["starved"] < 0.05
    assert held["lost"] <= free["lost"]
    assert held["hot_link"] == pytest.approx(1 - held["starved"])
    assert free["loss"] == pytest.approx(free["lost"] + 0.5 * free["starved"])


def test_space_of_opensm(fabric: becalm.Scenario) -> None:
    space = opensm_space(fabric, 7)
    assert set(space.ranges) == {
        "marking.ibta.threshold",
        "marking.ibta.marking_rate",
        "response.ibta.ccti_increase",
        "response.ibta.ccti_timer",
        *(f"table.{key}" for key in ("shape", "first", "longest")),
        *(f"between.{key}" for key in ("threshold", "marking_rate")),
    }
    guided = guideline_control(fabric, 7, "pfister2005")
    first = space.clipped(guideline_parameters(guided, fabric))
    assert first is not None
    # 0.9 of a buffer: the nearest of 15/16, 14/16, ... is 14/16, threshold 2.
    assert first["marking.ibta.threshold"] == 2
    assert first["response.ibta.ccti_timer"] == manager.TIMER
    changes = space.changes(first)
    assert first["table.shape"] == "linear"
    assert first["table.longest"] == pytest.approx(7, rel=0.03)
    made = fabric.replace(changes)
    assert made.resolved["echo"]["ibta"]["transport"] == "unreliable"
    assert [concern.key for concern in manager.review(made, hot_spot_degree=7)] == []


@pytest.mark.parametrize("shape", manager.SHAPES)
def test_a_table_ends_where_it_should(fabric: becalm.Scenario, shape: str) -> None:
    """Delays are accurate to an eighth of a packet time, which an entry can represent."""
    space = opensm_space(fabric, 7)
    parameters = {
        **{"marking.ibta.threshold": 3, "marking.ibta.marking_rate": 0},
        **{"response.ibta.ccti_increase": 2, "response.ibta.ccti_timer": 4},
        **{"between.threshold": 1, "between.marking_rate": 3},
        **{"table.shape": shape, "table.first": 0.25, "table.longest": 20.0},
    }
    made = fabric.replace(space.changes(parameters))
    delays = made.summary["cct"]
    assert len(delays) == manager.ENTRIES
    assert delays[-1] == pytest.approx(20, abs=0.0626)
    if shape == "geometric":
        assert delays[1] == 0.25
    again = space.clipped(guideline_parameters(space.changes(parameters), fabric))
    assert again is not None
    assert again["table.shape"] == shape


def test_low_threshold_follows_the_high_one() -> None:
    space = Space({"marking.queue_threshold.high": Range("float", (0.1, 0.9))})
    assert space.changes({"marking.queue_threshold.high": 0.9}) == {
        "marking": {"queue_threshold": {"high": 0.9, "low": pytest.approx(0.8)}}
    }
    assert nested({"run.seed": 3, "echo.ibta": {}}) == {"run.seed": 3, "echo": {"ibta": {}}}


def test_ends_of_ranges_are_reported() -> None:
    space = Space(
        {"a.b": Range("int", (1, 9)), "c.d": Range("float", (0.0, 1.0)), "e": Range("choice", ("x",))}
    )
    assert space.at_end({"a.b": 1, "c.d": 0.5, "e": "x"}) == ["a.b"]
    assert space.at_end({"a.b": 5, "c.d": 0.995, "e": "x"}) == ["c.d"]


def test_limits() -> None:
    limit = read_limit("latency_p99 <= 200 us")
    assert limit.excess({"latency_p99": 300e-6}, {}) == pytest.approx(0.5)
    relative = read_limit("delivered >= 0.99 * uncontrolled")
    assert relative.excess({"delivered": 99.0}, {"delivered": 100.0}) == pytest.approx(0)
    assert relative.excess({"delivered": 90.0}, {"delivered": 100.0}) > 0
    wrong_limits = ("speed >= 1", "background > 1", "latency_p99 <= 3 apples", "guard.delivered >= 1")
    for wrong in wrong_limits:
        with pytest.raises(BecalmError, match="valid: a measure"):
            read_limit(wrong)
    with pytest.raises(BecalmError, match="e is not a number"):
        read_limit("background >= e")


def test_parameters_that_cannot_be_are_hopeless(cases: list[Case], tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    engine = Threads(1, store)
    evaluator = Evaluator(cases, store, engine)
    found = evaluator.evaluate({"bad": {"switch.buffer": "0 packets"}}, cases[:1], [1])
    engine.close()
    assert by_case(found, "bad")[cases[0].name]["loss"] == 10


def small(spot: HotSpot, folder: Path, trials: int, **more: Any) -> Tuned:  # noqa: ANN401
    return becalm.tune(spot, trials=trials, validate=2, folder=folder, engine=threads, **more)


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quarter of the random cases: for tests of what is written, not of what is found."""
    monkeypatch.setattr(api, "LEARN", 6)
    monkeypatch.setattr(api, "JUDGE", 12)


@pytest.mark.usefixtures("brief")
def test_tunes_and_goes_on(spot: HotSpot, tmp_path: Path) -> None:
    first = small(spot, tmp_path / "study", 4)
    assert first.trials.height == 4
    known = set(Store(tmp_path / "study" / "store").keys())
    tuned = small(spot, tmp_path / "study", 10)
    assert tuned.trials.height == 10
    assert tuned.trials.head(4)["loss"].to_list() == first.trials["loss"].to_list()
    assert known < set(Store(tmp_path / "study" / "store").keys())
    assert sum(tuned.importance.values()) == pytest.approx(1)
    assert set(tuned.validation["candidate"]) == {WITHOUT, *manager.GUIDELINES, BEST}
    assert tuned.recommended == choice(tuned.verdict, tuned.broken)
    tuned.save(tmp_path / "study", spot.scenario)
    found = json.loads((tmp_path / "study" / "tune.json").read_text())
    assert found["trials"] == 10
    assert found["answer"] == tuned.answer()
    made = becalm.load(tmp_path / "study" / "tuned.toml")
    assert made.resolved["response"] == spot.scenario.replace(tuned.recommended_control).resolved["response"]
    with pytest.raises(BecalmError, match="contains a study of other cases"):
        small(HotSpot(spot.scenario, "H6", 3, 0.1e-3, 0.6e-3), tmp_path / "study", 4)


def test_a_trial_that_was_running_is_tried_again(spot: HotSpot, cases: list[Case], tmp_path: Path) -> None:
    goals, space = Goals(), opensm_space(spot.scenario, 7)
    name = name_of(cases, space, goals, 1)
    search = Search(tmp_path, space, goals, name=name, trials=4)
    lost = search.study.ask(space.distributions())
    again = Search(tmp_path, space, goals, name=name, trials=4)
    assert again.finished() == []
    assert again.study.ask(space.distributions()).params == lost.params


def test_no_search_sees_what_the_rows_are_compared_on(
    spot: HotSpot, fixed: list[Case], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The comparison uses other random cases than the search, and other seeds of fixed cases."""
    searched, compared = set[tuple[str, int]](), set[tuple[str, int]]()
    evaluate = Evaluator.evaluate

    def seen(own: Evaluator, rows: Any, cases: Any, seeds: Any) -> dict[Run, dict[str, float]]:  # noqa: ANN401
        runs = compared if BEST in rows else searched
        runs |= {(case.scenario.hash, seed) for case in cases for seed in seeds}
        return evaluate(own, rows, cases, seeds)

    monkeypatch.setattr(Evaluator, "evaluate", seen)
    monkeypatch.setattr(api, "LEARN", 4)
    monkeypatch.setattr(api, "JUDGE", 4)
    small(spot, tmp_path / "study", 2, also=fixed)
    assert not searched & compared
    again = {scenario for scenario, _ in searched} & {scenario for scenario, _ in compared}
    assert again == {case.scenario.hash for case in fixed}


def test_a_limit_holds_for_every_case(fixed: list[Case], tmp_path: Path) -> None:
    """No parameters keep a limit that no run can keep, so none are recommended."""
    goals = Goals((read_limit("delivered >= 2 * uncontrolled"),))
    tuned = becalm.tune(fixed, trials=2, validate=2, goals=goals, folder=tmp_path / "study", engine=threads)
    assert tuned.broken == ["delivered >= 2 * uncontrolled"]
    assert tuned.recommended != BEST
    assert not tuned.trials["kept"].any()


def test_fixed_cases_are_judged_by_seeds(fixed: list[Case], tmp_path: Path) -> None:
    tuned = becalm.tune(fixed, trials=2, validate=3, folder=tmp_path / "study", engine=threads)
    assert set(tuned.verdict.classes) == {"fixed"}
    assert len(tuned.verdict.classes) == 3
    assert set(tuned.validation["case"]) == {"seven", "two", "none"}


def test_where_nothing_can_be_gained_things_are_left_as_they_are(fixed: list[Case], tmp_path: Path) -> None:
    """The only point of the search space never marks, so it is no better than without control."""
    space = Space({"marking.ibta.threshold": Range("int", (0, 0))}, {"response.ibta.ccti_increase": 1})
    tuned = becalm.tune(fixed, trials=1, validate=2, space=space, folder=tmp_path / "study", engine=threads)
    assert tuned.recommended != BEST
    assert tuned.verdict.mean(BEST) == pytest.approx(tuned.verdict.mean(WITHOUT), abs=0.02)


def test_candidates_that_fall_behind_meet_few_cases(
    spot: HotSpot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trials are complete or end after a batch; the best trial is complete."""
    monkeypatch.setattr(api, "JUDGE", 6)
    tuned = small(spot, tmp_path / "study", 8)
    assert min(tuned.trials["cases"]) < max(tuned.trials["cases"]) == LEARN
    batches = _batches(Population(spot.scenario).draw(24, 1))
    assert [len(batch) for batch in batches] == [6, 6, 12]
    assert all(len({class_of(case) for case in batch}) > 1 for batch in batches)


def test_settings_that_cannot_be(fixed: list[Case]) -> None:
    for wrong, message in (
        ({"trials": 0}, "trials = 0: must be at least 1"),
        ({"validate": 1}, "validate = 1: must be at least 2"),
        ({"seeds": 101}, "must be below 101"),
        ({"finalists": 0.0}, "must be a share"),
    ):
        with pytest.raises(BecalmError, match=message):
            becalm.tune(fixed, **wrong)
    with pytest.raises(BecalmError, match="no case to tune on"):
        becalm.tune([])
    with pytest.raises(BecalmError, match="no group fits nobody; valid: hot"):
        becalm.tune([Case("a", fixed[0].scenario, ("nobody",), ("cold*",))])


def test_reads_the_ready_tuning() -> None:
    spec = read_tune(ROOT / "scenarios" / "tree32" / "tune.toml")
    assert spec.cases == []
    assert spec.population is not None
    assert spec.population.range == (2, 31)
    assert spec.budget == {"trials": 60}


def test_cases_of_a_file(tmp_path: Path, fixed: list[Case]) -> None:
    (tmp_path / "all.toml").write_text(fixed[0].scenario.to_toml())
    (tmp_path / "tune.toml").write_text(
        """\
[cases]
scenario = "all.toml"
hosts = ["H3"]
contributors = [3, 5]
kinds = ["rest", "none"]
[[case]]
scenario = "all.toml"
link = "L1S3->H7"
start = "0.1 ms"
stop = "0.7 ms"
weight = 2
[[case]]
scenario = "all.toml"
name = "other"
background = ["cold*"]
[space]
"marking.ibta.threshold" = { int = [1, 15] }
[goals]
limits = ["latency_p99 <= 2 ms"]
"""
    )
    spec = read_tune(tmp_path / "tune.toml")
    assert [(case.name, case.weight) for case in spec.cases] == [("all", 2), ("other", 1)]
    assert spec.cases[0].hot == ("hot*",)
    assert spec.cases[0].stop == pytest.approx(0.7e-3)
    assert [limit.measure for limit in spec.goals.limits] == ["latency_p99"]
    assert spec.population is not None
    assert spec.population.range == (3, 5)
    drawn = spec.population.draw(8, 1)
    assert {case.kind for case in drawn} == {"rest", "none"}
    assert {case.contributors for case in drawn} <= {0, 3, 4, 5}


PERIOD = """\
[[case]]
scenario = "fabric.toml"
hot = ["hot"]
background = ["background"]
"""
HOT = '[[flows]]\nname = "hot"\nfrom = ["H1", "H2"]\nto = ["H7"]\n'


def test_the_hot_period_of_a_case_is_that_of_its_hot_groups(tmp_path: Path) -> None:
    for times, given, period in (
        ('stop = "0.8 ms"', "", (0, 0.8e-3)),
        ('start = "0.2 ms"', "", (0.2e-3, 1e-3)),
        ('start = "0.2 ms"\nstop = "0.8 ms"', 'stop = "0.6 ms"', (0.2e-3, 0.6e-3)),
        ("", 'start = "0.3 ms"', (0.3e-3, 1e-3)),
    ):
        (tmp_path / "fabric.toml").write_text(f"{FABRIC}{HOT}{times}\n")
        (tmp_path / "tune.toml").write_text(f"{PERIOD}{given}\n")
        (case,) = read_tune(tmp_path / "tune.toml").cases
        assert (case.start, case.stop) == pytest.approx(period)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("", "tune.toml:3: case[0].hot: has no effect without a hot period; valid: start and stop"),
        ('link = "L1S3->H7"', "tune.toml:5: case[0].link: has no effect without a hot period; valid: start"),
        ('start = "1 ms"', "tune.toml:5: case[0].start: no hot period: from 0.001 s to 0.001 s in a run of"),
        (
            'start = "2 us"\nstop = "1 us"',
            "tune.toml:6: case[0].stop: no hot period: from 2e-06 s to 1e-06",
        ),
    ],
)
def test_hot_groups_without_a_period_are_a_mistake(tmp_path: Path, settings: str, message: str) -> None:
    (tmp_path / "fabric.toml").write_text(f"{FABRIC}{HOT}")
    (tmp_path / "tune.toml").write_text(f"{PERIOD}{settings}\n")
    done = CliRunner().invoke(app, ["tune", str(tmp_path / "tune.toml")], env={"COLUMNS": "300"})
    assert done.exit_code == 2
    assert message in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fabric.toml", "tune.toml"]


def test_mistakes_of_a_file_at_once(tmp_path: Path) -> None:
    (tmp_path / "tune.toml").write_text(
        'colour = 1\n[budget]\ntrials = 0\nsampler = "grid"\n[space]\na = { int = [2, 1] }\n'
        '[goals]\nlimits = ["speed"]\n'
    )
    with pytest.raises(becalm.ScenarioError) as caught:
        read_tune(tmp_path / "tune.toml")
    lines = {mistake["key"]: mistake["line"] for mistake in caught.value.mistakes}
    assert lines == {
        **{"colour": 1, "cases": None, "budget.trials": 3, "budget.sampler": 4},
        **{"space.a": 6, "goals.limits[0]": 8},
    }


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            '[goals]\nminimize = ["background"]',
            "7: goals.minimize: {}every tuning minimizes the loss; valid: limits",
        ),
        ('[budget]\nsampler = "cmaes"', "7: budget.sampler: {}there is one; valid: trials"),
        ('role = "guard"', "6: case[0].role: {}every case counts; valid: scenario"),
        ('[goals]\nmaximize = ["background"]', "7: goals.maximize: unknown key; valid: limits"),
    ],
)
def test_keys_of_earlier_versions_say_why_they_are_gone(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "fabric.toml").write_text(f"{FABRIC}{HOT}")
    (tmp_path / "tune.toml").write_text(f'{PERIOD}start = "0 ms"\n{line}\n')
    with pytest.raises(becalm.ScenarioError) as caught:
        read_tune(tmp_path / "tune.toml")
    assert message.format("leave out this key of earlier versions: ") in str(caught.value)


def test_opensm_options_leave_out_single_ports(spot: HotSpot) -> None:
    """The search still starts from what remains of such a guideline."""
    assert [key for key in space_of(spot.scenario, 7).ranges if "between" in key]
    tuned = becalm.tune(spot, trials=3, validate=2, engine=threads, single_ports=False)
    assert not [key for key in tuned.best if "between" in key]
    assert "becalm" in tuned.controls and "becalm2" not in tuned.controls
    assert not any(has_overrides(control) for control in tuned.controls.values())
    guideline = guideline_control(spot.scenario, 7, "becalm2")
    assert has_overrides(guideline)
    first = tuned.trials.sort("number").row(0, named=True)
    assert first["marking.ibta.threshold"] == guideline["marking"]["ibta"]["threshold"]


@pytest.mark.usefixtures("brief")
def test_a_space_of_single_ports_needs_the_numbers_of_ports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fabric.toml").write_text(FABRIC)
    (tmp_path / "tune.toml").write_text(
        '[cases]\nscenario = "fabric.toml"\n[space]\n"between.threshold" = { int = [1, 15] }\n'
        '"marking.ibta.threshold" = { int = [1, 15] }\n"echo.ibta" = { choice = [{}] }\n'
        '"response.ibta.cct.linear.max" = { choice = ["10 us"] }\n'
    )
    arguments = ["tune", "tune.toml", "--out", "out", "--opensm", "cc.conf"]
    done = CliRunner().invoke(app, arguments, env={"COLUMNS": "300"})
    assert done.exit_code == 2
    assert "--opensm: the space has settings of single ports" in done.stderr
    assert sorted(each.name for each in tmp_path.iterdir()) == ["fabric.toml", "tune.toml"]


@pytest.mark.usefixtures("brief")
def test_command(tmp_path: Path) -> None:
    (tmp_path / "fabric.toml").write_text(FABRIC)
    (tmp_path / "tune.toml").write_text(
        '[hot_spot]\nscenario = "fabric.toml"\nhost = "H7"\nstart = "0.1 ms"\nhot = "0.6 ms"\n'
        "[budget]\ntrials = 3\nvalidate = 2\n"
    )
    out, conf = tmp_path / "out", tmp_path / "cong.conf"
    arguments = ["tune", str(tmp_path / "tune.toml"), "--engine", "threads", "--out", str(out)]
    done = CliRunner().invoke(app, [*arguments, "--opensm", str(conf)], env={"COLUMNS": "140"})
    assert done.exit_code == 0, done.output
    assert "cases for the search" in done.output
    assert done.stdout.startswith(("recommended: ", "keep the current settings: "))
    assert "no control" in done.stdout
    assert "95% interval" in done.output
    assert "These results are from the model" in done.output
    if done.stdout.startswith("keep the current settings") or "recommended: no congestion" in done.stdout:
        assert "no OpenSM options are written" in done.stdout
        assert not conf.exists()
    else:
        assert "congestion_control TRUE" in conf.read_text()
        zeros = conf.with_name("cong.conf.rollback").read_text()
        assert "\ncc_sw_cong_setting_threshold 0\n" in zeros
        assert tune_tree.opensm_differs(conf) in ([], None)
    assert CliRunner().invoke(app, arguments).exit_code == 2
    assert CliRunner().invoke(app, [*arguments[:-1], str(tmp_path / "new"), "--resume"]).exit_code == 2
    wrong = CliRunner().invoke(app, ["tune", str(tmp_path / "fabric.toml"), "--contributors", "99"])
    assert wrong.exit_code == 2
    other = CliRunner().invoke(app, [*arguments, "--resume"])
    assert (other.exit_code, "of other cases, parameters, goals or seeds" in other.stderr) == (2, True)
    options = ["--opensm", str(conf), "--overwrite", "--resume", "--json"]
    again = CliRunner().invoke(app, [*arguments, *options])
    assert json.loads(again.stdout.splitlines()[-1])["trials"] == 3
