"""SONiC switches and their cables as a scenario that runs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from os import PathLike
from typing import NamedTuple

from becalm.base.errors import BecalmError
from becalm.base.findings import listed
from becalm.base.quantities import rate_in_words
from becalm.opensm import fabric as nodes
from becalm.opensm import traffic
from becalm.opensm.importing import cycle
from becalm.opensm.names import legal, natural, quoted
from becalm.sonic.classes import served
from becalm.sonic.fabric import Cable, Fabric, load
from becalm.sonic.headroom import LIGHT
from becalm.sonic.marks import default_exponent
from becalm.sonic.protection import keys
from becalm.sonic.switch import NULL, Switch

SPEED, METRES = 100_000, 5.0
"""Rate in Mb/s and length of a cable, where the files have none."""

_REST = """\
# The files do not contain the settings below. Replace these initial values with your own.

[packet]
mtu = "4096 B"
header = "78 B" # RoCEv2, with preamble and inter-packet gap
ack = "84 B"
cnp = "84 B"

[echo.rocev2]

[response.dcqcn]
preset = "connectx"
"""

_RUN = """
[run]
duration = "20 ms" # DCQCN takes milliseconds to settle
warmup = "10 ms"
"""


class Settings(NamedTuple):
    """The settings of a switch's lossless class that a scenario has."""

    kmin: float | None
    kmax: float | None
    pmax: float | None
    """A share."""
    exponent: float | None
    """Power of two of alpha; None with a static threshold."""
    static: float | None
    shared: float | None
    """Bytes of the pool."""
    resume: float | None
    """Bytes from XOFF down to XON."""


@dataclass(frozen=True)
class Imported:
    """SONiC switches as a scenario."""

    fabric: Fabric
    text: str
    """The scenario as TOML, with comments."""
    notes: list[str]
    background: traffic.Background


def import_fabric(paths: Iterable[str | PathLike[str]]) -> Imported:
    """Make a scenario of SONiC switches: cables from neighbours, thresholds, and initial values for the rest.

    Raises:
        FileNotFoundError: no such file or folder.
        ScenarioError: with all mistakes in a file at once.
        BecalmError: fewer than two hosts.

    """
    read = load(paths)
    if len(read.hosts) < 2:
        files = listed(each.file for each in read.switches.values())
        raise BecalmError(
            f"{files}: need at least 2 hosts with a cable to a switch, but have {len(read.hosts)}; valid: "
            "neighbours in DEVICE_NEIGHBOR, or the output of `show lldp table` beside each config_db.json"
        )
    notes = list(read.notes)
    body = "\n".join([*_topology(read, notes), "", *_switch(read, notes), "", _REST])
    found = cycle(f"{body}\n[run]\nduration = '1 us'\n[[flows]]\nname = 'all'\nfrom = ['*']\nto = ['*']\n")
    if found is not None:
        notes.append(f"{found}; allow_cycles = true lets the scenario run anyway")
        body = body.replace("[topology.edges]\n", "[topology.edges]\nallow_cycles = true\n", 1)
    hosts = _hosts(read)
    notes += traffic.note(hosts)
    background = traffic.background(traffic.loaded(body, hosts))
    counts = f"{len(read.hosts)} hosts, {len(read.switches)} switches, {len(read.cables)} cables"
    head = [f"# Fabric of SONiC switches: {counts}.", *(f"# Note: {each}." for each in notes), ""]
    text = "\n".join([*head, body, traffic.text(hosts, background)]) + _RUN
    return Imported(read, text, notes, background)


def _hosts(read: Fabric) -> nodes.Fabric:
    """Return the hosts for the initial traffic. Adapters of one machine differ in their ports."""
    hosts = []
    for cable in read.cables:
        if cable.to_host:
            end = nodes.End(f"H-{cable.far.node}", 1)
            machine = cable.far.node.removesuffix(f"-{legal(cable.far.port)}")
            words = machine if machine == cable.far.node else f"{machine} {cable.far.port}"
            near = nodes.End(cable.near.node, 1)
            hosts.append(nodes.Host(cable.far.node, end, near, 0, 0, 0, words))
    hosts.sort(key=lambda host: natural(host.name))
    return nodes.Fabric("", [], hosts, [], frozenset(), [])


def _speed(read: Fabric, cable: Cable) -> int:
    """Return the rate of a cable, the lower one of its ends."""
    ends = [cable.near] if cable.to_host else [cable.near, cable.far]
    speeds = [read.switches[end.node].ports[end.port].speed for end in ends]
    return min((speed for speed in speeds if speed is not None), default=SPEED)


def _delay(read: Fabric, cable: Cable) -> str:
    metres = read.switches[cable.near.node].ports[cable.near.port].metres
    return f"{(METRES if metres is None else metres) / LIGHT * 1e9:.4g} ns"


def _topology(read: Fabric, notes: list[str]) -> Iterator[str]:
    (speed, _), *_ = Counter(_speed(read, cable) for cable in read.cables).most_common(1)
    (delay, _), *_ = Counter(_delay(read, cable) for cable in read.cables).most_common(1)
    unknown = [
        f"{name} {port.name}"
        for name, each in read.switches.items()
        for port in each.ports.values()
        if port.line is None
    ]
    if unknown:
        assumed = f"{SPEED // 1000} Gb/s and {METRES:g} m are assumed"
        notes.append(f"no speed or no cable length of {listed(unknown)}: {assumed}")
    yield "[topology.edges]"
    yield f"hosts = [{quoted(sorted(read.hosts, key=natural))}]"
    yield f"switches = [{quoted(sorted(map(legal, read.switches), key=natural))}]"
    yield f'rate = "{rate_in_words(speed * 1e6)}"'
    yield f'delay = "{delay}"'
    yield "cables = ["
    for cable in read.cables:
        own = _speed(read, cable)
        rate = f', rate = "{rate_in_words(own * 1e6)}"' if own != speed else ""
        late = f', delay = "{_delay(read, cable)}"' if _delay(read, cable) != delay else ""
        between = f'"{legal(cable.near.node)}", "{legal(cable.far.node)}"'
        yield f"    {{ between = [{between}]{rate}{late} }}, # {cable.near.port} to {cable.far.port}"
    yield "]"


def settings(switch: Switch) -> Settings | None:
    """Return the settings of a switch's first lossless class; None if it has none."""
    for name in served(switch):
        priority = min(switch.ports[name].pfc)
        profile = switch.profile(switch.group_of(name, priority))
        marks = switch.wred(switch.queue_of(name, priority))
        size, exponent, static, offset = (
            switch.number(table, key, field)
            for table, key, field in (
                ("BUFFER_POOL", switch.pool(profile), "size"),
                ("BUFFER_PROFILE", profile, "dynamic_th"),
                ("BUFFER_PROFILE", profile, "static_th"),
                ("BUFFER_PROFILE", profile, "xon_offset"),
            )
        )
        low, high, share = (
            switch.number("WRED_PROFILE", marks, f"green_{field}")
            for field in ("min_threshold", "max_threshold", "drop_probability")
        )
        if exponent is None and profile == NULL:
            exponent = default_exponent(switch)
        if static is not None:
            exponent = None
        return Settings(
            low, high, None if share is None else share / 100, exponent, static, size, offset or None
        )
    return None


def _switch(read: Fabric, notes: list[str]) -> Iterator[str]:
    own = {name: settings(each) for name, each in read.switches.items()}
    known = Counter(each for each in own.values() if each is not None)
    if not known:
        notes.append("no switch has a lossless class with PFC: the scenario has SONiC's defaults")
        known[Settings(1_048_576, 2_097_152, 0.05, 0, None, None, None)] = 1
    ((usual, _),) = known.most_common(1)
    other = [name for name, each in own.items() if each is not None and each != usual]
    if other:
        notes.append(f"{listed(other)}: other thresholds than most switches, which the scenario has for all")
    yield "[switch]"
    yield 'forwarding_delay = "300 ns" # an initial value'
    yield "arbiter.round_robin = {}"
    if usual.static is not None:
        yield f'buffer = "{usual.static:.0f} B" # static_th, which is XOFF'
    if _several(read):
        yield ""
        yield "[switch.paths.flow] # ECMP"
    yield ""
    protection = list(keys(read.switches, notes))
    if usual.static is not None or protection:
        yield "[switch.flow_control.pfc]"
        yield from protection
        yield ""
    if usual.static is None:
        yield from _dynamic(usual, notes)
    yield ""
    yield from _marks(usual, notes)


def _several(read: Fabric) -> bool:
    """Whether a switch has several ports on shortest paths to a host."""
    near = {name: [cable.far.node for cable in cables] for name, cables in read.toward().items()}
    for target in {cable.near.node for cable in read.cables if cable.to_host}:
        far = {target: 0}
        waiting = [target]
        for node in waiting:
            closer = [each for each in near[node] if far.get(each, math.inf) == far[node] - 1]
            if len(closer) > 1:
                return True
            for each in near[node]:
                if each in read.switches and each not in far:
                    far[each] = far[node] + 1
                    waiting.append(each)
    return False


def _dynamic(usual: Settings, notes: list[str]) -> Iterator[str]:
    yield "[switch.flow_control.pfc.thresholds.dynamic]"
    if usual.exponent is None:
        notes.append("no dynamic_th of the lossless profile: alpha is 1")
    yield f"alpha = {2.0 ** (usual.exponent or 0):g} # 2^dynamic_th"
    if usual.shared is None:
        notes.append("no size of the lossless pool, which the switch computes: set `shared`")
    else:
        yield f'shared = "{usual.shared:.0f} B"'
    if usual.resume is not None:
        yield f'resume_offset = "{usual.resume:.0f} B" # xon_offset'


def _marks(usual: Settings, notes: list[str]) -> Iterator[str]:
    if usual.kmin is None or usual.kmax is None:
        notes.append("no WRED profile of the lossless class: nothing is marked")
        yield "[marking.none]"
        return
    yield "[marking.ramp] # kB of 1000 B"
    yield f"kmin = {usual.kmin / 1000:.12g}"
    yield f"kmax = {usual.kmax / 1000:.12g}"
    yield f"pmax = {1.0 if usual.pmax is None else usual.pmax:.12g}"
