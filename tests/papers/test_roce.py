"""zhu2015, alizadeh2010 and dixit2013: closed forms, scenes, and reduced figures."""

from __future__ import annotations

import math

import pytest

from becalm import Scenario, theory
from becalm.lab import Claim, reproduce
from becalm.lab.bottleneck import Bottleneck
from becalm.lab.model import Point
from becalm.lab.runner import Lab
from becalm.papers.alizadeh2010 import law
from becalm.papers.zhu2015 import clos, fixed_point

FAILING = {"threshold/small_threshold_loses"}
"""Claims that contradict their own closed forms: see the readings of alizadeh2010."""
NARROW = {"sawtooth/ten_flows_largest_queue"}
"""Claims that fail over 20 seeds, but may hold with one: 48.45 +- 0.28 packets against 50 +- 1."""


@pytest.fixture(scope="module")
def claims() -> dict[str, Claim]:
    reports = reproduce(["zhu2015", "alizadeh2010", "dixit2013"], threads=2, short=True)
    return {f"{report.id.split('/')[1]}/{claim.id}": claim for report in reports for claim in report.claims}


def test_what_holds_with_five_seeds_holds_with_one(claims: dict[str, Claim]) -> None:
    assert len(claims) >= 25
    assert {name for name, claim in claims.items() if not claim.holds} - NARROW == FAILING
    assert {claim.kind for claim in claims.values()} == {"derived"}


def test_draws_of_a_point_have_other_paths_and_seeds_share_none() -> None:
    """Path hashes depend on the seed, so samples with different seeds are independent."""
    flows = [{"name": "far", "from": ["A1", "A2", "A3"], "to": ["R"]}]
    scene = clos.scenario(flows, clos.PFC)
    points = [Point({"draw": draw}, scene, draw) for draw in range(6)]
    paths = set()
    for seed in (1, 2):
        for point in points:
            (found,) = Lab(seed, 1).scenarios([point])
            assert found.resolved["run"]["seed"] == seed + 10_000 * point.draw
            paths.add(str(clos.paths_of(found)))
    assert len(paths) > 6


def test_a_path_begins_at_its_source_and_ends_at_its_destination() -> None:
    scene = clos.scenario([{"name": "victim", "from": ["A5"], "to": ["B"]}], clos.PFC)
    ((first, up, down, last),) = clos.paths_of(Scenario(scene))
    assert (first, last) == ("A5->T1", "T2->B")
    assert up[-2:] == down[:2] and up[-2:] in ("L1", "L2")


@pytest.mark.parametrize(
    ("flows", "marking", "small", "queue"),
    [
        (2, 0.000777, 0.000925, 20.15),
        (4, 0.001888, 0.002320, 41.81),
        (8, 0.004552, 0.005832, 93.77),
        (10, 0.006032, 0.007849, 122.62),
    ],
)
def test_the_fixed_point_of_dcqcn(flows: int, marking: float, small: float, queue: float) -> None:
    root = fixed_point(flows)
    assert root.marking() == pytest.approx(marking, rel=1e-3)
    assert root.small_marking() == pytest.approx(small, rel=1e-3)
    assert root.queue() == pytest.approx(queue, rel=1e-3)


def test_the_approximation_becomes_exact_where_marks_are_rare() -> None:
    rare = theory.Dcqcn(2, additive_increase=1e-3)
    assert rare.marking() == pytest.approx(rare.small_marking(), rel=1e-2)


def test_sixteen_flows_have_no_queue_on_the_ramp() -> None:
    assert fixed_point(16).marking() > fixed_point(16).pmax
    assert fixed_point(16).queue() == math.inf


def test_the_sawtooth_of_dctcp() -> None:
    two, ten = law(2), law(10)
    assert (two.largest_queue, ten.largest_queue) == (42, 50)
    assert two.smallest_queue == pytest.approx(30.9, abs=0.05)
    assert two.alpha == pytest.approx(0.180, abs=5e-4)
    assert ten.smallest_queue == pytest.approx(25.2, abs=0.05)
    assert two.period == pytest.approx(5.55, abs=0.01)
    assert two.least_threshold == pytest.approx(11.9, abs=0.01)
    assert two.largest_gain > 1 / 16
    assert law(400).standing_queue == pytest.approx(316.67, abs=0.01)
    assert two.standing_queue == 0
    assert (two.lost, law(2, 65).lost) == (0, 0)
    assert law(2, 5).lost == pytest.approx(0.0037, abs=5e-5)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: theory.Dcqcn(0), "flows: 0; must be 1 or more"),
        (lambda: theory.Dcqcn(2, kmin=9, kmax=9), "kmin, kmax: 9, 9; must satisfy 0 <= kmin < kmax"),
        (lambda: theory.Dcqcn(2, pmax=0), "pmax: 0; must be above 0 and at most 1"),
        (lambda: theory.Dcqcn(2, byte_counter=0), "byte_counter: 0; must be positive"),
        (lambda: theory.Dctcp(0, 83.3, 40), "flows: 0; must be 1 or more"),
        (
            lambda: theory.Dctcp(2, 0, 40),
            "product, threshold: 0, 40; must be positive, and 0 or more",
        ),
        (lambda: Bottleneck(2, 10, 1500, 1, {"none": {}}).delay, "round_trip: 1 us; at least 1.4512 us"),
    ],
)
def test_bad_arguments_are_named(make: object, message: str) -> None:
    assert callable(make)
    with pytest.raises(ValueError, match="^" + message.replace("+", r"\+") + "$"):
        make()


def test_the_round_trip_is_as_asked_for() -> None:
    """With a window of one packet, each packet needs one round trip."""
    scene = Bottleneck(1, 10, 1500, 100, {"none": {"window": 1}}, duration=20, warmup=10)
    from becalm import run

    packets = run(Scenario(scene.scenario())).flows["delivered_packets"][0]
    assert packets == pytest.approx(10_000 / 100, abs=1)
