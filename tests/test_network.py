"""The network of a scenario on each topology, without a run."""

from __future__ import annotations

from itertools import pairwise

import polars as pl
import pytest

import becalm
from becalm.scenario.contents import catalogue
from test_whatif import TOPOLOGIES


@pytest.fixture(params=sorted(TOPOLOGIES))
def anywhere(request: pytest.FixtureRequest) -> becalm.Scenario:
    """A scenario on each of the topologies."""
    flows = [{"name": "all", "from": ["*"], "to": ["*"], "traffic": {"poisson": {"load": 0.2}}}]
    vls = 2 if request.param in ("dragonfly", "torus") else 1
    network = {"topology": {request.param: TOPOLOGIES[request.param]}, "switch": {"vls": vls}}
    return becalm.Scenario({"run": {"duration": "20 us"}, "flows": flows, **network})


def test_every_topology_is_here() -> None:
    assert set(TOPOLOGIES) == {entry.name for entry in catalogue()["topologies"]}


def test_it_has_the_hosts_links_and_flows_of_a_run(anywhere: becalm.Scenario) -> None:
    network, results = anywhere.network(), becalm.run(anywhere, threads=1)
    ends = ("from", "from_port", "to")
    assert network.links.select(ends).equals(results.links.select(ends))
    assert network.hosts == anywhere.hosts() == results.hosts["host"].to_list()
    flows = ("group", "source", "destination")
    assert network.flows.select(flows).equals(results.flows.select(flows))
    assert all(set(hosts) == set(network.hosts) for hosts in network.groups["all"])
    assert network.cycle() == network.cycle(of_all=True) == []


def test_paths_lead_from_host_to_host(anywhere: becalm.Scenario) -> None:
    network = anywhere.network()
    source, *others = network.hosts
    distances = network.distances(source)
    assert list(distances) == others
    for host in others:
        path = network.paths(source, host)
        assert (path["from"][0], path["to"][-1]) == (source, host)
        assert all(one["to"] == other["from"] for one, other in pairwise(path.iter_rows(named=True)))
        assert distances[host] == path.height >= 2
        flow = network.flows.with_row_index("flow").filter(
            (pl.col("source") == source) & (pl.col("destination") == host)
        )["flow"][0]
        assert all(flow in network.crosses(link)["flow"] for link in path["link"])


def test_it_knows_what_flows_offer_and_what_is_fair(anywhere: becalm.Scenario) -> None:
    """The load of all hosts is carried, so that the fair rates are the offered ones."""
    network = anywhere.network()
    rate = network.links.filter(pl.col("from_level") == 0)["capacity"].to_numpy().mean()
    offered = network.offered(0.0, 20e-6)
    assert offered == pytest.approx({"all": 0.2 * rate * len(network.hosts)})
    assert network.fair(0.0, 20e-6).sum() == pytest.approx(offered["all"])
    assert network.flows.select("start", "stop").unique().rows() == [(0.0, pytest.approx(20e-6))]
    for ends in ((1e-6, 1e-6), (-1.0, 1.0)):
        with pytest.raises(becalm.ScenarioError, match="not an interval; valid: 0 or a later time"):
            network.offered(*ends)
        with pytest.raises(becalm.ScenarioError, match="not an interval"):
            network.fair(*ends)


def test_hosts_are_resolved_as_in_groups(anywhere: becalm.Scenario) -> None:
    first, second = anywhere.hosts()[:2]
    assert anywhere.hosts(first, second) == [first, second]
    assert anywhere.hosts("*") == anywhere.hosts()
    with pytest.raises(becalm.ScenarioError, match="there is no host `nobody`"):
        anywhere.hosts("nobody")
    with pytest.raises(becalm.ScenarioError, match="there is no link `A->nobody`"):
        anywhere.network().crosses("A->nobody")
    with pytest.raises(becalm.ScenarioError, match="there is no host `nobody`"):
        anywhere.network().paths(first, "nobody")
