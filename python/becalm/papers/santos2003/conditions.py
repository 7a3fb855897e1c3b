"""santos2003, section V-A: the three conditions for response functions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from becalm.designs.check import check
from becalm.designs.law import Law, aimd, fimd, lipd
from becalm.lab.figures import PLAIN, Curves, single
from becalm.lab.model import Experiment, Outcome, Point, Tables
from becalm.papers.common.draw import RESPONSE_NAMES, RESPONSE_STYLES
from becalm.papers.santos2003 import curves
from becalm.papers.santos2003.static import alone
from becalm.results import Results

LAWS: dict[str, Law] = {"lipd": lipd(), "fimd": fimd(), "aimd": aimd()}
RATES = np.geomspace(1 / 32, 1.0, 41)
"""Rates before a mark, as shares of R_max. Slower flows send too few packets to sample their rate."""


def _alone(response: str) -> Point:
    """Return a point with one flow from R_min on an empty path, which records its limit at every ACK."""
    point = alone(response, duration=140, step=0.002)
    observe = {**point.scenario["observe"], "paces": True}
    return Point(point.labels, {**point.scenario, "observe": observe})


def _recovery(outcomes: list[Outcome]) -> Tables:
    """Return `points`: time in 1/R_min to regain the rate before a mark, by response and by this rate."""
    rows = [
        (str(outcome.labels["response"]), float(rate), float(time), int(acks))
        for outcome in outcomes
        for rate, time, acks in zip(
            RATES, *_times(outcome.results, LAWS[str(outcome.labels["response"])]), strict=True
        )
    ]
    return {"points": pl.DataFrame(rows, schema=["response", "rate", "recovery", "acks"], orient="row")}


def _times(results: Results, law: Law) -> tuple[np.ndarray, np.ndarray]:
    """Return the simulated flow's times from f_dec(r) to r, in 1/R_min, and its ACKs, for all `RATES`.

    The rate is constant between ACKs, and the first samples of each rate lie on the curve F_inc(t). The time
    at which a rate is reached is interpolated between the first samples of two rates.
    """
    paces = results.paces.sort("time")
    rates = 1 / (1 + paces["gap_mean"].to_numpy())
    new = np.concatenate([[True], np.diff(rates) > 0])
    reached, sampled = rates[new], paces["time"].to_numpy()[new] * 1e3 / curves.RECOVERY_MS
    when = np.interp(np.concatenate([RATES, law.f_dec(RATES)]), reached, sampled)
    times: np.ndarray = when[: len(RATES)] - when[len(RATES) :]
    acks = np.searchsorted(reached, RATES) - np.searchsorted(reached, law.f_dec(RATES))
    return times, acks


def regained(_: Tables, response: str) -> float:
    """Return the largest ratio of the rate after a mark and an unmarked ACK to the rate before."""
    law = LAWS[response]
    rates = np.geomspace(law.lowest_free, law.rmax, 1000)
    return float((law.f_inc(law.f_dec(rates)) / rates).max())


def recovery_times(tables: Tables, responses: Sequence[str]) -> list[float]:
    """Return the shortest and longest recovery time in 1/R_min over the rates before a mark, by response."""
    times = [_of(tables, response) for response in responses]
    return [float(end) for each in times for end in (each.min(), each.max())]


def slower_recovers_later(tables: Tables, response: str) -> float:
    """Return the largest ratio of a rate's recovery time to that of a higher rate."""
    times = _of(tables, response)
    return float((np.maximum.accumulate(times)[:-1] / times[1:]).max())


def acks_by_rate(tables: Tables, response: str) -> list[float]:
    """Return the number of ACKs during the recovery to rates of about 1/32, 1/8, 1/2 and 1 times R_max."""
    chosen = tables["points"].filter(pl.col("response") == response).sort("rate")
    nearest = [int(np.argmin(abs(RATES - rate))) for rate in (1 / 32, 1 / 8, 1 / 2, 1.0)]
    return [float(chosen["acks"][place]) for place in nearest]


def at_full_rate(tables: Tables, response: str) -> float:
    """Return the recovery time from R_max in 1/R_min."""
    return float(_of(tables, response)[-1])


def converges_when_all_are_told(_: Tables, response: str) -> float:
    """Return 1 if the response meets Chiu and Jain's conditions for feedback to all flows at once, else 0."""
    return float(check(LAWS[response])["Chiu-Jain"].holds)


def _of(tables: Tables, response: str) -> np.ndarray:
    chosen = tables["points"].filter(pl.col("response") == response).sort("rate")
    return chosen["recovery"].to_numpy()


EXPERIMENTS = [
    Experiment(
        "santos2003/conditions",
        "Recovery time after one mark, from the rate of a single flow (Conditions 1 to 3)",
        cost=1,
        points=lambda _: [_alone(response) for response in LAWS],
        measure=_recovery,
        draw=single(
            Curves("rate", "recovery", "response", RESPONSE_NAMES, style=PLAIN, styles=RESPONSE_STYLES),
            xlabel="rate before the mark / maximum rate",
            ylabel="recovery time x R_min",
            xscale="log",
            yscale="log",
            ylim=(0.5, 200),
        ),
        phase="",
        seeded=False,
    )
]
"""The experiment on Conditions 1 to 3."""
