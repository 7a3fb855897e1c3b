"""pfister2005: networks, traffic, metrics, and a short run of the collapse with and without control."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest

from becalm import Scenario, manager
from becalm.lab import Lab
from becalm.papers.pfister2005 import cases, measure, networks, onset, tree
from becalm.papers.pfister2005 import guideline as around_guideline
from becalm.papers.pfister2005.measure import Run, Trace, measured, one
from becalm.papers.pfister2005.scene import (
    CASES,
    IN_FIG3,
    IN_FIG5,
    NETWORKS,
    PACKET_US,
    SEVERITY,
    HotSpot,
    guideline,
)

each_network = pytest.mark.parametrize("name", NETWORKS)


@each_network
def test_networks_have_the_hosts_that_they_are_named_after(name: str) -> None:
    network = NETWORKS[name]
    assert network.hosts == int(name.split()[0])
    scenario = Scenario(HotSpot(network, 4, guideline(network.hosts)).scenario())
    assert scenario.summary["hosts"] == network.hosts
    assert scenario.summary["packet_time"] * 1e6 == pytest.approx(PACKET_US, rel=1e-3)


def _offered(spot: HotSpot, at: float, kind: str) -> float:
    """Return the offered load of a kind's groups at a time, in link rates."""
    total = 0.0
    for group in spot.scenario()["flows"]:
        poisson = group["traffic"]["poisson"]
        changes = [(float(change["at"].split()[0]), change["load"]) for change in poisson["changes"]]
        load = [poisson["load"], *(load for time, load in changes if time <= at)][-1]
        if group["name"].split()[0] == kind:
            total += load * len(group["from"])
    return total


@pytest.mark.parametrize("name", ["8", "32", "128 (16x16)"])
@pytest.mark.parametrize("case", CASES)
def test_loads_before_and_in_the_hot_period(name: str, case: int) -> None:
    network = NETWORKS[name]
    spot = HotSpot(network, case)
    load, degree = CASES[case]
    before = _offered(spot, 0.5, "hot") + _offered(spot, 0.5, "cold")
    assert before == pytest.approx(load * network.hosts)
    assert _offered(spot, 0.5, "hot") == pytest.approx(load)
    cold = _offered(spot, spot.start + 1, "cold") / (network.hosts - 1)
    assert cold == pytest.approx(spot.left())
    hot = _offered(spot, spot.start + 1, "hot")
    if degree:
        background = load * (network.hosts - 1 - degree) / (network.hosts - 1)
        assert hot == pytest.approx(degree + background)
    else:
        assert hot == pytest.approx(SEVERITY)
        assert hot + cold * (network.hosts - 1) == pytest.approx(load * network.hosts)


def test_sources_wait_where_there_are_delays() -> None:
    for control, paced in ((None, True), (IN_FIG3, True), (IN_FIG3, False)):
        spot = HotSpot(NETWORKS["32"], 4, control, paced=paced)
        waits = {group["traffic"]["poisson"]["paced"] for group in spot.scenario()["flows"]}
        assert waits == {control is not None and paced}


@pytest.mark.parametrize("name", ["8", "32", "128 (8x8)"])
def test_one_of_three_hot_sources_is_beside_the_hot_host(name: str) -> None:
    network = NETWORKS[name]
    (group,) = [group for group in HotSpot(network, 3).scenario()["flows"] if group["name"] == "hot"]
    leaves = [int(host[1:]) // network.leaf for host in group["from"]]
    assert leaves.count(network.hot // network.leaf) == 1
    assert len(set(group["from"])) == 3


def test_without_a_limit_new_packets_wait_for_the_backlog() -> None:
    """A limited send queue blocks its source, so no backlog builds up."""
    limited, unlimited = (HotSpot(NETWORKS["32"], 4, queue=queue) for queue in (128, None))
    assert limited.scenario()["adapter"]["queue"] == 128
    assert "queue" not in unlimited.scenario()["adapter"]
    assert _offered(limited, limited.stop + 0.5, "hot") == pytest.approx(0.9)
    assert _offered(unlimited, unlimited.stop + 0.5, "hot") == 0


def test_a_tree_is_full_when_nine_tenths_are_lost() -> None:
    times = np.arange(-200, 600, 2.0)
    share = np.interp(times, [0, 100], [0.9, 0.4])
    table = pl.DataFrame({"us": times, "share": share, "network": "32", "buffer": 4})
    assert onset._filled_us({"onset": table}, {"network": "32", "buffer": 4}) == pytest.approx(90, abs=2)
    empty = PACKET_US + 7 * 0.04
    assert onset.traversals({"onset": table}, "32", 4) == pytest.approx(90 / empty, rel=0.03)


@pytest.mark.parametrize(("left", "filled"), [(0.2, 90 / (5 * PACKET_US + 9 * 0.04)), (0.3, float("inf"))])
def test_a_tree_on_the_omega_network_takes_half_of_the_cold_traffic(left: float, filled: float) -> None:
    """Cold sources offer 0.5, and 0.42 once 0.08 are hot."""
    times = np.arange(-200, 500, 1.0)
    table = pl.DataFrame(
        {"us": times, "share": np.where(times < 0, 0.5, np.interp(times, [0, 100], [0.42, left]))}
    )
    assert onset._filled_omega(table, 0.08) == pytest.approx(filled, rel=0.03)


def test_a_tree_dissolves_from_the_end_of_the_hot_period() -> None:
    times = np.arange(0, 10.5, 0.01)
    share = np.interp(times, [0.5, 1.0, 5.5, 7.5], [0.5, 0.1, 0.1, 0.5])
    tables = {"cold": pl.DataFrame({"ms": times, "share": share, "hot_ms": 5.0, "case": 2})}
    assert tree.filling_us(tables, case=2) == pytest.approx(450, abs=15)
    assert tree.dissolving_over_filling(tables, case=2) == pytest.approx(4, rel=0.05)
    tables["cold"] = tables["cold"].with_columns(share=pl.lit(0.5))
    assert tree.filling_us(tables, case=2) == float("inf")


def test_the_needed_traffic_is_where_a_twentieth_is_lost() -> None:
    rows = [
        {"network": name, "severity": severity, "cold_late": 1 - max(0.0, severity - start)}
        for name, start in (("8", 0.9), ("32", 1.0))
        for severity in tree.SEVERITIES
    ]
    tables = {"points": pl.DataFrame(rows)}
    assert tree.needed_by_size(tables, "8", "32") == pytest.approx(0.95 / 1.05)


def test_the_guideline_is_the_managers() -> None:
    for name in ("32", "128 (8x8)"):
        network = NETWORKS[name]
        settings = manager.recommend(
            Scenario(HotSpot(network, 4).scenario()), guideline="pfister2005"
        ).settings
        found = {setting.key: setting.value for setting in settings}
        assert found["response.ibta.ccti_increase"] == guideline(network.hosts).increase
        assert found["response.ibta.ccti_timer"] == guideline(network.hosts).timer
    assert guideline(32).increase == IN_FIG3.increase
    assert guideline(128).increase - 1 == IN_FIG5.increase


def _trace(cold: list[float], hot: list[float]) -> Trace:
    spot = HotSpot(NETWORKS["32"], 4, IN_FIG3, start=1, hot=2, after=1)
    time = np.arange(len(cold)) * spot.step + spot.step / 2
    return Trace(spot, time, np.array([cold]).T, np.array(hot), np.zeros(len(cold)))


def test_settling_is_the_last_time_below() -> None:
    run = _trace([1.0] * 10 + [0.2] * 5 + [1.0] * 25, [1.0] * 40)
    ahead = measure._first(run, run.mean > 0.5, 1, 3)
    assert ahead == pytest.approx(0.5, abs=0.1)
    assert measure._first(run, run.mean > 0, 1, 3) == 0
    assert measure._first(run, run.mean > 2, 1, 3) == 2


def test_smoothing_looks_back() -> None:
    smooth = measure._smooth(np.array([1.0, 1.0, 1.0, 1.0, 1.0, 6.0]), 0.1)
    assert smooth.tolist() == pytest.approx([1, 1, 1, 1, 1, 2])


def test_the_grid_varies_one_parameter_at_a_time() -> None:
    guide = guideline(32)
    for run in around_guideline._runs_grid(False):
        if run.spot.network.hosts != 32 or run.labels["parameter"] == "guideline":
            continue
        assert run.spot.control is not None
        changed = [
            name
            for name in around_guideline.PARAMETERS
            if getattr(run.spot.control, name) != getattr(guide, name)
        ]
        assert changed == [run.labels["parameter"]]


def test_the_wrong_settings_differ_in_one_parameter() -> None:
    for _, control in cases.WRONG.values():
        changed = sum(
            getattr(control, name) != getattr(IN_FIG3, name) for name in ("increase", "timer", "max_ipd")
        )
        assert changed == 1


def test_the_tree_collapses_and_control_dissolves_it() -> None:
    """The hot spot of case 4 on 32 ports, with a short hot period and enough time to settle."""
    spots = {
        control: HotSpot(NETWORKS["32"], 4, params, hot=4, after=0.2)
        for control, params in (("off", None), ("on", IN_FIG3))
    }
    runs = [Run({"control": control}, spot) for control, spot in spots.items()]
    lab = Lab(1, 2)
    lab.run([run.point() for run in runs])
    tables = measured(lambda _: runs)(lab.outcomes([run.point() for run in runs]))
    assert one(tables, "hot_late", control="off") == pytest.approx(1, abs=0.01)
    assert one(tables, "cold_best", control="off") < 0.4
    assert one(tables, "cold_late", control="on") > 0.9
    assert one(tables, "settling", control="on") < 3
    assert one(tables, "hot_ipd", control="on") > 0.9
    assert set(tables["ports"]["port"].unique()) == set(range(32))
    assert tables["ipd"].filter(pl.col("flows") == "cold").height > 0


def test_an_omega_network_is_routed_by_the_digits_of_the_destination() -> None:
    edges = networks.FABRICS["omega"].topology["edges"]
    pairs = [cable["between"] for cable in edges["cables"]]
    after = {left: [right for start, right in pairs if start == left] for left, _ in pairs}
    for source, destination in itertools.product(range(0, 64, 7), range(64)):
        place, digits = f"S{source}", [destination // 16, destination // 4 % 4, destination % 4]
        (place,) = after[place]
        for digit in digits:
            place = after[place][digit]
        assert place == f"D{destination}"


def test_what_is_offered_is_the_load_less_what_is_diverted() -> None:
    scene = networks.SCENES["gated"][0.5, "off", "128"]
    cold, hot = scene.scenario()["flows"]
    later = cold["traffic"]["poisson"]["changes"][0]["load"]
    assert later * len(cold["from"]) == pytest.approx(scene.offered())
    assert hot["traffic"]["poisson"]["load"] * len(hot["from"]) == pytest.approx(3.0)
