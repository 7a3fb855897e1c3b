"""Guidelines compared on a fabric."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import becalm
from becalm import manager
from becalm.base.quantities import seconds
from becalm.cli import app
from becalm.manager import unwind
from becalm.tunings.guidelines import Decision, _mixed, _worse
from becalm.tunings.population import Population, class_of
from becalm.tunings.sizes import sizes
from becalm.tunings.verdict import NOW, WITHOUT, Verdict, guideline_control
from test_tune import FABRIC


def test_a_table_unwinds_as_long_as_its_timer_takes() -> None:
    """127 entries, each after 10 units of 1.024 us."""
    fabric = becalm.Scenario(FABRIC)
    made = fabric.replace(guideline_control(fabric, 7, "pfister2005"))
    assert unwind(made) == pytest.approx(127 * 10 * 1.024e-6)
    assert unwind(made.replace({"response.ibta.ccti_limit": 50})) == pytest.approx(50 * 10 * 1.024e-6)


@pytest.mark.parametrize("rate", ["10 Gb/s", "25 Gb/s", "100 Gb/s"])
def test_a_becn_of_becalms_guideline_lasts_38_packet_times(rate: str) -> None:
    fabric = becalm.Scenario(FABRIC.replace("25 Gb/s", rate))
    made = manager.recommend(fabric, hot_spot_degree=7, guideline="becalm")
    values = {setting.key: setting.value for setting in made.settings}
    step = values["response.ibta.ccti_timer"] * 1.024e-6 / fabric.summary["packet_time"]
    assert values["response.ibta.ccti_increase"] * step == pytest.approx(38, abs=step / 2)
    # A step is 4.5 packet times, to the nearest unit of the timer, but at least one unit.
    unit = 1.024e-6 / fabric.summary["packet_time"]
    assert step == pytest.approx(max(4.5, unit), abs=unit / 2)


def second(rate: str, buffer: str, contributors: int, guideline: str = "becalm2") -> dict[str, Any]:
    """Return the settings of a guideline of becalm on 128 hosts, with packets of 2 kB."""
    topology = {"fat_tree": {"levels": [{"children": 16}, {"children": 8, "parents": 8}], "rate": rate}}
    flows = [{"name": "all", "from": ["H1"], "to": ["H2"]}]
    packet = {"mtu": "1980 B", "header": "20 B"}
    fabric = becalm.Scenario(
        {
            "run": {"duration": "1 us"},
            "topology": topology,
            "packet": packet,
            "switch": {"buffer": buffer},
            "flows": flows,
        }
    )
    made = manager.recommend(fabric, hot_spot_degree=contributors, guideline=guideline)
    return {setting.key.rpartition(".")[2]: setting.value for setting in made.settings}


@pytest.mark.parametrize(
    ("buffer", "threshold"),
    # Four packets are 4/16, 6.4/16 and more than 15/16 of the buffer; three would be 3/16 and 4.8/16.
    [("32 kB", 12), ("20 kB", 10), ("8 kB", 1)],
)
def test_ports_of_the_first_guideline_mark_above_four_packets(buffer: str, threshold: int) -> None:
    found = second("25 Gb/s", buffer, 8, "becalm")
    assert (found["threshold"], found["marking_rate"]) == (threshold, 0)


@pytest.mark.parametrize(("contributors", "last"), [(2, 4.0), (3, 6.0), (40, 80.0)])
def test_a_table_of_the_first_guideline_ends_at_two_packet_times_per_contributor(
    contributors: int, last: float
) -> None:
    """It begins at a fifth of a packet time."""
    found = second("25 Gb/s", "64 kB", contributors, "becalm")
    first, packet = (seconds(found[key]) for key in ("first", "packet_time"))
    assert first / packet == pytest.approx(0.2)
    assert first / packet * found["ratio"] ** (found["entries"] - 2) == pytest.approx(last, rel=1e-4)


@pytest.mark.parametrize(
    ("rate", "contributors", "timer", "increase"),
    [
        # 54 packet times of 1.6 us: 8.3 packet times per step are 13 units, and 6.5 steps make 54.
        ("10 Gb/s", 8, 13, 6),
        ("10 Gb/s", 36, 13, 6),
        # From 37 contributors on, 1.5 packet times for each. 127: 190.5, and 29.3 of them per step.
        ("10 Gb/s", 127, 46, 6),
        ("10 Gb/s", 40, 14, 7),
        # One unit of the timer is 12.8 packet times of 80 ns, and 54 packet times are 4.2 units.
        ("200 Gb/s", 8, 1, 4),
    ],
)
def test_a_becn_of_the_second_guideline_lasts_54_packet_times_or_a_turn(
    rate: str, contributors: int, timer: int, increase: int
) -> None:
    found = second(rate, "64 kB", contributors)
    assert (found["ccti_timer"], found["ccti_increase"]) == (timer, increase)


@pytest.mark.parametrize(
    ("buffer", "threshold"),
    # Four packets and half a buffer are 10/16, 8.64/16, and 16/16, of which 14/16 is the limit.
    [("64 kB", 6), ("200 kB", 7), ("16 kB", 2)],
)
def test_ports_between_switches_mark_later_and_every_second_packet(buffer: str, threshold: int) -> None:
    found = second("25 Gb/s", buffer, 8)
    assert (found["threshold"], found["marking_rate"]) == (threshold, 0)
    assert found["overrides"] == [{"switches": ["*"], "ports": "switches", "threshold": 2, "marking_rate": 1}]


@pytest.mark.parametrize(("contributors", "few"), [(2, 125), (19, 119), (53, 116), (127, 114)])
def test_most_delays_of_a_fine_table_are_the_shares_of_few(contributors: int, few: int) -> None:
    """The others grow by about 1.45 to three packet times per contributor."""
    delays = [
        multiplier / 2**shift for shift, multiplier in second("25 Gb/s", "64 kB", contributors)["entries"]
    ]
    assert (len(delays), delays[0], delays[1]) == (128, 0.0, 0.5)
    assert delays == sorted(delays)
    assert sum(0.5 <= delay <= 2.5 for delay in delays) == few
    assert delays[-1] == 3 * contributors
    ratios = [later / earlier for earlier, later in zip(delays[few:], delays[few + 1 :], strict=False)]
    assert all(1.3 < ratio <= 1.6 for ratio in ratios)
    assert manager.fine(0.5, delays[-1]) == second("25 Gb/s", "64 kB", contributors)["entries"]


def test_the_part_for_opensm_has_no_ports_of_its_own() -> None:
    fabric = becalm.Scenario(FABRIC)
    whole, part = (
        {setting.key: setting.value for setting in manager.recommend(fabric, guideline=name).settings}
        for name in ("becalm2", "becalm2_opensm")
    )
    assert {**part, "marking.ibta.overrides": whole["marking.ibta.overrides"]} == whole


def decision(losses: dict[str, list[float]]) -> Decision:
    """Return a decision on cases with 2, 3, 4, ... contributors."""
    numbers = list(range(2, 2 + len(losses[WITHOUT])))
    measures = {
        row: [{"loss": loss, "starved": 2 * loss, "lost": 0.0, "victims": 0.0} for loss in own]
        for row, own in losses.items()
    }
    classes = ["2-4" if number <= 4 else "5-16" for number in numbers]
    return Decision(Verdict(losses, classes, measures), 16, numbers)


def test_a_guideline_must_be_better_than_the_fabric_as_it_is() -> None:
    free, good, near = [0.1, 0.11] * 6, [0.05, 0.06] * 6, [0.04, 0.16] * 6
    better = decision({WITHOUT: free, "becalm": good, "gran2010": near})
    assert (better.chosen, better.reason) == ("becalm", "")
    assert decision({WITHOUT: free, "becalm": near}).chosen is None
    assert "may be no better than no control" in decision({WITHOUT: free, "becalm": near}).reason
    assert decision({WITHOUT: good, "becalm": free}).reason == (
        "no congestion control has the smallest loss, 0.055"
    )
    assert decision({WITHOUT: free, NOW: good, "becalm": free}).reason == (
        "the present control has the smallest loss, 0.055"
    )
    assert "better than the present one" in decision({WITHOUT: good, NOW: free, "becalm": free}).reason
    assert decision({WITHOUT: good, "becalm": free, "gran2010": near}).best == "gran2010"


@pytest.mark.parametrize(("cases", "chosen"), [(11, None), (12, "becalm")])
def test_twelve_cases_can_decide(cases: int, chosen: str | None) -> None:
    found = decision({WITHOUT: [0.1] * cases, "becalm": [0.05] * cases})
    assert found.chosen == chosen
    assert found.reason == ("" if chosen else "11 cases are too few to decide; 12 need more --max-time")


@pytest.mark.parametrize(("spread", "dropped"), [(0.01, ["gran2010"]), (0.2, [])])
def test_only_what_is_certainly_worse_meets_no_more_cases(spread: float, dropped: list[str]) -> None:
    """No control is never dropped, and the best guideline has nothing to be compared with."""
    free, best = [0.9] * 6, [0.1] * 6
    worse = [0.15 + spread * (-1) ** place for place in range(6)]
    found = decision({WITHOUT: free, NOW: free, "becalm": best, "gran2010": worse}).verdict
    assert list(_worse(found)) == dropped


def test_effects_by_size() -> None:
    """Sizes are 2, 3 to 4, 5 to 8, 9 to 16, and so on, with the numbers that occur."""
    found = decision({WITHOUT: [0.1] * 15, "becalm": [place / 100 for place in range(15)]})
    numbers = [0, *found.numbers[1:]]
    made = sizes(found.verdict, numbers, "becalm")
    assert [(each.contributors, each.cases) for each in made] == [
        ("0", 1),
        ("3-4", 2),
        ("5-8", 4),
        ("9-16", 8),
    ]
    assert made[1].link == pytest.approx((0.8, 1 - 2 * 0.015))
    assert math.isnan(made[0].link[0])
    assert made[1].background == (1.0, 1.0)


def test_any_first_cases_have_all_numbers_of_contributors() -> None:
    fabric = becalm.Scenario(FABRIC)
    mixed = _mixed(Population(fabric).draw(24, 1))
    assert {case.name for case in mixed} == {case.name for case in Population(fabric).draw(24, 1)}
    assert {class_of(case) for case in mixed[:6]} == {"2-4", "5-16", "none"}


SWITCH = FABRIC.replace(
    "[topology.tree]\nports = 4\nlevels = 2",
    "[topology.clos]\nleaves = 1\nspines = 1\nhosts_per_leaf = 8",
)
"""Eight hosts on one switch, where an incast has no victims."""
OVERSUBSCRIBED = FABRIC.replace(
    '[topology.tree]\nports = 4\nlevels = 2\nrate = "25 Gb/s"\ndelay',
    '[topology.fat_tree]\nlevels = [{children = 6}, {children = 3, parents = 2}]\nrate = "25 Gb/s"\ndelay',
).replace("72 KiB", "48 KiB")
"""A tree of 18 hosts, with three hosts for each cable to the top."""


def managed(file: Path, *options: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["manage", str(file), *options], env={"COLUMNS": "180"})
    return done.exit_code, done.output


def test_manage_leaves_a_fabric_where_nothing_is_better(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("becalm.tunings.guidelines.CASES", 12)
    file, out = tmp_path / "fabric.toml", tmp_path / "managed.toml"
    file.write_text(SWITCH)
    code, output = managed(file)
    assert code == 0
    assert "leave it: no congestion control has the smallest loss" in output
    assert "with these parameters" not in output
    # Whoever wants files must notice that there are none.
    code, output = managed(file, "--out", str(out))
    assert code == 1
    assert "not written, because no guideline is better" in output
    assert not out.exists()
    found = json.loads(managed(file, "--hot", "H7", "--contributors", "6", "--json")[1])
    assert (found["guideline"], found["contributors"], found["parameters"]) == (None, 6, [])
    assert found["leave"].startswith("no congestion control has the smallest loss")
    assert {each["contributors"] for each in found["sizes"]} == {"0", "2", "3-4", "5-6"}
    # A given guideline is written all the same, with its price.
    code, output = managed(file, "--guideline", "gran2010", "--out", str(out))
    assert (code, out.exists()) == (0, True)
    assert "leave it" in output
    assert "gran2010, as given: its price: 2-4 contributors get" in output


def test_manage_chooses_what_is_better(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("becalm.tunings.guidelines.CASES", 24)
    file, out = tmp_path / "fabric.toml", tmp_path / "managed.toml"
    file.write_text(OVERSUBSCRIBED)
    code, output = managed(file, "--out", str(out))
    assert code == 0, output
    (better,) = [name for name in manager.GUIDELINES if f"recommended: {name}; " in output]
    assert f"Guideline: {better}" in output
    shown = [name for name in (*manager.GUIDELINES, "no control") if f" {name} " in output]
    behind = [name for name in manager.GUIDELINES if f"{name}: behind the best guideline by " in output]
    assert sorted([*shown, *behind]) == sorted([*manager.GUIDELINES, "no control"])
    assert "±" in output and "95%" in output
    assert "victims" in output
    assert out.exists()
    assert managed(file, "--hot", "H99")[0] == 2
    assert managed(file, "--guideline", "nobody")[0] == 2
