"""The comparison of marking policies with L = R = 10 and LIPD.

Both papers print it in nearly the same words: santos2002, Fig. 3(a, b) and santos2003, Fig. 4(a, b).
"""

from __future__ import annotations

from dataclasses import replace

from becalm.experiments.expect import at_least, at_most, falling, near
from becalm.experiments.measure import at, during, unfairness
from becalm.experiments.model import Measured, Point, Statement, Tables
from becalm.experiments.scene import INTER_SWITCH, NO_CONTROL, Scene, Table

NAIVE: Table = {"naive": {}}
INPUT_TRIGGERED: Table = {"input_triggered": {}}

VICTIM_MS = (45.0, 59.0)
"""Where a figure with a victim from 40 to 60 ms is read: away from the transient and the window's edges."""

HIGH = 0.83
"""High utilization of the inter-switch link. Where the papers give a number, high is above 90%; with a window
of one packet the victim alone can use 0.92 of the link, and 90% of that is 0.83."""


def output_triggered(threshold: int) -> Table:
    """Return input-output-triggered marking."""
    return {"input_output_triggered": {"threshold": threshold}}


def points(*policies: str) -> list[Point]:
    """Return the scene under the policies named, in 100 ms runs."""
    markings = {"naive": NAIVE, "input": INPUT_TRIGGERED, "4": output_triggered(4), "8": output_triggered(8)}
    return [Point({"marking": name}, Scene(marking=markings[name]).scenario()) for name in policies]


def fair_state(name: str, policy: Table, buffer: int) -> Point:
    """Return the scene in the fair state: all flows at the same rate, marked or not, packets at random times.

    The root link is loaded to 95%: enough to fill buffers, and no flow is held back. The run is long because
    the marks of the two sides differ by a few percent only.
    """
    scene = Scene(marking=policy, buffer=buffer, response=NO_CONTROL, load=0.95 / 20)
    return Point({"marking": name}, replace(scene.long(short=False), victim=None).scenario())


def marked_remote_to_local(tables: Tables, marking: str) -> float:
    """Return the marked packets of remote flows over those of local flows."""
    return at(tables, "remote_marked", marking=marking) / max(at(tables, "local_marked", marking=marking), 1)


def victim(tables: Tables, marking: str) -> float:
    """Return the victim's share of a link while it is active."""
    return during(tables, "group", "victim", VICTIM_MS, marking=marking)


def inter_switch(tables: Tables, marking: str) -> float:
    """Return the utilization of the inter-switch link while the victim is active."""
    return during(tables, "link", INTER_SWITCH, VICTIM_MS, marking=marking)


def fairness(tables: Tables, *markings: str) -> Measured:
    """Return the larger aggregate rate, local or remote, over the smaller; 1 is fair."""
    return [unfairness(at(tables, "ratio", marking=marking)) for marking in markings]


def naive_statements() -> tuple[Statement, ...]:
    """Return what is said of naive marking."""
    return (
        Statement(
            "victim_share",
            "the naive mechanism can avoid congestion spreading and allow the victim flow to receive high "
            "throughput",
            "high",
            lambda tables: victim(tables, "naive"),
            at_least(0.6),
            note="The text gives no number; 0.6 is two thirds of what a window of one packet can use alone.",
        ),
        Statement(
            "inter_switch_share",
            "the naive mechanism can avoid congestion spreading",
            "high",
            lambda tables: inter_switch(tables, "naive"),
            at_least(HIGH),
        ),
        Statement(
            "local_share",
            "the local flows utilize 90% of the available root link bandwidth",
            0.9,
            lambda tables: at(tables, "local", marking="naive"),
            near(0.9, 0.03),
        ),
        Statement(
            "same_type_equal",
            "the average throughput is approximately the same among flows of the same type, local or remote",
            "approximately the same",
            lambda tables: [at(tables, f"{side}_jain", marking="naive") for side in ("local", "remote")],
            at_least(0.99),
            note="Jain's index within each type, 20 to 100 ms; 0.99 is a standard deviation of a tenth of "
            "the mean.",
        ),
        Statement(
            "local_never_marked",
            "none of the packets of the local flows is marked since each local flow uses a different input "
            "buffer and the window limit prevents it from filling the buffer",
            0,
            lambda tables: at(tables, "local_marked", marking="naive"),
            at_most(0),
        ),
        Statement(
            "unfair",
            "it results in an unfair allocation of rates between remote and local flows",
            "local >> remote",
            lambda tables: at(tables, "ratio", marking="naive"),
            at_most(0.2),
            note="A local share of 90% leaves a remote/local ratio of 0.11; 0.2 is the ratio at 83%.",
        ),
    )


def input_statements(marks: str) -> tuple[Statement, ...]:
    """Return what is said of input-triggered marking; `marks`: the clause that the papers word apart."""
    return (
        Statement(
            "inter_switch_share",
            "this marking policy also avoids congestion spreading and keeps the inter-switch link at high "
            "utilization",
            "high",
            lambda tables: inter_switch(tables, "input"),
            at_least(HIGH),
        ),
        Statement(
            "fairer_than_naive",
            "fairness between the remote and local flows is improved when compared to the naive scheme",
            "input-triggered < naive",
            lambda tables: fairness(tables, "naive", "input"),
            falling(),
            note="The larger aggregate rate over the smaller one; 1 is fair.",
        ),
        Statement(
            "unfairness_remains",
            "Unfairness is not entirely eliminated with this marking policy because the event that triggers "
            "packet marking (a full input buffer) is biased to preferentially mark remote flows",
            "remote < local",
            lambda tables: at(tables, "ratio", marking="input"),
            at_most(0.95),
            note="Remote over local; 0.95 and above would be called fair.",
        ),
        Statement(
            "fair_state_marks_remote",
            "A fair state, in which local and remote flows have the same rate limits, is not stable because "
            "in that state [...] tends to mark more packets of remote flows than of local flows",
            "> 1",
            lambda tables: marked_remote_to_local(tables, "fair"),
            at_least(1),
            note="Marked packets of remote flows over those of local flows, when all send at the same rate.",
        ),
        Statement(
            "both_sides_marked",
            marks,
            "> 0",
            lambda tables: [at(tables, f"{side}_marked", marking="input") for side in ("local", "remote")],
            at_least(1),
        ),
    )
