"""Runs the gallery's pages and converts them to notebooks.

`python tools/gallery.py` updates the output, pictures and run times in `docs/gallery`. The notebooks contain
the same cells. They are created when the site is built.
"""

from __future__ import annotations

import json
import re
import time
from typing import Any

import examples

GALLERY = examples.ROOT / "docs" / "gallery"
INDEX = GALLERY / "README.md"
SCENARIOS = """# Copy becalm's example scenarios next to this notebook.
import shutil

from becalm.scenario import examples

shutil.copytree(examples.path("on_off").parent, "scenarios", dirs_exist_ok=True)
"""

_CODE = re.compile(r"^```(console|python)\n(.*?)^```\n(?:\n?```text\n.*?^```\n)?", re.DOTALL | re.MULTILINE)


def main() -> None:
    """Run all pages and write their run times into the table of the index."""
    index = INDEX.read_text()
    for page in sorted(GALLERY.glob("*.md")):
        if page != INDEX:
            start = time.perf_counter()
            page.write_text(examples.refreshed(page.read_text(), GALLERY))
            took = f"{time.perf_counter() - start:.0f} s"
            index = re.sub(rf"(\]\({page.name}\)) \|[^|]*\|", rf"\1 | {took} |", index)
    INDEX.write_text(index)


def notebook(text: str) -> str:
    """Return a page as a notebook without output; shell commands begin with `!`."""
    cells = [_cell("code", SCENARIOS)]
    place = 0
    for found in _CODE.finditer(text):
        cells.append(_cell("markdown", text[place : found.start()]))
        cells.append(_cell("code", _commands(found[2]) if found[1] == "console" else found[2]))
        place = found.end()
    cells.append(_cell("markdown", text[place:]))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    cells = [cell | {"id": f"cell-{place}"} for place, cell in enumerate(cells) if cell["source"]]
    whole = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _commands(block: str) -> str:
    return "".join(f"!{line[2:]}\n" for line in block.splitlines() if line.startswith("$ "))


def _cell(kind: str, text: str) -> dict[str, Any]:
    cell = {"cell_type": kind, "metadata": {}, "source": text.strip("\n")}
    return cell | {"execution_count": None, "outputs": []} if kind == "code" else cell


if __name__ == "__main__":
    main()
