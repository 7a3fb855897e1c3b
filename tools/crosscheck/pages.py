"""Runs all entries and writes their results: `python tools/crosscheck/pages.py`, or `make crosscheck`.

Writes `docs/crosschecks.md`, a picture per entry, the numbers in `docs/crosschecks/verdicts.json`, the page
on validation, and the score in the README. Fails if a quantity is outside its tolerance without an
explanation.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

import picture

from becalm import crosscheck, jsons
from becalm.cli.screen import Screen
from becalm.crosscheck import KINDS, Checked
from becalm.crosscheck.run import reasons, rows, score

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import markers  # noqa: E402
import validation  # noqa: E402

DOCS = ROOT / "docs"
BESIDE = "- **Other simulators.** In a [direct comparison](docs/crosschecks.md),"

HEAD = """\
# becalm and other simulators

`make crosscheck` runs becalm's side of all entries and writes this page. Each entry is a scene that another
program has simulated. `becalm crosscheck NAME` runs one entry. If you have the other program,
`tools/crosscheck/again.py NAME` reproduces its numbers.

{score}.

Tolerances depend only on the kind of a quantity and were fixed before the comparison:

{kinds}

A quantity outside its tolerance is *explained* if a rule of either program is known to cause the difference;
otherwise it *differs*. Below, each entry lists only these quantities. `becalm crosscheck NAME` prints all of them, and
[verdicts.json](crosschecks/verdicts.json) has their numbers.
"""


def main() -> int:
    """Run all entries, write and print the results, and return the exit code."""
    begin = time.monotonic()
    with Screen(quiet=not sys.stderr.isatty()) as screen:
        found = crosscheck.check(progress=screen.on_progress)
    folder = DOCS / "crosschecks"
    folder.mkdir(exist_ok=True)
    for each in found:
        picture.draw(each, folder / f"{each.entry.name}.svg")
        for row in rows(each):
            print(each.entry.name, *row, sep=" | ")
    (DOCS / "crosschecks.md").write_text(page(found), encoding="utf-8")
    numbers = [each.to_json() for each in found]
    (folder / "verdicts.json").write_text(jsons.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    validation.write()
    markers.write("crosscheck", f"{BESIDE} {score(found)}.\n")
    print(f"{score(found)}; {time.monotonic() - begin:.0f} s")
    return int(any(each.unexplained for each in found))


def page(found: Sequence[Checked]) -> str:
    """Return the page of all entries."""
    kinds = "\n".join(f"| {kind.name} | {kind.meaning} | {kind.shown} |" for kind in KINDS.values())
    table = f"| kind | meaning | tolerance |\n|---|---|---|\n{kinds}"
    parts = [HEAD.format(score=score(found), kinds=table), _overview(found), *map(_entry, found)]
    return "\n".join(parts)


def _overview(found: Sequence[Checked]) -> str:
    lines = ["| entry | program | quantities | agree | explained | differ |", "|---|---|---|---|---|---|"]
    for each in found:
        open_ = len(each.unexplained)
        explained = len(each.quantities) - each.agreeing - open_
        name = f"[{each.entry.name}](#{each.entry.name})"
        numbers = f"{len(each.quantities)} | {each.agreeing} | {explained} | {open_}"
        lines.append(f"| {name} | {each.entry.program.name} | {numbers} |")
    return "\n".join(lines) + "\n"


def _entry(checked: Checked) -> str:
    entry, program = checked.entry, checked.entry.program
    lines = [f"## {entry.name}", "", f"**{entry.title}.** {_words(checked)}", ""]
    lines += [f"![{entry.title}: {program.name} and becalm](crosschecks/{entry.name}.svg)", ""]
    lines += [
        f"[{program.name}]({program.source}), {program.version}; {program.licence}; "
        f"run on {program.made}. "
        f"[Build, parameters and numbers](../crosschecks/{entry.name}/reference.toml).",
        "",
    ]
    open_ = [row for row in rows(checked) if row[-1] != "agrees"]
    if open_:
        lines += ["| case | quantity | reference | becalm | difference | tolerance | verdict |"]
        lines += ["|---|---|---|---|---|---|---|"]
        lines += [f"| {' | '.join(row)} |" for row in open_]
    why: dict[str, list[str]] = {}
    for case, name, reason in reasons(checked):
        why.setdefault(reason, []).append(f"{case}, {name}")
    lines += ["", *(f"- *{'; '.join(cases)}*: {reason}." for reason, cases in why.items())]
    return "\n".join(lines).rstrip() + "\n"


def _words(checked: Checked) -> str:
    """Return the entry's own text, without its heading."""
    text = (checked.entry.folder / "README.md").read_text(encoding="utf-8")
    return text.partition("\n")[2].strip()


if __name__ == "__main__":
    sys.exit(main())
