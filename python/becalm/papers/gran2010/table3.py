"""Table III of gran2010: HPC Challenge beside the congestion of scenario 1."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from becalm.lab.model import Experiment, Label, Outcome, Point, Tables
from becalm.lab.tables import at, mean
from becalm.papers.gran2010 import kernels
from becalm.papers.gran2010.kernels import LONG, SHORT, Kernel
from becalm.papers.gran2010.scene import Bed, Table
from becalm.plot import COLOURS, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CASES: Mapping[str, bool | None] = {"a": None, "b": False, "c": True}
"""Congestion control of the table's columns; without the synthetic flows in column a)."""

FLOWS = (2, 3, 4)
"""The synthetic flows: the victim's rate of a quarter of 13 Gb/s, in column b), needs just three."""

SETTLE = 0.05
"""Time in s that the synthetic flows have before the kernels start."""

OVERHEAD = "355 ns"
"""What a rank does per message and side, so that a message takes the 1.95 us of column a) between hosts."""

LOCAL: Table = {"local_latency": "420 ns", "local_rate": "0.88 GB/s"}
"""Messages inside a host, from the least latency and bandwidth of column a)."""

BOTH_WAYS = "0.331 GB/s"
"""Rate of each of two messages inside a host at the same time, from the random ring of column a).

Together they are slower than one message alone, since the adapter moves data, too.
"""

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
"""Seconds of the kernels in column a), from their rates and the operations that HPC Challenge counts."""

FITTED: Mapping[str, float] = {
    "PTRANS": 2.3367e-3,
    "HPL": 0.362226,
    "RandomAccess": 175.668e-6,
    "FFT": 1.10614e-3,
}
"""Computation in s, so that column a) takes the seconds of `WORK`: of a whole PTRANS and HPL, of a bucket of
RandomAccess, of one of three parts of the FFT."""

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


def experiments() -> list[Experiment]:
    """Table III."""
    return [
        Experiment(
            "gran2010/table3",
            "HPC Challenge on the hosts of the victim, with and without congestion",
            cost=9,
            points=_points,
            measure=_measure,
            draw=_draw,
        )
    ]


def _points(short: bool) -> list[Point]:
    return [
        Point({"kernel": kernel, "case": case}, _scenario(kernel, control))
        for kernel in (REDUCED if short else KERNELS)
        for case, control in CASES.items()
    ]


def _scenario(kernel: str, control: bool | None) -> dict[str, Any]:
    bed = Bed(control=bool(control), interval=1e-6, tail=2.0, active=FLOWS)
    data = bed.scenario_data()
    settle = 0.0 if control is None else SETTLE
    data["run"] = {"duration": "2 s", "end": "jobs"}
    data["observe"] = {"step": "1 ms", "window": "1 ms", "links": []}
    if control is None:
        data["flows"] = []
    data["jobs"] = [
        {
            "name": kernel,
            "hosts": ["H1", "H4"],
            "placement": "round_robin",
            "ranks": kernels.RANKS,
            "start": f"{settle * 1e3:.0f} ms",
            "overhead": OVERHEAD,
            **LOCAL,
            **({"local_rate": BOTH_WAYS} if kernel == "ring" else {}),
            "alone": False,
            "record_ops": True,
            "ops": KERNELS[kernel]().ops,
        }
    ]
    return data


def _measure(outcomes: list[Outcome]) -> Tables:
    """`points`: one value per row and column of the table, in its units."""
    rows: list[dict[str, Label]] = []
    for outcome in outcomes:
        name = str(outcome.labels["kernel"])
        times = _times(KERNELS[name](), outcome.results.tables["ops"])
        for row, value in _READ.get(name, _kernel)(name, times).items():
            rows.append({**outcome.labels, "row": row, "value": value})
    return {"points": pl.DataFrame(rows)}


def _times(kernel: Kernel, ops: pl.DataFrame) -> dict[str, list[float]]:
    """Return the seconds of every measurement by its name: the slowest rank counts."""
    starts: dict[int, list[float]] = {}
    ends: dict[int, list[float]] = {}
    for rank in range(kernels.RANKS):
        own = ops.filter(pl.col("rank") == rank).sort("op")
        starts[rank], ends[rank] = own["start"].to_list(), own["end"].to_list()

    def slowest(spans: list[tuple[int, int, int]]) -> float:
        return max(ends[rank][last] - starts[rank][first] for rank, first, last in spans)

    return {name: [slowest(spans) for spans in runs] for name, runs in kernel.spans.items()}


def _ping_pong(_: str, times: dict[str, list[float]]) -> dict[str, float]:
    latency = [min(runs) / 16 * 1e3 for name, runs in times.items() if name.startswith("latency")]
    bandwidth = [LONG / (min(runs) / 2) / 1e6 for name, runs in times.items() if name.startswith("bandwidth")]
    found = {"latency": latency, "bandwidth": bandwidth}
    return {
        f"ping-pong {test}, {which}": measure(values)
        for test, values in found.items()
        for which, measure in (("least", min), ("mean", mean), ("most", max))
    }


def _ring(_: str, times: dict[str, list[float]]) -> dict[str, float]:
    """Return latency and bandwidth of the natural ring, and the geometric means over all rings.

    HPC Challenge draws 30 or 10 random orders; each ring is as likely as another.
    """
    found: dict[str, float] = {}
    for test, loops in (("latency", 8), ("bandwidth", 3)):
        best = [
            min(
                min(max_a, max_b)
                for max_a, max_b in zip(times[f"{test} {ring} 1"], times[f"{test} {ring} 2"], strict=True)
            )
            / (2 * loops)
            for ring in range(len(kernels.RINGS))
        ]
        size = SHORT if test == "latency" else LONG
        values = [span * 1e3 if test == "latency" else size / span / 1e6 for span in best]
        found[f"natural ring {test}"] = values[0]
        found[f"random ring {test}"] = math.prod(values) ** (1 / len(values))
    return found


def _kernel(name: str, times: dict[str, list[float]]) -> dict[str, float]:
    """Return a rate: the paper's of column a) times the seconds of column a) over those measured."""
    return {name: PAPER[name][0] * WORK[name] / times["time"][0]}


_READ: Mapping[str, Callable[[str, dict[str, list[float]]], dict[str, float]]] = {
    "ping-pong": _ping_pong,
    "ring": _ring,
}


def ratio(tables: Tables, row: str, above: str = "b", below: str = "a") -> float:
    """Value of a row in one column over that in another."""
    return at(tables, "value", row=row, case=above) / at(tables, "value", row=row, case=below)


def fitted(tables: Tables, row: str) -> float:
    """Value of column a) over the paper's."""
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
    handles, labels = axes.get_legend_handles_labels()
    made.legend(handles, labels, loc="outside right center", frameon=False)
    return made
