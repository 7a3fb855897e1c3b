"""Ramakrishnan and Jain 1990, sections 3.1, 3.2 and 5.3: what fixed windows and single routers do.

Nothing here is controlled: these are the curves whose knee the scheme is to find.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from becalm import theory
from becalm.experiments.expect import Expectation, at_least, at_most, near
from becalm.experiments.measure import at, axis, curve
from becalm.experiments.model import Experiment, Outcome, Point, Statement, Tables
from becalm.experiments.ramakrishnan1990_draw import router, sweep
from becalm.experiments.ramakrishnan1990_measure import summary
from becalm.experiments.ramakrishnan1990_scene import (
    EXPONENTIAL,
    INSTANT,
    PACKET,
    SATELLITE,
    UNMARKED,
    Path,
    Table,
    rate,
    units,
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
    """Fixed windows, and the probabilities of section 5.3."""
    return [_windows(), _probability()]


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


def _probability() -> Experiment:
    return Experiment(
        "ramakrishnan1990/probability",
        "A single router: power by utilization, and how many packets it marks",
        cost=5,
        points=_router_points,
        measure=lambda outcomes: summary(outcomes, rest=0.0),
        draw=router,
        statements=_router_statements(),
    )


UTILIZATIONS = tuple(round(0.1 * place, 1) for place in range(1, 10))


def _router_points(short: bool) -> list[Point]:
    duration = 200_000 if short else 400_000
    loads = [("M/M/1", load, 1) for load in UTILIZATIONS] + [("M/M/1", 0.5, 2)]
    loads += [("D/D/1", load, threshold) for load in (0.5, 0.9) for threshold in (1, 2)] + [("D/D/1", 1.0, 1)]
    return [
        Point(
            {"queue": queue, "utilization": load, "threshold": threshold},
            _router(queue, load, threshold, duration),
        )
        for queue, load, threshold in loads
    ]


def _router(queue: str, utilization: float, threshold: int, duration: float) -> Table:
    """Return a router with a service time of one unit; regular arrivals come on a link that is no faster.

    The paper's argument is about the packets that an arrival finds at M/M/1, and about the average at D/D/1.
    """
    random = queue == "M/M/1"
    traffic: Table = {"greedy": {"message": f"{PACKET} B"}}
    if random:
        load = utilization * float(rate(1).split()[0]) / (float(INSTANT.split()[0]) * 1e3)
        traffic = {"poisson": {"load": load, "message": f"{PACKET} B"}}
    arrivals = INSTANT if random else rate(1 / utilization)
    cables = [{"between": ["S1", "R1"], "rate": arrivals}, {"between": ["R1", "D"], "rate": rate(1)}]
    switch = {"buffer": "unlimited", "forwarding_delay": "0 s", "switching": "store_and_forward"}
    marking = {"queue_hysteresis": {"centre": threshold, "width": 0}}
    if not random:
        marking = {"regeneration_cycle": {"threshold": threshold}}
    return {
        "run": {"duration": units(duration), "warmup": units(duration / 100)},
        "topology": {"edges": {"hosts": ["S1", "D"], "switches": ["R1"], "cables": cables}},
        "switch": switch | ({"service": EXPONENTIAL} if random else {}),
        "packet": {"mtu": f"{PACKET} B", "header": "0 B", "ack": "1 B"},
        "marking": marking,
        "echo": {"ack": {}},
        "response": {"none": {}},
        "flows": [{"name": "user 1", "from": ["S1"], "to": ["D"], "traffic": traffic}],
        "observe": {"step": units(duration / 10), "window": units(duration / 10), "links": []},
    }


def _marked(found: Tables, queue: str, threshold: int, utilization: float) -> float:
    return at(found, "marked", queue=queue, threshold=threshold, utilization=utilization)


def _best_load(found: Tables) -> float:
    powers = curve(found, "utilization", "power", queue="M/M/1", threshold=1)
    return UTILIZATIONS[int(np.argmax(powers))]


def _router_statements() -> tuple[Statement, ...]:
    rounding = "The standard error of the share over a run is about 0.002."
    return (
        Statement(
            "most_power_at_half_load",
            "The value of rho, at which power at the router is maximized, is 0.5 [12]",
            0.5,
            _best_load,
            near(0.5, 0),
            note="Of the utilizations 0.1, 0.2, ... 0.9, M/M/1.",
        ),
        Statement(
            "threshold_1",
            "when C = 1, Prob(bit set) = 1 - P(0) = rho = 0.5",
            0.5,
            lambda found: _marked(found, "M/M/1", 1, 0.5),
            near(0.5, 0.01),
            note=f"Share of marked packets; the threshold applies to what a packet finds. {rounding}",
        ),
        Statement(
            "threshold_2",
            "and when C = 2, Prob(bit set) = 0.25",
            0.25,
            lambda found: _marked(found, "M/M/1", 2, 0.5),
            near(0.25, 0.01),
            note=f"Likewise. {rounding}",
        ),
        Statement(
            "every_packet_at_full_load",
            "when the interarrival and service times are deterministic, power is maximized when the "
            "utilization rho = 1. With a threshold C of 1, Prob(bit set) = 1.0",
            1.0,
            lambda found: _marked(found, "D/D/1", 1, 1.0),
            near(1.0, 0.001),
            note="With the average over regeneration cycles; the first cycle knows no average yet.",
        ),
        Statement(
            "no_packet_below",
            "But, when rho < 1, for C >= 1, Prob(bit set) = 0.0",
            0.0,
            lambda found: [_marked(found, "D/D/1", c, load) for c in (1, 2) for load in (0.5, 0.9)],
            at_most(0),
            note="At utilizations of 0.5 and 0.9 with thresholds of 1 and 2.",
        ),
        Statement(
            "half_at_most_power",
            "Thus, using a threshold C equal to 1, Prob(bit set) >= 0.5, when maximizing power for both the "
            "M/M/1 and D/D/1 cases",
            0.5,
            lambda found: [_marked(found, "M/M/1", 1, _best_load(found)), _marked(found, "D/D/1", 1, 1.0)],
            at_least(0.49),
            note=f"0.5 less the tolerance above. {rounding}",
        ),
    )
