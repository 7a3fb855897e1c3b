"""The initial traffic of imported fabrics: below the knee of all links, and apart by rails."""

from __future__ import annotations

from pathlib import Path

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
