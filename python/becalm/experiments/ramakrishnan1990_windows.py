"""Ramakrishnan and Jain 1990, sections 3.1 and 3.2: what fixed windows do.

Nothing here is controlled: these are the curves whose knee the scheme is to find.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from becalm import theory
from becalm.experiments.expect import Expectation, at_least, near
from becalm.experiments.measure import at, axis, curve
from becalm.experiments.model import Experiment, Outcome, Point, Statement, Tables
from becalm.experiments.ramakrishnan1990_draw import sweep
from becalm.experiments.ramakrishnan1990_measure import summary
from becalm.experiments.ramakrishnan1990_scene import (
    EXPONENTIAL,
    SATELLITE,
    UNMARKED,
    Path,
    window,
)

WINDOWS = tuple(range(1, 41))
SHORT_WINDOWS = (1, 2, 4, 8, 12, 14, 15, 16, 17, 18, 24, 32, 40)
FEW_WINDOWS = tuple(range(1, 13))

FIXED = Path(marking=UNMARKED, duration=21_000, warmup=1_000, step=1_000)
RANDOM = replace(FIXED, duration=100_000, warmup=2_000)
PATHS = {
    "primary": FIXED,
    "overloaded": replace(FIXED, satellite=0.0),
    "balanced": replace(FIXED, service=(4.0,) * 4, satellite=0.0, rest=0.0),
}
SERVICES = {
    "constant": FIXED,
    "drawn anew": replace(RANDOM, redrawn=EXPONENTIAL),
    "carried along": replace(RANDOM, sizes=EXPONENTIAL),
}
"""Service times: all alike, or exponential, drawn anew at each hop or by the size that a packet carries."""


def experiments() -> list[Experiment]:
    """Fixed windows."""
    return [_windows()]


def with_window(path: Path, packets: int) -> Path:
    """Return the path with a fixed window."""
    return replace(path, response=window(packets))


def _windows() -> Experiment:
    return Experiment(
        "ramakrishnan1990/windows",
        "Fixed windows: throughput, response time, power, and the knee",
        cost=40,
        points=_window_points,
        measure=_measure_windows,
        draw=lambda found: sweep(found, Path().network.knee),
        statements=_window_statements(),
    )


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
    """`points` by path, service and window; `theory`: mean-value analysis and bound of the primary path."""
    parts = [
        summary([outcome for outcome in outcomes if outcome.labels["path"] == name], rest=path.rest)["points"]
        for name, path in PATHS.items()
    ]
    return {"points": pl.concat(parts), "theory": _theory(Path().network)}


def _theory(network: theory.ClosedNetwork) -> pl.DataFrame:
    solution = theory.mean_value_analysis(network, WINDOWS[-1])
    best = theory.deterministic(network, solution.window)
    return pl.concat(
        [
            pl.DataFrame({"window": solution.window, "throughput": throughput})
            .with_columns(response=pl.col("window") / pl.col("throughput"), service=pl.lit(service))
            .with_columns(power=pl.col("throughput") / pl.col("response"))
            for service, throughput in (("constant", best), ("drawn anew", solution.throughput))
        ]
    )


def _knee(found: Tables, path: str) -> float:
    """Where the asymptotes meet: the response time of a lone packet times the largest throughput."""
    alone = at(found, "response", path=path, service="constant", window=1)
    return alone * max(curve(found, "window", "throughput", path=path, service="constant"))


def _best_window(found: Tables, path: str) -> float:
    powers = curve(found, "window", "power", path=path, service="constant")
    return axis(found, "window", path=path, service="constant")[int(np.argmax(powers))]


def _efficiency(found: Tables, packets: int) -> float:
    network = Path().network
    throughput, response = (
        at(found, column, path="primary", service="constant", window=packets)
        for column in ("throughput", "response")
    )
    return theory.efficiency(throughput, response, 1 / network.bottleneck, network.round_trip)


def _maxima(found: Tables, service: str) -> float:
    """Windows with more power than their neighbours on both sides."""
    powers = np.array(curve(found, "window", "power", path="primary", service=service))
    inner = (powers[1:-1] > powers[:-2]) & (powers[1:-1] > powers[2:])
    return float(inner.sum() + (powers[0] > powers[1]) + (powers[-1] > powers[-2]))


def _window_statements() -> tuple[Statement, ...]:
    return (
        Statement(
            "knee",
            "The maximally efficient aggregate window [16] size for this configuration is 15.5",
            15.5,
            lambda found: _knee(found, "primary"),
            near(15.5, 0.05),
            note="Simulated: the response time of a lone packet times the throughput of the largest window. "
            "The paper's digit rounds by 0.05.",
        ),
        Statement(
            "knee_without_satellite",
            "To represent an overloaded network, we use the same configuration, but without the satellite "
            "hop. This results in the maximally efficient aggregate window size being 3",
            3,
            lambda found: _knee(found, "overloaded"),
            near(3, 0.05),
            note="Simulated likewise.",
        ),
        Statement(
            "knee_has_most_power",
            "When alpha = 1, the point at which power is maximized is the knee of the delay curve",
            15.5,
            lambda found: _best_window(found, "primary"),
            near(15.5, 0.5),
            note="The window with the most power, all packets alike; windows are whole numbers.",
        ),
        Statement(
            "exact_in_a_balanced_network",
            'This is exact in a "balanced" network, for example, when the service times of all the hops are '
            "identical",
            4,
            lambda found: [_knee(found, "balanced"), _best_window(found, "balanced")],
            near(4, 0.01),
            note="Four hops of four units and nothing else: knee, and window with the most power.",
        ),
        Statement(
            "single_maximum",
            "Note that power has a single maximum [9]",
            1,
            lambda found: [_maxima(found, "constant"), _maxima(found, "drawn anew")],
            near(1, 0),
            note="Maxima of power over the window, with constant and with exponential service drawn anew.",
        ),
        Statement(
            "efficient_at_the_knee",
            "Notice that the resource is used at 100 percent efficiency at the knee, and, as we move away "
            "from the knee, the resource is used inefficiently",
            "1 at the knee",
            lambda found: [_efficiency(found, window) for window in (8, 16, 32)],
            Expectation("largest in the middle, >= 0.95", lambda values: max(values) == values[1] >= 0.95),
            note="Power over that of 0.2 packets per unit with 77.5 units of response time, at windows of 8, "
            "16 and 32, packets all alike; 16 is half a packet beyond the knee.",
        ),
        Statement(
            "satellite_holds_many",
            "The satellite hop is represented by a delay of 62.5 time units. As a result, the satellite hop "
            "can accommodate multiple packets in flight at the same time",
            "> 1",
            lambda found: SATELLITE * at(found, "throughput", path="primary", service="constant", window=16),
            at_least(2),
            note="Mean number of packets there with a window of 16.",
        ),
    )
