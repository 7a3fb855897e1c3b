"""pfister2005, Fig. 4: four ways to get the parameters wrong."""

from __future__ import annotations

from dataclasses import replace

from becalm.lab.model import Experiment, Label, Tables
from becalm.papers.pfister2005.draw import settings
from becalm.papers.pfister2005.measure import Run, measured, one
from becalm.papers.pfister2005.scene import IN_FIG3, NETWORKS, TIMER_US, Control, HotSpot

GOOD = "fig3"
LONGER = "step too high, max_ipd 84 us"
LOWEST = "index step 1"

WRONG: dict[str, tuple[str, Control]] = {
    "fig4a": ("index step too low: 3", replace(IN_FIG3, increase=3)),
    "fig4b": ("index step too high: 127", replace(IN_FIG3, increase=127)),
    "fig4c": ("recovery timer too low: 2 us", replace(IN_FIG3, timer=2)),
    "fig4d": (f"recovery timer too high: {1000 * TIMER_US / 1000:.3g} ms", replace(IN_FIG3, timer=1000)),
}
"""The settings; the text has no numbers. 3 is the lowest step with which marks raise the indices of 31 flows
(see `step_too_low_oscillates`), 127 the highest of the paper's range; a fifth and 100 times the timer."""

WITH_THREE: dict[str, tuple[str, Control]] = WRONG | {
    "fig4a": ("index step too low: 1", replace(IN_FIG3, increase=1)),
}
"""The same for three hot sources, whose indices rise with a step of 1, too."""

MORE: dict[str, dict[str, Control]] = {
    "fig4a": {LOWEST: replace(IN_FIG3, increase=1), "index step 2": replace(IN_FIG3, increase=2)},
    "fig4b": {LONGER: replace(IN_FIG3, increase=127, max_ipd=4 * IN_FIG3.max_ipd)},
}
"""Settings beyond those of the figures, with all sources hot."""


def experiments() -> list[Experiment]:
    """Fig. 4(a) to (d)."""
    return [_experiment(name) for name in WRONG]


def _settings(name: str) -> list[tuple[int, str, str, Control]]:
    """Return what a figure compares: case of Table 1, label, title and parameters; the figure shows all."""
    wrong = {4: WRONG[name], 3: WITH_THREE[name]}
    more = [(4, label, label, control) for label, control in MORE.get(name, {}).items()]
    shown = [
        (case, label, title, control)
        for case in (4, 3)
        for label, (title, control) in ((name, wrong[case]), (GOOD, ("parameters of Fig. 3", IN_FIG3)))
    ]
    return more + shown


def _runs(name: str, short: bool) -> list[Run]:
    """Return the wrong setting and the right one, with all sources hot (case 4) and with three (case 3)."""
    hot = 4 if short else 16
    return [
        Run({"case": case, "control": label}, HotSpot(NETWORKS["32"], case, control, hot=hot, after=1.0))
        for case, label, _, control in _settings(name)
    ]


def _experiment(name: str) -> Experiment:
    chosen = _settings(name)
    keys: list[dict[str, Label]] = [{"case": case, "control": label} for case, label, _, _ in chosen]
    titles = [
        f"{'all sources' if case == 4 else 'three sources'} hot, load 0.9\n{title}"
        for case, _, title, _ in chosen
    ]
    return Experiment(
        f"pfister2005/{name}",
        f"32 ports, load 0.9: {WRONG[name][0]}",
        cost=10,
        points=lambda short: [run.point() for run in _runs(name, short)],
        measure=measured(lambda short: _runs(name, short)),
        draw=lambda tables: settings(tables, 31, keys, titles),
    )


def swing(tables: Tables, control: str, case: int) -> float:
    """How much more the throughput swings than with the right setting: of cold ports or hot, the larger."""
    return max(
        one(tables, column, control=control, case=case) - one(tables, column, control=GOOD, case=case)
        for column in ("cold_swing", "hot_swing")
    )


def step_is_not_safe(tables: Tables, control: str) -> float:
    """`cold_late` with a wrong step less that with the right one, all sources hot."""
    return one(tables, "cold_late", control=control, case=4) - one(tables, "cold_late", control=GOOD, case=4)


def long_timer_loses(tables: Tables, case: int) -> float:
    """`hot_late` with the right timer less that with the wrong one."""
    return one(tables, "hot_late", control=GOOD, case=case) - one(
        tables, "hot_late", control="fig4d", case=case
    )
