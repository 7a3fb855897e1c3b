"""Runs htsim on a case. HTSIM is the folder `sim` of its repository, with the built programs.

A case's `peer` contains one of

- `test`, one of htsim's tests, with its options: `flows`, or the PFC thresholds `low` and `high`
- `size`, the size of the scenario's messages, sent over a fat tree of 128 hosts; each of the `draws` runs
  uses other paths
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from pathlib import Path

from becalm.crosscheck.entry import Case, Entry

TAIL = 0.25
"""Final part of a run over which means are calculated; for HPCC, it is the second half."""


def reference(entry: Entry, case: Case) -> dict[str, float | list[float]]:
    """Return times [us], the rate of all flows [Gb/s], Jain's index and the mean queue [kB]."""
    with tempfile.TemporaryDirectory() as folder:
        if "size" in case.peer:
            return _tree(entry, case, folder)
        run = {"dumbell_roce": _roce, "dumbell_swift": _swift, "dumbell_hpcc": _hpcc}[case.peer["test"]]
        return run(case, folder)


def _program(name: str) -> Path:
    return Path(os.environ["HTSIM"]).resolve() / name


def _run(folder: str, *command: object) -> str:
    done = subprocess.run(list(map(str, command)), cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


def _ends(text: str) -> list[float]:
    return sorted(float(end) for end in re.findall(r"finished at ([\d.]+)", text))


def _roce(case: Case, folder: str) -> dict[str, float | list[float]]:
    options = ("-pfc_low", case.peer.get("low", 12), "-pfc_high", case.peer.get("high", 15))
    ends = _ends(_run(folder, _program("tests/htsim_dumbell_roce"), *options))
    return {"first": ends[0], "last": ends[-1]}


def _log(folder: str) -> list[list[str]]:
    """Return the lines of the log as words; the first word of each line is the time."""
    text = _run(folder, _program("parse_output"), "logout.dat", "-ascii")
    return [line.split() for line in text.splitlines() if line[:1].isdigit()]


def _rates(lines: list[list[str]], begin: float) -> dict[str, float]:
    """Return the total rate and Jain's index, from the bytes acknowledged since `begin`."""
    first: dict[str, tuple[float, float]] = {}
    last: dict[str, tuple[float, float]] = {}
    for line in lines:
        if "CAck" in line and float(line[0]) >= begin:
            point = (float(line[0]), float(line[line.index("CAck") + 1]))
            first.setdefault(line[4], point)
            last[line[4]] = point
    rates = [8e-9 * (last[flow][1] - first[flow][1]) / (last[flow][0] - first[flow][0]) for flow in last]
    return {"rate": sum(rates), "jain": sum(rates) ** 2 / len(rates) / sum(rate * rate for rate in rates)}


def _swift(case: Case, folder: str) -> dict[str, float | list[float]]:
    flows = case.peer["flows"]
    _run(folder, _program("tests/htsim_dumbell_swift"), "-conns", flows, "-cwnd", 12, "-o", "logout.dat")
    lines = _log(folder)
    begin = float(lines[-1][0]) * (1 - TAIL)
    queues = [
        float(line[line.index("LastQ") + 1]) for line in lines if "LastQ" in line and float(line[0]) >= begin
    ]
    rates = _rates(lines, begin)
    # htsim's queue includes the packet in transmission whenever the link is busy.
    return {**rates, "queue": sum(queues) / len(queues) / 1e3 - 9 * rates["rate"] / 10}


def _hpcc(case: Case, folder: str) -> dict[str, float | list[float]]:
    _run(folder, _program("tests/htsim_dumbell_hpcc"), case.peer["flows"])
    lines = _log(folder)
    return {**_rates(lines, float(lines[-1][0]) / 2)}


def _tree(entry: Entry, case: Case, folder: str) -> dict[str, float | list[float]]:
    pairs = [
        (connection["from"][1:], connection["to"][1:])
        for connection in entry.scenario(case).data()["flows"][0]["connections"]
    ]
    lines = [f"{a}->{b} id {at} start 0 size {case.peer['size']}" for at, (a, b) in enumerate(pairs, 1)]
    Path(folder, "flows.cm").write_text("\n".join(["Nodes 128", f"Connections {len(lines)}", *lines, ""]))
    runs = []
    for seed in range(1, case.peer["draws"] + 1):
        network = "-nodes 128 -tiers 3 -tm flows.cm -linkspeed 100000 -mtu 4000 -pfc_thresholds 12 15"
        options = f"{network} -strat ecmp_host -paths 128 -end 100000 -seed {seed}".split()
        runs.append(_ends(_run(folder, _program("datacenter/htsim_roce"), *options)))
    means, last = [sum(ends) / len(ends) for ends in runs], [ends[-1] for ends in runs]
    return {
        "mean": sum(means) / len(means),
        "spread mean": (max(means) - min(means)) / 2,
        "last": sum(last) / len(last),
        "spread last": (max(last) - min(last)) / 2,
        "times": [end for ends in runs for end in ends],
    }
