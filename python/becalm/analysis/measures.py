"""Measures of a run: background traffic, the hot link and its sources during and after a hot period.

Rates of background groups are relative to the load that they offer at that time. If a group's load is
unknown because it sends as fast as it can, they are relative to its rate before the hot period.
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

MEASURES = (
    *("background", "hot_link", "fairness", "settle", "recovery", "latency_p99", "delivered"),
    *("lost", "starved", "loss"),
)
"""Measures that can be goals or limits.

`background`: mean share of its offered load that the background delivers in the hot period. `hot_link`:
utilization of the hot link if a case names it, or else the rate of the contributors relative to their
max-min fair rate. `fairness`: Jain's index of the hot flows. `settle`: time in s from the start of the hot
period until the background keeps its share. `recovery`: the same time from the end of the hot period.
`latency_p99`: latency in s of the worst background group. `delivered`: rate of all groups in B/s. `lost`:
share that the background loses compared with the run without incast and control. `starved`: share of the
max-min fair rate that the contributors do not get. `loss`: see the function `loss`.
"""
WEIGHTS = {"lost": 1.0, "starved": 0.5, "calm": 1.0}
"""Weights in the loss: background loss in an incast, unused share of contributors, loss without an incast."""
LARGER_IS_BETTER = ("background", "hot_link", "fairness", "delivered")
"""Measures for which larger is better."""
GOALS = tuple(name for name in MEASURES if name != "delivered")
"""Measures that can be goals."""
RIGHT = 0.9
"""Smallest share of its offered load at which the background counts as unharmed."""
SMOOTH = 5
"""Number of samples in the background's moving average."""


def measured(results: Results, case: Case, calm: Mapping[str, float] | None = None) -> dict[str, float]:
    """Return all measures of a run. Shares are capped at 1, except `background_uncapped`.

    Args:
        results: the run.
        case: the run's case.
        calm: measures of the case without incast and control; if not given, `lost` is 0.

    """
    import polars as pl

    groups = results.groups
    background = groups.filter(pl.col("group").is_in(case.groups(case.background)))
    found = {
        "delivered": float(groups["rate"].sum()),
        "latency_p99": _worst(background["latency_p99"].to_list()),
        **dict.fromkeys(("background", "background_uncapped", "hot_link", "fairness"), 1.0),
        **dict.fromkeys(("settle", "recovery", "lost", "starved", "got"), 0.0),
    }
    if case.stop > case.start:
        found |= _over_time(results, case)
        hot = groups.filter(pl.col("group").is_in(case.groups(case.hot)))["jain"].drop_nulls().drop_nans()
        found["fairness"] = float(hot.min()) if hot.len() else 1.0  # type: ignore[arg-type]
        if calm is not None and calm["got"] > 0:
            found["lost"] = max(0.0, 1 - found["got"] / (calm["got"] * _left(case)))
    found["loss"] = loss(found, case)
    return found


def loss(found: Mapping[str, float], case: Case) -> float:
    """Return the loss of background and contributors, or of the background without an incast; 0 at best."""
    if not case.hot:
        return WEIGHTS["calm"] * found["lost"]
    return sum(WEIGHTS[name] * found[name] for name in ("lost", "starved"))


def _left(case: Case) -> float:
    """Return the background's fair rate next to the contributors, relative to its fair rate without them."""
    names, calm = case.groups(case.background), case.calm
    before = sum(calm.fair[name] for name in names) if calm is not None else 0.0
    return min(1.0, sum(case.fair[name] for name in names) / before) if before else 1.0


def _over_time(results: Results, case: Case) -> dict[str, float]:
    import numpy as np
    import polars as pl

    series = results.series.filter(pl.col("kind") == "group")
    parts = {str(key[0]): part for key, part in series.group_by("name", maintain_order=True)}
    names, hot = case.groups(case.background), case.groups(case.hot)
    time = next(iter(parts.values()))["time"].to_numpy()
    got = np.sum([parts[name]["rate"].to_numpy() for name in names], axis=0) * np.ones(time.shape)
    offered = np.sum([_offered(results, name, parts[name], case) for name in names], axis=0)
    during = (time >= case.start) & (time < case.stop)
    after = time >= case.stop
    share = float(got[during].sum() / max((offered * during).sum(), 1e-12)) if names else 1.0
    right = _smooth(got) >= RIGHT * _smooth(offered * np.ones(time.shape))
    step = float(time[1] - time[0]) if time.size > 1 else 0.0
    found = {
        "background": min(share, 1.0),
        "background_uncapped": share,
        "got": float(got[during].mean()),
        "settle": _until(time[during], right[during], case.start, step, case.stop - case.start),
        "recovery": _until(time[after], right[after], case.stop, step, math.inf),
    }
    if hot:
        fair = sum(case.fair[name] for name in hot)
        taken = sum(float(parts[name]["rate"].to_numpy()[during].mean()) for name in hot)
        found["starved"] = max(0.0, 1 - taken / fair) if fair else 0.0
        found["hot_link"] = 1 - found["starved"]
    if case.link is not None:
        link = results.series.filter((pl.col("kind") == "link") & (pl.col("name") == case.link))
        found["hot_link"] = min(float(link["share"].to_numpy()[during[: link.height]].mean()), 1.0)
    return found


def _offered(results: Results, name: str, part: Any, case: Case) -> NDArray[np.float64]:  # noqa: ANN401
    """Return a group's offered load at each sample, in B/s."""
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
    """Return moving means, over fewer samples at the ends."""
    import numpy as np

    kernel = np.ones(min(SMOOTH, values.size))
    return np.asarray(np.convolve(values, kernel, "same") / np.convolve(np.ones(values.size), kernel, "same"))


def _until(
    time: NDArray[np.float64], right: NDArray[np.bool_], start: float, step: float, longest: float
) -> float:
    """Return the time until the end of the last sample that is not right.

    The first right sample would not do, because the samples at the start of a hot period are still right.
    """
    import numpy as np

    wrong = np.flatnonzero(~right)
    return 0.0 if wrong.size == 0 else min(float(time[wrong[-1]]) + step - start, longest)


def _worst(values: list[float | None]) -> float:
    found = [value for value in values if value is not None and not math.isnan(value)]
    return max(found, default=0.0)
