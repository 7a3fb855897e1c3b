"""Nulls of claims: their changes, weak claims, and claims that form one sentence."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import pytest

from becalm import Scenario
from becalm.base import jsons
from becalm.lab import Claim, Experiment, Report, registry, reproduce
from becalm.lab.expect import at_least, expectation
from becalm.lab.model import Against, Null, Point, Remarks, Statement, Tables
from becalm.lab.nulls import NONE, changed, mark, off, respond
from becalm.lab.runner import judge
from becalm.lab.text import against, score, sentences, standings

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

import planted

SCORED = [item for item in registry() if any(each.null for each in item.statements)]
FLOWS: list[dict[str, Any]] = [
    {"name": "f", "from": ["A1"], "to": ["BC"], "response": {"fimd": {}}},
    {"name": "g", "from": ["B1"], "to": ["BC"]},
]
SCENE: dict[str, Any] = {
    "run": {"duration": "100 us"},
    "topology": {"dumbbell": {}},
    "switch": {"buffer": "4 packets"},
    "marking": {"naive": {}},
    "response": {"lipd": {}},
    "flows": FLOWS,
}


def _stated(null: Null | None, bound: float = 0.0) -> Statement:
    return Statement("value", "a quote", "> 0", lambda _: 1.0, at_least(bound), null=null)


def _claim(name: str, quote: str, verdict: str = "holds", null: str = "fails", kind: str = "paper") -> Claim:
    held = Against("off", 0.5, null) if null else None
    return Claim(name, quote, 1, [1], [1.0], "", verdict, Remarks(kind=kind), held)


@pytest.mark.parametrize("experiment", SCORED, ids=lambda experiment: experiment.id)
def test_a_null_changes_what_is_run_to_what_can_be_run(experiment: Experiment) -> None:
    nulls = {each.null.words: each.null for each in experiment.statements if each.null}
    for words, null in nulls.items():
        if null.change is None:
            continue
        before = [point.scenario for point in experiment.points(True)]
        after = [point.scenario for point in changed(experiment, null.change).points(True)]
        assert any(
            Scenario(one).hash != Scenario(other).hash for one, other in zip(before, after, strict=True)
        ), words


def test_all_scored_claims_have_a_null_or_a_reason() -> None:
    for item in registry():
        for each in item.statements:
            assert (each.null is not None) == (each.remarks.kind == "paper"), each.id
            if each.null and not each.null.is_run:
                assert each.null.words.startswith(NONE) and len(each.null.words.split()) > 3


def test_more_than_is_strict() -> None:
    assert not expectation({"at_least": 0, "strict": True}, "").test([0.0])
    assert not expectation({"at_most": 1, "strict": True}, "").test([1.0])
    assert expectation({"at_least": 0}, "").test([0.0])
    for item in registry():
        for each in item.statements:
            words = str(each.paper).split()
            if each.null and len(words) == 2 and words[0] in "<>" and words[1] == "0" and each.expect.region:
                bounds = (each.expect.region.low, each.expect.region.high)
                if 0 in bounds:
                    assert each.expect.tolerance.startswith((">", "<")) and "=" not in each.expect.tolerance


def test_off_takes_marks_and_responses_away() -> None:
    assert off()(SCENE)["marking"] == {"none": {}} and off()(SCENE)["flows"] == FLOWS
    assert [each for each in respond({"aimd": {}})(SCENE)["flows"] if "response" in each] == []
    assert off(1)(SCENE)["response"] == {"none": {"window": 1}}
    assert SCENE["marking"] == {"naive": {}} and FLOWS[0]["response"] == {"fimd": {}}


@pytest.mark.parametrize(
    ("null", "standing", "words"),
    [
        ([0.5, 0.5], "weak", "off: 0.5 holds"),
        ([-0.5, -0.5], "holds", "off: -0.5 fails"),
        ([-0.5, 0.9], "weak", "off: 0.2 holds"),
        ([0.5, -0.9], "holds", "off: -0.2 fails"),
        ([math.nan, 0.5], "holds", "off: nan fails"),
        ([None, None], "holds", ""),
    ],
)
def test_a_claim_that_holds_as_its_null_does_is_weak(
    null: list[float | None], standing: str, words: str
) -> None:
    claim = judge(_stated(Null("off", off())), [1, 2], [1.0, 1.0], null)
    assert (claim.verdict, claim.standing, against(claim)) == ("holds", standing, words)
    assert Claim.from_json(claim.to_json()).standing == standing
    failing = judge(_stated(Null("off", off()), 2.0), [1, 2], [1.0, 1.0], null)
    assert failing.standing == "fails"


def test_the_null_is_run_with_the_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    def marked(tables: Tables, name: str = "one") -> float:
        return float(tables[name]["marked"].sum())

    every = Null("every", mark({"random": {"probability": 1.0}}))
    other = Null("name = two", measure=lambda tables: marked(tables, "two"))
    statements = tuple(
        Statement(null.words, "a quote", "> 0", marked, at_least(1), null=null)
        for null in (every, other, Null("none: a reason"))
    )
    scenes = {"one": SCENE, "two": off(1)(SCENE)}
    experiment = Experiment(
        "santos2003/fig2",
        "a scene",
        1,
        points=lambda _: [Point({"name": name}, scene) for name, scene in scenes.items()],
        draw=lambda _: pytest.fail("nothing is drawn"),
        measure=lambda outcomes: {str(each.labels["name"]): each.results.flows for each in outcomes},
        statements=statements,
        phase="",
    )
    monkeypatch.setattr("becalm.lab.reports.select", lambda _: [experiment])
    shown: list[int] = []
    (report,) = reproduce(threads=1, seeds=2, progress=lambda now: shown.append(now.points))
    found = {claim.id: claim.null for claim in report.claims}
    assert found["name = two"] == Against("name = two", 0.0, "fails")
    assert found["none: a reason"] == Against("none: a reason")
    null = found["every"]
    assert null and isinstance(null.mean, float) and null.mean > 10 and null.verdict == "holds"
    # Two points, each also with every packet marked, with two seeds.
    assert len(shown) == shown[-1] == 8
    (short,) = reproduce(threads=1, short=True)
    assert [claim.null for claim in short.claims if claim.id == "every"] == [None]


def test_claims_of_one_quote_are_one_sentence_judged_by_its_worst() -> None:
    report = Report(
        "p/f",
        "t",
        [
            _claim("a", "the link is used"),
            _claim("b", "at first  the link is\n used, and then not", "undecided"),
            _claim("c", "another sentence", null="holds"),
            _claim("d", "a third one", null=""),
            _claim("e", "a third one", "fails", kind="ours"),
        ],
    )
    other = Report("q/f", "t", [_claim("a", "the link is used", "fails")])
    found = sentences([report, other])
    assert [(len(each.claims), each.standing) for each in found] == [
        (2, "undecided"),
        (1, "weak"),
        (1, "holds"),
        (1, "fails"),
    ]
    assert standings([report]) == {"holds": 1, "weak": 1, "undecided": 1, "fails": 0}
    assert score([report]).startswith("1 of 3 sentences of the paper hold, 1 weak, 1 undecided, 0 fail; not")


def test_a_planted_mechanism_is_noticed_and_an_unchanged_scene_is_not() -> None:
    names = {plant.name: plant for plant in planted.PLANTS}
    assert len(names) >= 10
    found = list(planted.noticed(names["round robin for oldest first"]))
    assert found == ["victim_share", "inter_switch_share"]
    assert list(planted.noticed(planted.Plant("nothing", "santos2002/fig2", lambda scenario: scenario))) == []
    assert planted.within("a", "b", to=lambda _: 2)({"a": {"b": 1, "c": 3}}) == {"a": {"b": 2, "c": 3}}
    assert planted.within("a", "b", to=lambda _: 2)({"a": {}}) == {"a": {}}


@pytest.mark.parametrize(
    "held",
    [Against("off", math.nan, "fails"), Against("off", [math.nan, 2.0], "fails"), Against("none: why")],
)
def test_a_null_without_its_subject_stays_one_in_files(held: Against) -> None:
    again = Against.from_json(json.loads(jsons.dumps(held.to_json())))
    assert repr(again) == repr(held)
