"""santos2003, Fig. 7: flows that come and go."""

from __future__ import annotations

from becalm.experiments.draw import dynamic_curves, response_curves
from becalm.experiments.expect import at_least, at_most, between, falling, near
from becalm.experiments.marking import HIGH, INPUT_TRIGGERED
from becalm.experiments.measure import at, axis, curve, mean, summary
from becalm.experiments.model import Experiment, Point, Statement, Tables
from becalm.experiments.santos2003_static import RESPONSES, VICTIM_NOTE
from becalm.experiments.scene import Scene

MEAN_ON_MS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
SHORT_MEAN_ON_MS = (0.005, 0.2, 1.0, 20.0)
CYCLES = 20
"""Mean ON-OFF cycles per dynamic flow, at least."""
MIDDLE_MS = (0.2, 2.0)
"""The range of ON times that the paper calls dynamic."""


def experiments() -> list[Experiment]:
    """Fig. 7."""
    return [_fig7a(), _fig7b()]


def _scene(mean_on: float, short: bool, response: str, persistent: bool, static: int) -> Scene:
    """500 ms, or the time of 20 cycles if longer; the first 100 ms are not measured."""
    duration = max(250 if short else 500, 2 * mean_on * CYCLES)
    return Scene(
        marking=INPUT_TRIGGERED,
        response={response: {"persistent": persistent}},
        victim=(40, duration),
        duration=duration,
        warmup=50 if short else 100,
        mean_on=mean_on,
        static=static,
        step=10,
        window=10,
    )


def _axis(short: bool) -> tuple[float, ...]:
    return SHORT_MEAN_ON_MS if short else MEAN_ON_MS


def _fig7a() -> Experiment:
    return Experiment(
        "santos2003/fig7a",
        "Static and dynamic flows together (L = R = 5 + 5), rate limits persistent or not, LIPD",
        cost=50,
        points=lambda short: [
            Point(
                {"mean_on": mean_on, "state": state},
                _scene(mean_on, short, "lipd", state == "persistent", static=5).scenario(),
            )
            for mean_on in _axis(short)
            for state in ("new", "persistent")
        ],
        measure=summary,
        draw=dynamic_curves,
        statements=_fig7a_statements(),
    )


def _mixed(found: Tables, column: str, state: str) -> list[float]:
    return curve(found, "mean_on", column, state=state)


def _fig7a_statements() -> tuple[Statement, ...]:
    return (
        Statement(
            "dynamic_flows_hog",
            "with frequent arrivals and departures (small mean ON duration), dynamic flows hog the "
            "bandwidth, starving the static flows",
            "static << dynamic",
            lambda found: _mixed(found, "static", "new")[0] / _mixed(found, "dynamic", "new")[0],
            at_most(0.25),
            note="Static over dynamic rate at the shortest ON time, without persistence. Starving: at most "
            "a fifth of the sum.",
        ),
        Statement(
            "static_flows_recover",
            "As ON duration increases, the dynamic flows arrive less frequently, approaching a static "
            "scenario",
            "dynamic falls",
            lambda found: _mixed(found, "dynamic", "new"),
            falling(0.02),
            note="Rate of the dynamic flows without persistence, along the ON times; seeds differ by some "
            "0.02.",
        ),
        Statement(
            "static_twice_dynamic",
            "the static flows receive twice as much bandwidth than the dynamic flows, since just half of "
            "the dynamic flows are active on average at any time",
            2.0,
            lambda found: [
                _mixed(found, "static", state)[-1] / _mixed(found, "dynamic", state)[-1] for state in STATES
            ],
            near(2.0, 0.3),
            short=False,
            note="At the longest ON time, without and with persistence. The ON share of 10 flows over 20 "
            "exponential cycles has a standard deviation of 5%, the ratio of 0.1; three of them.",
        ),
        Statement(
            "persistent_static_not_penalized",
            "when using this approach static flows are not penalized and receive a fair share of the "
            "bandwidth",
            "static >= dynamic",
            lambda found: min(
                static / dynamic
                for static, dynamic in zip(
                    _mixed(found, "static", "persistent"), _mixed(found, "dynamic", "persistent"), strict=True
                )
            ),
            at_least(0.9),
            note="Smallest ratio along the ON times: an equal share or more, give or take a tenth.",
        ),
        Statement(
            "persistent_half_each",
            "the persistent curves approach a normalized rate of 0.5 at low ON durations",
            0.5,
            lambda found: [_mixed(found, column, "persistent")[0] for column in ("static", "dynamic")],
            near(0.5, 0.05),
            note="Static, then dynamic, at the shortest ON time, 0.005 ms, as shares of the root link. The "
            "text does not say where the axis begins; at 0.02 ms, where a flow still sends a packet in "
            "every other ON period, static flows get 0.56 and dynamic ones 0.41.",
        ),
    )


STATES = ("new", "persistent")


def _fig7b() -> Experiment:
    return Experiment(
        "santos2003/fig7b",
        "All flows dynamic, persistent rate limits: utilization against mean ON time for LIPD, FIMD and AIMD",
        cost=75,
        points=lambda short: [
            Point(
                {"mean_on": mean_on, "response": response, "rates": "continuous"},
                _scene(mean_on, short, response, persistent=True, static=0).scenario(),
            )
            for mean_on in _axis(short)
            for response in RESPONSES
        ],
        measure=summary,
        draw=lambda found: response_curves(found, "mean_on", "mean ON time (ms)", log=True),
        statements=(*_fig7b_links(), *_fig7b_order()),
    )


def _line(found: Tables, response: str, column: str = "root") -> list[float]:
    return curve(found, "mean_on", column, response=response)


def _fig7b_links() -> tuple[Statement, ...]:
    return (
        Statement(
            "inter_switch_share",
            "The inter-switch link has high utilization, except in the case of AIMD",
            "high",
            lambda found: [min(_line(found, response, "inter_switch")) for response in ("lipd", "fimd")],
            at_least(HIGH),
            note="Smallest value along the ON times: LIPD, FIMD.",
        ),
        Statement(
            "aimd_inter_switch_lower",
            "The inter-switch link has high utilization, except in the case of AIMD",
            "AIMD < LIPD, FIMD",
            lambda found: [
                mean(_line(found, response, "inter_switch")) - mean(_line(found, "aimd", "inter_switch"))
                for response in ("lipd", "fimd")
            ],
            at_least(0.05),
            note=f"Mean along the ON times above AIMD's: LIPD, FIMD. Visible in a graph: 0.05. {VICTIM_NOTE}",
        ),
        Statement(
            "packets_per_on_period",
            "Each flow can transmit only a few packets in a ON period of 0.2 ms, 5 to 10 packets assuming "
            "there are 10 to 20 active flows",
            "5 to 10",
            _packets_per_on_period,
            between(5, 10),
            note="Packets delivered per ON period of 0.2 ms, LIPD.",
        ),
    )


def _packets_per_on_period(found: Tables) -> float:
    """Root utilization x packets in the 0.4 ms of a cycle / 20 flows."""
    packets = at(found, "root", mean_on=0.2, response="lipd") * 0.4e-3 / 2.068e-6
    return packets / 20


def _fig7b_order() -> tuple[Statement, ...]:
    order = "utilization is maximized by LIPD, then FIMD, then AIMD"
    return (
        Statement(
            "order_at_shortest",
            f"when the ON duration has the lowest and highest values [...] {order}",
            "LIPD > FIMD > AIMD",
            lambda found: [_line(found, response)[0] for response in RESPONSES],
            falling(),
        ),
        Statement(
            "order_at_longest",
            f"when the ON duration has the lowest and highest values [...] {order}",
            "LIPD > FIMD > AIMD",
            lambda found: [_line(found, response)[-1] for response in RESPONSES],
            falling(),
            short=False,
        ),
        Statement(
            "fimd_best_in_the_middle",
            "The intermediate range of ON durations (from approximately 0.2 ms to 2 ms) [...] benefits from "
            "using FIMD [...] FIMD can achieve higher root link utilization in this range",
            "FIMD > LIPD, AIMD",
            lambda found: [
                _middle(found, "fimd") - _middle(found, response) for response in ("lipd", "aimd")
            ],
            at_least(0),
            note="Mean root utilization from 0.2 to 2 ms above LIPD's and AIMD's.",
        ),
        Statement(
            "aimd_worst",
            "AIMD has the worst performance on all ranges",
            "AIMD lowest",
            lambda found: max(_behind(found, -1)),
            at_most(0.01),
            note="AIMD's root utilization above the lower of the other two, the largest along the ON times; "
            "seeds differ by some 0.01.",
        ),
        Statement(
            "aimd_10_percent_below_best",
            "achieving approximately 10% lower utilization than the best response function, which is FIMD "
            "for more dynamic scenarios and LIPD for more static scenarios",
            0.1,
            lambda found: -mean(_behind(found, 0)),
            near(0.1, 0.05),
            note="Mean distance to the best of the other two along the ON times.",
        ),
    )


def _middle(found: Tables, response: str) -> float:
    low, high = MIDDLE_MS
    times = [time for time in axis(found, "mean_on") if low <= time <= high]
    return mean([at(found, "root", mean_on=time, response=response) for time in times])


def _behind(found: Tables, rank: int) -> list[float]:
    """AIMD's root utilization minus that of the best (`rank` 0) or the worst (-1) of the other two."""
    others = zip(_line(found, "lipd"), _line(found, "fimd"), strict=True)
    return [
        aimd - sorted(pair, reverse=True)[rank]
        for aimd, pair in zip(_line(found, "aimd"), others, strict=True)
    ]
