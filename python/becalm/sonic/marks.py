"""Checks of ECN: profiles that never mark, and ports that pause before they mark."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from becalm.base.findings import Finding, Severity, listed
from becalm.sonic.classes import lossless, queue_of, served
from becalm.sonic.switch import NULL, Switch

GREEN = frozenset({"ecn_green", "ecn_green_yellow", "ecn_green_red", "ecn_all"})
"""Values of `ecn` that mark packets of the colour that packets have unless a meter changes it."""
ENABLES = ("true", "1")


def check(switch: Switch, busy: int | None) -> Iterator[Finding]:
    """Yield findings about the marks of lossless queues.

    Args:
        switch: the switch.
        busy: the number of ports with packets of the class at once; None for all.

    """
    used, without = _profiles(switch)
    for port, queues in without.items():
        reason = f"has no WRED profile: ECN is off in lossless queue {', '.join(map(str, sorted(queues)))}"
        key = next((switch.queues[g] for g in switch.queues if g.port == port and g.number in queues), port)
        cure = "wred_profile of a profile with ecn_all"
        yield switch.tables.finding("error", ("QUEUE", key), "wred_profile", f"{reason} of {port}", cure)
    for profile, ports in used.items():
        yield from _marks(switch, profile)
        yield from _pauses(switch, profile, list(dict.fromkeys(ports)), busy)
    for profile in switch.tables.table("WRED_PROFILE"):
        yield from _thresholds(switch, profile)


def _profiles(switch: Switch) -> tuple[dict[str, list[str]], dict[str, set[int]]]:
    """Return the ports of each profile of a lossless queue, and the lossless queues without one."""
    used: dict[str, list[str]] = defaultdict(list)
    without: dict[str, set[int]] = defaultdict(set)
    for port in served(switch):
        for traffic in lossless(switch, port):
            queue = queue_of(switch, port, traffic)
            profile = switch.wred(queue)
            if not profile:
                without[port].add(queue.number)
            elif profile in switch.tables.table("WRED_PROFILE"):
                used[profile].append(port)
    return used, without


def _marks(switch: Switch, profile: str) -> Iterator[Finding]:
    row = switch.tables.row("WRED_PROFILE", profile)
    place = ("WRED_PROFILE", profile)
    if row.get("ecn", "ecn_none") not in GREEN:
        reason = "never marks: packets are green unless a meter recolours them"
        yield switch.tables.finding("error", place, "ecn", reason, "ecn_all")
    elif row.get("wred_green_enable", "").lower() not in ENABLES:
        reason = "never marks: ECN needs WRED of the colour, which `ecnconfig` does not switch on"
        yield switch.tables.finding("error", place, "wred_green_enable", reason, "true")
    elif "green_max_threshold" not in row:
        reason = "has no thresholds for green packets, so that the switch's own apply"
        yield switch.tables.finding("warning", place, "green_max_threshold", reason, "Kmin and Kmax in bytes")
    elif switch.number("WRED_PROFILE", profile, "green_drop_probability") == 0:
        reason = "marks nothing between Kmin and Kmax, and then every packet"
        yield switch.tables.finding("warning", place, "green_drop_probability", reason, "1 to 100")


def _thresholds(switch: Switch, profile: str) -> Iterator[Finding]:
    pools = [switch.number("BUFFER_POOL", key, "size") or 0 for key in switch.tables.table("BUFFER_POOL")]
    largest = max(pools, default=0)
    for colour in ("green", "yellow", "red"):
        names = [f"{colour}_{end}_threshold" for end in ("min", "max")]
        low, high = (switch.number("WRED_PROFILE", profile, name) for name in names)
        place = ("WRED_PROFILE", profile)
        if low is not None and high is not None and low > high:
            reason = f"is above {names[1]} {high:.0f}"
            yield switch.tables.finding("error", place, names[0], reason, f"at most {high:.0f}")
        if largest and high is not None and high > largest:
            reason = f"is larger than the largest pool, {largest:.0f} B: no queue is that long"
            yield switch.tables.finding("error", place, names[1], reason, f"below {largest:.0f}")
        share = switch.number("WRED_PROFILE", profile, f"{colour}_drop_probability")
        if share is not None and not 0 <= share <= 100:
            reason = "is not a percentage"
            yield switch.tables.finding("error", place, f"{colour}_drop_probability", reason, "0 to 100")


def xoff(switch: Switch, port: str, busy: int) -> float | None:
    """Return the bytes at which a port's lossless group pauses its sender, at most; None if unknown.

    With dynamic thresholds, each of `busy` ports may fill alpha times what is free: alpha S / (1 + n alpha).
    S is the size of the pool, from which switches take what they reserve: the true threshold is lower.
    """
    for priority in sorted(switch.ports[port].pfc):
        profile = switch.profile(switch.group_of(port, priority))
        static = switch.number("BUFFER_PROFILE", profile, "static_th")
        if static is not None:
            return static
        exponent = switch.number("BUFFER_PROFILE", profile, "dynamic_th")
        if exponent is None and profile == NULL:
            exponent = default_exponent(switch)
        size = switch.number("BUFFER_POOL", switch.pool(profile), "size")
        if exponent is not None and size:
            alpha: float = 2.0**exponent
            return alpha * size / (1 + busy * alpha)
    return None


def default_exponent(switch: Switch) -> float | None:
    """Return the `dynamic_th` of computed profiles."""
    table = "DEFAULT_LOSSLESS_BUFFER_PARAMETER"
    found = (switch.number(table, key, "default_dynamic_th") for key in switch.tables.table(table))
    return next(found, None)


def _pauses(switch: Switch, profile: str, ports: list[str], busy: int | None) -> Iterator[Finding]:
    low = switch.number("WRED_PROFILE", profile, "green_min_threshold")
    high = switch.number("WRED_PROFILE", profile, "green_max_threshold")
    port = next((port for port in ports if xoff(switch, port, 1) is not None), None)
    most = busy or len(served(switch))
    if port is None or low is None or high is None:
        return

    def at(number: int) -> float:
        return xoff(switch, port, number) or 0.0

    place, where = ("WRED_PROFILE", profile), f"of {listed(ports)}"
    for name, threshold, what in (
        ("green_min_threshold", low, "pauses come before any mark"),
        ("green_max_threshold", high, "pauses come before all packets are marked"),
    ):
        if threshold < at(most):
            continue
        first = next(number for number in range(1, most + 1) if threshold >= at(number))
        severity: Severity = "error" if first == 1 and name == "green_min_threshold" else "warning"
        number = "a single busy port" if first == 1 else f"{first} busy ports"
        reason = (
            f"is not below XOFF: {what} at an input that feeds only this queue. XOFF is at most "
            f"{at(first):.0f} B with {number} and {at(most):.0f} B with {most}; {where}"
        )
        yield switch.tables.finding(severity, place, name, reason, f"below {at(most):.0f}")
        return
