"""Small scenes of every kind of cause, and healthy scenes that resemble them."""

from __future__ import annotations

from typing import Any, NamedTuple

Data = dict[str, Any]


class Planted(NamedTuple):
    """A scene and what must be said about it."""

    data: Data
    causes: set[str]
    words: list[str]
    """Parts of the text."""
    gain: float
    """Smallest gain of the best change that is tried; 0 if the scene has none."""


ROCE: Data = {"header": "82 B", "ack": "84 B", "cnp": "84 B"}
PFC: Data = {"pfc": {"thresholds": {"static": {"xon": "192 KiB"}}}}
DCQCN: Data = {
    "marking": {"ramp": {"kmin": 20, "kmax": 200, "pmax": 0.2}},
    "echo": {"rocev2": {}},
    "response": {"dcqcn": {"preset": "connectx"}},
}
IBTA: Data = {
    "marking": {"ibta": {"threshold": 15, "marking_rate": 0}},
    "echo": {"ibta": {}},
    "response": {
        "ibta": {
            "ccti_increase": 4,
            "ccti_timer": 20,
            "cct": {"quadratic": {"entries": 128, "numerator": 7.0, "divisor": 106.0}},
        }
    },
}


def clos(leaves: int = 2, spines: int = 4, hosts: int = 4, rate: str = "100 Gb/s") -> Data:
    return {"clos": {"leaves": leaves, "spines": spines, "hosts_per_leaf": hosts, "rate": rate}}


def racks(**first: Any) -> Data:  # noqa: ANN401
    """Two switches of four hosts with one cable each; `first` changes the cable of host H0."""
    cables: list[Data] = [{"between": ["H0", "A"], **first}, {"between": ["H1..H3", "A"]}]
    cables += [{"between": ["H4..H7", "B"]}, {"between": ["A", "B"], "rate": "400 Gb/s"}]
    return {"edges": {"hosts": ["H0..H7"], "switches": ["A", "B"], "rate": "100 Gb/s", "cables": cables}}


def wired(doubled: bool) -> Data:
    """Four leaves under three spines; `doubled`: leaf L0 has two cables to S0 and none to S2."""
    cables: list[Data] = []
    for leaf in range(4):
        cables += [{"between": [f"H{4 * leaf}..H{4 * leaf + 3}", f"L{leaf}"]}]
        for spine in range(3):
            other = 0 if doubled and (leaf, spine) == (0, 2) else spine
            cables += [{"between": [f"L{leaf}", f"S{other}"]}]
    switches = ["L0..L3", "S0..S2"]
    return {"edges": {"hosts": ["H0..H15"], "switches": switches, "rate": "25 Gb/s", "cables": cables}}


def group(name: str, sources: list[str], to: list[str], load: float = 0.0, **more: Any) -> Data:  # noqa: ANN401
    traffic = {"traffic": {"poisson": {"load": load}}} if load else {}
    return {"name": name, "from": sources, "to": to, **traffic, **more}


def pairs(name: str, ends: dict[int, int], load: float = 0.0, **more: Any) -> Data:  # noqa: ANN401
    traffic = {"traffic": {"poisson": {"load": load}}} if load else {}
    connections = [{"from": f"H{one}", "to": f"H{other}"} for one, other in ends.items()]
    return {"name": name, "connections": connections, **traffic, **more}


def job(kind: str, size: str, hosts: list[str] | None = None, **more: Any) -> Data:  # noqa: ANN401
    return {"name": "train", "hosts": hosts or ["*"], "collective": {kind: {"bytes": size}}, **more}


def scene(
    topology: Data,
    flows: list[Data] | None = None,
    jobs: list[Data] | None = None,
    switch: Data | None = None,
    length: str = "2 ms",
    **more: Any,  # noqa: ANN401
) -> Data:
    found: Data = {"run": {"duration": length, "seed": 5}, "topology": topology}
    found["switch"] = {"buffer": "64 KiB", **(switch or {})}
    if flows:
        found["flows"] = flows
        found["run"]["warmup"] = "500 us"
    if jobs:
        found["jobs"] = jobs
        found["run"] |= {"warmup": "0 s"}
    return {**found, **more}


def roce(flows: list[Data], length: str = "4 ms", **more: Any) -> Data:  # noqa: ANN401
    """Three hosts at one switch with PFC."""
    cables = [{"between": [host, "T"]} for host in "ABC"]
    edges = {"hosts": ["A", "B", "C"], "switches": ["T"], "rate": "100 Gb/s", "delay": "100 ns"}
    one = {"edges": {**edges, "cables": cables}}
    switch = {"buffer": "256 KiB", "flow_control": PFC}
    return scene(one, flows, switch=switch, length=length, packet={"mtu": "1024 B", **ROCE}, **more)


def lanes(high: int, low: int, loads: tuple[float, float]) -> Data:
    """Two lanes that share one uplink by weights."""
    tables = {"high": [{"vl": 1, "weight": high}], "low": [{"vl": 0, "weight": low}], "limit": 255}
    switch = {"vls": 2, "sl_to_vl": [0, 1], "vl_arbitration": {"tables": tables}}
    flows = [pairs("compute", {0: 4, 1: 5}, loads[0]), pairs("storage", {2: 6, 3: 7}, loads[1], sl=1)]
    return scene(clos(spines=1), flows, switch=switch)


def long_cable(buffer: str, work: Data | None = None) -> Data:
    """Two racks joined by a cable of 1 km."""
    found = racks()
    found["edges"]["cables"][-1]["delay"] = "5 us"
    flows = [pairs("copy", {0: 4, 1: 5}, 0.8)] if work is None else None
    jobs = None if work is None else [work]
    return scene(found, flows, jobs, switch={"buffer": buffer}, length="20 ms" if jobs else "2 ms")


def two_jobs(leaf: bool) -> Data:
    """Two jobs on all leaves, or each on a leaf of its own."""
    even = [f"H{host}" for host in range(8) if (host < 4 if leaf else host % 2 == 0)]
    odd = [f"H{host}" for host in range(8) if f"H{host}" not in even]
    both = [job("all_reduce", "2 MiB", even, repeat=4), job("all_to_all", "2 MiB", odd, repeat=4)]
    both[1]["name"] = "experts"
    found = scene(clos(spines=1), jobs=both, length="20 ms")
    found["run"]["end"] = "jobs"
    return found


def capped(kind: str, rate: str, **more: Any) -> Data:  # noqa: ANN401
    caps = [{"hosts": ["H3"], kind: rate}]
    return scene(clos(), jobs=[job("all_reduce", "4 MiB", **more)], adapter={"caps": caps}, length="20 ms")


def incast(senders: list[str], **control: Any) -> Data:  # noqa: ANN401
    flows = [group("hot", senders, ["H0"]), pairs("by", {7: 11}, 0.3)]
    return scene(clos(4, rate="25 Gb/s"), flows, length="6 ms", **control)


ECMP: Data = {"paths": {"flow": {}}}
LINE = {0: 4, 1: 5, 2: 6, 3: 7, 8: 12, 9: 13, 10: 14, 11: 15}
CROWD = ["H4", "H8", "H12", "H5"]
SLOW: Data = {"ibta": {**IBTA["response"]["ibta"], "ccti_increase": 40, "ccti_timer": 150}}
GROUPS: Data = {
    "dragonfly": {"switches_per_group": 4, "hosts_per_switch": 2, "global_links": 2, "rate": "100 Gb/s"}
}
FAST: Data = {"buffer": "256 KiB", "flow_control": PFC, "paths": {"flow": {}}}
EXCHANGE = scene(
    clos(2, 4, 8, "400 Gb/s"),
    jobs=[job("all_to_all", "8 MiB", repeat=2)],
    switch=FAST,
    length="4 ms",
    packet={"mtu": "4096 B", **ROCE},
    **DCQCN,
)
SICK = {"caps": [{"hosts": ["H0"], "drain_rate": "0.1 Gb/s"}]}
SICK_FLOWS = [group("to sick", ["H4", "H8"], ["H0"], 0.1), pairs("others", {5: 1, 6: 9, 10: 2, 3: 7}, 0.4)]

PLANTED: dict[str, Planted] = {
    "a collision at line rate": Planted(
        scene(clos(4), [pairs("pairs", LINE)], switch=ECMP),
        {"path collision"},
        ["whose paths collide", "least_waiting"],
        0.2,
    ),
    "a collision that fits into the mean of its equals": Planted(
        scene(clos(2, 2), [pairs("pairs", {0: 4, 1: 6, 2: 5}, 0.6)]),
        {"path collision"},
        ["least_waiting"],
        0.05,
    ),
    "control below idle links": Planted(
        EXCHANGE,
        {"held by control", "path collision"},
        ["Control holds job train below idle links", "in a paired run without control: control costs"],
        0.1,
    ),
    "a straggler that sends slowly": Planted(
        capped("injection_rate", "20 Gb/s"),
        {"straggler"},
        ["waits for a straggler, H3, which sends at most 2.50 GB/s", "At the usual rate, job train takes"],
        1.0,
    ),
    "a straggler that receives slowly": Planted(
        capped("drain_rate", "20 Gb/s"), {"straggler", "slow receiver"}, ["H3, which receives at most"], 1.0
    ),
    "a straggler behind a slow cable": Planted(
        scene(racks(rate="25 Gb/s"), jobs=[job("all_reduce", "4 MiB")], length="20 ms"),
        {"straggler", "slow cable"},
        ["waits for a straggler, H0"],
        0.5,
    ),
    "credit below rate times loop": Planted(
        long_cable("16 KiB"), {"small buffer"}, ["before a credit returns", 'switch.buffer="auto"'], 1.0
    ),
    "lanes with weights 1 and 255": Planted(
        lanes(255, 1, (0.4, 0.48)),
        {"VL weights", "colliding jobs"},
        ["VL 0 (compute) starves at leaf0 -> spine0", "VL 1 has weight 255 in the high table"],
        1.0,
    ),
    "two jobs on the same links": Planted(
        two_jobs(leaf=False),
        {"colliding jobs", "slowed job"},
        ["is shared by", "it is filled by"],
        0.1,
    ),
    "thresholds that never mark": Planted(
        roce(
            [group("writes", ["A", "B"], ["C"])],
            **{**DCQCN, "marking": {"ramp": {"kmin": 1000, "kmax": 2000, "pmax": 0.1}}},
        ),
        {"hot host", "threshold off"},
        ["mark from Kmin =", "the data of one round trip", "is paused for 0.0% of the time instead of"],
        0.0,
    ),
    "marks without a reader": Planted(
        roce([group("writes", ["A", "B"], ["C"])], marking=DCQCN["marking"], response={"none": {}}),
        {"hot host"},
        ["sources do not react to marks", "let sources react to marks (DCQCN)", "is paused for"],
        0.0,
    ),
    "a timer that is too long": Planted(
        incast(["H4", "H8"], **{**IBTA, "response": SLOW}),
        {"hot host", "timer too long"},
        ["Control starves leaf0 -> H0", "to undo a BECN (a step of 40)"],
        0.0,
    ),
    "one cable between two groups": Planted(
        scene(GROUPS, [group("across", ["H0..H7"], ["H8..H15"], 0.5)], switch={"vls": 2}),
        {"oversubscribed link"},
        ["let packets take detours"],
        1.0,
    ),
    "a pause storm": Planted(
        scene(
            clos(3, 2),
            SICK_FLOWS,
            adapter=SICK,
            switch={"flow_control": {"pfc": {}}},
            length="4 ms",
            packet={"mtu": "4096 B", **ROCE},
            **DCQCN,
        ),
        {"pause storm"},
        ["a pause storm", "watchdog", "to sick delivers"],
        0.5,
    ),
    "a job behind buffers that are too small": Planted(
        long_cable("16 KiB", job("all_reduce", "1 MiB")),
        {"small buffer"},
        ["Job train is slowed down by the credit of the input buffers"],
        1.0,
    ),
    "a job with a small window": Planted(
        scene(racks(), jobs=[job("all_reduce", "1 MiB")], response={"none": {"window": 1}}),
        {"small window"},
        ["Job train is slowed down by the window"],
        0.5,
    ),
    "a job whose own flows collide": Planted(
        {key: value for key, value in EXCHANGE.items() if key not in DCQCN},
        {"path collision"},
        ["Flows of job train collide on", "With adaptive routing, it takes"],
        0.1,
    ),
    "a leaf with doubled cables": Planted(
        scene(wired(doubled=True), [pairs("swap", {0: 4, 1: 5, 2: 6, 4: 0, 5: 1, 6: 2}, 0.9)]),
        {"uneven cables"},
        ["carries the traffic of L0, whose cables differ from its peers'", "cable L0 like its peers"],
        0.05,
    ),
}
HEALTHY: dict[str, Data] = {
    "line rate on fixed paths": scene(clos(4), [pairs("pairs", LINE)]),
    "line rate on adaptive paths": scene(
        clos(4), [pairs("pairs", LINE)], switch={"paths": {"least_waiting": {}}}
    ),
    "uniform traffic with ECMP": scene(clos(4), [group("all", ["*"], ["*"], 0.4)], switch=ECMP),
    "a ring with DCQCN": scene(
        clos(rate="400 Gb/s"),
        jobs=[job("all_reduce", "4 MiB")],
        switch={"buffer": "256 KiB", "flow_control": PFC},
        packet={"mtu": "4096 B", **ROCE},
        **DCQCN,
    ),
    "an exchange without control": scene(clos(), jobs=[job("all_to_all", "1 MiB")], length="4 ms"),
    "a job with a slower host that has little to send": scene(
        clos(),
        jobs=[job("all_reduce", "16 KiB", compute="50 us", repeat=5)],
        adapter={"caps": [{"hosts": ["H3"], "injection_rate": "50 Gb/s"}]},
    ),
    "a job on equal slower hosts": scene(
        clos(), jobs=[job("all_reduce", "1 MiB")], adapter={"injection_rate": "50 Gb/s"}, length="4 ms"
    ),
    "unequal weights on a link with room": lanes(255, 1, (0.1, 0.2)),
    "jobs on leaves of their own": two_jobs(leaf=True),
    "enough credit for a long cable": long_cable("auto"),
    "uniform traffic with marks": scene(
        clos(4), [group("all", ["*"], ["*"], 0.4)], switch={"flow_control": {"pfc": {}}}, **DCQCN
    ),
    "uniform traffic beside InfiniBand's control": scene(
        clos(4, rate="25 Gb/s"), [group("all", ["*"], ["*"], 0.3)], **IBTA
    ),
    "a dragonfly with room": scene(GROUPS, [group("all", ["*"], ["*"], 0.2)], switch={"vls": 2}),
    "a job behind a long cable with enough credit": long_cable("auto", job("all_reduce", "1 MiB")),
    "cables like their peers'": scene(
        wired(doubled=False), [pairs("swap", {0: 4, 1: 5, 2: 6, 4: 0, 5: 1, 6: 2}, 0.9)]
    ),
}
