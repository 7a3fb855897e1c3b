"""Measures of background traffic next to an incast, against loads and rates that are known."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import becalm
from becalm.analysis.hot_spots import Case
from becalm.analysis.measures import measured

LINK = 25e9 / 8
"""Rate of a link in B/s."""
ON_OFF = {"on_off": {"mean_on": "20 us", "mean_off": "60 us"}}


def case(*background: dict[str, Any], hot: tuple[str, ...] = ("H1", "H2", "H3"), to: str = "H4") -> Case:
    """Return a case on one switch, whose hot period is from 0.2 ms to 0.8 ms."""
    flows = [{"name": f"cold{place}", **group} for place, group in enumerate(background)]
    if hot:
        flows.append({"name": "hot", "from": list(hot), "to": [to], "start": "0.2 ms", "stop": "0.8 ms"})
    scenario = becalm.Scenario(
        {
            "run": {"duration": "1 ms"},
            "topology": {"clos": {"leaves": 1, "spines": 1, "hosts_per_leaf": 8, "rate": "25 Gb/s"}},
            "packet": {"header": "0 B"},
            "flows": flows,
        }
    )
    return Case("case", scenario, ("hot",) if hot else (), ("cold*",), start=0.2e-3, stop=0.8e-3)


def found(scene: Case, seed: int = 1) -> tuple[dict[str, float], dict[str, float]]:
    """Return the measures of a case without its incast, and with it."""
    assert scene.calm is not None
    calm = measured(becalm.run(scene.calm.observed({}, seed)), scene.calm)
    return calm, measured(becalm.run(scene.observed({}, seed)), scene, calm)


def pairs(*hosts: tuple[str, str], **more: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"connections": [{"from": one, "to": other} for one, other in hosts], **more}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_an_on_off_background_loses_is_missing_from_its_share(seed: int) -> None:
    """In an ON period, a source has its link to itself, or shares it with the incast."""
    ends = [("H1", "H5"), ("H2", "H6"), ("H3", "H7")]
    calm, hot = found(case(pairs(*ends, traffic=ON_OFF)), seed)
    assert calm["background_uncapped"] == pytest.approx(1, abs=0.05)
    assert calm["lost"] == 0
    assert hot["background"] < 0.8
    assert 0.9 * (1 - hot["background"]) < hot["lost"] < 1.1 * (1 - hot["background"])


@pytest.mark.parametrize("start", ["0 ms", "0.3 ms"])
def test_a_background_without_limits_is_measured_by_its_fair_rate(start: str) -> None:
    """Two sources share a link. That is their share without the incast, however early the incast begins."""
    calm, hot = found(case({"from": ["H5", "H6"], "to": ["H4"], "start": start}))
    assert calm["background_uncapped"] == pytest.approx(1, abs=0.03)
    # Five sources share the link in the hot period.
    assert hot["background"] == pytest.approx(2 / 5, abs=0.05)


def test_the_part_that_fairness_takes_from_the_background_is_no_loss() -> None:
    """Next to three contributors, a fair link leaves a background with load 0.5 a quarter of the link."""
    poisson = {"poisson": {"load": 0.5}}
    calm, hot = found(case({"from": ["H5"], "to": ["H4"], "traffic": poisson}))
    assert (calm["fair"] / LINK, hot["fair"] / LINK) == pytest.approx((0.5, 0.25))
    assert hot["background"] == pytest.approx(0.5, abs=0.05)
    assert hot["lost"] < 0.1
    # The whole load fits beside a single contributor, and all that is missing is lost.
    calm, hot = found(case({"from": ["H5"], "to": ["H6"], "traffic": poisson}, hot=("H1",)))
    assert hot["lost"] == pytest.approx(1 - hot["got"] / calm["got"], abs=1e-9)


@pytest.mark.parametrize(("share", "settled"), [(0.89, 0.4e-3), (0.91, 0.2e-3)])
def test_the_background_keeps_its_share_above_nine_tenths(share: float, settled: float) -> None:
    """A rate of half the load until 0.4 ms, and of `share` of the load until 0.6 ms."""
    scene = case({"from": ["H5"], "to": ["H6"], "traffic": {"poisson": {"load": 0.4}}})
    results = becalm.run(scene.observed({}, 1))
    time = pl.col("time")
    part = pl.when(time < 0.4e-3).then(0.5).when(time < 0.6e-3).then(share).otherwise(1.0)
    cold = results.tables["series"].with_columns(
        rate=pl.when(pl.col("name") == "cold0").then(part * 0.4 * LINK).otherwise("rate")
    )
    results.tables["series"] = cold
    # A sample is 10 us long, and the share is a mean over five samples.
    assert measured(results, scene)["settle"] == pytest.approx(settled, abs=35e-6)
