"""Files of HPCC's ns-3, its relatives and htsim as scenarios, and completion times in HPCC's columns."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

import becalm
from becalm.base.errors import ScenarioError
from becalm.cli import app
from becalm.simulators import htsim, topologies
from becalm.simulators.fct import lines
from becalm.simulators.importing import import_file, kind

ROOT = Path(__file__).parents[1]

CONFIG = """\
ENABLE_QCN 1
USE_DYNAMIC_PFC_THRESHOLD 1
PACKET_PAYLOAD_SIZE 1000
TOPOLOGY_FILE mix/topology.txt {input file}
FLOW_FILE mix/flow.txt
FCT_OUTPUT_FILE mix/fct.txt
SIMULATOR_STOP_TIME 4.00
CC_MODE 3 {1: DCQCN, 3: HPCC, 7: TIMELY, 8: DCTCP, 10: HPCC-PINT}
ALPHA_RESUME_INTERVAL 1
RATE_DECREASE_INTERVAL 4
CLAMP_TARGET_RATE 0
RP_TIMER 300
EWMA_GAIN 0.00390625
FAST_RECOVERY_TIMES 1
RATE_AI 40Mb/s
RATE_HAI 200Mb/s
MIN_RATE 1000Mb/s
ERROR_RATE_PER_LINK 0.0000
L2_ACK_INTERVAL 1
HAS_WIN 0
FAST_REACT 1
U_TARGET 0.95
MI_THRESH 0
LINK_DOWN 0 0 0
KMAX_MAP 2 100000000000 1600 400000000000 6400
KMIN_MAP 2 100000000000 400 400000000000 1600
PMAX_MAP 2 100000000000 0.2 400000000000 0.2
BUFFER_SIZE 32
"""


def star(hosts: int, first: str = "{nodes} 1 {hosts}") -> str:
    head = first.format(nodes=hosts + 1, hosts=hosts)
    cables = "".join(f"0 {host} 100Gbps 0.001ms 0\n" for host in range(1, hosts + 1))
    return f"{head}\n0\n{cables}"


FAT = """\
12 4 12
8 9 10 11
0 8 100Gbps 1000ns 0.000000
1 8 100Gbps 1000ns 0.000000
2 8 100Gbps 1000ns 0.000000
3 8 100Gbps 1000ns 0.000000
4 9 100Gbps 1000ns 0.000000
5 9 100Gbps 1000ns 0.000000
6 9 100Gbps 1000ns 0.000000
7 9 100Gbps 1000ns 0.000000
8 10 400Gbps 1000ns 0.000000
8 11 400Gbps 1000ns 0.000000
9 10 400Gbps 1000ns 0.000000
9 11 400Gbps 1000ns 0.000000
"""
FLOWS = "3\n2 1 3 100 4000000 2\n3 1 3 100 4000000 2.0000003\n1 2 3 200 1000 2.1\n"


def files(folder: Path, config: str = CONFIG, topology: str = "", flows: str = FLOWS) -> Path:
    (folder / "mix").mkdir(exist_ok=True)
    (folder / "mix" / "topology.txt").write_text(topology or star(3))
    (folder / "mix" / "flow.txt").write_text(flows)
    file = folder / "mix" / "config.txt"
    file.write_text(config)
    return file


def changed(key: str, value: str) -> str:
    """Return the configuration with another value of a key."""
    kept = [line for line in CONFIG.splitlines() if line.split()[0] != key]
    assert len(kept) == len(CONFIG.splitlines()) - 1 or key not in CONFIG
    return "\n".join([*kept, f"{key} {value}", ""])


def reference(entry: str, case: str) -> dict[str, float]:
    read = tomllib.loads((ROOT / "crosschecks" / entry / "reference.toml").read_text())
    (values,) = (each["values"] for each in read["cases"] if each["name"] == case)
    return dict(values)


@pytest.mark.parametrize(
    ("mode", "entry", "size", "tolerance"),
    [(3, "roce-hpcc", 4_000_000, 0.02), (1, "roce-dcqcn", None, 0.03), (8, "roce-dctcp", None, 0.03)],
)
def test_completion_times_are_those_of_the_ns3(
    mode: int, entry: str, size: int | None, tolerance: float, tmp_path: Path
) -> None:
    # The scenes of the comparisons with that program, as its own files.
    (peer,) = (
        each["peer"]
        for each in tomllib.loads((ROOT / "crosschecks" / entry / "reference.toml").read_text())["cases"]
        if each["name"] == "2 hosts"
    )
    size = size or peer["size"]
    config = changed("CC_MODE", str(mode))
    if mode != 3:
        config = config.replace("RATE_AI 40Mb/s", "RATE_AI 20Mb/s")
    if mode == 8:
        config = config.replace("EWMA_GAIN 0.00390625", "EWMA_GAIN 0.0625").replace(" 1600 ", " 300 ")
        config = config.replace(" 400 4", " 300 4").replace("6400", "1200").replace(" 1600\n", " 1200\n")
        config = config.replace("0.2", "1.0")
    flows = f"2\n2 1 3 100 {size} 2\n3 1 3 100 {size} 2.0000005\n"
    imported = import_file(files(tmp_path, config, flows=flows))
    results = becalm.run(becalm.Scenario(imported.text))
    mean = results.messages["completion"].mean()
    assert isinstance(mean, float)
    assert mean * 1e6 == pytest.approx(reference(entry, "2 hosts")["mean"], rel=tolerance)


def test_without_control_times_are_those_of_the_ns3(tmp_path: Path) -> None:
    config = changed("CC_MODE", "0").replace("BUFFER_SIZE 32", "BUFFER_SIZE 4")
    flows = "2\n2 1 3 100 1000000 2\n3 1 3 100 1000000 2\n"
    imported = import_file(files(tmp_path, config, flows=flows))
    mean = becalm.run(becalm.Scenario(imported.text)).messages["completion"].mean()
    assert isinstance(mean, float)
    assert mean * 1e6 == pytest.approx(reference("roce-incast", "2 hosts")["mean"], rel=0.01)


def test_an_imported_configuration_runs_and_writes_its_columns(tmp_path: Path) -> None:
    out, fct = tmp_path / "s.toml", tmp_path / "fct.txt"
    done = CliRunner().invoke(app, ["import", str(files(tmp_path)), "--out", str(out)])
    assert (done.exit_code, "3 hosts, 1 switches, 3 cables" in done.output) == (0, True), done.output
    run = ["run", str(out), "--out", str(tmp_path / "r"), "--fct", str(fct), "--quiet"]
    done = CliRunner().invoke(app, run)
    assert done.exit_code == 0, done.output
    rows = [line.split() for line in fct.read_text().splitlines()]
    assert [row[:6] for row in sorted(rows, key=lambda each: int(each[5]))] == [
        ["0b000201", "0b000101", "10000", "100", "4000000", "2000000000"],
        ["0b000301", "0b000101", "10000", "100", "4000000", "2000000300"],
        ["0b000101", "0b000201", "10000", "200", "1000", "2100000000"],
    ]
    for row in rows:
        # Their time on an empty network counts the first packet twice on the slowest link.
        assert int(row[6]) >= int(row[7]) - 84
    # 4 us of delays, two payloads of 80 ns, and 4000 packets of 1048 B, cut to whole ns.
    assert {int(row[7]) for row in rows} == {4160 + 335_360, 4160 + 83}


def test_the_time_stamps_of_timely_do_not_count_on_an_empty_network(tmp_path: Path) -> None:
    """Packets are 8 B longer, but the time on an empty network is that of the other controls."""
    config = changed("CC_MODE", "7")
    imported = import_file(files(tmp_path, config, flows="1\n2 1 3 100 4000000 2\n"))
    assert 'header = "56 B"' in imported.text
    (line,) = lines(becalm.run(becalm.Scenario(imported.text)))
    assert int(line.split()[7]) == 4160 + 335_360


def test_no_completion_times_without_messages(tmp_path: Path) -> None:
    scene = ["run", "scenarios/pfc_spreading.toml", "--out", str(tmp_path / "r")]
    done = CliRunner().invoke(app, [*scene, "--fct", str(tmp_path / "fct.txt")])
    assert (done.exit_code, "--fct: needs the messages of the run" in done.output) == (2, True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("mode", [0, 1, 3, 7, 8])
@pytest.mark.parametrize("topology", ["star", "fat", "powertcp"])
def test_schemes_and_topologies_run(mode: int, topology: str, tmp_path: Path) -> None:
    networks = {
        "star": star(4),
        "fat": FAT,
        "powertcp": star(4, "{nodes} 1 1 {hosts}").replace("100Gbps", "25000000000.0"),
    }
    config = changed("CC_MODE", str(mode))
    if topology == "powertcp":
        config = config.replace("100000000000", "25000000000")
    flows = "3\n1 3 3 100 50000 0\n2 3 3 100 50000 0.000001\n4 1 3 100 50000 0\n"
    imported = import_file(files(tmp_path, config, networks[topology], flows))
    scenario = becalm.Scenario(imported.text)
    assert ("paths" in scenario.data()["switch"]) == (topology == "fat")
    written = list(lines(becalm.run(scenario)))
    assert len(written) == 3
    if topology == "fat" and mode in (1, 8):
        assert scenario.resolved["marking"]["ramp"]["per"] == 400


def test_priorities_are_lanes(tmp_path: Path) -> None:
    flows = "2\n2 1 3 100 4000 2\n3 1 5 100 4000 2\n"
    imported = import_file(files(tmp_path, flows=flows))
    scenario = becalm.Scenario(imported.text)
    assert [group["name"] for group in scenario.resolved["flows"]] == [
        "priority_3_port_100",
        "priority_5_port_100",
    ]
    assert [line.split()[3] for line in lines(becalm.run(scenario))] == ["100", "100"]


def test_many_ports_are_one_group(tmp_path: Path) -> None:
    flows = "20\n" + "".join(f"2 1 3 {100 + i} 1000 2\n" for i in range(20))
    imported = import_file(files(tmp_path, flows=flows))
    assert imported.notes == ["20 ports of flows are one group, and `run --fct` writes port 100"]
    written = [line.split() for line in lines(becalm.run(becalm.Scenario(imported.text)))]
    assert {row[2] for row in written} == {str(10_000 + i) for i in range(20)}


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("CC_MODE", "10", "is a scheme that becalm does not have; valid: 0 (none), 1 (DCQCN), 3 (HPCC)"),
        ("LINK_DOWN", "2.1 0 1", "takes a link down"),
        ("ERROR_RATE_PER_LINK", "0.001", "is an error rate"),
        ("ENABLE_PFC", "0", "is not what becalm imports"),
        ("LB_MODE", "9", "is not what becalm imports"),
        ("RATE_AI", "fast", "is not a rate"),
        ("KMAX_MAP", "3 100000000000 1600", "is not a map"),
        ("BUFFER_SIZE", "0", "is less than the 210804 B of headroom"),
        ("SIMULATOR_STOP_TIME", "1", "is before the first flow"),
        ("PACKET_PAYLOAD_SIZE", "9", "is no payload"),
    ],
)
def test_what_a_scenario_cannot_say_is_refused_with_its_line(
    key: str, value: str, problem: str, tmp_path: Path
) -> None:
    file = files(tmp_path, changed(key, value))
    done = CliRunner().invoke(app, ["import", str(file), "--out", str(tmp_path / "s.toml")])
    assert done.exit_code == 2
    (line,) = done.output.splitlines()
    assert problem in line
    assert file.read_text().splitlines()[int(line.split(":")[1]) - 1].startswith(key)
    assert not (tmp_path / "s.toml").exists()


def test_thresholds_must_follow_the_rates(tmp_path: Path) -> None:
    config = changed("KMIN_MAP", "2 100000000000 400 400000000000 400").replace("CC_MODE 3", "CC_MODE 1")
    with pytest.raises(ScenarioError, match="is not in proportion to the other rates"):
        import_file(files(tmp_path, config, FAT))
    config = changed("PMAX_MAP", "1 100000000000 0.2").replace("CC_MODE 3", "CC_MODE 1")
    with pytest.raises(ScenarioError, match="PMAX_MAP 400000000000: lacks a rate of the topology"):
        import_file(files(tmp_path, config, FAT))


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        (star(3).replace("4 1 3", "4 1 9"), 1, "has 3 cables, but the first line says 9"),
        (star(3).replace("0 3 ", "0 9 "), 5, "is not a node"),
        (star(3).replace("0.001ms", "late"), 3, "is not a delay"),
        (star(3).replace("100Gbps", "fast"), 3, "is not a rate"),
        (star(3).replace("1ms 0\n", "1ms 0.1\n", 1), 3, "becalm's links lose nothing"),
        (star(3).replace("0 3 ", "1 2 "), 5, "does not lead to a switch"),
        (star(3).replace("0 3 ", "0 2 "), 5, "is one of 1 hosts with several cables"),
        ("a b c\n", 1, "is not the first line of a topology"),
        ("", 1, "is empty"),
    ],
)
def test_mistakes_in_topologies_have_lines(text: str, line: int, problem: str, tmp_path: Path) -> None:
    file = tmp_path / "topology.txt"
    file.write_text(text)
    with pytest.raises(ScenarioError) as error:
        topologies.read(file)
    assert any(problem in each["problem"] and each["line"] == line for each in error.value.mistakes), (
        error.value
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("2\n2 1 3 100 1000 2\n", "has 1 flows, but the first line says 2"),
        ("1\n0 1 3 100 1000 2\n", "is not a host of the topology"),
        ("1\n2 2 3 100 1000 2\n", "is a flow to its source"),
        ("1\n2 1 3 100 1000\n", "is not a flow"),
        ("many\n", "is not a number of flows"),
        ("", "is empty"),
    ],
)
def test_mistakes_in_flows_are_told(text: str, problem: str, tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=problem):
        import_file(files(tmp_path, flows=text))


TIERS = """\
# two tiers
Nodes 16
Tiers 2
Podsize 16

Tier 0
Downlink_speed_Gbps 100
Radix_Down 4
Radix_Up 2
Downlink_Latency_ns 1000
Switch_Latency_ns 500
Oversubscribed 2

Tier 1
Downlink_speed_Gbps 200
Radix_Down 4
Downlink_Latency_ns 1000
"""
PODS = """\
Nodes 8
Tiers 3
Podsize 4
Tier 0
Downlink_speed_Gbps 200
Radix_Down 2
Radix_Up 2
Downlink_Latency_ns 1000
Tier 1
Downlink_speed_Gbps 200
Radix_Down 2
Radix_Up 4
Downlink_Latency_ns 1000
Bundle 1
Tier 2
Downlink_speed_Gbps 100
Radix_Down 4
Downlink_Latency_ns 1000
Bundle 2
"""


def test_trees_of_htsim_have_their_switches_and_cables(tmp_path: Path) -> None:
    file = tmp_path / "x.topo"
    for text, switches, cables in ((TIERS, 6, 16 + 8), (PODS, 12, 8 + 8 + 16)):
        file.write_text(text)
        _, graph = htsim.read(file)
        assert (len(graph.switches), len(graph.cables)) == (switches, cables)
        imported = import_file(file)
        scenario = becalm.Scenario(imported.text)
        assert scenario.network().links.height == 2 * cables
    assert {cable.rate for cable in graph.cables} == {200e9, 100e9}
    file.write_text(TIERS)
    assert import_file(file).notes == ["latencies of switches differ: all have 500 ns"]
    for there, planted, problem in (
        ("Radix_Down 4\nRadix_Up", "Radix_Down 3\nRadix_Up", "16 / 3 is not a whole number"),
        ("Tiers 2", "Tiers 3", "that many tiers"),
        ("Downlink_speed_Gbps 200\n", "", "is missing"),
        ("Podsize 16", "Podsize x", "is not a whole number"),
        ("Podsize", "Pods", "is unknown"),
    ):
        assert there in TIERS
        file.write_text(TIERS.replace(there, planted))
        with pytest.raises(ScenarioError, match=problem):
            htsim.read(file)


def test_files_are_recognised(tmp_path: Path) -> None:
    config = files(tmp_path)
    assert [kind(config.parent / name) for name in ("config.txt", "topology.txt", "flow.txt", "none")] == [
        "config",
        "topology",
        "",
        "",
    ]
    assert kind(ROOT / "tests" / "data" / "ft2_18" / "ibnetdiscover.txt") == ""
    topology = config.parent / "topology.txt"
    becalm.Scenario(import_file(topology).text)
    topology.write_text(star(3, "{nodes} 1 1 {hosts}"))
    assert kind(topology) == "topology"
