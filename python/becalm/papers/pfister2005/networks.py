"""pfister2005: the text's statements on all networks, tested on other topologies, and those on virtual lanes.

All sources send uniform background traffic. After a millisecond, each source diverts its part of 300% of the
hot link's capacity, as in section V. Means cover the last quarter of 10 ms, as in `cold_late`. The other
topologies are a torus of 8 x 8, a dragonfly of 9 groups, and an Omega network. The latter has three stages of
4 x 4 elements with 64 sources on the left and 64 destinations on the right, and its cables are bidirectional
only for notifications. A folded Benes network is the fat tree of `topology.tree` with its wires in another
order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from becalm.lab.model import Experiment, Label, Outcome, Point, Table, Tables
from becalm.lab.tables import at
from becalm.papers.common.draw import bars
from becalm.papers.pfister2005.scene import IN_FIG3, NETWORKS, RATE, SEVERITY, Control, guideline

START, STEADY, END = 1.0, 8.5, 11.0
"""Start of the hot period, start of its means, and end of the run, in ms."""
REDUCED = {"duration": "5 ms", "warmup": "3 ms"}
WAYS = 4
"""Inputs and outputs of an element of an Omega network."""
FACTORS = (1.0, 1.5, 2.0)
"""Multiples of the guideline's `max_ipd` among which parameters are found for a topology."""
LINKS: Table = {"rate": RATE, "delay": "40 ns"}


@dataclass(frozen=True)
class Fabric:
    """A topology with its sources and destinations, and the number of virtual lanes for its routes."""

    topology: Table
    sources: list[str]
    destinations: list[str]
    vls: int = 1


def omega(stages: int) -> Fabric:
    """Return stages of elements that perfect shuffles connect. Each shortest route is unique."""
    ends = WAYS**stages
    width = ends // WAYS
    switches = [f"E{stage}_{place}" for stage in range(stages) for place in range(width)]
    shuffled = [line * WAYS % ends + line * WAYS // ends for line in range(ends)]
    cables = [[f"S{line}", f"E0_{to // WAYS}"] for line, to in enumerate(shuffled)]
    cables += [
        [f"E{stage}_{line // WAYS}", f"E{stage + 1}_{to // WAYS}"]
        for stage in range(stages - 1)
        for line, to in enumerate(shuffled)
    ]
    cables += [[f"E{stages - 1}_{line // WAYS}", f"D{line}"] for line in range(ends)]
    left, right = ([f"{side}{line}" for line in range(ends)] for side in "SD")
    edges = {"hosts": [*left, *right], "switches": switches, "cables": [{"between": each} for each in cables]}
    return Fabric({"edges": edges | LINKS}, left, right)


def _direct(topology: str, keys: Table, hosts: int) -> Fabric:
    names = [f"H{host}" for host in range(hosts)]
    return Fabric({topology: keys | LINKS}, names, names, vls=2)


def _tree() -> Fabric:
    names = [f"H{host}" for host in range(32)]
    return Fabric(NETWORKS["32"].topology, names, names)


FABRICS = {
    "torus": _direct("torus", {"sides": [8, 8]}, 64),
    "dragonfly": _direct(
        "dragonfly", {"switches_per_group": 4, "hosts_per_switch": 2, "global_links": 2}, 72
    ),
    "omega": omega(3),
}


@dataclass(frozen=True)
class Scene:
    """A case with all sources hot on a fabric."""

    fabric: Fabric
    load: float = 0.5
    control: Control | None = None
    lanes: int = 1
    """Number of virtual lanes. With 2, hot traffic has a separate lane."""
    queue: int | None = 128
    """Capacity of a host's send queue in packets, as in the figures; `None`: unlimited."""
    injection: str = "posted"

    @property
    def hot(self) -> float:
        """Share of a link that a source diverts."""
        return SEVERITY / (len(self.fabric.sources) - 1)

    def offered(self) -> float:
        """Return the total load offered to cold destinations in the hot period, as a share of a link."""
        return (len(self.fabric.sources) - 1) * (self.load - self.hot)

    def scenario(self) -> Table:
        """Return the scenario as data for `becalm.Scenario`."""
        control = self.control.tables() if self.control else WITHOUT
        queue = {} if self.queue is None else {"queue": self.queue}
        return {
            "run": {"duration": f"{END} ms", "warmup": f"{STEADY} ms"},
            "topology": self.fabric.topology,
            "switch": {
                "buffer": "72 KiB",
                "forwarding_delay": "40 ns",
                "arbiter": {"round_robin": {}},
                "vls": max(self.fabric.vls, self.lanes),
            },
            "adapter": {"injection": self.injection, **queue},
            "packet": {"mtu": "2048 B", "header": "0 B"},
            "flows": [self._flow("cold"), self._flow("hot")],
            "observe": {"links": []},
            **control,
        }

    def _flow(self, name: str) -> Table:
        """Return a group of all sources except the one next to the hot destination, so that all are alike."""
        *sources, _ = self.fabric.sources
        *cold, hot = self.fabric.destinations
        later = {"changes": [{"at": f"{START} ms", "load": self.load - self.hot}]} if name == "cold" else {}
        poisson = {
            "load": self.load if later else self.hot,
            "message": "2048 B",
            "paced": self.control is not None,
        }
        return {
            "name": name,
            "from": sources,
            "to": cold if name == "cold" else [hot],
            "start": "0 ms" if later else f"{START} ms",
            "traffic": {"poisson": poisson | later},
            "sl": self.lanes - 1 if name == "hot" else 0,
        }


WITHOUT: Table = {
    "marking": {"none": {}},
    "echo": {"ibta": {"transport": "unreliable"}},
    "response": {"none": {"window": "unlimited"}},
}
"""No congestion control."""


def _controls(sources: int) -> dict[str, Control | None]:
    """Return no control, the guideline for this number of sources, and longer delays by `FACTORS`."""
    guide = guideline(sources)
    longer = {f"x {each:g}": replace(guide, max_ipd=round(each * guide.max_ipd, 3)) for each in FACTORS[1:]}
    return {"off": None, "on": guide, **longer}


SCENES: Mapping[str, Mapping[tuple[Label, ...], Scene]] = {
    "topologies": {
        (fabric, control): Scene(FABRICS[fabric], control=keys)
        for fabric in FABRICS
        for control, keys in _controls(len(FABRICS[fabric].sources)).items()
    },
    "gated": {
        (load, control, queue): Scene(
            _tree(),
            load=load,
            control=IN_FIG3 if control == "on" else None,
            queue=128 if queue == "128" else None,
        )
        for load in (0.5, 0.9)
        for control, queue in (("off", "128"), ("on", "128"), ("off", "endless"))
    },
    "lanes": {
        (lanes, load): Scene(_tree(), load=load, lanes=lanes, queue=None, injection="round_robin")
        for lanes in (1, 2)
        for load in (0.5, 0.9)
    },
}
AXES = {
    "topologies": ("fabric", "control"),
    "gated": ("load", "control", "queue"),
    "lanes": ("lanes", "load"),
}
TITLES = {
    "topologies": "A torus, a dragonfly and an Omega network, load 0.5, all sources hot",
    "gated": "32 ports, all sources hot: throughput of the cold flows against that of the hot ones",
    "lanes": "32 ports, all sources hot: hot traffic on the cold traffic's lane, and on a separate lane",
}


def _experiment(name: str) -> Experiment:
    scenes, axes = SCENES[name], AXES[name]

    def points(short: bool) -> list[Point]:
        reduced = {"run": REDUCED} if short else {}
        return [
            Point(dict(zip(axes, place, strict=True)), scene.scenario() | reduced)
            for place, scene in scenes.items()
        ]

    def measure(outcomes: list[Outcome]) -> Tables:
        """Return `points`: `cold`, the arriving share of load; `gated`, its ratio to the hot traffic's."""
        rows = []
        for outcome in outcomes:
            scene = scenes[tuple(outcome.labels[axis] for axis in axes)]
            shares = dict(outcome.results.groups.select("group", "share").iter_rows())
            cold, hot = shares["cold"] / scene.offered(), shares["hot"] / SEVERITY
            rows.append({**outcome.labels, "cold": cold, "hot": shares["hot"], "gated": cold / hot})
        return {"points": pl.DataFrame(rows).with_columns(bar=pl.concat_str(axes, separator=" "))}

    draw = bars("bar", "cold", "cold traffic that arrives, of what is offered")
    return Experiment(f"pfister2005/{name}", TITLES[name], cost=10, points=points, measure=measure, draw=draw)


def best(tables: Tables, fabric: str, controls: Sequence[str]) -> float:
    """Return the largest share of the cold traffic that arrives on a fabric with one of several controls."""
    return max(at(tables, "cold", fabric=fabric, control=control) for control in controls)


EXPERIMENTS = [_experiment(name) for name in SCENES]
"""Section II on other networks, and section V's remark on virtual lanes."""
