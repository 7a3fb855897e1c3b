"""The remark of santos2002 on other numbers of flows."""

from __future__ import annotations

from collections.abc import Callable

from becalm.experiments.draw import flow_curves
from becalm.experiments.expect import at_least, at_most
from becalm.experiments.measure import at, axis, summary
from becalm.experiments.model import Experiment, Point, Statement, Tables
from becalm.experiments.santos2002_buffers import spread, sweep

FLOWS = (5, 10, 15, 20)
FLOW_BUFFERS = (2, 4, 8, 12, 16)
FLOW_THRESHOLDS = (4, 8)


def experiments() -> list[Experiment]:
    """Other numbers of flows."""
    return [_flows()]


def _flow_points(short: bool) -> list[Point]:
    return [
        Point({**point.labels, "flows": flows}, point.scenario)
        for flows in ((5, 20) if short else FLOWS)
        for point in sweep((4, 12, 16) if short else FLOW_BUFFERS, FLOW_THRESHOLDS, flows, short)
    ]


def _flows() -> Experiment:
    return Experiment(
        "santos2002/flows",
        "The remark on 5 to 20 flows of each type: Fig. 4 with other numbers of flows",
        cost=45,
        points=_flow_points,
        measure=summary,
        draw=flow_curves,
        statements=(
            _similar(
                "threshold_4_below_8",
                "threshold 4 below 8 at 16 slots, as in Fig. 4(a)",
                lambda found, n: (
                    at(found, "root", flows=n, threshold=8, buffer=16)
                    - at(found, "root", flows=n, threshold=4, buffer=16)
                ),
            ),
            _similar(
                "small_buffers_penalize_remote",
                "ratio at 4 slots below 16 slots for threshold 8, as in Fig. 4(b)",
                lambda found, n: (
                    at(found, "ratio", flows=n, threshold=8, buffer=16)
                    - at(found, "ratio", flows=n, threshold=8, buffer=4)
                ),
            ),
            Statement(
                "flat_beyond_threshold",
                _REMARK,
                "does not change",
                lambda found: [
                    spread([at(found, "ratio", flows=n, threshold=8, buffer=buffer) for buffer in (12, 16)])
                    for n in axis(found, "flows")
                ],
                at_most(0.05),
                note="Change of the ratio from 12 to 16 slots, threshold 8, for each number of flows.",
            ),
        ),
    )


_REMARK = (
    "We also conducted experiments varying the number of remote and local flows from 5 to 20 (equal number "
    "of each type) and obtained results similar to the ones shown in Fig. 4"
)


def _similar(name: str, what: str, difference: Callable[[Tables, float], float]) -> Statement:
    """Return an order of Fig. 4 that must hold for every number of flows."""
    return Statement(
        name,
        _REMARK,
        "similar to Fig. 4",
        lambda found: [difference(found, flows) for flows in axis(found, "flows")],
        at_least(0),
        note=f"{what[0].upper()}{what[1:]}; one difference for each number of flows, {_listed(FLOWS)}.",
    )


def _listed(numbers: tuple[int, ...]) -> str:
    return ", ".join(map(str, numbers))
