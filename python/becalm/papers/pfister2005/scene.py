"""The networks and the traffic of pfister2005: section V, Table 1.

All hosts send uniform background traffic, Poisson arrivals of 2 KB packets. During the hot period the *hot
sources* (all hosts, or three) send to host 31 as well. What the paper leaves open is decided here, once:

- links carry 25 Gb/s: the IPDs of the paper, 10.5, 21 and 84 us, are 16, 32 and 128 times the 655.36 ns that
  a packet of 2 KB then takes;
- a severity of 300% with all hosts hot: host 31 is offered three times its link, background included, and the
  hosts' other traffic shrinks by what is diverted (not above 128 hosts, where that is below 1%). Three hot
  sources send to host 31 alone, at full rate;
- "in the absence of congestion the inter-packet time is negative-exponentially distributed", and in its
  presence the delay comes on top: a host makes no packet for a destination as long as the delay after the
  last one holds (`traffic.poisson.paced`), rather than posting packets that wait;
- an adapter sends packets in the order in which they were posted, and passes over those whose delay is not
  over;
- there is one queue pair per destination, for hot and background traffic alike;
- a host's send queue holds 128 packets, those for all destinations together; a full one holds up its source;
- what was posted for host 31 is sent even after the hot period;
- of three hot sources, one is on the switch of host 31, and the others are elsewhere;
- marks go back in congestion notification packets; switches mark at the root of the congestion only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

Table: TypeAlias = dict[str, Any]

RATE = "25 Gb/s"
PACKET_US = 0.65536
"""Time of a packet on a link, in us."""
SEVERITY = 3.0
"""HSV 300%: load offered to the hot link while all hosts are hot."""
TIMER_US = 1.024
"""Unit of the recovery timer, in us."""
MANY = 128
"""Hosts above which the diverted traffic, then below 1% of a link, comes on top of the other."""
SHOWN = 32
"""Output ports that the figures show: the first ones, as in the paper."""


@dataclass(frozen=True)
class Network:
    """A fat tree: its hosts, hosts per switch, and the table that describes it."""

    name: str
    hosts: int
    leaf: int
    topology: Table

    @property
    def hot(self) -> int:
        """The hot host: port 31, or the last one of a smaller network."""
        return min(31, self.hosts - 1)

    def link(self, host: int) -> str:
        """Name of the output port that leads to a host."""
        return f"L1S{host // self.leaf}->H{host}"


def _tree(name: str, ports: int, levels: int) -> Network:
    hosts = 2 * (ports // 2) ** levels
    return Network(name, hosts, ports // 2, {"tree": {"ports": ports, "levels": levels} | _LINKS})


def _two_levels(name: str, leaves: int, tops: int, parallel: int) -> Network:
    """Return leaves with 16 hosts each under top switches, in switches of 32 ports."""
    leaf = {"children": 16, "parents": 1, "parallel": 1}
    top = {"children": leaves, "parents": tops, "parallel": parallel}
    return Network(name, 16 * leaves, 16, {"fat_tree": {"levels": [leaf, top]} | _LINKS})


HOP_US = 0.04
"""Delay of a cable, and of a switch, in us."""
_LINKS: Table = {"rate": RATE, "delay": "40 ns"}
"""Round trip of a cable and two forwarding delays: 160 ns, a quarter of a packet."""

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
"""The networks of section V-A.3 by name. The 256 and 512 ports "with simpler SEs" are two levels of 32x32."""

CASES = {1: (0.5, 3), 2: (0.5, 0), 3: (0.9, 3), 4: (0.9, 0)}
"""Table 1: offered load and hotspot degree, 0 for all sources."""


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
    """What the timer takes off the index."""

    def tables(self) -> Table:
        """Return marking, echo and response; the low threshold is 8/9 of the high one."""
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
    """Section VI-C for a worst-case hotspot degree, all hosts if unknown; 2/3 us per hot source."""
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
    """When the hot period begins, in ms."""
    hot: float = 10.0
    """How long it lasts, in ms."""
    after: float = 8.0
    """What is simulated after it, in ms."""
    step: float = 0.1
    """Sampling step of the series in ms; rates are means over one step."""
    injection: str = "posted"
    paced: bool = True
    """Whether the delays of congestion control lengthen the intervals between packets."""
    queue: int | None = 128
    """Packets that a host's send queue holds; `None`: any number."""
    near: bool = True
    """Whether one of three hot sources is on the switch of the hot host."""
    severity: float = SEVERITY
    """Load offered to the hot link while all hosts are hot."""
    buffer: int = 36
    """MTUs that an input buffer holds."""

    @property
    def load(self) -> float:
        """Offered load before and after the hot period."""
        return CASES[self.case][0]

    @property
    def stop(self) -> float:
        """When the hot period ends, in ms."""
        return self.start + self.hot

    @property
    def duration(self) -> float:
        """Simulated time in ms."""
        return self.stop + self.after

    @cached_property
    def diverted(self) -> float:
        """Share of a link that each hot source diverts to the hot host where all are hot.

        All others divert d of their load, and spread the rest over all hosts: (N-1) d + load - d = severity.
        """
        return (self.severity - self.load) / (self.network.hosts - 2)

    @property
    def _waits(self) -> bool:
        """Whether sources wait for their delays; without control there are none."""
        return self.paced and self.control is not None

    @property
    def _spared(self) -> float:
        """What the hot sources take off their other traffic; nothing where that would be below 1%."""
        return self.diverted if self.network.hosts <= MANY else 0.0

    def left(self) -> float:
        """Load offered to a cold port in the hot period, as a share of its link; mean over the ports."""
        n = self.network.hosts
        if CASES[self.case][1] == 0:
            return ((self.load - self._spared) * (n - 2) + self.load) / (n - 1)
        # The three hot sources send nothing to cold ports, and hear from one host more than the others do.
        return self.load * (3 * (n - 3) + (n - 4) ** 2) / (n - 1) ** 2

    def scenario(self) -> dict[str, Any]:
        """Return the scenario as `becalm.Scenario` takes it."""
        links = [self.network.link(host) for host in range(self.network.hosts)]
        off: Table = {
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
            **(off if self.control is None else self.control.tables()),
        }

    def _queue(self) -> Table:
        return {} if self.queue is None else {"queue": self.queue}

    def _all_hot(self) -> list[Table]:
        """Groups `hot ...` go to the hot host, groups `cold ...` to all others."""
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
        """Hot sources spread over the network, one beside the hot host; all others go on as before."""
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
        """All but the hot host, and the hot host."""
        hot = self.network.hot
        return [f"H{host}" for host in range(self.network.hosts) if host != hot], [f"H{hot}"]

    def _within(self, *changes: tuple[float, float]) -> list[tuple[float, float]]:
        """Leave out what would change after the end of the run."""
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
