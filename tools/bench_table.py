"""Writes the tables of benchmarks in `performance.md` from what the benchmark program measured.

`make bench-docs` measures all scenarios and writes the tables. The figures are kept in `performance.jsonl`,
one object per scenario, as `becalm-bench --json` prints them.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs"
_PLACE = r"(<!-- {} -->\n).*?(<!-- end -->)"
_OTHERS = (
    ("htsim (csg), RoCE and PFC", "1.8", "0.35 to 0.85"),
    ("HPCC's fork of ns-3, DCQCN and PFC", "0.49", "0.09 to 0.18, 4 GB"),
    ("CODES/ROSS, credits", "0.43", "not run"),
    ("OMNeT++ InfiniBand model with CC, packets", "0.07", "not run"),
    ("OMNeT++ InfiniBand model, flits", "0.009", "not run"),
)
"""M packet-hops per core-second with 128 and with 1024 hosts."""
_HEAD = (
    "scenario",
    "packet-hops",
    "M packet-hops per core-second",
    "events per packet-hop",
    "ns per event",
    "set-up",
    "kB per host",
    "B per port pair",
    "peak memory",
)


def row(f: dict[str, Any]) -> list[str]:
    """Return the cells of one scenario."""
    return [
        f"`{f['scenario']}`",
        f"{f['packet_hops']:,}",
        f"{f['packet_hops_per_core_second'] / 1e6:.2f}",
        f"{f['events_per_packet_hop']:.3f}",
        f"{f['ns_per_event']:.0f}",
        f"{f['set_up_seconds']:.3f} s",
        f"{f['idle_bytes_per_host'] / 1e3:.1f}",
        f"{f['idle_bytes_per_port_pair']:,}",
        f"{f['peak_memory_bytes'] / 1e6:.0f} MB",
    ]


def table(figures: list[dict[str, Any]]) -> str:
    """Return the table of all scenarios."""
    lines = [_HEAD, ["---"] * len(_HEAD), *map(row, figures)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def others(figures: list[dict[str, Any]]) -> str:
    """Return the table of other simulators and becalm on the workloads that both have run.

    The others' time is that of their whole processes, so becalm's set-up counts, too.
    """
    speed = {
        f["scenario"]: f["packet_hops"] / (f["set_up_seconds"] + f["cpu_seconds"]) / 1e6 for f in figures
    }

    def ours(suffix: str, *names: str) -> list[str]:
        return [", ".join(f"{speed[name + suffix]:.2f} (`{name}`)" for name in names)]

    small, large = ("perm128", "hot128", "incast128"), ("perm1024", "hot1024")
    lines = [
        ["M packet-hops per core-second", "128 hosts", "1024 hosts"],
        ["---"] * 3,
        *map(list, _OTHERS),
        ["becalm, credits", *ours("", *small), *ours("", *large)],
        ["becalm, credits and IBTA CC", *ours("_cc", *small), *ours("_cc", *large)],
    ]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def refreshed(page: str, measured: str) -> str:
    """Return the page with the tables of these figures, given as lines of JSON."""
    figures = [json.loads(line) for line in measured.splitlines()]
    for place, text in (("measured", table(figures)), ("others", others(figures))):
        page, count = re.subn(_PLACE.format(place), rf"\g<1>{text}\g<2>", page, flags=re.DOTALL)
        if count != 1:
            raise ValueError(f"performance.md has {count} places for `{place}`, not one")
    return page


def main() -> None:
    """Write the table."""
    page = DOCS / "performance.md"
    page.write_text(refreshed(page.read_text(), (DOCS / "performance.jsonl").read_text()))


if __name__ == "__main__":
    main()
