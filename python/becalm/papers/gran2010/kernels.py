"""The benchmarks of gran2010's Table III as programs of four ranks.

HPC Challenge ran on the hosts of the victim, `H1` and `H4`. The table fits only if four processes are placed
round-robin on the two hosts. 4 of the 12 ordered pairs are then within a host, and the average rows of the
ping-pong test are (4 least + 8 most) / 12 of its other rows. Sizes and loops are those of HPC Challenge:
8 B and 2,000,000 B, N = 1000 and NB = 80 on a 2 x 2 grid.

`calc` operations make each kernel last as long as in column a). Columns b) and c) are results.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Op: TypeAlias = dict[str, Any]

RANKS = 4
SHORT, LONG = 8, 2_000_000
"""Message sizes of the latency and the bandwidth tests in bytes."""

RINGS = ((0, 1, 2, 3), (0, 1, 3, 2), (0, 2, 1, 3))
"""The three rings of four ranks. The first is the natural ring, in which every edge joins the two hosts."""

RING_SHARES = (7 / 16, 5 / 16, 4 / 16)
"""Probability of each ring when HPC Challenge chooses one at random: see `random_order`."""

RANDOM_RINGS = {"latency": 30, "bandwidth": 10}
"""Number of random orders of the ranks in a test of HPC Challenge, whose result is a geometric mean."""


def random_order(places: Sequence[int]) -> tuple[int, ...]:
    """Return the order of ranks that HPC Challenge derives from random places.

    In order, each rank goes to its place or, if this place is occupied, cyclically to the next free place.
    Orders are therefore not equally likely. With four ranks, the natural ring results in 7 of 16 cases, and
    the others in 5 and 4.
    """
    order = [-1] * len(places)
    for rank, drawn in enumerate(places):
        place = drawn
        while order[place] >= 0:
            place = (place + 1) % len(places)
        order[place] = rank
    return tuple(order)


def ring_of(order: Sequence[int]) -> int:
    """Return the index into `RINGS` of an order of four ranks. Rotation and reversal do not matter."""
    at = order.index(0)
    opposite = order[(at + 2) % RANKS]
    return next(number for number, ring in enumerate(RINGS) if ring[2] == opposite)


@dataclass
class Kernel:
    """A program under construction, and the operations between which it measures time."""

    ops: list[Op] = field(default_factory=list)
    spans: dict[str, list[list[tuple[int, int, int]]]] = field(default_factory=dict)
    """Rank and its first and last operation, by name of the measurement."""
    last: list[list[str]] = field(default_factory=lambda: [[] for _ in range(RANKS)])
    counts: list[int] = field(default_factory=lambda: [0] * RANKS)

    def step(self, rank: int, *actions: Op) -> tuple[int, int]:
        """Add operations that begin when the rank's last step has ended, and return the first and last."""
        first, names = self.counts[rank], []
        for action in actions:
            name = str(self.counts[rank])
            self.counts[rank] += 1
            names.append(name)
            self.ops.append({"rank": rank, "name": name, **action, "after": self.last[rank]})
        self.last[rank] = names
        return first, self.counts[rank] - 1


def send(to: int, size: int, tag: int = 0) -> Op:
    """Send a message."""
    return {"send": f"{size} B", "to": to, "tag": tag}


def recv(source: int | None, size: int, tag: int | None = 0) -> Op:
    """Receive a message from a source, or from any rank if none is given."""
    wanted = {"from": source, "tag": tag}
    return {"recv": f"{size} B"} | {key: value for key, value in wanted.items() if value is not None}


def calc(seconds: float) -> Op:
    """Compute."""
    return {"calc": f"{seconds * 1e9:.0f} ns"}


def ping_pong() -> Kernel:
    """Return ping-pong for each ordered pair: five times 8 round trips of 8 B, and twice one of 2 MB."""
    kernel = Kernel()
    before = 0
    for pair in itertools.permutations(range(RANKS), 2):
        if pair[0] != before:
            kernel.step(before, send(pair[0], 0, 9))
            kernel.step(pair[0], recv(before, 0, 9))
        before = pair[0]
        name = f"{pair[0]}{pair[1]}"
        _bounce(kernel, pair, SHORT, 1)
        kernel.spans[f"latency {name}"] = [[_bounce(kernel, pair, SHORT, 8)] for _ in range(5)]
        kernel.spans[f"bandwidth {name}"] = [[_bounce(kernel, pair, LONG, 1)] for _ in range(2)]
    return kernel


def _bounce(kernel: Kernel, pair: Sequence[int], size: int, loops: int) -> tuple[int, int, int]:
    """Send back and forth, and return the first rank's first and last operation."""
    one, other = pair
    bounds = []
    for _ in range(loops):
        bounds.append(kernel.step(one, send(other, size))[0])
        bounds.append(kernel.step(one, recv(other, size))[1])
        kernel.step(other, recv(one, size))
        kernel.step(other, send(one, size))
    return one, bounds[0], bounds[-1]


def rings() -> Kernel:
    """Return all rings: five times 8 loops of 8 B, and twice 3 loops of 2 MB, each in two versions."""
    kernel = Kernel()
    for number, ring in enumerate(RINGS):
        for test, size, loops, times in (("latency", SHORT, 8, 5), ("bandwidth", LONG, 3, 2)):
            for version in (1, 2):
                runs = [_round(kernel, ring, size, loops, version) for _ in range(times)]
                kernel.spans[f"{test} {number} {version}"] = runs
    return kernel


def _round(
    kernel: Kernel, ring: Sequence[int], size: int, loops: int, version: int
) -> list[tuple[int, int, int]]:
    """Send to the right and to the left: in sequence in version 1, simultaneously in version 2."""
    spans = []
    for place, rank in enumerate(ring):
        left, right = ring[place - 1], ring[(place + 1) % RANKS]
        exchanges = [
            [send(right, size, 1), recv(left, size, 1)],
            [send(left, size, 2), recv(right, size, 2)],
        ]
        steps = exchanges if version == 1 else [exchanges[0] + exchanges[1]]
        bounds = [kernel.step(rank, *step) for _ in range(loops) for step in steps]
        spans.append((rank, bounds[0][0], bounds[-1][1]))
    return spans


def transpose(work: float) -> Kernel:
    """Return PTRANS, n = 500. Ranks off the grid's diagonal swap their quarters of the matrix, 500 kB."""
    kernel = Kernel()
    quarter = 8 * 250 * 250
    spans = []
    for rank in range(RANKS):
        first = kernel.step(rank, calc(work))[0]
        last = first
        if rank in (1, 2):
            last = kernel.step(rank, send(3 - rank, quarter), recv(3 - rank, quarter))[1]
        spans.append((rank, first, last))
    kernel.spans["time"] = [spans]
    return kernel


def transform(work: float) -> Kernel:
    """Return MPIFFT, 2^16 points: three computations, each with an all-to-all of 65,536 B for each pair."""
    kernel = Kernel()
    size = 16 * 2**16 // RANKS**2
    spans = []
    for rank in range(RANKS):
        others = [(rank + place) % RANKS for place in range(1, RANKS)]
        bounds = []
        for turn in range(3):
            bounds.append(kernel.step(rank, calc(work)))
            actions = [recv(other, size, turn) for other in others]
            bounds.append(kernel.step(rank, *actions, *(send(other, size, turn) for other in others)))
        spans.append((rank, bounds[0][0], bounds[-1][1]))
    kernel.spans["time"] = [spans]
    return kernel


BUCKETS = 3 * 2**19 // 4 // 512
"""Number of buckets of 512 updates that a rank sends to others: three quarters of its 2^19 updates."""


def random_access(work: float) -> Kernel:
    """Return MPIRandomAccess: buckets of 4096 B, one at a time, to the other ranks in round-robin order."""
    kernel = Kernel()
    spans = []
    for rank in range(RANKS):
        others = [(rank + place) % RANKS for place in range(1, RANKS)]
        bounds = []
        for bucket in range(BUCKETS):
            bounds.append(kernel.step(rank, calc(work)))
            bounds.append(kernel.step(rank, send(others[bucket % 3], 4096)))
        spans.append((rank, bounds[0][0], bounds[-1][1]))
        received = [{"rank": rank, **recv(None, 4096), "lane": 1} for _ in range(BUCKETS)]
        kernel.ops.extend(received)
        kernel.counts[rank] += len(received)
    kernel.spans["time"] = [spans]
    return kernel


ORDER, BLOCK = 1000, 80


def linpack(work: float) -> Kernel:
    """Return HPL on a 2 x 2 grid: 13 panels are broadcast along rows of ranks, and U rows within columns.

    Ranks 0 and 1 are the first row of the grid, and ranks 0 and 2 the first column. A column is one host.
    """
    kernel = Kernel()
    starts = list(range(0, ORDER, BLOCK))
    first = [kernel.counts[rank] for rank in range(RANKS)]
    last = first
    for turn, start in enumerate(starts):
        rest = ORDER - start
        panel, rows = 8 * BLOCK * rest // 2, 8 * BLOCK * rest // 2
        owner = turn % 2
        for row in (0, 2):
            kernel.step(row + owner, send(row + 1 - owner, panel, 1))
            kernel.step(row + 1 - owner, recv(row + owner, panel, 1))
        for rank in range(RANKS):
            other = (rank + 2) % RANKS
            kernel.step(rank, send(other, rows, 2), recv(other, rows, 2))
        share = (rest / ORDER) ** 2 / sum(((ORDER - place) / ORDER) ** 2 for place in starts)
        last = [kernel.step(rank, calc(work * share))[1] for rank in range(RANKS)]
    kernel.spans["time"] = [[(rank, first[rank], last[rank]) for rank in range(RANKS)]]
    return kernel
