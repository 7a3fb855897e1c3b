"""Fig. 4 of santos2002: marking policies over the size of the buffers."""

from __future__ import annotations

from becalm.experiments.draw import SHARE, threshold_curves
from becalm.experiments.expect import at_least, at_most, between, falling, rising
from becalm.experiments.marking import INPUT_TRIGGERED, output_triggered
from becalm.experiments.measure import at, axis, curve, mean, summary, unfairness
from becalm.experiments.model import Experiment, Point, Statement, Tables
from becalm.experiments.scene import Scene

BUFFERS = (2, 3, 4, 5, 6, 8, 10, 12, 14, 16)
SHORT_BUFFERS = (2, 4, 8, 10, 12, 16)
THRESHOLDS = (4, 6, 8, 16)
NONE = 0
"""The label of runs without output-triggered marking."""
LARGE = 12
"""From this buffer on no input buffer can become full: 10 remote packets and one of the victim."""


def experiments() -> list[Experiment]:
    """Fig. 4(a) and (b)."""
    return [_fig4a(), _fig4b()]


def sweep(buffers: tuple[int, ...], thresholds: tuple[int, ...], flows: int, short: bool) -> list[Point]:
    """Return the runs of output threshold x buffer; no output marking included."""
    found = []
    for threshold in (NONE, *thresholds):
        policy = output_triggered(threshold) if threshold else INPUT_TRIGGERED
        for buffer in buffers:
            scene = Scene(local=flows, remote=flows, buffer=buffer, marking=policy).long(short)
            found.append(Point({"threshold": threshold, "buffer": buffer}, scene.scenario()))
    return found


def _fig4_points(short: bool) -> list[Point]:
    return sweep(SHORT_BUFFERS if short else BUFFERS, THRESHOLDS, 10, short)


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
            lambda found: [spread(_ratio(found, threshold, threshold + 1, 16)) for threshold in (4, 6, 8)],
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


def spread(values: list[float]) -> float:
    """Return the largest value less the smallest."""
    return max(values) - min(values)


def _local_share(found: Tables, threshold: int) -> float:
    return 1 / (1 + _at_16(found, threshold))
