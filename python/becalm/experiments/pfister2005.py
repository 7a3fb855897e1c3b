"""Solving Hot Spot Contention Using InfiniBand Architecture Congestion Control.

G. Pfister et al., Workshop on High Performance Interconnects for Distributed Computing (HPI-DC), 2005.

The networks, the traffic and what the paper leaves open are described in
`python/becalm/experiments/pfister2005_scene.py`. The text states no times, so these are chosen: 1 ms before
the hot period, which lasts 10 ms (16 ms in Fig. 4, 6 ms in `sizes` and `guideline`), and 22 ms after it in
Fig. 3 and 5.

Metrics, from rates in samples of 0.1 ms; a *cold port* is any output port to a host but the hot one, and
smoothed means the mean over 0.5 ms:

- `cold_best`: largest smoothed throughput of the cold ports from 1 ms after the hot period began to its
  end, over what they had before it;
- `cold_late`: throughput of the cold ports in the last quarter of the hot period, over the load that is
  still offered to them;
- `cold_worst`: smallest smoothed throughput of the cold ports in the hot period, over the load that is
  still offered to them;
- `cold_again`: smallest smoothed throughput of the cold ports after it has first reached 0.9 of the load
  offered to them, from 1 ms on, over that load; 0 if it never does;
- `port_best`, `port_worst`: the same for the best cold port from 1 ms on, over the mean before; and for the
  worst one in the second half, over the load offered;
- `settling`: time from which the smoothed throughput of the cold ports stays at 0.9 of the load offered to
  them until the hot period ends; all of the period if it never does;
- `recovery`: time after the hot period from which it stays at 0.95 of what it was before; all the time
  simulated if it never does;
- `hot_late`, `hot_worst`: throughput of the hot port in the second half of the hot period; its smallest
  smoothed value from 1 ms on;
- `cold_swing`, `hot_swing`: standard deviation over time in the second half of the hot period: of the mean
  throughput of the cold ports, of the hot port's;
- `ipd_after`: time after the hot period from which the mean IPD of the hot flows stays below a tenth of
  `max_ipd`.

What other readings give, and what was tried where the paper does not come out:
[pfister2005/readings.md](pfister2005/readings.md).
"""

from __future__ import annotations

from collections.abc import Callable

from becalm.experiments import pfister2005_guideline, pfister2005_mistakes
from becalm.experiments.expect import Expectation, at_least, at_most, near
from becalm.experiments.model import Experiment, Measured, Statement, Tables
from becalm.experiments.pfister2005_draw import cases
from becalm.experiments.pfister2005_measure import KEPT, Run, each, measured, one, values
from becalm.experiments.pfister2005_scene import CASES, IN_FIG3, IN_FIG5, NETWORKS, Control, HotSpot

OFF = "without control"
ON = "with control"
MORE = "max_ipd + 20%"

SATURATED = 0.98
"""Share of a link from which it is saturated: a Poisson stream of 0.9 comes near 0.95 for a while."""

MORE_FIG5 = Control(IN_FIG5.increase, 1.2 * IN_FIG5.max_ipd)


def experiments() -> list[Experiment]:
    """All figures, in the paper's order."""
    return [_fig3(), *pfister2005_mistakes.experiments(), _fig5(), *pfister2005_guideline.experiments()]


def _runs(name: str, controls: dict[str, Control | None], chosen: tuple[int, ...], hot: float) -> list[Run]:
    """Return cases of Table 1 on a network; runs of full length go on until host 31 has caught up."""
    after = 2.2 * hot if hot >= 10 else 0.3
    return [
        Run({"case": case, "control": label}, HotSpot(NETWORKS[name], case, control, hot=hot, after=after))
        for case in chosen
        for label, control in controls.items()
    ]


def _runs_fig3(short: bool) -> list[Run]:
    return _runs("32", {OFF: None, ON: IN_FIG3}, tuple(CASES), 4 if short else 10)


def _fig3() -> Experiment:
    return Experiment(
        "pfister2005/fig3",
        "Input-generated hotspots in a 32-port 3-stage fat tree, cases of Table 1",
        cost=20,
        points=lambda short: [run.point() for run in _runs_fig3(short)],
        measure=measured(_runs_fig3),
        draw=lambda found: cases(found, 31, (OFF, ON), (ON,)),
        statements=(*_collapse(), *_solved(), *_ipds()),
    )


def _collapse() -> tuple[Statement, ...]:
    """Return what is said of the network without congestion control."""
    return (
        Statement(
            "hot_port_saturates",
            "Without congestion control, the top row, the throughput of the hotspot port (#31) "
            "saturates during the congestion period",
            1,
            each("hot_late", control=OFF),
            at_least(SATURATED),
            note="`hot_late` of cases 1 to 4.",
        ),
        Statement(
            "all_others_drop",
            "while the throughput for all other output ports drops",
            "< 1",
            each("port_best", control=OFF),
            at_most(0.97),
            note="`port_best` of cases 1 to 4: the port that keeps most, over the mean before. 0.97 "
            "leaves room for the spread of a port's mean. In case 1 the other ports lose a tenth "
            "on average, what the three hot sources no longer send to them, and the hot sources' "
            "own ports less.",
        ),
        Statement(
            "tree_hurts_all_flows",
            "Obviously a congestion tree has built up that hurts all the flows, hot or cold",
            "< 1",
            each("cold_late", control=OFF),
            at_most(0.95),
            note="`cold_late` of cases 1 to 4: what the cold ports get of what is offered to them. In "
            "case 1 three hot sources share the hot link with a background of 0.45; the other "
            "sources' packets for host 31 are so rare that hardly any of them holds up a packet "
            "for another port.",
        ),
        Statement(
            "cold_flows_collapse",
            "all such networks, of any topology, are subject to catastrophic loss of throughput under "
            "traffic patterns containing a hot spot",
            "collapse",
            lambda found: [one(found, "cold_best", control=OFF, case=case) for case in (2, 4)],
            at_most(0.4),
            note="`cold_best` of cases 2 and 4: even the best half millisecond of the hot period, once "
            "the tree has had 1 ms to form, leaves the cold ports less than 40% of what they had "
            "before.",
        ),
        Statement(
            "recovers_slowly",
            "After the hotspot period the aggregate throughput recovers slowly because all the queues "
            "in the system are still backlogged and must be emptied to the prior level",
            "slowly",
            each("recovery", control=OFF),
            at_least(1.0),
            short=False,
            note="`recovery` of cases 1 to 4 in ms; 1 ms is a hundred times what a packet needs to "
            "cross the network. A run that has not recovered at its end, 22 ms after the hot "
            "period, counts 22. The backlog is that of the sources: what was posted for host 31 "
            "keeps its link, and the queues, busy for another 20 ms.",
        ),
    )


def _solved() -> tuple[Statement, ...]:
    """Return what is said of throughput with congestion control."""
    return (
        Statement(
            "collapse_solved",
            "With congestion control, the middle row, the throughput collapse problem is effectively solved",
            "solved",
            each("cold_late", control=ON),
            at_least(KEPT),
            note="`cold_late` of cases 1 to 4.",
        ),
        Statement(
            "no_cold_port_left_out",
            "Fair: does no harm to innocents, fairly treating hot and cold flows",
            "no harm",
            each("port_worst", control=ON),
            at_least(KEPT),
            short=False,
            note="`port_worst` of cases 1 to 4.",
        ),
        Statement(
            "settling_time",
            "With congestion control, the middle row, the throughput collapse problem is effectively solved",
            "within the period",
            each("settling", control=ON),
            at_most(5.0),
            short=False,
            note="`settling` of cases 1 to 4 in ms; solved at all only if most of a hot period of 10 ms is.",
        ),
        Statement(
            "slightly_reduced_by_what_is_diverted",
            "The slightly reduced throughput observed during the congestion period is correctly "
            "attributed to the portion of the offered load that is being re-directed to the hotspot",
            1,
            each("cold_late", control=ON),
            near(1.0, 0.05),
            short=False,
            note="`cold_late` of cases 1 to 4: throughput of the cold ports over the load that is "
            "still offered to them.",
        ),
        Statement(
            "hot_flows_fair",
            "Fair: does no harm to innocents, fairly treating hot and cold flows",
            1,
            each("hot_jain", control=ON),
            at_least(0.95),
            note="Jain's index of the flows from the hot sources to host 31, cases 1 to 4.",
        ),
    )


def _ipds() -> tuple[Statement, ...]:
    quote = (
        "The IPD charts, the bottom row, show that under congestion control only the hot flows reach "
        "high IPD values"
    )
    return (
        Statement(
            "hot_flows_reach_high_ipd",
            quote,
            "high",
            each("hot_ipd", control=ON),
            at_least(0.8),
            note="Largest IPD of a flow to host 31 over `max_ipd`, cases 1 to 4.",
        ),
        Statement(
            "no_cold_flow_reaches_high_ipd",
            quote,
            "low",
            each("cold_ipd", control=ON),
            at_most(0.5),
            note="Largest IPD of any flow to another port, at any time, over `max_ipd`, cases 1 to 4. "
            "In case 4 the hosts send what piled up in the first 2 ms as fast as they can: for a "
            "while other ports are loaded to 100%, too, and are marked where 32 packets wait for "
            "them. What piled up had been posted before the delays came.",
        ),
        Statement(
            "cold_flows_low_on_average",
            quote,
            "low",
            each("cold_ipd_mean", control=ON),
            at_most(0.05),
            note="Largest mean IPD of the flows of a group of cold flows over `max_ipd`, cases 1 to 4.",
        ),
    )


def _runs_fig5(short: bool) -> list[Run]:
    """Return the cases on 128 ports, case 4 with a longer table, too, and the 32 ports for comparison."""
    network = "128 (8x8)"
    if short:
        return _runs(network, {OFF: None, ON: IN_FIG5}, (3, 4), 2.5)
    more = [Run({"case": 4, "control": MORE}, _runs(network, {MORE: MORE_FIG5}, (4,), 10)[0].spot)]
    small = _runs("32", {"32 ports": None}, tuple(CASES), 10)
    return [*_runs(network, {OFF: None, ON: IN_FIG5}, tuple(CASES), 10), *more, *small]


def _fig5() -> Experiment:
    return Experiment(
        "pfister2005/fig5",
        "Input-generated hotspots in a 128-port 5-stage fat tree, cases of Table 1",
        cost=120,
        points=lambda short: [run.point() for run in _runs_fig5(short)],
        measure=measured(_runs_fig5),
        draw=lambda found: cases(found, 31, (OFF, ON), (ON,)),
        statements=_fig5_statements(),
    )


def _said(
    name: str,
    quote: str,
    paper: float | str,
    measure: Callable[[Tables], Measured],
    expect: Expectation,
    note: str,
    *,
    short: bool = True,
) -> Statement:
    return Statement(name, quote, paper, measure, expect, short, note)


def _fig5_statements() -> tuple[Statement, ...]:
    solved = "With CCA, the throughput breakdown problem is again largely solved"
    return (
        _said(
            "collapse_without_control",
            "The results are qualitatively similar to the 32-node case",
            "collapse",
            lambda found: one(found, "cold_best", control=OFF, case=4),
            at_most(0.4),
            "`cold_best` of case 4, as for 32 ports.",
        ),
        _said(
            "hot_port_below_offered_load",
            "Without CCA, the hotspot port (#31) throughput drops below the offered load",
            "< 1",
            each("hot_worst", control=OFF),
            at_most(0.97),
            "`hot_worst` of cases 1 to 4: the lowest half millisecond of the hot period; the link "
            "could carry 1. Here the hot link does not idle. After the hot period, when the other "
            "ports catch up, it does fall to 0.1 of its link: new packets for it are posted behind the "
            "backlog.",
        ),
        _said(
            "recovers_slower_than_32_ports",
            "and the aggregate throughput recovers slower since the larger fabric has significantly "
            "more buffering capacity",
            "> 0",
            lambda found: [
                one(found, "recovery", control=OFF, case=case)
                - one(found, "recovery", control="32 ports", case=case)
                for case in CASES
            ],
            at_least(0.1),
            "`recovery` on 128 ports less that on 32, cases 1 to 4 in ms; a sample is 0.1 ms. Here the "
            "recovery is that of the sources: what they posted for host 31 takes its link twice the "
            "hot period to carry, in both networks, and with three hot sources of 128 the mean hardly "
            "notices that they are behind.",
            short=False,
        ),
        _said(
            "breakdown_largely_solved",
            solved,
            "largely",
            each("cold_late", control=ON),
            at_least(KEPT),
            "`cold_late` of cases 1 to 4. If packets were posted whatever the delay, it would be 0.61 in "
            "case 4: see the readings.",
            short=False,
        ),
        _said(
            "solved_with_three_hot_sources",
            solved,
            "largely",
            lambda found: one(found, "cold_late", control=ON, case=3),
            at_least(KEPT),
            "`cold_late` of case 3.",
        ),
        _said(
            "solved_with_a_longer_table",
            solved,
            "largely",
            lambda found: one(found, "cold_late", control=MORE, case=4),
            at_least(KEPT),
            "`cold_late` of case 4 with `max_ipd` a fifth larger, 100.8 us: not the paper's setting, "
            "but what it takes where packets are posted whatever the delay.",
            short=False,
        ),
        _said(
            "temporarily_unstable",
            "beyond which the controlled system is temporarily unstable, yet in Fig. 5 (case 4, middle "
            "row) still convergent",
            "< 1",
            lambda found: one(found, "cold_worst", control=ON, case=4),
            at_most(KEPT),
            "`cold_worst` of case 4.",
        ),
        _said(
            "still_convergent",
            "beyond which the controlled system is temporarily unstable, yet in Fig. 5 (case 4, middle "
            "row) still convergent",
            "within the period",
            lambda found: one(found, "settling", control=ON, case=4),
            at_most(9.0),
            "`settling` of case 4 in ms; 10 is never.",
            short=False,
        ),
        _said(
            "ipd_activity_after_the_hot_period",
            "Under high-load we also observe extended IPD activity beyond the duration of the hotspot period",
            "extended",
            lambda found: [
                value for case in (3, 4) for value in values(found, "ipd_after", control=ON, case=case)
            ],
            at_least(1.4),
            "`ipd_after` of cases 3 and 4 in ms. The timer alone walks the whole table back in 1.3 ms, and "
            "that is all that happens here: nothing is left over for host 31. Where packets are posted "
            "whatever the delay, their backlog keeps the delays up for 20 ms and more.",
            short=False,
        ),
    )
