"""A complete chain with real programs: a fabric goes through ibsim, OpenSM and ibnetdiscover, and back.

Requires the Debian packages opensm, ibsim-utils, infiniband-diags and libumad2sim0; skipped without them.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import becalm
from becalm import manager
from becalm.opensm import counters, ibnetdiscover, lfts
from becalm.opensm.configuration import Configuration, Place, load
from becalm.opensm.fabric import End, Fabric
from becalm.opensm.importing import import_fabric
from becalm.opensm.options import configuration, rollback
from becalm.opensm.ports import script
from becalm.opensm.values import Entry
from fabrics import DATA
from ibsim import Responder, Simulator, missing, netfile
from opensm_faults import FAULTS, GOOD
from wire import ADAPTER_SETTING, BLOCK, SWITCH_SETTING, decoded

pytestmark = pytest.mark.skipif(bool(missing()), reason=f"not installed: {', '.join(missing())}")

Ends = tuple[str, int, str, int]
"""A cable: node, port, node, port; ports start at 1."""

FABRICS = {
    18: {"tree": {"ports": 6, "levels": 2}},
    324: {"clos": {"leaves": 18, "spines": 18, "hosts_per_leaf": 18}},
    432: {"tree": {"ports": 12, "levels": 3}},
}
"""Topologies by number of hosts."""

Tell = Callable[[str], None]


@pytest.fixture
def tell(capsys: pytest.CaptureFixture[str]) -> Tell:
    """Print a line even if the test passes."""

    def say(line: str) -> None:
        with capsys.disabled():
            print(f"\n{line}", end="")

    return say


def generated(hosts: int) -> list[Ends]:
    """Return each cable of a becalm topology once."""
    flows = [{"name": "a", "from": ["H1"], "to": ["H0"], "traffic": {"batch": {"count": 1}}}]
    scenario = becalm.Scenario({"run": {"duration": "1 ns"}, "topology": FABRICS[hosts], "flows": flows})
    links = becalm.run(scenario).links
    ends: dict[tuple[str, str], list[int]] = {}
    for row in links.iter_rows(named=True):
        ends.setdefault((row["from"], row["to"]), []).append(row["from_port"] + 1)
    return [
        (one, port, other, far)
        for (one, other), ports in ends.items()
        if one < other
        for port, far in zip(ports, ends[other, one], strict=True)
    ]


def guids(cables: list[Ends]) -> dict[str, int]:
    names = sorted({name for cable in cables for name in cable[0::2]})
    return {str(name): 0x2C90000000000 + 0x100 * place for place, name in enumerate(names, 1)}


def simulator(cables: list[Ends], folder: Path, commands: list[str] | None = None) -> Simulator:
    net = folder / "fabric.net"
    net.write_text(netfile(cables, guids(cables)))
    return Simulator(net, folder, commands)


@pytest.mark.parametrize("hosts", FABRICS)
def test_a_fabric_comes_back_as_it_was_made(hosts: int, tmp_path: Path, tell: Tell) -> None:
    cables = generated(hosts)
    with simulator(cables, tmp_path) as sim:
        sim.client("opensm", "-o", "-D", "0x43", "-f", str(tmp_path / "osm.log"), limit=240)
        (tmp_path / "fabric.txt").write_text(sim.client("ibnetdiscover", limit=120))
    imported = import_fabric(tmp_path / "fabric.txt", tmp_path / "opensm-lfts.dump")
    fabric = imported.fabric
    assert len(fabric.hosts) == hosts
    assert sorted(between(fabric)) == sorted(map(sides, cables))
    routes = lfts.read(tmp_path / "opensm-lfts.dump", fabric)
    pairs = walked(fabric, routes)
    assert pairs == hosts * (hosts - 1)
    assert walked(fabric, tables_of((tmp_path / "opensm-lfts.dump").read_text(), fabric)) == pairs
    becalm.Scenario(imported.text)
    tell(f"{hosts} hosts: {len(cables)} cables came back, {pairs} pairs walked")


def sides(cable: Ends) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(((cable[0], cable[1]), (cable[2], cable[3]))))


def between(fabric: Fabric) -> list[tuple[tuple[str, int], ...]]:
    return [tuple(sorted((fabric.name(end), end.port) for end in cable.ends)) for cable in fabric.cables]


def tables_of(dump: str, fabric: Fabric) -> lfts.Routes:
    """Return the tables in a dump, read without becalm's code."""
    switches = {f"{switch.guid:016x}": switch.name for switch in fabric.switches}
    by_lid = {host.lid: host.name for host in fabric.hosts}
    routes: dict[tuple[str, int], list[str]] = {}
    switch = ""
    for line in dump.splitlines():
        if head := re.match(r"Unicast lids .* guid 0x(\w{16})", line):
            switch = switches[head[1]]
        elif (entry := re.match(r"0x(\w{4}) (\d{3})", line)) and int(entry[1], 16) in by_lid:
            routes.setdefault((switch, int(entry[2])), []).append(by_lid[int(entry[1], 16)])
    return routes


def walked(fabric: Fabric, routes: lfts.Routes) -> int:
    """Follow the tables from each host to each other host; return the number of pairs that arrive."""
    out = {(name, host): port for (name, port), to in routes.items() for host in to}
    by_id = {switch.id: switch for switch in fabric.switches}
    pairs = 0
    for source in fabric.hosts:
        for target in fabric.hosts:
            if source is target:
                continue
            switch, steps = by_id[source.attached.node], 0
            while (end := switch.ports[out[switch.name, target.name]]) != target.end:
                switch, steps = by_id[end.node], steps + 1
                assert steps < len(by_id), f"{source.name} to {target.name}: in a circle"
            pairs += 1
    return pairs


def as_loaded(text: str, folder: Path) -> Configuration:
    """Return the configuration that the real OpenSM writes after reading a file."""
    given, written = folder / "given.conf", folder / "written.conf"
    given.write_text(text)
    subprocess.run(
        ["opensm", "-F", str(given), "-c", str(written)],
        check=True,
        capture_output=True,
        timeout=30,
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
    )
    return load(written)


def compared(text: str, folder: Path) -> int:
    """Compare a configuration as read by becalm and by OpenSM; return the number of values."""
    theirs = as_loaded(text, folder)
    ours = load(folder / "given.conf")
    places = {place for place in theirs.settings if place.key.startswith(("cc_", "congestion"))}
    places |= {place for place in ours.settings if place.level is None}
    places |= {Place(place.key, level) for place in places if place.level is not None for level in range(2)}
    for place in places:
        assert ours.value(*place) == theirs.value(*place), place
    return len(places)


def managed() -> list[str]:
    """Return configurations written by becalm for all guidelines, several fabrics and degrees."""
    fabric = DATA / "ft2_18" / "ibnetdiscover.txt"
    imported = becalm.Scenario(import_fabric(fabric).text)
    texts = []
    for guideline in manager.GUIDELINES:
        for changes in ({}, {"adapter.drain_rate": "20 Gb/s"}, {"adapter.port_control": "sl"}):
            for degree in (2, 6):
                recommendation = manager.recommend(imported, hot_spot_degree=degree, guideline=guideline)
                scenario = recommendation.apply(imported).replace(changes)
                texts += [configuration(scenario, recommendation, fabric), rollback(scenario, fabric)]
    return texts


def test_opensm_reads_what_becalm_reads(tmp_path: Path, tell: Tell) -> None:
    faulty = [GOOD.replace(there, planted, 1) for there, planted, _ in FAULTS.values()]
    written = managed()
    counts = [compared(text, tmp_path) for text in (GOOD, *written, *faulty)]
    tell(f"{sum(counts)} options compared, of {len(counts)} configurations, {len(faulty)} of them faulty")
    assert sum(counts) > 1000


WIRE = {
    "good": GOOD,
    "a threshold of 16": GOOD.replace("threshold 0x0F", "threshold 16"),
    "a multiplier that wraps": GOOD.replace("0:0,3:1", "1:20000,3:1", 1).replace("2:77", "1:16400"),
    "a table of one entry": re.sub("cc_cct .*", "cc_cct 0:3", GOOD),
    "65 entries": re.sub("cc_cct .*", "cc_cct " + ",".join(f"0:{n}" for n in range(65)), GOOD),
    "a key": GOOD.replace("cc_key 0x0000000000000000", "cc_key 0x1234"),
}


@pytest.mark.parametrize("case", WIRE)
def test_devices_get_what_becalm_says(case: str, tmp_path: Path, tell: Tell) -> None:
    conf = tmp_path / "opensm.conf"
    conf.write_text(WIRE[case])
    found = load(conf)
    cables = generated(18)
    with simulator(cables, tmp_path) as sim, Responder(sim) as responder:
        command = ("opensm", "-o", "-F", str(conf), "-f", str(tmp_path / "osm.log"))
        sim.client(*command, name=responder.name)
    packets = [decoded(mad) for mad in responder.mads]
    tables = max(1, -(-len(found.value("cc_cct")) // BLOCK))
    kinds = Counter(packet["attribute"] for packet in packets)
    assert kinds == {SWITCH_SETTING: 9, ADAPTER_SETTING: 18, 0x17: 18 * tables}
    values = sum(matched(packet, found) for packet in packets)
    tell(f"{case}: {len(packets)} packets decoded, {values} values compared")


def matched(packet: dict[str, object], found: Configuration) -> int:
    """Compare a packet with a configuration; return the number of values."""
    assert packet["cc_key"] == found.value("cc_key")
    if packet["attribute"] == SWITCH_SETTING:
        fields = ("control_map", "victim_mask", "credit_mask", "packet_size", "marking_rate")
        for name in fields:
            assert packet[name] == found.value(f"cc_sw_cong_setting_{name}"), name
        for name in ("threshold", "credit_starvation_threshold"):
            assert packet[name] == found.value(f"cc_sw_cong_setting_{name}") & 15, name
        delay: Entry = found.value("cc_sw_cong_setting_credit_starvation_return_delay")
        assert packet["credit_starvation_return_delay"] == delay.sent
        return len(fields) + 3
    if packet["attribute"] == ADAPTER_SETTING:
        names = ("ccti_timer", "ccti_increase", "trigger_threshold", "ccti_min")
        columns = [found.levels(f"cc_ca_cong_setting_{name}") for name in names]
        assert packet["levels"] == list(zip(*columns, strict=True))
        for name in ("port_control", "control_map"):
            assert packet[name] == found.value(f"cc_ca_cong_setting_{name}")
        return 2 + 16 * len(names)
    table: list[Entry] = found.value("cc_cct")
    sent = [entry.sent for entry in table] if len(table) > 1 else []
    first = BLOCK * int(str(packet["modifier"]))
    own = sent[first : first + BLOCK]
    assert packet["limit"] == max(0, len(table) - 1)
    assert packet["entries"] == own + [(0, 0)] * (BLOCK - len(own))
    return 1 + BLOCK


def test_ports_get_what_the_script_says(tmp_path: Path, tell: Tell) -> None:
    """Each port between switches, and no other, gets its settings; `undo` makes them invalid."""
    cables = generated(18)
    with simulator(cables, tmp_path) as sim, sim.subnet_manager():
        (tmp_path / "fabric.txt").write_text(sim.client("ibnetdiscover"))
        made = becalm.Scenario(import_fabric(tmp_path / "fabric.txt").text).with_guideline("becalm2")
        (tmp_path / "cc.conf.ports").write_text(script(made, tmp_path / "fabric.txt"))
        packets = sent(sim, commands_of(tmp_path))
        undone = sent(sim, commands_of(tmp_path, "undo")[:3])
        fabric = ibnetdiscover.read(tmp_path / "fabric.txt")
    (own,) = made.resolved["marking"]["ibta"]["overrides"]
    values = {key: own[key] for key in ("threshold", "marking_rate")}
    expected = {
        (switch.lid, port): {"control_type": 0, "packet_size": 0, **values}
        for switch in fabric.switches
        for port, peer in switch.ports.items()
        if not peer.is_host
    }
    found = {(lid, port): given for lid, ports in packets for port, given in ports.items()}
    assert found == expected
    assert len(packets) == len(expected)
    assert [ports for _, ports in undone] == [{}] * 3
    tell(f"{len(found)} ports between switches got threshold and marking rate")


def commands_of(folder: Path, *arguments: str) -> list[list[str]]:
    """Run the script with a program that records how it is called."""
    recorder, record = folder / "bin" / "ibccconfig", folder / "record"
    recorder.parent.mkdir(exist_ok=True)
    recorder.write_text(f'#!/bin/sh\necho ibccconfig "$@" >> {record}\n')
    recorder.chmod(0o755)
    record.write_text("")
    path = f"{recorder.parent}:/usr/bin:/bin"
    subprocess.run(["sh", "cc.conf.ports", *arguments], check=True, cwd=folder, env={"PATH": path})
    return [line.split() for line in record.read_text().splitlines()]


def sent(sim: Simulator, commands: list[list[str]]) -> list[tuple[int, dict[int, dict[str, int]]]]:
    """Run commands with the real program; return LID and valid ports of each packet that sets ports."""
    packets = []
    for command in commands:
        with Responder(sim) as responder:
            sim.client(*command, name=responder.name)
        packets += [
            (lid, decoded(mad)["ports"])
            for lid, mad in zip(responder.to, responder.mads, strict=True)
            if mad[3] == SET
        ]
    return packets


SET = 2
"""The method of a packet that changes a setting."""


def test_counters_come_back_as_they_were_set(tmp_path: Path, tell: Tell) -> None:
    cables = generated(18)
    switch = next(one if one.startswith("L") else other for one, _, other, _ in cables)
    guid = guids(cables)[switch]
    waits = {port: 1000 + port for port in range(1, 4)}
    words = {port: 8_000_000_000 * port for port in waits}
    commands = [
        f'PerformanceSet "S-{guid:016x}"[{port}] PortCounters.PortXmitWait={waits[port]}' for port in waits
    ]
    commands += [
        f'PerformanceSet "S-{guid:016x}"[{port}] PortCountersExtended.PortXmitData={words[port]}'
        for port in waits
    ]
    with simulator(cables, tmp_path, commands) as sim, sim.subnet_manager():
        (tmp_path / "fabric.txt").write_text(sim.client("ibnetdiscover"))
        fabric = ibnetdiscover.read(tmp_path / "fabric.txt")
        (lid,) = (each.lid for each in fabric.switches if each.guid == guid)
        queries = [
            sim.client("perfquery", *kind, str(lid), str(port)) for port in waits for kind in ((), ("-x",))
        ]
        (tmp_path / "perfquery.txt").write_text("".join(queries))
        errors = sim.client("ibqueryerrors", "--data", codes=(0, 1)) + sim.client(
            "ibqueryerrors", "--counters"
        )
        (tmp_path / "ibqueryerrors.txt").write_text(errors)
    for name in ("perfquery.txt", "ibqueryerrors.txt"):
        found = counters.read(tmp_path / name, fabric)
        for port in waits:
            own = found[End(f"S-{guid:016x}", port)]
            assert own.waited == waits[port]
            assert own.sent is not None
            # Subnet management packets also use these ports.
            assert 0 <= own.sent - counters.WORD * words[port] < 10**6
    tell(f"counters of {len(found)} ports came back")
