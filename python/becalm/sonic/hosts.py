"""The class of a host's RoCE traffic: from its DSCP to the priority whose pauses it obeys."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from os import PathLike

from becalm.base.mistakes import Mistakes, read_lines
from becalm.sonic.tables import numbers

CNP_DSCP = 48
"""Default DSCP of congestion notification packets."""

EXPECTED = (
    "output of `mlnx_qos -i DEV`, or lines such as `mlnx_qos -i DEV --trust dscp --pfc 0,0,0,1,0,0,0,0`, "
    "`cma_roce_tos -d mlx5_0 -t 106`, `NCCL_IB_TC=106`, `cnp_dscp 48`, `mtu 9000`"
)


@dataclass
class Host:
    """What a host does to its packets. Unknown parts are None."""

    tos: int | None = None
    """The traffic class byte of its data: DSCP and two bits of ECN."""
    trust: str = "dscp"
    """What the adapter takes the priority from: `dscp` or `pcp`."""
    pfc: frozenset[int] | None = None
    """Priorities whose pauses it obeys."""
    cnp: int = CNP_DSCP
    """DSCP of congestion notification packets."""
    mtu: int | None = None
    """Bytes of its largest packet."""
    priorities: dict[int, int] = field(default_factory=dict)
    """The priority of each DSCP that differs from the default, a group of eight each."""
    origin: str = "the options"
    lines: dict[str, int] = field(default_factory=dict)
    """The line of each value in its file."""

    @property
    def dscp(self) -> int | None:
        """DSCP of its data."""
        return None if self.tos is None else self.tos >> 2

    def priority(self, dscp: int) -> int | None:
        """Return the priority of a DSCP; None if the adapter takes it from elsewhere."""
        return self.priorities.get(dscp, dscp >> 3) if self.trust == "dscp" else None


_LINES = {
    "tos": re.compile(r"(?:export\s+)?NCCL_IB_TC\s*[= ]\s*(\S+)|.*\bcma_roce_tos\b.*\s-t\s*(\S+)"),
    "cnp": re.compile(r".*\bcnp_dscp\b\s*[=: ]?\s*(\S+)"),
    "mtu": re.compile(r"(?:.*\s)?mtu[ =](\d+)\b.*"),
}
_TRUST = re.compile(r".*--trust[ =](\w+)|Priority trust state:\s*(\w+)")
_PFC = re.compile(r".*(?:--pfc|-f)[ =]([01](?:,[01]){7})\b")
_ENABLED = re.compile(r"\s*enabled\s+([01](?:\s+[01]){7})\s*")
_PRIORITY = re.compile(r"\s*prio:(\d)\s+dscp:([\d,]+)")
_OTHER = re.compile(
    r"\s*$|\s*#|DCBX mode|dscp2prio|default priority|Receive buffer|Cable len|PFC configuration|\s*priority"
    r"|\s*buffer\s|tc: ?\d|\s*priority:|\d+: \S+:|\s+link/|\s*total_size|\s*ratelimit|(?:sudo )?mlnx_qos "
)


def read(path: str | PathLike[str]) -> Host:
    """Read what a host does to its packets, from the output of its tools or from the commands themselves.

    Raises:
        FileNotFoundError: no such file.
        ScenarioError: with all lines at once that are none of them.

    """
    mistakes, host = Mistakes(path), Host(origin=str(path))
    for number, line in enumerate(read_lines(path), 1):
        if not _take(host, number, line, mistakes) and not _OTHER.match(line):
            mistakes.add(number, f"`{line.strip()[:60]}`", "", "says nothing about a host's class", EXPECTED)
    if not host.lines and not mistakes.list:
        mistakes.add(1, "", "", "says nothing about a host's class", EXPECTED)
    mistakes.check()
    return host


def _take(host: Host, number: int, line: str, mistakes: Mistakes) -> bool:
    """Take the values of a line; whether it has any."""
    taken = []
    for name, pattern in _LINES.items():
        if match := pattern.fullmatch(line.strip()):
            text = next(filter(None, match.groups()))
            value, most = byte(text), {"tos": 255, "cnp": 63, "mtu": 65535}[name]
            if value is None or value > most:
                mistakes.add(number, name, text, "is not a number", f"0 to {most}")
            else:
                setattr(host, name, value)
            taken.append(name)
    if match := _TRUST.match(line):
        host.trust = next(filter(None, match.groups()))
        taken.append("trust")
        if host.trust not in ("dscp", "pcp", "both"):
            mistakes.add(number, "trust", host.trust, "is unknown", "dscp, pcp or both")
    if match := _PFC.match(line) or _ENABLED.fullmatch(line):
        host.pfc = flags(match[1])
        taken.append("pfc")
    if match := _PRIORITY.match(line):
        host.priorities |= dict.fromkeys(numbers(match[2]) or [], int(match[1]))
        taken.append("dscp2prio")
    host.lines |= dict.fromkeys(taken, number)
    return bool(taken)


def byte(text: str) -> int | None:
    """Return a decimal or hexadecimal number; None if it is none."""
    if re.fullmatch(r"\d{1,5}", text):
        return int(text)
    return int(text, 16) if re.fullmatch(r"0[xX][0-9a-fA-F]{1,4}", text) else None


def flags(text: str) -> frozenset[int] | None:
    """Return the priorities with a 1, in a list such as `0,0,0,1,0,0,0,0`; None if it is none."""
    if not re.fullmatch(r"[01](?:[,\s]+[01]){7}", text):
        return None
    return frozenset(place for place, each in enumerate(re.findall(r"[01]", text)) if each == "1")


def with_options(host: Host | None, tos: int | None, pfc: str | None, mtu: int | None) -> Host | None:
    """Return a host with the values of options, which win over those of its file; None without any."""
    given = {"tos": tos is not None, "pfc": pfc is not None, "mtu": mtu is not None}
    if host is None and not any(given.values()):
        return None
    host = host or Host()
    return replace(
        host,
        tos=host.tos if tos is None else tos,
        pfc=host.pfc if pfc is None else flags(pfc),
        mtu=host.mtu if mtu is None else mtu,
        lines={name: line for name, line in host.lines.items() if not given.get(name)},
    )
