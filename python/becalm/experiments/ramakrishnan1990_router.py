"""Ramakrishnan and Jain 1990, Fig. 2 and 6: when routers should set the bit, and how users should read it.

Both on the path without the satellite, with two users: "a network with multiple nodes", no more is said. With
the satellite the most power is elsewhere; the page of readings has the numbers.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from becalm.experiments.expect import at_least, rising
from becalm.experiments.measure import at, curve
from becalm.experiments.model import Experiment, Point, Statement, Tables
from becalm.experiments.ramakrishnan1990_draw import power
from becalm.experiments.ramakrishnan1990_measure import summary
from becalm.experiments.ramakrishnan1990_scene import EXPONENTIAL, Law, Path, User, feedback

SIZES: dict[str, Law | None] = {"constant sizes": None, "exponential sizes": EXPONENTIAL}
CENTRES = (1, 2, 3)
CUTOFFS = (0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9)
THRESHOLDS = (1, 2)

SHARED = Path(users=(User(), User(start=333)), satellite=0.0, warmup=2_000, step=10_000)
SPREAD = 0.01
"""Spread of the power of a run between seeds, relative: powers closer than this are not told apart."""


def experiments() -> list[Experiment]:
    """Fig. 2 and 6."""
    return [_fig2(), _fig6()]


def _lasting(path: Path, short: bool) -> Path:
    return replace(path, duration=20_000 if short else 200_000)


def _fig2() -> Experiment:
    return Experiment(
        "ramakrishnan1990/fig2",
        "Power against the width of the hysteresis",
        cost=10,
        points=_hysteresis_points,
        measure=summary,
        draw=lambda found: power(
            found,
            "width",
            "width of the hysteresis H (packets)",
            "centre",
            {centre: f"centre C = {centre}" for centre in CENTRES},
            "sizes",
        ),
        statements=(
            Statement(
                "none_is_best",
                "We find that the power is maximum when the hysteresis is nonexistent, with a threshold "
                "value of 1",
                1,
                lambda found: [_relative(found, sizes) for sizes in SIZES],
                at_least(1 - SPREAD),
                note="Power without hysteresis at a threshold of 1, over the largest power of all centres "
                "from 1 to 3 and all widths up to twice the centre; constant sizes, then exponential "
                'ones (the paper: "for both deterministic as well as random service times"). 1% is the '
                "spread between seeds.",
            ),
            Statement(
                "threshold_of_1_is_best",
                "with a threshold value of 1",
                "falling",
                lambda found: [
                    at(found, "power", sizes=sizes, centre=centre, width=0)
                    - at(found, "power", sizes=sizes, centre=centre + 1, width=0)
                    for sizes in SIZES
                    for centre in CENTRES[:-1]
                ],
                at_least(0),
                note="Power with a simple threshold of 1 less that with 2, and of 2 less that with 3; "
                "constant sizes, then exponential ones.",
            ),
        ),
    )


def _hysteresis_points(short: bool) -> list[Point]:
    return [
        Point(
            {"sizes": name, "centre": centre, "width": width},
            replace(
                _lasting(SHARED, short),
                sizes=sizes,
                marking={"queue_hysteresis": {"centre": centre, "width": width}},
            ).scenario(),
        )
        for name, sizes in SIZES.items()
        for centre in CENTRES
        for width in range(2 * centre + 1)
    ]


def _relative(found: Tables, sizes: str) -> float:
    table = found["points"].filter(pl.col("sizes") == sizes)
    return at(found, "power", sizes=sizes, centre=1, width=0) / float(table["power"].to_numpy().max())


def _fig6() -> Experiment:
    return Experiment(
        "ramakrishnan1990/fig6",
        "Power against the cutoff of the signal filter, exponential packet sizes",
        cost=10,
        points=_cutoff_points,
        measure=summary,
        draw=lambda found: power(
            found,
            "cutoff",
            "cutoff (share of bits set)",
            "threshold",
            {threshold: f"router threshold C = {threshold}" for threshold in THRESHOLDS},
            "sizes",
        ),
        statements=(
            Statement(
                "half_is_best_at_1",
                "When the router threshold C is 1, power is maximum when the cutoff factor for the "
                "percentage of received bits being set is equal to 50 percent",
                1,
                lambda found: _at_cutoff(found, 1, 0.5),
                at_least(1 - SPREAD),
                note="Power there over the largest power of all cutoffs; 1% is the spread between seeds.",
            ),
            Statement(
                "quarter_is_best_at_2",
                "When C is 2, power is maximum when the cutoff factor is equal to 25 percent",
                1,
                lambda found: _at_cutoff(found, 2, 0.25),
                at_least(1 - SPREAD),
                note="Likewise.",
            ),
            Statement(
                "flat_at_1",
                "We observe in fact that for C = 1 the curve is relatively flat",
                "rising",
                lambda found: [_range(found, threshold) for threshold in THRESHOLDS],
                rising(),
                note="Largest less smallest power over the largest, at C = 1 and at C = 2: flat relative to "
                "the other curve.",
            ),
        ),
    )


def _cutoff_points(short: bool) -> list[Point]:
    return [
        Point(
            {"sizes": "exponential sizes", "threshold": threshold, "cutoff": cutoff},
            replace(
                _lasting(SHARED, short),
                sizes=EXPONENTIAL,
                marking={"regeneration_cycle": {"threshold": threshold}},
                response=feedback(cutoff=cutoff),
            ).scenario(),
        )
        for threshold in THRESHOLDS
        for cutoff in CUTOFFS
    ]


def _at_cutoff(found: Tables, threshold: int, cutoff: float) -> float:
    best = max(curve(found, "cutoff", "power", threshold=threshold))
    return at(found, "power", threshold=threshold, cutoff=cutoff) / best


def _range(found: Tables, threshold: int) -> float:
    powers = np.array(curve(found, "cutoff", "power", threshold=threshold))
    return float(np.ptp(powers) / powers.max())
