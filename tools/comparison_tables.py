"""Writes the table of `comparison.md` from what `becalm compare --json` printed.

`make compare` runs every scheme on every scene and writes the table. All numbers are kept in
`comparison.jsonl`, one object per scene.
"""

from __future__ import annotations

import json
from pathlib import Path

import markers

from becalm import comparison

DOCS = Path(__file__).parents[1] / "docs"


def tables(numbers: str) -> str:
    """Return the table of distances and ranks."""
    scenes = {scene["scene"]: scene["schemes"] for scene in map(json.loads, numbers.splitlines())}
    _, columns, rows = comparison.ranking(scenes)
    lines = [columns, ("---",) * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def refreshed(page: str, numbers: str) -> str:
    """Return the page with the table of these numbers."""
    return markers.between_markers(page, "tables", f"\n{tables(numbers)}\n")


if __name__ == "__main__":
    target = DOCS / "comparison.md"
    target.write_text(refreshed(target.read_text(), (DOCS / "comparison.jsonl").read_text()))
