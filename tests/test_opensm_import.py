"""Fabrics that InfiniBand's tools print, as scenarios."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import becalm
from becalm.cli import app
from becalm.opensm import ibnetdiscover, lfts, names, rates
from becalm.opensm.importing import Imported, import_fabric, numbered
from fabrics import DATA, Cable, all_lids, discovered, dumped, guid

FABRICS = ("ft2_18", "ft3_16")

TREE: list[Cable] = [
    ("H1", 1, "S1", 3),
    ("H2", 1, "S1", 1),
    ("H3", 1, "S2", 7),
    ("H4", 1, "S2", 5),
    ("S1", 9, "S3", 2),
    ("S1", 10, "S3", 1),
    ("S2", 2, "S3", 4),
    ("S2", 8, "S3", 3),
]
"""Two leaves under a root, with two cables each; ports in no order and with gaps."""


def written(folder: Path, text: str, dump: str | None = None) -> tuple[Path, Path | None]:
    file = folder / "fabric.txt"
    file.write_text(text)
    if dump is None:
        return file, None
    tables = folder / "lfts.dump"
    tables.write_text(dump)
    return file, tables


def taken(folder: Path, text: str, dump: str | None = None) -> Imported:
    return import_fabric(*written(folder, text, dump))


def complaints(folder: Path, text: str, dump: str | None = None) -> list[str]:
    with pytest.raises(becalm.BecalmError) as caught:
        import_fabric(*written(folder, text, dump))
    return str(caught.value).replace(f"{folder}/", "").splitlines()


def crossings(imported: Imported) -> Counter[tuple[str, int]]:
    """Packets that leave each port of a switch, by InfiniBand's numbers, if all hosts send to all."""
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
    """The same by the dump alone: every packet and its ACK go from table to table."""
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
                # A packet on this way, and the ACK of the packet that goes the other way round.
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
    # Leaves have 9 ways up for the hosts of the other leaf; spines 3 ways down to each leaf.
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


def test_grouped_output_is_read_alike(tmp_path: Path) -> None:
    plain = taken(tmp_path, discovered(TREE))
    text = discovered(TREE, ext=True).replace("\nSwitch", "\nChassis 1 (guid 0x8f1)\nSwitch", 1)
    assert taken(tmp_path, text).text == plain.text
    assert taken(tmp_path, f"{text}\nNon-Chassis Nodes\n").text == plain.text


def test_links_have_their_own_rates(tmp_path: Path) -> None:
    text = discovered(TREE, speed="4xEDR")
    for far, own in ((f'{guid("S3"):016x}"[2]', "[9]"), (f'{guid("S1"):016x}"[9]', "[2]")):
        end = rf'^({re.escape(own)}\t"S-{re.escape(far)}.*) 4xEDR'
        text, changed = re.subn(end, r"\g<1> 4xHDR", text, flags=re.M)
        assert changed == 1
    for speed, other in (("4xHDR", "200 Gb/s"), ("2xHDR", None)):
        edges = becalm.Scenario(taken(tmp_path, text.replace("4xHDR", speed)).text).resolved["topology"][
            "edges"
        ]
        assert edges["rate"] == "100 Gb/s"
        parallel = [cable["rate"] for cable in edges["cables"] if cable["between"] == ["S1", "S3"]]
        # Port 1 of S3, then port 2.
        assert parallel == [None, other]


@pytest.mark.parametrize(
    ("speed", "gigabits"),
    [
        ("1xSDR", 2),
        ("4xSDR", 8),
        ("4xDDR", 16),
        ("4xQDR", 32),
        ("8xQDR", 64),
        ("12xQDR", 96),
        ("4xFDR10", 40),
        ("4xFDR", 54.545454545454),
        ("4xEDR", 100),
        ("2xHDR", 100),
        ("4xHDR", 200),
        ("4xNDR", 400),
        ("4xXDR", 800),
    ],
)
def test_data_rates_are_those_of_the_specification(speed: str, gigabits: float) -> None:
    assert rates.data_rate(speed) == pytest.approx(gigabits * 1e9, rel=1e-12)


@given(st.sampled_from(rates.WIDTHS), st.sampled_from(list(rates.LANES)))
def test_a_rate_in_words_is_the_rate(width: int, lane: str) -> None:
    rate = rates.data_rate(f"{width}x{lane}")
    number, unit = rates.in_words(rate).split()
    assert unit == "Gb/s"
    assert float(number) * 1e9 == pytest.approx(rate, rel=1e-11)


@pytest.mark.parametrize("speed", ["3xQDR", "4xXYZ", "QDR", "4x", "4xqdr", "4xQDR2", ""])
def test_other_speeds_are_refused(speed: str) -> None:
    with pytest.raises(becalm.BecalmError, match="unknown width or speed; valid: 1x"):
        rates.data_rate(speed)


@settings(deadline=None, max_examples=50)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["", "a", "a.", "a-0b"]),
            st.integers(0, 3),
            st.integers(0, 120),
            st.integers(1, 5),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_ranges_stand_for_their_names(runs: list[tuple[str, int, int, int]]) -> None:
    """Rows of names with zeros before their numbers, read by the scenario itself."""
    rows = [
        f"{prefix}{number:0{width}}"
        for prefix, width, first, count in runs
        for number in range(first, first + count)
    ]
    hosts = [*dict.fromkeys(rows), "x-one", "x-two"]
    edges = {
        "hosts": names.ranges(hosts),
        "switches": ["S"],
        "cables": [{"between": [host, "S"]} for host in hosts],
    }
    flows = [{"name": "f", "from": ["x-one"], "to": ["x-two"]}]
    source = {"run": {"duration": "1 us"}, "topology": {"edges": edges}, "flows": flows}
    assert becalm.Scenario(source).facts["hosts"] == len(hosts)


def test_ranges_are_those_of_three_or_more_without_zeros_before_the_number() -> None:
    assert names.ranges(["h8", "h9", "h10", "h12", "h13"]) == ["h8..h10", "h12", "h13"]
    assert names.ranges(["n07", "n08", "n09", "n10", "n11", "n12"]) == ["n07", "n08", "n09", "n10..n12"]
    assert names.ranges(["n00", "n01", "n02"]) == ["n00", "n01", "n02"]


@settings(deadline=None)
@given(st.lists(st.text(alphabet='ab .*;:"1/\xe9', max_size=6), max_size=12))
def test_names_are_legal_and_different(descriptions: list[str]) -> None:
    candidates = {
        place: [names.short(text), names.legal(text), f"S-{place}"] for place, text in enumerate(descriptions)
    }
    chosen = names.different(candidates)
    assert list(chosen) == list(candidates)
    assert len(set(chosen.values())) == len(descriptions)
    if descriptions:
        becalm.Scenario(
            {
                "run": {"duration": "1 us"},
                "topology": {
                    "edges": {
                        "hosts": ["x-one", "x-two"],
                        "switches": list(chosen.values()),
                        "cables": [{"between": [host, chosen[0]]} for host in ("x-one", "x-two")],
                    }
                },
                "flows": [{"name": "f", "from": ["x-one"], "to": ["x-two"]}],
            }
        )


def test_names_come_from_descriptions(tmp_path: Path) -> None:
    descriptions = {
        "H1": "node1 HCA-1",
        "H2": "node1 HCA-2",
        "H3": "MT4119 ConnectX5   Mellanox Technologies",
        "H4": "MT4119 ConnectX5   Mellanox Technologies",
        "S1": "MF0;sw-ib-r01:SX6036/U1",
        "S2": "SwitchX -  Mellanox Technologies",
        "S3": 'the "root"..x',
    }
    fabric = taken(tmp_path, discovered(TREE, descriptions)).fabric
    assert {switch.name for switch in fabric.switches} == {"sw-ib-r01", "SwitchX", "the"}
    assert [host.name for host in fabric.hosts] == [
        f"H-{guid('H3'):016x}-p1",
        f"H-{guid('H4'):016x}-p1",
        "node1_HCA-1",
        "node1_HCA-2",
    ]


def test_a_host_without_a_description_is_called_by_its_guid(tmp_path: Path) -> None:
    fabric = taken(
        tmp_path, discovered(TREE, {"H1": "", "H2": "node01", "H3": "node02", "H4": "node03"})
    ).fabric
    assert [host.name for host in fabric.hosts] == [f"H-{guid('H1'):016x}-p1", "node01", "node02", "node03"]


def test_descriptions_with_characters_that_a_scenario_may_not_have(tmp_path: Path) -> None:
    text = discovered([*TREE, ("R1", 1, "S3", 9)], {"R1": "router\x01\x7f", "H1": "a\x0bb\x85c"})
    imported = taken(tmp_path, text)
    assert 'router "router  "' in imported.text
    assert len(becalm.Scenario(imported.text).resolved["topology"]["edges"]["cables"]) == len(TREE)


def test_each_port_of_an_adapter_in_use_is_a_host(tmp_path: Path) -> None:
    cables = [*TREE, ("H1", 2, "S2", 1)]
    fabric = taken(tmp_path, discovered(cables, {"H1": "node1 mlx5_0"})).fabric
    assert [host.name for host in fabric.hosts] == ["H2", "H3", "H4", "node1_mlx5_0-p1", "node1_mlx5_0-p2"]
    lids = all_lids(cables)
    assert {host.name[-2:]: host.lid for host in fabric.hosts[3:]} == {"p1": lids["H1/1"], "p2": lids["H1/2"]}


def test_what_is_no_host_is_left_out_with_a_note(tmp_path: Path) -> None:
    cables = [*TREE, ("R1", 1, "S3", 9), ("H8", 1, "S3", 10), ("H5", 1, "H6", 1), ("S1", 20, "S1", 21)]
    text = discovered(cables, {"H8": "Mellanox Technologies Aggregation Node"})
    imported = taken(tmp_path, text, dumped(cables, lambda *choice: min(choice[2], default=0)))
    assert imported.text.count("between") == len(TREE)
    notes = "\n".join(imported.notes)
    assert 'router "R1"' in notes
    assert "Aggregation Node" in notes
    assert [f'adapter "H{n}"' in notes for n in (1, 5, 6)] == [False, True, True]
    assert all(f"# Note: {note}." in imported.text for note in imported.notes)


def test_further_lids_of_a_host_are_passed_over_with_a_note(tmp_path: Path) -> None:
    lids = all_lids(TREE, step=4)
    dump = dumped(TREE, lambda *choice: choice[2][0])
    dump = re.sub(r"0x00(\w\w) (\d+) ", lambda found: f"0x{int(found[1], 16) * 4:04x} {found[2]} ", dump)
    dump = re.sub(r"switch Lid (\d+)", lambda found: f"switch Lid {int(found[1]) * 4}", dump)
    plain = taken(tmp_path, discovered(TREE, lids=lids), dump)
    # The second LID of H3 takes the other cable of its leaf.
    line = next(line for line in dump.splitlines() if line.startswith(f"0x{lids['H3/1']:04x}"))
    second = line.replace(f"0x{lids['H3/1']:04x} 009", f"0x{lids['H3/1'] + 1:04x} 010")
    wide = taken(tmp_path, discovered(TREE, lids=lids, lmc=2), dump.replace(line, f"{line}\n{second}", 1))
    (note,) = wide.notes
    assert "several LIDs (LMC above 0)" in note
    assert wide.text.replace(f"# Note: {note}.\n", "") == plain.text


def test_further_lids_of_what_is_left_out_are_passed_over(tmp_path: Path) -> None:
    cables = [*TREE, ("R1", 1, "S3", 9)]
    text = discovered(cables, lids=all_lids(cables, step=4), lmc=2)
    dump = dumped(cables, lambda *choice: min(choice[2], default=0))
    dump = re.sub(r"0x00(\w\w) (\d+) ", lambda found: f"0x{int(found[1], 16) * 4:04x} {found[2]} ", dump)
    dump = re.sub(r"switch Lid (\d+)", lambda found: f"switch Lid {int(found[1]) * 4}", dump)
    router = f"0x{all_lids(cables, step=4)['R1/1'] + 3:04x} 009 # Router"
    further = re.sub(r"^(?=\d+ lids dumped)", f"{router}\n", dump, flags=re.M)
    assert further.count(router) == 3
    assert taken(tmp_path, text, further).text == taken(tmp_path, text, dump).text


def test_routes_that_can_deadlock_are_told_and_run_all_the_same(tmp_path: Path) -> None:
    ring: list[Cable] = [(f"S{n}", 1, f"S{n % 5 + 1}", 2) for n in range(1, 6)]
    ring += [(f"H{n}", 1, f"S{n}", 3) for n in range(1, 6)]
    imported = taken(tmp_path, discovered(ring))
    (note,) = imported.notes
    assert "its routes can deadlock: each of these links may wait for the next" in note
    assert becalm.Scenario(imported.text).resolved["topology"]["edges"]["allow_cycles"]


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_damaged_files_are_read_or_refused_but_never_break(tmp_path: Path, data: st.DataObject) -> None:
    texts = [discovered(TREE), dumped(TREE, lambda *choice: choice[2][0])]
    which = data.draw(st.integers(0, 1))
    lines = texts[which].splitlines()
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(lines) - 1))
        start = data.draw(st.integers(0, len(lines[at])))
        cut = data.draw(st.integers(0, 9))
        put = data.draw(st.text(alphabet='0123456789 "[]()x#SHlid\t', max_size=4))
        lines[at] = lines[at][:start] + put + lines[at][start + cut :]
        lines = lines[: data.draw(st.integers(1, len(lines)))] if data.draw(st.booleans()) else lines
    texts[which] = "\n".join(lines)
    try:
        imported = taken(tmp_path, *texts)
    except becalm.BecalmError as error:
        assert str(error).count(f"{tmp_path}/") >= 1
    else:
        becalm.Scenario(imported.text)


ONE_SWITCH: list[Cable] = [("H1", 1, "S1", 1), ("H2", 1, "S1", 2)]
"""Printed, the switch is in line 9, its ports are in 10 and 11; H1 is in 16 and 17, H2 in 22 and 23."""


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "base port 0 lid",
            "port 0 lid",
            ["9: `Switch\t36 ", "is neither node nor port; valid: a node such as"],
        ),
        ("Ca\t36", "Cb\t36", ["16: `Cb\t36 ", "is neither node nor port; valid: a node such as"]),
        ("[1]\t", "[1\t", ["10: `[1\t", "is no port with a cable; valid: a port such as"]),
        (
            "devid=0xb924",
            '[3]\t"H-0000020000000100"[1]\t# "x" lid 1 4xQDR',
            ["7: `[3]", "is a port of no node"],
        ),
        ("4xQDR", "4xXYZ", ["10: link 4xXYZ: unknown width or speed; valid: 1x, 2x, 4x"]),
        ("4xQDR", "4xDDR", ["10: link 4xDDR: is another speed than 4xQDR in line 17, the cable's other end"]),
        ("[1]\t", "[37]\t", ["10: port 37: there is no such port; valid: 1 to 36"]),
        ("[2]\t", "[1]\t", ["11: port 1: is the port of line 10 already"]),
        (
            '"H-0000020000000200"\t',
            '"H-0000020000000100"\t',
            ["22: Ca H-0000020000000100: is the node of line 16 already"],
        ),
        ('(20000000101) \t"S', '\t"S', ["17: port 1: has no GUID or LID; valid: [1]("]),
        (
            '"S-0000010000000100"[2]',
            '"S-0000010000000100"[3]',
            ["11: S-0000010000000100[2]: is joined to H-0000020000000200[1] here, but"],
        ),
        (
            '"S-0000010000000100"[2]',
            '"S-0000010000000900"[2]',
            ["23: S-0000010000000900: is no node of this file; is the file whole?"],
        ),
        ("# lid 2 lmc 0", "# lid 2 lmc 40", ["23: `[1](", "is no port with a cable; valid: a port such as"]),
        ('Switch\t36 "S', 'Switch\t36 "H', ["9: `Switch\t36 ", "is neither node nor port; valid: a node"]),
        ("# lid 2 lmc 0", "# lid 1 lmc 0", ["23: lid 1: is the LID of line 17 already"]),
    ],
)
def test_mistakes_in_the_fabric_have_their_line(
    tmp_path: Path, old: str, new: str, expected: list[str]
) -> None:
    text = discovered(ONE_SWITCH)
    assert old in text
    told = "\n".join(complaints(tmp_path, text.replace(old, new, 1)))
    assert f"fabric.txt:{expected[0]}" in told
    assert all(part in told for part in expected)


def test_a_fabric_without_two_hosts_that_can_talk_is_told(tmp_path: Path) -> None:
    assert complaints(tmp_path, "")[0].startswith(
        "fabric.txt:1: ibnetdiscover: no nodes in this file; valid: "
    )
    assert complaints(tmp_path, discovered(ONE_SWITCH[:1])) == [
        "fabric.txt: 1 hosts with a cable to a switch; must be at least 2"
    ]
    assert complaints(tmp_path, discovered([("H1", 1, "S1", 1), ("H2", 1, "S2", 1)])) == [
        "fabric.txt: host `H2` cannot be reached from host `H1`: no forwarding entry leads there"
    ]


def test_mistakes_in_the_tables_have_their_line(tmp_path: Path) -> None:
    text = discovered(TREE)
    dump = dumped(TREE, lambda *choice: choice[2][0])
    lids = all_lids(TREE)
    lines = dump.splitlines()

    def after(pattern: str, new: str) -> list[str]:
        changed, count = re.subn(pattern, new, dump, count=1, flags=re.M)
        assert count == 1, pattern
        return complaints(tmp_path, text, changed)

    h3 = f"0x{lids['H3/1']:04x}"
    line = next(n for n, each in enumerate(lines, 1) if each.startswith(h3))
    for port in ("000", "255", "011"):
        assert after(f"^{h3} 009", f"{h3} {port}") == [
            f"lfts.dump:{line}: port {port}: leads packets for H3 through a port of S1 without a cable; "
            "valid: one of the ports 1, 3, 9, 10"
        ]
    assert after(f"^{h3} 009", f"{h3} 001") == [f"lfts.dump:{line}: port 001: leads packets for H3 to H2"]
    assert after(f"^{h3} 009.*\n", "") == [
        f"lfts.dump:1: switch S1: has no entry for H3 (LID {h3}); valid: an entry for every host"
    ]
    assert after(r"^Unicast", "Multicast")[0].startswith("lfts.dump:1: `Multicast lids")
    assert after("switch Lid 5", "switch Lid 77") == [
        "lfts.dump:1: Lid 77: is not the LID of S1 in fabric.txt; valid: 5"
    ]
    assert "is no switch of fabric.txt" in after(f"guid 0x{guid('S1'):016x}", f"guid 0x{guid('S9'):016x}")[-1]
    assert after(f"^({h3} 009 .*portguid )0x\\w+", r"\g<1>0x0000000000000001") == [
        f"lfts.dump:{line}: {h3}: belongs to H3 in fabric.txt, with another port GUID; "
        f"valid: 0x{guid('H3') + 1:016x}"
    ]
    assert after(r"^\d+ lids dumped", "0x0077 001 # nobody") == [
        f"lfts.dump:{lines.index(next(each for each in lines if 'lids dumped' in each)) + 1}: 0x0077: "
        "is no LID of fabric.txt; valid: tables and fabric of the same sweep"
    ]
    assert after(f"^({h3} 009 .*)", r"\g<1>\n\g<1>") == [
        f"lfts.dump:{line + 1}: {h3}: has an entry in line {line} already"
    ]
    assert after(f"^{h3} 009", f"{h3} 256")[0].startswith(f"lfts.dump:{line}: `{h3} 256 # ")
    last = max(n for n, each in enumerate(lines) if each.startswith("Unicast"))
    assert complaints(tmp_path, text, "\n".join(lines[:last])) == [
        f"lfts.dump: switch S3 (guid 0x{guid('S3'):016x}): has no table in this file"
    ]
    assert "has a table in line 1 already" in complaints(tmp_path, text, dump + dump)[0]
    assert len(complaints(tmp_path, discovered(TREE, lids=all_lids(TREE, step=20)), dump)) > 5


def test_a_circle_is_told_with_its_switches(tmp_path: Path) -> None:
    line: list[Cable] = [("H1", 1, "S1", 1), ("H2", 1, "S2", 1), ("S1", 2, "S2", 2), ("H3", 1, "S2", 3)]
    dump = dumped(line, lambda *choice: 2 if choice[:2] == ("S2", "H3/1") else choice[2][0])
    (told,) = complaints(tmp_path, discovered(line), dump)
    assert told.endswith("leads packets for H3 in a circle: S1 -> S2 -> S1")


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
    assert done == (0, "18 hosts, 5 switches, 36 cables; written to fabric.toml\n")
    assert command("validate", "fabric.toml") == (0, "fabric.toml: ok\n")
    assert command("import", *given_files) == (2, "fabric.toml: exists already; choose another file\n")
    assert command("import", "missing.txt", "--out", "other.toml") == (2, "missing.txt: no such file\n")
    (tmp_path / "bad.txt").write_text("nothing\n")
    status, told = command("import", "bad.txt", "--out", "other.toml")
    assert (status, told[:10]) == (2, "bad.txt:1:")
    assert command("import", *given_files, "--out", "no/x.toml") == (2, "no/x.toml: there is no folder no\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.txt", "fabric.toml"]
