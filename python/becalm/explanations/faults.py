"""Rules about faults in time, and about watchdogs of pauses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from becalm.analysis import limits
from becalm.analysis.case import Case
from becalm.analysis.facts import Facts
from becalm.analysis.formats import counted, number, seconds, share
from becalm.analysis.reference import Reference
from becalm.explanations.model import Sentence
from becalm.explanations.rule import rule

if TYPE_CHECKING:
    from becalm.analysis.facts import Places

CABLES = ("link_down", "switch_stop")
"""Faults of cables."""
MOST = 3
"""Largest number of faults, and of storms, that are named."""


@rule("faults", "causes")
def faults(case: Case) -> Iterator[Sentence]:
    """Name what `[[faults]]` broke, and what it held up."""
    facts = case.facts
    if "faults" not in facts.results.tables:
        return
    whole = facts.table("faults")
    for rows in whole.partition_by("fault", maintain_order=True)[:MOST]:
        each = list(rows.iter_rows(named=True))
        first, columns = each[0], ("kind", "begin", "end")
        span = f"from {seconds(first['begin'])} to {seconds(first['end'])}"
        text = f"{_broken(case, each)} {span} (`[[faults]]`)."
        refer = Reference("faults", tuple(int(row["row"]) for row in each), columns)
        numbers = {"begin": float(first["begin"]), "end": float(first["end"])}
        yield Sentence("faults", "causes", text, numbers, (refer,), place=_place(first))


def _place(row: dict[str, Any]) -> str:
    down = row["kind"] in CABLES
    return f"{row['node']}->{row['peer']}" if down else str(row["node"])


def _broken(case: Case, rows: list[dict[str, Any]]) -> str:
    """Return what a fault broke, up to its verb's time."""
    first, many = rows[0], len(rows)
    node = first["node"] if many == 1 else f"{first['node']} and {counted(many - 1, 'other host')}"
    wire, moved, held = (sum(int(row[key]) for row in rows) for key in ("on_wire", "moved", "held"))
    packets = counted(held, "packet")
    match first["kind"]:
        case "link_down":
            return (
                f"The cable between {first['node']} and {first['peer']} was down; a real one loses the "
                f"{counted(wire, 'packet')} on it, {moved} took another port, and {held} waited at its end:"
            )
        case "switch_stop":
            stopped = case.facts.resolved["faults"][first["fault"]]["kind"]["switch_stop"]["switches"]
            return (
                f"{', '.join(stopped)} stopped; real cables lose the {counted(wire, 'packet')} on them, "
                f"{moved} took other ports, and {held} waited at its end:"
            )
        case "slow_receiver":
            return f"{node} received slowly, with {packets} in the receive buffer at its end:"
        case "host_stop":
            return f"{node} neither sent nor received, with {packets} in the receive buffer at its end:"
        case _:
            return f"{first['node']} paused {first['peer']} without end,"


@rule("storms", "cost")
def storms(case: Case) -> Iterator[Sentence]:
    """State which storms of pauses the watchdogs found, where the pauses began, and what was discarded.

    Pauses begin at the node that pauses others and is not itself paused for at least 5% of the window.
    """
    facts = case.facts
    if "storms" not in facts.results.tables:
        return
    table = facts.table("storms").sort("stormed", "row", descending=[True, False])
    if table.is_empty():
        text = "The watchdogs found no storm of pauses."
        yield Sentence("storms", "cost", text, {"storms": 0.0})
        return
    action = facts.scenario.flow_control.keys["watchdog"]["action"]
    for row in list(table.iter_rows(named=True))[:MOST]:
        columns = ("first", "stormed", "tx_dropped", "rx_dropped", "overflowed")
        refer = Reference("storms", (int(row["row"]),), columns)
        lost = sum(int(row[key]) for key in ("tx_dropped", "rx_dropped", "overflowed"))
        amount = sum(int(row[f"{key}_bytes"]) for key in ("tx_dropped", "rx_dropped", "overflowed"))
        origin = _origin(facts, row["switch"], row["peer"])
        text = (
            f"The watchdog of {row['switch']} found a storm of pauses from {row['peer']} at "
            f"{seconds(row['first'])}; it lasted {seconds(row['stormed'])} from then. "
            f"The pauses begin at {origin}. {_done(action, lost, amount)}"
        )
        if lost:
            text += _kept(facts, row["switch"], row["peer"])
        numbers = {key: float(row[key]) for key in ("first", "stormed", "detected")} | {"lost": float(lost)}
        place = f"{row['switch']}->{row['peer']}"
        yield Sentence("storms", "cost", text, numbers, (refer,), place=place)


def discarded(facts: Facts) -> Places:
    """Return the flows that cross a port at which a watchdog discarded packets, in either direction."""
    if "storms" not in facts.results.tables:
        return np.array([], dtype=np.int64)
    table = facts.table("storms")
    table = table.filter(table["tx_dropped"] + table["rx_dropped"] + table["overflowed"] > 0)
    ends = {frozenset(pair) for pair in zip(table["switch"], table["peer"], strict=True)}
    return _crossing(facts, ends)


def _crossing(facts: Facts, ends: set[frozenset[str]]) -> Places:
    """Return the flows that cross a cable between two nodes."""
    links = facts.network.links
    crossed = [frozenset(pair) in ends for pair in zip(links["from"], links["to"], strict=True)]
    return np.flatnonzero(facts.meets(np.array(crossed)))


def _done(action: str, lost: int, amount: int) -> str:
    """Return what a watchdog did."""
    if action == "alert":
        return "It only counted."
    if not lost:
        return "Nothing was lost."
    what = {"drop": "It dropped", "forward": "It sent on, and the other end had no room for"}[action]
    size = f"{counted(lost, 'packet')} ({number(amount, 'B')})"
    return f"{what} {size}; messages with a lost packet are not complete."


def _kept(facts: Facts, switch: str, peer: str) -> str:
    """Return what the flows that cross the port got."""
    own = _crossing(facts, {frozenset((switch, peer))})
    offered, got = float(facts.flows.offered[own].sum()), float(facts.flows.delivered[own].sum())
    if not offered:
        return ""
    return f" The {counted(len(own), 'flow')} to and from {peer} got {share(got / offered)} of the demand."


def _origin(facts: Facts, switch: str, peer: str) -> str:
    """Return the node at which the pauses of a link begin."""
    seen, node = {switch}, peer
    while node not in seen:
        seen.add(node)
        paused = {
            to: share
            for (start, to), share in facts.paused.items()
            if start == node and to not in seen and share >= limits.LEAST_ROOT
        }
        if not paused or node in facts.network.hosts:
            return node
        node = max(sorted(paused), key=lambda to: paused[to])
    return node
