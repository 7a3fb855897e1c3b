"""Converts results of a comparison to table rows and to the page `docs/crosschecks.md`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from becalm.crosscheck.run import Checked, Found
from becalm.crosscheck.tolerances import KINDS

AGREES, DIFFERS, EXPLAINED = "agrees", "differs", "explained"
"""Verdicts: within the tolerance; outside it; outside it for a known and documented reason."""
COLUMNS = ("case", "quantity", "unit", "reference", "becalm", "difference", "tolerance", "verdict")
HEAD = """\
# becalm and other simulators

`make crosscheck` runs becalm's side of all entries and writes this page. Each entry is a scene that another
program has simulated. `becalm crosscheck NAME` runs one entry. If you have the other program,
`tools/crosscheck/again.py NAME` reproduces its numbers.

{score}.

Tolerances depend only on the kind of a quantity and were fixed before the comparison:

{kinds}

A quantity outside its tolerance is *explained* if a rule of either program is known to cause the difference;
otherwise it *differs*.
"""


def verdict(found: Found) -> str:
    """Return the verdict on a quantity as one word."""
    if found.agrees:
        return AGREES
    return EXPLAINED if found.why else DIFFERS


def number(value: float) -> str:
    """Return a value with 4 significant digits, or as an integer from 10,000."""
    return f"{value:,.0f}" if abs(value) >= 1e4 else f"{value:.4g}"


def rows(checked: Checked) -> Iterator[tuple[str, ...]]:
    """Yield the rows of an entry's table; values include their units."""
    for each in checked.quantities:
        unit = f" {each.unit}" if each.unit else ""
        tolerance = KINDS[each.kind].shown
        yield (
            each.case,
            each.name,
            number(each.reference) + unit,
            number(each.becalm) + unit,
            each.apart,
            tolerance,
            verdict(each),
        )


def reasons(checked: Checked) -> Iterator[tuple[str, str, str]]:
    """Return case, quantity and reason of each explained difference."""
    for each in checked.quantities:
        if not each.agrees and each.why:
            yield each.case, each.name, each.why


def score(found: Sequence[Checked]) -> str:
    """Return the numbers of verdicts, as a sentence without its full stop."""
    quantities = [each for checked in found for each in checked.quantities]
    agree = sum(each.agrees for each in quantities)
    open_ = sum(len(each.unexplained) for each in found)
    explained = len(quantities) - agree - open_
    programs = len({checked.entry.program.name for checked in found})
    return (
        f"{agree} of {len(quantities)} quantities of {programs} programs in {len(found)} scenes agree within "
        f"their tolerances, {explained} differ for a known reason, and {open_} are unexplained"
    )


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
    lines += ["| case | quantity | reference | becalm | difference | tolerance | verdict |"]
    lines += ["|---|---|---|---|---|---|---|"]
    lines += [f"| {' | '.join(row)} |" for row in rows(checked)]
    why: dict[str, list[str]] = {}
    for case, name, reason in reasons(checked):
        why.setdefault(reason, []).append(f"{case}, {name}")
    lines += ["", *(f"- *{'; '.join(cases)}*: {reason}." for reason, cases in why.items())]
    return "\n".join(lines).rstrip() + "\n"


def _words(checked: Checked) -> str:
    """Return the entry's own text, without its heading."""
    text = (checked.entry.folder / "README.md").read_text(encoding="utf-8")
    return text.partition("\n")[2].strip()
