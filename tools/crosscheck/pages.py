"""Runs all entries and writes their results: `python tools/crosscheck/pages.py`, or `make crosscheck`.

Writes `docs/crosschecks.md`, a picture per entry, the numbers in `docs/crosschecks/verdicts.json`, the page
on validation, and the score in the README. Fails if a quantity is outside its tolerance without an
explanation.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from becalm import crosscheck, jsons
from becalm.cli.screen import Screen
from becalm.crosscheck import page, picture

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import markers  # noqa: E402
import validation  # noqa: E402

DOCS = ROOT / "docs"
BESIDE = "- **Other simulators.** In a [direct comparison](docs/crosschecks.md),"


def main() -> int:
    """Run all entries, write and print the results, and return the exit code."""
    begin = time.monotonic()
    with Screen(quiet=not sys.stderr.isatty()) as screen:
        found = crosscheck.check(progress=screen.on_progress)
    folder = DOCS / "crosschecks"
    folder.mkdir(exist_ok=True)
    for each in found:
        picture.draw(each, folder / f"{each.entry.name}.svg")
        for row in page.rows(each):
            print(each.entry.name, *row, sep=" | ")
    (DOCS / "crosschecks.md").write_text(page.page(found), encoding="utf-8")
    numbers = [each.to_json() for each in found]
    (folder / "verdicts.json").write_text(jsons.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    validation.write()
    markers.write("crosscheck", f"{BESIDE} {page.score(found)}.\n")
    print(f"{page.score(found)}; {time.monotonic() - begin:.0f} s")
    return int(any(each.unexplained for each in found))


if __name__ == "__main__":
    sys.exit(main())
