"""Ramakrishnan and Jain 1990, Fig. 2 and 6: how routers should set the bit, and how users should read it.

Two users share the primary path, which has the satellite. The text of both figures mentions only "a network
with multiple nodes", so `fig2_overloaded` and `fig6_overloaded` use the path without the satellite. They are
not scored.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl

from becalm.lab.model import Experiment, Point, Tables
from becalm.lab.tables import at, curve
from becalm.papers.ramakrishnan1990.draw import power
from becalm.papers.ramakrishnan1990.measure import summary
from becalm.papers.ramakrishnan1990.scene import EXPONENTIAL, Law, Path, User, feedback

SIZES: dict[str, Law | None] = {"constant sizes": None, "exponential sizes": EXPONENTIAL}
CENTRES = (1, 2, 3)
CUTOFFS = (0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9)
THRESHOLDS = (1, 2)

PRIMARY = Path(users=(User(), User(start=333)), warmup=2_000, step=10_000)
OVERLOADED = replace(PRIMARY, satellite=0.0)


def _lasting(path: Path, short: bool) -> Path:
    return replace(path, duration=20_000 if short else 200_000)


def _fig2(path: Path, suffix: str = "", where: str = "") -> Experiment:
    return Experiment(
        f"ramakrishnan1990/fig2{suffix}",
        f"Power against the width of the hysteresis{where}",
        cost=10,
        points=partial(_hysteresis_points, path),
        measure=summary,
        draw=power(
            "width",
            "width of the hysteresis H (packets)",
            "centre",
            {centre: f"centre C = {centre}" for centre in CENTRES},
            SIZES,
        ),
    )


def threshold_of_1_is_best(tables: Tables) -> list[float]:
    """Return power with a threshold of 1 minus that with 2, and with 2 minus that with 3, by packet size."""
    return [
        at(tables, "power", sizes=sizes, centre=centre, width=0)
        - at(tables, "power", sizes=sizes, centre=centre + 1, width=0)
        for sizes in SIZES
        for centre in CENTRES[:-1]
    ]


def _hysteresis_points(path: Path, short: bool) -> list[Point]:
    return [
        Point(
            {"sizes": name, "centre": centre, "width": width},
            replace(
                _lasting(path, short),
                sizes=sizes,
                marking={"queue_hysteresis": {"centre": centre, "width": width}},
            ).scenario(),
        )
        for name, sizes in SIZES.items()
        for centre in CENTRES
        for width in range(2 * centre + 1)
    ]


def relative(tables: Tables, sizes: str) -> float:
    """Return the ratio of the power without hysteresis at a threshold of 1 to the largest power."""
    table = tables["points"].filter(pl.col("sizes") == sizes)
    return at(tables, "power", sizes=sizes, centre=1, width=0) / float(table["power"].to_numpy().max())


def _fig6(path: Path, suffix: str = "", where: str = "") -> Experiment:
    return Experiment(
        f"ramakrishnan1990/fig6{suffix}",
        f"Power against the cutoff of the signal filter, exponential packet sizes{where}",
        cost=10,
        points=partial(_cutoff_points, path),
        measure=summary,
        draw=power(
            "cutoff",
            "cutoff (share of bits set)",
            "threshold",
            {threshold: f"router threshold C = {threshold}" for threshold in THRESHOLDS},
            ("exponential sizes",),
        ),
    )


def _cutoff_points(path: Path, short: bool) -> list[Point]:
    return [
        Point(
            {"sizes": "exponential sizes", "threshold": threshold, "cutoff": cutoff},
            replace(
                _lasting(path, short),
                sizes=EXPONENTIAL,
                marking={"regeneration_cycle": {"threshold": threshold}},
                response=feedback(cutoff=cutoff),
            ).scenario(),
        )
        for threshold in THRESHOLDS
        for cutoff in CUTOFFS
    ]


def at_cutoff(tables: Tables, threshold: int, cutoff: float) -> float:
    """Return the ratio of the power at a cutoff to the largest power at the other cutoffs."""
    others = [at(tables, "power", threshold=threshold, cutoff=other) for other in CUTOFFS if other != cutoff]
    return at(tables, "power", threshold=threshold, cutoff=cutoff) / max(others)


def spread_of_power(tables: Tables, threshold: int) -> float:
    """Return the range of the power over all cutoffs, relative to the largest."""
    powers = np.array(curve(tables, "cutoff", "power", threshold=threshold))
    return float(np.ptp(powers) / powers.max())


EXPERIMENTS = [
    figure(*path)
    for path in ((PRIMARY,), (OVERLOADED, "_overloaded", " without the satellite"))
    for figure in (_fig2, _fig6)
]
"""Fig. 2 and 6 on the primary path, and without its satellite."""
