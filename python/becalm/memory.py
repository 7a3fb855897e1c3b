"""The memory that runs will need, and whether that is too much for this machine, before they begin."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from becalm.errors import MemoryLimitError
from becalm.machine import limit_of, machine_limit, shown
from becalm.scenario import Scenario

PROCESS = 100_000_000
"""Bytes that a process needs before it runs anything: Python and its modules."""
_KEPT = ("flows", "rows", "series", "snapshots", "frames", "spans")
"""Parts that become tables, which stay when a replication is over."""


class Estimate(NamedTuple):
    """The memory that several runs will need together."""

    total: int
    """Bytes."""
    part: str
    """The largest part: `network`, `flows`, `messages`, `records`, `rows`, `programs`, `series`,
    `snapshots`, `frames`, `spans` or `packets`."""
    part_bytes: int
    """Bytes of that part."""


def estimate(scenario: Scenario, *, at_once: int = 1, kept: int = 1) -> Estimate:
    """Return the memory that runs of a scenario will need together, including this process.

    Args:
        scenario: what is run. Nothing is built for the estimate.
        at_once: replications that run in parallel.
        kept: replications whose tables are kept until the last one is finished.

    """
    core = scenario.core.memory_estimate
    sizes = {name: bytes_ for name, bytes_ in core.items() if name != "total"}
    base = core["total"] - sum(sizes.values())
    parts = {
        name: bytes_ * (max(at_once, kept) if name in _KEPT else at_once) for name, bytes_ in sizes.items()
    }
    largest = max(parts, key=parts.__getitem__)
    return Estimate(PROCESS + max(base, 0) * at_once + sum(parts.values()), largest, parts[largest])


def check(
    scenarios: Iterable[Scenario],
    limit: int | str | None = None,
    *,
    width: int = 1,
    processes: bool = False,
    kept: int | None = None,
) -> None:
    """Make sure that scenarios can be run in this much memory.

    Args:
        scenarios: what is run.
        limit: bytes, or a size such as `4 GB`; None: 80% of the machine's memory. See `machine_limit`.
        width: runs in parallel.
        processes: whether each of these has a process of its own.
        kept: replications whose tables are kept; as many as run at once if not given.

    Raises:
        MemoryLimitError: with the estimate and its largest part; nothing was built or run.
        BecalmError: the limit is not a size.

    """
    most = limit_of(limit)
    for scenario in scenarios:
        needed = estimate(scenario, at_once=width, kept=width if kept is None else kept)
        total = needed.total + (PROCESS * width if processes else 0)
        if total > most:
            raise MemoryLimitError(_message(scenario, total, needed, most, width), total, most)


def _message(scenario: Scenario, total: int, needed: Estimate, most: int, width: int) -> str:
    runs = f" for {width} runs at once" if width > 1 else ""
    return (
        f"{scenario.name}: needs about {shown(total)} of memory{runs}, most of it for {needed.part} "
        f"({shown(needed.part_bytes)}), more than the limit of {shown(most)}; "
        "ask for less, or allow more with --max-memory (max_memory=)"
    )


__all__ = ["PROCESS", "Estimate", "check", "estimate", "limit_of", "machine_limit", "shown"]
