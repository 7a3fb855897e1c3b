"""Tables of results on the dumbbell, which measures and figures read."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from becalm.lab.dumbbell import INTER_SWITCH, ROOT
from becalm.lab.model import Label, Outcome, Tables
from becalm.lab.tables import labelled, mean, only, select_rows

VICTIM_MS = (45.0, 59.0)
"""Measured interval of a figure with a victim from 40 to 60 ms, without the transient and window edges."""


def with_series(outcomes: Sequence[Outcome]) -> Tables:
    """Return `points` with one row per scenario, and the tables `series` and `flows` of all results."""
    return {
        "points": pl.concat([_point(outcome) for outcome in outcomes], how="diagonal_relaxed"),
        "series": pl.concat(
            [labelled(outcome.results.series, outcome) for outcome in outcomes], how="diagonal"
        ),
        "flows": pl.concat(
            [labelled(outcome.results.flows, outcome) for outcome in outcomes], how="diagonal"
        ),
    }


def summary(outcomes: Sequence[Outcome]) -> Tables:
    """Return only `points`, which is sufficient for a sweep."""
    return {"points": pl.concat([_point(outcome) for outcome in outcomes], how="diagonal_relaxed")}


def _point(outcome: Outcome) -> pl.DataFrame:
    """Return means over the measured time, for links and flows (as shares of a link), marks and a buffer.

    `local`, `remote`, `static` and `dynamic` sum the groups with that word in their name.
    """
    results = outcome.results
    groups = {row["group"]: row for row in results.groups.iter_rows(named=True)}
    row: dict[str, Label] = dict(outcome.labels)
    for name, (sender, receiver) in {
        "inter_switch": INTER_SWITCH.split("->"),
        "root": ROOT.split("->"),
    }.items():
        link = only(results.links, {"from": sender, "to": receiver})
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
    buffer = only(results.buffers, {"switch": "B", "peer": "A"})
    row |= {"buffer_max": buffer["max_packets"], "buffer_mean": buffer["mean_packets"]}
    return pl.DataFrame([row])


def _marks(flows: pl.DataFrame, word: str) -> dict[str, Label]:
    """Return packets delivered and marked over the entire run, for all groups with `word` in their name."""
    chosen = flows.filter(pl.col("group").str.split(" ").list.contains(word))
    delivered, marked = int(chosen["delivered_packets"].sum()), int(chosen["marked"].sum())
    counts: dict[str, Label] = {f"{word}_delivered": delivered, f"{word}_marked": marked}
    return {**counts, f"{word}_marked_share": marked / max(delivered, 1)}


def during(tables: Tables, kind: str, name: str, window: tuple[float, float], **where: Label) -> float:
    """Return a group's or link's mean share over the samples from `window[0]` to `window[1]` ms."""
    series = select_rows(tables["series"], {"kind": kind, "name": name, **where})
    low, high = (edge * 1e-3 for edge in window)
    chosen = series.filter(pl.col("time").is_between(low - 1e-9, high + 1e-9))
    if chosen.is_empty():
        raise LookupError(f"no samples of {kind} {name} from {window[0]} to {window[1]} ms")
    return mean(chosen["share"].to_list())


def victim(tables: Tables, **where: Label) -> float:
    """Return the victim's share of a link while it is active, in the run with these labels."""
    return during(tables, "group", "victim", VICTIM_MS, **where)


def inter_switch(tables: Tables, **where: Label) -> float:
    """Return the utilization of the inter-switch link while the victim is active."""
    return during(tables, "link", INTER_SWITCH, VICTIM_MS, **where)
