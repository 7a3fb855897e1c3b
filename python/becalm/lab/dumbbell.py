"""The dumbbell: two switches whose hosts send to one host, and a victim that shares the link between them.

Local flows `B1..BL` and remote flows `A1..AR` send to `BC`, and the victim `AV` sends to `BV`. `A->B` is the
inter-switch link and `B->BC` the root link. All flows are greedy unless stated otherwise. The defaults are
from Santos 2002 and 2003, Fig. 1 and Table I. The papers' arbiter sends the oldest packet first, but up to
four packets may overtake it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from becalm.lab.model import Table

INTER_SWITCH = "A->B"
ROOT = "B->BC"

STAGGER_US = 100
"""Time between the starts of two flows, in us."""

FOUR_BYPASSES: Table = {"oldest_first": {"max_bypass": 4}}
"""Arbiter of the papers' switches: the oldest packet goes first, but up to four packets may overtake it."""

NO_CONTROL: Table = {"none": {"window": "unlimited"}}
ONE_PACKET: Table = {"none": {"window": 1}}


def fixed(rate: float) -> Table:
    """Return a fixed rate limit, with the papers' window of one packet."""
    return {"fixed": {"rate": rate, "window": 1}}


def discrete(response: str, rounding: str) -> Table:
    """Return a response with the 256 inter-packet delays of InfiniBand."""
    return {response: {"discrete": True, "rounding": rounding}}


@dataclass(frozen=True)
class Dumbbell:
    """Fig. 1, with the parameters that the figures vary."""

    local: int = 10
    remote: int = 10
    buffer: int = 4
    """Input buffer size per port in packets."""
    marking: Table = field(default_factory=lambda: {"none": {}})
    response: Table = field(default_factory=lambda: {"lipd": {}})
    remote_response: Table | None = None
    victim_response: Table | None = None
    victim: tuple[float, float] | None = (40, 60)
    """Start and stop of the victim in ms; `None`: no victim."""
    duration: float = 100
    """Simulated time in ms."""
    warmup: float = 20
    """Time in ms before the measured window."""
    mean_on: float | None = None
    """Mean ON and OFF time of dynamic flows in ms; `None`: all flows are static."""
    static: int = 0
    """Numbers of local and of remote flows that stay static when the others are dynamic."""
    load: float | None = None
    """Load of each flow's Poisson arrivals, as a share of a link; `None`: flows are not Poisson."""
    probe: bool = False
    """Whether the first local flow is a separate group, `local probe`."""
    step: float = 0.1
    """Sampling step of the series in ms."""
    window: float = 2
    """Sliding window of the series in ms."""

    def long(self, short: bool) -> Dumbbell:
        """Return the papers' long run of 500 ms, measured over the last 400 ms; 250 and 200 ms if reduced."""
        duration = 250.0 if short else 500.0
        victim = (40.0, duration)
        return replace(self, duration=duration, warmup=duration / 5, victim=victim, step=10, window=10)

    def scenario(self) -> Table:
        """Return the scenario in the form that `becalm.Scenario` accepts."""
        return {
            "run": {"duration": _ms(self.duration), "warmup": _ms(self.warmup)},
            "topology": {"dumbbell": {"local": max(self.local, 1), "remote": self.remote}},
            "switch": {"buffer": f"{self.buffer} slots", "arbiter": FOUR_BYPASSES},
            "marking": self.marking,
            "echo": {"ack": {}},
            "response": self.response,
            "flows": self._flows(),
            "observe": {"step": _ms(self.step), "window": _ms(self.window)},
        }

    def _flows(self) -> list[Table]:
        """Return the local flows, the remote flows and the victim, in this order."""
        flows = [
            *self._side("local", "B", self.local, 0),
            *self._side("remote", "A", self.remote, self.local),
        ]
        if self.remote_response is not None:
            for flow in flows:
                if "remote" in flow["name"]:
                    flow["response"] = self.remote_response
        if self.victim is not None:
            flows.append(self._victim(*self.victim))
        return flows

    def _side(self, name: str, host: str, count: int, earlier: int) -> list[Table]:
        """Return the flows of one switch: one group, or a group of static and a group of dynamic flows."""
        if self.mean_on is None:
            return self._alike(name, host, count, earlier)
        on_off = {"on_off": {"mean_on": _ms(self.mean_on), "mean_off": _ms(self.mean_on)}}
        dynamic = _group(f"dynamic {name}", host, self.static + 1, count, earlier + self.static, on_off)
        if self.static == 0:
            return [dynamic]
        return [_group(f"static {name}", host, 1, self.static, earlier, {"greedy": {}}), dynamic]

    def _alike(self, name: str, host: str, count: int, earlier: int) -> list[Table]:
        traffic: Table = {"greedy": {}}
        if self.load is not None:
            traffic = {"poisson": {"load": self.load, "message": "2048 B"}}
        if self.probe and name == "local":
            first = _group("local probe", host, 1, 1, earlier, traffic)
            return [first, _group("other local", host, 2, count, earlier + 1, traffic)]
        return [_group(name, host, 1, count, earlier, traffic)] if count else []

    def _victim(self, start: float, stop: float) -> Table:
        group: Table = {"name": "victim", "from": ["AV"], "to": ["BV"], "traffic": {"greedy": {}}}
        group |= {"start": _ms(start), "stop": _ms(stop)}
        return group if self.victim_response is None else {**group, "response": self.victim_response}


def _group(name: str, host: str, first: int, last: int, earlier: int, traffic: Table) -> Table:
    """Return flows of hosts `first` to `last`, which start in sequence after `earlier` flows."""
    return {
        "name": name,
        "from": [f"{host}{first}..{host}{last}"],
        "to": ["BC"],
        "start": f"{earlier * STAGGER_US} us",
        "stagger": f"{STAGGER_US} us",
        "traffic": traffic,
    }


def _ms(value: float) -> str:
    return f"{value:g} ms"
