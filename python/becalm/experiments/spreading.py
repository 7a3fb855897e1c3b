"""What a full network does to the victim without congestion control.

Both papers say it in nearly the same words: santos2002, Fig. 2, and santos2003, Fig. 2 and 3(a), and the
thought experiment in section III of each.
"""

from __future__ import annotations

from becalm.experiments.expect import at_least, at_most, near
from becalm.experiments.marking import HIGH, VICTIM_MS
from becalm.experiments.measure import at, during
from becalm.experiments.model import Statement, Tables
from becalm.experiments.scene import INTER_SWITCH


def victim(found: Tables, run: str) -> float:
    """Return the victim's share of a link while it is active."""
    return during(found, "group", "victim", VICTIM_MS, run=run)


def inter_switch(found: Tables, run: str) -> float:
    """Return the utilization of the inter-switch link while the victim is active."""
    return during(found, "link", INTER_SWITCH, VICTIM_MS, run=run)


def statements(victim_percent: float, link_percent: float) -> tuple[Statement, ...]:
    """Return what is said of the victim and of its link, with the numbers of one of the papers."""
    return (
        Statement(
            "victim_share",
            f"the victim flow uses only {victim_percent:g}% of the bandwidth on the inter-switch link",
            victim_percent / 100,
            lambda found: victim(found, "none"),
            near(victim_percent / 100, 0.02),
        ),
        Statement(
            "inter_switch_share",
            f"even though the inter-switch link is only {link_percent:g}% utilized",
            link_percent / 100,
            lambda found: inter_switch(found, "none"),
            near(link_percent / 100, 0.02),
        ),
    )


def paced_statements(remote: str, quote: str, note: str) -> tuple[Statement, ...]:
    """Return what is said of remote flows that keep to their fair rate, and of all flows that do.

    Args:
        remote: name of the first statement, in which only the remote flows slow down.
        quote: the thought experiment in the paper's words.
        note: how the first statement is read, and why it does not hold.

    """
    return (
        Statement(
            remote,
            quote,
            "high",
            lambda found: inter_switch(found, "remote"),
            at_least(HIGH),
            note=note,
        ),
        Statement(
            "all_flows_paced",
            quote,
            "high",
            lambda found: inter_switch(found, "all"),
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
    )
