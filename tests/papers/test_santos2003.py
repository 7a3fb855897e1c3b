"""santos2003: closed forms of its response functions."""

from __future__ import annotations

import pytest

import becalm
from becalm.lab.runner import Lab
from becalm.papers.common.reading import COMMON
from becalm.papers.santos2003 import curves, remarks, responses, victim


@pytest.mark.parametrize(
    ("response", "recoveries"), [("fimd", 8), ("lipd", 255), ("aimd", 255)], ids=["fimd", "lipd", "aimd"]
)
def test_total_times_in_recovery_times(response: str, recoveries: int) -> None:
    """From R_max/256: eight doublings, or 255 steps of the inter-packet delay or of R_min."""
    assert curves.total_ms(response) == pytest.approx(recoveries * 0.524288, rel=1e-9)


def test_aimd_is_a_straight_line() -> None:
    assert curves.slope("aimd", 0.1) == pytest.approx(curves.slope("aimd", 0.9), rel=1e-6)


def test_lipd_at_a_fourth_of_the_rate() -> None:
    """Inter-packet delay 3: dr/dt = r^2 / T_rec."""
    assert curves.slope("lipd", 0.25) == pytest.approx(0.25**2 / curves.RECOVERY_MS, rel=1e-2)


def test_each_side_is_halved_into_fast_and_slow_flows() -> None:
    flows = remarks._fast_and_slow(short=True)["flows"]
    assert [(flow["name"], flow["from"]) for flow in flows] == [
        ("fast local", ["B1..B5"]),
        ("slow local", ["B6..B10"]),
        ("fast remote", ["A1..A5"]),
        ("slow remote", ["A6..A10"]),
    ]
    loads = [flow["traffic"]["poisson"]["load"] for flow in flows]
    assert sum(loads) * remarks.HALF == pytest.approx(0.95)
    assert loads[0] == 2 * loads[1]


@pytest.mark.parametrize("late", [0, 37, 71])
def test_a_schedule_makes_up_for_packets_that_wait(late: int) -> None:
    """Flows at their optimal rates fill both links. The victim gets its half at any phase of the starts."""
    scene = COMMON.apply(victim.OPTIMAL.scenario())
    scene["flows"][0]["start"] = f"{late} us"
    scene["run"] = {"duration": "60 ms", "warmup": "42 ms"}
    share = becalm.run(becalm.Scenario(scene)).groups.filter(group="victim")["share"][0]
    assert 0.47 < share < 0.505


def test_one_mark_adds_one_packet_time_to_the_delay() -> None:
    (experiment,) = (item for item in responses.EXPERIMENTS if item.figure == "steps")
    points = [point for point in experiment.points(True) if point.labels["sharing"] == 5]
    lab = Lab(1, 1)
    lab.run(points)
    tables = experiment.measure(lab.outcomes(points))
    after = dict(tables["points"].select("response", "after").iter_rows())
    assert after == pytest.approx({"lipd": 1 / 6, "fimd": 1 / 10, "aimd": 1 / 10})
