"""becalm and other simulators: entries are complete, verdicts match the page, errors are detected."""

import dataclasses
import json
import math
import re
from pathlib import Path

import pytest

from becalm import crosscheck
from becalm.base.errors import BecalmError, FabricError
from becalm.crosscheck import run
from becalm.crosscheck.entry import KINDS, Case, Quantity, same_distribution
from becalm.crosscheck.run import judge
from becalm.scenario import Scenario

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
ENTRIES = [crosscheck.find(name) for name in crosscheck.names()]
SHORT = [entry for entry in ENTRIES if entry.short]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_entries_are_whole(entry: crosscheck.Entry) -> None:
    for case in entry.cases:
        entry.scenario(case)
        assert case.values
        assert set(case.spread) <= set(case.values)
    assert (entry.folder / "README.md").read_text().startswith("# ")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", entry.program.made)
    assert not entry.program.again or (ROOT / entry.program.again).is_file()
    assert set(entry.picture.quantities) <= set(entry.quantities)


def test_the_page_is_that_of_the_verdicts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools" / "crosscheck"))
    import pages

    found = pages.kept()
    assert {each.entry.name for each in found} == set(crosscheck.names())
    assert (DOCS / "crosschecks.md").read_text() == pages.page(found)


def test_the_page_on_validation_has_the_numbers_of_all_verdicts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import validation

    found = validation.read()
    programs = found["programs"]
    agree = sum(row["agrees"] for row in programs)
    assert f"{agree} agree within tolerances" in " ".join(validation.page(found).split())
    assert json.loads((DOCS / "validation.json").read_text()) == found
    # The page must change if a quantity no longer agrees.
    first = next(row for row in programs if row["agrees"])
    first |= {"agrees": False, "why": ""}
    assert f"{agree - 1} agree within tolerances" in " ".join(validation.page(found).split())


@pytest.fixture(scope="module")
def short() -> list[crosscheck.Checked]:
    return crosscheck.check(short=True)


def test_short_entries_give_the_verdicts_of_the_page(short: list[crosscheck.Checked]) -> None:
    output = {
        each["entry"]: each for each in json.loads((DOCS / "crosschecks" / "verdicts.json").read_text())
    }
    assert [each.entry.name for each in short] == [entry.name for entry in SHORT]
    for each in short:
        before = {(one["case"], one["key"]): one for one in output[each.entry.name]["quantities"]}
        for found in each.quantities:
            assert found.agrees == before[found.case, found.key]["agrees"], (each.entry.name, found)
        assert each.unexplained == []


@pytest.mark.parametrize("found", [True, False])
def test_verdicts(found: bool) -> None:
    kind = KINDS["deterministic"]
    quantity = Quantity("end", "end", "job_time", kind)
    case = Case("one", {"end": 100.0}, {}, "scenario.toml", 2, {}, {"end": "a rule"}, {})
    judged = judge(case, quantity, [100.5, 101.4 if found else 101.7])
    assert judged.agrees is found
    assert run.verdict(judged) == (run.AGREES if found else run.EXPLAINED)
    assert judged.range == pytest.approx(0.45 if found else 0.6)


def test_distributions_are_distinct() -> None:
    one = [k / 100 for k in range(100)]
    assert same_distribution(one, [k / 100 + 0.002 for k in range(100)]) > 0.99
    assert same_distribution(one, [k / 100 + 0.3 for k in range(100)]) < 1e-3
    # Two samples of 100 whose distributions differ by at most 0.192: 5%.
    assert math.isclose(same_distribution(one, [k / 100 + 0.19 for k in range(100)]), 0.05, abs_tol=0.02)
    # Ten samples each, half of them apart: x = (5^0.5 + 0.12 + 0.11 / 5^0.5) / 2, and p = 2 exp(-2 x^2).
    assert math.isclose(same_distribution(range(10), range(5, 15)), 0.1108, abs_tol=5e-4)


def planted(name: str, changes: dict[str, object], only: str = "") -> list[str]:
    """Return quantities of an entry that agree, but do not agree with an error planted in becalm."""
    whole = crosscheck.find(name)
    entry = dataclasses.replace(whole, cases=tuple(case for case in whole.cases if only in case.name))

    def wrong(scenario: Scenario) -> Scenario:
        return scenario.replace(changes)

    (right,), (bad,) = crosscheck.check([entry]), crosscheck.check([entry], changed=wrong)
    pairs = zip(right.quantities, bad.quantities, strict=True)
    return [f"{one.case}, {one.name}" for one, other in pairs if one.agrees and not other.agrees]


@pytest.mark.parametrize("timer", ["270 us", "330 us"])
def test_a_timer_of_dcqcn_that_is_off_by_a_tenth_is_noticed(timer: str) -> None:
    assert planted("roce-dcqcn", {"response.dcqcn.increase_timer": timer}, "whole nanoseconds")


def test_goal_schedules_say_that_messages_take_turns() -> None:
    entry = crosscheck.find("loggopsim")
    posted = entry.scenario(entry.cases[0])
    turns = posted.data()
    del turns["adapter"]["injection"]
    said = Scenario(turns, name=str(entry.folder / "turns.toml")).warnings
    assert not posted.warnings
    assert ["in the order of posting" in each for each in said] == [True]


def test_late_pauses_are_noticed() -> None:
    assert planted("roce-incast", {"switch.flow_control.pfc.delay": "100 ns"})


def test_a_pause_that_takes_twice_as_long_is_noticed() -> None:
    # Default worst case at 100 Gb/s: a packet of 9100 B, a frame of 84 B, 394 quanta of 64 B.
    delay = (9100 + 84 + 394 * 64) * 8 / 100
    only = "100 Gb/s"
    assert not planted("sonic-headroom", {"switch.flow_control.pfc.delay": f"{delay:.0f} ns"}, only)
    assert len(planted("sonic-headroom", {"switch.flow_control.pfc.delay": f"{2 * delay:.0f} ns"}, only)) == 3


def test_a_lane_that_is_missing_is_noticed() -> None:
    one: dict[str, object] = {
        "switch.vls": 3,
        "topology.torus.change_vls": False,
        "topology.torus.allow_cycles": True,
    }
    with pytest.raises(FabricError, match="deadlock"):
        planted("booksim-torus", one, "ring of 8, tornado, load 1.0")


@pytest.mark.parametrize(
    ("name", "changes", "only"),
    [
        ("closed-priorities", {"switch.vl_arbitration": {"round_robin": {}}}, "0.5 and 0.3"),
        ("closed-batches", {"switch.service": {"uniform": 0.9}}, "batches of 1, load 0.8"),
        ("closed-vl-limits", {"switch.vl_arbitration.tables.limit": 5}, "limit 4"),
        ("closed-credit-loops", {"switch.forwarding_delay": "80 ns"}, "4 packets"),
        ("closed-deadlocks", {"switch.arbiter": {"round_robin": {}}}, "ring of 8, 2 on, one"),
        ("closed-hol-blocking", {"switch.queueing": "voq"}, "2 ports"),
    ],
)
def test_wrong_rules_do_not_have_closed_forms(name: str, changes: dict[str, object], only: str) -> None:
    assert planted(name, changes, only)


def test_unknown_entries_are_named() -> None:
    with pytest.raises(BecalmError, match=r"`nothing`: no such entry; valid: .*loggopsim"):
        crosscheck.find("nothing")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('kind = "near"', "quantities.end.kind = 'near'; valid: equal"),
        ('measure = "ends"', "quantities.end.measure = 'ends'; valid: completion_mean"),
        ('unit = "furlongs"', "quantities.end.unit = 'furlongs'; valid: s"),
    ],
)
def test_mistakes_in_entries_are_named(tmp_path: Path, line: str, message: str) -> None:
    text = (ROOT / "crosschecks" / "astra-analytical" / "reference.toml").read_text()
    key = line.partition(" ")[0]
    wrong = re.sub(rf"^{key} = .*$", line, text, count=1, flags=re.MULTILINE).replace("scale = 1e-6", "")
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "reference.toml").write_text(wrong)
    with pytest.raises(BecalmError, match=re.escape(message)):
        crosscheck.find("one", tmp_path)


@pytest.mark.parametrize("name", crosscheck.names())
def test_a_picture_shows_quantities_of_one_kind(name: str) -> None:
    entry = crosscheck.find(name)
    kinds = {entry.quantities[key].kind.name == "distribution" for key in entry.picture.quantities}
    assert len(kinds) == 1
    if kinds == {False}:
        assert any(case.x is not None for case in entry.cases)
