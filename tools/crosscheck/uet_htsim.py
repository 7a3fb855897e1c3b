"""Runs uet-htsim on a case. UET_HTSIM is the folder of the built programs (`build/datacenter`).

A case's `peer` contains the number of `hosts` of a three-level fat tree and, if they differ from the
defaults, the number of `paths` of a flow, the `balancer`, the bytes after which an ACK is sent (`sack`), the
packets that a `queue` holds, and the number of `draws`, which are runs with other seeds.
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import tempfile
from pathlib import Path

from becalm.crosscheck.entry import Case, Entry

CABLE = 1.00512
"""Time of an ACK of 64 B on a cable [us]."""
SIZE = 2_000_000
"""Bytes of a message."""


def reference(entry: Entry, case: Case) -> dict[str, float | list[float]]:
    """Return completion times at the destination [us]."""
    pairs = [
        (int(connection["from"][1:]), int(connection["to"][1:]))
        for connection in entry.scenario(case).data()["flows"][0]["connections"]
    ]
    runs = [_run(case, pairs, seed) for seed in range(1, case.peer.get("draws", 1) + 1)]
    found: dict[str, float | list[float]] = {
        "end": max(runs[0]),
        "times": [end for ends in runs for end in ends],
    }
    for key, of in (("mean", statistics.fmean), ("median", statistics.median), ("last", max)):
        values = [of(ends) for ends in runs]
        found |= {key: statistics.fmean(values), f"spread {key}": (max(values) - min(values)) / 2}
    return found


def _run(case: Case, pairs: list[tuple[int, int]], seed: int) -> list[float]:
    hosts, peer = case.peer["hosts"], case.peer
    lines = [f"{a}->{b} id {at} start 0 size {SIZE}" for at, (a, b) in enumerate(pairs, 1)]
    program = Path(os.environ["UET_HTSIM"]).resolve() / "htsim_uec"
    options = [
        "-tm",
        "flows.cm",
        "-end",
        1000,
        "-sender_cc_only",
        "-seed",
        seed,
        "-paths",
        peer.get("paths", 64),
    ]
    options += ["-load_balancing_algo", peer["balancer"]] if "balancer" in peer else []
    options += ["-sack_threshold", peer["sack"]] if "sack" in peer else []
    options += ["-q", peer["queue"]] if "queue" in peer else []
    with tempfile.TemporaryDirectory() as folder:
        text = "\n".join([f"Nodes {hosts}", f"Connections {len(lines)}", *lines, ""])
        Path(folder, "flows.cm").write_text(text, encoding="utf-8")
        command = [str(program), *map(str, options)]
        output = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
    ends = re.findall(r"Flow Uec_(\d+)_(\d+) .*finished at ([\d.]+)", output)
    return [float(end) - CABLE * _cables(int(a), int(b), hosts) for a, b, end in ends]


def _cables(a: int, b: int, hosts: int) -> int:
    """Return the number of cables between two hosts of a fat tree with three levels."""
    half = round((hosts / 2) ** (1 / 3))
    return 2 if a // half == b // half else 4 if a // half**2 == b // half**2 else 6
