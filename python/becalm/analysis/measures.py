"""Measures of a run: background traffic, the hot link and its sources during and after a hot period.

Rates of background groups are shares of what they offer at that time. Where a group offers no known load,
because it sends as fast as it may, they are shares of what it got before the hot period.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from becalm.analysis.hot_spots import Case
from becalm.quantities import seconds

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from becalm.results import Results

MEASURES = ("background", "hot_link", "fairness", "settle", "recovery", "latency_p99", "delivered", "loss")
"""Measures that can be goals or limits.

`background`: mean share of what its groups offer in the hot period. `hot_link`: utilization of the hot link.
`fairness`: Jain's index of the hot flows. `settle`: s from the beginning of the hot period until the
background gets its share for good. `recovery`: s from its end until it does. `latency_p99`: s, the worst of
its groups. `delivered`: B/s of all groups. `loss`: see `loss`.
"""
LARGER_IS_BETTER = ("background", "hot_link", "fairness", "delivered")
"""Of the measures."""
GOALS = ("loss", "background", "hot_link", "fairness", "settle", "recovery", "latency_p99")
"""Measures that can be goals."""
RIGHT = 0.9
"""Share of what it offers from which on the background is all right."""
SMOOTH = 5
"""Samples over whose mean the background is judged."""


def measured(results: Results, case: Case) -> dict[str, float]:
    """Return all measures of a run; shares are capped at 1, `background_uncapped` is not."""
    import polars as pl

    groups = results.groups
    background = groups.filter(pl.col("group").is_in(case.groups(case.background)))
    found = {
        "delivered": float(groups["rate"].sum()),
        "latency_p99": _worst(background["latency_p99"].to_list()),
        "background": 1.0,
        "background_uncapped": 1.0,
        "hot_link": 1.0,
        "fairness": 1.0,
        "settle": 0.0,
        "recovery": 0.0,
    }
    if case.stop > case.start:
        found |= _over_time(results, case)
        hot = groups.filter(pl.col("group").is_in(case.groups(case.hot)))["jain"].drop_nulls().drop_nans()
        found["fairness"] = float(hot.min()) if hot.len() else 1.0  # type: ignore[arg-type]
    found["loss"] = loss(found, case, seconds(str(results.scenario.resolved["run"]["duration"])))
    return found


def loss(found: Mapping[str, float], case: Case, duration: float) -> float:
    """Return one number, 0 at best: losses of the background and the hot link, unfairness, time out of order.

    The background counts 1, the hot link 1/2; unfairness, the share of the hot period until things are right,
    and the share of the time after it until they are right again, 1/4 each.
    """
    if case.stop <= case.start:
        return 0.0
    hot, after = case.stop - case.start, max(duration - case.stop, 1e-12)
    return (
        (1 - found["background"])
        + 0.5 * (1 - found["hot_link"])
        + 0.25 * (1 - found["fairness"])
        + 0.25 * found["settle"] / hot
        + 0.25 * min(found["recovery"] / after, 1.0)
    )


def _over_time(results: Results, case: Case) -> dict[str, float]:
    import numpy as np
    import polars as pl

    series = results.series
    names = case.groups(case.background)
    parts = {name: series.filter((pl.col("kind") == "group") & (pl.col("name") == name)) for name in names}
    time = next(iter(parts.values()))["time"].to_numpy()
    got = np.sum([parts[name]["rate"].to_numpy() for name in names], axis=0)
    offered = np.sum([_offered(results, name, parts[name], case) for name in names], axis=0)
    during = (time >= case.start) & (time < case.stop)
    after = time >= case.stop
    share = float(got[during].sum() / max(offered[during].sum(), 1e-12))
    right = _smooth(got) >= RIGHT * _smooth(offered)
    step = float(time[1] - time[0]) if time.size > 1 else 0.0
    found = {
        "background": min(share, 1.0),
        "background_uncapped": share,
        "settle": _until(time[during], right[during], case.start, step, case.stop - case.start),
        "recovery": _until(time[after], right[after], case.stop, step, math.inf),
    }
    if case.link is not None:
        link = series.filter((pl.col("kind") == "link") & (pl.col("name") == case.link))
        busy = link["share"].to_numpy()[during[: link.height]]
        found["hot_link"] = min(float(busy.mean()), 1.0)
    return found


def _offered(results: Results, name: str, part: Any, case: Case) -> NDArray[np.float64]:  # noqa: ANN401
    """Return what a group offers at each sample, in B/s."""
    import numpy as np

    (group,) = [each for each in results.scenario.resolved["flows"] if each["name"] == name]
    time, rate = part["time"].to_numpy(), part["rate"].to_numpy()
    poisson = group["traffic"].get("poisson")
    if poisson is None:
        before = rate[time < case.start]
        return np.full(time.shape, float(before.mean()) if before.size else 0.0)
    sources = results.flows.filter(results.flows["group"] == name)["source"].n_unique()
    whole = float(results.scenario.summary["host_rate"]) * sources
    loads = np.full(time.shape, float(poisson["load"]))
    for change in poisson["changes"]:
        loads[time >= seconds(str(change["at"]))] = change["load"]
    return np.asarray(whole * loads)


def _smooth(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return means over some samples; over fewer at the ends."""
    import numpy as np

    kernel = np.ones(min(SMOOTH, values.size))
    return np.asarray(np.convolve(values, kernel, "same") / np.convolve(np.ones(values.size), kernel, "same"))


def _until(
    time: NDArray[np.float64], right: NDArray[np.bool_], start: float, step: float, longest: float
) -> float:
    """Return how long it takes until the last sample that is not right is over.

    The first that is right would not do: at the beginning of a hot period all is still well.
    """
    import numpy as np

    wrong = np.flatnonzero(~right)
    return 0.0 if wrong.size == 0 else min(float(time[wrong[-1]]) + step - start, longest)


def _worst(values: list[float | None]) -> float:
    found = [value for value in values if value is not None and not math.isnan(value)]
    return max(found, default=0.0)
