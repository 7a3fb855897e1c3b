"""Runs all entries and writes their results: `python tools/crosscheck/pages.py`, or `make crosscheck`.

Writes `docs/crosschecks.md`, a picture per entry, the numbers in `docs/crosschecks/verdicts.json`, the page
on validation, and the score in the README. Fails if a quantity is outside its tolerance without an
explanation. With `--text`, it runs nothing, and writes the page from `verdicts.json`.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import picture

from becalm import crosscheck
from becalm.base import jsons
from becalm.cli.screen import Screen
from becalm.crosscheck import KINDS, Checked
from becalm.crosscheck.entry import FORMULA, find
from becalm.crosscheck.run import Found, reasons, rows, score

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import markers  # noqa: E402
import validation  # noqa: E402

DOCS = ROOT / "docs"
BESIDE = "- **Other simulators.** In a [direct comparison](docs/crosschecks.md),"

VERDICTS = DOCS / "crosschecks" / "verdicts.json"

HEAD = """\
# becalm and other simulators

`make crosscheck` runs becalm's side of all entries and writes this page. Each entry is a scene that another
program has simulated, or for which there is a closed form; the folder `crosschecks/NAME` of the repository
states how it was matched. `becalm crosscheck NAME` runs one entry and prints its quantities, which
[verdicts.json](crosschecks/verdicts.json) lists. With the other program, `tools/crosscheck/again.py NAME`
reproduces its side.

{score}.

Tolerances depend only on the kind of a quantity and were fixed before the comparison:

{kinds}

A quantity outside its tolerance is *explained* if a rule of either program is known to cause the difference;
otherwise it *differs*. The next table has the quantities that agree, and the largest difference among them.
"""


def main() -> int:
    """Run all entries, write and print the results, and return the exit code."""
    if sys.argv[1:] == ["--text"]:
        (DOCS / "crosschecks.md").write_text(page(kept()), encoding="utf-8")
        return 0
    begin = time.monotonic()
    with Screen(quiet=not sys.stderr.isatty()) as screen:
        found = crosscheck.check(progress=screen.on_progress)
    folder = VERDICTS.parent
    folder.mkdir(exist_ok=True)
    for each in found:
        picture.draw(each, folder / f"{each.entry.name}.svg")
        for row in rows(each):
            print(each.entry.name, *row, sep=" | ")
    (DOCS / "crosschecks.md").write_text(page(found), encoding="utf-8")
    numbers = [each.to_json() for each in found]
    VERDICTS.write_text(jsons.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    validation.write()
    markers.write("crosscheck", f"{BESIDE} {score(found)}.\n")
    print(f"{score(found)}; {time.monotonic() - begin:.0f} s")
    return int(any(each.unexplained for each in found))


def kept() -> list[Checked]:
    """Return all entries with the results of the last run."""
    return [
        Checked(find(each["entry"]), tuple(Found(**one) for one in each["quantities"]), {}, 0.0)
        for each in json.loads(VERDICTS.read_text(encoding="utf-8"))
    ]


def page(found: Sequence[Checked]) -> str:
    """Return the page of all entries."""
    kinds = "\n".join(f"| {kind.name} | {kind.meaning} | {kind.shown} |" for kind in KINDS.values())
    table = f"| kind | meaning | tolerance |\n|---|---|---|\n{kinds}"
    parts = [HEAD.format(score=score(found), kinds=table), _overview(found), _programs(found)]
    differing = [_unexplained(each) for each in found if each.unexplained]
    parts += ["## Unexplained\n", *(differing or ["None.\n"])]
    parts += ["## Explained\n", "".join(map(_explained, found))]
    return "\n".join(parts)


def _overview(found: Sequence[Checked]) -> str:
    lines = ["| entry | scene | agree | largest |", "|---" * 4 + "|"]
    for each in found:
        near = [abs(one.difference) for one in each.quantities if one.agrees and one.kind != "distribution"]
        name = f"[{each.entry.name}](crosschecks/{each.entry.name}.svg) | {each.entry.title}"
        numbers = f"{each.agreeing}/{len(each.quantities)}"
        lines.append(f"| {name} | {numbers} | {f'{max(near):.2%}' if near else '-'} |")
    return "\n".join(lines) + "\n"


def _programs(found: Sequence[Checked]) -> str:
    """Return the versions of the programs, and links to the numbers of each entry."""
    lines = [
        "The entries link to their figures. This list of programs links to builds, parameters and numbers:",
        "",
    ]
    # Closed forms have one name, but a source each.
    for program in {each.entry.program.source: each.entry.program for each in found}.values():
        own = [each.entry for each in found if each.entry.program.source == program.source]
        files = ", ".join(f"[{one.name}](../crosschecks/{one.name}/reference.toml)" for one in own)
        licence = "" if program.name == FORMULA else f"; {program.licence}"
        lines.append(f"- [{program.name}]({program.source}), {program.version}{licence}: {files}.")
    return "\n".join(lines) + "\n"


def _unexplained(checked: Checked) -> str:
    """Return an entry's own text, and its quantities that differ without a known reason."""
    text = (checked.entry.folder / "README.md").read_text(encoding="utf-8").partition("\n")[2].strip()
    differ = "; ".join(f"{each.case}, {each.name} {each.apart}" for each in checked.unexplained)
    return f"**{checked.entry.name}: {differ}.**\n{text}\n"


def _explained(checked: Checked) -> str:
    """Return the reasons for an entry's quantities outside their tolerances."""
    apart = {(case, name): apart for case, name, _, _, apart, *_ in rows(checked)}
    why: dict[str, dict[str, list[str]]] = {}
    for case, name, reason in reasons(checked):
        why.setdefault(reason, {}).setdefault(name, []).append(f"{case} ({apart[case, name]})")
    return "".join(
        f"- **{checked.entry.name}**, "
        + "; ".join(f"{name}: {', '.join(cases)}" for name, cases in named.items())
        + f". Reason: {reason}.\n"
        for reason, named in why.items()
    )


if __name__ == "__main__":
    sys.exit(main())
