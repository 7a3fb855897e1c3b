"""Counters of a real fabric are read, assigned to ports, and converted to roots and loads."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import becalm
from becalm.cli import app
from becalm.opensm import counters, ibnetdiscover
from becalm.opensm.fabric import End, Fabric
from becalm.opensm.importing import import_fabric, numbered, places
from becalm.whatif import measured
from fabrics import DATA

FABRIC = DATA / "ft2_18" / "ibnetdiscover.txt"
TABLES = DATA / "ft2_18" / "opensm-lfts.dump"
REAL = DATA / "counters"
"""Output of the tools for this fabric in ibsim, with some counters set."""
TICK = 1e-9
"""Unit of PortXmitWait in these dumps in s."""


@pytest.fixture(scope="module")
def fabric() -> Fabric:
    return ibnetdiscover.read(FABRIC)


def simulated(fabric: Fabric, folder: Path, **changes: object) -> tuple[Path, float]:
    """Run the imported scenario and write counters in perfquery's format; return the file and the time."""
    scenario = becalm.Scenario(import_fabric(FABRIC, TABLES).text).replace(
        {"run.duration": "4 ms", "run.warmup": "0 s", **changes}
    )
    lid = {host.end.node: host.lid for host in fabric.hosts} | {each.id: each.lid for each in fabric.switches}
    ends = {(fabric.name(end), place): end for end, place in places(numbered(fabric)).items()}
    text = []
    for row in becalm.run(scenario).links.iter_rows(named=True):
        end = ends[row["from"], row["from_port"]]
        text += [
            f"# Port extended counters: Lid {lid[end.node]} port {end.port} (CapMask: 0x1300 CapMask2: 0x0)",
            f"PortXmitData:....................{row['bytes'] // counters.WORD}",
            f"PortXmitWait:....................{round(row['xmit_wait'] / TICK)}",
        ]
    file = folder / "perfquery.txt"
    file.write_text("\n".join(text) + "\n")
    return file, 4e-3


@pytest.mark.parametrize("name", ["perfquery.txt", "ibqueryerrors.txt"])
def test_what_the_tools_print_is_placed_on_the_fabric(name: str, fabric: Fabric) -> None:
    found = counters.read(REAL / name, fabric)
    leaf = next(switch for switch in fabric.switches if switch.name == "leaf0")
    hot, up = found[End(leaf.id, 1)], found[End(leaf.id, 10)]
    assert (hot.waited, up.waited) == (123456, 77)
    assert up.sent is not None
    assert up.sent // 10**6 == 8000 * counters.WORD
    if name == "ibqueryerrors.txt":
        assert set(found) >= {host.end for host in fabric.hosts}


def test_the_root_of_a_simulated_incast_is_named(fabric: Fabric, tmp_path: Path) -> None:
    dump, seconds = simulated(fabric, tmp_path)
    found = measured.roots(fabric, counters.read(dump, fabric), seconds)
    assert found[0].port == "leaf0 port 1 -> host0"
    assert found[0].busy > 0.95
    assert any("spine" in each for each in found[0].waiting)


def test_a_host_that_takes_in_too_slowly_is_named(fabric: Fabric, tmp_path: Path) -> None:
    caps = [{"hosts": ["host0"], "drain_rate": "8 Gb/s"}]
    dump, seconds = simulated(fabric, tmp_path, **{"adapter.caps": caps})
    root = measured.roots(fabric, counters.read(dump, fabric), seconds)[0]
    assert (root.port, root.why) == ("leaf0 port 1 -> host0", "the host receives too slowly")
    assert root.busy == pytest.approx(0.25, abs=0.02)


def test_no_root_is_named_where_nobody_waits(fabric: Fabric, tmp_path: Path) -> None:
    flows = [{"name": "a", "from": ["*"], "to": ["*"], "traffic": {"poisson": {"load": 0.1}}}]
    dump, seconds = simulated(fabric, tmp_path, flows=flows)
    assert measured.roots(fabric, counters.read(dump, fabric), seconds) == []


@pytest.mark.parametrize(("share", "named"), [(0.75, False), (0.85, True)])
def test_a_root_sends_at_four_fifths_of_its_rate(fabric: Fabric, share: float, named: bool) -> None:
    """A port to a host that never waits, with waiting ports before it."""
    leaf = next(switch for switch in fabric.switches if switch.name == "leaf0")
    root, seconds = End(leaf.id, 1), 1e-3
    found = {end: counters.Counters(0, 0, 1000) for end in counters.feeders(fabric, root)}
    found[root] = counters.Counters(round(share * seconds * measured.rates(fabric)[root]), 0, 0)
    assert [each.why for each in measured.roots(fabric, found, seconds)] == ["near its rate"] * named


def test_loads_below_a_two_hundredth_are_none() -> None:
    scenario = becalm.Scenario(import_fabric(FABRIC, TABLES).text)
    loaded = measured.with_loads(scenario, {"host1": 0.004, "host2": 0.006, "host3": 0.03})
    sources = {group["name"]: group["from"] for group in loaded.data()["flows"]}
    assert {name: hosts for name, hosts in sources.items() if name != "hot_spot"} == {
        "load_1": ["host2"],
        "load_3": ["host3"],
    }


def test_loads_are_those_that_were_simulated(fabric: Fabric, tmp_path: Path) -> None:
    flows = [
        {"name": name, "from": hosts, "to": ["*"], "traffic": {"poisson": {"load": load}}}
        for name, hosts, load in (("low", ["host0..host8"], 0.05), ("high", ["host9..host16"], 0.3))
    ]
    dump, seconds = simulated(fabric, tmp_path, flows=flows)
    found = counters.read(dump, fabric)
    loads = measured.loads(fabric, found, seconds)
    # ACKs also count, so host17 sends a little.
    assert loads["host3"] == pytest.approx(0.055, abs=0.02)
    assert loads["host12"] == pytest.approx(0.3, abs=0.04)
    assert loads["host17"] < 0.01
    by_switch = {
        end: each._replace(received=found[peer].sent)
        for cable in fabric.cables
        for peer, end in (cable.ends,)
        for each in (found[end],)
        if peer.is_host
    }
    assert measured.loads(fabric, by_switch, seconds) == loads
    scenario = measured.with_loads(becalm.Scenario(import_fabric(FABRIC, TABLES).text), loads)
    given = {group["name"]: group for group in scenario.resolved["flows"]}
    assert "hot_spot" in given
    assert "background" not in given
    groups = [group for name, group in given.items() if name.startswith("load_")]
    assert all(
        group["traffic"]["poisson"]["load"] == pytest.approx(int(group["name"][5:]) / 100) for group in groups
    )
    short = scenario.replace({"run.duration": "20 us", "run.warmup": "0 s"})
    assert becalm.run(short).packet_hops > 0


def test_counters_of_another_fabric_are_doubted(fabric: Fabric) -> None:
    def counted(wrong: int) -> dict[End, counters.Counters]:
        sent = {
            end: 2_000_000 + place for place, end in enumerate(each for c in fabric.cables for each in c.ends)
        }
        peer = {one: other for c in fabric.cables for one, other in (c.ends, c.ends[::-1])}
        off = set(list(sent)[:wrong])
        return {
            end: counters.Counters(sent[end], sent[peer[end]] * (3 if end in off else 1), 0) for end in sent
        }

    ends = 2 * len(fabric.cables)
    assert list(counters.doubts(fabric, counted(ends // 2))) == []
    (doubt,) = counters.doubts(fabric, counted(ends))
    assert doubt.startswith(f"the two ends of {ends} of {ends} links counted different amounts")
    assert list(counters.doubts(fabric, {})) == []


def test_of_two_dumps_the_difference_counts(fabric: Fabric, tmp_path: Path) -> None:
    before, after = tmp_path / "before.txt", tmp_path / "after.txt"
    text = (REAL / "perfquery.txt").read_text()
    before.write_text(text)
    after.write_text(text.replace("123456", "123556"))
    leaf = next(switch for switch in fabric.switches if switch.name == "leaf0")
    found = counters.read(after, fabric, before)
    assert found[End(leaf.id, 1)] == counters.Counters(0, 0, 100)
    with pytest.raises(becalm.ScenarioError, match="is less than 123556 in the earlier dump"):
        counters.read(before, fabric, after)


def test_mistakes_are_reported_with_their_lines(fabric: Fabric, tmp_path: Path) -> None:
    head = "# Port counters: Lid {} port {} (CapMask: 0x1300)\n"
    for text, message in (
        (head.format(99, 1), "1: LID 99: is not in"),
        (head.format(2, 19), "1: port 19: has no cable"),
        ("   GUID 0x1234 port 1: [PortXmitWait == 5]\n", "1: GUID 0x1234: is not in"),
        ("hello\n", "is not counters of ports; it looks like nothing that becalm knows: it begins with"),
        (head.format(2, 1) + "hello\n", "2: `hello`: is not a line of counters"),
        (
            "START_PM_INFO\nNodeGUID,PortNum\nEND_PM_INFO\n",
            "2: PM_INFO: has no such columns; valid: NodeGUID",
        ),
        ("START_PM_INFO\nNodeGUID,PortNumber\nN/A,1\nEND_PM_INFO\n", "3: PM_INFO N/A,1: has no GUID or port"),
        ("\n", "no counters of ports in this file"),
        (
            head.format(2, 1) + f"PortXmitData:....{2**32 - 1}\n",
            "has stopped at its largest 32-bit value",
        ),
    ):
        file = tmp_path / "dump.txt"
        file.write_text(text)
        with pytest.raises(becalm.ScenarioError, match=message.replace("(", r"\(")):
            counters.read(file, fabric)


ITEMS = "[PortXmitWait == 4096] [PortXmitData == 1000] [PortRcvData == 1000]"
PM = """\
-------------------------------------------------------
Port=1 Lid=0x0017 GUID=0x0002C90300000049 Device=4099 Port Name=host17/P1
-------------------------------------------------------
symbol_error_counter=0
port_xmit_data=4294967295
port_rcv_data=1000
port_xmit_wait=0x1000
port_xmit_data_extended=0x3e8
port_xmit_wait_extended=0xffffffffffffffff
"""
CSV = """\
START_NODES
NodeDesc,NumPorts
END_NODES

START_PM_INFO
NodeGUID,PortGUID,PortNumber,PortXmitData,PortRcvData,PortXmitWait,PortXmitWaitExt
0x0002c90300000048,0x0002c90300000049,1,1000,0x3e8,4294967295,4096
0x0002c90300000044,0x0002c90300000045,1,N/A,N/A,N/A,-1
END_PM_INFO
"""


@pytest.mark.parametrize(
    "text",
    [
        f'Errors for "host17 mlx5_0"\n   GUID 0x2c90300000049 port 1: {ITEMS}\n',
        f'Errors for "host17 mlx5_0"\n   GUID 0x0002c90300000048 port 1: {ITEMS}\n',
        f'Errors for 0x2C90300000048 "host17 mlx5_0"\n   GUID 0x2C90300000048 port 1: {ITEMS}\n',
        PM,
        CSV,
    ],
    ids=["port", "node", "upper case", "pm", "csv"],
)
def test_counters_of_adapters_are_read_in_all_forms(text: str, fabric: Fabric, tmp_path: Path) -> None:
    file = tmp_path / "dump"
    file.write_text(text)
    found = counters.read(file, fabric)
    host = next(host for host in fabric.hosts if host.name == "host17")
    assert found[host.end] == counters.Counters(4000, 4000, 4096)


LINES = st.sampled_from(
    [
        "# Port counters: Lid 2 port 1 (CapMask: 0x1300)",
        "# Port extended counters: Lid 2 port 10 (CapMask: 0x1300)",
        "   GUID 0x2c90000001000 port 1: [PortXmitWait == 5] [PortXmitData == 7 (7.0)]",
        "   GUID 0x2c90000001000 port ALL: [PortXmitWait == 5]",
        "PortXmitData:....................1008",
        "PortXmitWait:....................99999999999999999999999",
        "CounterSelect2:..................0x00",
        "## Summary: 23 nodes checked",
        "Port=1 Lid=0x0002 GUID=0x0002c90000001000 Device=51000 Port Name=leaf0/P1",
        "port_xmit_data=0x10",
        "START_PM_INFO",
        "NodeGUID,PortNumber,PortXmitWait",
        "0x0002c90000001000,1,5",
    ]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(lines=st.lists(LINES | st.text(max_size=60), max_size=12))
def test_any_text_is_read_or_refused(lines: list[str], fabric: Fabric, tmp_path: Path) -> None:
    file = tmp_path / "any.txt"
    file.write_bytes("\n".join(lines).encode(errors="replace"))
    with contextlib.suppress(becalm.BecalmError):
        measured.roots(fabric, counters.read(file, fabric), 1.0)


def test_the_command_prints_roots_and_writes_a_scenario(fabric: Fabric, tmp_path: Path) -> None:
    dump, seconds = simulated(fabric, tmp_path)
    out = tmp_path / "measured.toml"
    arguments = ["counters", str(FABRIC), str(dump)]
    command = [*arguments, "--seconds", str(seconds), "--lfts", str(TABLES), "--out", str(out)]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    assert "leaf0 port 1 -> host0" in result.output
    assert becalm.load(out).resolved["flows"]
    assert CliRunner().invoke(app, command).exit_code == 2, "never replaced"
    short = CliRunner().invoke(app, [*arguments, "--seconds", "0.001"])
    assert (short.exit_code, "at its rate; valid: the time between" in short.output) == (2, True)
