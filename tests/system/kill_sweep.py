"""Kills a worker and then the client of a sweep on Dask, resumes the sweep, and checks the store.

    python tests/system/kill_sweep.py [RUNS]

A scheduler and two workers run as separate processes. After a fifth of the runs, one worker is killed
(SIGKILL), and after 45%, the client. A new worker and a new client must then finish. All runs must exist, no
run may be computed twice after the resume, no temporary file may remain, and the table must equal the table
of a serial run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import polars as pl

SPEC = """\
scenario = "scenario.toml"
[set]
"run.duration" = "{duration}"
[grid]
"switch.buffer" = ["2 packets", "4 packets", "8 packets", "16 packets"]
[seeds]
count = {seeds}
"""
SCENARIO = (Path(__file__).parents[1] / "data" / "small.toml").read_text()
PATIENCE = 300.0
"""Timeout in s."""


class Cluster:
    """A scheduler and workers as separate processes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "scheduler.json"
        self.processes: list[subprocess.Popen[bytes]] = []
        self._start("dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        wait_for(lambda: self.file.is_file() and self.file.stat().st_size > 0, "the scheduler")
        self.address: str = json.loads(self.file.read_text())["address"]

    def worker(self) -> subprocess.Popen[bytes]:
        """Start a worker with one thread."""
        place = self.folder / f"worker{len(self.processes)}"
        return self._start(
            "dask_worker", "--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(place)
        )

    def close(self) -> None:
        """Kill the remaining processes."""
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait()

    def _start(self, program: str, *options: str) -> subprocess.Popen[bytes]:
        command = [
            sys.executable,
            "-m",
            f"distributed.cli.{program}",
            "--scheduler-file",
            str(self.file),
            *options,
        ]
        with (self.folder / "cluster.log").open("ab") as log:
            process = subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log)
        self.processes.append(process)
        return process


def main(runs: int = 200, duration: str = "30 ms") -> dict[str, Any]:
    """Run the test and return its counts.

    Raises:
        AssertionError: a run was lost, computed twice, or differs from a serial run.

    """
    with tempfile.TemporaryDirectory(prefix="becalm-kill-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / "scenario.toml").write_text(SCENARIO)
        spec = folder / "sweep.toml"
        spec.write_text(SPEC.format(duration=duration, seeds=runs // 4))
        cluster = Cluster(folder)
        try:
            counted = _killed(cluster, spec, folder / "store", runs)
        finally:
            cluster.close()
        serial = _sweep(
            spec, folder / "serial", "--engine", "threads", "--workers", "1", out=folder / "serial.parquet"
        )
        counted["serial"] = serial["computed"]
        one, two = (pl.read_parquet(folder / f"{part}.parquet") for part in ("resumed", "serial"))
        assert one.equals(two), "the table differs from that of a serial run"
        counted["rows_equal"] = one.height
        return counted


def _killed(cluster: Cluster, spec: Path, store: Path, runs: int) -> dict[str, Any]:
    first, _ = cluster.worker(), cluster.worker()
    on_cluster = ("--engine", "dask", "--address", cluster.address)
    command = [sys.executable, "-m", "becalm", "sweep", str(spec), "--store", str(store), *on_cluster]
    client = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    cluster.processes.append(client)
    wait_for(lambda: len(files(store)) >= runs // 5, "a fifth of the runs")
    first.kill()
    at_worker = len(files(store))
    wait_for(lambda: len(files(store)) >= runs * 45 // 100, "45% of the runs")
    client.kill()
    at_client = len(files(store))
    client.wait()
    wait_for(lambda: _still(store), "the scheduler to drop what the dead client asked for")
    before = {path: path.stat().st_ino for path in files(store)}
    assert len(before) < runs, "all was finished before the client died: ask for more or longer runs"
    cluster.worker()
    start = time.monotonic()
    resumed = _sweep(spec, store, *on_cluster, out=store.parent / "resumed.parquet")
    took = time.monotonic() - start
    again = sum(path.stat().st_ino != inode for path, inode in before.items())
    assert len(files(store)) == runs == resumed["found"] + resumed["computed"]
    assert resumed["found"] == len(before), "what was there was not found"
    assert again == 0, f"{again} runs were computed twice"
    temporary = len(list(store.rglob(".*.tmp")))
    assert temporary == 0, f"{temporary} temporary files"
    third = _sweep(spec, store, *on_cluster)
    assert third["computed"] == 0
    return {
        "runs": runs,
        "worker_killed_at": at_worker,
        "client_killed_at": at_client,
        "there_at_resume": len(before),
        "computed_after": resumed["computed"],
        "seconds_after": round(took, 1),
        "computed_twice": again,
        "temporary_files": temporary,
        "third_call_computed": third["computed"],
    }


def _sweep(spec: Path, store: Path, *options: str, out: Path | None = None) -> dict[str, Any]:
    command = [sys.executable, "-m", "becalm", "sweep", str(spec), "--store", str(store), "--json", *options]
    command += ["--out", str(out)] if out else []
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def files(store: Path) -> list[Path]:
    """Return the files of all runs."""
    return list(store.glob("runs/*/*.zip"))


def _still(store: Path) -> bool:
    before = len(files(store))
    time.sleep(2)
    return len(files(store)) == before


def wait_for(what: Any, name: str) -> None:  # noqa: ANN401
    """Wait until a condition holds.

    Raises:
        TimeoutError: the condition does not hold in time.

    """
    deadline = time.monotonic() + PATIENCE
    while not what():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {PATIENCE:.0f} s for {name}")
        time.sleep(0.02)


if __name__ == "__main__":
    os.environ.setdefault("DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT", "30s")
    print(json.dumps(main(int(sys.argv[1]) if len(sys.argv) > 1 else 200), indent=2))
