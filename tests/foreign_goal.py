"""GOAL schedules in the format of LogGOPSim's compiler `txt2bin`, according to its `Parser.hpp`.

`python tests/foreign_goal.py` writes `tests/data/goal/compiled`.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import NamedTuple

DATA = Path(__file__).parent / "data" / "goal" / "compiled"
MAGIC = 4223
SEND, RECV, CALC = 1, 2, 3
ANY = 2**32 - 1


class Op(NamedTuple):
    """An operation; `after` and `after_start` index the operations of its rank that it waits for."""

    type: int
    size: int
    peer: int = 0
    tag: int = 0
    cpu: int = 0
    nic: int = 0
    after: tuple[int, ...] = ()
    after_start: tuple[int, ...] = ()


def rank_part(ops: list[Op]) -> bytes:
    """Return a rank's part: operations without dependencies, all operations, and dependent operations."""
    free = [at for at, op in enumerate(ops) if not op.after and not op.after_start]
    nodes, waiting = b"", list[int]()
    for at, op in enumerate(ops):
        ends = [other for other, each in enumerate(ops) if at in each.after]
        starts = [other for other, each in enumerate(ops) if at in each.after_start]
        needs = len(op.after) + len(op.after_start)
        nodes += struct.pack("<IBIQIBB", needs, op.type, op.peer, op.size, op.tag, op.cpu, op.nic)
        nodes += struct.pack("<II", len(ends), len(waiting))
        waiting += ends
        nodes += struct.pack("<II", len(starts), len(waiting))
        waiting += starts
    return (
        struct.pack(f"<II{len(free)}I", len(ops), len(free), *free)
        + nodes
        + struct.pack(f"<{len(waiting)}I", *waiting)
    )


def compiled(ranks: list[list[Op]]) -> bytes:
    """Return a complete schedule; offsets in its table start at the number of ranks."""
    cpus, nics = (max(getattr(op, key) for rank in ranks for op in rank) for key in ("cpu", "nic"))
    place, table, parts = 6 + 16 * len(ranks), b"", b""
    for rank in map(rank_part, ranks):
        table += struct.pack("<QQ", place, place + len(rank))
        place += len(rank)
        parts += rank
    return struct.pack("<QIBB", MAGIC, len(ranks), cpus, nics) + table + parts


def ring_of_two() -> list[list[Op]]:
    """Return the schedule of `tests/data/goal/ring_of_two.goal`."""
    return [
        [
            Op(CALC, 12000),
            Op(SEND, 65536, 1, 7, after=(0,)),
            Op(RECV, 65536, 1, 7, cpu=1),
            Op(CALC, 3000, after=(2, 1)),
        ],
        [
            Op(SEND, 65536, 0, 7),
            Op(RECV, 65536, ANY, ANY, cpu=1),
            Op(CALC, 3000, after=(1,), after_start=(0,)),
        ],
    ]


def files() -> dict[str, bytes]:
    """Return all files of `tests/data/goal/compiled`."""
    good = compiled(ring_of_two())
    return {
        "ring_of_two.bin": good,
        "cut.bin": good[:-30],
        "broken.bin": struct.pack("<Q", 2342) + good[8:],
        "nic.bin": compiled([[Op(CALC, 5, nic=1)]]),
        "far.bin": compiled([[Op(SEND, 5, 2)], [Op(CALC, 5)]]),
    }


if __name__ == "__main__":
    DATA.mkdir(exist_ok=True)
    for name, content in files().items():
        (DATA / name).write_bytes(content)
