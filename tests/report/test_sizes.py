"""Sizes of pages, and the cost of packing them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import becalm

HOSTS = (32, 432, 8192)
FABRICS: dict[int, tuple[dict[str, int], int, str]] = {
    32: ({"ports": 8, "levels": 2}, 100, "2 ms"),
    432: ({"ports": 12, "levels": 3}, 80, "1 ms"),
    8192: ({"ports": 32, "levels": 3}, 40, "200 us"),
}
"""Tree, number of frames, and duration, by number of hosts."""
MOST_BYTES = {32: 165_000, 432: 250_000, 8192: 1_000_000}
MOST_MEMORY = 350_000_000
"""Limit on memory of a process that packs the largest fabric, in bytes."""
MOST_CPU = 10.0
"""Limit on the process's CPU time in s, to detect severe slowdowns; it is 2 s on an idle machine."""


MEASURED = """
import atexit, resource

@atexit.register
def tell():
    used = resource.getrusage(resource.RUSAGE_SELF)
    # Not ru_maxrss, which a child takes over from its parent.
    (most,) = (line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
    print()
    print(used.ru_utime + used.ru_stime, 1024 * int(most))

from becalm.cli import main
main()
"""
"""A program that finally prints its CPU time in s and its peak memory in bytes."""


def scene(hosts: int) -> dict[str, Any]:
    """Return a hot spot in a loaded fabric."""
    tree, frames, duration = FABRICS[hosts]
    last = becalm.Scenario({"run": {"duration": "1 us"}, "topology": {"tree": tree}, "flows": FLOWS})
    step = float(duration.split()[0]) * (1000 if "ms" in duration else 1) / frames
    hot = {"name": "hot", "from": [f"H0..H{hosts // 4 - 1}"], "to": [f"H{hosts - 1}"]}
    assert last.summary["hosts"] == hosts
    return {
        "run": {"duration": duration},
        "topology": {"tree": tree},
        "switch": {"buffer": "16 packets"},
        "flows": [
            {**hot, "traffic": {"poisson": {"load": 8 / hosts}}},
            {"name": "cold", "from": ["*"], "pattern": {"permutation": {}}, "traffic": COLD},
        ],
        "observe": {"frames": f"{step:g} us", "spans": True, "links": []},
    }


COLD = {"poisson": {"load": 0.2}}
FLOWS = [{"name": "f", "from": ["H0"], "to": ["H1"]}]


@pytest.fixture(scope="module", params=HOSTS)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[int, Path]:
    place = tmp_path_factory.mktemp("sizes") / "results"
    becalm.run(becalm.Scenario(scene(request.param), name="hot spot")).save(place)
    return request.param, place


def test_pages_are_small_and_soon_made(folder: tuple[int, Path], tmp_path: Path) -> None:
    hosts, results = folder
    page = tmp_path / "page.html"
    call = [sys.executable, "-c", MEASURED, "report", str(results), "--out", str(page)]
    printed = subprocess.run(call, check=True, capture_output=True, text=True).stdout
    cpu, memory = map(float, printed.splitlines()[-1].split())
    size = page.stat().st_size
    print(f"{hosts} hosts: {size:,} B, {cpu:.2f} s of CPU, up to {memory / 1e6:.0f} MB")
    assert size <= MOST_BYTES[hosts]
    assert cpu <= MOST_CPU
    assert memory <= MOST_MEMORY
