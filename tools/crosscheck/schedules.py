"""Writes the GOAL schedules of the entry `loggopsim`: `python tools/crosscheck/schedules.py`.

The schedules are small patterns of message-passing programs. `tree_*` are random trees: each rank waits for
its message, and then only for the starts of its sends. In `waiting_16`, ranks wait for the ends of their
sends. In `overlap_16`, messages arrive while ranks compute.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "crosschecks" / "loggopsim"


NONE: tuple[str, ...] = ()


class Rank:
    """Lines of a rank; each operation is followed by its dependencies."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.count = 0

    def add(self, operation: str, *after: str, word: str = "requires") -> str:
        """Add an operation and return its label."""
        self.count += 1
        label = f"l{self.count}"
        self.lines += [f"{label}: {operation}", *(f"{label} {word} {each}" for each in after)]
        return label


def reduce(ranks: int, size: int) -> Iterator[Rank]:
    """Yield the ranks of a reduction to rank 0 along a binomial tree."""
    for me in range(ranks):
        rank, last, step = Rank(), NONE, 1
        while step < ranks and not me & step:
            if me + step < ranks:
                last = (*last, rank.add(f"recv {size}b from {me + step} tag 0"))
            step *= 2
        if me:
            rank.add(f"send {size}b to {me - step} tag 0", *last)
        yield rank


def broadcast(ranks: int, size: int) -> Iterator[Rank]:
    """Yield the ranks of a broadcast from rank 0 along a binomial tree, farthest rank first."""
    for me in range(ranks):
        rank, after = Rank(), NONE
        low = (me & -me) if me else ranks
        if me:
            after = (rank.add(f"recv {size}b from {me - low} tag 0"),)
        step = low // 2
        while step:
            if me + step < ranks:
                rank.add(f"send {size}b to {me + step} tag 0", *after)
            step //= 2
        yield rank


def ring(ranks: int, size: int, turns: int) -> Iterator[Rank]:
    """Yield the ranks of a ring around which a token passes."""
    for me in range(ranks):
        rank, after = Rank(), NONE
        for turn in range(turns):
            if me or turn:
                after = (rank.add(f"recv {size}b from {(me - 1) % ranks} tag 0", *after),)
            if me < ranks - 1 or turn < turns - 1:
                after = (rank.add(f"send {size}b to {(me + 1) % ranks} tag 0", *after),)
        yield rank


def exchanges(ranks: int, partner: Callable[[int, int], tuple[int, int]], sizes: list[int]) -> Iterator[Rank]:
    """Yield the ranks of rounds: each rank sends to one rank, receives from another, and waits for both."""
    for me in range(ranks):
        rank, after = Rank(), NONE
        for turn, size in enumerate(sizes):
            to, source = partner(me, turn)
            sent = rank.add(f"send {size}b to {to} tag {turn}", *after)
            after = (sent, rank.add(f"recv {size}b from {source} tag {turn}", *after))
        yield rank


def tree(ranks: int, seed: int, sent: str) -> Iterator[Rank]:
    """Yield the ranks of a random tree; each computes for a random time before it forwards the message.

    `sent` is the dependency of a computation on the send before it: `irequires` waits for the send's start,
    and `requires` for its end.
    """
    draw = random.Random(seed)
    parents = [0, *(draw.randrange(child) for child in range(1, ranks))]
    sizes = [draw.randrange(64, 65536) for _ in range(ranks)]
    for me in range(ranks):
        rank, last, word = Rank(), NONE, "requires"
        if me:
            last = (rank.add(f"recv {sizes[me]}b from {parents[me]} tag 0"),)
        for child in range(max(me + 1, 1), ranks):
            if parents[child] == me:
                work = rank.add(f"calc {draw.randrange(1000, 200001)}", *last, word=word)
                last, word = (rank.add(f"send {sizes[child]}b to {child} tag 0", work),), sent
        yield rank


def rounds(ranks: int, count: int, seed: int) -> Iterator[Rank]:
    """Yield ranks that compute for a random time, then send along a random permutation, in each round."""
    draw = random.Random(seed)
    plans = []
    for _ in range(count):
        shift = draw.randrange(1, ranks)
        order = draw.sample(range(ranks), ranks)
        to = {order[at]: order[(at + shift) % ranks] for at in range(ranks)}
        plans.append((to, {there: here for here, there in to.items()}, draw.randrange(64, 32769)))
    for me in range(ranks):
        rank, after = Rank(), NONE
        for turn, (to, source, size) in enumerate(plans):
            work = rank.add(f"calc {draw.randrange(1000, 50001)}", *after)
            sent = rank.add(f"send {size}b to {to[me]} tag {turn}", work)
            after = (rank.add(f"recv {size}b from {source[me]} tag {turn}", sent),)
        yield rank


def writes(ranks: int, size: int) -> Iterator[Rank]:
    """Yield the ranks of an incast: all other ranks send to rank 0 at once."""
    target = Rank()
    for source in range(1, ranks):
        target.add(f"recv {size}b from {source} tag 0")
    yield target
    for _ in range(1, ranks):
        rank = Rank()
        rank.add(f"send {size}b to 0 tag 0")
        yield rank


def text(ranks: list[Rank]) -> str:
    """Return a schedule as GOAL text."""
    parts = [f"num_ranks {len(ranks)}\n"]
    for number, rank in enumerate(ranks):
        parts += [f"rank {number} {{", *rank.lines, "}\n"]
    return "\n".join(parts)


def schedules() -> dict[str, str]:
    """Return the text of each schedule by its name."""
    made = {
        "reduce_8": reduce(8, 1024),
        "reduce_16": reduce(16, 16384),
        "broadcast_16": broadcast(16, 16384),
        "ring_8": ring(8, 4096, 3),
        "dissemination_16": exchanges(
            16, lambda me, turn: ((me + 2**turn) % 16, (me - 2**turn) % 16), [1024] * 4
        ),
        "doubling_16": exchanges(16, lambda me, turn: (me ^ 2**turn, me ^ 2**turn), [8192] * 4),
        "halving_16": exchanges(
            16, lambda me, turn: (me ^ (8 >> turn), me ^ (8 >> turn)), [32768, 16384, 8192, 4096]
        ),
        "writes_8": writes(8, 32768),
    }
    made |= {f"tree_{seed}": tree(16, seed, "irequires") for seed in (1, 2, 3)}
    made["waiting_16"] = tree(16, 4, "requires")
    made["overlap_16"] = rounds(16, 12, 1)
    return {name: text(list(ranks)) for name, ranks in made.items()}


if __name__ == "__main__":
    for name, content in schedules().items():
        (FOLDER / f"{name}.goal").write_text(content, encoding="utf-8")
