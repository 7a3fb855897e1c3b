"""Runs BookSim2 on a case. BOOKSIM is the folder of its executable `booksim`.

A case's `peer` contains `topology` (a key of `NETWORKS`), `k`, `n`, `routing`, `traffic`, `load` in flits per
cycle and host, and `cycles`, the length of the warm-up and of each of the two samples. Packets from a host to
itself are left out, because becalm does not send any. One cycle in BookSim is 1 ns in becalm.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from becalm.crosscheck.entry import Case, Entry

COMMON = {
    "alloc_iters": 1,
    "credit_delay": 0,
    "deadlock_warn_timeout": 100000,
    "injection_rate_uses_flits": 1,
    "max_samples": 3,
    "pair_stats": 1,
    "routing_delay": 0,
    "sim_type": "throughput",
    "st_final_delay": 1,
    "sw_alloc_delay": 1,
    "sw_allocator": "separable_input_first",
    "use_noc_latency": 0,
    "vc_alloc_delay": 1,
    "vc_allocator": "separable_input_first",
    "warmup_periods": 1,
}
PACKETS = {
    "hold_switch_for_packet": 1,
    "input_speedup": 16,
    "num_vcs": 16,
    "packet_size": 64,
    "vc_buf_size": 256,
    "vc_prioritize_empty": 1,
}
"""Switches that keep packets together, with buffers of 4 packets on each of 16 channels."""
FLITS = {
    "alloc_iters": 4,
    "credit_delay": 2,
    "internal_speedup": 4.0,
    "num_vcs": 3,
    "packet_size": 1,
    "sw_allocator": "islip",
    "vc_allocator": "islip",
    "vc_buf_size": 256,
}
"""Settings of BookSim's dragonfly example, with a faster switch because channels are FIFOs."""
NETWORKS: Mapping[str, tuple[Mapping[str, Any], int]] = {
    "torus": (PACKETS, 0),
    "fattree": (PACKETS, 0),
    "dragonflynew": (FLITS, 18),
}
"""Settings, and the extra delay of two hosts' cables in becalm compared with BookSim."""


def reference(_: Entry, case: Case) -> dict[str, float | list[float]]:
    """Return the mean latency [ns] and the accepted load as a share of the hosts' links."""
    peer = case.peer
    settings, cables = NETWORKS[peer["topology"]]
    own = {
        "topology": peer["topology"],
        "k": peer["k"],
        "n": peer["n"],
        "routing_function": peer["routing"],
        "traffic": peer["traffic"],
        "injection_rate": peer["load"],
        "sample_period": peer["cycles"],
    }
    with tempfile.TemporaryDirectory() as folder:
        statistics = Path(folder, "statistics")
        lines = {**COMMON, **settings, **own, "stats_out": "statistics"}
        config = Path(folder, "config")
        config.write_text("".join(f"{key} = {value};\n" for key, value in lines.items()), encoding="utf-8")
        program = Path(os.environ["BOOKSIM"]).resolve() / "booksim"
        # The exit code shows whether latencies converged. Two samples are enough here.
        subprocess.run([program, config.name], cwd=folder, check=False, capture_output=True)
        text = statistics.read_text(encoding="utf-8")
    sent, latency, taken = (_row(text, key) for key in ("pair_sent", "pair_plat", "accepted_flits"))
    hosts = len(taken)
    others = [at for at in range(hosts * hosts) if at // hosts != at % hosts and sent[at] > 0]
    packets = sum(sent[at] for at in others)
    # Share of a host's received packets that it sent to itself.
    own_share = [
        sent[host * hosts + host] / max(sum(sent[host::hosts]), 1)  # from all to this one
        for host in range(hosts)
    ]
    senders = {at // hosts for at in others}
    return {
        "latency": sum(sent[at] * latency[at] for at in others) / packets + cables,
        "accepted": sum(got * (1 - own) for got, own in zip(taken, own_share, strict=True)) / len(senders),
    }


def _row(text: str, key: str) -> list[float]:
    """Return the last row with this name, printed at the end of the run."""
    return [float(each) for each in re.findall(rf"{key}\(1,:\) = \[ (.*?)\]", text)[-1].split()]
