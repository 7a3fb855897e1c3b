"""Writes the tables of `comparison.md` from what `becalm compare --json` printed.

`make compare` runs every scheme on every scene and writes the tables. The numbers are kept in
`comparison.jsonl`, one object per scene.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import markers

from becalm.comparison import cells

DOCS = Path(__file__).parents[1] / "docs"
# A row joins its warnings by "; ", which also occurs within a warning; each begins with a key or a table.
_WARNING = re.compile(r"; (?=\[|marking|switch)")
_Scenes = dict[tuple[str, str], list[str]]


def tables(numbers: str) -> str:
    """Return the tables of all scenes, then the tuned values and the warnings, each once with its scenes."""
    scenes = [json.loads(line) for line in numbers.splitlines()]
    rows = [(scene["scene"], row) for scene in scenes for row in scene["schemes"]]
    values: _Scenes = {}
    warnings: _Scenes = {}
    for scene, row in rows:
        if row.get("parameters"):
            _add(values, (row["scheme"].removesuffix(", tuned"), row["parameters"].partition(";")[0]), scene)
        for warning in _WARNING.split(row.get("warnings") or ""):
            if warning:
                _add(warnings, (row["scheme"], warning), scene)
    parts = [_of_scene(**scene) for scene in scenes]
    parts.append(_grouped("Tuned values", ("scheme", "values"), values))
    parts.append(_grouped("Warnings", ("scheme", "warning"), warnings))
    return "\n".join(parts)


def _add(groups: _Scenes, key: tuple[str, str], scene: str) -> None:
    groups.setdefault(key, []).append(scene)


def _grouped(title: str, columns: tuple[str, str], groups: _Scenes) -> str:
    """Return a section with a table of what several scenes have in common."""
    lines = [(*key, ", ".join(groups[key])) for key in sorted(groups)]
    return f"## {title}\n\n{_table((*columns, 'scenes'), lines)}\n"


def _of_scene(scene: str, short: bool, schemes: list[cells.Row]) -> str:
    parts = [f"## {scene[0].upper()}{scene[1:]}{', shorter runs' if short else ''}"]
    for number, (title, columns, rows) in enumerate(cells.tables(scene, schemes)):
        table = _table(columns, rows)
        parts.append(table if number == 0 else f"{title.partition(': ')[2].capitalize()}:\n\n{table}")
    return "\n\n".join(parts) + "\n"


def _table(columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [columns, ("---",) * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def refreshed(page: str, numbers: str) -> str:
    """Return the page with the tables of these numbers."""
    return markers.between_markers(page, "tables", f"\n{tables(numbers)}\n")


if __name__ == "__main__":
    target = DOCS / "comparison.md"
    target.write_text(refreshed(target.read_text(), (DOCS / "comparison.jsonl").read_text()))
