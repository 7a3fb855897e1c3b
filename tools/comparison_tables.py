"""Writes the tables of `comparison.md` from what `becalm compare --json` printed.

`make compare` runs every scheme on every scene and writes the tables. The numbers are kept in
`comparison.jsonl`, one object per scene.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from becalm.comparison import cells

DOCS = Path(__file__).parents[1] / "docs"
_PLACE = re.compile(r"(<!-- tables -->\n).*?(<!-- end -->)", re.DOTALL)


def tables(numbers: str) -> str:
    """Return the tables of all scenes, a heading above each."""
    return "\n".join(_of_scene(**json.loads(line)) for line in numbers.splitlines())


def _of_scene(scene: str, short: bool, schemes: list[cells.Row]) -> str:
    parts = [f"## {scene[0].upper()}{scene[1:]}{', shorter runs' if short else ''}"]
    for number, (title, columns, rows) in enumerate(cells.tables(scene, schemes)):
        lines = [columns, ("---",) * len(columns), *rows]
        table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        parts.append(table if number == 0 else f"{title.partition(': ')[2].capitalize()}:\n\n{table}")
    parts += ["\n".join(f"- {note}" for note in cells.notes(schemes)).replace("* rates", "`*` rates")]
    return "\n\n".join(parts) + "\n"


def refreshed(page: str, numbers: str) -> str:
    """Return the page with the tables of these numbers."""
    made = tables(numbers)
    return _PLACE.sub(lambda found: f"{found[1]}\n{made}\n{found[2]}", page)


if __name__ == "__main__":
    target = DOCS / "comparison.md"
    target.write_text(refreshed(target.read_text(), (DOCS / "comparison.jsonl").read_text()))
