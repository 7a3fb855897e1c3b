"""An independent model of Swift with one queue: whole-packet windows, an ACK per packet, equal flows."""

from __future__ import annotations

import heapq
import math
import random

BASE, TARGET, RANGE = 10e-6, 17e-6, 75e-6
"""Empty network's round trip, target for large windows, and largest addition for small windows, in s."""
SERVICE = 80e-9
"""Transmission time of a packet in s."""
BETA, LEAST = 0.8, 0.5
"""Strength of a decrease, and its smallest factor."""
_A = RANGE / (1 / math.sqrt(0.1) - 1 / math.sqrt(100))


def target(window: float) -> float:
    """Return the target delay for a window in s."""
    return TARGET + min(max(_A / math.sqrt(window) - _A / math.sqrt(100), 0.0), RANGE)


class Flow:
    """A sender."""

    def __init__(self, increase: float, pause: float) -> None:
        self.increase, self.pause = increase, pause
        self.window, self.under_way, self.cut_at = BASE / SERVICE, 0, -1.0

    def acked(self, now: float, sent: float) -> None:
        """Handle an ACK; two cuts are at least a round trip plus `pause` apart."""
        rtt, aim = now - sent, target(self.window)
        if rtt < aim:
            self.window += self.increase / max(self.window, 1)
        elif now - self.cut_at >= rtt + self.pause:
            self.cut_at = now
            self.window *= max(1 - BETA * (rtt - aim) / rtt, LEAST)


def mean_round_trip(
    flows: int, increase: float, end: float, warmup: float, pause: float = 0.0, seed: int = 1
) -> float:
    """Return the mean round trip in s from the warm-up to the end."""
    rng = random.Random(seed)
    senders = [Flow(increase, pause) for _ in range(flows)]
    # Time, order, sender, and the packet's departure time, or None at the start of a flow.
    events: list[tuple[float, int, int, float | None]] = []
    for number in range(flows):
        heapq.heappush(events, (rng.random() * BASE, number, number, None))
    order, free, total, count = flows, 0.0, 0.0, 0
    while events and events[0][0] < end:
        now, _, number, sent = heapq.heappop(events)
        flow = senders[number]
        if sent is not None:
            flow.under_way -= 1
            flow.acked(now, sent)
            if now > warmup:
                total, count = total + now - sent, count + 1
        while flow.under_way < max(1, math.floor(flow.window)):
            free = max(now, free) + SERVICE
            heapq.heappush(events, (free + BASE - SERVICE, order, number, now))
            flow.under_way, order = flow.under_way + 1, order + 1
    return total / count
