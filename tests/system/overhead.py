"""Measures a sweep's overhead per run: processor time and bytes.

    python tests/system/overhead.py [RUNS]

The exit code is 1 above the limits. Processor time is independent of other programs, unlike wall time.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import becalm
from becalm.store import Store
from kill_sweep import SCENARIO, SPEC, files

MOST_SECONDS = 0.025
"""Largest additional processor time per run in s."""
MOST_BYTES = 60_000
"""Largest file size of a run with the series of its groups."""


def main(runs: int = 200, duration: str = "30 ms") -> bool:
    """Measure and print the overhead; return whether both values are within the limits."""
    with tempfile.TemporaryDirectory(prefix="becalm-overhead-") as name:
        folder = Path(name)
        (folder / "scenario.toml").write_text(SCENARIO)
        spec = folder / "sweep.toml"
        spec.write_text(SPEC.format(duration=duration, seeds=runs // 4))
        before = _children()
        command = [
            sys.executable,
            "-m",
            "becalm",
            "sweep",
            str(spec),
            "--json",
            "--store",
            str(folder / "store"),
        ]
        done = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        used = _children() - before
        store = Store(folder / "store")
        cores = sum(store.get(key).wall_time for key in list(store.keys()))
        alone = _alone(folder / "scenario.toml", duration)
        sizes = [path.stat().st_size for path in files(folder / "store")]
        each, size = (used - alone * runs) / runs, sum(sizes) / runs
        found = {
            "runs": done["computed"],
            "seconds": done["seconds"],
            "processor_seconds": round(used, 2),
            "core_alone_ms": round(1e3 * alone, 2),
            "core_wall_ms": round(1e3 * cores / runs, 2),
            "overhead_ms_a_run": round(1e3 * each, 2),
            "bytes_a_run": round(size),
        }
        print(json.dumps(found, indent=2))
        return each <= MOST_SECONDS and size <= MOST_BYTES


def _alone(file: Path, duration: str, turns: int = 20) -> float:
    """Return the core's processor time for one run, without tables."""
    from becalm import _core

    changes = {"run.duration": duration, "switch.buffer": "8 packets", "observe.links": []}
    scenario = becalm.load(file).replace(changes)
    start = resource.getrusage(resource.RUSAGE_SELF)
    for _ in range(turns):
        _core.run(scenario.core)
    end = resource.getrusage(resource.RUSAGE_SELF)
    return (end.ru_utime - start.ru_utime + end.ru_stime - start.ru_stime) / turns


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.exit(0 if main(int(sys.argv[1]) if len(sys.argv) > 1 else 200) else 1)
