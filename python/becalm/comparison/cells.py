"""Tables of a comparison as text: columns, formats of their numbers, and a ranking of the schemes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from becalm.analysis.formats import three, unit_of
from becalm.comparison.measure import LOSS, PERCENTILES, Weights, loss

Row = Mapping[str, Any]
"""A scheme's row: see `becalm.comparison.compare`. A column without a number may be missing."""

UNSETTLED = "*"
NOTE = f"{UNSETTLED} rates were still changing in the longest run"


class Shown(NamedTuple):
    """A table as text."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]


def tables(scene: str, rows: Sequence[Row]) -> list[Shown]:
    """Return the tables of a scene: measures of the schemes, and slowdowns of messages by size, if any."""
    there = [(name, head, write) for name, head, write in _COLUMNS if any(_has(row, name) for row in rows)]
    first = Shown(
        scene,
        ("scheme", *(head for _, head, _ in there)),
        [(_name(row), *(_cell(row, name, write) for name, _, write in there)) for row in rows],
    )
    classes = _classes(rows)
    if not classes:
        return [first]
    percents = "/".join(map(str, PERCENTILES))
    second = Shown(
        f"{scene}: slowdown of messages by size, {percents}%",
        ("scheme", *classes),
        [(_name(row), *(_slowdowns(row, name) for name in classes)) for row in rows],
    )
    return [first, second]


def notes(rows: Sequence[Row]) -> list[str]:
    """Return the notes below the tables of a scene."""
    said = [] if all(row["settled"] for row in rows) else [NOTE]
    said += [f"{row['scheme']}: {row['parameters']}" for row in rows if row.get("parameters")]
    return said + [f"{row['scheme']}: warning: {row['warnings']}" for row in rows if row.get("warnings")]


def _name(row: Row) -> str:
    return str(row["scheme"]) if row["settled"] else f"{row['scheme']} {UNSETTLED}"


def _has(row: Row, name: str) -> bool:
    value = row.get(name)
    return value is not None and not math.isnan(value)


def _cell(row: Row, name: str, write: Callable[[float, float], str]) -> str:
    if not _has(row, name):
        return "-"
    return write(row[name], (row[f"{name}_high"] - row[f"{name}_low"]) / 2)


def _classes(rows: Sequence[Row]) -> list[str]:
    """Return the classes of messages in any row, in order."""
    first = f"_{PERCENTILES[0]}"
    names = [
        key[len("slowdown_") : -len(first)]
        for row in rows
        for key in row
        if key.startswith("slowdown_") and key.endswith(first) and _has(row, key)
    ]
    return list(dict.fromkeys(names))


def _slowdowns(row: Row, name: str) -> str:
    values = [row.get(f"slowdown_{name}_{each}") for each in PERCENTILES]
    return " / ".join("-" if value is None or math.isnan(value) else three(value) for value in values)


def _reach(half: str) -> str:
    """Return half of an interval as text; empty if all digits are 0."""
    return f" +-{half}" if half.strip("0.") else ""


def _share(value: float, reach: float) -> str:
    # While a queue drains, it delivers more than is offered.
    return f"{100 * min(value, 1.0):.1f}%{_reach(f'{100 * reach:.1f}')}"


def _time(value: float, reach: float) -> str:
    size, name = unit_of(value)
    return f"{three(value / size)}{_reach(three(reach / size))} {name}"


def _index(value: float, reach: float) -> str:
    return f"{value:.3f}{_reach(f'{reach:.3f}')}"


def _number(value: float, reach: float) -> str:
    return f"{value:.2f}{_reach(f'{reach:.2f}')}"


_COLUMNS: tuple[tuple[str, str, Callable[[float, float], str]], ...] = (
    ("background", "background", _share),
    ("background_latency", "latency", _time),
    ("link", "hot link", _share),
    ("jain", "Jain", _index),
    ("hot_latency", "hot latency", _time),
    ("buffer", "buffer", _number),
    ("paused", "paused", _share),
    ("job", "job", _number),
    ("job_time", "job time", _time),
    ("unended", "job open", _share),
    ("unfinished", "unfinished", _share),
    ("behind", "behind best", _number),
)


class Weighting(NamedTuple):
    """The weights of a ranking."""

    loss: Weights
    hot_latency: float = 0
    """Of each decade of the contributors' latency above the least of all schemes."""


WEIGHTINGS = {
    "as tuned": Weighting(LOSS),
    "victims only": Weighting(Weights(1, 1, 0, 0, 0)),
    "all equal": Weighting(Weights(1, 1, 1, 1, 1), 1),
}
"""Weightings: that of the tuning, only what victims and jobs pay, and equal weights with the latency of the
contributors."""


def ranking(scenes: Mapping[str, Sequence[Row]]) -> Shown:
    """Return each scheme's distance from the best by scene, and its rank under each weighting.

    A distance whose 95% interval includes 0 has `=`. A scheme that has not settled on a scene has `*` there
    instead of a distance. Ranks are those of the mean distance over the scenes on which some scheme has
    settled; a scheme that has not settled on one of these has no rank.
    """
    shown = [name for name, rows in scenes.items() if any(row["settled"] for row in rows)]
    places = {name: _ranks({scene: scenes[scene] for scene in shown}, by) for name, by in WEIGHTINGS.items()}
    order = dict.fromkeys(row["scheme"] for rows in scenes.values() for row in rows)
    first = next(iter(places.values()))
    schemes = sorted(order, key=lambda scheme: first.get(scheme, len(order)))
    lines = [
        (
            scheme,
            *(_distance(scenes[scene], scheme) for scene in shown),
            *(str(ranks.get(scheme, "-")) for ranks in places.values()),
        )
        for scheme in schemes
    ]
    return Shown("Distance from the best, and ranks", ("scheme", *shown, *WEIGHTINGS), lines)


def _distance(rows: Sequence[Row], scheme: str) -> str:
    found = next((row for row in rows if row["scheme"] == scheme), None)
    if found is None:
        return "-"
    if not found["settled"]:
        return UNSETTLED
    return f"{found['behind']:.2f}{' =' if found['behind_low'] <= 0 else ''}"


def _ranks(scenes: Mapping[str, Sequence[Row]], weights: Weighting) -> dict[str, int]:
    """Return the ranks of all schemes that have settled on all scenes; equal means share a rank."""
    gaps = [dict(_gaps(rows, weights)) for rows in scenes.values()]
    means = {
        scheme: sum(gap[scheme] for gap in gaps) / len(gaps)
        for scheme in (gaps[0] if gaps else ())
        if all(scheme in gap for gap in gaps)
    }
    return {
        scheme: 1 + sum(round(other, 3) < round(mean, 3) for other in means.values())
        for scheme, mean in means.items()
    }


def _gaps(rows: Sequence[Row], weights: Weighting) -> Iterator[tuple[str, float]]:
    """Yield each settled scheme, and its distance from the least loss, by the means of its columns."""
    numbers = {"background", "link", "jain", "job", "unended", "slowdown_all_99"}
    settled = [row for row in rows if row["settled"]]
    times = [row.get("hot_latency") or math.nan for row in settled]
    fastest = min((time for time in times if not math.isnan(time)), default=math.nan)
    losses = {
        row["scheme"]: loss({key: row[key] for key in numbers if row.get(key) is not None}, weights.loss)
        + (0 if math.isnan(time) else weights.hot_latency * math.log10(time / fastest))
        for row, time in zip(settled, times, strict=True)
    }
    least = min(losses.values(), default=0.0)
    for scheme, value in losses.items():
        yield scheme, value - least
