"""Completion times in the columns of HPCC's ns-3, for its analysis scripts."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator

from becalm.base.errors import BecalmError
from becalm.results import Results

FIRST_PORT = 10_000
"""Source port of the first message of two hosts; the next ones count up."""
STAMP = 8
"""Bytes of TIMELY's time stamp in a header, which ns-3 leaves out of times on an empty network."""
ROUNDING = 1e-3
"""A time in ns that is this close below a whole one is that one."""
NEEDED = "needs the messages of the run; valid: observe.messages = true"
PORT = 100
"""Destination port of groups whose names say none."""
_NAMED = re.compile(r"(?:.*_)?port_(\d{1,5})")
_NUMBERED = re.compile(r".*?(\d{1,6})")


def lines(results: Results) -> Iterator[str]:
    """Yield a line for each delivered message of flows, in order of completion.

    The columns: source and destination address, source and destination port, bytes, start, completion time,
    and the completion time on an empty network, all three in ns. A message is complete when its last ACK
    returns.

    Raises:
        BecalmError: the results have no messages.

    """
    if "messages" not in results.tables:
        raise BecalmError(f"--fct: {NEEDED}, and observe.message_rows of at least their number")
    network = results.scenario.network()
    ends = list(zip(network.flows["source"], network.flows["destination"], strict=True))
    numbers = _numbers(results.scenario.hosts())
    alone = _Alone(results)
    used: dict[tuple[str, str], int] = defaultdict(int)
    columns = ("group", "flow", "bytes", "posted", "delivered", "acknowledged")
    rows = []
    for group, flow, size, posted, delivered, acknowledged in results.messages.select(columns).iter_rows():
        done = delivered if math.isnan(acknowledged) else acknowledged
        rows.append((posted, done, group, flow, size))
    ports = {}
    for row in sorted(rows):
        pair = ends[row[3]]
        ports[row] = FIRST_PORT + used[pair]
        used[pair] += 1
    for row in sorted(rows, key=lambda each: each[1]):
        posted, done, group, flow, size = row
        source, destination = ends[flow]
        named = _NAMED.fullmatch(group)
        yield (
            f"{_address(numbers[source])} {_address(numbers[destination])} {ports[row]} "
            f"{named[1] if named else PORT} {size} {round(posted * 1e9)} {round((done - posted) * 1e9)} "
            f"{math.floor(alone.time(flow, size) * 1e9 + ROUNDING)}"
        )


def _numbers(hosts: list[str]) -> dict[str, int]:
    """Return the number of each host: that in its name if all differ, or else its place."""
    found = {name: match[1] for name in hosts if (match := _NUMBERED.fullmatch(name))}
    if len(set(found.values())) == len(hosts):
        return {name: int(number) for name, number in found.items()}
    return {name: place for place, name in enumerate(hosts)}


def _address(number: int) -> str:
    """Return the address that ns-3 gives to a host."""
    return f"{0x0B000001 + (number // 256) * 0x10000 + (number % 256) * 0x100:08x}"


class _Alone:
    """Completion times on an empty network: the base round trip, and all bytes at the slowest rate."""

    def __init__(self, results: Results) -> None:
        network = results.scenario.network()
        packet = results.scenario.resolved["packet"]
        self.payload, self.header = (int(str(packet[key]).removesuffix(" B")) for key in ("mtu", "header"))
        if results.scenario.response.name == "timely":
            self.header -= STAMP
        links = list(zip(network.links["capacity"], network.links["delay"], strict=True))
        self.paths: dict[int, list[tuple[float, float]]] = defaultdict(list)
        for flow, link, _ in network.flow_paths.select("flow", "link", "share").iter_rows():
            self.paths[flow].append(links[link])

    def time(self, flow: int, size: int) -> float:
        path = self.paths[flow]
        slowest = min(capacity for capacity, _ in path)
        trip = sum(2 * delay + self.payload / capacity for capacity, delay in path)
        packets = (size - 1) // self.payload + 1
        return trip + (size + packets * self.header) / slowest
