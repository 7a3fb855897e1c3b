"""Reports as pages: one Markdown file per paper, with every figure and every claim.

    python -m becalm.lab.pages docs/reproductions [PAPER ...]

runs all experiments, or those of the papers that are named, and writes their pages anew.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from becalm.lab.discovery import about
from becalm.lab.model import Claim, Measured, Report
from becalm.lab.reports import reproduce
from becalm.papers import PAPERS
from becalm.progress import SweepProgress


def write(reports: Sequence[Report], folder: Path) -> list[Path]:
    """Write one page per paper into a folder that holds the figures as `PAPER/FIGURE.png`."""
    papers = dict.fromkeys(report.id.split("/")[0] for report in reports)
    pages = []
    for paper in papers:
        path = folder / f"{paper}.md"
        partial = path.with_name(f".{path.name}.partial-{os.getpid()}")
        partial.write_text(page(paper, [report for report in reports if report.id.startswith(f"{paper}/")]))
        pages.append(partial.replace(path))
    return pages


def page(paper: str, reports: Sequence[Report]) -> str:
    """Return a paper's page: what it is, a count of the claims, then figure by figure."""
    text = about(paper)
    title, _, source = text.strip().partition("\n")
    claims = [claim for report in reports for claim in report.claims]
    parts = [
        f"# {title.rstrip('.')}",
        source.strip(),
        f"`becalm reproduce {paper}` runs everything on this page; it was written by "
        "`python -m becalm.lab.pages docs/reproductions`. How open points of the paper are read, and "
        "what other readings give, is in [readings.md](readings.md). Claims and tolerances are data: "
        f"[claims.toml](../../python/becalm/papers/{paper}/claims.toml).",
        f"**{sum(claim.holds for claim in claims)} of {len(claims)} claims hold.**",
        *(part for report in reports for part in _section(report)),
    ]
    return "\n\n".join(parts) + "\n"


def _section(report: Report) -> list[str]:
    head = ["| claim | paper | measured | tolerance | holds |", "|---|---|---|---|---|"]
    figure = report.id.split("/")[1]
    return [
        f"## {figure}: {report.title}",
        f"![{report.title}]({report.id}.png)",
        "\n".join([*head, *(_row(claim) for claim in report.claims)]),
        "\n".join(_sentence(claim) for claim in report.claims),
    ]


def _row(claim: Claim) -> str:
    verdict = "yes" if claim.holds else "**no**"
    cells = [f"`{claim.id}`", _cell(claim.paper), _cell(claim.measured), _cell(claim.tolerance), verdict]
    return f"| {' | '.join(cells)} |"


def _cell(value: Measured | str) -> str:
    if isinstance(value, list):
        return ", ".join(f"{item:.4g}" for item in value)
    return value.replace("|", "\\|") if isinstance(value, str) else f"{value:.4g}"


def _sentence(claim: Claim) -> str:
    note = f" {claim.note}" if claim.note else ""
    return f'- `{claim.id}`: "{claim.quote}"{note}'


def _show(now: SweepProgress) -> None:
    sys.stderr.write(f"\r{now.finished} of {now.points} runs")


def main(folder: Path, papers: Sequence[str] = ()) -> None:
    """Run the experiments of the papers, of all if none is given, and write figures and pages."""
    with tempfile.TemporaryDirectory() as scratch:
        reports = reproduce(papers, out=Path(scratch), progress=_show)
        for report in reports:
            (folder / report.id).parent.mkdir(parents=True, exist_ok=True)
            for figure in report.figures:
                shutil.copyfile(figure, folder / f"{report.id}{figure.suffix}")
    sys.stderr.write("\n")
    for path in write(reports, folder):
        sys.stdout.write(f"{path}\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description="Write one page per paper, with every figure and every claim."
    )
    parser.add_argument("folder", type=Path, help="where the pages are, such as docs/reproductions")
    parser.add_argument("papers", nargs="*", metavar="PAPER", help="such as santos2003; all when not given")
    asked = parser.parse_args()
    if not asked.folder.is_dir():
        parser.error(f"{asked.folder}: no such folder")
    if unknown := [paper for paper in asked.papers if paper not in PAPERS]:
        parser.error(f"no such paper: {', '.join(unknown)}; valid: {', '.join(PAPERS)}")
    main(asked.folder, asked.papers)
