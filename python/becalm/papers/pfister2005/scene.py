"""The networks and the traffic of pfister2005: section V, Table 1.

All hosts send uniform background traffic, Poisson arrivals of 2 KB packets. During the hot period the *hot
sources* (all hosts, or three) also send to host 31. Points that the paper leaves open are decided here:

- links carry 25 Gb/s: the paper's IPDs, 10.5, 21 and 84 us, are 16, 32 and 128 times the 655.36 ns of a 2 KB
  packet at this rate;
- a severity of 300% with all hosts hot means that the load offered to host 31, including background traffic,
  is three times its link's capacity. The hosts' other traffic is reduced by the diverted part, but not above
  128 hosts, where this part is below 1%. Three hot sources send only to host 31, at full rate;
- "in the absence of congestion the inter-packet time is negative-exponentially distributed". With
  congestion, the delay is added. Until the delay after the last packet for a destination ends, a host
  generates no further packet for this destination (`traffic.poisson.paced`), rather than posting packets
  that wait;
- an adapter sends packets in posting order, but skips packets whose delay has not ended;
- there is one queue pair per destination, shared by hot and background traffic;
- a host's send queue holds 128 packets in total for all destinations, and a full queue blocks its host;
- packets posted for host 31 are sent even after the hot period;
- of three hot sources, one is on the switch of host 31, and the others are elsewhere;
- marks return in congestion notification packets; switches mark only at the root of the congestion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from becalm.lab.model import Table
from becalm.lab.nulls import mark, off
from becalm.manager import TIMER_UNIT

RATE = "25 Gb/s"
PACKET_US = 0.65536
"""Time of a packet on a link, in us."""
SEVERITY = 3.0
"""HSV 300%: load offered to the hot link while all hosts are hot."""
TIMER_US = TIMER_UNIT * 1e6
"""Unit of the recovery timer, in us."""
MANY = 128
"""Number of hosts above which the diverted traffic, which is then below 1% of a link, is not subtracted."""
SHOWN = 32
"""Number of output ports that the figures show. As in the paper, these are the first ports."""


@dataclass(frozen=True)
class Network:
    """A fat tree: its hosts, hosts per switch, and its topology table."""

    name: str
    hosts: int
    leaf: int
    topology: Table

    @property
    def hot(self) -> int:
        """The hot host: port 31, or the last port of a smaller network."""
        return min(31, self.hosts - 1)

    def link(self, host: int) -> str:
        """Name of the output port that leads to a host."""
        return f"L1S{host // self.leaf}->H{host}"


def _tree(name: str, ports: int, levels: int) -> Network:
    hosts = 2 * (ports // 2) ** levels
    return Network(name, hosts, ports // 2, {"tree": {"ports": ports, "levels": levels} | _LINKS})


def _two_levels(name: str, leaves: int, tops: int, parallel: int) -> Network:
    """Return leaves with 16 hosts each under top switches, built from 32-port switches."""
    leaf = {"children": 16, "parents": 1, "parallel": 1}
    top = {"children": leaves, "parents": tops, "parallel": parallel}
    return Network(name, 16 * leaves, 16, {"fat_tree": {"levels": [leaf, top]} | _LINKS})


HOP_US = 0.04
"""Delay of a cable, and of a switch, in us."""
_LINKS: Table = {"rate": RATE, "delay": "40 ns"}
"""Round trip of a cable and two forwarding delays: 160 ns, a quarter of a packet time."""

NETWORKS = {
    network.name: network
    for network in (
        _tree("8", 4, 2),
        _tree("32", 8, 2),
        _tree("128 (16x16)", 16, 2),
        _tree("128 (8x8)", 8, 3),
        _two_levels("256", 16, 8, 2),
        _tree("432", 12, 3),
        _two_levels("512", 32, 16, 1),
    )
}
"""Networks of section V-A.3 by name. The 256 and 512 ports "with simpler SEs" have two levels of 32x32."""

CASES = {1: (0.5, 3), 2: (0.5, 0), 3: (0.9, 3), 4: (0.9, 0)}
"""Cases of Table 1: offered load and hotspot degree, with 0 for all sources."""


@dataclass(frozen=True)
class Control:
    """Parameters of congestion control, in the units of the paper."""

    increase: int
    """`ipd_idx_incr`."""
    max_ipd: float
    """`max_ipd` in us."""
    timer: int = 10
    """`rec_time` in units of 1.024 us."""
    threshold: float = 0.9
    """`sw_th` as a share of an input buffer."""
    entries: int = 128
    decrease: int = 1
    """Decrement of the index per timer expiry."""

    def tables(self) -> Table:
        """Return marking, echo and response. The low threshold is 8/9 of the high threshold."""
        cct = {"entries": self.entries, "max": f"{self.max_ipd:g} us", "packet_time": f"{PACKET_US} us"}
        return {
            "marking": {"queue_threshold": {"high": self.threshold, "low": self.threshold * 8 / 9}},
            "echo": {"ibta": {"transport": "unreliable"}},
            "response": {
                "ibta": {
                    "ccti_increase": self.increase,
                    "ccti_decrease": self.decrease,
                    "ccti_timer": self.timer,
                    "cct": {"linear": cct},
                }
            },
        }


def guideline(hosts: int, degree: int | None = None) -> Control:
    """Return section VI-C's control for a worst-case hotspot degree (default: all hosts)."""
    degree = hosts if degree is None else degree
    return Control(max(1, round(min(hosts / 6, degree / 2))), round(2 / 3 * degree, 3))


IN_FIG3 = Control(5, 21.0)
"""The parameters of section VI-A."""
IN_FIG5 = Control(20, 84.0)
"""The parameters of section VI-B."""


@dataclass(frozen=True)
class HotSpot:
    """A traffic case on a network, with and without congestion control."""

    network: Network
    case: int
    control: Control | None = None
    start: float = 1.0
    """Start of the hot period in ms."""
    hot: float = 10.0
    """Duration of the hot period in ms."""
    after: float = 8.0
    """Simulated time after the hot period in ms."""
    step: float = 0.1
    """Sampling step of the series in ms. Rates are means over one step."""
    injection: str = "posted"
    paced: bool = True
    """Whether the delays of congestion control lengthen the intervals between packets."""
    queue: int | None = 128
    """Capacity of a host's send queue in packets; `None`: unlimited."""
    near: bool = True
    """Whether one of three hot sources is on the switch of the hot host."""
    severity: float = SEVERITY
    """Load offered to the hot link while all hosts are hot."""
    buffer: int = 36
    """Capacity of an input buffer in MTUs."""

    @property
    def load(self) -> float:
        """Offered load before and after the hot period."""
        return CASES[self.case][0]

    @property
    def few(self) -> bool:
        """Whether only some sources are hot."""
        return CASES[self.case][1] > 0

    @property
    def stop(self) -> float:
        """End of the hot period in ms."""
        return self.start + self.hot

    @property
    def duration(self) -> float:
        """Simulated time in ms."""
        return self.stop + self.after

    @cached_property
    def diverted(self) -> float:
        """Share of a link that each hot source diverts to the hot host if all are hot.

        All other hosts divert d of their load and spread the remainder over all hosts:
        (N-1) d + load - d = severity.
        """
        return (self.severity - self.load) / (self.network.hosts - 2)

    @property
    def _waits(self) -> bool:
        """Whether sources wait for their delays. Without control, there are no delays."""
        return self.paced and self.control is not None

    @property
    def _spared(self) -> float:
        """Reduction of the hot sources' other traffic; 0 if it would be below 1%."""
        return self.diverted if self.network.hosts <= MANY else 0.0

    def left(self) -> float:
        """Mean load offered to a cold port in the hot period, as a share of its link."""
        n = self.network.hosts
        if CASES[self.case][1] == 0:
            return ((self.load - self._spared) * (n - 2) + self.load) / (n - 1)
        # The three hot sources send nothing to cold ports, and receive from one more host than the others.
        return self.load * (3 * (n - 3) + (n - 4) ** 2) / (n - 1) ** 2

    def scenario(self) -> Table:
        """Return the scenario as data for `becalm.Scenario`."""
        links = [self.network.link(host) for host in range(self.network.hosts)]
        without: Table = {
            "marking": {"none": {}},
            "echo": {"ibta": {"transport": "unreliable"}},
            "response": {"none": {"window": "unlimited"}},
        }
        flows = self._all_hot() if CASES[self.case][1] == 0 else self._few_hot(CASES[self.case][1])
        for group in flows:
            group["traffic"]["poisson"]["paced"] = self._waits
        return {
            "run": {"duration": _ms(self.duration), "warmup": "0 s"},
            "topology": self.network.topology,
            "switch": {
                "buffer": f"{2 * self.buffer} KiB",
                "forwarding_delay": "40 ns",
                "arbiter": {"round_robin": {}},
            },
            "adapter": {"injection": self.injection, **self._queue()},
            "packet": {"mtu": "2048 B", "header": "0 B"},
            "flows": flows,
            "observe": {"step": _ms(self.step), "window": _ms(self.step), "links": links, "paces": True},
            **(without if self.control is None else self.control.tables()),
        }

    def _queue(self) -> Table:
        return {} if self.queue is None else {"queue": self.queue}

    def _all_hot(self) -> list[Table]:
        """Return groups `hot ...`, which send to the hot host, and `cold ...`, which send to all others."""
        n, (others, hot) = self.network.hosts, self._hosts()
        elsewhere = (n - 2) / (n - 1)
        before, during = self.load * elsewhere, (self.load - self._spared) * elsewhere
        background = self.load / (n - 1)
        caught_up = self.stop + self.hot * (self.severity - 1)
        limited = self._waits or self.queue is not None
        after = [(self.stop, background)] if limited else [(self.stop, 0.0), (caught_up, background)]
        return [
            _group("cold own", hot, others, self.load),
            _group("cold", others, others, before, self._within((self.start, during), (self.stop, before))),
            _group(
                "hot",
                others,
                hot,
                background,
                self._within((self.start, self.severity / (n - 1)), *after),
            ),
        ]

    def _few_hot(self, degree: int) -> list[Table]:
        """Return hot sources across the network, one next to the hot host, and all other hosts unchanged."""
        n, (others, hot) = self.network.hosts, self._hosts()
        places = [place * n // degree for place in range(degree)]
        if self.near:
            places[-1] = self.network.hot - 1
        chosen = [f"H{place}" for place in places]
        others = [host for host in others if host not in chosen]
        cold = [*others, *chosen]
        elsewhere, background = self.load * (n - 2) / (n - 1), self.load / (n - 1)
        return [
            _group("cold own", hot, cold, self.load),
            _group("cold", others, cold, elsewhere),
            _group(
                "cold of hot",
                chosen,
                cold,
                elsewhere,
                self._within((self.start, 0.0), (self.stop, elsewhere)),
            ),
            _group("hot background", others, hot, background),
            _group("hot", chosen, hot, background, self._within((self.start, 1.0), (self.stop, background))),
        ]

    def _hosts(self) -> tuple[list[str], list[str]]:
        """Return all hosts except the hot host, and the hot host."""
        hot = self.network.hot
        return [f"H{host}" for host in range(self.network.hosts) if host != hot], [f"H{hot}"]

    def _within(self, *changes: tuple[float, float]) -> list[tuple[float, float]]:
        """Return the changes that occur before the end of the run."""
        return [change for change in changes if change[0] < self.duration]


def _group(
    name: str,
    sources: list[str],
    destinations: list[str],
    load: float,
    changes: Sequence[tuple[float, float]] = (),
) -> Table:
    """Return a group whose load changes at times in ms."""
    later = [{"at": _ms(time), "load": value} for time, value in changes]
    traffic = {"poisson": {"load": load, "message": "2048 B", "changes": later}}
    return {"name": name, "from": sources, "to": destinations, "traffic": traffic}


def _ms(value: float) -> str:
    return f"{value:g} ms"


def _paced(scenario: Table, paced: bool) -> Table:
    flows = [
        {**flow, "traffic": {"poisson": {**flow["traffic"]["poisson"], "paced": paced}}}
        for flow in scenario["flows"]
    ]
    return {**scenario, "flows": flows}


NULLS = {
    "off": lambda scenario: _paced(off("unlimited")(scenario), paced=False),
    "on": lambda scenario: _paced({**scenario, **IN_FIG3.tables()}, paced=True),
    "random": mark({"random": {"probability": 0.02}}),
}
"""Nulls for the claims: no control, the control of Fig. 3, and the share of packets that it marks at random
while all sources are hot."""
