"""Fig. 2 and 3 of santos2002, and the thought experiment before them: marking policies over time."""

from __future__ import annotations

from dataclasses import replace

from becalm.experiments import marking, spreading
from becalm.experiments.draw import rates_over_time
from becalm.experiments.expect import at_least, at_most, falling, rising
from becalm.experiments.marking import HIGH, INPUT_TRIGGERED, output_triggered
from becalm.experiments.measure import at, tables
from becalm.experiments.model import Experiment, Point, Statement
from becalm.experiments.scene import ONE_PACKET, Scene, fixed

FREE = Scene(response=ONE_PACKET)


def experiments() -> list[Experiment]:
    """Fig. 2, the remark on paced flows, and Fig. 3."""
    return [_fig2(), _paced(), *_fig3()]


def _fig2() -> Experiment:
    return Experiment(
        "santos2002/fig2",
        "Congestion spreading with 10 local and 10 remote flows, no congestion control",
        cost=0.5,
        points=lambda _: [Point({"run": "none"}, FREE.scenario())],
        measure=tables,
        draw=lambda found: rates_over_time(found, "No congestion control, window of one packet", run="none"),
        statements=spreading.statements(victim_percent=4, link_percent=32.5),
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
        statements=spreading.paced_statements(
            "remote_flows_paced",
            quote,
            "Inter-switch utilization with only the remote flows paced, as the sentence has it. "
            "The local flows then keep a packet each in switch B, oldest first gives every waiting "
            "packet the same turn, and ten remote flows that need half of the root link would need ten "
            "slots: the buffer of 4 stays full until they slow down to 1/50.",
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
