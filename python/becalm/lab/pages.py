"""Reports as pages: one Markdown file per paper with every claim and figure, and an overview of all papers.

    python -m becalm.lab.pages docs/reproductions [PAPER[/FIGURE] ...]

runs all experiments, or those that are named, and writes their figures, their verdicts
(`PAPER/verdicts.json`) and their pages. The overview, `README.md`, is written from the verdicts of all
papers. `--text` runs nothing: it writes the pages from the verdicts that are there. `--figures` runs the
first seed alone, which is the one that is drawn, and leaves the verdicts as they are.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from becalm import jsons
from becalm.lab.discovery import PAPERS, about, select
from becalm.lab.model import Claim, Remarks, Report
from becalm.lab.reports import replace_file, reproduce
from becalm.lab.text import count, measured, of_kind, score, seeds
from becalm.lab.verdict import FAILS, HOLDS, UNDECIDED
from becalm.progress import SweepProgress

VERDICTS = "verdicts.json"
"""Verdicts of a paper, in the folder of its figures: what pages are written from."""
OVERVIEW = "README.md"
COMMAND = "python -m becalm.lab.pages docs/reproductions"

METHOD = """\
Every experiment runs with several seeds. Sources begin at random phases, drawn from the seed, and the
verdict is that of the mean over the seeds with its 95% confidence interval (Student): a claim **holds** if
the interval is on the right side of the limit, **fails** if it is on the wrong side, and is *undecided* if
it contains the limit. A claim with several values is judged by its worst value, an order by its worst pair.
`+-` is half of the interval; without it no seed changes the value. Experiments with an undecided sentence
get five more seeds.

The score counts sentences of the paper alone. Not scored: `ours` (a setting or bound that the quote does not
have), `repeated` (another claim judges it), `identity` (it follows from the scene itself and cannot
fail) and `derived` (a closed form says it; no sentence is quoted, and the column `paper` has its value).
Classes: **a** the sentence contradicts the paper itself or a law; **b** the paper does not state a
parameter that decides; **c** the model; **metric** the measure is not quite what the sentence means;
**noise** the effect is smaller than the spread of the runs."""


def write(folder: Path) -> list[Path]:
    """Write the pages of all papers whose verdicts are in a folder, and the overview."""
    found = {paper: read(folder, paper) for paper in PAPERS if (folder / paper / VERDICTS).exists()}
    pages = {folder / f"{paper}.md": page(paper, reports) for paper, reports in found.items()}
    pages[folder / OVERVIEW] = overview(found)
    for path, text in pages.items():
        replace_file(path, text)
    return list(pages)


def read(folder: Path, paper: str) -> list[Report]:
    """Read the verdicts of a paper, with the remarks that its claims have now."""
    data = json.loads((folder / paper / VERDICTS).read_text(encoding="utf-8"))
    now = {f"{item.id}/{each.id}": each.remarks for item in select([paper]) for each in item.statements}
    return [
        Report(
            each["id"],
            each["title"],
            [_claim(f"{each['id']}/{claim['id']}", claim, now) for claim in each["claims"]],
        )
        for each in data
    ]


def _claim(name: str, data: dict[str, Any], now: Mapping[str, Remarks]) -> Claim:
    claim = Claim.from_json(data)
    return replace(claim, remarks=now.get(name, claim.remarks))


def overview(found: dict[str, list[Report]]) -> str:
    """Return the overview: the score of each paper, and every sentence that does not hold."""
    claims = {paper: _claims(reports) for paper, reports in found.items()}
    every = [claim for each in claims.values() for claim in each]
    head = [
        "| paper | sentences | hold | undecided | fail | not scored | seeds |",
        "|---|---|---|---|---|---|---|",
    ]
    rows = [_score_row(f"[{paper}]({paper}.md)", each) for paper, each in claims.items()]
    parts = [
        "# The papers, and what of them holds",
        f"Written by `{COMMAND}`. Each page has all claims of a paper in one table, and its figures.",
        "\n".join([*head, *rows, _score_row("**all**", every)]),
        METHOD,
        "What the papers leave open, and how it is read: [readings.md](readings.md) for santos2002 and "
        "santos2003, and the `readings.md` of each other paper. Tolerances: "
        "[CONTRIBUTING](../../CONTRIBUTING.md#verdicts-on-claims).",
        "## Sentences that fail",
        _list(claims, FAILS),
        "## Undecided sentences",
        _list(claims, UNDECIDED),
    ]
    return "\n\n".join(parts) + "\n"


def _score_row(name: str, claims: Sequence[Claim]) -> str:
    scored = of_kind(claims, "paper")
    counts = [len(scored), *(count(scored, verdict) for verdict in (HOLDS, UNDECIDED, FAILS))]
    cells = [name, *map(str, counts), str(len(claims) - len(scored)), seeds(claims)]
    return f"| {' | '.join(cells)} |"


def _list(claims: dict[str, list[Claim]], verdict: str) -> str:
    rows = [
        _row(claim, f"[{paper}]({paper}.md) `{claim.id}`")
        for paper, each in claims.items()
        for claim in of_kind(each, "paper")
        if claim.verdict == verdict
    ]
    return "\n".join([*HEAD, *rows]) if rows else "None."


def page(paper: str, reports: Sequence[Report]) -> str:
    """Return a paper's page: what it is, all claims in one table, then figure by figure."""
    title, _, source = about(paper).strip().partition("\n")
    rows = [
        _row(claim, f"[{_figure(report)}](#{_anchor(report)}) `{claim.id}`")
        for report in reports
        for claim in report.claims
    ]
    parts = [
        f"# {title.rstrip('.')}",
        source.strip(),
        f"`becalm reproduce {paper}` runs everything on this page; it was written by `{COMMAND}`. "
        "[The overview](README.md) says how verdicts come about. How open points of the paper are read, and "
        "what other readings give, is in [readings.md](readings.md). Claims and tolerances are data: "
        f"[claims.toml](../../python/becalm/papers/{paper}/claims.toml).",
        f"**{score(_claims(reports))}.**",
        "\n".join([*HEAD, *rows]),
        *(part for report in reports for part in _section(report)),
    ]
    return "\n\n".join(parts) + "\n"


HEAD = (
    "| claim | sentence | paper | measured | tolerance | verdict | class | proof or readings |",
    "|---|---|---|---|---|---|---|---|",
)
LONGEST = 140
"""Characters of a sentence in a table; the section of its figure has all of it."""


def _row(claim: Claim, name: str) -> str:
    verdict = {HOLDS: HOLDS, FAILS: f"**{FAILS}**"}.get(claim.verdict, f"*{claim.verdict}*")
    said = claim.remarks
    kind = "" if said.kind == "paper" else f" ({said.kind})"
    links = [
        f"[{name}]({place})" for name, place in (("proof", said.proof), ("readings", said.reading)) if place
    ]
    cells = [
        name + kind,
        _short(claim.quote or claim.note.strip()),
        _paper(claim),
        measured(claim),
        claim.tolerance,
        verdict,
    ]
    cells = [cell.replace("|", "\\|") for cell in cells]
    return f"| {' | '.join([*cells, said.class_, ', '.join(links)])} |"


def _paper(claim: Claim) -> str:
    return claim.paper if isinstance(claim.paper, str) else f"{claim.paper:g}"


def _short(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    return text[:LONGEST].rsplit(" ", 1)[0] + " ..."


def _section(report: Report) -> list[str]:
    return [
        f"## {_figure(report)}: {report.title}",
        f"![{report.title}]({report.id}.png)",
        "\n".join(_sentence(claim) for claim in report.claims),
    ]


def _figure(report: Report) -> str:
    return report.id.split("/")[1]


def _anchor(report: Report) -> str:
    return anchor(f"{_figure(report)}: {report.title}")


def anchor(heading: str) -> str:
    """Return the anchor of a heading, as Git hosts make it."""
    kept = "".join(letter for letter in heading.lower() if letter.isalnum() or letter in " -_")
    return kept.strip().replace(" ", "-")


def _sentence(claim: Claim) -> str:
    return f"- `{claim.id}`: {claim.sentence}"


def _claims(reports: Sequence[Report]) -> list[Claim]:
    return [claim for report in reports for claim in report.claims]


def _show(now: SweepProgress) -> None:
    """Show how far the runs are, on a terminal: a file would get a line for each."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{now.finished} of {now.points} runs")


def run(folder: Path, ids: Sequence[str] = (), seeds: int | None = None, *, verdicts: bool = True) -> None:
    """Run experiments, all if none is named, and write their figures and verdicts; those of others stay.

    Without `verdicts`, one seed is enough, and only figures are written.
    """
    chosen = select(ids)
    for paper in dict.fromkeys(item.paper for item in chosen):
        with tempfile.TemporaryDirectory() as scratch:
            wanted = [item.id for item in chosen if item.paper == paper]
            used = seeds if verdicts else 1
            reports = reproduce(wanted, out=Path(scratch), seeds=used, progress=_show)
            (folder / paper).mkdir(parents=True, exist_ok=True)
            for report in reports:
                for figure in report.figures:
                    shutil.copyfile(figure, folder / f"{report.id}{figure.suffix}")
        start = "\r" if sys.stderr.isatty() else ""
        sys.stderr.write(f"{start}{paper}: {len(reports)} figures written\n")
        if verdicts:
            _keep(folder, paper, reports)


def _keep(folder: Path, paper: str, reports: Sequence[Report]) -> None:
    """Put verdicts among those of a paper's other figures, in the order of the figures."""
    there = read(folder, paper) if (folder / paper / VERDICTS).exists() else []
    found = {report.id: report for report in [*there, *reports]}
    data = [found[item.id].to_json() for item in select([paper]) if item.id in found]
    replace_file(folder / paper / VERDICTS, jsons.dumps(data, indent=1) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write one page per paper, and an overview of all.")
    parser.add_argument("folder", type=Path, help="where the pages are, such as docs/reproductions")
    parser.add_argument("ids", nargs="*", metavar="PAPER[/FIGURE]", help="all when not given")
    parser.add_argument("--seeds", type=int, help="seeds to judge by; 5 when not given, more where undecided")
    parser.add_argument(
        "--text", action="store_true", help="run nothing: write pages from the verdicts there"
    )
    parser.add_argument(
        "--figures", action="store_true", help="draw the figures again; the verdicts stay as they are"
    )
    asked = parser.parse_args()
    if asked.figures and (asked.text or asked.seeds):
        parser.error("--figures: goes with neither --text nor --seeds")
    if not asked.folder.is_dir():
        parser.error(f"{asked.folder}: no such folder")
    if asked.seeds is not None and asked.seeds < 1:
        parser.error(f"--seeds {asked.seeds}: must be at least 1")
    try:
        select(asked.ids)
    except ValueError as error:
        parser.error(str(error))
    if not asked.text:
        run(asked.folder, asked.ids, asked.seeds, verdicts=not asked.figures)
    for path in write(asked.folder):
        sys.stdout.write(f"{path}\n")
