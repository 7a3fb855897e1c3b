"""Reports as pages: one Markdown file per paper with every claim and figure, and an overview of all papers.

    python tools/reproductions.py docs/reproductions [PAPER[/FIGURE] ...]

runs the named experiments, or all, and writes their figures, verdicts (`PAPER/verdicts.json`) and pages. It
also writes two pages from the verdicts of all papers: the overview, `README.md`, and `across.md`, which
covers topics of several papers. It redraws a figure only if a value of its first seed has changed. `--text`
runs nothing, and writes the pages from the existing verdicts. `--figures` runs only the first seed, which the
figures show, and leaves the verdicts unchanged. `--cost` skips experiments that need more core-seconds.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from becalm.base import jsons, provenance
from becalm.base.disk import replace_file
from becalm.base.progress import SweepProgress
from becalm.lab.discovery import PAPERS, about, select
from becalm.lab.expect import FAILS, HOLDS, UNDECIDED, WEAK
from becalm.lab.model import CLASSES, KINDS, THEMES, Claim, Remarks, Report
from becalm.lab.reports import reproduce
from becalm.lab.text import against, measured, of_kind, score, seeds, sentences, standings

VERDICTS = "verdicts.json"
"""Verdicts of a paper, in the folder of its figures: the source of its page."""
OVERVIEW, ACROSS = "README.md", "across.md"
COMMAND = "python tools/reproductions.py docs/reproductions"

METHOD = """\
Every experiment runs with several seeds. Sources start at random phases that depend on the seed. The verdict
uses the mean over the seeds with its 95% confidence interval (Student's distribution). A claim **holds** if
the interval is on the right side of the limit, **fails** if it is on the wrong side, and is *undecided* if it
contains the limit. If a claim has several values, the worst one decides; if it concerns their order, the
worst pair of neighbours decides. The number after `+-` is half the width of the interval. It is omitted if
all seeds have the same value. Experiments with an undecided sentence get 10 seeds, then 20 and 40 if ten
core-minutes suffice.

The score counts sentences of the paper. Claims with the same quote, or with parts of one quote, count as one
sentence, and the worst of these claims decides. Each scored claim has a **null**, which uses the same measure
and tolerance with three seeds. The null lacks the subject of the sentence, such as congestion control, or
marks packets at random. A claim is **weak** if both the claim and its null hold, because a wrong mechanism
would also pass. It then counts neither as holding nor as failing. Only the mean decides on a null, so a null
is never undecided. If no null makes sense, the table shows the reason instead.

Four kinds of claims are not scored: `ours` (a setting or bound that is not in the quote), `repeated` (another
claim judges the sentence), `identity` (the claim follows from the scene itself and cannot fail) and `derived`
(the claim comes from a closed form, whose value is in the column `paper`, and quotes no sentence).

A claim that does not hold has a class: {classes}."""


BEFORE = """\
Before nulls were introduced, the score counted claims instead of sentences: 231 of 275 held, 20 were
undecided and 24 failed (santos2002 38 of 42, santos2003 51 of 59, gran2010 59 of 73, pfister2005 36 of 46,
ramakrishnan1990 47 of 55). Claims that are now weak counted as holding.

Tolerances are fixed before a run, but four were changed after a run. The limit of gran2010 `fair` was changed
from 1.05 to 1.1, and the claim fails with both. The tolerance of gran2010 `same_throughput` was changed from
0.02 to 0.05, and the claim holds with both. The limit of pfister2005 `recovers_slowly` was changed from 1.0
to 0.1 ms; the claim fails with the former limit in case 1. ramakrishnan1990 `returns_at_once` limited a ratio
of times to 1.25, and now limits a time. One measure was changed: ramakrishnan1990 `total_time` is within 10%
for some of the possible starts, but the mean over all starts, 55,650, fails. One rule was also changed: an
undecided null used to count as failing. Its mean now decides, so seven claims that used to hold are now weak.
Some nulls were chosen after a trial with one seed.

Later, three readings were changed after values were known. ramakrishnan1990 Fig. 2 and 6 are judged at the
bottleneck router, and the global power beside it is not scored; thresholds of Fig. 2 apply to the average
queue of four users. santos2003 `victim_at_its_optimum` paces by a schedule. So were these measures, of which
all but the last reject what they accepted before. ramakrishnan1990 `satellite_holds_many` multiplied the
throughput by a constant. `down_without_a_step_up` counted no steps if the window never came down. santos2003
`aimd_worst` accepted equal values. santos2002 `victim_in_a_full_buffer` depended on the number of the
victim's packets. ramakrishnan1990 `overcorrects` required both sides of the range. A scene without congestion
control used to be the default null, and is now stated for each claim that it suits.

In a later revision of gran2010 and pfister2005, measures that also passed flat curves were replaced after
their values had been seen: gran2010 `inter_switch_underutilized`, `victim_constant`, `low_marking_rate_best`,
`longer_timers_forgive`, `victim_rises_with_the_timer`, `good_values_are_few`, `highest_is_best`,
`little_impact` and `fine_enough`, and pfister2005 `all_others_drop` and `128_entries_are_enough`. Readings
were replaced after they had failed: pfister2005 `tree_within_10_traversals`, `solved_on_several_topologies`
and `higher_max_ipd_recovers_longer`, and gran2010 `latency_as_without_congestion`. After a first reduced run,
the scenes of pfister2005 `tree` were changed. The notes of these claims say what was judged before."""
AGAIN = """\
On a clean machine, clone the repository with Git. `make claims` then runs all experiments with these seeds,
and lists each verdict that differs. It requires Python, Rust and a C compiler. `make claims-cheap` does the
same within about a minute, for experiments of at most two seconds. To use a container, run
`podman build -t becalm .`. Then
`podman run --rm -v "$PWD:/data" becalm reproduce` writes figures, points as CSV and verdicts to `figures`.
Each verdict in `PAPER/verdicts.json` includes its seeds, commit and date. `becalm list figures` shows how
long each experiment takes."""


def write(folder: Path) -> list[Path]:
    """Write the pages of all papers with verdicts in a folder, the overview, and the page across papers."""
    found = {paper: read(folder, paper) for paper in PAPERS if (folder / paper / VERDICTS).exists()}
    pages = {folder / f"{paper}.md": page(paper, reports) for paper, reports in found.items()}
    pages |= {folder / OVERVIEW: overview(found), folder / ACROSS: across(found)}
    # Use the current remarks of the claims.
    pages |= {folder / paper / VERDICTS: _dumped(reports) for paper, reports in found.items()}
    for path, text in pages.items():
        replace_file(path, text)
    return list(pages)


def read(folder: Path, paper: str) -> list[Report]:
    """Read the verdicts of a paper, with the current remarks of its claims."""
    data = json.loads((folder / paper / VERDICTS).read_text(encoding="utf-8"))
    now = {f"{item.id}/{each.id}": each.remarks for item in select([paper]) for each in item.statements}
    return [_renewed(Report.from_json(each), now) for each in data]


def _renewed(report: Report, now: Mapping[str, Remarks]) -> Report:
    remarks = {claim.id: now.get(f"{report.id}/{claim.id}", claim.remarks) for claim in report.claims}
    claims = [replace(claim, remarks=remarks[claim.id]) for claim in report.claims]
    # Only scored claims have nulls.
    claims = [claim if claim.kind == KINDS[0] else replace(claim, null=None) for claim in claims]
    return replace(report, claims=claims)


def _dumped(reports: Sequence[Report]) -> str:
    return jsons.dumps([report.to_json() for report in reports], indent=1) + "\n"


def overview(found: dict[str, list[Report]]) -> str:
    """Return the overview, with the score of each paper and every sentence that does not hold."""
    every = [report for reports in found.values() for report in reports]
    head = [
        "| paper | sentences | hold | weak | undecided | fail | without a null | claims not scored | seeds |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    rows = [_score_row(f"[{paper}]({paper}.md)", reports) for paper, reports in found.items()]
    parts = [
        "# The papers, and what holds",
        f"`{COMMAND}` writes this page. Each paper's page contains all its claims in one table, and the "
        f"figures. [Across the papers]({ACROSS}) compares claims on topics of several papers.",
        "\n".join([*head, *rows, _score_row("**all**", every)]),
        METHOD.format(classes="; ".join(f"**{name}** {why}" for name, why in CLASSES.items())),
        BEFORE,
        AGAIN,
        "[readings.md](readings.md) (santos2002 and santos2003) and the other papers' `readings.md` "
        "describe details that the papers leave open, and the interpretations that were tried. "
        "[CONTRIBUTING](../../CONTRIBUTING.md#verdicts-on-claims) explains the tolerances.",
        "## Sentences that fail",
        _list(found, FAILS),
        "## Undecided sentences",
        _list(found, UNDECIDED),
        "## Weak sentences",
        _list(found, WEAK),
        "## Nulls",
        _nulls(every),
    ]
    return "\n\n".join(parts) + "\n"


def _score_row(name: str, reports: Sequence[Report]) -> str:
    scored, claims = sentences(reports), _claims(reports)
    bare = [all(claim.null and claim.null.mean is None for claim in each.claims) for each in scored]
    counts = [len(scored), *standings(reports).values(), sum(bare)]
    apart = len(claims) - len(of_kind(claims, KINDS[0]))
    return f"| {' | '.join([name, *map(str, counts), str(apart), seeds(claims)])} |"


def _list(found: dict[str, list[Report]], standing: str) -> str:
    """Return a table of the claims with a standing, in the sentences with that standing."""
    rows = [
        _row(claim, f"[{paper}]({paper}.md) `{claim.id}`")
        for paper, reports in found.items()
        for sentence in sentences(reports)
        if sentence.standing == standing
        for claim in sentence.claims
        if claim.standing == standing
    ]
    return "\n".join([*HEAD, *rows]) if rows else "None."


def _nulls(reports: Sequence[Report]) -> str:
    """Return a table with the number of claims for each null, and the number of these nulls that hold."""
    held = [claim.null for claim in _claims(reports) if claim.null]
    names = {
        null.words: "another argument" if " = " in null.words else null.words.partition(":")[0]
        for null in held
    }
    used = Counter(names[null.words] for null in held)
    passed = Counter(names[null.words] for null in held if null.verdict == HOLDS)
    rows = [f"| {name} | {count} | {passed[name]} |" for name, count in used.most_common()]
    return "\n".join(["| null | claims | nulls that hold |", "|---|---|---|", *rows])


def across(found: dict[str, list[Report]]) -> str:
    """Return the page across the papers, with the claims and verdicts on topics of several papers."""
    parts = [
        "# Across the papers",
        f"`{COMMAND}` writes this page from all verdicts. For each topic that several papers cover, a table "
        "shows the papers' claims, the scenes, and the verdicts. "
        "[The overview](README.md) explains the verdicts.",
    ]
    for theme, title in THEMES.items():
        rows = [
            f"| [{paper}]({paper}.md) | {_cell(claim.quote or claim.note)} | {_cell(report.title)} | "
            f"{measured(claim)} | {_styled(claim)} | {_cell(against(claim))} |"
            for paper, reports in found.items()
            for report in reports
            for claim in report.claims
            if claim.remarks.theme == theme
        ]
        head = ["| paper | claim | scene | measured | verdict | null |", "|---|---|---|---|---|---|"]
        parts += [f"## {title}", "\n".join([*head, *rows])]
    return "\n\n".join(parts) + "\n"


def _cell(text: str) -> str:
    return _short(" ".join(text.split())).replace("|", "\\|")


def _styled(claim: Claim) -> str:
    standing = claim.standing
    return {HOLDS: HOLDS, FAILS: f"**{FAILS}**"}.get(standing, f"*{standing}*")


def page(paper: str, reports: Sequence[Report]) -> str:
    """Return a paper's page: its description, a table of all claims, and a section per figure."""
    title, _, source = about(paper).strip().partition("\n")
    rows = [
        _row(claim, f"[{_figure(report)}](#{_anchor(report)}) `{claim.id}`")
        for report in reports
        for claim in report.claims
    ]
    parts = [
        f"# {title.rstrip('.')}",
        source.strip(),
        f"`becalm reproduce {paper}` runs all experiments of this page, and `{COMMAND}` writes the page. "
        "[The overview](README.md) explains the verdicts. [readings.md](readings.md) describes how details "
        "that the paper leaves open were interpreted, and the results of other interpretations. "
        "The claims and tolerances "
        f"are in [claims.toml](../../python/becalm/papers/{paper}/claims.toml).",
        f"**{score(reports)}.**",
        "\n".join([*HEAD, *rows]),
        *(part for report in reports for part in _section(report)),
    ]
    return "\n\n".join(parts) + "\n"


HEAD = (
    "| claim | sentence | paper | measured | tolerance | verdict | null | class | proof or readings |",
    "|---|---|---|---|---|---|---|---|---|",
)
LONGEST = 140
"""Maximum length of a sentence in a table. The section of the figure contains the full sentence."""


def _row(claim: Claim, name: str) -> str:
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
        _styled(claim),
        against(claim),
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
    """Return the anchor that Git hosting services generate for a heading."""
    kept = "".join(letter for letter in heading.lower() if letter.isalnum() or letter in " -_")
    return kept.strip().replace(" ", "-")


def _sentence(claim: Claim) -> str:
    return f"- `{claim.id}`: {claim.sentence}"


def _claims(reports: Sequence[Report]) -> list[Claim]:
    return [claim for report in reports for claim in report.claims]


def _show(now: SweepProgress) -> None:
    """Show the progress of the runs on a terminal. A file would get a line per run, so it gets none."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{now.finished} of {now.points} runs")


def run(
    folder: Path,
    ids: Sequence[str] = (),
    seeds: int | None = None,
    cost: float = math.inf,
    *,
    verdicts: bool = True,
) -> None:
    """Run the named experiments, or all, and write their figures and verdicts. Keep all other files.

    Without `verdicts`, only one seed is run, and only figures are written. Experiments that need more
    core-seconds than `cost` are skipped.
    """
    chosen = [item for item in select(ids) if item.cost <= cost]
    for paper in dict.fromkeys(item.paper for item in chosen):
        with tempfile.TemporaryDirectory() as scratch:
            wanted = [item.id for item in chosen if item.paper == paper]
            used = seeds if verdicts else 1
            reports = reproduce(wanted, out=Path(scratch), seeds=used, progress=_show)
            (folder / paper).mkdir(parents=True, exist_ok=True)
            there = {each.id: each for each in _kept(folder, paper)}
            for report in reports:
                for figure in report.figures:
                    place = folder / f"{report.id}{figure.suffix}"
                    if not (verdicts and place.exists() and _as_before(report, there)):
                        shutil.copyfile(figure, place)
        start = "\r" if sys.stderr.isatty() else ""
        sys.stderr.write(f"{start}{paper}: {len(reports)} figures written\n")
        if verdicts:
            _keep(folder, paper, reports, there)


def _kept(folder: Path, paper: str) -> list[Report]:
    return read(folder, paper) if (folder / paper / VERDICTS).exists() else []


def _as_before(report: Report, there: Mapping[str, Report]) -> bool:
    """Return whether the first seed's values, which the figure shows, and the tolerances are unchanged."""
    old, new = (
        [(claim.id, claim.values[0], claim.tolerance) for claim in each.claims] if each else []
        for each in (there.get(report.id), report)
    )
    return old == new


def _keep(folder: Path, paper: str, reports: Sequence[Report], there: Mapping[str, Report]) -> None:
    """Add verdicts to the paper's verdicts of other figures, in the order of the figures."""
    made = provenance.describe()
    source = {"commit": made["git_revision"] or made["becalm"], "date": made["created"][:10]}
    found = {**there, **{each.id: replace(each, source=source) for each in reports}}
    replace_file(
        folder / paper / VERDICTS, _dumped([found[item.id] for item in select([paper]) if item.id in found])
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write one page per paper, and an overview of all.")
    parser.add_argument("folder", type=Path, help="folder of the pages, such as docs/reproductions")
    parser.add_argument("ids", nargs="*", metavar="PAPER[/FIGURE]", help="default: all")
    parser.add_argument("--seeds", type=int, help="number of seeds; default: 5, more if undecided")
    parser.add_argument(
        "--cost", type=float, default=math.inf, help="skip experiments that need more core-seconds"
    )
    parser.add_argument(
        "--text", action="store_true", help="run nothing: write pages from the existing verdicts"
    )
    parser.add_argument(
        "--figures", action="store_true", help="draw the figures again; the verdicts stay unchanged"
    )
    asked = parser.parse_args()
    if asked.figures and (asked.text or asked.seeds):
        parser.error("--figures: cannot be combined with --text or --seeds")
    if not asked.folder.is_dir():
        parser.error(f"{asked.folder}: no such folder")
    if asked.seeds is not None and asked.seeds < 1:
        parser.error(f"--seeds {asked.seeds}: must be at least 1")
    try:
        select(asked.ids)
    except ValueError as error:
        parser.error(str(error))
    if not asked.text:
        run(asked.folder, asked.ids, asked.seeds, asked.cost, verdicts=not asked.figures)
    for path in write(asked.folder):
        sys.stdout.write(f"{path}\n")
