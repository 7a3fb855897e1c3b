"""Runs LogGOPSim on a case. LOGGOPSIM is the folder of `LogGOPSim` and `txt2bin`.

A case's `peer` contains the parameters L, o, g, G [ns]. The schedule is taken from the case's job. LogGOPSim
prints the time at which each host's processor finishes.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from pathlib import Path

from becalm.crosscheck.entry import Case, Entry

DEFAULTS = {"L": 2500, "o": 1500, "g": 8, "G": 8}


def reference(entry: Entry, case: Case) -> dict[str, float | list[float]]:
    """Return the finish time of each rank, `rank_N`, and of the last rank, `end` [ns]."""
    programs = Path(os.environ["LOGGOPSIM"])
    schedule = entry.folder / entry.scenario(case).data()["jobs"][0]["goal"]
    with tempfile.TemporaryDirectory() as folder:
        binary = f"{folder}/schedule.bin"
        subprocess.run([programs / "txt2bin", "-i", schedule, "-o", binary], check=True, capture_output=True)
        options = [
            part for name, value in {**DEFAULTS, **case.peer}.items() for part in (f"-{name}", str(value))
        ]
        done = subprocess.run(
            [programs / "LogGOPSim", "-f", binary, *options], check=True, capture_output=True, text=True
        )
    ends = {int(host): float(end) for host, end in re.findall(r"Host (\d+): (\d+)", done.stdout)}
    return {"end": max(ends.values()), **{f"rank_{host}": end for host, end in ends.items()}}
