"""Scenarios from the output of InfiniBand tools: cables, ports and routes."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import becalm
from becalm import manager
from becalm.base.disk import REPLACE
from becalm.base.quantities import seconds
from becalm.cli import app
from becalm.opensm import ibnetdiscover, lfts
from becalm.opensm.importing import Imported, import_fabric, numbered
from fabrics import DATA, TREE, Cable, discovered, dumped, taken, written

FABRICS = ("ft2_18", "ft3_16")


def crossings(imported: Imported) -> Counter[tuple[str, int]]:
    """Return the packets from each switch port, by InfiniBand port number, if all hosts send to all."""
    hosts = [host.name for host in imported.fabric.hosts]
    pairs = [{"from": a, "to": b} for a in hosts for b in hosts if a != b]
    flows = [{"name": "all", "connections": pairs, "traffic": {"batch": {"count": 1}}}]
    changes = {"run": {"duration": "1 ms"}, "flows": flows}
    links = becalm.run(becalm.Scenario(imported.text).replace(changes)).links
    real: dict[str, list[int]] = {}
    for cable in numbered(imported.fabric):
        for end in cable.ends:
            real.setdefault(imported.fabric.name(end), []).append(end.port)
    switches = {switch.name for switch in imported.fabric.switches}
    return Counter(
        {
            (row["from"], real[row["from"]][row["from_port"]]): row["packets"]
            for row in links.iter_rows(named=True)
            if row["from"] in switches and row["packets"]
        }
    )


def followed(imported: Imported, dump: str) -> Counter[tuple[str, int]]:
    """Return the same numbers from the dump only, by following packets and ACKs through the tables."""
    by_guid = {switch.guid: switch for switch in imported.fabric.switches}
    by_id = {switch.id: switch for switch in imported.fabric.switches}
    tables: dict[str, dict[int, int]] = {}
    for line in dump.splitlines():
        if found := re.match(r"Unicast.* guid 0x(\w+)", line):
            table = tables.setdefault(by_guid[int(found[1], 16)].name, {})
        elif found := re.match(r"0x(\w{4}) (\d{3})", line):
            table[int(found[1], 16)] = int(found[2])
    count: Counter[tuple[str, int]] = Counter()
    hosts = imported.fabric.hosts
    for source in hosts:
        for target in hosts:
            if source is target:
                continue
            switch = by_id[source.attached.node]
            while True:
                port = tables[switch.name][target.lid]
                # A packet on this path, and the ACK of a packet in the opposite direction.
                count[switch.name, port] += 2
                if switch.ports[port].is_host:
                    assert switch.ports[port] == target.end
                    break
                switch = by_id[switch.ports[port].node]
    return count


@pytest.mark.parametrize("name", FABRICS)
def test_packets_follow_the_forwarding_tables(name: str) -> None:
    dump = DATA / name / "opensm-lfts.dump"
    imported = import_fabric(DATA / name / "ibnetdiscover.txt", dump)
    assert crossings(imported) == followed(imported, dump.read_text())


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_they_do_so_whatever_the_ports_are_numbered(tmp_path: Path, data: st.DataObject) -> None:
    numbers = {
        node: iter(data.draw(st.lists(st.integers(1, 36), min_size=4, max_size=4, unique=True)))
        for node in ("S1", "S2", "S3")
    }
    cables: list[Cable] = [
        (one, next(numbers[one]) if one[0] == "S" else 1, other, next(numbers[other]))
        for one, _, other, _ in TREE
    ]
    dump = dumped(cables, lambda *choice: data.draw(st.sampled_from(choice[2])))
    imported = taken(tmp_path, discovered(cables), dump)
    assert crossings(imported) == followed(imported, dump)


def test_a_real_fabric() -> None:
    imported = import_fabric(DATA / "ft2_18" / "ibnetdiscover.txt", DATA / "ft2_18" / "opensm-lfts.dump")
    scenario = becalm.Scenario(imported.text)
    edges = scenario.resolved["topology"]["edges"]
    assert (edges["hosts"], edges["switches"]) == (["host0..host17"], ["leaf0", "leaf1", "spine0..spine2"])
    assert edges["rate"] == "32 Gb/s"
    assert len(edges["cables"]) == 18 + 2 * 9
    # Leaves have 9 uplinks to the other leaf's hosts; spines have 3 links down to each leaf.
    assert len(edges["routes"]) == 2 * 9 + 3 * 6
    assert '    { switch = "leaf0", port = 10, to = ["host12"] }, # port 11, to spine0' in imported.text
    assert '    { between = ["leaf0", "spine0"] }, # port 11 to port 2' in imported.text
    assert imported.notes == []
    assert becalm.run(scenario).groups["group"].to_list() == ["background", "hot_spot"]


@pytest.mark.parametrize("name", FABRICS)
def test_ports_are_numbered_as_in_the_fabric_where_none_is_free(name: str) -> None:
    fabric = ibnetdiscover.read(DATA / name / "ibnetdiscover.txt")
    for switch in fabric.switches:
        ports = [end.port for cable in numbered(fabric) for end in cable.ends if end.node == switch.id]
        assert ports == list(range(1, len(switch.ports) + 1))


def test_an_order_that_no_list_of_cables_has_still_lists_every_cable(tmp_path: Path) -> None:
    crossed = [("H1", 1, "S1", 3), ("H2", 1, "S2", 3), ("S1", 1, "S2", 2), ("S1", 2, "S2", 1)]
    fabric = taken(tmp_path, discovered(crossed)).fabric
    assert Counter(numbered(fabric)) == Counter(fabric.cables)


@pytest.mark.parametrize("form", ["opensm", "ibroute"])
def test_both_forms_of_dumps_are_read(tmp_path: Path, form: str) -> None:
    dump = dumped(TREE, lambda *choice: choice[2][0], form=form)
    file, tables = written(tmp_path, discovered(TREE), dump)
    assert tables is not None
    assert lfts.read(tables, ibnetdiscover.read(file)) == {
        ("S1", 1): ["H2"],
        ("S1", 3): ["H1"],
        ("S1", 9): ["H3", "H4"],
        ("S2", 2): ["H1", "H2"],
        ("S2", 5): ["H4"],
        ("S2", 7): ["H3"],
        ("S3", 1): ["H1", "H2"],
        ("S3", 3): ["H3", "H4"],
    }


def test_a_dump_may_end_with_the_warning_of_its_tool(tmp_path: Path) -> None:
    fabric, dump = (DATA / "ft3_16" / name for name in ("ibnetdiscover.txt", "opensm-lfts.dump"))
    warned = tmp_path / "warned.dump"
    line = "*** WARNING ***: this command is deprecated; Please use dump_fts.\n"
    warned.write_text(dump.read_text() + line)
    assert (
        import_fabric(fabric, warned).text.replace(warned.name, dump.name) == import_fabric(fabric, dump).text
    )
    warned.write_text(dump.read_text() + line.replace("***", "*"))
    with pytest.raises(becalm.ScenarioError, match="is not a line of a forwarding table"):
        import_fabric(fabric, warned)


def test_grouped_output_is_read_alike(tmp_path: Path) -> None:
    plain = taken(tmp_path, discovered(TREE))
    text = discovered(TREE, ext=True).replace("\nSwitch", "\nChassis 1 (guid 0x8f1)\nSwitch", 1)
    assert taken(tmp_path, text).text == plain.text
    assert taken(tmp_path, f"{text}\nNon-Chassis Nodes\n").text == plain.text


def test_routes_that_can_deadlock_are_reported_and_run_all_the_same(tmp_path: Path) -> None:
    ring: list[Cable] = [(f"S{n}", 1, f"S{n % 5 + 1}", 2) for n in range(1, 6)]
    ring += [(f"H{n}", 1, f"S{n}", 3) for n in range(1, 6)]
    imported = taken(tmp_path, discovered(ring))
    (note,) = imported.notes
    assert "its routes can deadlock: each of these links may wait for the next" in note
    assert becalm.Scenario(imported.text).resolved["topology"]["edges"]["allow_cycles"]


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    given_files = [
        str(DATA / "ft2_18" / "ibnetdiscover.txt"),
        "--lfts",
        str(DATA / "ft2_18" / "opensm-lfts.dump"),
    ]

    def command(*arguments: str) -> tuple[int, str]:
        done = CliRunner().invoke(app, list(arguments))
        return done.exit_code, done.output

    done = command("import", *given_files)
    routed = "packets routed by the forwarding tables of opensm-lfts.dump"
    assert done == (
        0,
        f"18 hosts, 5 switches, 36 cables; {routed}; background load 0.5; written to fabric.toml\n",
    )
    assert command("validate", "fabric.toml") == (0, "fabric.toml: ok\n")
    assert command("import", *given_files) == (
        2,
        f"fabric.toml: already exists; choose another file, or {REPLACE}\n",
    )
    assert command("import", "missing.txt", "--out", "other.toml") == (2, "missing.txt: no such file\n")
    (tmp_path / "bad.txt").write_text("nothing\n")
    status, expected = command("import", "bad.txt", "--out", "other.toml")
    assert (status, expected) == (
        2,
        "bad.txt: is not output of ibnetdiscover; it looks like nothing that becalm knows: it begins with "
        "`nothing`; valid: what `ibnetdiscover > fabric.txt` writes\n",
    )
    assert command("import", *given_files, "--out", "no/x.toml") == (2, "no/x.toml: no such folder: no\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.txt", "fabric.toml"]


def test_switches_of_36_ports_deliver_half_of_the_load(tmp_path: Path) -> None:
    """Two leaves of 18 hosts under a root, with 18 cables each; all hosts send to all others."""
    hosts = [(f"H{host}", 1, f"S{1 + host // 18}", 1 + host % 18) for host in range(36)]
    up = [(f"S{leaf}", 19 + port, "S3", 18 * (leaf - 1) + port + 1) for leaf in (1, 2) for port in range(18)]
    imported = taken(tmp_path, discovered([*hosts, *up]))
    load = {"poisson": {"load": 0.5, "message": "2048 B"}}
    changes = {
        "run": {"duration": "1 ms", "warmup": "0.2 ms"},
        "flows": [{"name": "uniform", "from": ["*"], "to": ["*"], "traffic": load}],
    }
    scenario = becalm.Scenario(imported.text).replace(changes)
    assert scenario.resolved["switch"]["arbiter"] == {"round_robin": {}}
    assert becalm.run(scenario).groups["share"].item() / 36 == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("name", FABRICS)
def test_a_run_is_longer_than_the_slower_guideline_takes_to_unwind(name: str) -> None:
    scenario = becalm.Scenario(import_fabric(DATA / name / "ibnetdiscover.txt").text)
    run = scenario.resolved["run"]
    measured = seconds(str(run["duration"])) - seconds(str(run["warmup"]))
    unwinds = [
        manager.unwind(manager.recommend(scenario, hot_spot_degree=8, guideline=guideline).apply(scenario))
        for guideline in manager.GUIDELINES
    ]
    assert max(unwinds) == pytest.approx(127 * 150 * 1.024e-6)
    assert max(unwinds) <= measured <= 1.1 * max(unwinds)
