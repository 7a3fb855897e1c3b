"""Thresholds of the rules of `becalm explain`, from both sides."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

import becalm
import explain_scenes
from becalm.analysis import blame, causes, faults
from becalm.analysis.case import Case, Hosts, Straggler
from becalm.analysis.facts import Facts
from becalm.explanations import control, holding, jobs
from becalm.results import Results
from becalm.whatif.incast import Rates, WhatIf
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


def oscillates(swings: int, low: float) -> bool:
    """Whether a rate that swings between 0.9 and a lower share of a link is said to oscillate."""
    fabric = FABRICS[0]
    table = {"linear": {"entries": 128, "max": "300 us"}}
    parameters = explain_scenes.ibta(ccti_increase=127, ccti_timer=20, cct=table)
    results = becalm.run(
        explain_scenes.made("swing", fabric, explain_scenes.hot_spot(fabric, 4), parameters, "12 ms"),
        threads=1,
    )
    half = ((pl.col("time") - 0.5e-3) / 11.5e-3 * (swings + 1)).floor() % 2
    results.tables["series"] = results.series.with_columns(share=pl.when(half == 0).then(0.9).otherwise(low))
    return "oscillates" in [sentence.rule for sentence in becalm.explain(results).sentences]


@pytest.mark.parametrize(("swings", "named"), [(3, False), (4, True), (8, True)])
def test_a_rate_that_swings_four_times_oscillates(swings: int, named: bool) -> None:
    assert oscillates(swings, 0.3) == named


@pytest.mark.parametrize(("low", "named"), [(0.9 * 0.72 / 1.28, False), (0.9 * 0.68 / 1.32, True)])
def test_a_rate_that_deviates_by_three_tenths_of_its_mean_oscillates(low: float, named: bool) -> None:
    """Deviations of 0.28 and 0.32 of the mean, in eight halves of four swings down and up."""
    assert oscillates(7, low) == named


@pytest.fixture(scope="module")
def free() -> Results:
    """Eight senders to host H0 and a victim, without control."""
    return run(explain_scenes.hot_host(FABRICS[0]))


def case(results: Results, **tables: pl.DataFrame) -> Case:
    """Return the case of a run with other tables."""
    whole = {**results.tables, **tables}
    return Case(
        Facts(Results(results.scenario, results.replications, whole, results.units, results.origin), 0)
    )


def cause_at_host(facts: Facts) -> str:
    """Return the cause of congestion at the link to host H0."""
    found = causes.cause(facts, facts.links.names.index(FABRICS[0].link), {"hot": 8.0})
    return "" if found is None else found.name


@pytest.mark.parametrize(("offered", "overloaded"), [(1.04, False), (1.06, True)])
def test_a_link_is_overloaded_by_a_twentieth(free: Results, offered: float, overloaded: bool) -> None:
    first = case(free, tree=free.tree.with_columns(offered=offered)).bottlenecks[0]
    assert first.overloaded == overloaded


@pytest.mark.parametrize(("share", "slow"), [(0.09, False), (0.11, True)])
def test_a_host_is_slow_if_its_link_waits_for_a_tenth(free: Results, share: float, slow: bool) -> None:
    links = free.links.with_columns(stalled_share=share, utilization=0.5)
    assert (cause_at_host(case(free, links=links).facts) == "slow receiver") == slow


@pytest.mark.parametrize(("share", "host"), [(0.89, ""), (0.91, "H0")])
def test_a_host_is_hot_if_nine_tenths_are_for_it(free: Results, share: float, host: str) -> None:
    to_host = pl.col("destination") == "H0"
    offered = pl.when(to_host).then(share / to_host.sum()).otherwise((1 - share) / (~to_host).sum())
    facts = case(free, flows=free.flows.with_columns(offered=offered)).facts
    assert causes.hot(facts, np.arange(free.flows.height)) == host


@pytest.mark.parametrize(("share", "storm"), [(0.49, False), (0.51, True)])
def test_a_storm_pauses_a_switch_for_half_of_the_time(free: Results, share: float, storm: bool) -> None:
    pauses = pl.DataFrame(
        {
            "replication": [0, 0, 0],
            "from": ["leaf0", "spine0", "spine1"],
            "to": ["H0", "leaf0", "leaf0"],
            "paused_share": [share, 0.3, 0.3],
        }
    )
    assert (cause_at_host(case(free, pauses=pauses).facts) == "pause storm") == storm


def upwards(facts: Facts) -> int:
    """Return the link between switches that most flows cross."""
    between = np.flatnonzero((facts.links.level > 0) & (facts.links.to_level > 0))
    return int(max(between, key=lambda link: len(facts.crossing(int(link)))))


@pytest.mark.parametrize(("small", "named"), [(0.109, False), (0.112, True)])
def test_a_tenth_of_the_traffic_is_part_of_a_collision(free: Results, small: float, named: bool) -> None:
    facts = case(free).facts
    found = list(causes._collision(facts, upwards(facts), {"large": 0.99, "small": small}))
    assert bool(found) == named


@pytest.mark.parametrize(("even", "named"), [(1.0, False), (0.97, True)])
def test_paths_collide_on_a_link_with_a_tenth_more_than_its_part(
    free: Results, even: float, named: bool
) -> None:
    """The link is offered 1.08 times its capacity."""
    flows = free.flows.with_columns(offered=1.0)
    facts = case(free, tree=free.tree.with_columns(offered=1.08), flows=flows).facts
    vars(facts)["spreading"] = SimpleNamespace(even=np.full(free.links.height, even))
    assert bool(list(causes._same_path(facts, upwards(facts), {}))) == named


@pytest.mark.parametrize(("share", "named"), [(0.49, False), (0.51, True)])
def test_a_switch_with_uneven_cables_is_to_blame_for_half_of_the_traffic(
    free: Results, share: float, named: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One node sends this share of the traffic on a link between switches."""
    facts = case(free, tree=free.tree.with_columns(offered=1.08)).facts
    links = facts.links
    down = np.flatnonzero((links.to_level > 0) & (links.level > links.to_level))
    link = int(max(down, key=lambda link: len(facts.crossing(int(link)))))
    flows = facts.crossing(link)
    node = facts.flows.source[flows[0]]
    facts.flows.offered[flows] = [share, *[(1 - share) / (len(flows) - 1)] * (len(flows) - 1)]
    monkeypatch.setattr(causes, "_uneven", lambda _: [faults.Fault("missing cable", node, "")])
    assert bool(list(causes._cabling(facts, link, {}))) == named


@pytest.mark.parametrize(("used", "named"), [(0.79, False), (0.81, True)])
def test_a_straggler_uses_four_fifths_of_its_rate(
    free: Results, used: float, named: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Straggler("job", "H1", "sends", 1.0, 2.0, used)
    monkeypatch.setattr(Hosts, "stragglers", lambda _: [slow])
    assert bool(case(free).stragglers) == named


@pytest.mark.parametrize(("most", "named"), [(179.0, False), (181.0, True)])
def test_routes_are_unbalanced_at_one_and_a_half_times_the_mean(most: float, named: bool) -> None:
    """Four uplinks. The others carry 100 pairs, and 180 pairs are 1.5 times the mean."""
    links = [
        faults._Link(f"S->T{place}", "S", f"T{place}", 1, 2, 1e9, pairs)
        for place, pairs in enumerate([most, 100.0, 100.0, 100.0])
    ]
    assert bool(list(faults._routes(links))) == named


def test_offers_below_a_fair_share_leave_their_rest_to_others() -> None:
    """Of a whole link, 0.1 leaves 0.9, so that both others offer more than 0.45."""
    assert blame._above_share([0.1, 0.5, 0.8]) == 2
    assert blame._above_share([0.1, 0.4, 0.8]) == 1


@pytest.mark.parametrize(("share", "failed"), [(0.24, False), (0.26, True)])
def test_control_fails_at_a_root_for_a_quarter_of_the_time(free: Results, share: float, failed: bool) -> None:
    standing = case(free, tree=free.tree.with_columns(root_share=share))
    assert control.stands(standing, standing.bottlenecks[0]) == failed


@pytest.mark.parametrize(("share", "off"), [(0.09, False), (0.11, True)])
def test_only_a_root_that_lasts_a_tenth_of_the_window_needs_marks(
    free: Results, share: float, off: bool
) -> None:
    longest = share * case(free).facts.window
    lasting = case(free, tree=free.tree.with_columns(longest=longest))
    assert control.unmarked(lasting, lasting.bottlenecks[0]) == off


def test_only_half_a_deviation_from_the_mean_is_a_swing() -> None:
    assert control._swings(np.array([6.0, 6.0, 5.1, 4.9, 5.1, 4.9, 4.0, 4.0])) == 1
    assert control._swings(np.array([6.0, 4.0, 5.5, 4.5, 6.0, 4.0])) == 5


@pytest.mark.parametrize(("last", "stopped"), [(2.9e-3, True), (3.1e-3, False)])
def test_a_job_has_stopped_after_a_quarter_of_the_run_without_progress(
    free: Results, last: float, stopped: bool
) -> None:
    """The run lasts 4 ms."""
    rows = pl.DataFrame({"replication": [0], "job": ["hot"], "end": [float("nan")]})
    moving = pl.when(pl.col("time") <= last).then(1.0).otherwise(0.0)
    halted = case(
        free,
        jobs=rows,
        ranks=rows.with_columns(rank=0, host=pl.lit("H1")),
        series=free.series.with_columns(rate=moving),
    )
    (said,) = jobs.unfinished_job(halted)
    assert (said.cause == "unfinished job") == stopped


@pytest.mark.parametrize(
    ("reach", "got", "narrow"), [(0.94, 1.0, True), (0.96, 1.0, False), (0.5, 0.96, True), (0.5, 0.94, False)]
)
def test_a_buffer_limits_a_flow_that_gets_about_all_of_what_it_allows(
    free: Results, reach: float, got: float, narrow: bool
) -> None:
    """The limit is below 0.95 of the slowest link, and the flow gets at least 0.95 of the limit."""
    limited = case(free)
    facts = limited.facts
    vars(limited).update(unexplained=np.array([0]), slowed=np.array([], dtype=np.int64))
    vars(facts).update(
        reach=lambda flows: np.array([[reach, 1.0]] * len(flows)),
        summed=lambda _: np.zeros(len(facts.links.names)),
    )
    facts.flows.delivered[0] = got * reach * facts.links.capacity[facts.path(0)].min()
    assert bool(len(limited.narrow["buffer"])) == narrow


@pytest.mark.parametrize(("windows", "known"), [(19, False), (20, True)])
def test_oscillation_shows_in_twenty_windows(
    free: Results, windows: int, known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = np.linspace(1e-3, 2e-3, windows)
    root = case(free).bottlenecks[0]
    series = pl.DataFrame({"kind": "link", "name": root.name, "time": times, "share": 0.5, "replication": 0})
    found = case(free, series=series)
    vars(found.facts)["expected"] = lambda _: (np.array([0.0, 4e-3]), np.ones(2))
    for name in ("window", "step"):
        monkeypatch.setitem(found.facts.resolved["observe"], name, "1 us")
    assert (found.rates(root) is not None) == known


@pytest.mark.parametrize(("share", "named"), [(0.89, True), (0.91, False)])
def test_a_host_is_slower_below_nine_tenths_of_the_usual_rate(
    free: Results, share: float, named: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rates = dict.fromkeys(("H1", "H2", "H3"), (1.0, 1.0)) | {"H4": (share, 1.0)}
    ranks = pl.DataFrame({"replication": 0, "job": "job", "rank": [0, 1, 2, 3], "host": list(rates)})
    hosts = Hosts(case(free, ranks=ranks).facts)
    vars(hosts)["limits"] = rates
    monkeypatch.setattr(Hosts, "_own", lambda *_: float("inf"))
    assert [(each.host, each.what) for each in hosts._slow("job", 1.0)] == [("H4", "sends")] * named


@pytest.mark.parametrize(("time", "named"), [(0.91, False), (0.89, True)])
def test_a_job_gains_a_tenth_without_what_holds_it(
    free: Results, time: float, named: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job takes 1 s, and this time without control or with a remedy."""
    row = {"job": "train", "row": 0, "time": 1.0}
    held = holding.Held(row, "dcqcn", 0.1, "leaf0 -> H0", 0.5)
    bench = SimpleNamespace(run=lambda scenario: scenario)
    replaced = {
        "candidates": lambda _: [held],
        "uncontrolled": lambda _: free,
        "remedies": lambda *_: ["more"],
        "changed": lambda scenario, _: scenario,
        "_ended": lambda _: {"train": row},
        "_time": lambda *_: time,
    }
    for name, value in replaced.items():
        monkeypatch.setattr(holding, name, value)
    own: Any = SimpleNamespace(bench=bench, facts=SimpleNamespace(scenario=free.scenario), marking="red")
    assert bool(list(holding.held_back(own))) == named
    assert (holding._gained(own, "small buffer", "train", "train") is not None) == named


@pytest.mark.parametrize(
    ("left", "what"),
    [(0.481, "changes little"), (0.479, "helps"), (0.519, "changes little"), (0.521, "harms")],
)
def test_control_helps_if_it_saves_two_hundredths_of_other_traffic(left: float, what: str) -> None:
    """Without control, the incast takes half of all other traffic."""
    found = SimpleNamespace(
        rates={"managed": Rates(1.0, 1.0), "without": Rates(0.5, 1.0)}, lost=lambda _: left
    )
    assert f"congestion control {what}:" in WhatIf._helps(found, 0.5)  # type: ignore[arg-type]
