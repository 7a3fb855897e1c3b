"""The memory of this machine, and sizes as people write them."""

from __future__ import annotations

import os
from pathlib import Path

from becalm._core import bytes as core_bytes
from becalm.errors import BecalmError
from becalm.mistakes import short

SHARE = 0.8
"""Default share of the machine's memory that runs may use."""
UNITS = ("B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB")
"""Units of sizes."""
_SYSTEM = Path("/sys/fs/cgroup")
_UNLIMITED = 1 << 60


def limit_of(limit: int | str | None) -> int:
    """Return a limit in bytes.

    Raises:
        BecalmError: neither a number of bytes above 0 nor a size with a unit.

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
        raise BecalmError(f"memory `{shown_limit}`: must be a number above 0 and one of {', '.join(UNITS)}")
    return int(found)


def machine_limit() -> int:
    """Return 80% of the memory that this process may use: the machine's, its group's or its own if lower."""
    return int(SHARE * min(_physical(), _addresses(), *_group_limits()))


def check_addresses() -> None:
    """Make sure that the libraries have enough address space: otherwise they fail or crash without a reason.

    Raises:
        BecalmError: the limit of addresses, `ulimit -v`, is too low.

    """
    # As measured: threads of Polars and of the C library reserve much more than they use.
    needed = 1_200_000_000 + 100_000_000 * (os.cpu_count() or 1)
    if (found := _addresses()) < needed:
        raise BecalmError(
            f"ulimit -v: {shown(found)} of address space is too little; needed: {shown(needed)}"
        )


def _addresses() -> int:
    """Return how many bytes of address space this process may use."""
    try:
        from resource import RLIM_INFINITY, RLIMIT_AS, getrlimit
    except ImportError:
        return _UNLIMITED
    found = getrlimit(RLIMIT_AS)[0]
    return _UNLIMITED if found == RLIM_INFINITY else found


def _physical() -> int:
    """Return the memory of the machine; if it is unknown, there is no limit."""
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
