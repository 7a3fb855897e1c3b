"""Fig. 3 to 5 of pfister2005: the cases of Table 1, and four settings with a wrong parameter."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from becalm.lab.model import Experiment, Tables
from becalm.papers.pfister2005.draw import cases, settings
from becalm.papers.pfister2005.measure import Run, of_runs, one, values
from becalm.papers.pfister2005.scene import CASES, IN_FIG3, IN_FIG5, NETWORKS, TIMER_US, Control, HotSpot

OFF = "without control"
ON = "with control"
LARGE = "128 (8x8)"
BORROWED = {"Fig. 3's": IN_FIG3, "Fig. 5's": IN_FIG5}
"""Parameters on 128 ports."""


def _runs(name: str, controls: dict[str, Control | None], chosen: tuple[int, ...], hot: float) -> list[Run]:
    """Return cases of Table 1 on a network. Runs without control include time to recover."""
    return [
        Run({"case": case, "control": label}, HotSpot(NETWORKS[name], case, control, hot=hot, after=after))
        for case in chosen
        for label, control in controls.items()
        for after in (0.3 if hot < 10 else 2.0 if control else 8.0,)
    ]


def _fig3(short: bool) -> list[Run]:
    return _runs("32", {OFF: None, ON: IN_FIG3}, tuple(CASES), 4 if short else 10)


def _fig5(short: bool) -> list[Run]:
    """Return the cases on 128 ports and, for comparison, those on 32 ports without control."""
    if short:
        return _runs(LARGE, {OFF: None, ON: IN_FIG5}, (3, 4), 2.5)
    small = _runs("32", {"32 ports": None}, tuple(CASES), 10)
    return [*_runs(LARGE, {OFF: None, ON: IN_FIG5}, tuple(CASES), 10), *small]


def _lasting(short: bool) -> list[Run]:
    spot = HotSpot(NETWORKS["32"], 4, IN_FIG3, hot=10 if short else 100, after=0.3)
    return [Run({"case": 4, "control": ON}, spot)]


def _borrowed(short: bool) -> list[Run]:
    hot = 2.5 if short else 10
    return [
        Run({"case": 4, "control": name}, HotSpot(NETWORKS[LARGE], 4, control, hot=hot, after=0.3))
        for name, control in BORROWED.items()
    ]


def rec_time_from_becns(tables: Tables) -> list[float]:
    """Return the time between two BECNs of a hot flow, divided by the increment, for cases 1 to 4 in us."""
    return [value / IN_FIG3.increase for value in values(tables, "becn_us", control=ON)]


def ipd_activity_after_the_hot_period(tables: Tables) -> list[float]:
    """Return `ipd_after` for cases 3 and 4 in ms."""
    return [value for case in (3, 4) for value in values(tables, "ipd_after", control=ON, case=case)]


BOTH = cases((OFF, ON), (ON,))
TITLE = "Input-generated hotspots in a {}, cases of Table 1"


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


def _right_and_wrong(name: str, short: bool) -> list[Run]:
    """Return the wrong setting and the right one."""
    controls = {name: WRONG[name][1], GOOD: IN_FIG3}
    return [Run({"case": 4, "control": label}, _spot(control, short)) for label, control in controls.items()]


def _experiment(name: str) -> Experiment:
    title = WRONG[name][0]
    return of_runs(
        name,
        f"32 ports, load 0.9, all sources hot: {title}",
        10,
        partial(_right_and_wrong, name),
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


EXPERIMENTS = [
    of_runs("fig3", TITLE.format("32-port 3-stage fat tree"), 20, _fig3, BOTH),
    of_runs("fig5", TITLE.format("128-port 5-stage fat tree"), 120, _fig5, BOTH),
    of_runs("lasting", "32 ports, load 0.9, all sources hot for 100 ms", 20, _lasting, cases((ON,), (ON,))),
    of_runs(
        "borrowed",
        "128 ports, load 0.9, all sources hot: the parameters of 32 ports and those of 128",
        40,
        _borrowed,
        cases(tuple(BORROWED), tuple(BORROWED)),
    ),
    *(_experiment(name) for name in WRONG),
    of_runs(
        "increments",
        "32 ports, load 0.9, all sources hot: steps of the index from 1 to 128",
        40,
        _runs_increments,
        settings({f"index step {step}": {"step": step} for step in STEPS}),
    ),
]
"""Fig. 3 and 5, persistent hot spots, borrowed parameters, Fig. 4(a) to (d), and other steps of the index."""
