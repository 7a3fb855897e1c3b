"""Runs the HPCC paper's version of ns-3 on a case.

HPCC_NS3 is the folder `simulation` of its repository, with the built `build/scratch/third`. A case's `peer`
contains `control` (a key of `CONTROLS`) and one of

- `hosts` and `size`: this many hosts on one switch each send a message of `size` bytes to one more host at
  once. `memory` is the switch's buffer [MiB], 32 by default. With `draws`, values are means over this many
  runs with random start times. `settings` overrides settings of the program.
- `tree`: the number of random permutations of 128 hosts on a tree of 3 levels, with messages of `size`
- `leaves`: the scenario's flows among 32 hosts, 4 on each leaf; the value is the number of runs with random
  paths
"""

from __future__ import annotations

import math
import os
import random
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from becalm.base.quantities import seconds
from becalm.crosscheck.entry import Case, Entry

START = 2.0
"""Start time of the first message [s]."""
DUMP = 0.1
"""The program prints its histogram of queues at multiples of this time [s]."""
SAMPLE = 100e-9
"""Time between two samples of queues [s]."""
RATE = 100
"""Rate of all links [Gb/s]."""
SHORT = 30_000
"""Largest of the short messages [B]."""

Settings = dict[str, str | float]
RAMP = {"kmin": 400, "kmax": 1600, "pmax": 0.2}
"""Thresholds of marking [kB] for 100 Gb/s."""
CONTROLS: dict[str, Settings] = {
    "none": {"CC_MODE": 0, "ENABLE_QCN": 0},
    "hpcc": {"CC_MODE": 3, "RATE_AI": "40Mb/s", "HAS_WIN": 1, "VAR_WIN": 1, "FAST_REACT": 1, "INT_MULTI": 4},
    "dcqcn": {"CC_MODE": 1, "RATE_AI": "20Mb/s", "RATE_HAI": "200Mb/s", "ACK_HIGH_PRIO": 1},
    "dctcp": {
        "CC_MODE": 8,
        "HAS_WIN": 1,
        "VAR_WIN": 1,
        "EWMA_GAIN": 0.0625,
        "kmin": 300,
        "kmax": 300,
        "pmax": 1,
    },
    "timely": {"CC_MODE": 7, "RATE_AI": "100Mb/s", "RATE_HAI": "500Mb/s", "ACK_HIGH_PRIO": 1},
}
"""Settings of each control, with the values of the program's `run.py` for 100 Gb/s."""
PACKETS = {"none": 1.048, "hpcc": 1.090, "dcqcn": 1.048, "dctcp": 1.048, "timely": 1.056}
"""Packet size with headers [kB]."""
DEFAULTS: Settings = {
    "ENABLE_QCN": 1,
    "USE_DYNAMIC_PFC_THRESHOLD": 1,
    "PACKET_PAYLOAD_SIZE": 1000,
    "ALPHA_RESUME_INTERVAL": 1,
    "RATE_DECREASE_INTERVAL": 4,
    "CLAMP_TARGET_RATE": 0,
    "RP_TIMER": 300,
    "EWMA_GAIN": 0.00390625,
    "FAST_RECOVERY_TIMES": 1,
    "RATE_AI": "40Mb/s",
    "RATE_HAI": "40Mb/s",
    "MIN_RATE": "1000Mb/s",
    "DCTCP_RATE_AI": "1923Mb/s",
    "ERROR_RATE_PER_LINK": 0,
    "L2_CHUNK_SIZE": 4000,
    "L2_ACK_INTERVAL": 1,
    "L2_BACK_TO_ZERO": 0,
    "HAS_WIN": 0,
    "GLOBAL_T": 1,
    "VAR_WIN": 0,
    "FAST_REACT": 0,
    "U_TARGET": 0.95,
    "MI_THRESH": 0,
    "INT_MULTI": 1,
    "MULTI_RATE": 0,
    "SAMPLE_FEEDBACK": 0,
    "RATE_BOUND": 1,
    "ACK_HIGH_PRIO": 0,
    "LINK_DOWN": "0 0 0",
    "ENABLE_TRACE": 0,
    "BUFFER_SIZE": 32,
}


@dataclass(frozen=True)
class Message:
    """A message between two hosts."""

    source: int
    destination: int
    size: int
    start: float = 0.0
    """Delay after the first message's start [s]."""
    port: int = 100
    """Destination port, an input of the program's ECMP hash."""


@dataclass
class Network:
    """Hosts and switches, numbered in this order, and cables of 100 Gb/s and 1 us."""

    hosts: int
    switches: int
    cables: list[tuple[int, int]] = field(default_factory=list)

    def text(self) -> str:
        """Return the network in the program's format."""
        numbers = range(self.hosts, self.hosts + self.switches)
        lines = [f"{self.hosts + self.switches} {self.switches} {len(self.cables)}"]
        lines += [" ".join(map(str, numbers))]
        lines += [f"{one} {other} {RATE}Gbps 0.001ms 0" for one, other in self.cables]
        return "\n".join(lines) + "\n"


def star(hosts: int) -> Network:
    """Return a network of hosts on one switch."""
    return Network(hosts, 1, [(host, hosts) for host in range(hosts)])


def leaves(count: int, spines: int, each: int) -> Network:
    """Return a network of leaves with hosts, each joined to all spines."""
    hosts = count * each
    cables = [(host, hosts + host // each) for host in range(hosts)]
    cables += [(hosts + leaf, hosts + count + spine) for leaf in range(count) for spine in range(spines)]
    return Network(hosts, count + spines, cables)


def tree() -> Network:
    """Return the 8-port 3-tree: 32 leaves of 4 hosts each, 32 middle switches, and 16 top switches."""
    half, hosts = 4, 128
    leaf, middle, top = hosts, hosts + 32, hosts + 64
    cables = [(host, leaf + host // half) for host in range(hosts)]
    for pod in range(8):
        for one in range(half):
            cables += [(leaf + pod * half + one, middle + pod * half + up) for up in range(half)]
            cables += [(middle + pod * half + one, top + one * half + up) for up in range(half)]
    return Network(hosts, 80, cables)


@dataclass(frozen=True)
class Outcome:
    """Results of a run."""

    times: list[float]
    """Completion times until the last ACK [s]."""
    ideals: list[float]
    """Completion times in an empty network, as calculated by the program [s]."""
    sizes: list[int]
    pauses: int
    queues: dict[tuple[int, int], list[int]]
    """Histograms of queue lengths, by switch and port: the number of samples at each length in kB."""
    end: float
    """Time from the first message's start to the last one's end [s]."""


def run(
    network: Network,
    messages: list[Message],
    control: str,
    until: float = 1.0,
    memory: int = 32,
    draw: int = 0,
    changed: Mapping[str, str | float] | None = None,
) -> Outcome:
    """Simulate messages; the run stops `until` seconds after the first message's start.

    `draw` is the seed of marking. Without it, all runs of the program use the same random numbers. `changed`
    overrides further settings.
    """
    settings: Settings = {**DEFAULTS, **RAMP, **CONTROLS[control], "BUFFER_SIZE": memory, **(changed or {})}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write(folder, network, messages, settings, until)
        program = Path(os.environ["HPCC_NS3"]).resolve()
        libraries = {"LD_LIBRARY_PATH": str(program / "build"), "NS_GLOBAL_VALUE": f"RngRun={draw + 1}"}
        subprocess.run(
            [program / "build" / "scratch" / "third", folder / "config.txt"],
            env={**os.environ, **libraries},
            check=True,
            stdout=subprocess.DEVNULL,
        )
        return _read(folder)


def _write(folder: Path, network: Network, messages: list[Message], settings: Settings, until: float) -> None:
    (folder / "topology.txt").write_text(network.text())
    flows = [f"{m.source} {m.destination} 3 {m.port} {m.size} {START + m.start:.9f}" for m in messages]
    (folder / "flows.txt").write_text("\n".join([str(len(flows)), *flows]) + "\n")
    (folder / "trace.txt").write_text("0\n")
    for key in ("kmin", "kmax", "pmax"):
        settings[f"{key.upper()}_MAP"] = f"1 {RATE}000000000 {settings.pop(key)}"
    files = {
        "TOPOLOGY_FILE": "topology",
        "FLOW_FILE": "flows",
        "TRACE_FILE": "trace",
        "TRACE_OUTPUT_FILE": "packets",
        "FCT_OUTPUT_FILE": "times",
        "PFC_OUTPUT_FILE": "pauses",
        "QLEN_MON_FILE": "queues",
    }
    settings |= {key: f"{folder}/{value}.txt" for key, value in files.items()}
    settings |= {"SIMULATOR_STOP_TIME": START + until + DUMP, "QLEN_MON_START": int(START * 1e9)}
    settings["QLEN_MON_END"] = int((START + until + DUMP) * 1e9)
    (folder / "config.txt").write_text("".join(f"{key} {value}\n" for key, value in settings.items()))


def _read(folder: Path) -> Outcome:
    done = [list(map(int, line.split()[4:])) for line in (folder / "times.txt").read_text().splitlines()]
    pauses = [line.split() for line in (folder / "pauses.txt").read_text().splitlines()]
    queues = {}
    for line in (folder / "queues.txt").read_text().splitlines():
        if not line.startswith("time:"):
            switch, port, *samples = map(int, line.split())
            queues[switch, port] = samples
    return Outcome(
        [time / 1e9 for _, _, time, _ in done],
        [ideal / 1e9 for *_, ideal in done],
        [size for size, *_ in done],
        sum(pause[4] == "0" for pause in pauses),
        queues,
        max((start + time) / 1e9 for _, start, time, _ in done) - START,
    )


def permutation(draw: int, size: int) -> list[Message]:
    """Return one message per host of the tree, to the hosts of a random permutation without fixed points."""
    shuffled = random.Random(draw)
    while True:
        to = shuffled.sample(range(128), 128)
        if all(host != other for host, other in enumerate(to)):
            return [Message(host, other, size) for host, other in enumerate(to)]


def reference(entry: Entry, case: Case) -> dict[str, float | list[float]]:
    """Return completion times [us], queues [kB], pauses and slowdowns of a case."""
    peer = case.peer
    if "tree" in peer:
        draws = [permutation(draw, peer["size"]) for draw in range(1, peer["tree"] + 1)]
        runs = [run(tree(), messages, peer["control"], 0.1, draw=draw) for draw, messages in enumerate(draws)]
        return {"completions": [1e6 * time for each in runs for time in each.times]}
    if "leaves" in peer:
        runs = [
            run(leaves(8, 4, 4), _listed(entry, case, draw), peer["control"], 0.1, draw=draw)
            for draw in range(peer["leaves"])
        ]
        every = [pair for each in runs for pair in zip(each.sizes, each.times, strict=True)]
        return {
            "completions": [1e6 * time for _, time in every],
            "short": [1e6 * time for size, time in every if size <= SHORT],
        }
    runs = [_incast(peer, draw) for draw in range(peer.get("draws", 1))]
    times = [1e6 * time for found in runs for time in found.times]
    return drawn([incast(found, PACKETS[peer["control"]]) for found in runs], times)


def _listed(entry: Entry, case: Case, draw: int) -> list[Message]:
    """Return the flows of a scenario; each draw uses other ports, and therefore other paths."""
    (group,) = entry.scenario(case).resolved["flows"]
    flows = [
        Message(
            int(each["from"][1:]),
            int(each["to"][1:]),
            int(each["message"].split()[0]),
            seconds(each["start"]),
            100 + draw,
        )
        for each in group["connections"]
    ]
    first = min(flow.start for flow in flows)
    return [replace(flow, start=flow.start - first) for flow in flows]


def _incast(peer: Mapping[str, Any], draw: int) -> Outcome:
    """Simulate an incast; with `draws`, messages start at random times within 1 us."""
    hosts, size = peer["hosts"], peer["size"]
    start = random.Random(draw)
    spread = 1e-6 if "draws" in peer else 0.0
    messages = [Message(host, hosts, size, spread * start.random()) for host in range(hosts)]
    # The program requires messages in order of their starts, and the first one at START.
    messages.sort(key=lambda message: message.start)
    first = messages[0].start
    messages = [replace(message, start=message.start - first) for message in messages]
    # Lower bound on the bottleneck's transmission time.
    least = hosts * size * 8.4 / (RATE * 1e9)
    until, control = max(2 * least, 1e-3), peer["control"]
    return run(star(hosts + 1), messages, control, until, peer.get("memory", 32), draw, peer.get("settings"))


def drawn(runs: list[dict[str, float]], times: list[float]) -> dict[str, float | list[float]]:
    """Return means over draws, half their ranges, and the completion times [us] of all draws."""
    found: dict[str, float | list[float]] = {"completions": times}
    for key in runs[0]:
        values = [each[key] for each in runs]
        found[key] = sum(values) / len(values)
        if len(values) > 1:
            found[f"spread {key}"] = (max(values) - min(values)) / 2
    return found


def incast(found: Outcome, packet: float) -> dict[str, float]:
    """Return completion times, pauses, and the receiver's queue until the last message's end.

    The program counts samples in steps of 1 kB. All packets have the same size, so each step corresponds to
    a number of packets.
    """
    longest = max(found.queues.values(), key=lambda samples: sum(at * n for at, n in enumerate(samples)))
    kilobytes = sum(math.ceil(at / packet) * packet * n for at, n in enumerate(longest))
    return {
        "last": 1e6 * max(found.times),
        "mean": 1e6 * sum(found.times) / len(found.times),
        "pauses": float(found.pauses),
        "queue": kilobytes * SAMPLE / found.end,
        "peak": max(math.ceil(at / packet) * packet for at, n in enumerate(longest) if n),
    }
