"""Writes the table of benchmarks in `performance.md` from what the benchmark program measured.

`make bench-docs` measures all scenarios and writes the table. The figures are kept in `performance.jsonl`,
one object per scenario, as `becalm-bench --json` prints them.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs"
_PLACE = r"(<!-- measured -->\n).*?(<!-- end -->)"
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


def refreshed(page: str, measured: str) -> str:
    """Return the page with the table of these figures, given as lines of JSON."""
    figures = [json.loads(line) for line in measured.splitlines()]
    page, count = re.subn(_PLACE, rf"\g<1>{table(figures)}\g<2>", page, flags=re.DOTALL)
    if count != 1:
        raise ValueError(f"performance.md has {count} places for the table, not one")
    return page


def main() -> None:
    """Write the table."""
    page = DOCS / "performance.md"
    page.write_text(refreshed(page.read_text(), (DOCS / "performance.jsonl").read_text()))


if __name__ == "__main__":
    main()
