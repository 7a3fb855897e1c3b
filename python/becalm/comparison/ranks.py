"""Schemes by their distance from the best on all scenes, and ranks under several weightings of the loss."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from becalm.comparison.cells import UNSETTLED, Row, Shown
from becalm.comparison.measure import LOSS, Weights, loss


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
