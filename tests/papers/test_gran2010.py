"""gran2010: the test bed, the table of delays, and the quick experiments."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace

import polars as pl
import pytest

from becalm import Scenario, run
from becalm.lab import Claim, reproduce
from becalm.lab.discovery import select
from becalm.lab.model import Outcome
from becalm.manager import nearest
from becalm.papers.gran2010 import added, kernels, table3
from becalm.papers.gran2010.cct import table, wanted_us
from becalm.papers.gran2010.scene import NULLS, Bed
from becalm.papers.gran2010.surfaces import _widths

SHORT_RUN = {"duration": "154 ms", "warmup": "54 ms"}
QUICK = [
    f"gran2010/{figure}"
    for figure in ("fig8", "fig10b", "packet_size", "level", "ccti_min", "peaks", "steps", "rings")
]


@pytest.fixture(scope="module")
def claims() -> dict[str, Claim]:
    reports = reproduce(QUICK, threads=2, short=True)
    return {f"{report.id.split('/')[1]}/{claim.id}": claim for report in reports for claim in report.claims}


@pytest.mark.parametrize(
    "name",
    [
        "fig8/a_third_each",
        "fig8/equal_shares",
        "fig10b/loss_small",
        "fig10b/jitter",
        "packet_size/little_impact",
        "level/only_the_flow",
        "level/all_of_the_level",
        "ccti_min/a_minimum_for_all",
        "peaks/peaks_are_taken_for_congestion",
        "steps/smaller_steps_in_a_larger_table",
        "rings/latency_as_without_congestion",
    ],
)
def test_the_quick_ones_hold(claims: dict[str, Claim], name: str) -> None:
    assert claims[name].holds, claims[name]


def test_one_flow_across_32_switches_has_one_packet_in_half_of_a_round_trip_more() -> None:
    """Data need 33 times 64 ns less a switch's and a packet's time, ACKs the same without the packet's."""
    (experiment,) = select(["gran2010/window"])
    rates = {}
    for each in experiment.points(False):
        rates[each.labels["window"]] = run(Scenario(each.scenario)).groups["share"].item()
    packet, way = 2.048, 32 * 0.064
    assert rates[1] == pytest.approx(packet / (packet + 2 * way), rel=0.03)
    assert rates[2] == pytest.approx(2 * rates[1], rel=0.01)


def test_victims_may_be_far_from_13_even_where_they_are_steady() -> None:
    rows = [("F1", phase, "on", rate, 0.0) for phase, rate in enumerate((13.0, 13.0, 6.5, 3.25, 2.17), 1)]
    names = ["flow", "phase", "control", "mean", "sd"]
    found = added.victim_constant({"points": pl.DataFrame(rows, schema=names, orient="row")})
    assert found == pytest.approx([0, 0, 0.5, 0.75, 0.833], abs=0.001)


@pytest.mark.parametrize(("name", "rate"), [("narrow", "16 Gb/s"), ("wide", "64 Gb/s")])
def test_nulls_change_the_link_between_the_switches_alone(name: str, rate: str) -> None:
    data = Bed().scenario_data()
    *hosts, between = NULLS[name](data)["topology"]["edges"]["cables"]
    assert hosts == data["topology"]["edges"]["cables"][:-1]
    assert between == {"between": ["S1", "S2"], "rate": rate}


def test_table_1_is_the_default() -> None:
    data = Bed().scenario_data()
    switch, adapter = data["marking"]["ibta"], data["response"]["ibta"]
    assert [switch[key] for key in ("threshold", "marking_rate", "packet_size")] == [15, 1, 8]
    keys = ("ccti_increase", "ccti_limit", "ccti_min", "ccti_timer")
    assert [adapter[key] for key in keys] == [1, 127, 0, 150]


def test_flows_start_one_interval_apart() -> None:
    bed = Bed(scenario=2, interval=0.5, tail=2)
    assert bed.starts == [0, 0.5, 1.0]
    assert bed.duration == 3
    assert [flow["start"] for flow in bed.scenario_data()["flows"]] == ["0 us", "500000 us", "1000000 us"]


def test_only_some_flows() -> None:
    flows = Bed(active=(1, 3)).scenario_data()["flows"]
    assert [(flow["name"], flow["from"], flow["to"]) for flow in flows] == [
        ("F1", ["H1"], ["H4"]),
        ("F3", ["H3"], ["H5"]),
    ]


def test_random_rings_are_drawn_as_hpc_challenge_does() -> None:
    """All 256 samples of four places: their orders, and the frequency of each ring."""
    draws = list(itertools.product(range(4), repeat=4))
    orders = [kernels.random_order(places) for places in draws]
    assert kernels.random_order((2, 2, 2, 2)) == (2, 3, 0, 1)
    assert all(sorted(order) == [0, 1, 2, 3] for order in orders)
    found = Counter(kernels.ring_of(order) for order in orders)
    assert [found[ring] / 256 for ring in range(3)] == list(kernels.RING_SHARES)
    assert [kernels.ring_of(ring) for ring in kernels.RINGS] == [0, 1, 2]
    assert [kernels.ring_of(order) for order in ((2, 3, 0, 1), (0, 2, 3, 1), (3, 1, 2, 0))] == [0, 1, 2]


def test_all_draws_together_have_the_mean_that_is_expected() -> None:
    rings = pl.DataFrame(
        [
            {"case": case, "test": "bandwidth", "ring": ring, "value": value}
            for case, values in {"a": (8.0, 7.0, 7.0), "b": (2.0, 4.0, 4.0), "c": (8.0, 7.0, 7.0)}.items()
            for ring, value in enumerate(values)
        ]
    )
    tables = {"rings": rings}
    expected = 2 ** (7 / 16) * 4 ** (9 / 16) / (8 ** (7 / 16) * 7 ** (9 / 16))
    assert table3.expected_ratio(tables) == pytest.approx(expected)
    assert table3.share_of_draws(tables, 1e-9) == pytest.approx(1)
    assert table3.share_of_draws(tables, 10) == 0
    # The ratio is at least 4/7 only if neither a) nor b) has a natural ring.
    assert table3.share_of_draws(tables, 4 / 7 - 1e-9) == pytest.approx((9 / 16) ** 20)


def test_formula_of_the_table() -> None:
    assert wanted_us(127, 106) == pytest.approx(10.048, abs=1e-3)
    assert wanted_us(127, 95) == pytest.approx(12.510, abs=1e-3)


@pytest.mark.parametrize(
    ("gap", "entry"), [(0.0, (0, 0)), (1.0, (0, 1)), (0.5, (1, 1)), (2.3, (2, 9)), (16383.0, (0, 16383))]
)
def test_entries_are_the_nearest(gap: float, entry: tuple[int, int]) -> None:
    assert nearest(gap) == entry


def test_encoding_error_is_half_a_step_at_most() -> None:
    assert max(abs(error) for error in table(106)["error_us"].to_list()) <= 1.034 / 16 + 1e-12


def test_a_longer_table_has_the_same_delays_in_between() -> None:
    def delays(finer: int) -> list[float]:
        cct = Bed(finer=finer).scenario_data()["response"]["ibta"]["cct"]["quadratic"]
        return [
            index**2 * cct["numerator"] / cct["divisor"] ** 2 for index in range(0, cct["entries"], finer)
        ]

    assert delays(5) == pytest.approx(delays(1))
    adapter = Bed(finer=5).scenario_data()["response"]["ibta"]
    assert [adapter[key] for key in ("ccti_increase", "ccti_limit", "ccti_timer")] == [5, 639, 30]


def test_a_point_stands_for_what_is_nearest() -> None:
    assert _widths((0, 1, 4)) == {0: 0.5, 1: 2.0, 4: 1.5}
    assert _widths((25, 150, 2000)) == {25: 87.5, 150: 987.5, 2000: 925.0}


def test_only_h2_has_a_neighbour() -> None:
    flows = Bed(neighbour=True).scenario_data()["flows"]
    assert [flow["name"] for flow in flows] == ["F1", "F2", "F3", "F4", "F5", "F6"]
    assert (flows[-1]["from"], flows[-1]["to"]) == (flows[1]["from"], ["H1"])


def test_a_change_is_a_share_of_the_value_before() -> None:
    rows = [("PTRANS", "b", 0.5), ("PTRANS", "c", 0.8), ("PTRANS", "a", 1.0)]
    tables = {"points": pl.DataFrame(rows, schema=["row", "case", "value"], orient="row")}
    assert table3.change(tables, "PTRANS") == pytest.approx(0.6)
    assert table3.change(tables, "PTRANS", above="b", below="a") == pytest.approx(0.5)


def test_a_message_by_rendezvous_is_timed_from_its_question_to_its_data() -> None:
    (experiment,) = select(["gran2010/table3_eager"])
    points = [each for each in experiment.points(False) if each.labels == {"kernel": "PTRANS", "case": "a"}]
    (scenario,) = [Scenario(each.scenario) for each in points]
    ops = run(scenario).tables["ops"]
    kernel = table3.KERNELS["PTRANS"]()
    assert ops.height == len(kernel.ops) + 8, "each of two messages is two operations more at either end"
    found = table3._times(kernel, ops, scenario.resolved["jobs"][0]["eager"])
    span = ops.select(pl.col("end").max() - pl.col("start").min()).item()
    assert max(found["time"][0]) == pytest.approx(span)


def test_drawn_marks_go_by_shares_and_counted_ones_keep_the_same_mean() -> None:
    (experiment,) = select(["gran2010/notified"])
    points = [replace(each, scenario=each.scenario | {"run": SHORT_RUN}) for each in experiment.points(False)]
    tables = experiment.measure([Outcome(each.labels, run(Scenario(each.scenario))) for each in points])[
        "points"
    ]
    gaps = tables.group_by("spacing").agg(pl.col("gap").first()).sort("spacing")["gap"].to_list()
    assert gaps == pytest.approx([1, 1], abs=0.05)
    drawn = tables.filter(pl.col("spacing") == "drawn")["over"].to_list()
    assert drawn == pytest.approx([1] * 4, abs=0.1)
