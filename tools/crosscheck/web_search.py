"""Writes the flows of the entry `roce-websearch`: `python tools/crosscheck/web_search.py`.

Messages between random hosts, with web-search sizes (`sizes = "websearch"`) and exponential gaps, at half the
capacity of the hosts' links. Both programs use the same list.
"""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

FILE = Path(__file__).parents[2] / "crosschecks" / "roce-websearch" / "scenario.toml"
BEGIN = "connections = ["

HOSTS, LOAD, SPAN = 32, 0.5, 6e-3
"""Number of hosts, load, and time during which messages are posted [s]."""
BYTES_PER_S = 12.5e9
POINTS = (
    (0, 0.0),
    (10_000, 0.15),
    (20_000, 0.2),
    (30_000, 0.3),
    (50_000, 0.4),
    (80_000, 0.53),
    (200_000, 0.6),
    (1_000_000, 0.7),
    (2_000_000, 0.8),
    (5_000_000, 0.9),
    (10_000_000, 0.97),
    (30_000_000, 1.0),
)
"""Sizes [B], each with the share of messages up to this size."""


def size_at(share: float) -> int:
    """Return the size at a quantile of the distribution, linear between points and at least 1 B."""
    place = max(bisect_left([part for _, part in POINTS], share), 1)
    (low, below), (high, above) = POINTS[place - 1], POINTS[place]
    return max(1, round(low + (high - low) * (share - below) / (above - below)))


def flows(drawn: random.Random) -> Iterator[str]:
    """Yield a line per message in order of start times."""
    mean = sum((one + other) / 2 * (after - before) for (one, before), (other, after) in pairwise(POINTS))
    rate = LOAD * HOSTS * BYTES_PER_S / mean
    time = drawn.expovariate(rate)
    while time < SPAN:
        source, destination = drawn.sample(range(HOSTS), 2)
        size = size_at(drawn.random())
        ends = f'from = "H{source}", to = "H{destination}"'
        yield f'  {{ {ends}, message = "{size} B", start = "{time * 1e9:.0f} ns" }},'
        time += drawn.expovariate(rate)


def main() -> None:
    """Write the list to the end of the scenario."""
    text, _, _ = FILE.read_text(encoding="utf-8").partition(BEGIN)
    FILE.write_text("\n".join([text + BEGIN, *flows(random.Random(1)), "]", ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
