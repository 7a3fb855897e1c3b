"""Files of SimAI and ASTRA-sim as scenarios."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import becalm
from becalm.base.errors import ScenarioError
from becalm.cli import app
from becalm.simulators import astra, simai
from becalm.simulators.importing import import_files, kind

DATA = Path(__file__).parent / "data" / "chakra"
HEADER = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 2 vpp: 1 ga: 2 all_gpus: 32"
LAYERS = [
    "grad\t-1\t1\tNONE\t0\t1\tNONE\t0\t1\tREDUCESCATTER\t8000000\t100",
    "grad\t-1\t1\tNONE\t0\t1\tNONE\t0\t1\tALLGATHER\t4000000\t100",
    "layer\t-1\t50000\tALLREDUCE\t1000000\t70000\tALLREDUCE\t1000000\t10000\tNONE\t0\t100",
    "layer\t-1\t50000\tALLGATHER\t1000000\t70000\tREDUCESCATTER\t1000000\t10000\tALLTOALL_EP\t77\t100",
]
RING = (
    "topology: [ Ring ]\nnpus_count: [ 4 ]  # NPUs\nbandwidth: [ 50.0 ]  # GB/s\nlatency: [ 500.0 ]  # ns\n"
)
SYSTEM = '{"endpoint-delay": 10, "all-reduce-implementation": ["ring"], "preferred-dataset-splits": 1}'


def topology(servers: int = 2, leaves: int = 8, spines: int = 64, nvswitches: int = 1, ports: int = 1) -> str:
    """Servers of 8 GPUs, with one leaf switch per rail and port, as SimAI's generator makes them."""
    gpus, nv = 8 * servers, servers * nvswitches
    lines = list[str]()
    for gpu in range(gpus):
        first = gpus + gpu // 8 * nvswitches
        lines += [f"{gpu} {first + i} 2400Gbps 0.000025ms 0" for i in range(nvswitches)]
        lines += [f"{gpu} {gpus + nv + gpu % 8 + 8 * i} 100Gbps 0.0005ms 0" for i in range(ports)]
    first = gpus + nv + leaves
    lines += [
        f"{leaf} {spine} 400Gbps 0.0005ms 0"
        for leaf in range(gpus + nv, first)
        for spine in range(first, first + spines)
    ]
    switches = " ".join(str(i) for i in range(gpus, first + spines))
    head = f"{first + spines} 8 {nv} {leaves + spines} {len(lines)} A100"
    return "\n".join([head, f"{switches} ", *lines, ""])


def workload(layers: list[str] = LAYERS, header: str = f"{HEADER} pp_comm: 500000") -> str:
    return "\n".join([header, str(len(layers)), *layers, ""])


def write(folder: Path, **texts: str) -> list[Path]:
    files = [folder / name.replace("_", ".") for name in texts]
    for file, text in zip(files, texts.values(), strict=True):
        file.write_text(text)
    return files


def test_a_spectrum_x_has_90_nodes_and_544_links(tmp_path: Path) -> None:
    (file,) = write(tmp_path, topo=topology())
    assert file.read_text().startswith("90 8 2 72 544 A100\n")
    servers = simai.read_topology(file)
    # A NIC and an NVLink port of each GPU are hosts.
    assert (len(servers.graph.hosts), len(servers.graph.switches), len(servers.graph.cables)) == (32, 74, 544)
    scenario = becalm.Scenario(import_files([file], tmp_path).text)
    (node,) = scenario.resolved["nodes"]
    assert (node["name"], node["gpus"]) == ("N0..N1", 8)
    results = becalm.run(scenario)
    # 8 rings: 2 x 15/16 of 2 MiB over each NIC of 100 Gb/s, with headers of 78 B.
    form = 2 * 15 / 16 * (2 << 20) * 8 * 4174 / 4096 / 100e9
    assert form < results.jobs["time"][0] < 1.2 * form


def test_several_nvlink_switches_are_one_and_planes_are_ports(tmp_path: Path) -> None:
    (file,) = write(tmp_path, topo=topology(1, leaves=16, spines=1, nvswitches=4, ports=2))
    servers = simai.read_topology(file)
    assert servers.notes == ["the 4 NVLink switches of a server are one with the sum of their rates"]
    assert servers.ports[3] == ["gpu3p0", "gpu3p1"]
    rates = {cable.rate for cable in servers.graph.cables if cable.ends[0].endswith("v")}
    assert rates == {4 * 2400e9}
    becalm.Scenario(import_files([file], tmp_path).text)


def test_a_workload_is_a_step(tmp_path: Path) -> None:
    (file,) = write(tmp_path, workload_txt=workload())
    imported = import_files([file], tmp_path)
    assert imported.summary == "4 layers, 32 GPUs"
    step = becalm.Scenario(imported.text).resolved["jobs"][0]["step"]
    assert [step[key] for key in ("tensor", "pipeline", "data", "microbatches")] == [8, 2, 2, 2]
    # All layers of both microbatches; an all-gather or reduce-scatter is half an all-reduce.
    assert (step["forward"], step["backward"]) == ("50.001 us", "80.002 us")
    assert step["bytes"] == {"tensor": "750000 B", "pipeline": "500000 B", "data": "6000000 B"}
    assert any("expert-parallel groups are left out: 77 B" in note for note in imported.notes)


def test_gradients_may_exceed_4_gib(tmp_path: Path) -> None:
    large = LAYERS[0].replace("8000000", "5615517696")
    (file,) = write(tmp_path, workload_txt=workload([large, *LAYERS[1:]]))
    step = becalm.Scenario(import_files([file], tmp_path).text).resolved["jobs"][0]["step"]
    assert step["bytes"]["data"] == f"{5615517696 // 2 + 2_000_000} B"


def test_a_topology_and_its_workload_run(tmp_path: Path) -> None:
    files = write(tmp_path, topo=topology(4, spines=4), workload_txt=workload())
    results = becalm.run(becalm.Scenario(import_files(files, tmp_path).text))
    # 3 passes forward and back, each with its all-reduce over NVLink, then the gradients.
    assert 3 * 130e-6 < results.jobs["time"][0] < 3e-3


def test_a_workload_that_stays_within_nodes_says_so(tmp_path: Path) -> None:
    header = HEADER.replace("pp: 2", "pp: 1").replace("all_gpus: 32", "all_gpus: 8")
    (file,) = write(tmp_path, workload_txt=workload(header=header))
    assert any("stay within a node" in note for note in import_files([file], tmp_path).notes)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("\t100\n", "\n", "is not a layer of 12 columns"),
        ("ALLREDUCE", "ALLREDUCES", "ALLREDUCES: is not a collective operation; valid: NONE, ALLREDUCE"),
        ("ga: 2", "ga: 0", "is not a number; valid: at least 1"),
        ("all_gpus: 32", "all_gpus: 20", "has no whole replicas; valid: a multiple of"),
        ("all_gpus: 32", "", "all_gpus: is missing"),
        ("\n4\n", "\n5\n", "has 4 layers, but the second line says 5"),
    ],
)
def test_wrong_workloads(old: str, new: str, problem: str, tmp_path: Path) -> None:
    (file,) = write(tmp_path, workload_txt=workload().replace(old, new))
    with pytest.raises(ScenarioError, match=r"workload\.txt") as caught:
        import_files([file], tmp_path)
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("90 8 2 72 544", "90 7 2 72 544", "has no whole servers of GPUs"),
        ("90 8 2 72 544", "90 8 2 72 545", "has 544 cables, but the first line says 545"),
        ("\n16 17", "\n16 18", "are not the numbers of the switches"),
        ("0 16 2400Gbps", "0 16 fast", "is not a rate"),
        ("5 23 100Gbps", "5 16 100Gbps", "GPU 5"),
        ("0 16 2400Gbps 0.000025ms 0", "0 16 2400Gbps 0.000025ms 0.1", "is an error rate"),
    ],
)
def test_wrong_topologies(old: str, new: str, problem: str, tmp_path: Path) -> None:
    text = topology()
    assert old in text
    (file,) = write(tmp_path, topo=text.replace(old, new, 1))
    with pytest.raises(ScenarioError) as caught:
        import_files([file], tmp_path)
    assert problem in str(caught.value)


def test_networks_of_several_dimensions(tmp_path: Path) -> None:
    text = "topology: [ Ring, FullyConnected, Switch ]\nnpus_count: [ 2, 8, 4 ]\n"
    (file,) = write(tmp_path, net_yml=f"{text}bandwidth: [ 200, 100, 50 ]\nlatency: [ 50, 500, 2000 ]\n")
    graph = astra.graph(astra.read_network(file))
    # 64 NPUs with a switch each; 32 pairs, 8 groups of 28 pairs, 16 switches of 4.
    assert (len(graph.hosts), len(graph.switches), len(graph.cables)) == (64, 80, 64 + 32 + 8 * 28 + 64)
    becalm.Scenario(import_files([file], tmp_path).text)


def test_a_trace_of_astra_sim_takes_its_closed_form(tmp_path: Path) -> None:
    files = [*write(tmp_path, ring_yml=RING, system_json=SYSTEM), *sorted(DATA.glob("all_reduce.*.et"))]
    # Traces as JSON are traces, too.
    imported = import_files([files[0], *sorted(DATA.glob("step_json.*"))], tmp_path)
    assert 'step_json"' in imported.text
    out = tmp_path / "s.toml"
    done = CliRunner().invoke(app, ["import", *map(str, files), "--out", str(out)])
    assert (done.exit_code, "4 traces" in done.output) == (0, True), done.output
    scenario = becalm.load(out)
    results = becalm.run(scenario)
    # Six steps of a quarter of 1 MiB: 10 ns at both ends, 500 ns of cable, and the bytes at 50 GiB/s.
    step = (1 << 18) / (50 << 30) + 520e-9
    assert results.jobs["time"][0] == pytest.approx(6 * step, rel=1e-3)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("[ Ring ]", "[ Mesh ]", "is not a topology; valid: Ring, FullyConnected, Switch"),
        ("[ 4 ]", "[ 4, 2 ]", "has 2 dimensions, but topology has 1"),
        ("[ 50.0 ]", "[ tbd ]", "is not such a number"),
        ("latency: [ 500.0 ]", "", "latency: is missing"),
    ],
)
def test_wrong_networks(old: str, new: str, problem: str, tmp_path: Path) -> None:
    (file,) = write(tmp_path, net_yml=RING.replace(old, new))
    with pytest.raises(ScenarioError) as caught:
        import_files([file], tmp_path)
    assert problem in str(caught.value)


def test_files_that_do_not_belong_together_are_named(tmp_path: Path) -> None:
    files = write(tmp_path, ring_yml=RING, workload_txt=workload())
    assert [kind(file) for file in files] == ["astra", "simai workload"]
    done = CliRunner().invoke(app, ["import", *map(str, files), "--out", str(tmp_path / "s.toml")])
    assert (done.exit_code, "does not belong to the other files" in done.output) == (2, True), done.output
    traces = sorted(DATA.glob("all_gather.*.et"))
    with pytest.raises(ScenarioError, match="one of 8 traces, but the network has 4 NPUs"):
        import_files([files[0], *traces], tmp_path)
    with pytest.raises(ScenarioError, match="is not with the traces of all ranks"):
        import_files([files[0], *traces[1:]], tmp_path)
