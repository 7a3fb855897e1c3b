"""The list of the rules, written from the rules themselves."""

from __future__ import annotations

import textwrap

from becalm.explanations.model import TOPICS
from becalm.explanations.rules import RULES

_CAUSES = {
    "pause storm": "a host pauses its switch for at least half of the window, and pauses spread to at least "
    "two other nodes",
    "slow receiver": "the link leads to a host, waits for credit, and is not full",
    "slow cable": "the link's rate falls during the run (`[[changes]]`); or the cable is slower than most "
    "cables between the same levels, and the usual rate would suffice",
    "hot host": "several hosts offer more than the link can carry, nearly all of it to one host",
    "unbalanced routes": "more pairs of hosts use this link than the switch's other links to the same "
    "level, which have free capacity",
    "uneven cables": "most of the traffic crosses a switch that lacks cables which its peers have",
    "path collision": "flows offer more than the link can carry, but spread evenly over their equal paths, "
    "they would fit",
    "colliding jobs": "several groups of flows cross the link, which can carry each of them but not all; or "
    "the link is a root at times, and a job that shares it is slowed down",
    "oversubscribed link": "flows offer more than the link can carry",
    "credit loop": "the flows' paths contain a cycle of links in which each link may wait for the next",
}


def rules() -> str:
    """Return the list of all causes and rules, as Markdown."""
    lines = ["A bottleneck has the first of these causes that applies; credit loops are always reported:", ""]
    lines += [f"- **{name}**: {when}." for name, when in _CAUSES.items()]
    # Other rules name no cause.
    naming = [rule for rule in RULES if "*" in rule.says]
    for topic, title in TOPICS.items():
        found = [f"- `{rule.name}`: {rule.says}" for rule in naming if rule.topic == topic]
        lines += ["", f"### {title}", "", *found] if found else []
    return "".join(f"{_filled(line)}\n" for line in lines)


def _filled(line: str) -> str:
    return textwrap.fill(line, 110, subsequent_indent="  ", break_on_hyphens=False)
