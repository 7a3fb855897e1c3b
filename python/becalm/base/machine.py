"""The memory of this machine, and sizes in human-readable form."""

from __future__ import annotations

import os
from pathlib import Path

from becalm._core import bytes as core_bytes
from becalm.base.errors import BecalmError
from becalm.base.mistakes import short

SHARE = 0.8
"""Default share of the machine's memory that runs may use."""
UNITS = ("B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB")
"""Units of sizes."""
_SYSTEM = Path("/sys/fs/cgroup")
_UNLIMITED = 1 << 60


def limit_of(limit: int | str | None) -> int:
    """Return a limit in bytes.

    Raises:
        BecalmError: the limit is neither a number of bytes above 0 nor a size with a unit.

    """
    if limit is None:
        return machine_limit()
    found: float | None
    try:
        found = limit if isinstance(limit, int) and not isinstance(limit, bool) else core_bytes(str(limit))
    except UnicodeEncodeError:
        found = None
    if found is None or not 1 <= found < _UNLIMITED:
        shown_limit = short(str(limit))
        raise BecalmError(
            f"memory `{shown_limit}`: must be a number above 0 with one of the units {', '.join(UNITS)}"
        )
    return int(found)


def machine_limit() -> int:
    """Return 80% of the memory that this process may use: the lowest limit of machine, group and process."""
    return int(SHARE * min(_physical(), _addresses(), *_group_limits()))


def check_addresses() -> None:
    """Check that the libraries have enough address space. Without it, they fail or crash without a reason.

    Raises:
        BecalmError: the limit of addresses, `ulimit -v`, is too low.

    """
    # Measured: threads of Polars and of the C library reserve much more than they use.
    needed = 1_200_000_000 + 100_000_000 * (os.cpu_count() or 1)
    if (found := _addresses()) < needed:
        raise BecalmError(
            f"ulimit -v: {shown(found)} of address space is too little; needed: {shown(needed)}"
        )


def _addresses() -> int:
    """Return the limit on this process's address space in bytes."""
    try:
        from resource import RLIM_INFINITY, RLIMIT_AS, getrlimit
    except ImportError:
        return _UNLIMITED
    found = getrlimit(RLIMIT_AS)[0]
    return _UNLIMITED if found == RLIM_INFINITY else found


def _physical() -> int:
    """Return the memory of the machine, or no limit if it is unknown."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return _UNLIMITED


def _group_limits() -> list[int]:
    """Return the limits of this process's control groups, for both cgroup versions."""
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
    """Return a size as text for messages."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB" if size < 1000 else f"{size:,.0f} TB"
