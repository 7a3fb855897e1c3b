"""pfister2005, sections IV-B and VI-C: short runs with other parameters, on 32 ports.

`stiffness` varies the threshold and the timer of Fig. 3 by factors of four. `recovering` continues after the
hot period, and compares a higher `max_ipd` and a longer table with the guideline's.
"""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from becalm.lab.model import Experiment, Outcome, Tables
from becalm.lab.tables import TAKEN, at
from becalm.papers.common.draw import bars
from becalm.papers.pfister2005.measure import Run, measured
from becalm.papers.pfister2005.scene import IN_FIG3, NETWORKS, Control, HotSpot, guideline

FACTORS = (0.25, 1.0, 4.0)
GUIDE = guideline(32)
FINER = 5
"""Entries of the longer table per entry, and decrements of its index per decrement."""
CONTROLS: dict[str, Control] = {
    "guideline": GUIDE,
    "max_ipd x 4": replace(GUIDE, max_ipd=4 * GUIDE.max_ipd),
    "640 entries": replace(
        GUIDE, entries=FINER * 128, increase=FINER * GUIDE.increase, timer=GUIDE.timer // FINER
    ),
}
CALM = 0.1
"""Part of the guideline's `max_ipd` below which hot flows count as recovered, for every table."""


def _stiffness(short: bool) -> list[Run]:
    """Return the control of Fig. 3 with other thresholds, and with other timers."""
    controls: dict[tuple[str, float], Control] = {
        **{("threshold", factor): replace(IN_FIG3, threshold=0.9 * factor) for factor in FACTORS},
        **{
            ("timer", factor): replace(IN_FIG3, timer=max(1, round(10 * factor)))
            for factor in FACTORS
            if factor != 1.0
        },
    }
    return [
        Run(
            {"parameter": parameter, "factor": factor},
            HotSpot(NETWORKS["32"], 4, control, hot=2.0 if short else 4.0, after=0.0),
        )
        for (parameter, factor), control in controls.items()
    ]


def sensitivity(tables: Tables, parameter: str, factors: list[float]) -> float:
    """Return the range of `cold_late`, up to 1, over factors of a parameter; a factor of 1 is Fig. 3."""
    values = [
        at(tables, "cold_late", parameter=parameter if factor != 1.0 else "threshold", factor=factor)
        for factor in factors
    ]
    return TAKEN["range"]([min(1.0, value) for value in values])


def _recovering(short: bool) -> list[Run]:
    return [
        Run({"case": case, "control": name}, HotSpot(NETWORKS["32"], case, control, hot=4.0, after=3.0))
        for case in ((4,) if short else (3, 4))
        for name, control in CONTROLS.items()
    ]


def _measured_recovering(outcomes: list[Outcome]) -> Tables:
    """Return the metrics of all figures, and `calm_after`, when the IPDs are below the same delay for all."""
    tables = measured(_recovering)(outcomes)
    rows = [{"calm_after": _calm_after(outcome)} for outcome in outcomes]
    points = pl.concat([tables["points"], pl.DataFrame(rows)], how="horizontal")
    return {**tables, "points": points.with_columns(bar=pl.concat_str("case", "control", separator=" "))}


def _calm_after(outcome: Outcome) -> float:
    """Return the time after the hot period from which the hot flows' mean IPD stays below `CALM`, in ms."""
    stop = HotSpot(NETWORKS["32"], 4, hot=float(outcome.labels["hot_ms"])).stop
    paces = outcome.results.paces.filter(pl.col("group") == "hot").sort("time")
    after = paces.filter(pl.col("time") * 1e3 > stop + 1e-6)
    loud = after.filter(pl.col("delay_mean") * 1e6 >= CALM * GUIDE.max_ipd)
    return float(loud["time"].to_list()[-1]) * 1e3 - stop if loud.height else 0.0


def recovers_longer(tables: Tables, case: int, control: str) -> float:
    """Return how much longer the hot flows take to recover than with the guideline's parameters, in ms."""
    return at(tables, "calm_after", case=case, control=control) - at(
        tables, "calm_after", case=case, control="guideline"
    )


def entries_suffice(tables: Tables, case: int) -> list[float]:
    """Return `cold_late` with 128 entries, and its ratio to that with 640."""
    short, longer = (
        at(tables, "cold_late", case=case, control=name) for name in ("guideline", "640 entries")
    )
    return [short, short / longer]


def _measure_stiffness(outcomes: list[Outcome]) -> Tables:
    tables = measured(_stiffness)(outcomes)
    points = tables["points"].with_columns(bar=pl.concat_str("parameter", "factor", separator=" x "))
    return {**tables, "points": points}


EXPERIMENTS = [
    Experiment(
        "pfister2005/stiffness",
        "32 ports, load 0.9, all sources hot: other thresholds and timers",
        cost=3,
        points=lambda short: [run.point() for run in _stiffness(short)],
        measure=_measure_stiffness,
        draw=bars("bar", "cold_late", "cold throughput / offered"),
    ),
    Experiment(
        "pfister2005/recovering",
        "32 ports, load 0.9: recovery from hot spots with other tables",
        cost=5,
        points=lambda short: [run.point() for run in _recovering(short)],
        measure=_measured_recovering,
        draw=bars("bar", "calm_after", "recovery (ms)"),
    ),
]
"""The experiments on the loop's sensitivity and its recovery."""
