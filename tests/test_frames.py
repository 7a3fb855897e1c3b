"""Frames, spans, topology and paths: a run's data for a report, as arrays."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import becalm
from becalm.results.frames import ROLES


@pytest.fixture(scope="module")
def watched() -> becalm.Results:
    return becalm.run(becalm.Scenario(SCENE))


SCENE = {
    "run": {"duration": "1 ms", "warmup": "100 us", "replications": 2},
    "topology": {"clos": {"leaves": 4, "spines": 2, "hosts_per_leaf": 4}},
    "flows": [{"name": "hot", "from": ["*"], "to": ["H0"]}],
    "observe": {"frames": "50 us", "spans": True, "links": []},
}


def test_frames_are_arrays_of_times_and_links(watched: becalm.Results) -> None:
    frames = watched.frames
    links = watched.links.filter(pl.col("replication") == 0)
    assert frames.occupancy.shape == (20, links.height)
    assert frames.occupancy.dtype == frames.role.dtype == np.uint8
    np.testing.assert_allclose(frames.time, np.arange(1, 21) * 50e-6)
    last = links["to"].to_list().index("H0")
    assert ROLES[frames.role[-1, last]] == "root"
    measured = frames.busy[2:, last].mean() / 255
    assert measured == pytest.approx(links["utilization"][last], abs=0.01)


def test_frames_come_back_from_a_folder(watched: becalm.Results, tmp_path: Path) -> None:
    saved = becalm.load_results(watched.save(tmp_path / "r"))
    for replication in (0, 1):
        before, after = watched.frames_of(replication), saved.frames_of(replication)
        np.testing.assert_array_equal(before.occupancy, after.occupancy)
        np.testing.assert_array_equal(before.stalled, after.stalled)
    assert saved.spans.equals(watched.spans)


def test_what_was_not_asked_for_is_reported() -> None:
    plain = becalm.run(becalm.Scenario({**SCENE, "observe": {}}))
    assert not {"frames", "frames_groups", "spans"} & set(plain.tables)
    with pytest.raises(becalm.ResultsError, match=r"no frames: set observe\.frames"):
        _ = plain.frames
    with pytest.raises(becalm.ResultsError, match=r"no spans: set observe\.spans"):
        _ = plain.spans


def test_a_replication_that_is_not_there_is_reported(watched: becalm.Results) -> None:
    with pytest.raises(becalm.ResultsError, match="replication 7; it has 2 replications"):
        watched.frames_of(7)


def test_a_step_longer_than_the_run_is_a_mistake() -> None:
    with pytest.raises(becalm.ScenarioError, match="is longer than the run"):
        becalm.Scenario({**SCENE, "observe": {"frames": "2 ms"}})


def test_frames_cover_a_run_that_ends_long_before_its_duration() -> None:
    scene = {
        "run": {"duration": "120 ms", "end": "jobs"},
        "topology": SCENE["topology"],
        "jobs": [
            {
                "name": "ring",
                "hosts": ["H0..H7"],
                "collective": {"all_reduce": {"algorithm": "ring", "bytes": "1 MiB"}},
            }
        ],
        "observe": {"frames": "auto", "links": []},
    }
    results = becalm.run(becalm.Scenario(scene))
    time = results.frames.time
    assert 50 <= time.size <= 100
    assert time[-1] == pytest.approx(results.jobs["end"][0])
    np.testing.assert_allclose(np.diff(time)[:-1], time[0])


def test_histograms_hold_all_packets(watched: becalm.Results) -> None:
    assert watched.tables["latencies"]["packets"].sum() == watched.flows["delivered_packets"].sum()
    first = watched.tables["latencies"].filter(pl.col("replication") == 0)
    share = first["packets"].cum_sum() / first["packets"].sum()
    median = watched.groups["latency_p50"][0]
    at = int((share >= 0.5).arg_max() or 0)
    assert first["from"][at] <= median <= first["to"][at]


def test_the_fabric_and_its_paths_are_tables_and_arrays(watched: becalm.Results) -> None:
    network = watched.scenario.network()
    assert np.bincount(network.nodes["level"].to_list()).tolist() == [16, 4, 2]
    table = watched.links.filter(pl.col("replication") == 0)
    assert network.links.select("from", "from_port", "to").equals(table.select("from", "from_port", "to"))
    for flow in watched.flows.filter(pl.col("replication") == 0).iter_rows(named=True):
        path = network.flow_paths.filter(pl.col("flow") == flow["flow"])["link"]
        ends = [(table["from"][link], table["to"][link]) for link in path]
        assert (ends[0][0], ends[-1][1]) == (flow["source"], flow["destination"])
        assert all(a[1] == b[0] for a, b in pairwise(ends))
