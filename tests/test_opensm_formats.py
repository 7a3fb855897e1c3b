"""Fabrics and tables in the forms that other tools, and terminals, give them; and foreign files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import becalm
from becalm.cli import app
from becalm.opensm.importing import import_fabric
from fabrics import DATA, TREE, all_lids, discovered, dumped, taken

SAME = DATA / "two_switches"
"""One fabric as the tools print it: two switches, two hosts with one port and one with two."""


def body(path: Path, tables: str | None = None) -> str:
    """Return an imported fabric without the comments at the top, which name the files."""
    text = import_fabric(path, None if tables is None else SAME / tables).text
    return text[text.index("[topology.edges]") :]


@pytest.mark.parametrize("name", ["ports.txt", "opensm-subnet.lst"])
def test_lists_of_cables_are_read_alike(name: str) -> None:
    tables = "opensm-lfts.dump"
    assert body(SAME / name, tables) == body(SAME / "ibnetdiscover.txt", tables)


def test_tables_of_fdbs_files_are_read_alike(tmp_path: Path) -> None:
    fabric = SAME / "ibnetdiscover.txt"
    assert body(fabric, "opensm.fdbs") == body(fabric, "opensm-lfts.dump")
    lines = (SAME / "opensm.fdbs").read_text().replace("\ndump_", "\n\nosm_ucast_mgr_dump_")
    other = tmp_path / "ibdiagnet2.fdbs"
    other.write_text(f"# Running version\n{lines}0x0007 : UNREACHABLE\n")
    assert import_fabric(fabric, other).text[-300:] == import_fabric(fabric, SAME / "opensm.fdbs").text[-300:]


def test_a_topology_of_ibsim_is_read(tmp_path: Path) -> None:
    imported = import_fabric(SAME / "ibsim.net")
    assert imported.notes == [
        "4 of 4 hosts have no LID yet (0 or 65535): packets to them take shortest paths"
    ]
    assert body(SAME / "ibsim.net") == body(SAME / "ibnetdiscover.txt")
    file = tmp_path / "named.net"
    file.write_text(
        'Switch 8 "Leaf"\n[1] "Node1"[1]\n[2] "Node2"[1]\n\nHca 2 "Node1"\n[1] "Leaf"[1]\n\n'
        'Hca 2 "Node2"\n[1] "Leaf"[2]\n'
    )
    named = import_fabric(file)
    assert [host.name for host in named.fabric.hosts] == ["Node1", "Node2"]
    assert named.fabric.switches[0].name == "Leaf"
    assert "no speed in 4 lines with a port: they get 4xEDR, an assumption" in named.notes[1]


def test_the_output_of_a_terminal_is_read(tmp_path: Path) -> None:
    text = discovered(TREE)
    lost = re.sub(r"^(Switch|Ca)\t", r"\1", text, flags=re.MULTILINE).replace("\t\t", " ").replace("\t", " ")
    head = "=~=~=~= PuTTY log 2024.01.01 =~=~=~=\n[root@sm01 ~]# ibnetdiscover\n"
    shown = f"{head}{lost}[root@sm01 ~]# exit\n".replace("\n", "\r\n")
    assert taken(tmp_path, shown).text == taken(tmp_path, text).text


def test_guids_may_be_in_upper_case(tmp_path: Path) -> None:
    for name in ("ibnetdiscover.txt", "opensm-lfts.dump"):
        text = (SAME / name).read_text()
        digits = r"(?<=-)[0-9a-f]{16}(?=\")|(?<=guid 0x)[0-9a-f]{16}|(?<=\()[0-9a-f]{11}(?=\))"
        upper = re.sub(digits, lambda found: found[0].upper(), text)
        assert upper.count("2C9") > 10
        (tmp_path / name).write_text(upper)
    upper_case = import_fabric(tmp_path / "ibnetdiscover.txt", tmp_path / "opensm-lfts.dump")
    assert upper_case.text == import_fabric(SAME / "ibnetdiscover.txt", SAME / "opensm-lfts.dump").text


@pytest.mark.parametrize("lid", [0, 65535])
def test_hosts_without_a_lid_are_counted(tmp_path: Path, lid: int) -> None:
    lids = {**all_lids(TREE), "H1/1": lid, "H3/1": lid}
    text = discovered(TREE, lids=lids)
    note = "2 of 4 hosts have no LID yet (0 or 65535): packets to them take shortest paths"
    assert taken(tmp_path, text).notes == [note]
    dump = dumped(TREE, lambda *choice: choice[2][0])
    gone = re.compile("|".join(f"^0x{all_lids(TREE)[host]:04x} .*\n" for host in ("H1/1", "H3/1")), re.M)
    imported = taken(tmp_path, text, gone.sub("", dump))
    assert imported.notes == [note]
    assert becalm.Scenario(imported.text).network().paths("H1", "H3")["share"].sum() == 4


def test_lines_without_a_speed_get_the_usual_one(tmp_path: Path) -> None:
    text = discovered(TREE, speed="4xHDR")
    some = taken(tmp_path, text.replace(" 4xHDR", "", 3))
    assert some.notes == ["no speed in 3 lines with a port: they get 4xHDR, the usual one of the others"]
    assert '"200 Gb/s" # 4xHDR' in some.text
    (note,) = taken(tmp_path, text.replace(" 4xHDR", "")).notes
    assert note.endswith("lines with a port: they get 4xEDR, an assumption: the file has no speed at all")


def test_many_aggregation_nodes_have_one_note(tmp_path: Path) -> None:
    nodes = [f"H{number}" for number in range(10, 50)]
    cables = [*TREE, *((node, 1, "S3", place) for place, node in enumerate(nodes, 10))]
    text = discovered(cables, dict.fromkeys(nodes, "Mellanox Technologies Aggregation Node"))
    (note,) = taken(tmp_path, text.replace("Switch\t36", "Switch\t64")).notes
    assert note.startswith('40 aggregation nodes are omitted: they are not hosts: "Mellanox')
    assert note.endswith(", ...")


FOREIGN = {
    "iblinkinfo": (
        (SAME / "iblinkinfo.txt").read_bytes(),
        "output of iblinkinfo; `ibnetdiscover >",
    ),
    "hosts": (b'Ca\t: 0x000002c900000300 ports 1 "h1"\n', "a list of nodes, without cables"),
    "tables": ((SAME / "opensm.fdbs").read_bytes(), "forwarding tables; `becalm import IBNETDISCOVER --lfts"),
    "counters": (
        b"# Port counters: Lid 3 port 1\nPortXmitWait:...0\n",
        "counters of ports; `becalm counters",
    ),
    "hpcc": (
        b"3 1 2\n2\n0 2 100Gbps 1000ns 0\n1 2 100Gbps 1000ns 0\n",
        "a topology of HPCC's ns-3 simulator",
    ),
    "htsim": (b"Nodes 16\nConnections 3\n", "a file of the simulator htsim"),
    "opensm": (b"# comment\nrouting_engine ftree\n", "a configuration of OpenSM; `becalm check given`"),
    "scenario": (b"[topology.fat_tree]\nk = 4\n", "a scenario of becalm; `becalm run given` reads it"),
    "toml": (b'[package]\nname = "x"\n', "TOML"),
    "json": (b'{"hosts": [1, 2]}', "JSON"),
    "picture": (b"\x89PNG\r\n\x1a\n\x00\x00", "a picture (PNG)"),
    "gzip": (b"\x1f\x8b\x08\x00\x00", "compressed by gzip; unpack it first"),
    "binary": (b"\x01\x02\x00\x03", "a binary file"),
    "topo": (b"MTS3600 leaf1\n   P1 -4x-10G-> HCA_1 h1 P1\n", "a topology of ibdiagnet (.topo)"),
    "csv": (b"START_NODES\nNodeDesc,NumPorts\nEND_NODES\n", "ibdiagnet's CSV"),
    "values": (b"time,value\n1,2\n", "a table of values between commas (CSV)"),
    "python": (
        b"import becalm\n\nclass Mine:\n    pass\n",
        "a Python program; `becalm run SCENARIO",
    ),
    "index": (b'{\n  "becalm": "0.3.0"\n}\n', "the index of a folder that becalm wrote; valid: ."),
    "goal": (b"num_ranks 2\nrank 0 {\n}\n", "a GOAL schedule"),
    "dot": (b"digraph {\n a -> b\n}\n", "a graph of Graphviz"),
    "yaml": (b"# made by a tool\n\nhosts:\n  - h1\n", "YAML"),
    "blank lines": (b"\n" * 60 + b"!\n", "nothing that becalm knows: it begins with `!`"),
    "prose": (b"Dear all,\nthe fabric is slow.\n", "nothing that becalm knows: it begins with `Dear all,`"),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_a_foreign_file_is_named_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.chdir(tmp_path)
    data, looks = FOREIGN[kind]
    Path("given").write_bytes(data * (1 if kind in ("json", "index", "picture") else 3))
    # `import` reads that topology.
    command = ["whatif", "given", "--hot", "h"] if kind == "hpcc" else ["import", "given"]
    done = CliRunner().invoke(app, command)
    assert (done.exit_code, done.output.count("\n")) == (2, 1), done.output
    assert done.output.startswith(f"given: is not output of ibnetdiscover; it looks like {looks}")
    assert [path.name for path in tmp_path.iterdir()] == ["given"]


def test_a_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    other = tmp_path / "net.txt"
    other.write_bytes(b"\xef\xbb\xbf" + (SAME / "ibnetdiscover.txt").read_bytes())
    assert body(other) == body(SAME / "ibnetdiscover.txt")


@pytest.mark.parametrize("line", [" " * 5000 + "!", '[1]"' + "\t" * 5000, "Ca 1 " * 400_000])
def test_a_line_without_end_is_refused_at_once(tmp_path: Path, line: str) -> None:
    # Patterns that go back and forth in such a line would need minutes.
    lines = (SAME / "ibnetdiscover.txt").read_text().splitlines()
    net = tmp_path / "net.txt"
    net.write_text("\n".join([*lines[:20], line, *lines[20:]]))
    with pytest.raises(becalm.ScenarioError) as refused:
        import_fabric(net)
    text = f"net.txt:21: a line of {len(line)} characters; must be at most 2000"
    assert str(refused.value).endswith(text)


def test_swapped_files_are_named() -> None:
    with pytest.raises(
        becalm.ScenarioError, match="is not forwarding tables; it looks like a list of cables"
    ):
        import_fabric(SAME / "ibnetdiscover.txt", SAME / "ibnetdiscover.txt")
