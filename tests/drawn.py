"""The generator of random scenes for all tests: valid scenarios with all features of `docs/scenario.md`.

There is one list for each kind of feature: topologies, flow control, traffic, schemes, and `FEATURES` for all
others. A new feature adds itself to its list. Combinations that contradict each other are drawn again.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import becalm

DATA = Path(__file__).parent / "data"
Tables = dict[str, Any]
Feature = Callable[[random.Random, Tables], None]

TOPOLOGIES: dict[str, list[Tables]] = {
    "dumbbell": [{"remote": 3, "local": 2}, {"remote": 6, "local": 1}],
    "clos": [
        {"leaves": 2, "spines": 2, "hosts_per_leaf": 3},
        {"leaves": 2, "spines": 1, "hosts_per_leaf": 4},
        {"leaves": 4, "spines": 2, "hosts_per_leaf": 4},
    ],
    "tree": [{"ports": 4, "levels": 2}, {"ports": 4, "levels": 3}],
    "fat_tree": [
        {"levels": [{"children": 3}, {"children": 2, "parents": 2}]},
        {"levels": [{"children": 2}, {"children": 3, "parents": 1, "parallel": 2}]},
    ],
    "dragonfly": [{"switches_per_group": 2, "hosts_per_switch": 2, "global_links": 1}],
    "torus": [{"sides": [2, 3]}, {"sides": [5]}, {"sides": [4], "hosts_per_switch": 2}, {"sides": [3, 3]}],
    "edges": [
        {
            "hosts": ["H0..H4"],
            "switches": ["S0", "S1"],
            "cables": [
                {"between": ["H0..H1", "S0"]},
                {"between": ["H2..H4", "S1"]},
                {"between": ["S0", "S1"]},
            ],
        },
        {"hosts": ["H0..H7"], "switches": ["S"], "cables": [{"between": ["H0..H7", "S"]}]},
        {
            "hosts": ["H0..H5"],
            "switches": ["S0..S2"],
            "cables": [
                {"between": ["H0..H1", "S0"]},
                {"between": ["H2", "S1"]},
                {"between": ["H3..H5", "S2"], "delay": "20 ns"},
                {"between": ["S0", "S1"], "rate": "16 Gb/s"},
                {"between": ["S1", "S2"], "delay": "1 us"},
            ],
        },
    ],
    "rail": [
        {"nodes": 4, "gpus": 1, "leaves": 2, "spines": 2},
        {"nodes": 6, "gpus": 1, "leaves": 3, "spines": 1},
        {"nodes": 5, "gpus": 1},
    ],
}
CYCLIC = ("dragonfly", "torus")
"""Topologies with cyclic paths, so packets change lanes."""
FLOW_CONTROL: dict[str, list[Tables]] = {
    "credit": [
        {"buffer": size}
        for size in ("auto", "4 packets", "16 packets", "5 slots", "16 KiB", "64 KiB", "unlimited")
    ],
    "pfc": [
        {"flow_control": {"pfc": {}}, "buffer": "64 KiB"},
        {"flow_control": {"pfc": {"thresholds": {"static": {"xon": "8 KiB"}}}}, "buffer": "16 KiB"},
        {"flow_control": {"pfc": {"thresholds": {"dynamic": {"alpha": 0.5}}}}, "buffer": "32 KiB"},
        {"flow_control": {"pfc": {"response": "60 quanta"}}, "buffer": "32 KiB"},
    ],
}
TRAFFIC = ("flows", "messages", "jobs", "traces", "long messages")
SPEEDS = (
    ("8 Gb/s", "200 us"),
    ("1 GB/s", "200 us"),
    ("25 Gb/s", "100 us"),
    ("100 Gb/s", "0.04 ms"),
    ("50 GB/s", "20 us"),
)
"""Rates of links, and durations that suit them."""
SIZES: tuple[Any, ...] = ("fixed", "exponential", {"erlang": 2}, {"uniform": 0.5}, "ali_storage")
COLLECTIVES: dict[str, tuple[str, ...]] = {
    "barrier": (),
    "broadcast": ("binomial", "scatter_all_gather"),
    "reduce": (),
    "all_reduce": (
        "ring",
        "recursive_doubling",
        "halving_doubling",
        "halving_doubling_near",
        "double_binary_tree",
        "hierarchical",
    ),
    "all_gather": ("ring", "recursive_doubling", "bruck"),
    "reduce_scatter": ("ring", "recursive_halving"),
    "all_to_all": ("linear", "pairwise", "bruck"),
}
"""Collective operations and their algorithms."""
SCHEMES: tuple[Tables, ...] = (
    {},
    {"response": {"none": {"window": 4}}},
    {"response": {"fixed": {"rate": 0.5}}},
    {"marking": {"queue_threshold": {}}, "response": {"dcqcn": {}}, "echo": {"rocev2": {}}},
    {"marking": {"ramp": {}}, "response": {"dcqcn": {}}, "echo": {"rocev2": {"cnp_scope": "port"}}},
    {
        "marking": {"ramp": {}},
        "response": {"dcqcn": {"preset": "connectx"}},
        "echo": {"rocev2": {"cnp_scope": "destination", "cnp_delay": "300 ns"}},
    },
    {"marking": {"ibta": {}}, "response": {"ibta": {"ccti_timer": 3}}, "echo": {"ibta": {}}},
    {
        "marking": {"ibta": {}},
        "response": {"ibta": {"ccti_timer": 2, "timer_scope": "flow"}},
        "echo": {"ibta": {}},
    },
    {
        "marking": {"ibta": {"victim_mask": "all"}},
        "response": {"ibta": {}},
        "echo": {"ibta": {"ack_every": 4}},
    },
    {"echo": {"ibta": {"transport": "unreliable"}}},
    {"marking": {"input_triggered": {}}, "response": {"lipd": {}}},
    {"marking": {"input_output_triggered": {}}, "response": {"fimd": {}}},
    {"marking": {"naive": {}}, "response": {"aimd": {}}},
    {
        "marking": {"regeneration_cycle": {"width": 1}},
        "response": {"binary_feedback": {"keep_bits": True, "history": 3, "check_source": False}},
    },
    {"marking": {"queue_threshold": {"high": 0.5, "low": 0.4}}, "response": {"dctcp": {}}},
    {"marking": {"random": {"probability": 0.1}}, "response": {"table": {"steps": [[1, 1, 0], [1, 2, 1]]}}},
    {"response": {"swift": {}}},
    {"response": {"timely": {}}},
    {"response": {"hpcc": {}}},
    {"marking": {"ramp": {}}, "response": {"nscc": {}}, "echo": {"uet": {}}},
    {
        "marking": {"queue_threshold": {"high": 0.5, "low": 0.4}},
        "response": {"nscc": {"target": "2 us", "initial": 3.0}},
        "echo": {"uet": {"ack_every": 2}},
    },
)
_IN_ORDER = ("destination", "flow")
PATHS = (*_IN_ORDER, "packet", "round_robin", "least_waiting", "flowlet", "entropy", "valiant", "ugal")
ENTROPY: tuple[Tables, ...] = (
    {},
    {"values": 8, "balancer": "reps"},
    {"values": 4, "balancer": "bitmap"},
    {"balancer": "oblivious"},
)
"""Tables of `switch.paths.entropy`."""


def hosts(topology: Tables) -> list[str]:
    """Return the names of all hosts of `[topology]`."""
    return list(_hosts(json.dumps(topology)))


@lru_cache(maxsize=256)
def _hosts(topology: str) -> list[str]:
    # Two lanes, because some topologies need them.
    shape = json.loads(topology)
    planes = shape.get("rail", {}).pop("planes", 1)
    scene = {"run": {"duration": "1 us"}, "topology": shape, "switch": {"vls": 2}}
    found = becalm.Scenario({**scene, "flows": [{"name": "all", "from": ["*"], "to": ["*"]}]}).hosts()
    return found if planes == 1 else [f"{host}P{plane}" for plane in range(planes) for host in found]


def traffic_of(draw: random.Random, kind: str) -> Tables:
    """Return `traffic` of a group; `flows` are endless or random, and `messages` are a batch."""
    sizes: Tables = {"sizes": draw.choice(SIZES)} if draw.random() < 0.4 else {}
    if draw.random() < 0.4:
        sizes["message"] = draw.choice(["100 B", "2048 B", "9 kB", "16 KiB"])
    if kind == "messages":
        return {"batch": {"count": draw.choice([1, 5, 20]), **sizes}}
    return draw.choice(
        [
            {"greedy": sizes},
            {"on_off": {"mean_on": "5 us", "mean_off": draw.choice(["2 us", "0.01 ms"])}},
            {"poisson": {"load": draw.choice([0.1, 0.3, 0.6, 0.9, 1.2]), **sizes}},
            {"poisson": {"load": 0.3, "load_counts": "payload", "changes": [{"at": "20 us", "load": 0.9}]}},
            {"poisson": {"load": 0.5, "paced": True, **sizes}},
        ]
    )


def ends_of(draw: random.Random, names: list[str], greedy: bool) -> Tables:
    """Return the sources and destinations of a group, written in one of the ways."""
    many = sorted(draw.sample(names, draw.randint(2, len(names))), key=names.index)
    form = draw.choice(["incast", "incast", "pair", "several", "all", "pattern", "connections"])
    if form == "all":
        return {"from": ["*"], "to": [draw.choice(names)]}
    if form == "pattern":
        pattern = draw.choice(["shift", "tornado", "bit_reversal", "permutation", "all_to_all"])
        return {"from": many, "pattern": {pattern: {"by": 1} if pattern == "shift" else {}}}
    if form == "connections":
        pairs = zip(many, [*many[1:], many[0]], strict=True)
        more: Tables = {"start": "3 us"} if greedy and draw.random() < 0.3 else {}
        return {"connections": [{"from": one, "to": other, **more} for one, other in pairs]}
    if form == "several":
        cut = draw.randint(1, len(many) - 1)
        return {"from": many[:cut], "to": many[cut:]}
    others = [name for name in names if name not in many[:-1]] or names
    return {"from": many[: 1 if form == "pair" else -1], "to": [draw.choice(others)]}


def group(draw: random.Random, kind: str, names: list[str], number: int) -> Tables:
    """Return a group of flows."""
    traffic = traffic_of(draw, kind)
    made: Tables = {"name": f"g{number}", **ends_of(draw, names, "greedy" in traffic), "traffic": traffic}
    for key, value in (
        ("start", draw.choice(["1500 ns", "4 us"])),
        ("stop", "30 us"),
        ("stagger", "200 ns"),
        ("start_spread", "2 us"),
        ("restart", "message"),
        (
            "response",
            draw.choice([{"none": {}}, {"swift": {}}, {"fixed": {"rate": 0.3, "pacing": "schedule"}}]),
        ),
    ):
        if draw.random() < 0.15:
            made[key] = value
    if len(made.get("to", ())) > 1 and {"poisson", "batch"} & set(traffic) and draw.random() < 0.3:
        made["weights"] = [draw.choice([1.0, 2.5]) for _ in made["to"]]
    return made


def job(draw: random.Random, kind: str, names: list[str]) -> Tables:
    """Return a job: a collective operation, a list of operations, a GOAL schedule or a Chakra trace."""
    made: Tables = {"name": "job", "record_ops": draw.random() < 0.5}
    if kind == "traces":
        made["hosts"] = names[: 4 if draw.random() < 0.7 else 2]
        return made | draw.choice(
            [
                {"chakra": str(DATA / "chakra" / draw.choice(["step", "all_reduce", "all_to_all"]))},
                {"goal": str(DATA / "goal" / "ring_of_two.goal"), "ranks": 2},
                {"goal": str(DATA / "goal" / "binomial_reduce_8.goal"), "placement": "round_robin"},
            ]
        )
    made["hosts"] = names[: draw.randint(2, len(names))]
    for key, value in (
        ("placement", draw.choice(["packed", "round_robin", "random"])),
        ("compute", "2 us"),
        ("reduce_rate", "20 GB/s"),
        ("eager", "4 KiB"),
        ("overhead", "200 ns"),
        ("overhead_rate", "40 GB/s"),
        ("start", "1 us"),
        ("alone", False),
        ("response", {"none": {}}),
    ):
        if draw.random() < 0.15:
            made[key] = value
    if draw.random() < 0.25:
        return made | draw.choice([training, loads])(draw)
    chosen = draw.choice([*COLLECTIVES])
    table: Tables = {} if chosen == "barrier" else {"bytes": draw.choice(["1 KiB", "30 kB", "128 KiB"])}
    if COLLECTIVES[chosen] and draw.random() < 0.7:
        table["algorithm"] = draw.choice(COLLECTIVES[chosen])
    if table.get("algorithm") in ("ring", "double_binary_tree") and draw.random() < 0.2:
        table["channels"] = 2
    return made | {"collective": {chosen: table}, "repeat": draw.choice([1, 1, 3])}


def training(draw: random.Random) -> Tables:
    """Return a step of training."""
    shape = {key: draw.choice([1, 2]) for key in ("tensor", "pipeline", "data")} | {"tensor": 2}
    step: Tables = {**shape, "microbatches": draw.choice([1, 3]), "forward": "1 us", "backward": "2 us"}
    step["bytes"] = {key: draw.choice(["3 KiB", "20 kB"]) for key, ranks in shape.items() if ranks > 1}
    for key, value in (
        ("schedule", "gpipe"),
        ("skew", 0.2),
        ("slow", [{"ranks": [1], "factor": 1.5}]),
    ):
        if draw.random() < 0.3:
            step[key] = value
    return {"step": step}


def loads(draw: random.Random) -> Tables:
    """Return an all-to-all with different sizes."""
    if draw.random() < 0.5:
        sizes = ["0 B", "700 B", "9 kB", "30 KiB"]
        ranks = draw.choice([2, 3, 4])
        return {"all_to_all_v": {"table": [[draw.choice(sizes) for _ in range(ranks)] for _ in range(ranks)]}}
    experts: Tables = {"count": 8, "tokens": 20, "top": 2, "token": "500 B"}
    for key, value in (("zipf", 1.0), ("back", True)):
        if draw.random() < 0.5:
            experts[key] = value
    return {"ranks": 4, "all_to_all_v": {"experts": experts}}


def load_of(draw: random.Random, kind: str, names: list[str]) -> Tables:
    """Return flows and jobs for a kind of traffic."""
    if kind in ("flows", "messages"):
        return {"flows": [group(draw, kind, names, number) for number in range(draw.choice([1, 2, 2, 3]))]}
    if kind == "long messages":
        # Of 256 trains or more, with the same rate.
        scatter = {"reduce_scatter": {"bytes": "32 MiB", "algorithm": "recursive_halving"}}
        return {"jobs": [{"name": "job", "hosts": draw.sample(names, 2), "collective": scatter}]}
    load: Tables = {"jobs": [job(draw, kind, names)]}
    if draw.random() < 0.3:
        load["flows"] = [group(draw, "flows", names, 0)]
    return load


def lanes(draw: random.Random, data: Tables) -> None:
    """Add lanes, service levels of groups, and arbitration between lanes."""
    switch = data["switch"]
    levels = [0, 2] if next(iter(data["topology"])) in CYCLIC else draw.choice([[0, 1], [1, 0], [0, 2]])
    switch.update(sl_to_vl=levels, vls=max(levels) + switch.get("vls", 1))
    for number, each in enumerate([*data.get("flows", []), *data.get("jobs", [])]):
        each["sl"] = (number + 1) % 2
    if draw.random() < 0.3:
        entries = [{"vl": vl, "weight": draw.choice([1, 64])} for vl in range(switch["vls"])]
        high: Tables = {"high": entries[:1]} if draw.random() < 0.5 else {}
        switch["vl_arbitration"] = {"tables": {"low": entries, **high}}


def switching(draw: random.Random, data: Tables) -> None:
    """Change how switches forward, queue and serve."""
    switch = data["switch"]
    for key, value in (
        ("forwarding_delay", draw.choice(["0 s", "100 ns", "0.3 us"])),
        ("switching", "store_and_forward"),
        ("queueing", "fifo"),
        ("input_reads", "one"),
        (
            "arbiter",
            {"oldest_first": draw.choice([{}, {"max_bypass": 4}, {"max_bypass": 4, "bypass": "output"}])},
        ),
    ):
        if draw.random() < 0.25:
            switch[key] = value
    if switch.get("switching") and draw.random() < 0.2:
        switch["service"] = draw.choice(["exponential", {"erlang": 2}, {"uniform": 0.5}])


def paths(draw: random.Random, data: Tables) -> None:
    """Change the choice among equal ports."""
    law = draw.choice(PATHS if next(iter(data["topology"])) in CYCLIC else PATHS[:-2])
    data["switch"]["paths"] = {law: draw.choice(ENTROPY) if law == "entropy" else {}}


def _first_host(data: Tables) -> tuple[str, str]:
    """Return a switch and the first host, which is on it in most topologies."""
    ((kind, shape),) = data["topology"].items()
    switch = {
        "clos": "leaf0",
        "edges": "S0",
        "rail": "R0L0",
        "torus": "S" + "_".join("0" for _ in shape.get("sides", [])),
    }.get(kind, "A")
    return switch, {"dumbbell": "A1", "rail": "N0G0"}.get(kind, "H0")


def changes(draw: random.Random, data: Tables) -> None:
    """Change the rate of a host's link during the run."""
    data["switch"]["switching"] = "store_and_forward"
    switch, host = _first_host(data)
    ends = draw.choice([f"{switch}->{host}", f"{host}->{switch}"])
    data["changes"] = [{"link": ends, "at": "10 us", "rate": draw.choice(["4 Gb/s", "2 GB/s"])}]


def nodes(draw: random.Random, data: Tables) -> None:
    """Place the ranks of the job on nodes with several adapters instead of hosts."""
    if "jobs" not in data:
        return
    (job,) = data["jobs"]
    if "rail" in data["topology"]:
        del job["hosts"]
        job["nodes"] = ["*"]
        return
    half = len(job["hosts"]) // 2
    one, other = job["hosts"][:half], job["hosts"][half : 2 * half]
    gpus = draw.choice([1, 2]) if half % 2 == 0 else 1
    made: Tables = {"name": f"n0..n{half // gpus - 1}", "gpus": gpus, "nics": [one]}
    del job["hosts"]
    job["nodes"] = ["*"]
    if draw.random() < 0.5:
        made["nics"] = [one, other]
        job["nics"] = draw.choice(["same_rail", "stripe", "hash"])
    elif gpus > 1 and draw.random() < 0.7:
        made["local"] = other
        job["nics"] = draw.choice(["same_rail", "pxn"])
        if job["nics"] == "pxn" and draw.random() < 0.5:
            job["pxn_chunk"] = "2 KiB"
    data["nodes"] = [made]


def faults(draw: random.Random, data: Tables) -> None:
    """Break a host, its cable, or its buffers during the run."""
    host, (switch, first) = draw.choice(hosts(data["topology"])), _first_host(data)
    kinds: list[Tables] = [
        {"link_down": {"link": f"{switch}->{first}"}},
        {"slow_receiver": {"hosts": [host], "drain_rate": draw.choice(["1 Gb/s", "50 MB/s"])}},
        {"host_stop": {"hosts": [host]}},
    ]
    if "pfc" in data["switch"].get("flow_control", {}):
        kinds += [{"pause_storm": {"link": f"{switch}->{first}"}}] * 3
    data["faults"] = [
        {"kind": kind, "at": at, "until": until}
        for kind in draw.sample(kinds, draw.choice([1, 2]))
        for at, until in [draw.choice([("3 us", "9 us"), ("4 us", "4050 ns")])]
    ]


def cbfc(data: Tables) -> None:
    """Return the credit of some scenes in messages. A draw of its own leaves all other draws as they are."""
    draw, switch = random.Random(str(data)), data["switch"]
    counted = "slots" in switch["buffer"] or switch["buffer"] == "unlimited"
    if "flow_control" in switch or counted or draw.random() < 0.7:
        return
    kinds = [{}, {"credit": "32 B", "overhead": "12 B"}, {"spacing": "800 B"}, {"credit": "1 KiB"}]
    switch["flow_control"] = {"cbfc": draw.choice(kinds)}


def later(data: Tables) -> None:
    """Add features that were invented later. A draw of their own leaves all other draws as they are."""
    draw = random.Random(str(data))
    for each in data.get("jobs", []):
        ranks = len(each.get("hosts", ()))
        if "collective" in each and ranks >= 4 and draw.random() < 0.3:
            each["groups"] = draw.choice([[[0, 2], [3, 1]], [[1, 2, 3]], [[2, 0, 1, 3]]])
    faults = data.get("faults", [])
    for number, each in enumerate(faults):
        if "link_down" in each["kind"] and draw.random() < 0.5:
            switch = each["kind"]["link_down"]["link"].partition("->")[0]
            faults[number] = {**each, "kind": {"switch_stop": {"switches": [switch]}}}
    alone = "flows" not in data and "jobs" in data and "changes" not in data
    if "rail" in data["topology"] and alone and draw.random() < 0.6:
        data["jobs"][0].pop("hosts", None)
        data["jobs"][0]["nodes"] = ["*"]
        shape = {**data["topology"]["rail"], "planes": 2}
        data["topology"] = {"rail": shape}
        data["jobs"][0]["nics"] = draw.choice(["stripe", "stripe", "same_rail", "hash"])
        stop: Tables = {"switch_stop": {"switches": [draw.choice(["R0L0P0", "R0L0P1"])]}}
        data["faults"] = [{"kind": stop, "at": "2 us", **draw.choice([{}, {"until": "9 us"}])}]
        for cap in data.get("adapter", {}).get("caps", []):
            cap["hosts"] = [f"{host}P1" for host in cap["hosts"]]


def watchdogs(draw: random.Random, data: Tables) -> None:
    """Watch pauses, and find storms within microseconds."""
    pfc = data["switch"].get("flow_control", {}).get("pfc")
    if pfc is None:
        return
    watchdog = {
        "detection": draw.choice(["1 us", "2 us"]),
        "poll": "1 us",
        "rule": draw.choice(["mellanox", "broadcom"]),
        "action": draw.choice(["drop", "forward", "alert"]),
    }
    data["switch"]["flow_control"] = {"pfc": {**pfc, "watchdog": watchdog}}


def adapters(draw: random.Random, data: Tables) -> None:
    """Change the hosts' adapters."""
    adapter = data.setdefault("adapter", {})
    for key, value in (
        ("injection", "posted"),
        ("answers", "first"),
        ("coalesce_acks", draw.random() < 0.5),
        ("port_control", "sl"),
        ("injection_rate", "700 MB/s"),
        ("message_overhead", "300 ns"),
        ("drain_rate", "6 Gb/s"),
        ("caps", [{"hosts": [draw.choice(hosts(data["topology"]))], "drain_rate": "2 Gb/s"}]),
    ):
        if draw.random() < 0.25:
            adapter[key] = value


def send_queues(draw: random.Random, data: Tables) -> None:
    """Limit the send queues of hosts."""
    full = draw.choice(["block", "block", "drop"])
    data.setdefault("adapter", {}).update(queue=draw.choice([8, 32]), when_full=full)


def packets(draw: random.Random, data: Tables) -> None:
    """Change sizes of packets and the way of answers."""
    packet = data.setdefault("packet", {})
    for key, value in (
        ("mtu", draw.choice(["1 KiB", "4096 B", "1500 B"])),
        ("header", draw.choice(["0 B", "64 B"])),
        ("ack", "64 B"),
        ("cnp", "84 B"),
        ("answers_sl", 1),
    ):
        if draw.random() < 0.25:
            packet[key] = value
    if "rocev2" in data.get("echo", {}):
        packet["cnp_lane"] = draw.choice(["own", "acks"])


def schemes(draw: random.Random, data: Tables) -> None:
    """Add congestion control."""
    data |= draw.choice(SCHEMES)


def ends(draw: random.Random, data: Tables) -> None:
    """Change the measured window and the end of the run."""
    run = data["run"]
    if draw.random() < 0.6:
        run["warmup"] = draw.choice(["2 us", "5000 ns"])
    if draw.random() < 0.6:
        run["end"] = "jobs" if "jobs" in data else "delivered"


def observing(draw: random.Random, data: Tables) -> None:
    """Record more, or other links and times."""
    for key, value in (
        ("frames", "3 us"),
        ("spans", True),
        ("messages", True),
        ("queues", True),
        ("paces", True),
        ("snapshots", ["5 us"]),
        ("links", []),
        ("flows", True),
    ):
        if draw.random() < 0.4:
            data["observe"][key] = value


def trains(_: random.Random, data: Tables) -> None:
    """Simulate long messages as trains."""
    data["run"]["fidelity"] = "trains"
    data["switch"]["buffer"] = "1 MiB"


def steady(draw: random.Random, data: Tables) -> None:
    """Leave out the time in which the rates of the job are constant."""
    data["run"] |= {"fidelity": "steady", "duration": "20 ms"}
    data["switch"]["buffer"] = "1 MiB"
    data["observe"] = {"step": draw.choice(["100 us", "70 us"]), "window": "1 ms"}


FEATURES: tuple[tuple[Feature, float], ...] = (
    (lanes, 0.3),
    (switching, 0.5),
    (paths, 0.4),
    (changes, 0.1),
    (nodes, 0.3),
    (faults, 0.2),
    (watchdogs, 0.15),
    (adapters, 0.4),
    (send_queues, 0.25),
    (schemes, 0.6),
    (packets, 0.4),
    (ends, 0.4),
    (observing, 0.8),
    (trains, 0.1),
)
"""Features, each with the share of scenes that have it."""


def drawn(draw: random.Random, topology: str, control: str, traffic: str) -> Tables:
    """Return a scenario with these parts, which may contradict each other."""
    rate, duration = draw.choice(SPEEDS)
    shape = draw.choice(TOPOLOGIES[topology]) | {
        "rate": rate,
        "delay": draw.choice(["0 s", "10 ns", "0.4 us"]),
    }
    switch = draw.choice(FLOW_CONTROL[control])
    if topology in CYCLIC:
        switch = switch | {"vls": 2}
    data: Tables = {
        "run": {"duration": duration, "seed": draw.randrange(100), "replications": draw.choice([1, 1, 2])},
        "topology": {topology: shape},
        "switch": dict(switch),
        "observe": {"step": draw.choice(["1 us", "2 us"]), "window": draw.choice(["2 us", "0.01 ms"])},
    }
    data |= load_of(draw, traffic, hosts(data["topology"]))
    for feature, share in FEATURES:
        if draw.random() < share:
            feature(draw, data)
    cbfc(data)
    later(data)
    if traffic == "long messages":
        steady(draw, data)
    return data


def valid(draw: random.Random, topology: str, control: str, traffic: str) -> becalm.Scenario:
    """Return the first valid scenario with these parts."""
    for _ in range(400):
        try:
            return becalm.Scenario(drawn(draw, topology, control, traffic), name="drawn.toml")
        except becalm.ScenarioError as error:
            last = error
    raise AssertionError(f"no valid scenario of {topology}, {control}, {traffic}: {last}")


def parts() -> list[tuple[str, str, str]]:
    """Return all combinations of topology, flow control and kind of traffic."""
    return [(a, b, c) for a in TOPOLOGIES for b in FLOW_CONTROL for c in TRAFFIC]


def scenes(count: int, seed: int = 1) -> list[becalm.Scenario]:
    """Return `count` valid scenarios that cycle through topologies, flow control and kinds of traffic."""
    draw = random.Random(seed)
    combined = parts()
    return [valid(draw, *combined[number % len(combined)]) for number in range(count)]
