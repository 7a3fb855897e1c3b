"""End-to-End Congestion Control for InfiniBand.

J. R. Santos, Y. Turner, G. Janakiraman, IEEE INFOCOM, 2003.
"""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from becalm.experiments import marking, santos2003_dynamic, santos2003_static, spreading
from becalm.experiments.draw import rates_over_time
from becalm.experiments.expect import at_most, between, near
from becalm.experiments.marking import INPUT_TRIGGERED, VICTIM_MS
from becalm.experiments.measure import at, during, tables
from becalm.experiments.model import Experiment, Point, Statement, Tables
from becalm.experiments.scene import INTER_SWITCH, NO_CONTROL, ONE_PACKET, ROOT, Scene, fixed


def experiments() -> list[Experiment]:
    """All figures, in the paper's order."""
    return [
        _fig2(),
        _paced(),
        _window(),
        _fig3a(),
        _fig3b(),
        _fig3c(),
        _fig3d(),
        _fig4a(),
        _fig4b(),
        *santos2003_static.experiments(),
        *santos2003_dynamic.experiments(),
    ]


FREE = Scene(local=5, remote=1, response=NO_CONTROL)
WINDOW = Scene(local=5, remote=1, response=ONE_PACKET)
CROWD = Scene(local=5, remote=5, response=ONE_PACKET)


def _fig2() -> Experiment:
    return Experiment(
        "santos2003/fig2",
        "Congestion spreading with 5 local flows and 1 remote flow, no congestion control",
        cost=1,
        points=lambda _: [Point({"run": "none"}, FREE.scenario())],
        measure=tables,
        draw=lambda found: rates_over_time(found, "No congestion control", run="none"),
        statements=spreading.statements(victim_percent=15, link_percent=30),
    )


def _paced() -> Experiment:
    """Section III, the thought experiment behind the whole scheme."""
    sixth = {"fixed": {"rate": 1 / 6, "window": "unlimited"}}
    quote = (
        "If the remote flow did not attempt to transmit at the full link bandwidth and instead proactively "
        "reduced its rate to the rate determined by the bottleneck link, i.e. 1/6 of the link bandwidth, "
        "the buffers at switch B would not fill up and the victim flow would be able to utilize the "
        "available bandwidth"
    )
    return Experiment(
        "santos2003/paced",
        "What the victim gains if others send at 1/6 of the link",
        cost=1,
        points=lambda _: [
            Point({"run": "remote"}, replace(FREE, remote_response=sixth).scenario()),
            Point({"run": "all"}, replace(FREE, response=sixth, victim_response=NO_CONTROL).scenario()),
        ],
        measure=tables,
        draw=lambda found: rates_over_time(found, "Local and remote flows at 1/6 of the link", run="all"),
        statements=spreading.paced_statements(
            "remote_flow_paced",
            quote,
            "Inter-switch utilization with only the remote flow paced, as the sentence has it. "
            "Each local flow then keeps 4 packets in switch B, and oldest first gives every waiting "
            "packet the same turn: at 1/6 the remote flow needs 4 slots, too. At 0.14 of the link it "
            "leaves 0.78 of the inter-switch link in use, at 0.12 0.99; with round-robin arbitration "
            "1/6 is enough.",
        ),
    )


def _window() -> Experiment:
    """Section IV-B: a flow alone on its path."""

    def alone(window: int) -> Point:
        scene = Scene(
            local=0, remote=1, response={"none": {"window": window}}, victim=None, duration=20, warmup=2
        )
        return Point({"window": window}, scene.scenario())

    return Experiment(
        "santos2003/window",
        "What a window of one and of two packets can use of an empty path",
        cost=0.2,
        points=lambda _: [alone(window) for window in (1, 2)],
        measure=tables,
        draw=lambda found: rates_over_time(found, "One flow, window of one packet", window=1),
        statements=(
            Statement(
                "one_packet",
                "a flow that is limited to a window of size one (packet) is able to use most of the "
                "bandwidth on its path in an otherwise empty network",
                "most",
                lambda found: at(found, "remote", window=1),
                between(0.8, 0.99),
                note="Most, and less than all: a window of two is said to saturate the path completely.",
            ),
            Statement(
                "two_packets",
                "A window of size two completely saturates the bandwidth (the ACK for one packet is "
                "returned in parallel with the transmission of a second packet)",
                1.0,
                lambda found: at(found, "remote", window=2),
                near(1.0, 0.005),
            ),
        ),
    )


def _fig3a() -> Experiment:
    return Experiment(
        "santos2003/fig3a",
        "1 remote flow, no window limit (the same as Fig. 2)",
        cost=0.5,
        points=lambda _: [Point({"run": "none"}, FREE.scenario())],
        measure=tables,
        draw=lambda found: rates_over_time(found, "L = 5, R = 1, no window limit", run="none"),
        statements=spreading.statements(victim_percent=15, link_percent=30),
    )


def _fig3b() -> Experiment:
    return Experiment(
        "santos2003/fig3b",
        "1 remote flow, window of one packet",
        cost=0.5,
        points=lambda _: [Point({"run": "window"}, WINDOW.scenario())],
        measure=tables,
        draw=lambda found: rates_over_time(found, "L = 5, R = 1, window of one packet", run="window"),
        statements=(
            _slightly_underutilized("root", ROOT, ROOT_NOTE),
            _slightly_underutilized("inter_switch", INTER_SWITCH, ""),
            Statement(
                "victim_takes_the_rest",
                "the inter-switch link is fully utilized and the victim flow consumes all its idle bandwidth",
                1.0,
                lambda found: (
                    spreading.victim(found, "window")
                    / (1 - during(found, "group", "remote", VICTIM_MS, run="window"))
                ),
                between(0.9, 1.0),
                note="The victim's rate over what the remote flow leaves; all, but for the slight "
                "under-utilization.",
            ),
            Statement(
                "two_packets_in_the_buffer",
                "the window ensures at most two packets reside at switch B's input buffer for the "
                "inter-switch link",
                2,
                lambda found: at(found, "buffer_max", run="window"),
                at_most(2),
            ),
            Statement(
                "never_blocked",
                "and the link is never blocked",
                0,
                lambda found: at(found, "inter_switch_stalled", run="window"),
                at_most(0),
            ),
        ),
    )


ROOT_NOTE = (
    "Six flows with a packet each keep the root link busy, and nothing that the bypass limit holds back is "
    "ever the packet that the root link needs: it stays at 100%. The inter-switch link is below because the "
    "victim's window of one packet leaves it idle while the ACK returns, with any bypass limit from 3 "
    "upward."
)


def _slightly_underutilized(name: str, link: str, note: str) -> Statement:
    return Statement(
        f"{name}_slightly_underutilized",
        "high link utilization can be sustained while eliminating congestion spreading [...] (the slight "
        "under-utilization of the root link and the inter-switch link is an artifact of the starvation "
        "prevention function of switch B's scheduling mechanism)",
        "slightly below 1",
        lambda found: during(found, "link", link, VICTIM_MS, run="window"),
        between(0.9, 0.999),
        note=note,
    )


def _fig3c() -> Experiment:
    return Experiment(
        "santos2003/fig3c",
        "5 remote flows, window of one packet",
        cost=0.5,
        points=lambda _: [Point({"run": "window"}, CROWD.scenario())],
        measure=tables,
        draw=lambda found: rates_over_time(found, "L = 5, R = 5, window of one packet", run="window"),
        statements=(
            Statement(
                "victim_share",
                "congestion spreading prevents the victim flow from achieving high throughput",
                "low",
                lambda found: spreading.victim(found, "window"),
                at_most(0.25),
                note="Half of the victim's ideal rate in Fig. 3(d).",
            ),
            Statement(
                "inter_switch_underutilized",
                "and the inter-switch link is under-utilized",
                "low",
                lambda found: spreading.inter_switch(found, "window"),
                at_most(0.9),
                note="santos2002 calls > 90% high utilization.",
            ),
            Statement(
                "buffer_fills",
                "even with the use of a minimal per-flow window of size one packet, congestion spreading "
                "can occur when the number of contending flows exceeds the number of buffer slots",
                4,
                lambda found: at(found, "buffer_max", run="window"),
                near(4, 0),
                note="Most packets in the 4 slots of switch B's input buffer for the inter-switch link.",
            ),
        ),
    )


def _fig3d() -> Experiment:
    optimal = replace(CROWD, response=fixed(1 / 10), victim_response=fixed(1 / 2))
    return Experiment(
        "santos2003/fig3d",
        "5 remote flows, window of one packet and rates set by hand",
        cost=1,
        points=lambda _: [
            Point({"run": "optimal"}, optimal.scenario()),
            Point({"run": "window"}, CROWD.scenario()),
        ],
        measure=tables,
        draw=lambda found: rates_over_time(found, "L = 5, R = 5, optimal rate limits", run="optimal"),
        statements=(
            Statement(
                "flows_at_their_optimum",
                "the rate limit for each flow is set manually to the optimal value (1/10 of the link "
                "bandwidth for remote and local flows [...]). The graph shows that all flows can achieve "
                "their ideal throughputs",
                0.1,
                _extremes,
                near(0.1, 0.005),
                note="Smallest and largest rate among the local and remote flows, 20 to 100 ms; 5% of the "
                "rate.",
            ),
            Statement(
                "victim_at_its_optimum",
                "to 1/2 for the victim flow). The graph shows that all flows can achieve their ideal "
                "throughputs when their injection rates are set appropriately",
                0.5,
                lambda found: spreading.victim(found, "optimal"),
                near(0.5, 0.025),
                note="5% of the rate.",
            ),
        ),
    )


def _extremes(found: Tables) -> list[float]:
    chosen = found["flows"].filter((pl.col("run") == "optimal") & (pl.col("group") != "victim"))
    shares = chosen["share"].to_list()
    return [min(shares), max(shares)]


def _fig4a() -> Experiment:
    return Experiment(
        "santos2003/fig4a",
        "Naive marking, buffer of 4 packets",
        cost=0.5,
        points=lambda _: marking.points("naive"),
        measure=tables,
        draw=lambda found: rates_over_time(found, "Marking packets in a full buffer", marking="naive"),
        statements=marking.naive_statements(),
    )


def _fig4b() -> Experiment:
    return Experiment(
        "santos2003/fig4b",
        "Input-triggered marking, buffer of 4 packets",
        cost=1,
        points=lambda _: [*marking.points("naive", "input"), marking.fair_state("fair", INPUT_TRIGGERED, 4)],
        measure=tables,
        draw=lambda found: rates_over_time(
            found, "Marking all packets that generate congestion", marking="input"
        ),
        statements=marking.input_statements(
            "the proposed mechanism marks all packets that are generating congestion on a root link, both "
            "from remote and local flows"
        ),
    )
