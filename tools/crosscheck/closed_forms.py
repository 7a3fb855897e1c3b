"""Computes closed forms of a case: its `peer` contains `form`, one of `FORMS`, and the arguments."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from becalm.crosscheck.entry import Case, Entry

Values = dict[str, float | list[float]]


def priorities(rate: float, load: Sequence[float], size: Sequence[float]) -> Values:
    """Return the mean waits [ns] of two classes with Poisson arrivals and constant service times.

    Cobham 1954: a class waits for the packet in service, for waiting packets of its own class and of higher
    ones, and for later arrivals of higher classes.

    Args:
        rate: rate of the link [Gb/s].
        load: share of the link that each class uses, the higher class first.
        size: packet size of each class [B].

    """
    service = [8 * each / rate for each in size]
    rest = sum(share * each / 2 for share, each in zip(load, service, strict=True))
    high, both = 1 - load[0], 1 - sum(load)
    return {"high": rest / high, "low": rest / (high * both)}


def batches(rate: float, load: float, size: float, batch: int, *, exponential: bool = False) -> Values:
    """Return the mean wait [ns] of packets that arrive in Poisson batches of constant size.

    Gross et al. 2008, "Fundamentals of Queueing Theory", 3.1: a batch waits like a customer of M/G/1 whose
    service is that of the whole batch, and a packet also waits for those before it in its batch.

    Args:
        rate: rate of the link [Gb/s].
        load: share of the link that is used.
        size: packet size [B].
        batch: packets in a batch.
        exponential: whether service times are exponential; otherwise, they are constant.

    """
    service = 8 * size / rate
    # The second moment of a packet's service, over the square of its mean.
    second = 2 if exponential else 1
    return {"wait": service * (load * second + batch - 1) / (2 * (1 - load))}


def limits(limit: int, size: float) -> Values:
    """Return the low lane's share of a saturated link.

    InfiniBand Architecture Specification, volume 1, 7.6.9: a low-priority packet may be sent once
    high-priority ones have used up `limit` * 4096 bytes; after each one if `limit` is 0, and never if it is
    255.
    """
    packets = max(1, math.ceil(limit * 4096 / size))
    return {"low": 0.0 if limit == 255 else 1 / (1 + packets)}


def credit_loops(
    rate: float, delay: float, forwarding: float, size: float, buffer: int, *, stored: bool
) -> Values:
    """Return the throughput of a link as a share of its rate: min(1, buffer / bytes of the credit loop).

    Args:
        rate: rate of the link [Gb/s].
        delay: delay of the cable [ns].
        forwarding: forwarding delay [ns].
        size: packet size [B].
        buffer: packets that the next buffer holds.
        stored: whether the switch stores each packet completely before it forwards it.

    """
    packet = 8 * size / rate
    loop = 2 * delay + forwarding + packet * (2 if stored else 1)
    return {"share": min(1.0, buffer * packet / loop)}


def deadlocks(distance: int, lanes: int) -> Values:
    """Return whether saturated flows to the switch at this distance on a ring deadlock: 1 or 0.

    Dally and Seitz 1987: routes without a cycle of channels that depend on each other cannot deadlock. On a
    ring, a channel depends on the next one if a packet crosses both. A second lane behind a dateline cuts the
    cycle.
    """
    return {"deadlock": float(distance > 1 and lanes == 1)}


SATURATION = {2: 0.7500, 3: 0.6825, 4: 0.6553, 5: 0.6399, 6: 0.6302, 7: 0.6234, 8: 0.6184}
"""Saturation throughput of an input-queued switch with this many ports: Karol et al. 1987, Table I."""


def blocking(ports: int) -> Values:
    """Return the share of the outputs' rate that a switch with FIFOs reaches under saturation."""
    return {"share": SATURATION[ports]}


FORMS: dict[str, Callable[..., Values]] = {
    "priorities": priorities,
    "batches": batches,
    "limits": limits,
    "credit_loops": credit_loops,
    "deadlocks": deadlocks,
    "blocking": blocking,
}


def reference(_: Entry, case: Case) -> Values:
    """Return the closed form of a case."""
    peer = dict(case.peer)
    return FORMS[peer.pop("form")](**peer)
