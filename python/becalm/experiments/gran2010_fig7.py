"""Fig. 7 and 8 of gran2010: scenario 1, a victim and four contributors."""

from __future__ import annotations

from functools import partial

from becalm.experiments.expect import at_least, at_most, between, falling, near
from becalm.experiments.gran2010_added import ALL, FAIR, FIVE_PERCENT, THREE, added
from becalm.experiments.gran2010_draw import shares, throughputs
from becalm.experiments.gran2010_measure import CONTRIBUTORS, link, over_time, rate, rates, spread
from becalm.experiments.gran2010_scene import HOST_GBPS
from becalm.experiments.model import Experiment, Statement, Tables


def experiments() -> list[Experiment]:
    """Fig. 7(a), 7(b) and 8."""
    return [_fig7a(), _fig7b(), _fig8()]


def _fig7a() -> Experiment:
    return Experiment(
        "gran2010/fig7a",
        "Scenario 1, flows added one per second, congestion control off",
        cost=8,
        points=lambda short: [added(1, False, short)],
        measure=over_time,
        draw=partial(throughputs, flows=ALL),
        statements=(*_before_congestion(), *_three_flows(), *_parking_lot(), *_five_flows()),
    )


def _before_congestion() -> tuple[Statement, ...]:
    return (
        Statement(
            "one_flow",
            "During this period the average throughput of this flow is 13 Gbit/s",
            13,
            rates(["F1"], [1]),
            near(13, 0.5),
            note="The paper's digits round by 0.5.",
        ),
        Statement(
            "two_flows",
            "The addition of flow F2 does not affect F1 [...] Therefore they both achieve a throughput of "
            "13 Gbit/s",
            13,
            rates(["F1", "F2"], [2]),
            near(13, 0.5),
        ),
    )


def _three_flows() -> tuple[Statement, ...]:
    return (
        Statement(
            "three_flows",
            "Now adding the flow F3, we observe a major drop in throughput for all three flows, leaving "
            "them at just below 7 Gbit/s each",
            "just below 7",
            rates(THREE, [3]),
            between(6, 7),
        ),
        Statement(
            "victim_like_f2_and_f3",
            "F1 gets the same share of the switch-to-switch link as F2 and F3, a share determined by the "
            "individual access F2 and F3 get to the bottleneck link",
            1,
            lambda found: [spread([rate(found, flow, phase) for flow in THREE]) for phase in (3, 4, 5)],
            at_most(1.05),
            note="Largest over smallest rate of the three with 3, 4 and 5 flows; 5% is what the eye can see.",
        ),
        Statement(
            "inter_switch_underutilized",
            "The growth of the congestion tree has led to an underutilization of the switch-to-switch "
            "link, wasting resources in the network",
            "falling",
            lambda found: [link(found, phase, 32) for phase in (2, 3, 4, 5)],
            falling(),
            note="Utilization with 2, 3, 4 and 5 flows.",
        ),
    )


def _parking_lot() -> tuple[Statement, ...]:
    return (
        Statement(
            "halved_again",
            "Adding flow F4 (blue flow in fig. 7), the flows F1 (victim), F2 and F3 experience a new drop "
            "in performance, roughly halving their throughput once more",
            0.5,
            lambda found: [rate(found, flow, 4) / rate(found, flow, 3) for flow in THREE],
            near(0.5, 0.1),
        ),
        Statement(
            "fourth_flow",
            "Notice that F4 gets more than its fair share of the bottleneck link, achieving a throughput "
            "of almost 7 Gbit/s",
            "almost 7",
            rates(["F4"], [4]),
            between(6, 7),
        ),
        Statement(
            "parking_lot",
            "the flows F2 and F3 together only get access to the same amount of the congested resources "
            "as the flow F4 does alone",
            1,
            lambda found: (rate(found, "F2", 4) + rate(found, "F3", 4)) / rate(found, "F4", 4),
            near(1, 0.05),
            note="(F2 + F3) / F4 with 4 flows.",
        ),
    )


def _five_flows() -> tuple[Statement, ...]:
    return (
        Statement(
            "five_flows_first_switch",
            "F1 (victim), F2 and F3 is reduced to approximately 2 Gbit/s",
            2,
            rates(THREE, [5]),
            near(2, 0.5),
            note="The paper's digit rounds by 0.5.",
        ),
        Statement(
            "five_flows_second_switch",
            "while F4 and F5 is reduced to approximately 4.5 Gbit/s",
            4.5,
            rates(["F4", "F5"], [5]),
            near(4.5, 0.25),
            note="The paper gives halves of a Gbit/s.",
        ),
        Statement(
            "victim_suffers_more_and_more",
            "Again, F1 suffers even more from the HOL blocking",
            "falling",
            rates(["F1"], [2, 3, 4, 5]),
            falling(),
            note="Throughput of F1 with 2, 3, 4 and 5 flows.",
        ),
    )


def _fig7b() -> Experiment:
    return Experiment(
        "gran2010/fig7b",
        "Scenario 1, flows added one per second, congestion control on",
        cost=20,
        points=lambda short: [added(1, control, short) for control in (False, True)],
        measure=over_time,
        draw=lambda found: throughputs(found, ALL, delays=True, control="on"),
        statements=(*_victim(), *_activation(), *_oscillation(), *_penalty()),
    )


def _victim() -> tuple[Statement, ...]:
    quote = (
        "the CC mechanism is able to completely remove the HOL blocking of the victim flow F1, giving the "
        "flow a more or less constant throughput of 13 Gbit/s independent of the other traffic flows"
    )
    return (
        Statement(
            "victim",
            quote,
            13,
            rates(["F1"], [1, 2, 3, 4, 5], control="on"),
            near(13, FIVE_PERCENT),
            note="With 1 to 5 flows; 5% for more or less.",
        ),
        Statement(
            "victim_constant",
            quote,
            "more or less constant",
            lambda found: [
                rate(found, "F1", phase, "sd", control="on") / rate(found, "F1", phase, control="on")
                for phase in (1, 2, 3, 4, 5)
            ],
            at_most(0.05),
            note="Standard deviation over mean of the samples with 1 to 5 flows.",
        ),
    )


def _activation() -> tuple[Statement, ...]:
    return (
        Statement(
            "no_control_before_third_flow",
            "CC is activated at switch S2 as soon as we add the flows F3, F4 and F5",
            0,
            rates(["F1", "F2"], [1, 2], "delay_max", control="on"),
            at_most(0),
            note="Largest injection delay of F1 and F2 in us with 1 and with 2 flows.",
        ),
        Statement(
            "control_from_third_flow",
            "CC is activated at switch S2 as soon as we add the flows F3, F4 and F5",
            "> 0",
            rates(["F2", "F3"], [3], "delay_max", control="on"),
            at_least(0.1),
            note="Largest injection delay of F2 and F3 in us with 3 flows.",
        ),
    )


def _oscillation() -> tuple[Statement, ...]:
    return (
        Statement(
            "oscillation",
            "Then some oscillations occur among all the flows contributing to congestion as they are "
            "constantly adjusting their injection rates",
            "> 1",
            lambda found: [
                rate(found, flow, 5, "sd", control="on") / rate(found, flow, 5, "sd", control="off")
                for flow in CONTRIBUTORS
            ],
            at_least(2),
            note="Standard deviation of each contributor's samples with 5 flows over that without "
            "congestion control; twice is what the eye can see.",
        ),
    )


def _penalty() -> tuple[Statement, ...]:
    quote = (
        "When the flows F2 and F3 are the sole contributors to congestion, they both experience a small "
        "penalty in average throughput caused by the activation of the CC"
    )
    return (
        Statement(
            "small_penalty",
            quote,
            "< 1, small",
            lambda found: [_gain(found, flow, 3) for flow in ("F2", "F3")],
            between(0.9, 0.999),
            note="Throughput with 3 flows over that without congestion control; up to a tenth is small.",
        ),
        Statement(
            "penalty_removed",
            "This penalty is, however, removed with the introduction of the flows F4 and F5",
            ">= 1",
            lambda found: [_gain(found, flow, phase) for phase in (4, 5) for flow in ("F2", "F3")],
            at_least(1),
            note="The same of F2 and F3 with 4 and 5 flows.",
        ),
    )


def _gain(found: Tables, flow: str, phase: int) -> float:
    return rate(found, flow, phase, control="on") / rate(found, flow, phase, control="off")


def _fig8() -> Experiment:
    return Experiment(
        "gran2010/fig8",
        "Shares of the congested link with all five flows, congestion control off and on",
        cost=20,
        points=lambda short: [added(1, control, short) for control in (False, True)],
        measure=over_time,
        draw=shares,
        statements=_share_statements(),
    )


def _share(found: Tables, flow: str, control: str) -> float:
    total = sum(rate(found, other, 5, control=control) for other in CONTRIBUTORS)
    return rate(found, flow, 5, control=control) / total


def _share_statements() -> tuple[Statement, ...]:
    quote = (
        "F4 and F5 both get access to 1/3 of the capacity of the link towards the node H5, while F2 and "
        "F3 have to share the last 1/3 of the capacity"
    )
    return (
        Statement(
            "a_third_each",
            quote,
            1 / 3,
            lambda found: [
                _share(found, "F4", "off"),
                _share(found, "F5", "off"),
                _share(found, "F2", "off") + _share(found, "F3", "off"),
            ],
            near(1 / 3, 0.02),
            note="F4, F5, F2 and F3 together, without congestion control.",
        ),
        Statement(
            "equal_shares",
            "Figure 8, second bar, illustrates this, showing how all four flows share the congested link "
            "equally",
            1,
            lambda found: spread([_share(found, flow, "on") for flow in CONTRIBUTORS]),
            at_most(FAIR),
            note="Largest over smallest share with congestion control.",
        ),
        Statement(
            "contributors_fill_the_link",
            "the CC mechanism is able to completely remove the HOL blocking [...] effectively solving the "
            "parking lot problem",
            "nearly 1",
            lambda found: sum(rate(found, flow, 5, control="on") for flow in CONTRIBUTORS) / HOST_GBPS,
            at_least(0.9),
            note="What the four get together, over what H5 can take in.",
        ),
    )
