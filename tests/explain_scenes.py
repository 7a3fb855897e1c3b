"""Small scenes with planted causes, each in several variations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from becalm.scenario import Scenario

Data = dict[str, Any]

IBTA: Data = {
    "marking": {"ibta": {"threshold": 15, "marking_rate": 1, "packet_size": 8}},
    "echo": {"ibta": {}},
    "response": {
        "ibta": {
            "ccti_increase": 1,
            "ccti_timer": 150,
            "cct": {"quadratic": {"entries": 128, "numerator": 7.0, "divisor": 106.0}},
        }
    },
}
"""Parameters of gran2010."""
NONE: Data = {"marking": {"none": {}}, "response": {"none": {}}}


class Scene(NamedTuple):
    """A scenario and its only causes, each with words from its sentence.

    A cause without words belongs to a link on the path to the hot host.
    """

    name: str
    scenario: Scenario
    causes: set[tuple[str, str]]


class Fabric(NamedTuple):
    """A variation: a topology, a hot host, its senders, and another pair of hosts."""

    name: str
    topology: Data
    hot: str
    link: str
    senders: list[str]
    victim: tuple[str, str]
    seed: int


def clos(rate: str, hot: int, seed: int) -> Fabric:
    """Four leaves of four hosts; the victim shares the senders' path up to a spine, but not down."""
    own = hot // 4
    first, second, third = (leaf for leaf in range(4) if leaf != own)
    senders = [f"H{4 * leaf + place}" for place in range(3) for leaf in (first, third, second)][:8]
    victim = f"H{4 * first + 3}", f"H{4 * second + hot % 4}"
    topology = {"clos": {"leaves": 4, "spines": 4, "hosts_per_leaf": 4, "rate": rate, "delay": "20 ns"}}
    return Fabric(
        f"clos-{rate}-H{hot}-{seed}", topology, f"H{hot}", f"leaf{own}->H{hot}", senders, victim, seed
    )


def tree(rate: str, seed: int) -> Fabric:
    """A fat tree of 32 hosts with a hot host in the middle."""
    senders = [f"H{host}" for host in (0, 1, 4, 8, 9, 20, 24, 28)]
    topology = {"tree": {"ports": 8, "levels": 2, "rate": rate, "delay": "40 ns"}}
    return Fabric(f"tree-{rate}-{seed}", topology, "H13", "L1S3->H13", senders, ("H2", "H17"), seed)


FABRICS = [
    clos("1 GB/s", 0, 1),
    clos("32 Gb/s", 6, 2),
    clos("100 Gb/s", 11, 3),
    tree("25 Gb/s", 4),
    tree("4 GB/s", 5),
]


def group(name: str, sources: list[str], to: list[str], **more: Any) -> Data:  # noqa: ANN401
    return {"name": name, "from": sources, "to": to, **more}


def load(share: float) -> Data:
    return {"traffic": {"poisson": {"load": share}}}


def made(name: str, fabric: Fabric, flows: list[Data], changes: Data, duration: str = "4 ms") -> Scenario:
    data: Data = {
        "run": {"duration": duration, "warmup": "500 us", "seed": fabric.seed},
        "topology": fabric.topology,
        "switch": {"buffer": "16 KiB", "arbiter": {"round_robin": {}}},
        "observe": {"step": "50 us", "window": "50 us"},
        "flows": flows,
        **NONE,
        **changes,
    }
    return Scenario(data, name=f"{name}-{fabric.name}.toml".replace("/", "p").replace(" ", ""))


def hot_spot(fabric: Fabric, senders: int = 8) -> list[Data]:
    victim = group("victim", [fabric.victim[0]], [fabric.victim[1]], **load(0.5))
    return [group("hot", fabric.senders[:senders], [fabric.hot]), victim]


def ibta(**response: Any) -> Data:  # noqa: ANN401
    return {**IBTA, "response": {"ibta": {**IBTA["response"]["ibta"], **response}}}


def hot_host(fabric: Fabric) -> Scene:
    scenario = made("hot-host", fabric, hot_spot(fabric), {})
    return Scene("hot host", scenario, {("hot host", f"hot host, {fabric.hot}:")})


def slow_receiver(fabric: Fabric) -> Scene:
    """One sender at 80% of its link's rate, to a host that receives at 40%."""
    drain = {"caps": [{"hosts": [fabric.hot], "drain_rate": part_of(fabric, 0.4)}]}
    flows = [group("work", [fabric.senders[0]], [fabric.hot], **load(0.8))]
    scenario = made("slow-receiver", fabric, flows, {"adapter": drain})
    return Scene("slow receiver", scenario, {("slow receiver", fabric.link)})


def threshold_off(fabric: Fabric) -> Scene:
    """Packets of 2 KiB, where only packets of at least 4 KiB may be marked."""
    off = {**IBTA, "marking": {"ibta": {"threshold": 15, "marking_rate": 1, "packet_size": 64}}}
    scenario = made("threshold-off", fabric, hot_spot(fabric), off)
    return Scene("threshold off", scenario, {("hot host", f"hot host, {fabric.hot}:"), ("threshold off", "")})


def step_too_large(fabric: Fabric) -> Scene:
    scenario = made("step", fabric, hot_spot(fabric, 4), ibta(ccti_increase=120), "12 ms")
    return Scene(
        "step too large", scenario, {("hot host", f"hot host, {fabric.hot}:"), ("step too large", "")}
    )


def timer_too_long(fabric: Fabric) -> Scene:
    """Half of the senders stop early; the others recover only as fast as the timer allows."""
    flows = [
        group("burst", fabric.senders[2:4], [fabric.hot], stop="3 ms"),
        group("rest", fabric.senders[:2], [fabric.hot]),
    ]
    scenario = made("timer", fabric, flows, ibta(ccti_timer=8000), "12 ms")
    return Scene(
        "timer too long", scenario, {("hot host", f"hot host, {fabric.hot}:"), ("timer too long", "")}
    )


def nothing(fabric: Fabric) -> Scene:
    flows = [group("all", ["*"], ["*"], **load(0.6))]
    return Scene("nothing wrong", made("nothing", fabric, flows, {}), set())


def nothing_beside_control(fabric: Fabric) -> Scene:
    """A permutation without conflicts at host links, with control on."""
    flows = [{"name": "pairs", "from": ["*"], "pattern": {"permutation": {}}, **load(0.3)}]
    return Scene("nothing wrong", made("pairs", fabric, flows, IBTA), set())


def part_of(fabric: Fabric, part: float) -> str:
    ((_, keys),) = fabric.topology.items()
    amount, unit = keys["rate"].split()
    return f"{float(amount) * part:g} {unit}"


RACKS = [(4, "10 GB/s", 1), (3, "25 Gb/s", 2), (5, "1 GB/s", 3)]
"""Variations of scenes with two racks: uplinks, rate, seed."""


def racks(uplinks: int, rate: str, slow: str | None = None, routes: list[Data] | None = None) -> Data:
    """Two leaves of six hosts, joined by `uplinks` spines; `slow` is the rate of the cable from A to S0."""
    cables: list[Data] = [{"between": ["H0..H5", "A"]}, {"between": ["H6..H11", "B"]}]
    for spine in range(uplinks):
        cable: Data = {"between": ["A", f"S{spine}"]}
        cables += [{**cable, "rate": slow} if slow and spine == 0 else cable, {"between": [f"S{spine}", "B"]}]
    edges: Data = {
        "hosts": ["H0..H11"],
        "switches": ["A", "B", f"S0..S{uplinks - 1}"],
        "rate": rate,
        "delay": "20 ns",
        "cables": cables,
        "routes": routes if routes is not None else balanced(uplinks),
    }
    return {"edges": edges}


def balanced(uplinks: int, favoured: int = 0) -> list[Data]:
    """Routes to the other leaf's hosts: `favoured` hosts by spine 0, the others spread over all spines."""
    routes = []
    for leaf, hosts in (("A", range(6, 12)), ("B", range(6))):
        for place, host in enumerate(hosts):
            spine = 0 if place < favoured and leaf == "A" else place % uplinks
            routes.append({"switch": leaf, "via": f"S{spine}", "to": [f"H{host}"]})
    return routes


def two_racks(uplinks: int, rate: str, seed: int, **more: Any) -> Fabric:  # noqa: ANN401
    return Fabric(
        f"{uplinks}x{rate}-{seed}", racks(uplinks, rate, **more), "H6", "A->S0", ["H0"], ("H5", "H11"), seed
    )


def slow_cable(uplinks: int, rate: str, seed: int) -> Scene:
    """Each host sends at 60% of its rate to a host in the other rack; one cable has a quarter of the rate."""
    amount, unit = rate.split()
    fabric = two_racks(uplinks, rate, seed, slow=f"{float(amount) / 4:g} {unit}")
    pairs = [group(f"pair{place}", [f"H{place}"], [f"H{place + 6}"], **load(0.6)) for place in range(uplinks)]
    return Scene("slow cable", made("slow-cable", fabric, pairs, {}), {("slow cable", "A->S0")})


def unbalanced_routes(uplinks: int, rate: str, seed: int) -> Scene:
    """Most routes to the other rack use the same spine."""
    fabric = two_racks(uplinks, rate, seed, routes=balanced(uplinks, favoured=5))
    connections = [{"from": f"H{place}", "to": f"H{place + 6}"} for place in range(uplinks)]
    flows = [{"name": "shift", "connections": connections, **load(0.7)}]
    return Scene("unbalanced routes", made("routes", fabric, flows, {}), {("unbalanced routes", "A->S0")})


def colliding_jobs(uplinks: int, rate: str, seed: int) -> Scene:
    """Two jobs between the racks share a cable with capacity for only one of them."""
    fabric = two_racks(uplinks, rate, seed)
    first = group("weather", ["H0"], ["H6"], **load(0.8))
    second = group("genomes", ["H1"], [f"H{6 + uplinks}"], **load(0.8))
    return Scene("colliding jobs", made("jobs", fabric, [first, second], {}), {("colliding jobs", "A->S0")})


def credit_loop(uplinks: int, rate: str, seed: int) -> Scene:
    """A ring of switches with all paths in one direction, at a load too light for a deadlock."""
    switches = uplinks
    ring: Data = {
        "hosts": [f"H0..H{switches - 1}"],
        "switches": [f"S0..S{switches - 1}"],
        "rate": rate,
        "allow_cycles": True,
        "cables": [{"between": [f"H{each}", f"S{each}"]} for each in range(switches)]
        + [{"between": [f"S{each}", f"S{(each + 1) % switches}"]} for each in range(switches)],
        "routes": [
            {"switch": f"S{each}", "via": f"S{(each + 1) % switches}", "to": [f"H{host}"]}
            for each in range(switches)
            for host in range(switches)
            if host != each
        ],
    }
    fabric = Fabric(
        f"ring{switches}-{rate}-{seed}", {"edges": ring}, "H0", "S0->H0", ["H1"], ("H1", "H2"), seed
    )
    flows = [{"name": "ring", "from": ["*"], "pattern": {"shift": {"by": switches - 1}}, **load(0.1)}]
    return Scene("credit loop", made("loop", fabric, flows, {}), {("credit loop", "")})


def scenes() -> Iterator[Scene]:
    """Return all scenes in all variations."""
    for fabric in FABRICS:
        for make in (
            hot_host,
            slow_receiver,
            threshold_off,
            step_too_large,
            timer_too_long,
            nothing,
            nothing_beside_control,
        ):
            yield make(fabric)
    for variation in RACKS:
        for build in (slow_cable, unbalanced_routes, colliding_jobs, credit_loop):
            yield build(*variation)
