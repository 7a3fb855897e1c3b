"""Table III of gran2010: HPC Challenge during the congestion of scenario 1."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, product
from random import Random
from typing import TYPE_CHECKING

import polars as pl

from becalm.lab.model import Change, Experiment, Label, Outcome, Point, Table, Tables
from becalm.lab.tables import at, mean
from becalm.papers.gran2010 import kernels
from becalm.papers.gran2010.kernels import LONG, SHORT, Kernel
from becalm.papers.gran2010.scene import HEADER, MTU, WIRE, Bed
from becalm.plot import COLOURS, legend, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CASES: Mapping[str, bool | None] = {"a": None, "b": False, "c": True}
"""Congestion control in the table's columns; column a) has no synthetic flows."""

FLOWS = (2, 3, 4)
"""The synthetic flows. The victim's rate in column b), a quarter of 13 Gb/s, requires exactly three."""

SETTLE = 0.05
"""Time in s between the start of the synthetic flows and that of the kernels."""

OVERHEAD = "355 ns"
"""A rank's overhead per message and side. It makes the latency between hosts 1.95 us, as in column a)."""

LOCAL: Table = {"local_latency": "420 ns", "local_rate": "0.88 GB/s"}
"""Messages within a host, from the least latency and bandwidth of column a)."""

BOTH_WAYS = 2 * 742.469675e6
"""Payload rate of a host that sends and receives at the same time, from the natural ring of column a). It is
below the 13 Gb/s of one direction."""

LOCAL_BOTH_WAYS = "0.3217 GB/s"
"""Rate of each of two simultaneous messages within a host, from the random ring of column a), averaged over
all orders. Their total rate is below that of a single message, because the adapter also moves data."""

PAPER: Mapping[str, tuple[float, float, float]] = {
    "ping-pong latency, least": (0.001132, 0.001192, 0.001172),
    "ping-pong latency, mean": (0.001678, 0.012385, 0.001729),
    "ping-pong latency, most": (0.001957, 0.018001, 0.002056),
    "natural ring latency": (0.002193, 0.011396, 0.002098),
    "random ring latency": (0.002036, 0.011088, 0.002073),
    "ping-pong bandwidth, least": (880.463, 663.235927, 876.049),
    "ping-pong bandwidth, mean": (1354.021, 733.159, 1360.26),
    "ping-pong bandwidth, most": (1590.559, 879.125, 1611.025),
    "natural ring bandwidth": (742.469675, 213.687109, 743.769828),
    "random ring bandwidth": (684.66655, 350.356751, 683.451954),
    "PTRANS": (0.755254, 0.347585, 0.611816),
    "HPL": (1.819, 1.79, 1.827),
    "RandomAccess": (0.015118991, 0.01195898, 0.014409549),
    "FFT": (1.3768, 0.982365, 1.36891),
}
"""The table: ms, MB/s, GB/s, Gflop/s, updates per ns, Gflop/s."""

WORK: Mapping[str, float] = {"PTRANS": 2.648e-3, "HPL": 0.3674, "RandomAccess": 138.71e-3, "FFT": 3.808e-3}
"""Durations of the kernels in column a) in s, from their rates and HPC Challenge's operation counts."""

FITTED: Mapping[str, float] = {
    "PTRANS": 2.3077e-3,
    "HPL": 0.361983,
    "RandomAccess": 175.51e-6,
    "FFT": 1.09103e-3,
}
"""Computation in s that makes column a) last the seconds of `WORK`: of all of PTRANS and HPL, of a bucket of
RandomAccess, and of one of three parts of the FFT."""

KERNELS: Mapping[str, Callable[[], Kernel]] = {
    "ping-pong": kernels.ping_pong,
    "ring": kernels.rings,
    "PTRANS": lambda: kernels.transpose(FITTED["PTRANS"]),
    "HPL": lambda: kernels.linpack(FITTED["HPL"]),
    "RandomAccess": lambda: kernels.random_access(FITTED["RandomAccess"]),
    "FFT": lambda: kernels.transform(FITTED["FFT"]),
}


REDUCED = ("ping-pong", "ring", "FFT")
"""Kernels of the reduced version."""


def experiment(name: str, title: str, read: Change) -> Experiment:
    """Return the experiment under a reading of the test bed."""

    def points(short: bool) -> list[Point]:
        return [
            Point({"kernel": kernel, "case": case}, read(_scenario(kernel, control)))
            for kernel in (REDUCED if short else KERNELS)
            for case, control in CASES.items()
        ]

    return Experiment(f"gran2010/{name}", title, cost=9, points=points, measure=_measure, draw=_draw)


def points_of(kernel: str) -> list[Point]:
    """Return the points of one kernel in the three columns."""
    return [
        Point({"kernel": kernel, "case": case}, _scenario(kernel, control)) for case, control in CASES.items()
    ]


def rings_with(outcome: Outcome, seed: str) -> dict[str, float]:
    """Return the rings' rows of a column, with random orders that depend only on `seed`."""
    eager = outcome.results.scenario.resolved["jobs"][0]["eager"]
    times = _times(KERNELS["ring"](), outcome.results.tables["ops"], eager)
    return _ring({test: _rings(test, times) for test in kernels.RANDOM_RINGS}, seed)


def _scenario(kernel: str, control: bool | None) -> Table:
    bed = Bed(control=bool(control), interval=1e-6, tail=2.0, active=FLOWS)
    data = bed.scenario_data()
    settle = 0.0 if control is None else SETTLE
    data["run"] = {"duration": "2 s", "end": "jobs"}
    data["observe"] = {"step": "1 ms", "window": "1 ms", "links": []}
    data["switch"] |= {"buffer": f"{bed.buffer * (MTU + HEADER)} B"}
    if control is None:
        data["flows"] = []
    if kernel != "ping-pong":
        cap = f"{BOTH_WAYS * WIRE * 8e-9:.6f} Gb/s"
        caps = {"hosts": ["H1", "H4"], "injection_rate": cap, "drain_rate": cap}
        data["adapter"] = data["adapter"] | {"caps": [caps]}
    data["jobs"] = [
        {
            "name": kernel,
            "hosts": ["H1", "H4"],
            "placement": "round_robin",
            "ranks": kernels.RANKS,
            "start": f"{settle * 1e3:.0f} ms",
            "overhead": OVERHEAD,
            **LOCAL,
            **({"local_rate": LOCAL_BOTH_WAYS} if kernel == "ring" else {}),
            "alone": False,
            "record_ops": True,
            "ops": KERNELS[kernel]().ops,
        }
    ]
    return data


def _measure(outcomes: list[Outcome]) -> Tables:
    """Return `points`, one value per row and column of the table in its units, and `rings`."""
    rows: list[dict[str, Label]] = []
    rings: list[dict[str, Label]] = []
    for outcome in outcomes:
        name = str(outcome.labels["kernel"])
        resolved = outcome.results.scenario.resolved
        times = _times(KERNELS[name](), outcome.results.tables["ops"], resolved["jobs"][0]["eager"])
        if name == "ring":
            of_rings = {test: _rings(test, times) for test in kernels.RANDOM_RINGS}
            found = _ring(of_rings, f"{resolved['run']['seed']} {outcome.labels['case']}")
            rings += [
                {**outcome.labels, "test": test, "ring": ring, "value": value}
                for test, values in of_rings.items()
                for ring, value in enumerate(values)
            ]
        else:
            found = _ping_pong(times) if name == "ping-pong" else _kernel(name, times)
        rows += [{**outcome.labels, "row": row, "value": value} for row, value in found.items()]
    return {"points": pl.DataFrame(rows), "rings": pl.DataFrame(rings)}


def _times(kernel: Kernel, ops: pl.DataFrame, eager: str | None) -> dict[str, list[list[float]]]:
    """Return every rank's seconds in every measurement, by the measurement's name.

    A message above `eager` consists of three operations of its sender and three of its receiver.
    """
    starts: dict[int, list[float]] = {}
    ends: dict[int, list[float]] = {}
    for rank in range(kernels.RANKS):
        own = ops.filter(pl.col("rank") == rank).sort("op")
        parts = [_parts(op, eager) for op in kernel.ops if op["rank"] == rank]
        last = list(accumulate(parts, initial=-1))
        starts[rank] = own["start"].gather([place + 1 for place in last[:-1]]).to_list()
        ends[rank] = own["end"].gather(last[1:]).to_list()
    return {
        name: [[ends[rank][last] - starts[rank][first] for rank, first, last in spans] for spans in runs]
        for name, runs in kernel.spans.items()
    }


def _parts(op: Table, eager: str | None) -> int:
    """Return the number of operations for one of a kernel's operations; sizes are integers in bytes."""
    size = str(op.get("send") or op.get("recv") or "0 B")
    return 1 if eager is None or int(size.split()[0]) <= int(eager.split()[0]) else 3


def _ping_pong(times: dict[str, list[list[float]]]) -> dict[str, float]:
    def best(test: str) -> list[float]:
        return [min(map(max, runs)) for name, runs in times.items() if name.startswith(test)]

    found = {
        "latency": [span / 16 * 1e3 for span in best("latency")],
        "bandwidth": [LONG / (span / 2) / 1e6 for span in best("bandwidth")],
    }
    return {
        f"ping-pong {test}, {which}": measure(values)
        for test, values in found.items()
        for which, measure in (("least", min), ("mean", mean), ("most", max))
    }


def _rings(test: str, times: dict[str, list[list[float]]]) -> list[float]:
    """Return the latency in ms or the bandwidth in MB/s of each ring.

    For a rank, the better of its two versions counts; for a measurement, its slowest rank; and for a ring,
    its best measurement.
    """
    loops, size = {"latency": (8, SHORT), "bandwidth": (3, LONG)}[test]
    values = []
    for ring in range(len(kernels.RINGS)):
        versions = zip(times[f"{test} {ring} 1"], times[f"{test} {ring} 2"], strict=True)
        slowest = [max(map(min, one, other)) for one, other in versions]
        span = min(slowest) / (2 * loops)
        values.append(span * 1e3 if test == "latency" else size / span / 1e6)
    return values


def _ring(of_rings: Mapping[str, Sequence[float]], seed: str) -> dict[str, float]:
    """Return latency and bandwidth of the natural ring, and the geometric means over random orders.

    HPC Challenge chooses new random orders for each test from the time of day. Here they depend on the seed
    of the run and the column.
    """
    found: dict[str, float] = {}
    for test, values in of_rings.items():
        random = Random(f"{seed} {test}")
        orders = [
            kernels.random_order([int(random.random() * kernels.RANKS) for _ in range(kernels.RANKS)])
            for _ in range(kernels.RANDOM_RINGS[test])
        ]
        found[f"natural ring {test}"] = values[0]
        found[f"random ring {test}"] = math.exp(
            mean([math.log(values[kernels.ring_of(order)]) for order in orders])
        )
    return found


def _kernel(name: str, times: dict[str, list[list[float]]]) -> dict[str, float]:
    """Return the paper's rate in column a), multiplied by column a)'s seconds over the measured seconds."""
    return {name: PAPER[name][0] * WORK[name] / max(times["time"][0])}


def ratio(tables: Tables, row: str, above: str = "b", below: str = "a") -> float:
    """Return the ratio of a row's values in two columns."""
    return at(tables, "value", row=row, case=above) / at(tables, "value", row=row, case=below)


def change(tables: Tables, row: str, above: str = "c", below: str = "b") -> float:
    """Return the relative difference between a row's values in two columns."""
    return abs(ratio(tables, row, above, below) - 1)


def expected_ratio(tables: Tables, above: str = "b", test: str = "bandwidth") -> float:
    """Return the random ring's ratio of a column to column a), as geometric means over all orders."""
    mean_of = {
        case: _product(kernels.RING_SHARES, [math.log(value) for value in values])
        for case, values in _of_rings(tables, test).items()
    }
    return math.exp(mean_of[above] - mean_of["a"])


def share_of_draws(tables: Tables, least: float, test: str = "bandwidth") -> float:
    """Return the probability, over all orders in columns a) and b), that b/a is at least `least`."""
    number = kernels.RANDOM_RINGS[test]
    means: dict[str, list[tuple[float, float]]] = {}
    for case, values in _of_rings(tables, test).items():
        logarithms = [math.log(value) / number for value in values]
        means[case] = [
            (_product(counts, logarithms), _probability(counts))
            for counts in product(range(number + 1), repeat=len(values))
            if sum(counts) == number
        ]
    bound = math.log(least)
    return math.fsum(pa * pb for (a, pa), (b, pb) in product(means["a"], means["b"]) if b - a >= bound)


def _probability(counts: Sequence[int]) -> float:
    """Return the probability of these counts of the rings in a sample."""
    ways = math.factorial(sum(counts)) // math.prod(map(math.factorial, counts))
    return ways * math.prod(share**count for share, count in zip(kernels.RING_SHARES, counts, strict=True))


def _product(one: Sequence[float], other: Sequence[float]) -> float:
    return math.fsum(a * b for a, b in zip(one, other, strict=True))


def _of_rings(tables: Tables, test: str) -> dict[str, list[float]]:
    """Return the values of the rings by column."""
    rings = tables["rings"].filter(pl.col("test") == test).sort("ring")
    return {case: rings.filter(pl.col("case") == case)["value"].to_list() for case in CASES}


def fitted(tables: Tables, row: str) -> float:
    """Return the ratio of column a) to the paper's column."""
    return at(tables, "value", row=row, case="a") / PAPER[row][0]


def _draw(tables: Tables) -> Figure:
    made, (axes,) = panels(1, 1, height=4.6)
    for place, row in enumerate(PAPER):
        paper = PAPER[row]
        for case, number, colour in (("b", 1, COLOURS[1]), ("c", 2, COLOURS[0])):
            value = ratio(tables, row, case, "a")
            axes.plot(value, place, "o", color=colour, label=f"{case})/a)" if place == 0 else None)
            label = f"{case})/a) in the paper" if place == 0 else None
            axes.plot(paper[number] / paper[0], place, "|", color=colour, markersize=14, label=label)
    axes.set_yticks(range(len(PAPER)), list(PAPER))
    axes.set_xscale("log")
    axes.set_xlabel("over the value without congestion")
    axes.invert_yaxis()
    legend(made, axes)
    return made


EXPERIMENTS = [
    experiment(
        "table3", "HPC Challenge on the hosts of the victim, with and without congestion", lambda bed: bed
    )
]
"""The experiment on Table III."""
