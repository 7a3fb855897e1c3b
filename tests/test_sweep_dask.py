"""Sweeps on Dask, with schedulers and workers in real processes."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import becalm
from becalm.cli import app
from becalm.runs import cluster
from becalm.runs.cluster import Dask
from becalm.runs.drive import run_tasks
from becalm.runs.task import Done
from becalm.store import Store
from becalm.sweeps.plan import look
from becalm.sweeps.spec import read_spec

sys.path.insert(0, str(Path(__file__).parent / "system"))

import kill_sweep

SPEC = """\
scenario = "small.toml"
store = "store"
[set]
"run.duration" = "200 us"
[seeds]
count = 4
"""


@pytest.fixture
def spec(file: Path) -> Path:
    path = file.with_name("spec.toml")
    path.write_text(SPEC)
    return path


def test_local_cluster(spec: Path) -> None:
    command = ["sweep", str(spec), "--engine", "dask", "--workers", "2", "--json"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["computed"] == 4
    store = Store(spec.with_name("store"))
    assert list(store.verify()) == []
    made = {key: store.get(key).fingerprint for key in list(store.keys())}
    base = becalm.load(spec.with_name("small.toml"))
    direct = becalm.sweep(base, {"run.duration": ["200 us"]}, replications=4)
    assert sorted(made.values()) == sorted(direct[0].results.fingerprints)


def test_workers_of_another_model_are_refused(spec: Path) -> None:
    read = read_spec(spec)
    store = Store(read.store)
    plan = look(read.points(), store, read.keep)
    engine = Dask(1)
    other = [task._replace(model="another") for task in plan.todo]
    with pytest.raises(becalm.BecalmError, match="have different versions of the model"):
        run_tasks(other, engine, store, list[Done]().append)
    assert list(store.keys()) == []


def test_no_scheduler_is_one_message() -> None:
    with pytest.raises(becalm.BecalmError, match=r"tcp://127\.0\.0\.1:9: no Dask scheduler answers"):
        Dask(address="tcp://127.0.0.1:9", timeout=1)


def test_killed_worker_and_killed_client() -> None:
    counted = kill_sweep.main(24, "60 ms")
    assert counted["computed_twice"] == counted["temporary_files"] == counted["third_call_computed"] == 0
    assert counted["there_at_resume"] + counted["computed_after"] == 24


def test_slurm_jobs_run_one_worker_each() -> None:
    """Check the script for SLURM; SLURM is not required."""
    jobqueue = pytest.importorskip("dask_jobqueue")
    made = cluster.slurm_cluster({"queue": "short", "walltime": "00:10:00", "jobs": "0"})
    assert isinstance(made, jobqueue.SLURMCluster)
    script = made.job_script()
    made.close()
    assert "#SBATCH -p short" in script
    assert "--nthreads 1" in script
