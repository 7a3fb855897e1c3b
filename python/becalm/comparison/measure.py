"""Measures of a scheme on a scene: one number per column, from one run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import polars as pl

from becalm.comparison.scene import Scene
from becalm.results import Results
from becalm.theory import jain

PERCENTILES = (50, 95, 99)
LEAST_SHARE = 0.2
COLUMNS = (
    "background",
    "background_latency",
    "link",
    "jain",
    "hot_latency",
    "buffer",
    "paused",
    "job",
    "job_time",
    "unended",
    "unfinished",
)
"""Columns of every scene, except columns without a number:

- `background`: delivered share of the traffic that the groups of `background` offer;
- `background_latency`: mean latency of their messages in s, from posting to delivery;
- `link`: utilization of the scene's link;
- `jain`: fairness among the flows of the contributors;
- `hot_latency`: mean latency of the contributors' messages in s;
- `buffer`: mean number of packets in the fullest input buffer;
- `paused`: share of time in which the most paused link was paused; 0 without pauses;
- `job`: largest slowdown of a job compared with running alone;
- `job_time`: the longest time of a job in s;
- `unended`: share of jobs that did not end; no number if all ended;
- `unfinished`: share of posted messages that were not delivered.

There are also `loss` and `slowdown_CLASS_P`, percentile P of the slowdowns in a size class of messages from
`classes`.
"""


def classes(scene: Scene) -> list[tuple[str, pl.Expr]]:
    """Return the size classes of messages: names such as `to 30 kB`, and their ranges of sizes."""
    size, found, last = pl.col("bytes"), [], 0
    for bound in scene.sizes:
        name = f"to {_bytes(bound)}" if last == 0 else f"{_bytes(last)} to {_bytes(bound)}"
        found.append((name, (size > last) & (size <= bound)))
        last = bound
    rest = [(f"above {_bytes(last)}", size > last)] if last else []
    return [*found, *rest, ("all", pl.lit(True))]


def _bytes(size: int) -> str:
    for unit, name in ((1_000_000, "MB"), (1000, "kB")):
        if size >= unit:
            return f"{size / unit:g} {name}"
    return f"{size} B"


def row(scene: Scene, results: Results) -> dict[str, float]:
    """Return the numbers of a run, with NaN where the scene has none."""
    found = dict.fromkeys(COLUMNS, math.nan)
    flows, groups = results.flows, pl.col("group")
    background, hot = groups.is_in(scene.background), groups.is_in(scene.contributors)
    if scene.background:
        sums = results.victims.filter(background)
        found["background"] = _ratio(sums["delivered"].to_numpy().sum(), sums["offered"].to_numpy().sum())
        found["background_latency"] = _latency(flows.filter(background))
    if scene.contributors:
        found["jain"] = jain(flows.filter(hot)["rate"].to_numpy())
        found["hot_latency"] = _latency(flows.filter(hot))
    if scene.link is not None:
        sender, receiver = scene.link.split("->")
        there = results.links.filter((pl.col("from") == sender) & (pl.col("to") == receiver))
        found["link"] = float(there["utilization"].to_numpy().max())
    found["buffer"] = float(results.buffers["mean_packets"].to_numpy().max())
    found["paused"] = _paused(results)
    if "jobs" in results.tables:
        found["job"] = float(results.jobs["slowdown"].to_numpy().max())
        found["job_time"] = float(results.jobs["time"].to_numpy().max())
        found["unended"] = float(np.isnan(results.jobs["time"].to_numpy()).mean()) or math.nan
    if "completion" in results.tables:
        found |= _slowdowns(scene, results)
    return found


class Weights(NamedTuple):
    """The weights of a loss."""

    background: float
    """Of the share of the background that is not delivered."""
    job: float
    """Of the share of a job's time that it waits for others, or of the full time if the job does not end."""
    link: float
    """Of the idle share of the link."""
    jain: float
    """Of the unfairness among contributors, which is 1 minus Jain's index."""
    slowdown: float
    """Of each decade of the 99th percentile of the slowdown."""


LOSS = Weights(1, 1, 1 / 2, 1 / 4, 1 / 4)


def loss(found: Mapping[str, float], weights: Weights = LOSS) -> float:
    """Return the loss of a run, 0 at best: the weighted sum of the shortfalls of its columns."""
    nothing: dict[str, float] = {"background": 1, "link": 1, "jain": 1, "job": 1, "slowdown_all_99": 1}
    there = {**nothing, **{key: value for key, value in found.items() if not math.isnan(value)}}
    return (
        weights.background * (1 - min(there["background"], 1))
        + weights.job * (1.0 if "unended" in there else 1 - 1 / there["job"])
        + weights.link * (1 - there["link"])
        + weights.jain * (1 - there["jain"])
        + weights.slowdown * math.log10(max(there["slowdown_all_99"], 1))
    )


def _ratio(above: float, below: float) -> float:
    return float(above / below) if below > 0 else math.nan


def _latency(flows: pl.DataFrame) -> float:
    """Return the mean latency over the messages of all flows, in s."""
    some = flows.filter(pl.col("messages") > 0)
    messages = some["messages"].to_numpy()
    return float(some["latency_mean"].to_numpy() @ messages / messages.sum()) if messages.size else math.nan


def _paused(results: Results) -> float:
    """Return the share of the measured time in which the most paused link was paused."""
    pauses = results.tables.get("pauses")
    return 0.0 if pauses is None else float(pauses["paused_share"].to_numpy().max())


def _slowdowns(scene: Scene, results: Results) -> dict[str, float]:
    counts = results.completion.select(pl.col("messages").sum(), pl.col("unfinished").sum()).row(0)
    found = {"unfinished": counts[1] / max(sum(counts), 1)}
    if "messages" not in results.tables:
        return found
    for name, chosen in classes(scene):
        slowdowns = results.messages.filter(chosen)["slowdown"]
        for each in PERCENTILES:
            value = slowdowns.quantile(each / 100, "higher")
            found[f"slowdown_{name}_{each}"] = math.nan if value is None else float(value)
    return found


def change(scene: Scene, results: Results) -> dict[str, float]:
    """Return the change of each group's rate between the halves of the measured time, relative to the mean.

    Rates below a fifth of the link rate count as a fifth, because their changes hardly matter.
    """
    series = results.series.filter(
        pl.col("kind") == "group", pl.col("name").is_in([*scene.background, *scene.contributors])
    )
    begin, end = results.scenario.warmup, results.scenario.duration
    found = {}
    for (name,), samples in series.filter(pl.col("time").is_between(begin, end)).group_by("name"):
        halves = [
            samples.filter((pl.col("time") >= (begin + end) / 2) == late)["share"].to_numpy().mean()
            for late in (False, True)
        ]
        found[str(name)] = float((halves[1] - halves[0]) / max(sum(halves) / 2, LEAST_SHARE))
    return found
