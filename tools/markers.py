"""Pages that are written by hand, except for the lines between two markers, which tools write.

A marker is a comment on its own line: `<!-- NAME -->`. The lines end at the next `<!-- end -->`.
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[1]
PLACES = {
    "crosscheck": "README.md",
    "make advice": "docs/advice.md",
    "tables": "docs/comparison.md",
    **dict.fromkeys(("replays", "markers", "responders"), "docs/hardware.md"),
    "by version": "docs/performance.md",
    "trains": "docs/performance.md",
    "rules": "docs/explain.md",
    "tools/beds.py": "docs/reproductions/gran2010/readings.md",
    "tools/readings.py": "docs/reproductions/readings.md",
}
"""The page of each marker. `tools/generate.py` lists the pages that are written as a whole."""


def between_markers(page: str, name: str, lines: str) -> str:
    """Return a page with other lines after a marker.

    Raises:
        ValueError: the page lacks the marker, has it twice, or it has no end.

    """
    before, *rest = page.split(f"<!-- {name} -->\n")
    if len(rest) != 1 or "<!-- end -->" not in rest[0]:
        raise ValueError(f"marker `{name}`: must occur once, followed by `<!-- end -->`")
    _, end, after = rest[0].partition("<!-- end -->")
    return f"{before}<!-- {name} -->\n{lines}{end}{after}"


def write(name: str, lines: str) -> None:
    """Write lines after a marker into its page."""
    page = ROOT / PLACES[name]
    text = between_markers(page.read_text(encoding="utf-8"), name, lines)
    page.write_text(text, encoding="utf-8")
