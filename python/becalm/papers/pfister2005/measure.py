"""Metrics of a run of pfister2005, from throughput per output port and IPDs over time.

Rates are shares of a link. A *cold port* is any output port to a host except the hot port.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from becalm.lab.model import Experiment, Label, Outcome, Point, Tables
from becalm.lab.tables import labelled, select_rows
from becalm.papers.pfister2005.scene import SHOWN, HotSpot, Network

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GRACE = 1.0
"""Time for a congestion tree to form before the hot period is judged, in ms."""
SMOOTH = 0.5
"""Averaging window for settling and recovery, in ms."""
KEPT = 0.9
"""Throughput of settled cold ports, as a share of the capacity that hot traffic leaves."""


@dataclass(frozen=True)
class Trace:
    """A run over time. `cold[port]` and `hot` are shares, and `hot_ipd` is in microseconds."""

    spot: HotSpot
    time: np.ndarray[Any, Any]
    """Middle of every sample in ms."""
    cold: np.ndarray[Any, Any]
    """One row per sample, one column per cold port."""
    hot: np.ndarray[Any, Any]
    hot_ipd: np.ndarray[Any, Any]
    """Mean IPD of the flows to the hot port while it is hot."""

    @property
    def mean(self) -> np.ndarray[Any, Any]:
        """Mean throughput of the cold ports."""
        return np.asarray(self.cold.mean(axis=1))

    def between(self, low: float, high: float) -> np.ndarray[Any, Any]:
        """Return a mask of the samples from `low` to `high` ms."""
        return np.asarray((self.time > low + 1e-6) & (self.time < high + 1e-6))


@dataclass(frozen=True)
class Run:
    """A scene and its position on the axes of an experiment."""

    labels: dict[str, Label]
    spot: HotSpot

    def point(self) -> Point:
        """Return the scene as a point of an experiment, with its length in the label `hot_ms`."""
        return Point({**self.labels, "hot_ms": self.spot.hot}, self.spot.scenario())


def of_runs(
    name: str,
    title: str,
    cost: float,
    runs: Callable[[bool], list[Run]],
    draw: Callable[[Tables], Figure],
    *,
    seeded: bool = True,
) -> Experiment:
    """Return the experiment that measures these runs, reduced or not."""
    return Experiment(
        f"pfister2005/{name}",
        title,
        cost=cost,
        points=lambda short: [run.point() for run in runs(short)],
        measure=measured(runs),
        draw=draw,
        seeded=seeded,
    )


def measured(runs: Callable[[bool], list[Run]]) -> Callable[[list[Outcome]], Tables]:
    """Return the function that measures these runs, reduced or not. Its tables include the runs' labels."""

    def measure(outcomes: list[Outcome]) -> Tables:
        scenes = {
            tuple(run.point().labels.items()): run.spot for short in (False, True) for run in runs(short)
        }
        rows, ports, paces = [], [], []
        for outcome in outcomes:
            spot = scenes[tuple(outcome.labels.items())]
            trace = _trace(outcome, spot)
            rows.append({**outcome.labels, **_metrics(outcome, trace)})
            ports.append(labelled(_shown(outcome, spot.network), outcome))
            paces.append(labelled(_ipds(outcome), outcome))
        return {"points": pl.DataFrame(rows), "ports": pl.concat(ports), "ipd": pl.concat(paces)}

    return measure


def _shown(outcome: Outcome, network: Network) -> pl.DataFrame:
    """Return the throughput of the ports that the paper shows, as `time_ms`, `port` and `share`."""
    names = {network.link(host): host for host in range(min(network.hosts, SHOWN))}
    series = outcome.results.series.filter((pl.col("kind") == "link") & pl.col("name").is_in(list(names)))
    port = pl.col("name").replace_strict(names, return_dtype=pl.Int64).alias("port")
    return series.select((pl.col("time") * 1e3).alias("time_ms"), port, "share")


def _ipds(outcome: Outcome) -> pl.DataFrame:
    """Return mean and largest IPD of hot and cold flows in us, as `time_ms`, `flows`, `mean` and `max`."""
    kind = pl.col("group").str.split(" ").list.first().alias("flows")
    paces = outcome.results.paces.with_columns(kind, (pl.col("time") * 1e3).alias("time_ms"))
    return (
        paces.group_by("time_ms", "flows")
        .agg((pl.col("delay_mean").max() * 1e6).alias("mean"), (pl.col("delay_max").max() * 1e6).alias("max"))
        .sort("flows", "time_ms")
    )


def _trace(outcome: Outcome, spot: HotSpot) -> Trace:
    links = outcome.results.series.filter(pl.col("kind") == "link")
    wide = links.pivot(on="name", index="time", values="share").sort("time")
    hot = spot.network.link(spot.network.hot)
    cold = [spot.network.link(host) for host in range(spot.network.hosts) if host != spot.network.hot]
    paces = outcome.results.paces.filter(pl.col("group") == "hot").sort("time")
    return Trace(
        spot,
        wide["time"].to_numpy() * 1e3,
        wide.select(cold).to_numpy(),
        wide[hot].to_numpy(),
        paces["delay_mean"].to_numpy() * 1e6,
    )


def _metrics(outcome: Outcome, run: Trace) -> dict[str, float]:
    """Return the metrics under the names that the paper's page defines."""
    spot = run.spot
    before, late = run.between(spot.start / 4, spot.start), run.between(spot.stop - spot.hot / 4, spot.stop)
    formed, second = (
        run.between(spot.start + GRACE, spot.stop),
        run.between(spot.stop - spot.hot / 2, spot.stop),
    )
    cold_before = float(run.mean[before].mean())
    smooth = _smooth(run.mean, spot.step)
    groups = {row["group"]: row for row in outcome.results.groups.iter_rows(named=True)}
    return {
        "left": spot.left(),
        "cold_before": cold_before,
        "cold_hot": float(run.mean[formed].mean()) / cold_before,
        "cold_best": float(smooth[formed].max()) / cold_before,
        "cold_worst": float(smooth[run.between(spot.start, spot.stop)].min()) / spot.left(),
        "cold_late": float(run.mean[late].mean()) / spot.left(),
        "cold_again": _again(smooth[formed] / spot.left()),
        "port_worst": float(run.cold[second].mean(axis=0).min()) / spot.left(),
        "port_best": float(run.cold[formed].mean(axis=0).max()) / cold_before,
        "port_best_left": float(run.cold[formed].mean(axis=0).max()) / spot.left(),
        "innocent": _innocent(outcome, spot),
        "settling": _first(run, smooth >= KEPT * spot.left(), spot.start, spot.stop),
        "recovery": _first(run, smooth >= 0.95 * cold_before, spot.stop, spot.duration),
        "hot_late": float(run.hot[second].mean()),
        "hot_worst": float(_smooth(run.hot, spot.step)[formed].min()),
        "cold_swing": float(run.mean[second].std()),
        "hot_swing": float(run.hot[second].std()),
        "hot_jain": float(groups["hot"]["jain"]),
        "becn_us": _between_becns(outcome, spot),
        **_ipd_metrics(outcome, run),
    }


def _innocent(outcome: Outcome, spot: HotSpot) -> float:
    """Return the late throughput of the group `cold`, relative to its load; nan if this load changes.

    With three hot sources, the hosts of this group send nothing to the hot port beyond the background.
    """
    series = outcome.results.series.filter((pl.col("kind") == "group") & (pl.col("name") == "cold"))
    if not spot.few or series.is_empty():
        return math.nan
    ms = pl.col("time") * 1e3
    before = series.filter(ms.is_between(spot.start / 4, spot.start))["rate"].to_numpy().mean()
    late = series.filter(ms.is_between(spot.stop - spot.hot / 4, spot.stop))["rate"].to_numpy().mean()
    return float(late / before)


def _between_becns(outcome: Outcome, spot: HotSpot) -> float:
    """Return the mean time between two BECNs of a hot flow in the hot period in us; 0 without control."""
    hot = outcome.results.flows.filter(pl.col("group") == "hot")
    marked = int(hot["marked"].sum())
    return 1e3 * spot.hot * hot.height / marked if marked else 0.0


def _ipd_metrics(outcome: Outcome, run: Trace) -> dict[str, float]:
    """Return IPDs as shares of the table's last entry, and their duration after the hot period."""
    if run.spot.control is None:
        return dict.fromkeys(("hot_ipd", "cold_ipd", "cold_ipd_mean", "ipd_after"), 0.0)
    top = run.spot.control.max_ipd
    table = _ipds(outcome)
    most = {
        name: float(table.filter(pl.col("flows") == name)["max"].to_numpy().max()) for name in ("hot", "cold")
    }
    calm = run.hot_ipd < 0.1 * top
    return {
        "hot_ipd": most["hot"] / top,
        "cold_ipd": most["cold"] / top,
        "cold_ipd_mean": float(table.filter(pl.col("flows") == "cold")["mean"].to_numpy().max()) / top,
        "ipd_after": _first(run, calm, run.spot.stop, run.spot.duration),
    }


def _again(shares: np.ndarray[Any, Any]) -> float:
    """Return the smallest share from the first settled sample onward; 0 if none is settled."""
    settled = np.flatnonzero(shares >= KEPT)
    return float(shares[settled[0] :].min()) if settled.size else 0.0


def _smooth(values: np.ndarray[Any, Any], step: float) -> np.ndarray[Any, Any]:
    """Return trailing means over `SMOOTH`. The first means cover fewer samples."""
    width = max(1, round(SMOOTH / step))
    sums = np.cumsum(np.concatenate([np.zeros(width), values]))
    counts = np.minimum(np.arange(1, len(values) + 1), width)
    return np.asarray((sums[width:] - sums[:-width]) / counts)


def _first(run: Trace, holds: np.ndarray[Any, Any], start: float, end: float) -> float:
    """Return the time in ms from `start` to the point from which a condition holds until `end`.

    The result is the entire time if the condition does not hold at the last sample.
    """
    chosen = run.between(start, end)
    wrong = np.flatnonzero(~holds[chosen])
    if wrong.size == 0:
        return 0.0
    return min(float(run.time[chosen][wrong[-1]]) - start + run.spot.step, end - start)


def values(tables: Tables, column: str, **where: Label) -> list[float]:
    """Return a metric of all runs with these labels, in their order."""
    table = select_rows(tables["points"], where)
    if table.is_empty():
        raise LookupError(f"no run with {where}")
    return [float(value) for value in table[column].to_list()]


def one(tables: Tables, column: str, **where: Label) -> float:
    """Return a metric of the only run with these labels."""
    (value,) = values(tables, column, **where)
    return value
