"""Estimates, before runs start, of the memory that they need, and a check against the machine's limit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from becalm.base.errors import MemoryLimitError
from becalm.base.machine import limit_of, machine_limit, shown
from becalm.scenario import Scenario

PROCESS = 100_000_000
"""Bytes that Python and its modules occupy before any run."""
_KEPT = ("flows", "rows", "series", "snapshots", "frames", "spans")
"""Parts that become tables, which stay in memory after a replication."""


class Estimate(NamedTuple):
    """The total memory that concurrent runs will need."""

    total: int
    """Bytes."""
    part: str
    """The largest part: `network`, `flows`, `messages`, `records`, `rows`, `programs`, `series`,
    `snapshots`, `frames`, `spans` or `packets`."""
    part_bytes: int
    """Bytes of that part."""


def estimate(scenario: Scenario, *, at_once: int = 1, kept: int = 1) -> Estimate:
    """Return the total memory that runs of a scenario will need, including this process.

    Args:
        scenario: the scenario to run. The estimate builds nothing.
        at_once: number of parallel replications.
        kept: number of replications whose tables are kept until the last one finishes.

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
    """Check that scenarios fit into a memory limit.

    Args:
        scenarios: the scenarios to run.
        limit: bytes, or a size such as `4 GB`; None: 80% of the machine's memory. See `machine_limit`.
        width: number of parallel runs.
        processes: whether each parallel run has its own process.
        kept: number of replications whose tables are kept; default: the number of parallel runs.

    Raises:
        MemoryLimitError: the scenarios do not fit. The error contains the estimate and its largest part;
            nothing was built or run.
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
        "reduce the scenario, or allow more with --max-memory (max_memory=)"
    )


__all__ = ["PROCESS", "Estimate", "check", "estimate", "limit_of", "machine_limit", "shown"]
