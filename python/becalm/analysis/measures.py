"""Measures of a run: background traffic, the hot link and its sources during and after a hot period.

Rates of background groups are relative to the load that they offer at that time. If the network could not
carry that load without the hot flows either, they are relative to the part that max-min fairness gives them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from becalm.analysis.hot_spots import Case

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from becalm.network import Network
    from becalm.results import Results

MEASURES = (
    *("background", "hot_link", "fairness", "settle", "recovery", "latency_p99", "delivered"),
    *("lost", "starved", "loss", "victims"),
)
"""Measures that can be goals or limits.

`background`: mean share of its offered load, as far as the network carries that load without the hot flows,
that the background delivers in the hot period. `hot_link`:
utilization of the hot link if a case names it, or else the rate of the contributors relative to their
max-min fair rate. `fairness`: Jain's index of the hot flows. `settle`: time in s from the start of the hot
period until the background keeps its share. `recovery`: the same time from the end of the hot period.
`latency_p99`: latency in s of the worst background group. `delivered`: rate of all groups in B/s. `lost`:
share that the background loses compared with the run without incast and control. `starved`: share of the
max-min fair rate that the contributors do not get. `loss`: see the function `loss`. `victims`: share of the
background's flows that are victims of congestion, by the table `groups`.
"""
WEIGHTS = {"lost": 1.0, "starved": 0.5, "calm": 1.0}
"""Weights in the loss: background loss in an incast, unused share of contributors, loss without an incast."""
LARGER_IS_BETTER = ("background", "hot_link", "fairness", "delivered")
"""Measures for which larger is better."""
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
        **dict.fromkeys(("settle", "recovery", "lost", "starved", "got", "fair"), 0.0),
    }
    if case.stop > case.start:
        found |= _over_time(results, case, calm)
        hot = groups.filter(pl.col("group").is_in(case.groups(case.hot)))["jain"].drop_nulls().drop_nans()
        found["fairness"] = float(hot.min()) if hot.len() else 1.0  # type: ignore[arg-type]
        if calm is not None and calm["got"] > 0:
            found["lost"] = max(0.0, 1 - found["got"] / (calm["got"] * _left(found, calm)))
    found["victims"] = _victims(background)
    found["loss"] = loss(found, case)
    return found


def _victims(background: pl.DataFrame) -> float:
    """Return the share of the flows that are victims, by their role in the whole run."""
    flows = int(background["flows"].sum())
    return float(background["victims"].sum()) / flows if flows else 0.0


def loss(found: Mapping[str, float], case: Case) -> float:
    """Return the loss of background and contributors, or of the background without an incast; 0 at best."""
    if not case.hot:
        return WEIGHTS["calm"] * found["lost"]
    return sum(WEIGHTS[name] * found[name] for name in ("lost", "starved"))


def _left(found: Mapping[str, float], calm: Mapping[str, float]) -> float:
    """Return the background's fair rate next to the contributors, relative to its fair rate without them."""
    return min(1.0, found["fair"] / calm["fair"]) if calm["fair"] else 1.0


def _over_time(results: Results, case: Case, calm: Mapping[str, float] | None) -> dict[str, float]:
    import numpy as np
    import polars as pl

    series = results.series.filter(pl.col("kind") == "group")
    parts = {str(key[0]): part for key, part in series.group_by("name", maintain_order=True)}
    names, hot = case.groups(case.background), case.groups(case.hot)
    network = results.scenario.network()
    fair = network.flows.select("group", network.fair(case.start, case.stop))
    time = next(iter(parts.values()))["time"].to_numpy()
    got = np.sum([parts[name]["rate"].to_numpy() for name in names], axis=0) * np.ones(time.shape)
    found = {"fair": _fair(fair, names)}
    before = calm["fair"] if calm is not None else math.inf if hot else found["fair"]
    whole = _offered(network, names, case.start, case.stop)
    edges = [time[0], *(time[1:] + time[:-1]) / 2, time[-1]]
    offered = np.array([_offered(network, names, *ends) for ends in pairwise(edges)])
    carried = offered * (min(1.0, before / whole) if whole else 1.0)
    during = (time >= case.start) & (time < case.stop)
    after = time >= case.stop
    due = float(carried[during].sum())
    share = float(got[during].sum()) / due if due else 1.0
    right = _smooth(got) >= RIGHT * _smooth(carried)
    step = float(time[1] - time[0]) if time.size > 1 else 0.0
    found |= {
        "background": min(share, 1.0),
        "background_uncapped": share,
        "got": float(got[during].mean()),
        "settle": _until(time[during], right[during], case.start, step, case.stop - case.start),
        "recovery": _until(time[after], right[after], case.stop, step, math.inf),
    }
    if hot and (most := _fair(fair, hot)):
        taken = sum(float(parts[name]["rate"].to_numpy()[during].mean()) for name in hot)
        found["starved"] = max(0.0, 1 - taken / most)
        found["hot_link"] = 1 - found["starved"]
    if case.link is not None:
        link = results.series.filter((pl.col("kind") == "link") & (pl.col("name") == case.link))
        found["hot_link"] = min(float(link["share"].to_numpy()[during[: link.height]].mean()), 1.0)
    return found


def _fair(rates: pl.DataFrame, names: Sequence[str]) -> float:
    """Return the sum of the fair rates of groups, in B/s."""
    return float(rates.filter(rates["group"].is_in(names))["fair"].sum())


def _offered(network: Network, names: Sequence[str], start: float, stop: float) -> float:
    """Return the load that groups offer together between two times, in B/s."""
    loads = network.offered(start, stop)
    return math.fsum(loads[name] for name in names)


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
