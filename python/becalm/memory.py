"""How much memory runs will take, and whether that is too much for this machine: known before they begin."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from becalm import _core
from becalm.errors import BecalmError, MemoryLimitError
from becalm.mistakes import short
from becalm.scenario import Scenario

SHARE = 0.8
"""Share of the machine's memory that runs may take when nothing else is said."""
UNITS = ("B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB")
"""Units of sizes."""
PROCESS = 100_000_000
"""Bytes that a process takes before it runs anything: Python and its modules."""
_KEPT = ("flows", "rows", "series", "snapshots", "frames")
"""Parts that are tables in the end, which stay when a replication is over."""
_SYSTEM = Path("/sys/fs/cgroup")
_UNLIMITED = 1 << 60


class Estimate(NamedTuple):
    """What a number of runs will take together."""

    total: int
    """Bytes."""
    part: str
    """What takes most of it: `network`, `flows`, `messages`, `records`, `rows`, `programs`, `series`,
    `snapshots` or `frames`."""
    part_bytes: int
    """Bytes of that part."""


def estimate(scenario: Scenario, *, at_once: int = 1, kept: int = 1) -> Estimate:
    """Return what runs of a scenario will take together, this process included.

    Args:
        scenario: what is run. Nothing is built for the estimate.
        at_once: replications side by side.
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
        limit: bytes, or a size such as `4 GB`; None: 80% of what the machine has. See `machine_limit`.
        width: runs side by side.
        processes: whether each of these has a process of its own.
        kept: replications whose tables are kept; as many as run at once if not given.

    Raises:
        MemoryLimitError: with the estimate and its largest part; nothing was built or run.
        BecalmError: the limit is no size.

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


def limit_of(limit: int | str | None) -> int:
    """Return a limit in bytes.

    Raises:
        BecalmError: neither a number of bytes above 0 nor a size with a unit.

    """
    if limit is None:
        return machine_limit()
    found: float | None
    try:
        found = limit if isinstance(limit, int) and not isinstance(limit, bool) else _core.bytes(str(limit))
    except UnicodeEncodeError:
        found = None
    if found is None or not 1 <= found < _UNLIMITED:
        shown_limit = short(str(limit))
        raise BecalmError(f"memory `{shown_limit}`: must be a number above 0 and one of {', '.join(UNITS)}")
    return int(found)


def machine_limit() -> int:
    """Return 80% of the memory that this process may have: the machine's, or its control group's if lower."""
    return int(SHARE * min(_physical(), *_group_limits()))


def _physical() -> int:
    """Return the memory of the machine; where it does not say, there is no limit."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return _UNLIMITED


def _group_limits() -> list[int]:
    """Return the limits of the control groups that this process is in, of both versions."""
    found = [_UNLIMITED]
    places = [_SYSTEM / "memory.max", _SYSTEM / "memory" / "memory.limit_in_bytes"]
    try:
        lines = Path("/proc/self/cgroup").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    for line in lines:
        _, controllers, group = (*line.split(":", 2), "", "")[:3]
        folder, name = (
            (_SYSTEM, "memory.max") if not controllers else (_SYSTEM / "memory", "memory.limit_in_bytes")
        )
        if not controllers or "memory" in controllers.split(","):
            inner = folder / group.strip("/")
            places += [each / name for each in (inner, *inner.parents) if each.is_relative_to(folder)]
    for place in places:
        try:
            text = place.read_text(encoding="ascii", errors="replace").strip()
        except OSError:
            continue
        if text.isdecimal() and len(text) < 20 and 0 < int(text) < _UNLIMITED:
            found.append(int(text))
    return found


def shown(size: float) -> str:
    """Return a size as messages show it."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB" if size < 1000 else f"{size:,.0f} TB"
