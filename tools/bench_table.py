"""Writes the table of benchmarks in `performance.md` from the results of the benchmark program.

`performance.jsonl` is the history. Each line is an object that `becalm-bench --json` printed for a scenario,
with becalm's version added. `make bench-docs` measures all scenarios and replaces earlier results of the same
version. `python tools/bench_table.py FILE VERSION` adds those of another version, measured in its checkout.
The table shows the speed of the newest versions, and more columns for the last one.
"""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

import markers

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
HISTORY = DOCS / "performance.jsonl"
SHOWN = 2
"""Number of versions in the table."""
_HEAD = ("scenario", "peak memory")


def row(f: dict[str, Any]) -> list[str]:
    """Return the cells of a scenario, except its speed."""
    return [
        f"`{f['scenario']}`",
        f"{f['peak_memory_bytes'] / 1e6:.0f} MB",
    ]


def table(figures: list[dict[str, Any]]) -> str:
    """Return each scenario's newest figures, and its speed in M packet-hops per core-second by version."""
    versions = list(dict.fromkeys(f["version"] for f in figures))[-SHOWN:]
    speeds = {(f["scenario"], f["version"]): f["packet_hops_per_core_second"] / 1e6 for f in figures}
    newest = {f["scenario"]: f for f in figures}
    rows = [
        [*row(f), *(f"{speeds[name, each]:.2f}" if (name, each) in speeds else "" for each in versions)]
        for name, f in newest.items()
    ]
    lines = [[*_HEAD, *versions], ["---"] * (len(_HEAD) + len(versions)), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def refreshed(page: str, measured: str) -> str:
    """Return the page with the table for a history, given as lines of JSON."""
    lines = table([json.loads(line) for line in measured.splitlines()])
    return markers.between_markers(page, "by version", lines)


def merged(kept: str, measured: str, version: str) -> str:
    """Return a history in which new results of a version replace its old ones."""
    old = [line for line in kept.splitlines() if json.loads(line)["version"] != version]
    new = [
        json.dumps({"version": version, **json.loads(line)}, separators=(",", ":"))
        for line in measured.splitlines()
    ]
    return "".join(f"{line}\n" for line in (*old, *new))


def main() -> None:
    """Add the results in the file given on the command line, if any, to the history; write the table."""
    if sys.argv[1:]:
        now = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
        file, version = [*sys.argv[1:], now][:2]
        HISTORY.write_text(merged(HISTORY.read_text(), Path(file).read_text(), version))
    page = DOCS / "performance.md"
    page.write_text(refreshed(page.read_text(), HISTORY.read_text()))


if __name__ == "__main__":
    main()
