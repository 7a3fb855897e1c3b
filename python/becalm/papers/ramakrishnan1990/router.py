"""Ramakrishnan and Jain 1990, Fig. 2 and 6: how routers should set the bit, and how users should read it.

The users share the primary path, which has the satellite. The text of both figures mentions only "a network
with multiple nodes", so `fig2_overloaded` and `fig6_overloaded` use the path without the satellite. They are
not scored.

Power is measured at the bottleneck router and for the whole path. The figures' axes show "global power", but
section 3.1 defines a "power at each router", and section 5.3 derives the cutoffs of Fig. 6 from the power at
one router. Thresholds of Fig. 2 apply to the average queue, which section 4 adopts for reasons that do not
depend on hysteresis, and for comparison to the queue length itself.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl

from becalm.lab.model import Experiment, Label, Outcome, Point, Table, Tables
from becalm.lab.tables import at, curve, select_rows
from becalm.papers.ramakrishnan1990.draw import power
from becalm.papers.ramakrishnan1990.measure import summary
from becalm.papers.ramakrishnan1990.scene import EXPONENTIAL, SERVICE, Law, Path, User, feedback

SIZES: dict[str, Law | None] = {"constant sizes": None, "exponential sizes": EXPONENTIAL}
CENTRES = (1, 2, 3)
CUTOFFS = (0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9)
THRESHOLDS = (1, 2)

BOTTLENECK = f"R{1 + SERVICE.index(max(SERVICE))}"

PRIMARY = Path(users=(User(), User(start=333)), warmup=2_000, step=10_000)
OVERLOADED = replace(PRIMARY, satellite=0.0)
AVERAGE, LENGTH = "average", "length"
"""What the thresholds of Fig. 2 apply to: the average over regeneration cycles, or the length itself."""
LONG = 1_000_000
"""Duration of the runs of Fig. 6 in units. With 200,000, 40 seeds do not decide on differences of 1%."""
FEW, SEVERAL = 2, 4
"""Numbers of users in Fig. 2. The text says "multiple"."""
RUNS = ((AVERAGE, SEVERAL), (AVERAGE, FEW), (LENGTH, FEW))
"""What the thresholds of Fig. 2 apply to, and the number of users. The first is judged."""


def _powers(outcomes: list[Outcome]) -> Tables:
    """Return `points`, including the power at the bottleneck router, by Little's law from its queue."""
    points = summary(outcomes)["points"]
    queues = [
        float(each.results.buffers.filter(pl.col("switch") == BOTTLENECK)["mean_packets"].sum())
        for each in outcomes
    ]
    at_router = pl.col("throughput") ** 2 / pl.Series("queue", queues)
    return {"points": points.with_columns(router=at_router)}


def _lasting(path: Path, short: bool, duration: float = 200_000) -> Path:
    return replace(path, duration=20_000 if short else duration)


def _fig2(path: Path, suffix: str = "", where: str = "") -> Experiment:
    return Experiment(
        f"ramakrishnan1990/fig2{suffix}",
        f"Power against the width of the hysteresis{where}",
        cost=10,
        points=partial(_hysteresis_points, path),
        measure=_powers,
        draw=power(
            "width",
            "width of the hysteresis H (packets)",
            "centre",
            {centre: f"centre C = {centre}" for centre in CENTRES},
            SIZES,
            "router",
            of=AVERAGE,
            users=SEVERAL,
        ),
    )


def threshold_of_1_is_best(tables: Tables, of: str, users: int, column: str) -> list[float]:
    """Return power with a threshold of 1 relative to 2, and of 2 relative to 3, by packet size."""
    return [
        at(tables, column, sizes=sizes, of=of, users=users, centre=centre, width=0)
        / at(tables, column, sizes=sizes, of=of, users=users, centre=centre + 1, width=0)
        for sizes in SIZES
        for centre in CENTRES[:-1]
    ]


def _hysteresis_points(path: Path, short: bool) -> list[Point]:
    return [
        Point(
            {"of": of, "users": users, "sizes": name, "centre": centre, "width": width},
            replace(
                _lasting(path, short),
                users=tuple(User(start=333 * place) for place in range(users)),
                sizes=sizes,
                marking=_thresholds(of, centre, width),
            ).scenario(),
        )
        for of, users in (RUNS if path is PRIMARY else RUNS[:1])
        for name, sizes in SIZES.items()
        for centre in CENTRES
        for width in range(2 * centre + 1)
    ]


def _thresholds(of: str, centre: int, width: int) -> Table:
    if of == LENGTH:
        return {"queue_hysteresis": {"centre": centre, "width": width}}
    return {"regeneration_cycle": {"threshold": centre, "width": width}}


def relative(
    tables: Tables, sizes: str, of: str, users: int, column: str, centre: int = 1, width: int = 0
) -> float:
    """Return the ratio of the power with a centre and a width to the largest power."""
    chosen: dict[str, Label] = {"sizes": sizes, "of": of, "users": users}
    best = float(select_rows(tables["points"], chosen)[column].to_numpy().max())
    return at(tables, column, centre=centre, width=width, **chosen) / best


def _fig6(path: Path, suffix: str = "", where: str = "") -> Experiment:
    return Experiment(
        f"ramakrishnan1990/fig6{suffix}",
        f"Power against the cutoff of the signal filter, exponential packet sizes{where}",
        cost=10,
        points=partial(_cutoff_points, path),
        measure=_powers,
        draw=power(
            "cutoff",
            "cutoff (share of bits set)",
            "threshold",
            {threshold: f"router threshold C = {threshold}" for threshold in THRESHOLDS},
            ("exponential sizes",),
            "router",
        ),
    )


def _cutoff_points(path: Path, short: bool) -> list[Point]:
    return [
        Point(
            {"sizes": "exponential sizes", "threshold": threshold, "cutoff": cutoff},
            replace(
                _lasting(path, short, LONG),
                sizes=EXPONENTIAL,
                marking={"regeneration_cycle": {"threshold": threshold}},
                response=feedback(cutoff=cutoff),
            ).scenario(),
        )
        for threshold in THRESHOLDS
        for cutoff in CUTOFFS
    ]


def at_cutoff(tables: Tables, threshold: int, cutoff: float, column: str) -> float:
    """Return the ratio of the power at a cutoff to the largest power at the other cutoffs."""
    others = [at(tables, column, threshold=threshold, cutoff=other) for other in CUTOFFS if other != cutoff]
    return at(tables, column, threshold=threshold, cutoff=cutoff) / max(others)


def spread_of_power(tables: Tables, threshold: int, column: str) -> float:
    """Return the range of the power over all cutoffs, relative to the largest."""
    powers = np.array(curve(tables, "cutoff", column, threshold=threshold))
    return float(np.ptp(powers) / powers.max())


EXPERIMENTS = [
    figure(*path)
    for path in ((PRIMARY,), (OVERLOADED, "_overloaded", " without the satellite"))
    for figure in (_fig2, _fig6)
]
"""Fig. 2 and 6 on the primary path, and without its satellite."""
