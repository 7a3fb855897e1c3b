"""Files of claims: their statements are judged, and mistakes in them are named."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from becalm.lab import claims, registry
from becalm.lab.discovery import find_measure
from becalm.lab.expect import expectation
from becalm.lab.model import Claim, Report, Statement, Tables
from becalm.lab.runner import judge

FILE = "papers/demo/claims.toml"
GOOD = """
[[fig1]]
id = "high"
quote = "the link has high utilization"
paper = "> 0.9"
at_least = 0.9
measure = "lab.tables.at"
args = { column = "root", buffer = 4 }
null = "off"
"""
PLAIN = GOOD.replace('null = "off"\n', "")
"""The same claim without a null, as a claim that is not scored has it."""
TABLES: Tables = {"points": pl.DataFrame({"buffer": [4, 8], "state": ["a", "a"], "root": [0.95, 0.8]})}


def load(text: str, other: str = GOOD, figures: tuple[str, ...] = ("fig1",)) -> list[Statement]:
    """Load claims of santos2002, with `other` as the file of claims for other papers."""

    def others(paper: str) -> claims.Source:
        return claims.read(paper, "other.toml", other)

    source = claims.read("santos2002", FILE, text)
    made = claims.statements(source, figures, find_measure, others)
    return [statement for figure in figures for statement in made[figure]]


def once(statement: Statement) -> Claim:
    """Judge a statement with one run."""
    return judge(statement, [1], [statement.measure(TABLES)])


def mistakes(text: str, **options: Any) -> list[str]:  # noqa: ANN401
    with pytest.raises(claims.ClaimsError) as caught:
        load(text, **options)
    return str(caught.value).splitlines()


def changed(line: str, new: str, text: str = GOOD) -> str:
    made = re.sub(rf"(?m)^{re.escape(line)}.*$", new, text)
    assert made != text
    return made


def test_a_claim_is_judged_as_its_file_says() -> None:
    (statement,) = load(GOOD)
    claim = once(statement)
    assert claim.to_json() == {
        "id": "high",
        "quote": "the link has high utilization",
        "paper": "> 0.9",
        "tolerance": ">= 0.9",
        "seeds": [1],
        "values": [0.95],
        "mean": 0.95,
        "interval": None,
        "verdict": "holds",
        "kind": "paper",
    }


def test_each_measures_every_combination() -> None:
    (statement,) = load(
        changed("args", 'args = { column = "root" }\neach = { state = ["a"], buffer = [8, 4] }')
    )
    claim = once(statement)
    assert claim.mean == [0.8, 0.95]
    assert not claim.holds


def test_remarks_are_passed_on_where_a_file_sets_them() -> None:
    said = {"kind": "identity", "class": "a", "proof": "demo/readings.md#why", "reading": "readings.md#all"}
    (statement,) = load(PLAIN + "".join(f'{key} = "{value}"\n' for key, value in said.items()))
    data = once(statement).to_json()
    assert {key: data[key] for key in said} == said
    assert Claim.from_json(data) == once(statement)


def test_a_derived_claim_has_a_note_in_place_of_a_quote() -> None:
    derived = changed("quote", 'kind = "derived"\nnote = "The link has C / N for each flow."', PLAIN)
    (statement,) = load(derived)
    claim = once(statement)
    assert (claim.kind, claim.quote, claim.sentence) == ("derived", "", "The link has C / N for each flow.")
    assert Report("demo/fig1", "A figure", [replace(claim, verdict="fails")]).fails
    assert mistakes(changed("quote", 'kind = "derived"', PLAIN)) == [f"{FILE}:2: fig1[0]: high: needs `note`"]
    (both,) = mistakes(PLAIN + 'kind = "derived"\nnote = "The link has C / N."\n')
    assert (
        both == f'{FILE}:2: fig1[0]: high: quote: not allowed with kind = "derived", which quotes no sentence'
    )


def test_a_repeated_claim_takes_what_it_does_not_say_from_the_other() -> None:
    other = GOOD + 'note = "Buffers of 4 slots."\n'
    repeated = '[[fig1]]\nid = "again"\nsame_as = "demo/fig1/high"\n'
    (same,) = load(repeated, other)
    (first,) = load(other)
    assert (same.id, same.quote, same.remarks, same.measure) == (
        "again",
        first.quote,
        first.remarks,
        first.measure,
    )
    (own,) = load(repeated + "within = 0.1\npaper = 0.7\n", other)
    assert own.expect.tolerance == "+-0.1"
    assert not once(own).holds


def test_papers_state_shared_sentences_once() -> None:
    by_id = {f"{item.id}/{statement.id}": statement for item in registry() for statement in item.statements}
    first, again = by_id["santos2002/fig3a/unfair"], by_id["santos2003/fig4a/unfair"]
    assert (first.quote, first.expect.tolerance) == (again.quote, again.expect.tolerance)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            changed("at_least", "at_lest = 0.9"),
            "fig1.0..at_lest: unknown key; valid: id, quote, .*at_least",
        ),
        (
            changed("measure", 'measure = "lab.tables.att"'),
            "fig1.0.: high: .*no such function; valid: along, among, at, axis, curve",
        ),
        (
            changed("measure", 'measure = "policy.at"'),
            "fig1.0.: high: .*no such module; .*buffers, events, flows, policies, ",
        ),
        (changed("measure", 'measure = "at"'), "fig1.0.: high: .*no such function; valid: buffers., "),
        (changed("measure", 'measure = "lab.tables.labelled"'), "fig1.0.: high: .*no such function"),
        (changed("args", "args = { colum = 4 }"), "fig1.0.: high: .*missing a required argument: 'column'"),
        (changed("args", "args = 4"), "fig1.0..args = 4: must be a table"),
        (
            changed("args", 'args = { column = "root" }\neach = { buffer = 4 }'),
            "fig1.0..each.buffer = 4: must be a list",
        ),
        (
            changed("at_least", ""),
            "fig1.0.: high: nothing: not an expectation; valid: within; at_least and within|.*",
        ),
        (
            changed("at_least", "at_least = 0.9\nincreasing = true"),
            "high: at_least and increasing: not an exp",
        ),
        (changed("at_least", "increasing = 1"), "fig1.0.: high: increasing = 1: can only be true"),
        (changed("at_least", 'at_least = "0.9"'), "fig1.0.: high: at_least = '0.9': must be a number"),
        (changed("at_least", "within = 0.1"), "fig1.0.: high: within: paper = '> 0.9' is not a number"),
        (changed("quote", ""), "fig1.0.: high: needs `quote`"),
        (changed("paper", "paper = true"), "fig1.0..paper = true: must be a number or a string"),
        (GOOD + "drawn.where = 1", "fig1.0..drawn.where: unknown key; valid: panel, over, along, like"),
        (GOOD + "drawn.panel = -1", "drawn.panel.0. = -1: out of range; valid: a number from 0, or a list"),
        (GOOD + "drawn.over = [3, 1]", "drawn.over = .3, 1.: starts at or above its end"),
        (GOOD + 'drawn.along = "z"', 'drawn.along = "z": unknown; valid: x, y'),
        (GOOD + "drawn.like = 3", "drawn.like = 3: must be a string; valid: the label of a curve"),
        (GOOD + "short = 0", "fig1.0..short = 0: must be true or false"),
        (GOOD + "note = 3", "fig1.0..note = 3: must be a string"),
        (
            GOOD + 'kind = "mine"',
            'fig1.0..kind = "mine": unknown; valid: paper, ours, repeated, identity',
        ),
        (PLAIN, "high: needs `null`; valid: off, random, every, a table, 'none: ' and a reason"),
        (PLAIN + 'null = "of"', "high: null = 'of': no such change; valid: off, random, every, a table"),
        (PLAIN + "null = 3", "fig1.0..null = 3: must be the name of a change"),
        (PLAIN + 'null = "none: "', "fig1.0..null = .*: must be the name of a change"),
        (GOOD + 'kind = "ours"', "high: null: only for claims that are scored"),
        (GOOD + 'theme = "all"', 'theme = "all": unknown; valid: feedback, window, fairness, parameters'),
        (changed("at_least", "strict = true"), "high: strict: not an expectation"),
        (GOOD + 'class = "d"', 'fig1.0..class = "d": unknown; valid: a, b, c, metric, noise'),
        (GOOD + 'proof = "why.md"', 'fig1.0..proof = "why.md": wrong form; valid: a page and a heading'),
        (GOOD + 'reading = "#all"', 'fig1.0..reading = "#all": wrong form; valid: a page and a heading'),
        (
            changed("at_least", 'within = "men"').replace('"> 0.9"', "0.9"),
            "fig1.0.: high: within = 'men': no such rule; valid: a number, mean, digit, about",
        ),
        (GOOD + GOOD, "fig1.1..id = .high.: a second claim with this id"),
        (changed("id", ""), "fig1.0..id: is missing; valid: a string"),
        (GOOD.replace("[[fig1]]", "[[fig9]]"), "fig9: no such figure; valid: fig1"),
        (GOOD.replace("[[fig1]]", "[fig1]"), r"fig1: must be tables of claims; valid: \[\[fig1\]\]"),
        ("", "fig1: has no claim"),
        (
            GOOD + 'same_as = "demo/fig7/high"',
            "high: same_as = 'demo/fig7/high': no such figure; valid: fig1",
        ),
        (GOOD + 'same_as = "demo/fig1/low"', "high: same_as = 'demo/fig1/low': no such claim; valid: high"),
    ],
)
def test_mistakes_name_file_figure_claim_and_what_is_valid(text: str, message: str) -> None:
    found = mistakes(text)
    assert any(re.match(rf"{FILE}(:\d+)?: .*{message}", line) for line in found), found


def test_a_claim_cannot_repeat_one_that_repeats() -> None:
    chain = '[[fig1]]\nid = "again"\nsame_as = "demo/fig1/high"\n'
    assert (
        "repeats another claim; name 'demo/fig1/high'"
        in mistakes(chain.replace("high", "again"), other=chain)[0]
    )


def test_a_file_that_is_no_toml_is_named() -> None:
    with pytest.raises(claims.ClaimsError, match=rf"{FILE}:2: not valid TOML"):
        load("\nfig1 = ?")


def test_all_mistakes_come_at_once() -> None:
    text = changed("at_least", "at_lest = 0.9") + GOOD.replace('"high"', '"other"').replace(
        "lab.tables.at", "lab.tables.no"
    )
    found = mistakes(text, figures=("fig1", "fig2"))
    assert [line.removeprefix(FILE).split(": ")[:2] for line in found] == [
        ["", "fig2"],
        [":6", "fig1[0].at_lest"],
        [":11", "fig1[1]"],
    ]


def test_an_expectation_that_no_claim_has() -> None:
    assert expectation({"zero_but_last": True}, "").test([0, 0, 1])
    assert not expectation({"zero_but_last": True}, "").test([0, 1, 1])
    assert expectation({"peak_at_least": 0.9}, "").test([0.5, 0.95, 0.8])
    assert not expectation({"peak_at_least": 0.9}, "").test([0.99, 0.95, 0.8])
    assert expectation({"within": 0.1, "of": 2}, "2").test([2.05])
    assert expectation({"at_least": 5, "at_most": 10}, "").tolerance == "5 to 10"
    assert expectation({"decreasing": True, "slack": 0.1}, "").test([3, 3.05, 1])
    # Equal values, or a fall within the slack, are no order.
    assert not expectation({"decreasing": True, "slack": 0.1}, "").test([3, 3, 3])
    assert not expectation({"decreasing": True, "slack": 0.1}, "").test([3, 3.05, 2.95])


@pytest.mark.parametrize(
    ("paper", "rule", "tolerance"),
    [
        (14.3, "mean", 0.715),
        (15.5, "digit", 0.05),
        (3, "digit", 0.5),
        ("0.50", "digit", 0.005),
        (50000, "about", 5000),
    ],
)
def test_tolerances_follow_from_the_kind_of_number(paper: float | str, rule: str, tolerance: float) -> None:
    made = expectation({"within": rule}, paper)
    assert made.tolerance.startswith(f"+-{tolerance:g} (")
    assert made.test([float(paper) + 0.999 * tolerance])
    assert not made.test([float(paper) - 1.001 * tolerance])
