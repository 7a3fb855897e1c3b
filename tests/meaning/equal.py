"""What must be equal in the results of scenarios that mean the same: bits, bits up to names, or means."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from statistics import fmean, variance

import polars as pl

import becalm
from drawn import Tables
from meaning.relation import Equal, run

TIMED = (
    *("series", "paces", "snapshots", "frames", "frames_groups", "spans", "queues"),
    *("messages", "completion", "completion_by_size", "completion_times"),
)
"""Tables that depend on `[observe]`."""
NAMES = ("group", "host", "source", "destination", "from", "to", "switch", "node", "peer", "name", "job")
"""Columns with names of nodes and groups."""
ADDED = "unused"
"""Name of a node or group that one of two scenarios adds."""
FIRST, SECOND = 6, 24
"""Replications of each scenario whose means are compared, and of those whose means differ at first."""
DEVIATIONS = 5.0
"""Standard errors by which two means may differ."""
SLACK = 0.01
"""Share of the larger mean, or of a link's rate, by which two means may differ in addition."""


def bits(scenes: list[Tables]) -> Iterator[str]:
    """Compare fingerprints and all tables, bit for bit."""
    first, *others = map(run, scenes)
    for other in others:
        yield from same(first, other)


def same(
    first: becalm.Results,
    other: becalm.Results,
    skip: tuple[str, ...] = (),
    name: Callable[[str], str] = str,
) -> Iterator[str]:
    """Yield differences in fingerprints, and in all tables but some; `name` maps the second run's names."""
    if first.fingerprint != other.fingerprint:
        yield f"fingerprint: {first.fingerprint} and {other.fingerprint}"
    for table in sorted(first.tables.keys() & other.tables.keys()):
        if table not in skip:
            one, two = first.tables[table], _known(other.tables[table], name)
            yield from different(table, one, two)


def _known(table: pl.DataFrame, name: Callable[[str], str]) -> pl.DataFrame:
    """Return the rows without added names, with names as in the first run."""
    for column in NAMES:
        if column in table.columns and table[column].dtype == pl.String:
            table = table.filter(~pl.col(column).str.contains(ADDED, literal=True))
            table = table.with_columns(pl.Series(column, map(name, table[column].to_list()), dtype=pl.String))
    return table


def different(name: str, one: pl.DataFrame, two: pl.DataFrame) -> Iterator[str]:
    """Yield the first difference in each column of two tables."""
    if one.shape != two.shape:
        yield f"{name}: {one.shape} and {two.shape} rows and columns"
        return
    for column in one.columns:
        pairs = zip(one[column].to_list(), two[column].to_list(), strict=True)
        for row, (here, there) in enumerate(pairs):
            if here != there and not (_nan(here) and _nan(there)):
                yield f"{name}.{column}, row {row}: {here} and {there}"
                break


def _nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


def means(scenes: list[Tables]) -> Iterator[str]:
    """Compare means over replications; a difference counts if a larger sample with other seeds confirms it.

    Two means differ if they are further apart than 5 standard errors of their difference and 1% of the mean.
    Both samples must show it: chance alone does so in fewer than one of a million quantities. The scenarios
    have the same seeds, since random permutations and placements depend on them.
    """
    yield from compared(scenes, "")


def means_of_groups(scenes: list[Tables]) -> Iterator[str]:
    """Compare means of groups only, where links play each other's part."""
    yield from compared(scenes, "share")


def compared(scenes: list[Tables], start: str) -> Iterator[str]:
    """Yield the means whose names start with a text and that differ."""
    base = [{**data, "run": {"duration": data["run"]["duration"], "seed": 1}} for data in scenes]
    suspects: set[str] | None = None
    for count, shift in ((FIRST, 0), (SECOND, FIRST)):
        samples = [_measured(data, count, shift) for data in base]
        found = {
            key: text
            for key in samples[0]
            if key.startswith(start)
            and (suspects is None or key in suspects)
            and (text := _apart(samples[0][key], samples[1].get(key, [0.0] * count)))
        }
        if not found:
            return
        suspects = set(found)
    for key, text in found.items():
        yield f"{key}: {text}"


def _apart(one: list[float], two: list[float]) -> str:
    """Return both means with their standard errors if they differ, or an empty text."""
    here, there = fmean(one), fmean(two)
    error = math.sqrt(variance(one) / len(one) + variance(two) / len(two))
    if abs(here - there) <= DEVIATIONS * error + SLACK * max(abs(here), abs(there), 0.1):
        return ""
    return f"{here:.4g} and {there:.4g}, standard error of the difference {error:.2g}"


def _measured(data: Tables, count: int, shift: int) -> dict[str, list[float]]:
    """Return rates of groups and links, as shares of their links, for each replication.

    Groups that are parts of one group have its name, followed by `~` and a number.
    """
    table = {**data["run"], "replications": count, "seed": data["run"]["seed"] + shift}
    results = run({**data, "run": table})
    found: dict[str, list[float]] = {}
    host = results.scenario.summary["host_rate"]
    for row in results.groups.iter_rows(named=True):
        values = found.setdefault(f"share of {row['group'].partition('~')[0]}", [0.0] * count)
        values[row["replication"]] += row["rate"] / host
    for row in results.links.iter_rows(named=True):
        key = f"utilization of {row['from']}->{row['to']}"
        values = found.setdefault(key, [0.0] * count)
        values[row["replication"]] += row["utilization"]
    return found


def untimed(scenes: list[Tables]) -> Iterator[str]:
    """Compare fingerprints and the tables that do not depend on `[observe]`, bit for bit."""
    first, *others = map(run, scenes)
    for other in others:
        yield from same(first, other, TIMED)


def up_to(skip: tuple[str, ...], name: Callable[[str], str] = str) -> Equal:
    """Return a comparison of bits that leaves out some tables, and maps the second scenario's names."""

    def equal(scenes: list[Tables]) -> Iterator[str]:
        first, other = map(run, scenes)
        yield from same(first, other, skip, name)

    return equal
