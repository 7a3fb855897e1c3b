"""Scenarios from the output of InfiniBand tools: names, rates, and hosts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import becalm
from becalm.base.quantities import rate_in_words
from becalm.opensm import names, rates
from fabrics import TREE, all_lids, discovered, dumped, guid, taken


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
    number, unit = rate_in_words(rate).split()
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
    """Rows of names with leading zeros, read by the scenario."""
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
    assert becalm.Scenario(source).summary["hosts"] == len(hosts)


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
    assert imported.text.count("between = ") == len(TREE)
    notes = "\n".join(imported.notes)
    assert 'router "R1"' in notes
    assert "Aggregation Node" in notes
    assert '2 adapters are omitted: they have no cable to a switch: "H5" (' in notes
    assert '"H6"' in notes
    assert '"H1"' not in notes
    assert all(f"# Note: {note}." in imported.text for note in imported.notes)


def test_further_lids_of_a_host_are_passed_over_with_a_note(tmp_path: Path) -> None:
    lids = all_lids(TREE, step=4)
    dump = dumped(TREE, lambda *choice: choice[2][0])
    dump = re.sub(r"0x00(\w\w) (\d+) ", lambda found: f"0x{int(found[1], 16) * 4:04x} {found[2]} ", dump)
    dump = re.sub(r"switch Lid (\d+)", lambda found: f"switch Lid {int(found[1]) * 4}", dump)
    plain = taken(tmp_path, discovered(TREE, lids=lids), dump)
    # Packets to the second LID of H3 use its leaf's other cable.
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
