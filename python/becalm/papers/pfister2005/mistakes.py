"""pfister2005, Fig. 4: four settings with a wrong parameter."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from becalm.lab.model import Experiment, Tables
from becalm.papers.pfister2005.draw import settings
from becalm.papers.pfister2005.measure import Run, of_runs, one
from becalm.papers.pfister2005.scene import IN_FIG3, NETWORKS, TIMER_US, Control, HotSpot

GOOD = "fig3"

WRONG: dict[str, tuple[str, Control]] = {
    "fig4a": ("index step too low: 3", replace(IN_FIG3, increase=3)),
    "fig4b": ("index step too high: 128", replace(IN_FIG3, increase=128)),
    "fig4c": ("recovery timer too low: 2 us", replace(IN_FIG3, timer=2)),
    "fig4d": (f"recovery timer too high: {1000 * TIMER_US / 1000:.3g} ms", replace(IN_FIG3, timer=1000)),
}
"""The wrong settings, for which the text states no numbers. 3 is the lowest step with which marks raise the
indices of 31 flows (see `step_too_low_oscillates`), and 128 is the highest of the paper's range. The timers
are a fifth and 100 times the right timer."""

STEPS = (1, 2, 3, 5, 10, 20, 40, 80, 128)
"""Steps of the index. The paper's range is 1 to 128."""


def _spot(control: Control, short: bool) -> HotSpot:
    """Return the most critical case, with all sources hot at high load and a long hot period."""
    return HotSpot(NETWORKS["32"], 4, control, hot=4 if short else 16, after=1.0)


def _runs(name: str, short: bool) -> list[Run]:
    """Return the wrong setting and the right one."""
    controls = {name: WRONG[name][1], GOOD: IN_FIG3}
    return [Run({"case": 4, "control": label}, _spot(control, short)) for label, control in controls.items()]


def _experiment(name: str) -> Experiment:
    title = WRONG[name][0]
    return of_runs(
        name,
        f"32 ports, load 0.9, all sources hot: {title}",
        10,
        partial(_runs, name),
        settings({title: {"control": name}, "parameters of Fig. 3": {"control": GOOD}}),
    )


def _runs_increments(short: bool) -> list[Run]:
    steps = (1, 5, 128) if short else STEPS
    return [Run({"case": 4, "step": step}, _spot(replace(IN_FIG3, increase=step), short)) for step in steps]


def swing(tables: Tables, control: str) -> float:
    """Return the larger increase of `cold_swing` and `hot_swing` over the right setting."""
    return max(
        one(tables, column, control=control) - one(tables, column, control=GOOD)
        for column in ("cold_swing", "hot_swing")
    )


def lost(tables: Tables, column: str, step: int) -> float:
    """Return a metric at Fig. 3's step minus that at another step."""
    return one(tables, column, step=IN_FIG3.increase) - one(tables, column, step=step)


def long_timer_loses(tables: Tables) -> float:
    """Return `hot_late` with the right timer minus that with the wrong timer."""
    return one(tables, "hot_late", control=GOOD) - one(tables, "hot_late", control="fig4d")


EXPERIMENTS = [
    *(_experiment(name) for name in WRONG),
    of_runs(
        "increments",
        "32 ports, load 0.9, all sources hot: steps of the index from 1 to 128",
        40,
        _runs_increments,
        settings({f"index step {step}": {"step": step} for step in STEPS}),
    ),
]
"""Fig. 4(a) to (d), and other steps of the index."""
