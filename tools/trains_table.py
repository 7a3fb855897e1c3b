"""Measures the error of trains, and writes the table in `performance.md`.

`python tools/trains_table.py 128 512` runs each traffic exactly and with trains, on Clos networks with these
numbers of hosts, with and without DCQCN. `--large` prints the time and the memory of halving-doubling on
larger ones instead. Without numbers, it writes the table from `trains.jsonl`, which
contains all measurements: an object for each traffic, with the completion times [s] for six cable delays, and
the processor time [s]. New measurements replace old ones of the same traffic.
"""

from __future__ import annotations

import json
import math
import resource
import sys
import time
from typing import Any

import markers

import becalm
from becalm.base.intervals import mean_interval

MEASURED = markers.ROOT / "docs/trains.jsonl"

PFC_AND_DCQCN: dict[str, Any] = {
    "marking": {"ramp": {"kmin": 400.0, "kmax": 1600.0, "pmax": 0.2}},
    "echo": {"rocev2": {}},
    "response": {"dcqcn": {}},
}
"""Sections of a fabric with marks, from 400 kB that wait for an output."""


DELAYS = range(248, 254)
"""Cable delays in ns. A completion time is that of the last of many flows, so small differences change it."""


def traffics(hosts: int) -> dict[str, dict[str, Any]]:
    """Return the sections of each traffic. Messages have 128 packets or more, so that trains have several."""
    size = f"{hosts // 2} MiB"
    job = {"name": "j", "hosts": ["*"], "placement": "random"}
    ring = {"all_reduce": {"bytes": size}}
    halving = {"all_reduce": {"bytes": "64 MiB", "algorithm": "halving_doubling"}}
    all_to_all = {"all_to_all": {"bytes": size, "algorithm": "linear"}}
    first = 3 * hosts // 4
    incast = {"name": "incast", "from": [f"H{first + 1}..H{hosts - 1}"], "to": [f"H{first}"]}
    beside = {"jobs": [{**job, "hosts": [f"H0..H{first - 1}"], "collective": ring}], "flows": [incast]}
    return {
        "ring": {"jobs": [{**job, "collective": ring}]},
        "halving-doubling": {"jobs": [{**job, "collective": halving}]},
        "all-to-all": {"jobs": [{**job, "collective": all_to_all}]},
        "ring beside an incast": beside,
    }


def scenario(
    hosts: int, traffic: dict[str, Any], delay: int, *, control: bool, fidelity: str
) -> becalm.Scenario:
    """Return a scenario with 16 hosts and 16 spines per leaf switch, and buffers of 1 MiB."""
    switch: dict[str, Any] = {"buffer": "1 MiB", "paths": {"flow": {}}}
    if control:
        switch["flow_control"] = {"pfc": {}}
    return becalm.Scenario(
        {
            "run": {"duration": "1 s", "end": "jobs", "fidelity": fidelity},
            "topology": {
                "clos": {
                    "leaves": hosts // 16,
                    "spines": 16,
                    "hosts_per_leaf": 16,
                    "rate": "400 Gb/s",
                    "delay": f"{delay} ns",
                }
            },
            "switch": switch,
            "packet": {"mtu": "4 KiB", "header": "64 B"},
            "observe": {"links": [], "step": "1 ms"},
            **(PFC_AND_DCQCN if control else {"response": {"none": {}}}),
            **traffic,
        },
        name="trains",
    )


def measure(hosts: int, name: str, traffic: dict[str, Any], *, control: bool) -> dict[str, Any]:
    """Return the completion times for several cable delays, and the means of what else is measured."""
    found: dict[str, Any] = {"hosts": hosts, "traffic": name, "control": control}
    for fidelity in ("packets", "trains"):
        begin = time.process_time()
        runs = [
            becalm.run(scenario(hosts, traffic, delay, control=control, fidelity=fidelity))
            for delay in DELAYS
        ]
        found[fidelity] = {
            "times": [results.jobs["time"][0] for results in runs],
            "processor_time": time.process_time() - begin,
            "marks": sum(int(results.links["marked"].sum()) for results in runs),
            "train": math.fsum(results.train or 1 for results in runs) / len(runs),
        }
    return found


def error(found: dict[str, Any]) -> tuple[float, float]:
    """Return the error of the mean time, and half of its 95% interval, as shares of the exact mean."""
    exact, trains = (mean_interval(found[fidelity]["times"]) for fidelity in ("packets", "trains"))
    spread = math.hypot(exact.high - exact.mean, trains.high - trains.mean)
    return trains.mean / exact.mean - 1, spread / exact.mean


def cells(found: dict[str, Any]) -> tuple[str, str, str]:
    """Return the number of packets per train, the error, and the factor by which the processor time falls."""
    exact, trains = found["packets"], found["trains"]
    off, half = error(found)
    return (
        f"{trains['train']:.1f}",
        f"{round(100 * off, 1) + 0.0:+.1f}±{100 * half:.1f}%",
        f"{exact['processor_time'] / trains['processor_time']:.1f}",
    )


def table(found: list[dict[str, Any]]) -> str:
    """Return the table, with a row for each traffic and fabric."""
    sizes = sorted({each["hosts"] for each in found})
    known = {(each["traffic"], each["control"], each["hosts"]): cells(each) for each in found}
    head = ["traffic", "fabric"]
    for hosts in sizes:
        head += [f"{hosts} hosts: packets per train", "error", "times less"]
    lines = [head, ["---"] * len(head)]
    for traffic, control in dict.fromkeys((each["traffic"], each["control"]) for each in found):
        line = [traffic, "PFC and DCQCN" if control else "credits"]
        for hosts in sizes:
            line += known.get((traffic, control, hosts), ("", "", ""))
        lines.append(line)
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def large() -> None:
    """Print what halving-doubling with credits takes on large fabrics, exactly where that is possible."""
    for hosts, size, placement, fidelity in (
        (512, "64 MiB", "packed", "packets"),
        (512, "64 MiB", "packed", "trains"),
        (512, "64 MiB", "packed", "steady"),
        (4096, "1 GiB", "packed", "steady"),
        (4096, "1 GiB", "packed", "trains"),
        (512, "64 MiB", "random", "packets"),
        (512, "64 MiB", "random", "trains"),
        (512, "64 MiB", "random", "steady"),
        (4096, "1 GiB", "random", "trains"),
        (4096, "16 MiB", "random", "packets"),
        (4096, "16 MiB", "random", "trains"),
        (4096, "64 MiB", "random", "packets"),
        (4096, "64 MiB", "random", "trains"),
    ):
        reduce = {"all_reduce": {"bytes": size, "algorithm": "halving_doubling"}}
        job = {"name": "j", "hosts": ["*"], "placement": placement, "collective": reduce}
        begin = time.process_time()
        one = scenario(hosts, {"jobs": [job]}, DELAYS[0], control=False, fidelity=fidelity)
        if placement == "packed":
            one = one.replace({"switch.paths": {"destination": {}}})
        results = becalm.run(one)
        used, peak = time.process_time() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
        left_out = "" if results.left_out is None else f", {100 * results.left_out:.1f}% left out"
        print(f"{hosts} hosts, {size}, {placement}, {fidelity}: {results.jobs['time'][0]:.6f} s;", end=" ")
        print(f"{used:.1f} s of processor time, {peak} MB{left_out}", flush=True)


def main() -> None:
    """Measure the numbers of hosts given on the command line, if any; write the table."""
    if sys.argv[1:] == ["--large"]:
        large()
        return
    kept = [json.loads(line) for line in MEASURED.read_text().splitlines()] if MEASURED.exists() else []
    for hosts in map(int, sys.argv[1:]):
        for control in (False, True):
            for name, traffic in traffics(hosts).items():
                found = measure(hosts, name, traffic, control=control)
                same = ("hosts", "traffic", "control")
                kept = [each for each in kept if any(each[key] != found[key] for key in same)] + [found]
                print(hosts, name, control, *cells(found), flush=True)
                MEASURED.write_text("".join(f"{json.dumps(each, separators=(',', ':'))}\n" for each in kept))
    markers.write("trains", table(kept))


if __name__ == "__main__":
    main()
