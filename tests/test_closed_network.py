"""The simulated path against exact theory: mean-value analysis, and a bound for constant service times."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import becalm
from becalm import theory
from becalm.papers.ramakrishnan1990.measure import UNIT
from becalm.papers.ramakrishnan1990.scene import EXPONENTIAL, PACKET, REST, UNMARKED, Path, window

WINDOWS = range(1, 41)
REPLICATIONS = 20
STUDENT = 4.79
"""Quantile of Student's t, 19 degrees of freedom: all of 80 intervals hold in 99% of cases."""
PATH = Path(marking=UNMARKED, duration=20_000, warmup=1_000, step=20_000)


def runs(path: Path, packets: int, replications: int) -> pl.DataFrame:
    """Return the throughput and round-trip time of each replication."""
    data = replace(path, response=window(packets)).scenario()
    data["run"]["replications"] = replications
    groups = becalm.run(becalm.Scenario(data)).groups
    return groups.select(
        throughput=pl.col("rate") / PACKET * UNIT, response=pl.col("latency_mean") / UNIT + REST
    )


def interval(values: pl.Series) -> tuple[float, float]:
    """Return the mean and the half-width of its confidence interval."""
    found = values.to_numpy()
    return float(found.mean()), float(STUDENT * found.std(ddof=1) / np.sqrt(len(found)))


def test_exponential_service_is_as_theory_says() -> None:
    exact = theory.mean_value_analysis(PATH.network, WINDOWS[-1])
    outside, widths, scores = [], [], []
    for packets in WINDOWS:
        found = runs(replace(PATH, redrawn=EXPONENTIAL), packets, REPLICATIONS)
        for column, expected in (("throughput", exact.throughput), ("response", exact.response)):
            mean, half = interval(found[column])
            wanted = expected[packets - 1]
            if abs(mean - wanted) > half:
                outside.append(f"window {packets}: {column} {mean:.5g} +- {half:.2g}, theory {wanted:.5g}")
            widths.append(half / wanted)
            scores.append((mean - wanted) / half * STUDENT)
    assert not outside
    # Wide intervals would prove nothing.
    assert max(widths) < 0.03
    # Errors must not share one sign. The scores follow Student's t, with one pair per window.
    assert abs(np.mean(scores[::2])) < 4 / np.sqrt(len(WINDOWS))


@pytest.mark.parametrize("packets", [1, 7, 15, 16, 40])
def test_constant_service_reaches_the_bound(packets: int) -> None:
    found = runs(replace(PATH, duration=101_000), packets, 1)
    best = theory.deterministic(PATH.network, np.array([float(packets)]))[0]
    # Links, ideally without delay, add 0.002 to 77.5 units, and a run may end within a round trip.
    assert found["throughput"].item() == pytest.approx(best, rel=1e-4, abs=packets / 100_000)
    assert found["response"].item() == pytest.approx(packets / best, rel=1e-4)


def test_sizes_that_are_carried_along_cost_throughput() -> None:
    """Large packets are slow at every hop and delay others behind them, unlike in theory."""
    again = runs(replace(PATH, redrawn=EXPONENTIAL), 16, REPLICATIONS)["throughput"]
    carried = runs(replace(PATH, sizes=EXPONENTIAL), 16, REPLICATIONS)["throughput"]
    (high, wide), (low, narrow) = interval(again), interval(carried)
    assert low + narrow < high - wide
