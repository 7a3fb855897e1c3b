"""Compares memory estimates with the peaks of runs, on drawn scenes and on large fabrics.

    python tests/system/memory_draws.py [SCENES [SEED]]

A drawn scene combines a fabric, traffic and tables, each of random size. An estimate must be between 1.10 and
2.5 times the peak; the exit code is 1 otherwise. 24 scenes take about five minutes, large fabrics two.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

LEAST, MOST = 1.10, 2.5
CHILD = """
import json, sys
import becalm, numpy, polars
from becalm.runs import memory
scenario = becalm.load(sys.argv[1])
becalm.run(scenario, threads=1, max_memory="100 GB")
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
estimate = memory.estimate(scenario)
print(json.dumps([estimate.total, int(peak.split()[1]) * 1024, estimate.part]))
"""
FABRICS = (
    ("dumbbell", "[topology.dumbbell]", 23),
    ("large dumbbell", "[topology.dumbbell]\nremote = 400\nlocal = 200", 603),
    ("Clos of 64 hosts", "[topology.clos]\nleaves = 8\nspines = 4\nhosts_per_leaf = 8", 64),
    ("Clos of 512 hosts", "[topology.clos]\nleaves = 32\nspines = 16\nhosts_per_leaf = 16", 512),
    ("tree of 432 hosts", "[topology.tree]\nports = 12\nlevels = 3", 432),
)
LARGE = (
    ("8,192 hosts", "[topology.clos]\nleaves = 128\nspines = 64\nhosts_per_leaf = 64", "5 us"),
    ("51,200 hosts", "[topology.clos]\nleaves = 512\nspines = 100\nhosts_per_leaf = 100", "2 us"),
)
SHIFT = '[[flows]]\nname = "shift"\nfrom = ["*"]\npattern.shift.by = 9\n'


def traffic(draw: random.Random, hosts: int) -> str:
    """Return a group of flows whose messages, flows or unsent messages take memory."""
    load, count = draw.choice([0.2, 0.5, 0.9]), draw.randrange(500, 3000)
    return draw.choice(
        [
            SHIFT,
            SHIFT + f'traffic.poisson = {{load = {load}, message = "{draw.choice([64, 256, 2048])} B"}}\n',
            SHIFT + f'traffic.poisson = {{load = {draw.choice([2, 10])}, message = "64 B"}}\n',
            SHIFT + f'traffic.batch = {{count = {count}, sizes = "exponential"}}\n',
            '[[flows]]\nname = "all"\nfrom = ["*"]\npattern.all_to_all = {}\n' if hosts < 600 else SHIFT,
        ]
    )


def tables(draw: random.Random, microseconds: int) -> str:
    """Return tables that take memory."""
    lines = ["[observe]", f'step = "{draw.choice([0.5, 1, 5, 20])} us"']
    lines.append("links = " + draw.choice(["[]", '["*"]']))
    if draw.random() < 0.4:
        lines.append(f"messages = true\nmessage_rows = {draw.choice([1, 10_000_000])}")
    if draw.random() < 0.3:
        lines.append(f'frames = "{draw.choice([1, 2, 5])} us"')
    if draw.random() < 0.3:
        lines.append("spans = true")
    if draw.random() < 0.2:
        times = ", ".join(f'"{draw.randrange(1000 * microseconds)} ns"' for _ in range(200))
        lines.append(f"snapshots = [{times}]")
    if draw.random() < 0.2:
        lines.append("queues = true")
    return "\n".join(lines)


def jobs(draw: random.Random) -> str:
    """Return a job with many operations, or none."""
    if draw.random() < 0.7:
        return ""
    hosts, repeat = draw.choice([("A1..A4", 20_000), ("A1..A8", 5_000)])
    kind = draw.choice(["barrier = {}", 'all_reduce.bytes = "8 KiB"'])
    record = draw.choice(["true", "false"])
    lines = ["[[jobs]]", 'name = "j"', f'hosts = ["{hosts}"]', f"collective.{kind}"]
    return "\n".join([*lines, f"repeat = {repeat}", f"record_ops = {record}", ""])


def scene(draw: random.Random) -> tuple[str, str]:
    """Return a drawn scene's name and text."""
    name, fabric, hosts = draw.choice(FABRICS)
    microseconds = int(draw.choice([1, 2, 4]) * 600_000 / hosts) // 20
    job = jobs(draw) if name == "dumbbell" else ""
    switch = draw.choice(["", 'buffer = "unlimited"', 'buffer = "256 KiB"\nflow_control.pfc = {}'])
    run = f'[run]\nduration = "{microseconds} us"\n{fabric}\n[switch]\n{switch}\n'
    return name, run + tables(draw, microseconds) + "\n" + traffic(draw, hosts) + job


def measure(text: str, folder: Path) -> tuple[int, int, str]:
    """Return a scene's estimate and peak in bytes, and the part that the estimate names."""
    file = folder / "scene.toml"
    file.write_text(text)
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(file)], capture_output=True, text=True, check=False, cwd=folder
    )
    if done.returncode:
        raise SystemExit(f"{text}\n{done.stderr}")
    estimate, peak, part = json.loads(done.stdout)
    return estimate, peak, part


def main(scenes: int = 24, seed: int = 1) -> int:
    """Print a line per scene; return 1 if an estimate is out of bounds."""
    drawn = [scene(random.Random(f"{seed} {index}")) for index in range(scenes)]
    for name, fabric, duration in LARGE:
        text = f'[run]\nduration = "{duration}"\n{fabric}\n[observe]\nlinks = []\n{SHIFT}'
        drawn.append((name, text))
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="becalm-memory-") as folder:
        for name, text in drawn:
            estimate, peak, part = measure(text, Path(folder))
            ratio = estimate / peak
            outside = not LEAST <= ratio <= MOST
            wrong += outside
            print(
                f"{name}, mostly {part}: {estimate / 1e6:.0f} MB, peak {peak / 1e6:.0f} MB, {ratio:.2f}",
                flush=True,
            )
            if outside:
                print(text, flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
