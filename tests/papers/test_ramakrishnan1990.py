"""ramakrishnan1990: the path, the measures, and the quick figures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from becalm import Scenario
from becalm.lab import Claim, reproduce
from becalm.papers.ramakrishnan1990 import router
from becalm.papers.ramakrishnan1990.measure import activity, stretch, swing
from becalm.papers.ramakrishnan1990.router import CUTOFFS, at_cutoff
from becalm.papers.ramakrishnan1990.scene import EXPONENTIAL, Path, User, rate
from becalm.papers.ramakrishnan1990.special import CROWD, FASTER, SLOW, SLOWER, steps_up, undershoot
from becalm.papers.ramakrishnan1990.windows import single_maximum
from becalm.theory import mean_value_analysis

QUICK = [
    f"ramakrishnan1990/{name}"
    for name in ("windows", "fig2", "fig4", "fig5", "probability", "fig6", "fig7", "fig8", "fig12", "fig13")
]


@pytest.fixture(scope="module")
def claims() -> dict[str, Claim]:
    reports = reproduce(QUICK, threads=2, short=True)
    return {f"{report.id.split('/')[1]}/{claim.id}": claim for report in reports for claim in report.claims}


@pytest.mark.parametrize(
    "name",
    [
        "windows/knee",
        "windows/knee_without_satellite",
        "windows/exact_in_a_balanced_network",
        "windows/single_maximum",
        "probability/threshold_1",
        "probability/every_packet_at_full_load",
        "probability/no_packet_below",
        "fig4/considerable_oscillation",
        "fig5/considerably_reduced",
        "fig7/unfair",
        "fig8/fairer_than_additive",
        "fig12/limited_by_the_source",
        "fig12/no_bits",
        "fig13/all_at_one",
        "fig13/flat_with_many",
    ],
)
def test_the_quick_ones_hold(claims: dict[str, Claim], name: str) -> None:
    assert claims[name].holds, claims[name]


def test_knees_follow_from_the_service_times() -> None:
    assert Path().network.knee == 15.5
    assert CROWD.network.knee == 3
    assert SLOW.knee == 8.25


def test_the_proof_against_a_window_of_14_with_random_sizes() -> None:
    """The window at a bottleneck load of 0.5, and the load at a window of 14.3, by mean-value analysis."""
    solution = mean_value_analysis(Path().network, 16)
    load = Path().network.bottleneck * solution.throughput
    assert np.interp(0.5, load, solution.window) == pytest.approx(8.46, abs=0.005)
    assert np.interp(14.3, solution.window, load) == pytest.approx(0.756, abs=5e-4)
    assert np.interp(14.3, solution.window, solution.queue.max(axis=1)) == pytest.approx(2.2, abs=0.05)


def test_a_packet_takes_as_long_as_the_hop_says() -> None:
    assert rate(5) == "200 MB/s"
    cables = Path(service=(2, 4)).scenario()["topology"]["edges"]["cables"]
    assert [cable.get("rate") for cable in cables] == [None, "500 MB/s", "250 MB/s", None, None]


def test_the_satellite_is_one_way() -> None:
    cables = Path().scenario()["topology"]["edges"]["cables"]
    delays = {tuple(cable["between"]): cable["delay"] for cable in cables if "delay" in cable}
    assert delays == {("R3", "R4"): "62.5 us", ("R5", "R1"): "1 us"}


@pytest.mark.parametrize(
    "path",
    [
        Path(sizes=EXPONENTIAL),
        Path(sizes={"erlang": 4}),
        Path(sizes={"uniform": 0.5}),
        Path(redrawn=EXPONENTIAL),
        Path(source=10.0),
        Path(changes=((100.0, 2, 10.0),)),
        Path(users=(User(), User(start=10, packets=5))),
    ],
)
def test_paths_are_valid(path: Path) -> None:
    Scenario(path.scenario())


def test_only_some_users() -> None:
    users = (User(), User(start=20, packets=7))
    flows = replace(Path(), users=users).scenario()["flows"]
    assert [(flow["from"], flow["start"], list(flow["traffic"])) for flow in flows] == [
        (["S1"], "0 us", ["greedy"]),
        (["S2"], "20 us", ["batch"]),
    ]


WINDOWS = {
    "windows": pl.DataFrame(
        {
            "time": [0.0, 10, 20, 10, 20, 30],
            "user": ["user 1"] * 3 + ["user 2"] * 3,
            "window": [1.0, 2, 3, 5, 6, 7],
            "run": ["a"] * 6,
        }
    )
}


def test_windows_of_one_user_and_of_all() -> None:
    assert stretch(WINDOWS, 0, 30, "user 1").tolist() == [1, 2, 3]
    assert stretch(WINDOWS, 0, 30).tolist() == [1, 7, 9, 7]
    assert stretch(WINDOWS, 10, 20, "user 2", run="a").tolist() == [5, 6]
    assert activity(WINDOWS, "user 2") == (10, 30)
    assert swing(stretch(WINDOWS, 0, 30)) == 8
    with pytest.raises(LookupError, match="no windows of user 1 from 25 to 30"):
        stretch(WINDOWS, 25, 30, "user 1")


@pytest.mark.parametrize(
    ("powers", "maxima"),
    [
        ([1.0, 2.0, 3.0, 2.0, 1.0], 1),
        ([1.0, 2.0, 3.0, 2.98, 2.99, 2.0], 1),
        ([1.0, 3.0, 2.9, 3.0, 2.0], 2),
        ([3.0, 2.0, 1.0], 1),
        ([1.0, 2.0, 3.0], 1),
        ([3.0, 2.0, 3.0], 2),
    ],
)
def test_maxima_of_power_that_can_be_distinct(powers: list[float], maxima: int) -> None:
    points = pl.DataFrame(
        {
            "path": "primary",
            "service": ["constant"] * len(powers) + ["drawn again"] * len(powers),
            "window": [*range(1, len(powers) + 1)] * 2,
            "throughput": powers * 2,
            "response": 1.0,
        }
    )
    assert single_maximum({"points": points}, [1.0]) == [maxima, maxima]


def test_the_best_cutoff_is_better_than_every_other_one() -> None:
    powers = [1.0, 2.0, 1.5, 1.0, 1.0, 1.0, 1.0]
    tables = {"points": pl.DataFrame({"threshold": 2, "cutoff": CUTOFFS, "power": powers})}
    assert at_cutoff(tables, 2, 0.25, "power") == pytest.approx(2 / 1.5)
    assert at_cutoff(tables, 2, 0.4, "power") == pytest.approx(1.5 / 2)


def test_a_window_that_never_comes_down_takes_forever() -> None:
    def table(run: str, windows: list[float]) -> pl.DataFrame:
        times = [6_000.0 + 10 * place for place in range(len(windows))]
        return pl.DataFrame({"time": times, "user": "user 1", "window": windows, "run": run})

    small = table("small", [14.0, 15.0, 14.0])
    for large, steps in (
        ([60.0, 61.0, 62.0], float("inf")),
        ([60.0, 61.0, 15.0], 1.0),
        ([60.0, 40.0, 15.0], 0.0),
    ):
        assert steps_up({"windows": pl.concat([small, table("large", large)])}) == steps


def test_thresholds_of_the_average_and_of_the_length_are_scenarios() -> None:
    marking = [router._thresholds(of, 2, 4) for of in (router.AVERAGE, router.LENGTH)]
    assert marking[0] == {"regeneration_cycle": {"threshold": 2, "width": 4}}
    for policy in marking:
        Scenario({**Path().scenario(), "marking": policy})


@pytest.mark.parametrize(("first", "below"), [(6.0, 1 / 7), (7.0, 0.0)])
def test_an_undershoot_is_below_the_range_that_follows(first: float, below: float) -> None:
    times = [SLOWER, SLOWER + 500, SLOWER + 1000, FASTER - 400, FASTER - 200, FASTER]
    sizes = [13.0, first, 7.0, 7.0, 8.0, 7.0]
    table = pl.DataFrame({"time": times, "name": "user 1", "window": sizes})
    assert undershoot({"windows": table}) == pytest.approx(below)
