"""From results to the few tables that statements and figures read, and the reading of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

import polars as pl

from becalm.experiments.model import Label, Outcome, Tables
from becalm.experiments.scene import INTER_SWITCH, ROOT


def tables(outcomes: Sequence[Outcome]) -> Tables:
    """`points`: one row per scenario; `series`, `flows`: the tables of all results, with their labels."""
    return {
        "points": pl.concat([_point(outcome) for outcome in outcomes], how="diagonal_relaxed"),
        "series": pl.concat(
            [_labelled(outcome.results.series, outcome) for outcome in outcomes], how="diagonal"
        ),
        "flows": pl.concat(
            [_labelled(outcome.results.flows, outcome) for outcome in outcomes], how="diagonal"
        ),
    }


def summary(outcomes: Sequence[Outcome]) -> Tables:
    """Only `points`: what a sweep needs."""
    return {"points": pl.concat([_point(outcome) for outcome in outcomes], how="diagonal_relaxed")}


def _labelled(table: pl.DataFrame, outcome: Outcome) -> pl.DataFrame:
    return table.with_columns([pl.lit(value).alias(name) for name, value in outcome.labels.items()])


def _point(outcome: Outcome) -> pl.DataFrame:
    """Means over the measured time, as shares of a link: links, groups of flows, marks, the contended buffer.

    `local`, `remote`, `static` and `dynamic` sum the groups with that word in their name.
    """
    results = outcome.results
    groups = {row["group"]: row for row in results.groups.iter_rows(named=True)}
    row: dict[str, Label] = dict(outcome.labels)
    for name, (sender, receiver) in {
        "inter_switch": INTER_SWITCH.split("->"),
        "root": ROOT.split("->"),
    }.items():
        link = _only(results.links, {"from": sender, "to": receiver})
        row |= {name: link["utilization"], f"{name}_stalled": link["stalled_share"]}
    for word in ("local", "remote", "static", "dynamic", "victim"):
        chosen = [group for name, group in groups.items() if word in name.split()]
        if not chosen:
            continue
        row[word] = sum(group["share"] for group in chosen)
        row[f"{word}_jain"] = min(group["jain"] for group in chosen)
        row |= _marks(results.flows, word)
    if "local" in row and "remote" in row:
        row["ratio"] = float(row["remote"]) / max(float(row["local"]), 1e-12)
    buffer = _only(results.buffers, {"switch": "B", "peer": "A"})
    row |= {"buffer_max": buffer["max_packets"], "buffer_mean": buffer["mean_packets"]}
    return pl.DataFrame([row])


def _marks(flows: pl.DataFrame, word: str) -> dict[str, Label]:
    """Packets delivered and marked over the whole run, summed over the groups with `word` in their name."""
    chosen = flows.filter(pl.col("group").str.split(" ").list.contains(word))
    delivered, marked = int(chosen["delivered_packets"].sum()), int(chosen["marked"].sum())
    counts: dict[str, Label] = {f"{word}_delivered": delivered, f"{word}_marked": marked}
    return {**counts, f"{word}_marked_share": marked / max(delivered, 1)}


def _only(table: pl.DataFrame, where: dict[str, Label]) -> dict[str, float]:
    chosen = _where(table, where)
    if chosen.height != 1:
        raise LookupError(f"{chosen.height} rows with {where}, wanted one")
    return cast("dict[str, float]", chosen.row(0, named=True))


def _where(table: pl.DataFrame, where: dict[str, Label]) -> pl.DataFrame:
    for name, value in where.items():
        table = table.filter(pl.col(name) == value)
    return table


def at(tables: Tables, column: str, **where: Label) -> float:
    """One value of one point."""
    return float(_only(tables["points"], where)[column])


def curve(tables: Tables, x: str, y: str, **where: Label) -> list[float]:
    """Return the values of `y` along the axis `x`, in rising order of `x`."""
    return [float(value) for value in _where(tables["points"], where).sort(x)[y].to_list()]


def axis(tables: Tables, x: str, **where: Label) -> list[float]:
    """Return the values of an axis, in rising order."""
    return sorted(float(value) for value in _where(tables["points"], where)[x].unique().to_list())


def mean(values: Sequence[float]) -> float:
    """Arithmetic mean."""
    return math.fsum(values) / len(values)


def during(tables: Tables, kind: str, name: str, window: tuple[float, float], **where: Label) -> float:
    """Mean share of a group or link over the samples of the series from `window[0]` to `window[1]` ms."""
    series = _where(tables["series"], {"kind": kind, "name": name, **where})
    low, high = (edge * 1e-3 for edge in window)
    chosen = series.filter(pl.col("time").is_between(low - 1e-9, high + 1e-9))
    if chosen.is_empty():
        raise LookupError(f"no samples of {kind} {name} from {window[0]} to {window[1]} ms")
    return mean(chosen["share"].to_list())


def unfairness(ratio: float) -> float:
    """How far a ratio of rates is from 1, whichever is the larger: 1 is fair."""
    return max(ratio, 1 / ratio) if ratio > 0 else math.inf
