from __future__ import annotations

import threading
from pathlib import Path

import pytest
from typer.testing import CliRunner

import becalm
from becalm.base.parallel import Cancel
from becalm.cli import app
from becalm.results import Results
from becalm.runs import fewer_threads, run_one


def test_same_scenario_same_fingerprint(scenario: becalm.Scenario) -> None:
    first, second = becalm.run(scenario), becalm.run(scenario)
    assert first.fingerprint == second.fingerprint
    assert first.groups.equals(second.groups)


def test_another_seed_is_another_run(scenario: becalm.Scenario) -> None:
    assert becalm.run(scenario).fingerprint != becalm.run(scenario.replace({"run.seed": 2})).fingerprint


def test_replications_do_not_depend_on_threads(scenario: becalm.Scenario) -> None:
    several = scenario.replace({"run.replications": 4})
    one, two = becalm.run(several, threads=1), becalm.run(several, threads=2)
    assert one.fingerprints == two.fingerprints
    assert len(set(one.fingerprints)) == 4
    assert one.flows.equals(two.flows)


def test_one_run_does_not_depend_on_threads(scenario: becalm.Scenario) -> None:
    one, three = (
        Results.from_outcomes(scenario, [run_one(scenario, 0, Cancel(), lambda _: None, threads)])
        for threads in (1, 3)
    )
    assert one.fingerprint == three.fingerprint
    assert one.flows.equals(three.flows)
    assert one.links.equals(three.links)


def test_a_run_is_not_split_where_that_cannot_pay(scenario: becalm.Scenario) -> None:
    why = fewer_threads(scenario, 2)
    assert why is not None
    assert why.startswith("each run gets 1 of 2 threads: ")
    assert fewer_threads(scenario, 1) is None
    assert fewer_threads(scenario, None) is None
    assert fewer_threads(scenario.replace({"run.replications": 2}), 2) is None
    tree = {"tree": {"ports": 8, "levels": 3, "rate": "100 Gb/s", "delay": "2 us"}}
    flows = [{"name": "all", "from": ["*"], "to": ["*"]}]
    large = becalm.Scenario({"run": {"duration": "1 us"}, "topology": tree, "flows": flows})
    assert fewer_threads(large, 2) is None


@pytest.mark.parametrize(
    ("delay", "asked", "default"),
    [("245 ns", 1, 1), ("250 ns", 2, 1), ("3990 ns", 2, 1), ("4000 ns", 2, 2)],
)
def test_threads_follow_the_packets_between_switches(delay: str, asked: int, default: int) -> None:
    """Ten cables hold 0.2 packets for each ns of delay; a thread needs 25 of them, by default 400."""
    clos = {"leaves": 2, "spines": 5, "hosts_per_leaf": 1, "rate": "100 Gb/s", "delay": delay}
    flows = [{"name": "all", "from": ["*"], "to": ["*"]}]
    packet = {"mtu": "1200 B", "header": "50 B"}
    parts = {"run": {"duration": "1 us"}, "topology": {"clos": clos}, "packet": packet, "flows": flows}
    core = becalm.Scenario(parts).core
    assert (core.allowed_threads(2), core.useful_threads(2)) == (asked, default)


def test_a_replication_is_a_run_with_a_later_seed(scenario: becalm.Scenario) -> None:
    several = becalm.run(scenario.replace({"run.replications": 2}))
    later = becalm.run(scenario.replace({"run.seed": 2}))
    assert several.fingerprints[1] == later.fingerprint


def test_progress_sees_time_events_and_packet_hops(scenario: becalm.Scenario) -> None:
    long = scenario.replace({"run.duration": "100 ms", "run.replications": 2})
    seen: list[becalm.Progress] = []
    results = becalm.run(long, progress=seen.append)
    for replication in range(2):
        times = [now.time for now in seen if now.replication == replication]
        assert times
        assert times == sorted(times)
        assert times[-1] == pytest.approx(0.1)
    assert all(now.duration == pytest.approx(0.1) and now.replications == 2 for now in seen)
    assert max(now.events for now in seen) == max(item.events for item in results.replications)
    assert max(now.packet_hops for now in seen) == max(item.packet_hops for item in results.replications)


def test_an_exception_in_progress_ends_the_run(scenario: becalm.Scenario) -> None:
    def stop(_: becalm.Progress) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        becalm.run(scenario.replace({"run.duration": "10 s"}), progress=stop)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("becalm")]


def test_threads_below_one(scenario: becalm.Scenario) -> None:
    with pytest.raises(ValueError, match="threads = 0"):
        becalm.run(scenario, threads=0)


def test_guards_are_reported(scenario: becalm.Scenario) -> None:
    assert becalm.run(scenario).guards


@pytest.mark.parametrize("name", ["incast", "all_reduce"])
def test_a_scene_of_compare_runs_without_control(tmp_path: Path, name: str) -> None:
    scene, out = tmp_path / "scene.toml", tmp_path / "out"
    text = (Path(becalm.__file__).parent / "comparison" / "scenes" / f"{name}.toml").read_text()
    scene.write_text(text)
    assert CliRunner().invoke(app, ["validate", str(scene)]).exit_code == 0
    short = ["--set", "run.duration=100 us", "--set", "run.warmup=0 s", "--out", str(out)]
    done = CliRunner().invoke(app, ["run", str(scene), *short])
    assert (done.exit_code, "without congestion control" in done.output) == (0, True)
    assert becalm.load_results(out).scenario.resolved["response"].keys() == {"none"}
    scene.write_text(text.replace("[compare]", "[compare]\nlong = 3"))
    line = text.splitlines().index("[compare]") + 2
    said = CliRunner().invoke(app, ["validate", str(scene)]).stderr
    assert f":{line}: compare.long: unknown key" in said
