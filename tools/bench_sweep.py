"""Measures the wall time and processor time of sweeps of sixteen runs on one and two threads.

`python tools/bench_sweep.py [SCENARIO [DURATION]]` runs a scenario from `crates/bench/scenarios`. The last
column shows the processor time of all other processes. If it exceeds a few percent, measure again.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from pathlib import Path

import polars  # noqa: F401  imported before the clock starts

import becalm

SCENARIOS = Path(__file__).parents[1] / "crates" / "bench" / "scenarios"
RUNS = 16
TURNS = 5


def main(name: str = "dumbbell", duration: str = "250 ms") -> None:
    """Print a line for each sweep."""
    base = becalm.load(SCENARIOS / f"{name}.toml").replace({"run.duration": duration})
    print(f"{name}: {RUNS} runs  threads  wall (s)  processor (s)  others (s)")
    for _ in range(TURNS):
        for threads in (1, 2):
            own, all_, wall = _own(), _all(), time.perf_counter()
            becalm.sweep(base, {"run.seed": list(range(RUNS))}, threads=threads)
            own, all_, wall = _own() - own, _all() - all_, time.perf_counter() - wall
            print(f"{threads:>{len(name) + 17}}  {wall:8.2f}  {own:13.2f}  {all_ - own:10.2f}", flush=True)


def _own() -> float:
    """Return the processor time of this process in seconds."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _all() -> float:
    """Return the processor time of all processes in seconds, including the time stolen by a hypervisor."""
    user, nice, system, _, _, interrupt, soft, stolen = map(
        int, Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
    )
    return (user + nice + system + interrupt + soft + stolen) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main(*sys.argv[1:])
