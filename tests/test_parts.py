"""Contributors and victims are consistent in planted scenes, and all readers use the tables."""

from __future__ import annotations

import json
import math
import zlib
from typing import Any

import polars as pl
import pytest

import becalm
from becalm import comparison
from becalm.analysis.case import Case
from becalm.analysis.facts import Facts
from becalm.plot.fabric import _victims
from becalm.reports.page import payload
from becalm.results import Results
from becalm.whatif.incast import GROUP, whatif

DUMBBELL = {
    "run": {"duration": "3 ms", "warmup": "500 us"},
    "topology": {"dumbbell": {"remote": 5, "local": 5}},
    "switch": {"arbiter": {"round_robin": {}}},
}
HOT = [
    {"name": "local", "from": ["B1..B5"], "to": ["BC"]},
    {"name": "remote", "from": ["A1..A5"], "to": ["BC"]},
]
STAR = {
    "edges": {
        "hosts": ["G1..G5", "F", "L1..L5", "M1..M2", "X", "Y"],
        "switches": ["S", "T"],
        "cables": [
            {"between": ["G1..G5", "S"]},
            {"between": ["F", "S"]},
            {"between": ["S", "T"]},
            {"between": ["L1..L5", "T"]},
            {"between": ["M1..M2", "T"]},
            {"between": ["X", "T"]},
            {"between": ["Y", "T"]},
        ],
    }
}


def poisson(load: float) -> dict[str, Any]:
    return {"poisson": {"load": load}}


SCENES: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "contributors, a victim and others": (
        {
            **DUMBBELL,
            "flows": [
                *HOT,
                {"name": "victim", "from": ["AV"], "to": ["BV"], "traffic": poisson(0.5)},
                {"name": "other", "from": ["BC"], "to": ["B1"], "traffic": poisson(0.5)},
            ],
        },
        {"local": "contributor", "remote": "contributor", "victim": "victim", "other": "none"},
    ),
    "a greedy victim": (
        {**DUMBBELL, "flows": [*HOT, {"name": "victim", "from": ["AV"], "to": ["BV"]}]},
        {"local": "contributor", "remote": "contributor", "victim": "victim"},
    ),
    "a victim whose load changes after the congestion": (
        {
            **DUMBBELL,
            "flows": [
                *({**group, "stop": "2400 us"} for group in HOT),
                {
                    "name": "victim",
                    "from": ["AV"],
                    "to": ["BV"],
                    "traffic": {"poisson": {"load": 0.5, "changes": [{"at": "2900 us", "load": 0.4}]}},
                },
            ],
        },
        {"local": "contributor", "remote": "contributor", "victim": "victim"},
    ),
    "a greedy flow with its fair share": (
        {**DUMBBELL, "flows": [HOT[0], {"name": "apart", "from": ["AV"], "to": ["BV"]}]},
        {"local": "contributor", "apart": "none"},
    ),
    "a victim of its own link": (
        {
            **DUMBBELL,
            "flows": [*HOT, {"name": "victim", "from": ["A1"], "to": ["BV"], "traffic": poisson(0.3)}],
        },
        {"local": "contributor", "remote": "contributor", "victim": "victim"},
    ),
    "both": (
        {
            "run": {"duration": "3 ms", "warmup": "500 us"},
            "topology": STAR,
            "switch": {"arbiter": {"round_robin": {}}},
            "flows": [
                {"name": "behind", "from": ["G1..G5"], "to": ["X"]},
                {"name": "at X", "from": ["L1..L5"], "to": ["X"]},
                {"name": "at Y", "from": ["M1..M2"], "to": ["Y"]},
                {"name": "both", "from": ["F"], "to": ["Y"]},
            ],
        },
        {"behind": "contributor", "at X": "contributor", "at Y": "contributor", "both": "both"},
    ),
    "a greedy flow over several paths": (
        {
            "run": {"duration": "2 ms", "warmup": "500 us"},
            "topology": {"clos": {"leaves": 3, "spines": 2, "hosts_per_leaf": 4}},
            "switch": {"paths": {"packet": {}}},
            "flows": [
                {"name": "hot", "from": ["H4..H6", "H8..H11"], "to": ["H0"]},
                {"name": "sprayed", "from": ["H7"], "to": ["H1"]},
                {"name": "offered", "from": ["H7"], "to": ["H2"], "traffic": poisson(0.2)},
            ],
        },
        {"hot": "contributor", "sprayed": "none", "offered": "victim"},
    ),
    "jobs": (
        {
            **DUMBBELL,
            "flows": [
                HOT[0],
                {"name": "victim", "from": ["AV"], "to": ["BV"], "traffic": poisson(0.5)},
            ],
            "jobs": [
                {
                    "name": "training",
                    "hosts": ["BC", "A1..A5"],
                    "collective": {"all_to_all": {"bytes": "4 MiB"}},
                }
            ],
        },
        {"local": "contributor", "victim": "victim"},
    ),
}


def run(name: str) -> Results:
    return becalm.run(becalm.Scenario(SCENES[name][0], name=name), threads=1)


@pytest.fixture(scope="module", params=list(SCENES))
def planted(request: pytest.FixtureRequest) -> tuple[str, Results]:
    """A planted scene and its results."""
    return request.param, run(request.param)


def hurt(results: Results) -> pl.DataFrame:
    """Return the victim flows."""
    return results.flows.filter(pl.col("role").is_in(["victim", "both"]))


def test_the_table_has_the_roles_that_were_planted(planted: tuple[str, Results]) -> None:
    name, results = planted
    for group, role in SCENES[name][1].items():
        own = results.flows.filter(pl.col("group") == group)
        assert set(own["role"]) == {role}, (group, own)
        lost = own["lost"].to_list()
        if role in ("victim", "both"):
            assert all(0 < each <= offered for each, offered in zip(lost, own["offered"], strict=True))
        elif role == "contributor":
            assert set(lost) == {0.0}


def test_what_cannot_be_known_is_not_said() -> None:
    flows = run("a greedy flow over several paths").flows
    assert math.isnan(flows.filter(pl.col("group") == "sprayed")["lost"][0])


def test_a_host_that_is_both_is_named_apart() -> None:
    results = run("a victim of its own link")
    assert hurt(results)["own_link"].to_list() == [1]
    assert hurt(run("a greedy victim"))["own_link"].to_list() == [0]
    assert results.victims.filter(pl.col("own_link") > 0)["host"].to_list() == ["A1"]


def test_flows_of_jobs_count() -> None:
    results = run("jobs")
    training = results.flows.filter(pl.col("group") == "training")
    into = training.filter(pl.col("destination") == "BC")
    active = into.filter((pl.col("rate") > 0) | (pl.col("offered") > 0))
    assert set(active["role"]) <= {"contributor", "both"} and active.height > 0
    assert "BC" in str(becalm.explain(results))


def test_sums_are_those_of_the_flows(planted: tuple[str, Results]) -> None:
    _, results = planted
    suffers, takes_part = (
        pl.col("role").is_in([role, "both"]).sum().cast(pl.UInt64) for role in ("victim", "contributor")
    )
    lost = pl.col("lost").filter(pl.col("role").is_in(["victim", "both"])).sum()
    for table, keys in ((results.groups, ["group"]), (results.victims, ["group", "host"])):
        flows = results.flows.rename({"source": "host"}).group_by(keys, maintain_order=True)
        sums = flows.agg(contributors=takes_part, victims=suffers, lost=lost).sort(keys)
        found = table.select(*keys, "contributors", "victims", "lost").sort(keys)
        assert found.drop("lost").equals(sums.select(found.columns).drop("lost"))
        assert found["lost"].to_list() == pytest.approx(sums["lost"].to_list())


def readers(results: Results) -> dict[str, set[Any]]:
    """Return the sources of victims according to each reader."""
    case = Case(Facts(results, 0))
    (page,) = (each for each in runs(results)[0]["tables"] if each["name"] == "victims")
    said = becalm.explain(results).about("victims")
    return {
        "explain": {case.facts.flows.source[flow] for flow in case.victims},
        "page": {row[0] for row in page["rows"]},
        "plot": _victims(results.victims),
        "sentences": {sum(each.numbers["flows"] for each in said if each.rule == "victims")},
    }


def test_all_readers_name_the_same_flows(planted: tuple[str, Results]) -> None:
    _, results = planted
    sources = set(hurt(results)["source"])
    numbers = {hurt(results).height} if sources else {0}
    assert readers(results) == {"explain": sources, "page": sources, "plot": sources, "sentences": numbers}


def runs(results: Results) -> list[dict[str, Any]]:
    """Return a page's data for each replication."""
    whole = zlib.decompress(payload(results), -zlib.MAX_WBITS)
    found: list[dict[str, Any]] = json.loads(whole[8 : 8 + int.from_bytes(whole[:8], "little")])["runs"]
    return found


def test_a_page_counts_the_roots_that_explain_names(planted: tuple[str, Results]) -> None:
    _, results = planted
    (page,) = runs(results)
    roots = [each.link for each in Case(Facts(results, 0)).bottlenecks if each.root]
    assert page["roles"]["roots"] == len(roots)
    if roots:
        assert page["roles"]["first"]["link"] == roots[0]


def test_the_foremost_root_of_each_replication_is_the_one_that_explain_names_first() -> None:
    """With two hot spots on one lane, victims lose most to the shorter hot spot."""
    longest = []
    for vls in (1, 2):
        flows = [
            {"name": "long", "from": ["H0..H1"], "to": ["H2"]},
            {"name": "wide", "from": ["H8..H15"], "to": ["H20"], "start": "150 us", "sl": vls - 1},
            {
                "name": "work",
                "from": ["*"],
                "pattern": {"permutation": {}},
                "traffic": poisson(0.4),
            },
        ]
        fabric = {"clos": {"leaves": 6, "spines": 2, "hosts_per_leaf": 4}}
        switch = {"buffer": "16 KiB", "vls": vls}
        scene = {"run": {"duration": "500 us", "replications": 3}, "topology": fabric, "switch": switch}
        results = becalm.run(becalm.Scenario({**scene, "flows": flows}))
        for number, page in enumerate(runs(results)):
            found = [each for each in Case(Facts(results, number)).bottlenecks if each.root]
            assert page["roles"]["first"]["link"] == found[0].link
            assert page["roles"]["roots"] == len(found) > 1
            times = Case(Facts(results, number)).facts.links.root
            longest.append(max(times[each.link] for each in found) > times[found[0].link])
    assert any(longest)


def test_readers_believe_the_tables() -> None:
    """Readers name the victim in changed tables; a reader with its own count would name the run's victim."""
    results = run("contributors, a victim and others")
    other = pl.col("group") == "other"
    role = pl.when(other).then(pl.lit("victim")).when(pl.col("role") == "victim").then(pl.lit("none"))
    flows = results.flows.with_columns(role=role.otherwise(pl.col("role")))
    accounts = results.victims.with_columns(victims=other.cast(pl.UInt64))
    tables = {**results.tables, "flows": flows, "victims": accounts}
    message = Results(results.scenario, results.replications, tables, results.units, results.origin)
    assert readers(message) == {"explain": {"BC"}, "page": {"BC"}, "plot": {"BC"}, "sentences": {1}}


def test_whatif_names_the_victims_of_its_run_without_control() -> None:
    flows = [
        {"name": "victim", "from": ["AV"], "to": ["BV"], "traffic": poisson(0.5)},
        {"name": "other", "from": ["BC"], "to": ["B1"], "traffic": poisson(0.3)},
    ]
    scenario = becalm.Scenario({**DUMBBELL, "flows": flows})
    found = whatif(scenario, "BC", lambda given, _: given, control_name="none", contributors=10)
    incast = {"name": GROUP, "from": found.sources, "to": ["BC"], "traffic": {"greedy": {}}}
    again = becalm.run(scenario.replace({"flows": [*flows, incast]}), threads=1)
    victims = hurt(again).select("source", "destination").rows()
    assert [(each.source, each.destination) for each in found.victims] == victims
    assert ("AV", "BV") in victims and found.victims[0].lost_to_incast > 0.1


@pytest.mark.parametrize("name", ["dumbbell", "hot spot", "incast"])
def test_what_compare_calls_contributors_and_background_has_these_roles(name: str) -> None:
    """Without control, groups in a scene of `compare` have the roles that the scene states."""
    (scene,) = (each for each in comparison.chosen_scenes() if each.name == name)
    data = {**scene.data, "flows": [_without_restart(each) for each in scene.data["flows"]]}
    flows = becalm.run(becalm.Scenario(data, name=name)).flows
    hot, background = (
        flows.filter(pl.col("group").is_in(groups)) for groups in (scene.contributors, scene.background)
    )
    assert set(hot["role"]) <= {"contributor", "both"} and hot.height > 0
    assert not set(background["role"]) & {"contributor", "both"}
    assert "victim" in set(background["role"])


def _without_restart(group: dict[str, Any]) -> dict[str, Any]:
    """Remove `restart`, which has no meaning with a constant response."""
    return {key: value for key, value in group.items() if key != "restart"}


@pytest.mark.parametrize("control", [{}, {"marking": {"input_triggered": {}}, "response": {"lipd": {}}}])
def test_without_control_is_one_thing(control: dict[str, Any]) -> None:
    own = {**HOT[0], "response": {"fixed": {"rate": 0.5}}}
    scenario = becalm.Scenario({**DUMBBELL, **control, "flows": [own, HOT[1]]})
    off = scenario.without_control()
    ((_, response),) = scenario.resolved["response"].items()
    window = {"response": {"none": {"window": response["window"]}}}
    assert off == becalm.Scenario({**DUMBBELL, **window, "flows": HOT})
    assert off.without_control() == off


def test_a_guideline_is_for_all_groups_alike(scenario: becalm.Scenario) -> None:
    managed = scenario.with_guideline("pfister2005", hot_spot_degree=4)
    assert {group["response"] for group in managed.resolved["flows"]} == {None}
    assert "ibta" in managed.resolved["response"]
    with pytest.raises(becalm.BecalmError, match="guideline `best`: unknown"):
        scenario.with_guideline("best")
