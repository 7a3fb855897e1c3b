"""The initial traffic of imported fabrics: below the knee of all links, and apart by rails."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import becalm
from becalm.opensm import traffic
from becalm.opensm.importing import import_fabric
from becalm.whatif.case import Case, _read, simulate
from fabrics import DATA, TREE, Cable, discovered, taken, written


def two_rails(machines: int = 8) -> str:
    """Return machines with an adapter on each of two leaves and spines, which one cable joins."""
    cables: list[Cable] = [("S5", 30, "S6", 30)]
    descriptions = {}
    for rail in (0, 1):
        leaves, spine = (f"S{1 + 2 * rail}", f"S{2 + 2 * rail}"), f"S{5 + rail}"
        cables += [(leaf, 35, spine, place) for place, leaf in enumerate(leaves, 1)]
        for machine in range(machines):
            adapter = f"H{10 * (machine + 1) + rail}"
            cables.append((adapter, 1, leaves[machine % 2], machine + 1))
            descriptions[adapter] = f"gpu{machine:02} mlx5_{rail}"
    return discovered(cables, descriptions)


def fullest(scenario: becalm.Scenario) -> float:
    """Return the largest load of a link by the background, as a share of its rate, of hosts with one rate."""
    network = scenario.network()
    flows = network.flows.with_row_index("flow").filter(pl.col("group").str.starts_with("background"))
    load = next(group for group in scenario.data()["flows"])["traffic"]["poisson"]["load"]
    paths = network.flow_paths.filter(pl.col("flow").is_in(flows["flow"].to_list()))
    return float(load * paths.group_by("link").agg(pl.col("share").sum())["share"].max())


@pytest.mark.parametrize(("name", "load"), [("ft2_18", 0.5), ("ft3_16", 0.3)])
def test_no_link_is_full_without_the_hot_spot(name: str, load: float) -> None:
    imported = import_fabric(DATA / name / "ibnetdiscover.txt", DATA / name / "opensm-lfts.dump")
    scenario = becalm.Scenario(imported.text)
    assert imported.background.load == load
    assert imported.background.fullest == pytest.approx(fullest(scenario))
    assert fullest(scenario) <= 0.6 + 1e-9
    assert f"The fullest link carries {imported.background.fullest:.2g} of its rate" in imported.text
    calm = scenario.replace(
        {"flows": scenario.data()["flows"][:1], "run.duration": "2 ms", "run.warmup": "0.5 ms"}
    )
    results = becalm.run(calm)
    assert results.groups["latency_p99"].item() < 100e-6
    assert results.tree.filter(pl.col("role") == "root").is_empty()


def test_the_load_of_a_slow_receiver_counts(tmp_path: Path) -> None:
    slow = discovered(TREE).splitlines()
    text = "\n".join(
        line.replace("4xQDR", "4xSDR") if "0000020000000100" in line or "[1](20000000101)" in line else line
        for line in slow
    )
    # Its rate is a quarter of that of the host that sends to it.
    assert taken(tmp_path, text).background.load == 0.15


def test_the_initial_traffic_stays_within_a_rail(tmp_path: Path) -> None:
    imported = taken(tmp_path, two_rails())
    assert imported.notes[-1] == (
        "hosts have several adapters: the initial traffic stays within 2 rails, of 8, 8 adapters"
    )
    flows = becalm.Scenario(imported.text).network().flows
    assert flows["group"].unique().sort().to_list() == ["background_1", "background_2", "hot_spot"]
    assert all(row["source"][-1] == row["destination"][-1] for row in flows.iter_rows(named=True))
    file, _ = written(tmp_path, two_rails())
    scenario, fabric = _read(Case(file, "gpu00_mlx5_0"))
    assert fabric is not None
    flows = scenario.network().flows
    assert all(row["source"][-1] == row["destination"][-1] for row in flows.iter_rows(named=True))
    incast = simulate(Case(file, "gpu00_mlx5_1"))
    assert incast.sources == [f"gpu{machine:02}_mlx5_1" for machine in range(1, 8)]
    with pytest.raises(becalm.BecalmError, match="must be between 1 and the 7 other hosts of its rail"):
        simulate(Case(file, "gpu00_mlx5_1", 8))


def test_words_that_do_not_recur_make_no_rails(tmp_path: Path) -> None:
    for descriptions in (
        {"H1": "Node 1", "H2": "Node 2", "H3": "Node 3", "H4": "Node 4"},
        dict.fromkeys(("H1", "H2", "H3", "H4"), "MT4119 ConnectX5   Mellanox Technologies"),
        {"H1": "a HCA-1", "H2": "b HCA-1", "H3": "c HCA-1", "H4": "d HCA-1"},
    ):
        fabric = taken(tmp_path, discovered(TREE, descriptions)).fabric
        assert [len(rail) for rail in traffic.rails(fabric)] == [4]


def test_a_single_adapter_is_on_the_rail_of_its_word(tmp_path: Path) -> None:
    text = two_rails().replace('"gpu07 mlx5_0"', '"store1 mlx5_1"').replace('"gpu07 mlx5_1"', '"store2"')
    fabric = taken(tmp_path, text).fabric
    first, second = ([host.name for host in rail] for rail in traffic.rails(fabric))
    assert (len(first), "store2" in first) == (8, True)
    assert (len(second), "store1" in second) == (8, True)


def nodes_of(folder: Path, text: str) -> list[dict[str, Any]]:
    """Return the nodes of an imported fabric."""
    nodes: list[dict[str, Any]] = becalm.Scenario(taken(folder, text).text).resolved["nodes"]
    return [{key: node[key] for key in ("name", "gpus", "nics")} for node in nodes]


def test_descriptions_make_nodes_of_several_adapters(tmp_path: Path) -> None:
    text = two_rails()
    hosts = [[f"gpu{machine:02}_mlx5_{rail}" for rail in (0, 1)] for machine in range(8)]
    alone = [{"name": f"gpu{machine:02}", "gpus": 2, "nics": [hosts[machine]]} for machine in range(8)]
    assert nodes_of(tmp_path, text) == alone
    # Without leading zeros, their names make a range.
    (nodes,) = nodes_of(tmp_path, text.replace("gpu0", "gpu"))
    assert (nodes["name"], nodes["gpus"]) == ("gpu0..gpu7", 2)
    job = '\n[[jobs]]\nname = "j"\nnodes = ["*"]\ncollective.all_to_all = {bytes = "64 KiB"}\n'
    scenario = becalm.Scenario(taken(tmp_path, text).text + job)
    assert dict(scenario.core.owners())["gpu03_mlx5_1"] == "GPU 1 of node gpu03"
    ranks = becalm.run(scenario.replace({"run": {"duration": "50 us", "warmup": "0 s"}})).ranks["host"]
    assert ranks.to_list()[:3] == ["gpu00_mlx5_0", "gpu00_mlx5_1", "gpu01_mlx5_0"]


@pytest.mark.parametrize(
    ("descriptions", "expected"),
    [
        ({"H1": "n1 HCA-1", "H2": "n1 HCA-2", "H3": "n2 HCA-1", "H4": "n3 HCA-1"}, [("n1", 2, 1)]),
        ({"H1": "n1 ibp3s0", "H2": "n1 ibp65s0f1", "H3": "n2", "H4": "n3"}, [("n1", 2, 1)]),
        # Words that are no devices, and recur in another machine or do not.
        (
            {"H1": "n1 left", "H2": "n1 right", "H3": "n2 left", "H4": "n2 right"},
            [("n1", 2, 1), ("n2", 2, 1)],
        ),
        ({"H1": "Storage old", "H2": "Storage new", "H3": "n2", "H4": "n3"}, []),
        # Names without a pattern, and a name that several machines have.
        ({"H1": "n1a", "H2": "n1b", "H3": "n2a", "H4": "n2b"}, []),
        ({"H1": "MT4119 ConnectX5", "H2": "MT4119 ConnectX5", "H3": "n2", "H4": "n3"}, []),
        ({"H1": "localhost mlx5_0", "H2": "localhost mlx5_1", "H3": "localhost mlx5_0", "H4": "n3"}, []),
    ],
)
def test_only_descriptions_that_say_so_make_nodes(
    descriptions: dict[str, str], expected: list[tuple[str, int, int]], tmp_path: Path
) -> None:
    text = discovered(TREE, descriptions)
    nodes = nodes_of(tmp_path, text)
    assert [(node["name"], node["gpus"], len(node["nics"])) for node in nodes] == expected
    doubts = [note for note in taken(tmp_path, text).notes if "in no node" in note]
    assert bool(doubts) == (len({*descriptions.values()}) < len(descriptions)), doubts


def test_cables_of_one_adapter_are_ports_of_its_node(tmp_path: Path) -> None:
    cables = [*TREE, ("H1", 2, "S2", 1), ("H2", 2, "S2", 3)]
    both = {"H1": "n1 mlx5_0", "H2": "n1 mlx5_1", "H3": "n2", "H4": "n3"}
    (node,) = nodes_of(tmp_path, discovered(cables, both))
    assert node["nics"] == [["n1_mlx5_0-p1", "n1_mlx5_1-p1"], ["n1_mlx5_0-p2", "n1_mlx5_1-p2"]]
    text = discovered(cables[:-1], both)
    assert nodes_of(tmp_path, text) == []
    assert 'adapters with different numbers of cables are in no node: "n1"' in taken(tmp_path, text).notes
