"""`becalm sweep`: points from a file, consistent engines, shards, and workers that die."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import becalm
from becalm.cli import app
from becalm.runs.drive import run_tasks
from becalm.runs.engines import Processes
from becalm.runs.task import Done
from becalm.store import Store
from becalm.sweeps.plan import Shard, look, shard_of
from becalm.sweeps.spec import read_spec
from test_sweep import RING

SPEC = """\
scenario = "small.toml"
store = "store"
[set]
"run.duration" = "200 us"
[grid]
"switch.buffer" = ["2 packets", "4 packets"]
[seeds]
count = 3
"""
"""Two points with three runs each."""


@pytest.fixture
def spec(file: Path) -> Path:
    path = file.with_name("spec.toml")
    path.write_text(SPEC)
    return path


def called(*arguments: object, code: int = 0) -> dict[str, Any]:
    done = CliRunner().invoke(app, ["sweep", *map(str, arguments), "--json"])
    assert done.exit_code == code, done.output
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_points_of_all_kinds(file: Path) -> None:
    path = file.with_name("spec.toml")
    path.write_text(
        """\
scenario = "small.toml"
keep = "summary"
[grid]
switch.buffer = ["2 packets", "4 packets"]
[zip]
"packet.mtu" = ["1024 B", "2048 B"]
"packet.ack" = ["10 B", "20 B"]
[[list]]
response = { lipd = {} }
[[list]]
response = { fimd = {} }
[random]
points = 3
method = "uniform"
"flows.victim.traffic.poisson.load" = { float = [0.1, 0.5] }
[seeds]
count = 2
first = 7
"""
    )
    points = read_spec(path).points()
    assert len(points) == 2 * 3 * 2 * 2
    assert list(points[0].changes) == [
        "response",
        "flows.victim.traffic.poisson.load",
        "packet.mtu",
        "packet.ack",
        "switch.buffer",
    ]
    assert [point.changes["switch.buffer"] for point in points[:2]] == ["2 packets", "4 packets"]
    assert {(p.changes["packet.mtu"], p.changes["packet.ack"]) for p in points} == {
        ("1024 B", "10 B"),
        ("2048 B", "20 B"),
    }
    assert {point.scenario.resolved["run"]["seed"] for point in points} == {7}
    assert all(len(point.keys) == 2 for point in points)
    assert points[0].scenario.resolved["observe"]["links"] == []


def test_random_points_fill_their_ranges(file: Path) -> None:
    path = file.with_name("spec.toml")
    text = """\
scenario = "small.toml"
[random]
points = {points}
seed = 3
"response.lipd.rmin" = {{ float = [0.001, 0.1], log = true }}
"switch.buffer" = {{ int = [1, 8], unit = "packets" }}
"packet.mtu" = {{ choice = ["1024 B", "2048 B"] }}
"""
    path.write_text(text.format(points=64))
    changes = read_spec(path).changes()
    assert len(changes) == 64
    buffers = [int(change["switch.buffer"].split()[0]) for change in changes]
    assert [buffers.count(size) for size in range(1, 9)] == [8] * 8
    low = [change for change in changes if change["response.lipd.rmin"] < 0.01]
    assert len(low) == 32
    assert read_spec(path).changes() == changes
    path.write_text(text.format(points=20))
    assert read_spec(path).changes() == changes[:20]


def test_all_mistakes_of_a_file_at_once(file: Path) -> None:
    path = file.with_name("spec.toml")
    path.write_text(
        """\
scenario = "small.toml"
keep = "much"
colour = "red"
[grid]
"switch.buffer" = "4 packets"
[zip]
"packet.mtu" = ["1024 B", "2048 B"]
"packet.ack" = ["20 B"]
[random]
points = 0
"run.seed" = { int = [5, 1] }
[seeds]
count = 0
"""
    )
    with pytest.raises(becalm.ScenarioError) as caught:
        read_spec(path)
    keys = {mistake["key"] for mistake in caught.value.mistakes}
    assert keys == {
        "keep",
        "colour",
        "grid.switch.buffer",
        "zip",
        "random.points",
        "random.run.seed",
        "seeds.count",
    }
    assert CliRunner().invoke(app, ["sweep", str(path)]).exit_code == 2


def test_a_key_is_changed_in_one_place(file: Path) -> None:
    path = file.with_name("spec.toml")
    path.write_text('scenario = "small.toml"\n[grid]\n"run.seed" = [1, 2]\n[[list]]\n"run.seed" = 3\n')
    with pytest.raises(becalm.ScenarioError, match=r"grid\.run\.seed: is also changed in \[list\]"):
        read_spec(path)


def test_mistakes_of_points_are_found_before_one_runs(spec: Path) -> None:
    spec.write_text(SPEC.replace('"4 packets"]', '"0 packets"]'))
    done = CliRunner().invoke(app, ["sweep", str(spec)])
    assert done.exit_code == 2
    assert "with switch.buffer = 0 packets" in done.output
    assert not spec.with_name("store").exists()


def test_engines_agree_and_nothing_runs_twice(spec: Path, tmp_path: Path) -> None:
    first = called(spec, "--workers", 2, "--out", tmp_path / "processes.parquet")
    assert (first["points"], first["runs"], first["found"], first["computed"]) == (2, 6, 0, 6)
    again = called(spec)
    assert (again["found"], again["computed"], again["failed"]) == (6, 0, [])
    threads = called(
        spec, "--engine", "threads", "--store", tmp_path / "other", "--out", tmp_path / "threads.parquet"
    )
    assert threads["computed"] == 6
    one, two = (pl.read_parquet(tmp_path / f"{name}.parquet") for name in ("processes", "threads"))
    assert one.equals(two)
    assert one.columns[:3] == ["switch.buffer", "replication", "group"]
    base = becalm.load(spec.with_name("small.toml")).replace({"run.duration": "200 us", "observe.links": []})
    direct = becalm.sweep(base, {"switch.buffer": ["2 packets", "4 packets"]}, replications=3)
    assert direct.groups.equals(one)
    assert list(Store(tmp_path / "other").keys()) == list(Store(spec.with_name("store")).keys())


def test_dry_run_computes_nothing(spec: Path) -> None:
    assert called(spec, "--dry-run")["to_do"] == 6
    assert list(Store(spec.with_name("store")).keys()) == []


def test_shards_divide_the_work(spec: Path) -> None:
    one = called(spec, "--shard", "1/2", "--engine", "threads")
    two = called(spec, "--shard", "2/2", "--engine", "threads")
    assert one["computed"] + two["computed"] == 6
    assert one["of_other_shards"] + one["computed"] == 6
    assert two["of_other_shards"] == 0
    assert called(spec)["computed"] == 0


def test_shards_of_a_slurm_array() -> None:
    array = {"SLURM_ARRAY_TASK_ID": "14", "SLURM_ARRAY_TASK_COUNT": "4", "SLURM_ARRAY_TASK_MIN": "10"}
    assert shard_of(None, {**array, "SLURM_ARRAY_TASK_STEP": "2"}) == Shard(3, 4)
    assert shard_of(None, {}) == Shard(1, 1)
    assert shard_of("2/5", array) == Shard(2, 5)
    for wrong in ("0/4", "5/4", "1", "a/b", "1/"):
        with pytest.raises(becalm.BecalmError, match="must be K/N"):
            shard_of(wrong)
    with pytest.raises(becalm.BecalmError, match="not one of the 4 tasks"):
        shard_of(None, array | {"SLURM_ARRAY_TASK_ID": "15"})


def test_every_run_is_of_one_shard() -> None:
    keys = [f"{number * 2654435761 % 2**32:08x}" + 56 * "0" for number in range(200)]
    parts = [{key for key in keys if Shard(number, 7).has(key)} for number in range(1, 8)]
    assert sum(map(len, parts)) == len(set().union(*parts)) == 200
    assert min(map(len, parts)) > 10


def test_damaged_runs_are_named_and_computed_again(spec: Path) -> None:
    called(spec, "--engine", "threads")
    store = Store(spec.with_name("store"))
    first, second, *_ = store.keys()
    store.path(first).write_bytes(b"{}")
    store.path(second).unlink()
    done = CliRunner().invoke(app, ["sweep", str(spec), "--engine", "threads"])
    assert "with switch.buffer = " in done.stderr
    assert "damaged: the end of the run is missing; computed again" in done.stderr
    assert "4 found, 2 computed, 0 failed" in done.stdout
    assert list(store.verify()) == []


def test_options_that_cannot_be(spec: Path) -> None:
    for options in (["--engine", "ray"], ["--address", "tcp://a:1"], ["--keep", "much"], ["--out", "a.xlsx"]):
        assert CliRunner().invoke(app, ["sweep", str(spec), *options]).exit_code == 2
    assert CliRunner().invoke(app, ["sweep", str(spec.with_name("none.toml"))]).exit_code == 2


def test_control_c_keeps_what_is_finished(spec: Path) -> None:
    spec.write_text(SPEC.replace('"200 us"', '"400 ms"'))
    command = [sys.executable, "-m", "becalm", "sweep", str(spec), "--workers", "2"]
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    store = Store(spec.with_name("store"))
    deadline = time.monotonic() + 60
    while not list(store.keys()) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130, errors
    assert b"Traceback" not in errors
    assert 1 <= len(list(store.keys())) < 6
    assert list(store.verify()) == []
    assert not list(store.root.rglob("*.tmp"))


def test_workers_end_with_a_killed_parent(spec: Path) -> None:
    spec.write_text(SPEC.replace('"200 us"', '"60 s"'))
    command = [sys.executable, "-m", "becalm", "sweep", str(spec), "--workers", "2"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    workers: list[int] = []
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and len(workers) < 2:
        time.sleep(0.2)
        found = [int(pid) for pid in children.read_text().split()]
        workers = [pid for pid in found if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    time.sleep(2)
    process.kill()
    process.wait()
    deadline = time.monotonic() + 15
    while any(alive(pid) for pid in workers) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert len(workers) == 2
    assert not any(alive(pid) for pid in workers)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_a_worker_that_dies_takes_nothing_with_it(spec: Path) -> None:
    spec.write_text(SPEC.replace('"200 us"', '"20 ms"'))
    read = read_spec(spec)
    store = Store(read.store)
    plan = look(read.points(), store, read.keep)
    engine, done = Processes(2), list[Done]()

    def on_done(one: Done) -> None:
        if not done:
            victim = next(iter(engine._pool._processes))
            os.kill(victim, signal.SIGKILL)
        done.append(one)

    run_tasks(plan.todo, engine, store, on_done)
    assert sorted(one.key for one in done) == sorted(task.key for task in plan.todo)
    assert [one.error for one in done] == [None] * 6
    assert list(store.verify()) == []


def test_runs_that_fail_are_named_and_not_repeated(tmp_path: Path) -> None:
    (tmp_path / "ring.toml").write_text(RING)
    spec = tmp_path / "spec.toml"
    spec.write_text(
        'scenario = "ring.toml"\nstore = "store"\n[grid]\n'
        '"flows.0.traffic" = [{ greedy = {} }, { poisson = { load = 0.01 } }]\n'
    )
    first = CliRunner().invoke(
        app, ["sweep", str(spec), "--engine", "threads", "--out", str(tmp_path / "a.csv")]
    )
    assert first.exit_code == 1
    assert "0 found, 1 computed, 1 failed" in first.stdout
    assert "failed with flows.0.traffic = greedy: " in first.stderr
    assert (tmp_path / "a.csv").read_text().count("poisson") == 1
    again = called(spec, "--engine", "threads", code=1)
    assert (again["found"], again["computed"], len(again["failed"])) == (1, 0, 1)
    failed = Store(tmp_path / "store").failure(next(Store(tmp_path / "store").failed()))
    assert failed is not None
    assert failed["kind"] == "DeadlockError"
    assert failed["cycle"]
    retried = called(spec, "--engine", "threads", "--retry-failed", code=1)
    assert len(retried["failed"]) == 1
