"""Messages about mistakes in files of InfiniBand tools."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import becalm
from becalm.base.mistakes import MOST_ALIKE, Mistakes
from fabrics import TREE, Cable, all_lids, complaints, discovered, dumped, guid, taken


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
"""In the file, the switch is in line 9, its ports in lines 10 and 11, H1 in 16 and 17, H2 in 22 and 23."""


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "base port 0 lid",
            "port 0 lid",
            ["9: `Switch\t36 ", "is neither a node nor a port; valid: a node such as"],
        ),
        ("Ca\t36", "Cb\t36", ["16: `Cb\t36 ", "is neither a node nor a port; valid: a node such as"]),
        ("[1]\t", "[1\t", ["10: `[1\t", "is not a port with a cable; valid: a port such as"]),
        (
            "devid=0xb924",
            '[3]\t"H-0000020000000100"[1]\t# "x" lid 1 4xQDR',
            ["7: `[3]", "is a port without a node"],
        ),
        ("4xQDR", "4xXYZ", ["10: link 4xXYZ: unknown width or speed; valid: 1x, 2x, 4x"]),
        ("4xQDR", "4xDDR", ["10: link 4xDDR: differs from 4xQDR in line 17, the cable's other end"]),
        ("[1]\t", "[37]\t", ["10: port 37: no such port; valid: 1 to 36"]),
        ("[2]\t", "[1]\t", ["11: port 1: is already the port of line 10"]),
        (
            '"H-0000020000000200"\t',
            '"H-0000020000000100"\t',
            ["22: Ca H-0000020000000100: is already the node of line 16"],
        ),
        ('(20000000101) \t"S', '\t"S', ["17: port 1: has no GUID; valid: [1]("]),
        (
            '"S-0000010000000100"[2]',
            '"S-0000010000000100"[3]',
            ["11: S-0000010000000100[2]: is connected to H-0000020000000200[1] here, but"],
        ),
        (
            '"S-0000010000000100"[2]',
            '"S-0000010000000900"[2]',
            ["23: S-0000010000000900: is not a node of this file; is the file complete?"],
        ),
        (
            "# lid 2 lmc 0",
            "# lid 2 lmc 40",
            ["23: `[1](", "is not a port with a cable; valid: a port such as"],
        ),
        (
            'Switch\t36 "S',
            'Switch\t36 "H',
            ["9: `Switch\t36 ", "is neither a node nor a port; valid: a node"],
        ),
    ],
)
def test_mistakes_in_the_fabric_have_their_line(
    tmp_path: Path, old: str, new: str, expected: list[str]
) -> None:
    text = discovered(ONE_SWITCH)
    assert old in text
    message = "\n".join(complaints(tmp_path, text.replace(old, new, 1)))
    assert f"fabric.txt:{expected[0]}" in message
    assert all(part in message for part in expected)


def test_a_lid_of_two_ports_is_a_mistake_where_tables_use_lids(tmp_path: Path) -> None:
    text = discovered(ONE_SWITCH).replace("# lid 2 lmc 0", "# lid 1 lmc 0")
    dump = dumped(ONE_SWITCH, lambda *choice: choice[2][0])
    assert complaints(tmp_path, text, dump) == ["fabric.txt:23: lid 1: is already the LID of line 17"]
    (note,) = taken(tmp_path, text).notes
    assert note.startswith("1 ports have the LID of another port, such as LID 1 in lines 17 and 23")


def test_a_fabric_without_two_hosts_that_can_talk_is_reported(tmp_path: Path) -> None:
    assert complaints(tmp_path, "")[0].startswith(
        "fabric.txt:1: ibnetdiscover: no nodes in this file; valid: "
    )
    assert complaints(tmp_path, discovered(ONE_SWITCH[:1])) == [
        "fabric.txt: needs at least 2 hosts with a cable to a switch, but has 1"
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
            f"lfts.dump:{line}: port {port}: sends packets for H3 through a port of S1 that has no cable; "
            "valid: one of the ports 1, 3, 9, 10"
        ]
    assert after(f"^{h3} 009", f"{h3} 001") == [f"lfts.dump:{line}: port 001: sends packets for H3 to H2"]
    assert after(f"^{h3} 009.*\n", "") == [
        f"lfts.dump:1: switch S1: has no entry for H3 (LID {h3}); valid: an entry for every host"
    ]
    assert after(r"^Unicast", "Multicast")[0].startswith("lfts.dump:1: `Multicast lids")
    assert after("switch Lid 5", "switch Lid 77") == [
        "lfts.dump:1: Lid 77: is not the LID of S1 in fabric.txt; valid: 5"
    ]
    assert (
        "is not a switch of fabric.txt" in after(f"guid 0x{guid('S1'):016x}", f"guid 0x{guid('S9'):016x}")[-1]
    )
    assert after(f"^({h3} 009 .*portguid )0x\\w+", r"\g<1>0x0000000000000001") == [
        f"lfts.dump:{line}: {h3}: belongs to H3 in fabric.txt, with another port GUID; "
        f"valid: 0x{guid('H3') + 1:016x}"
    ]
    assert after(r"^\d+ lids dumped", "0x0077 001 # nobody") == [
        f"lfts.dump:{lines.index(next(each for each in lines if 'lids dumped' in each)) + 1}: 0x0077: "
        "is not a LID of fabric.txt; valid: tables and fabric from the same sweep"
    ]
    assert after(f"^({h3} 009 .*)", r"\g<1>\n\g<1>") == [
        f"lfts.dump:{line + 1}: {h3}: already has an entry in line {line}"
    ]
    assert after(f"^{h3} 009", f"{h3} 256")[0].startswith(f"lfts.dump:{line}: `{h3} 256 # ")
    last = max(n for n, each in enumerate(lines) if each.startswith("Unicast"))
    assert complaints(tmp_path, text, "\n".join(lines[:last])) == [
        f"lfts.dump: switch S3 (guid 0x{guid('S3'):016x}): has no table in this file"
    ]
    assert "already has a table in line 1" in complaints(tmp_path, text, dump + dump)[0]
    assert len(complaints(tmp_path, discovered(TREE, lids=all_lids(TREE, step=20)), dump)) > 5


def test_a_circle_is_reported_with_its_switches(tmp_path: Path) -> None:
    line: list[Cable] = [("H1", 1, "S1", 1), ("H2", 1, "S2", 1), ("S1", 2, "S2", 2), ("H3", 1, "S2", 3)]
    dump = dumped(line, lambda *choice: 2 if choice[:2] == ("S2", "H3/1") else choice[2][0])
    (message,) = complaints(tmp_path, discovered(line), dump)
    assert message.endswith("sends packets for H3 around a cycle: S1 -> S2 -> S1")


def test_mistakes_with_one_cause_are_told_ten_times() -> None:
    mistakes = Mistakes("net.txt")
    for number in range(MOST_ALIKE + 1):
        mistakes.add(number, "port", str(number), f"is not a port of `S{number}`")
    mistakes.add(99, "lid", "x", "must be a number")
    with pytest.raises(becalm.BecalmError) as caught:
        mistakes.check()
    lines = str(caught.value).splitlines()
    assert [line.split()[1] for line in lines] == ["port"] * MOST_ALIKE + ["lid", "and"]
    assert lines[-1] == "net.txt: and 1 more"
