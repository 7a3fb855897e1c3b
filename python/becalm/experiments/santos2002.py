"""Evaluation of Congestion Detection Mechanisms for InfiniBand Switches.

J. R. Santos, Y. Turner, G. Janakiraman, HP Laboratories HPL-2002-224 and IEEE Globecom, 2002.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from becalm.experiments import marking
from becalm.experiments.draw import SHARE, flow_curves, rates_over_time, threshold_curves
from becalm.experiments.expect import at_least, at_most, between, falling, near, rising
from becalm.experiments.marking import HIGH, INPUT_TRIGGERED, VICTIM_MS, output_triggered
from becalm.experiments.measure import at, axis, curve, during, mean, summary, tables, unfairness
from becalm.experiments.model import Experiment, Point, Statement, Tables
from becalm.experiments.scene import INTER_SWITCH, ONE_PACKET, Scene, fixed

BUFFERS = (2, 3, 4, 5, 6, 8, 10, 12, 14, 16)
SHORT_BUFFERS = (2, 4, 8, 10, 12, 16)
THRESHOLDS = (4, 6, 8, 16)
NONE = 0
"""The label of runs without output-triggered marking."""
LARGE = 12
"""From this buffer on no input buffer can become full: 10 remote packets and one of the victim."""

FREE = Scene(response=ONE_PACKET)


def experiments() -> list[Experiment]:
    """All figures, in the paper's order."""
    return [_fig2(), _paced(), *_fig3(), _fig4a(), _fig4b(), _flows()]


def _fig2() -> Experiment:
    return Experiment(
        "santos2002/fig2",
        "Congestion spreading with 10 local and 10 remote flows, no congestion control",
        cost=0.5,
        points=lambda _: [Point({"run": "none"}, FREE.scenario())],
        measure=tables,
        draw=lambda found: rates_over_time(found, "No congestion control, window of one packet", run="none"),
        statements=(
            Statement(
                "victim_share",
                "the victim flow uses only 4% of the bandwidth on the inter-switch link",
                0.04,
                lambda found: during(found, "group", "victim", VICTIM_MS, run="none"),
                near(0.04, 0.02),
            ),
            Statement(
                "inter_switch_share",
                "even though the inter-switch link is only 32.5% utilized",
                0.325,
                lambda found: during(found, "link", INTER_SWITCH, VICTIM_MS, run="none"),
                near(0.325, 0.02),
            ),
        ),
    )


def _paced() -> Experiment:
    """Section III, the thought experiment behind the whole scheme."""
    remote = replace(FREE, remote_response=fixed(1 / 20))
    every = replace(FREE, response=fixed(1 / 20), victim_response=ONE_PACKET)
    quote = (
        "If each remote flow did not attempt to transmit at the full link bandwidth and instead proactively "
        "reduced its rate to the rate determined by the bottleneck link, i.e. 1/20 of the link bandwidth, "
        "the buffers at switch B would not fill up and the victim flow would be able to utilize the "
        "available bandwidth"
    )
    return Experiment(
        "santos2002/paced",
        "What the victim gains if others send at 1/20 of the link",
        cost=1,
        points=lambda _: [
            Point({"run": "remote"}, remote.scenario()),
            Point({"run": "all"}, every.scenario()),
        ],
        measure=tables,
        draw=lambda found: rates_over_time(found, "Local and remote flows at 1/20 of the link", run="all"),
        statements=(
            Statement(
                "remote_flows_paced",
                quote,
                "high",
                lambda found: during(found, "link", INTER_SWITCH, VICTIM_MS, run="remote"),
                at_least(HIGH),
                note="Inter-switch utilization with only the remote flows paced, as the sentence has it. "
                "The local flows then keep a packet each in switch B, oldest first gives every waiting "
                "packet the same turn, and ten remote flows that need half of the root link would need ten "
                "slots: the buffer of 4 stays full until they slow down to 1/50.",
            ),
            Statement(
                "all_flows_paced",
                quote,
                "high",
                lambda found: during(found, "link", INTER_SWITCH, VICTIM_MS, run="all"),
                at_least(HIGH),
                note="Inter-switch utilization with the local flows paced, too.",
            ),
            Statement(
                "buffers_do_not_fill",
                quote,
                "< 4",
                lambda found: at(found, "buffer_max", run="all"),
                at_most(3),
                note="Most packets in switch B's input buffer for the inter-switch link, all flows paced.",
            ),
        ),
    )


def _fig3() -> list[Experiment]:
    return [
        Experiment(
            "santos2002/fig3a",
            "Naive marking, buffer of 4 packets",
            cost=0.5,
            points=lambda _: marking.points("naive"),
            measure=tables,
            draw=lambda found: rates_over_time(found, "Naive", marking="naive"),
            statements=(*marking.naive_statements(), _rarely_blocked()),
        ),
        Experiment(
            "santos2002/fig3b",
            "Input-triggered marking, buffer of 4 packets",
            cost=1,
            points=lambda _: [
                *marking.points("naive", "input"),
                marking.fair_state("fair", INPUT_TRIGGERED, 4),
            ],
            measure=tables,
            draw=lambda found: rates_over_time(found, "Input-triggered", marking="input"),
            statements=marking.input_statements(
                "the mechanism marks all generating packets, both from remote and local flows"
            ),
        ),
        Experiment(
            "santos2002/fig3c",
            "Input-output-triggered marking, output threshold of 4 packets",
            cost=1.5,
            points=lambda _: [
                *marking.points("input", "4"),
                marking.fair_state("fair", output_triggered(8), 16),
            ],
            measure=tables,
            draw=lambda found: rates_over_time(found, "Input-output-triggered, threshold 4", marking="4"),
            statements=_threshold_4(),
        ),
        Experiment(
            "santos2002/fig3d",
            "Input-output-triggered marking, output threshold of 8 packets",
            cost=1.5,
            points=lambda _: marking.points("input", "4", "8"),
            measure=tables,
            draw=lambda found: rates_over_time(found, "Input-output-triggered, threshold 8", marking="8"),
            statements=_threshold_8(),
        ),
    ]


def _rarely_blocked() -> Statement:
    return Statement(
        "rarely_blocked",
        "congestion spreading is reduced to very low levels, and the time a link spends in a blocked state "
        "is insignificant",
        "insignificant",
        lambda found: at(found, "inter_switch_stalled", marking="naive"),
        at_most(0.05),
        note="Share of time in which the inter-switch link has a packet to send and no credit, 20 to 100 ms.",
    )


def _threshold_4() -> tuple[Statement, ...]:
    return (
        Statement(
            "fairer_than_input_triggered",
            "the flow rates for the remote and local flows are closer with the combined approach than with "
            "solely input-triggered marking",
            "4 < input-triggered",
            lambda found: marking.fairness(found, "input", "4"),
            falling(),
        ),
        Statement(
            "output_marks_local",
            "Output-triggered marking events tend to preferentially mark local flows",
            "< 1",
            lambda found: marking.marked_remote_to_local(found, "fair"),
            at_most(1),
            note="Marked packets of remote flows over those of local flows, when all send at the same rate; "
            "threshold 8, and 16 slots, so that no input buffer fills before the threshold is exceeded.",
        ),
        Statement(
            "root_underutilized",
            "packets are too frequently marked before an input buffer fills, resulting in low utilization "
            "of the congested link",
            "low",
            lambda found: at(found, "root", marking="4"),
            at_most(0.9),
            note="The text calls > 90% high.",
        ),
    )


def _threshold_8() -> tuple[Statement, ...]:
    return (
        Statement(
            "root_share",
            "With a higher threshold of eight packets (Fig. 3(d)), the root link has high utilization",
            "> 0.9",
            lambda found: at(found, "root", marking="8"),
            at_least(0.9),
        ),
        Statement(
            "root_above_threshold_4",
            "With a small output threshold of 4 packets [...] low utilization of the congested link. With a "
            "higher threshold of eight packets (Fig. 3(d)), the root link has high utilization",
            "4 < 8",
            lambda found: [at(found, "root", marking=name) for name in ("4", "8")],
            rising(),
        ),
        Statement(
            "no_spreading",
            "With a higher threshold of eight packets (Fig. 3(d)), the root link has high utilization "
            "without congestion spreading",
            "high",
            lambda found: marking.inter_switch(found, "8"),
            at_least(HIGH),
        ),
        Statement(
            "fairness_between",
            "Although fairness is degraded with the higher threshold, it is still better than that achieved "
            "by the input-triggered marking mechanism",
            "input-triggered > 8 > 4",
            lambda found: marking.fairness(found, "input", "8", "4"),
            falling(),
            note="The larger aggregate rate over the smaller one; 1 is fair.",
        ),
    )


def _sweep(buffers: tuple[int, ...], thresholds: tuple[int, ...], flows: int, short: bool) -> list[Point]:
    """Output threshold x buffer; no output marking included."""
    found = []
    for threshold in (NONE, *thresholds):
        policy = output_triggered(threshold) if threshold else INPUT_TRIGGERED
        for buffer in buffers:
            scene = Scene(local=flows, remote=flows, buffer=buffer, marking=policy).long(short)
            found.append(Point({"threshold": threshold, "buffer": buffer}, scene.scenario()))
    return found


def _fig4_points(short: bool) -> list[Point]:
    return _sweep(SHORT_BUFFERS if short else BUFFERS, THRESHOLDS, 10, short)


def _fig4a() -> Experiment:
    return Experiment(
        "santos2002/fig4a",
        "Root link utilization against buffer size, for output thresholds",
        cost=45,
        points=_fig4_points,
        measure=summary,
        draw=lambda found: threshold_curves(found, "root", "root link utilization", SHARE[1]),
        statements=(
            Statement(
                "threshold_4_underutilized",
                "the root link is underutilized with a low output threshold (4)",
                "low",
                lambda found: curve(found, "buffer", "root", threshold=4),
                at_most(0.9),
            ),
            Statement(
                "threshold_4_lowest",
                "Under-utilization results from overly severe packet marking. Using a slightly higher output "
                "threshold (6) enables high root link utilization",
                "4 < 6, 8, 16, none",
                lambda found: [_margin_of_threshold_4(found, other) for other in (6, 8, 16, NONE)],
                at_least(0),
                note="Smallest difference of utilization to threshold 4, over buffers of 4 slots and more.",
            ),
            Statement(
                "small_buffers_underutilized",
                "the root link is underutilized with [...] small input buffer size (2 to 4)",
                "2 to 4 slots < 16 slots",
                lambda found: [
                    _at(found, 16, threshold) - max(_root_at(found, threshold, 2, 4))
                    for threshold in (NONE, 6, 8, 16)
                ],
                at_least(0),
                note="Utilization with 16 slots above the best with 2 to 4 slots: without output marking, "
                "then for thresholds 6, 8, 16. Threshold 4 is low at every buffer, the other half of the "
                "sentence.",
            ),
            Statement(
                "threshold_6_high",
                "Using a slightly higher output threshold (6) enables high root link utilization (> 90%), "
                "except at the smallest buffer sizes",
                "> 0.9",
                lambda found: _root_at(found, 6, 5, 16),
                at_least(0.9),
                note='All buffers above the "small input buffer size (2 to 4)" of the sentence before.',
            ),
        ),
    )


def _at(found: Tables, buffer: int, threshold: int) -> float:
    return at(found, "root", buffer=buffer, threshold=threshold)


def _buffers(found: Tables, low: int, high: int) -> list[int]:
    return [int(buffer) for buffer in axis(found, "buffer") if low <= buffer <= high]


def _root_at(found: Tables, threshold: int, low: int, high: int) -> list[float]:
    return [_at(found, buffer, threshold) for buffer in _buffers(found, low, high)]


def _margin_of_threshold_4(found: Tables, other: int) -> float:
    return min(_at(found, buffer, other) - _at(found, buffer, 4) for buffer in _buffers(found, 4, 16))


def _ratio(found: Tables, threshold: int, low: int, high: int) -> list[float]:
    return [at(found, "ratio", threshold=threshold, buffer=buffer) for buffer in _buffers(found, low, high)]


def _fig4b() -> Experiment:
    return Experiment(
        "santos2002/fig4b",
        "Fairness, remote over local rate, against buffer size, for output thresholds",
        cost=45,
        points=_fig4_points,
        measure=summary,
        draw=lambda found: threshold_curves(
            found, "ratio", "rate of remote flows / rate of local flows", 1.5
        ),
        statements=(*_input_dominated(), *_output_dominated()),
    )


def _input_dominated() -> tuple[Statement, ...]:
    return (
        Statement(
            "small_buffers_penalize_remote",
            "At buffer sizes much lower than the output threshold, input-triggered marking events dominate, "
            "which preferentially marks remote flows, resulting in a reduced ratio of remote/local flow "
            "throughput",
            "small < large",
            lambda found: [
                max(_ratio(found, threshold, 2, 4)) - _at_16(found, threshold) for threshold in (8, 16)
            ],
            at_most(0),
            note="Best ratio with 2 to 4 slots minus the ratio with 16 slots, for thresholds 8 and 16.",
        ),
        Statement(
            "like_no_output_marking",
            "At buffer sizes much lower than the output threshold, input-triggered marking events dominate",
            "as without output marking",
            lambda found: [
                at(found, "ratio", threshold=threshold, buffer=2)
                - at(found, "ratio", threshold=NONE, buffer=2)
                for threshold in (8, 16)
            ],
            between(-0.05, 0.05),
            note="Difference of the ratio to the curve without output marking, 2 slots, thresholds 8 and 16.",
        ),
        Statement(
            "fairer_with_larger_buffers",
            "When input-triggered marking dominates, fairness is improved as the buffer size increases",
            "rising",
            lambda found: _ratio(found, NONE, 2, 10),
            rising(),
            note="The ratio without output marking, buffers from 2 slots to the last that can become full.",
        ),
    )


def _at_16(found: Tables, threshold: int) -> float:
    return at(found, "ratio", threshold=threshold, buffer=16)


def _output_dominated() -> tuple[Statement, ...]:
    return (
        Statement(
            "flat_beyond_threshold",
            "At buffer sizes larger than the output threshold, marking is always output-triggered. Hence the "
            "fairness ratio in Fig. 4(b) does not change with buffer size",
            "does not change",
            lambda found: [_spread(_ratio(found, threshold, threshold + 1, 16)) for threshold in (4, 6, 8)],
            at_most(0.05),
            note="Largest minus smallest ratio over the buffers above thresholds 4, 6 and 8.",
        ),
        Statement(
            "never_full_from_12_slots",
            "For buffer sizes 12 and greater, all marking is output-triggered regardless of output "
            "threshold, because the input buffer never becomes full",
            11,
            lambda found: [
                at(found, "buffer_max", threshold=threshold, buffer=LARGE)
                for threshold in (NONE, *THRESHOLDS)
            ],
            at_most(11),
            note="Most packets in switch B's input buffer for the inter-switch link, 12 slots.",
        ),
        Statement(
            "no_input_marks_from_12_slots",
            "For buffer sizes 12 and greater, all marking is output-triggered regardless of output threshold",
            0,
            lambda found: [
                mean(curve(found, "buffer", f"{side}_marked", threshold=NONE, buffer=LARGE))
                for side in ("local", "remote", "victim")
            ],
            at_most(0),
            note="Marked packets without output-triggered marking, 12 slots: local, remote, victim.",
        ),
        Statement(
            "local_share_falls_4_to_8",
            "Local flows receive a lower share of the throughput as the output threshold increases from 4 "
            "to 8, for a fixed and large buffer size",
            "4 > 6 > 8",
            lambda found: [_local_share(found, threshold) for threshold in (4, 6, 8)],
            falling(),
            note="Local part of the local and remote rates, 16 slots.",
        ),
        Statement(
            "fairness_falls_4_to_8",
            "decreasing the rate of local flows more strongly and reducing fairness",
            "4 < 6 < 8",
            lambda found: [unfairness(_at_16(found, threshold)) for threshold in (4, 6, 8)],
            rising(),
            note="The larger rate over the smaller one, 16 slots.",
        ),
        Statement(
            "threshold_16_fairer",
            "When the output threshold is increased to even larger values (e.g. 16) [...] This reduces the "
            "difference between the number of marked packets from local and remote flows, increasing "
            "fairness",
            "16 < 8",
            lambda found: [unfairness(_at_16(found, threshold)) for threshold in (8, 16)],
            falling(),
            note="The larger rate over the smaller one, 16 slots.",
        ),
    )


def _spread(values: list[float]) -> float:
    return max(values) - min(values)


def _local_share(found: Tables, threshold: int) -> float:
    return 1 / (1 + _at_16(found, threshold))


FLOWS = (5, 10, 15, 20)
FLOW_BUFFERS = (2, 4, 8, 12, 16)
FLOW_THRESHOLDS = (4, 8)


def _flow_points(short: bool) -> list[Point]:
    return [
        Point({**point.labels, "flows": flows}, point.scenario)
        for flows in ((5, 20) if short else FLOWS)
        for point in _sweep((4, 12, 16) if short else FLOW_BUFFERS, FLOW_THRESHOLDS, flows, short)
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
                    _spread([at(found, "ratio", flows=n, threshold=8, buffer=buffer) for buffer in (12, 16)])
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
