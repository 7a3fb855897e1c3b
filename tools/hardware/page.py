"""Writes the tables of `docs/hardware.md` and the data of the claims from measurements."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import markers  # noqa: E402

DATA = ROOT / "python" / "becalm" / "papers" / "common" / "hardware.json"
"""Data for the claims and the page."""


def read() -> dict[str, list[dict[str, Any]]]:
    """Return the committed numbers: `costs`, `replays`, `tables`."""
    return json.loads(DATA.read_text(encoding="utf-8")) if DATA.exists() else {}


def write(**measured: list[dict[str, Any]]) -> None:
    """Replace earlier numbers of the same kind, and write the page's tables."""
    every = {**read(), **measured}
    kinds = [
        f"{json.dumps(kind)}: [\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]"
        for kind, rows in sorted(every.items())
    ]
    DATA.write_text("{\n" + ",\n".join(kinds) + "\n}\n", encoding="utf-8")
    for name, table in tables(every).items():
        markers.write(name, table)


def tables(every: dict[str, list[dict[str, Any]]]) -> dict[str, str]:
    """Return the tables by their names."""
    costs = every.get("costs", [])
    markers = [row for row in costs if row["module"] == "marker"]
    return {
        "replays": _replays(every.get("replays", [])),
        "markers": _markers(markers),
        "responders": _responders([row for row in costs if row["module"] != "marker"]),
    }


def _table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    ruler = ["---", *["---:"] * (len(head) - 1)]
    shown = [[f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row] for row in rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in (head, ruler, *shown))


def _replays(rows: list[dict[str, Any]]) -> str:
    modules = dict.fromkeys(row["module"] for row in rows)
    keys = ("calls", "answers", "marks", "differences")
    sums = [
        [f"`{name}`", *(sum(row[key] for row in rows if row["module"] == name) for key in keys)]
        for name in modules
    ]
    return _table(("module", *keys), sums)


PORTS, SLOTS = (16, 36), 16
"""Ports, and slots per input buffer, of the markers on the page; `hardware.json` has others."""


def _markers(rows: list[dict[str, Any]]) -> str:
    keys = ("gates", "flip_flops", "luts", "depth", "adder_and_comparator")
    head = ("policy", "ports", "gates", "flip-flops", "LUTs", "depth", "adder and comparator")
    shown = [
        row for row in rows if row["parameters"]["SLOTS"] == SLOTS and row["parameters"]["PORTS"] in PORTS
    ]
    shown.sort(key=lambda row: row["parameters"]["PORTS"])
    return _table(
        head, ([row["policy"], row["parameters"]["PORTS"], *(row[key] for key in keys)] for row in shown)
    )


def _responders(rows: list[dict[str, Any]]) -> str:
    return _table(
        ("module", "rates or entries", "gates", "flip-flops per flow", "LUTs", "table bits", "depth"),
        (
            (
                f"`{row['module']}`",
                *row["parameters"].values(),
                *(row[key] for key in ("gates", "flip_flops", "luts", "memory_bits", "depth")),
            )
            for row in rows
        ),
    )
