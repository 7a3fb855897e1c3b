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
        ("Nodes 4", "Nodes 0", "1: Nodes 0: bad header: must be `Nodes N`; valid: N at least 1"),
        ("Nodes 4", "Nodes 4 5", "1: Nodes 4 5: bad header: must be `Nodes N`; valid: N at least 1"),
        ("Nodes 4", "Nodes 4\nNodes 4", "2: Nodes 4: already exists in line 1"),
        ("Nodes 4", "Nodes 4\nFailures 1", "2: Failures 1: failures of links are not supported; valid: 0"),
        ("Nodes 4", "Nodes 4\nTriggers 1", "2: Triggers 1: but 0 follow; valid: 0"),
        ("Connections 3", "Connections 4", "2: Connections 4: but 3 follow; valid: 3"),
        ("0->3", "0->4", "3: 0->4: there is no host 4; valid: 0 to 3"),
        ("0->3", "3->3", "3: 3->3: a host cannot send to itself"),
        ("id 2", "id 1", "4: id 1: is already used in line 3; valid: another id, or none"),
        ("size 3000", "size -1", "3: size -1: must be between 0 and 1099511627776"),
        ("size 3000", "size 2000000000000", "3: size 2000000000000: must be between 0 and 1099511627776"),
        ("size 3000", "size x", "3: size x: must be a whole number"),
        ("size 3000", "size", "3: size: must be a whole number"),
        ("start 2000000", "start -5", "4: start -5: must be between 0 and 86400000000000000"),
        ("start 2000000", "", "4: start: is missing"),
        ("size 3000", "size 3000 size 3000", "3: size 3000: is given twice"),
        (
            "start 2000000",
            "trigger 1",
            "4: trigger 1: a flow must have a start time; "
            "becalm.read_connection_job reads triggers; valid: start",
        ),
        (
            "size 3000",
            "size 3000 prio 2",
            "3: prio 2: unknown field or not supported; "
            "valid: id, start, size, trigger, send_done_trigger, recv_done_trigger",
        ),
    ],
)
def test_mistakes_have_their_line(tmp_path: Path, old: str, new: str, expected: str) -> None:
    assert old in GOOD
    assert complaint(tmp_path, GOOD.replace(old, new, 1)) == [expected]


def test_other_lines_and_all_mistakes_at_once(tmp_path: Path) -> None:
    text = GOOD.replace("0->3", "0->9").replace("2->0 start 0 ", "failure switch_id 1\nx->0 start 0 ")
    assert complaint(tmp_path, text) == [
        "2: Connections 3: but 2 follow; valid: 2",
        "3: 0->9: there is no host 9; valid: 0 to 3",
        "6: failure switch_id 1: failures of links are not supported",
        "7: x->0 start 0 size 5000: is neither a connection nor a trigger; valid: a connection such as "
        "`0->1 id 1 start 0 size 2000000`, or a trigger such as `trigger id 1 oneshot`",
    ]


HEADED = """\
# Connections of a test, with a start as a decimal number, a flow without end, and a message above 64 MiB.
Nodes 8
Triggers 0
Failures 0
Connections 3

0->3 id 1 start 0.000000 size 100000000
4->0 start 1.5 size 0
2->0 start 2 size 5000
"""


def test_headers_come_in_any_order_and_flows_without_end_are_a_group(tmp_path: Path) -> None:
    batch, endless = becalm.read_connection_matrix(written(tmp_path, HEADED), name="all", start_unit="us")
    assert batch["connections"] == [
        {"from": "H0", "to": "H3", "message": "100000000 B"},
        {"from": "H2", "to": "H0", "message": "5000 B", "start": "2 us"},
    ]
    assert endless == {
        "name": "all_endless",
        "traffic": {"greedy": {}},
        "connections": [{"from": "H4", "to": "H0", "start": "1.5 us"}],
    }
    flows = run([batch, endless]).flows
    assert all(bytes_ > 5000 for bytes_ in flows["delivered_bytes"])


# A ring of three in the format of htsim's `gen_allreduce.py`: each flow starts the next host's flow.
RING = """\
Nodes 8
Connections 5
Triggers 4
1->5 id 1 start 0 size 4000 send_done_trigger 1
5->7 id 2 trigger 1 size 4000 send_done_trigger 2
7->1 id 3 trigger 2 size 4000 send_done_trigger 3
1->5 id 4 trigger 3 size 4000 recv_done_trigger 4
5->7 id 5 trigger 4 size 4000
trigger id 1 oneshot
trigger id 2 oneshot
trigger id 3 oneshot
trigger id 4 oneshot
"""


def run_job(jobs: list[dict[str, Any]]) -> becalm.Results:
    topology = {"tree": {"ports": 4, "levels": 2, "rate": "8 Gb/s", "delay": "10 ns"}}
    data = {"run": {"duration": "10 ms", "end": "jobs"}, "topology": topology, "jobs": jobs}
    return becalm.run(becalm.Scenario(data))


def test_triggers_make_messages_wait_for_messages(tmp_path: Path) -> None:
    (job,) = becalm.read_connection_job(written(tmp_path, RING))
    assert job["hosts"] == ["H1", "H5", "H7"]
    chain = run_job([job]).jobs["time"].item()
    alone = run_job(
        becalm.read_connection_job(written(tmp_path, RING.replace("trigger 1 size", "start 0 size")))
    )
    # Five consecutive messages of 4 kB at 1 GB/s.
    assert 5 * 4e-6 < chain < 5 * 6e-6
    assert alone.jobs["time"].item() < chain - 3e-6


def test_starts_barriers_and_multishots(tmp_path: Path) -> None:
    text = """\
Nodes 4
Connections 6
Triggers 2
0->1 id 1 start 3000000 size 100 send_done_trigger 1
0->2 id 2 start 0 size 100 send_done_trigger 1
2->0 id 3 start 1000000 size 100 recv_done_trigger 1
0->3 id 4 trigger 1 size 100 recv_done_trigger 2
3->1 id 5 trigger 2 size 100
3->2 id 6 start 5 size 100
trigger id 1 barrier count 3
trigger id 2 multishot
"""
    (job,) = becalm.read_connection_job(written(tmp_path, text))
    ranks = job["goal"]["text"].split("rank ")
    assert "t0: calc 3000\n" in ranks[1] and "s0 requires t0" in ranks[1]
    waits = sorted(line for line in ranks[1].splitlines() if line.startswith("s3 requires"))
    assert waits == ["s3 requires r2", "s3 requires s0", "s3 requires s1"]
    assert "s4 requires r3" in ranks[4]
    assert run_job([job]).jobs["time"].item() > 3e-6


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("trigger id 4 oneshot\n", "", "3: Triggers 4: but 3 follow; valid: 3"),
        (
            "send_done_trigger 1",
            "send_done_trigger 9",
            "4: trigger 9: does not exist",
        ),
        (
            "7->1 id 3",
            "3->1 id 3",
            "starts a flow of host 3, but 5->7 fires it: hosts know only their own messages",
        ),
        ("recv_done_trigger 4", "recv_done_trigger 3", "trigger id 3 oneshot: is fired by 2 flows; valid: 1"),
        (
            "start 0 size 4000",
            "start 0 size 0",
            "size 0: an endless flow cannot be part of a job; valid: at least 1",
        ),
        (
            "trigger 1 size",
            "trigger 1 start 4 size",
            "start: a flow with a trigger starts when the trigger fires; valid: one of the two",
        ),
    ],
)
def test_mistakes_of_triggers(tmp_path: Path, old: str, new: str, expected: str) -> None:
    assert old in RING
    with pytest.raises(becalm.ScenarioError) as caught:
        becalm.read_connection_job(written(tmp_path, RING.replace(old, new, 1)))
    assert expected in str(caught.value)


def test_an_empty_file_lacks_its_headers(tmp_path: Path) -> None:
    assert len(complaint(tmp_path, "")) == 2


def test_no_text(tmp_path: Path) -> None:
    path = tmp_path / "bad.cm"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(becalm.ScenarioError, match="not a text file in UTF-8"):
        becalm.read_connection_matrix(path)
