from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

import becalm

BENCH = Path(__file__).parents[1] / "crates" / "bench"
GOOD = """\
Nodes 4
Connections 3
0->3 id 1 start 0 size 3000
1->3 id 2 start 2000000 size 1

2->0 start 0 size 5000
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "good.cm"
    path.write_text(text)
    return path


def complaint(folder: Path, text: str) -> list[str]:
    path = written(folder, text)
    with pytest.raises(becalm.ScenarioError) as caught:
        becalm.read_connection_matrix(path)
    assert len(caught.value.mistakes) == len(str(caught.value).splitlines())
    return str(caught.value).replace(f"{path}:", "").splitlines()


def run(flows: list[dict[str, Any]]) -> becalm.Results:
    topology = {"tree": {"ports": 4, "levels": 2, "delay": "10 ns"}}
    return becalm.run(becalm.Scenario({"run": {"duration": "100 us"}, "topology": topology, "flows": flows}))


def test_connections_become_flows(tmp_path: Path) -> None:
    (group,) = becalm.read_connection_matrix(written(tmp_path, GOOD), name="matrix")
    assert group["connections"] == [
        {"from": "H0", "to": "H3", "message": "3000 B"},
        {"from": "H1", "to": "H3", "message": "1 B", "start": "2000000 ps"},
        {"from": "H2", "to": "H0", "message": "5000 B"},
    ]
    flows = run([group]).flows
    assert flows["group"].unique().to_list() == ["matrix"]
    assert flows["destination"].to_list() == ["H3", "H3", "H0"]
    assert flows["delivered_bytes"].to_list() == [3000 + 2 * 20, 21, 5000 + 3 * 20]


def test_names_and_units(tmp_path: Path) -> None:
    path = written(tmp_path, GOOD)
    (group,) = becalm.read_connection_matrix(path, host="node{}", start_unit="us")
    assert group["connections"][1] == {
        "from": "node1",
        "to": "node3",
        "message": "1 B",
        "start": "2000000 us",
    }


@pytest.mark.parametrize("name", ["perm128", "hot128", "incast128", "perm1024", "hot1024"])
def test_benchmarks_have_the_pairs_of_their_matrices(name: str) -> None:
    (group,) = becalm.read_connection_matrix(BENCH / "workloads" / f"{name}.cm")
    scenario = tomllib.loads((BENCH / "scenarios" / f"{name}.toml").read_text())
    units = {"kB": 1000, "MB": 1_000_000}

    def rows(group: dict[str, Any]) -> set[tuple[str, str, int]]:
        amount, unit = group["traffic"]["batch"]["message"].split()
        return {(each["from"], each["to"], int(amount) * units[unit]) for each in group["connections"]}

    ours = set().union(*map(rows, scenario["flows"]))
    theirs = {(each["from"], each["to"], int(each["message"].split()[0])) for each in group["connections"]}
    assert ours == theirs


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "Nodes 4",
            "Node 4",
            "1: Nodes Node 4: bad header, the first line is `Nodes N`; valid: N at least 1",
        ),
        (
            "Nodes 4",
            "Nodes 0",
            "1: Nodes Nodes 0: bad header, the first line is `Nodes N`; valid: N at least 1",
        ),
        ("Connections 3", "Connections 4", "2: Connections 4: but 3 follow; valid: 3"),
        ("0->3", "0->4", "3: 0->4: there is no host 4; valid: 0 to 3"),
        ("0->3", "3->3", "3: 3->3: a host cannot send to itself"),
        ("id 2", "id 1", "4: id 1: is the id of line 3 already; valid: another id, or none"),
        ("size 3000", "size -1", "3: size -1: must be between 1 and 67108864"),
        ("size 3000", "size 0", "3: size 0: must be between 1 and 67108864"),
        ("size 3000", "size x", "3: size x: must be a whole number"),
        ("size 3000", "size", "3: size: must be a whole number"),
        ("start 2000000", "start -5", "4: start -5: must be between 0 and 86400000000000000"),
        ("start 2000000", "", "4: start: is missing"),
        ("size 3000", "size 3000 size 3000", "3: size 3000: is given twice"),
        (
            "start 2000000",
            "trigger 1",
            "4: trigger 1: triggers are not supported: a flow starts at a time; valid: start",
        ),
        (
            "size 3000",
            "size 3000 prio 2",
            "3: prio 2: unknown field or not supported; valid: id, start, size",
        ),
    ],
)
def test_mistakes_have_their_line(tmp_path: Path, old: str, new: str, expected: str) -> None:
    assert old in GOOD
    assert complaint(tmp_path, GOOD.replace(old, new, 1)) == [expected]


def test_other_lines_and_all_mistakes_at_once(tmp_path: Path) -> None:
    text = GOOD.replace("0->3", "0->9").replace("2->0 start 0 ", "trigger id 1 oneshot\nx->0 start 0 ")
    assert complaint(tmp_path, text) == [
        "2: Connections 3: but 2 follow; valid: 2",
        "3: 0->9: there is no host 9; valid: 0 to 3",
        "6: trigger id 1 oneshot: triggers and failures are not supported",
        "7: x->0 start 0 size 5000: is no connection; "
        "valid: a connection such as `0->1 id 1 start 0 size 2000000`",
    ]


def test_an_empty_file_lacks_its_headers(tmp_path: Path) -> None:
    assert len(complaint(tmp_path, "")) == 2


def test_no_text(tmp_path: Path) -> None:
    path = tmp_path / "bad.cm"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(becalm.ScenarioError, match="not a text file in UTF-8"):
        becalm.read_connection_matrix(path)
