"""Ramakrishnan and Jain 1990, sections 3.1 and 3.2: fixed windows.

These runs have no control. The scheme's task is to find the knee of these curves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from becalm import theory
from becalm.lab.figures import DOTS, PLAIN, Curves, Level, Panel, Plot
from becalm.lab.model import Experiment, Outcome, Point, Tables
from becalm.lab.tables import at, axis, curve
from becalm.papers.ramakrishnan1990.measure import summary
from becalm.papers.ramakrishnan1990.scene import (
    EXPONENTIAL,
    SERVICE,
    UNMARKED,
    Path,
    window,
)

WINDOWS = tuple(range(1, 41))
SHORT_WINDOWS = (1, 2, 4, 8, 12, 14, 15, 16, 17, 18, 24, 32, 40)
FEW_WINDOWS = tuple(range(1, 13))

FIXED = Path(marking=UNMARKED, duration=21_000, warmup=1_000, step=1_000)
RANDOM = replace(FIXED, duration=100_000, warmup=2_000)
SPREAD = 0.01
"""Spread of a run's power between seeds. Closer powers count as equal."""
DEGRADED = 0.05
"""Relative increase of the response time that counts as degradation."""
HALF = 0.5
PATHS = {
    "primary": FIXED,
    "overloaded": replace(FIXED, satellite=0.0),
    "balanced": replace(FIXED, service=(4.0,) * 4, satellite=0.0, rest=0.0),
}
SERVICES = {
    "constant": FIXED,
    "drawn again": replace(RANDOM, redrawn=EXPONENTIAL),
    "carried along": replace(RANDOM, sizes=EXPONENTIAL),
}
"""Service times: constant, or exponential and either sampled at each hop or set by the packet's size."""


NAMES = {
    "constant": "all alike",
    "drawn again": "exponential, drawn again",
    "carried along": "exponential, carried along",
}
"""Names of the service times in the figure."""


def with_window(path: Path, packets: int) -> Path:
    """Return the path with a fixed window."""
    return replace(path, response=window(packets))


def _window_points(short: bool) -> list[Point]:
    runs = [("primary", service, path) for service, path in SERVICES.items()]
    runs += [(name, "constant", path) for name, path in PATHS.items() if name != "primary"]
    chosen = {"primary": SHORT_WINDOWS if short else WINDOWS}
    return [
        Point({"path": name, "service": service, "window": packets}, with_window(path, packets).scenario())
        for name, service, path in runs
        for packets in chosen.get(name, FEW_WINDOWS)
    ]


def _measure_windows(outcomes: list[Outcome]) -> Tables:
    """Return `points` by path, service and window, and `theory`: mean-value analysis and bound.

    `under_way` is the mean number of packets in no router's queue, hence on the links.
    """
    parts = [
        summary([outcome for outcome in outcomes if outcome.labels["path"] == name], rest=path.rest)["points"]
        for name, path in PATHS.items()
    ]
    queued = pl.DataFrame(
        [{**each.labels, "queued": float(each.results.buffers["mean_packets"].sum())} for each in outcomes]
    )
    points = pl.concat(parts).join(queued, on=("path", "service", "window"), maintain_order="left")
    under_way = pl.col("window") - pl.col("queued")
    return {"points": points.with_columns(under_way=under_way), "theory": _theory(Path().network)}


def _theory(network: theory.ClosedNetwork) -> pl.DataFrame:
    solution = theory.mean_value_analysis(network, WINDOWS[-1])
    best = theory.deterministic(network, solution.window)
    return pl.concat(
        [
            pl.DataFrame({"window": solution.window, "throughput": throughput})
            .with_columns(response=pl.col("window") / pl.col("throughput"), service=pl.lit(service))
            .with_columns(power=pl.col("throughput") / pl.col("response"))
            for service, throughput in (("constant", best), ("drawn again", solution.throughput))
        ]
    )


def knee(tables: Tables, path: str) -> float:
    """Return the window at which the asymptotes meet: response time of one packet x largest throughput."""
    alone = at(tables, "response", path=path, service="constant", window=1)
    return alone * max(curve(tables, "window", "throughput", path=path, service="constant"))


def best_window(tables: Tables, path: str) -> float:
    """Return the window with the most power."""
    powers = curve(tables, "window", "power", path=path, service="constant")
    return axis(tables, "window", path=path, service="constant")[int(np.argmax(powers))]


def efficiency(tables: Tables, packets: int) -> float:
    """Return the ratio of the power to that of the knee without queues."""
    network = Path().network
    throughput, response = (
        at(tables, column, path="primary", service="constant", window=packets)
        for column in ("throughput", "response")
    )
    return theory.efficiency(throughput, response, 1 / network.bottleneck, network.round_trip)


def _power(tables: Tables, service: str, alpha: float) -> NDArray[np.float64]:
    """Return power, throughput^alpha / response time, by window (equation 1)."""
    throughput, response = (
        np.array(curve(tables, "window", column, path="primary", service=service))
        for column in ("throughput", "response")
    )
    return np.asarray(throughput**alpha / response)


def _maxima(powers: NDArray[np.float64]) -> float:
    """Return the number of maxima over the window. Maxima within 1% of the largest power count as one."""
    least = SPREAD * powers.max()
    count, rising, turn = 0, True, powers[0]
    for power in powers[1:]:
        turn = max(turn, power) if rising else min(turn, power)
        if abs(power - turn) >= least:
            count += rising
            rising, turn = not rising, power
    return float(count + rising)


def exact_in_a_balanced_network(tables: Tables) -> list[float]:
    """Return the knee of the balanced path, and its window with the most power."""
    return [knee(tables, "balanced"), best_window(tables, "balanced")]


def single_maximum(tables: Tables, alphas: Sequence[float]) -> list[float]:
    """Return the numbers of power maxima by exponent, for constant and for exponential service per hop."""
    services = ("constant", "drawn again")
    return [_maxima(_power(tables, service, alpha)) for alpha in alphas for service in services]


def best_with(tables: Tables, alpha: float) -> float:
    """Return the window with the most power for this exponent and exponential service per hop."""
    powers = _power(tables, "drawn again", alpha)
    return axis(tables, "window", path="primary", service="drawn again")[int(np.argmax(powers))]


def growth(tables: Tables, column: str, low: int, high: int) -> float:
    """Return the ratio of a column with a window of `high` packets to that with `low`, for constant sizes."""
    first, last = (
        at(tables, column, path="primary", service="constant", window=each) for each in (low, high)
    )
    return last / first


def rapidity(tables: Tables, low: int, high: int) -> float:
    """Return the relative growth of the response time divided by that of the window."""
    return (growth(tables, "response", low, high) - 1) / (high / low - 1)


def used_before_degradation(tables: Tables, service: str) -> float:
    """Return the largest bottleneck utilization with a response time at most 5% above that of window 1."""
    alone = at(tables, "response", path="primary", service=service, window=1)
    used = [load for load, response in _loads(tables, service) if response <= (1 + DEGRADED) * alone]
    return max(used)


def degradation_at_half_load(tables: Tables, service: str) -> float:
    """Return the ratio of response times, of the first window with a load above one half to window 1."""
    alone = at(tables, "response", path="primary", service=service, window=1)
    return next(response for load, response in _loads(tables, service) if load > HALF) / alone


def _loads(tables: Tables, service: str) -> list[tuple[float, float]]:
    """Return the bottleneck's utilization and the response time, by window."""
    columns = (
        curve(tables, "window", name, path="primary", service=service) for name in ("throughput", "response")
    )
    return [(max(SERVICE) * throughput, response) for throughput, response in zip(*columns, strict=True)]


EXPERIMENTS = [
    Experiment(
        "ramakrishnan1990/windows",
        "Fixed windows: throughput, response time, power, and the knee",
        cost=40,
        points=_window_points,
        measure=_measure_windows,
        draw=Plot(
            *(
                Panel(
                    Curves(
                        "window",
                        column,
                        "service",
                        {service: f"{name}: theory" for service, name in NAMES.items()},
                        style=PLAIN,
                        table="theory",
                    ),
                    Curves(
                        "window",
                        column,
                        "service",
                        {service: f"{name}: simulated" for service, name in NAMES.items()},
                        style={**DOTS, "marker": "."},
                        where={"path": "primary"},
                    ),
                    Level(f"knee, {Path().network.knee:g}", Path().network.knee, upright=True),
                    xlabel="window (packets)",
                    ylabel=label,
                    ylim=(0, None),
                )
                for column, label in (
                    ("throughput", "throughput (packets / unit)"),
                    ("response", "response time (units)"),
                    ("power", "power (packets / unit$^2$)"),
                )
            ),
            width=3.6,
        ),
    )
]
"""The experiment on fixed windows."""
