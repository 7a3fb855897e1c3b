"""Pages of the papers are written from verdicts, have valid links, and explain failures."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from rich.console import Console

from becalm.cli.console import claims
from becalm.lab import Claim, Report, registry
from becalm.lab.discovery import PAPERS
from becalm.lab.model import Against, Remarks
from becalm.lab.text import standings

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))

from reproductions import ACROSS, VERDICTS, across, anchor, overview, page, read, run  # noqa: E402

DOCS = ROOT / "docs" / "reproductions"
JUDGED = [paper for paper in PAPERS if (DOCS / paper / VERDICTS).exists()]
KEPT = ("kind", "class", "proof", "reading", "theme", "note")
"""Remarks of a claim."""
each_paper = pytest.mark.parametrize("paper", JUDGED)


def _claim(
    verdict: str, remarks: Remarks, values: list[float] | None = None, null: Against | None = None
) -> Claim:
    measured = [0.1, 0.2, 0.3] if values is None else values
    quote = "the link | has high utilization " * 10
    return Claim(verdict, quote, "> 0.9", [1, 2, 3], [*measured], ">= 0.9", verdict, remarks, null)


REPORT = Report(
    "santos2003/fig2",
    "No control: 2 flows",
    [
        _claim("holds", Remarks()),
        _claim(
            "fails",
            Remarks("Why.", class_="a", proof="santos2003/readings.md#why", theme="window"),
            null=Against("off", 0.4, "fails"),
        ),
        _claim("undecided", Remarks(kind="ours")),
    ],
)


def test_a_page_begins_with_the_score_and_one_table() -> None:
    text = page("santos2003", [REPORT])
    score = "0 of 1 sentences of the paper hold, 0 weak, 0 undecided, 1 fail; not scored: ours 0 of 1 hold"
    assert f"**{score}.**" in text
    rows = [line for line in text.splitlines() if line.startswith("| [fig2](#fig2-no-control-2-flows)")]
    assert len(rows) == 3
    cells = re.split(r"(?<!\\)\|", rows[1])
    assert [cell.strip() for cell in cells[3:-1]] == [
        "> 0.9",
        "0.2 +-0.25",
        ">= 0.9",
        "**fails**",
        "off: 0.4 fails",
        "a",
        "[proof](santos2003/readings.md#why)",
    ]
    assert rows[2].split(" | ")[0].endswith("`undecided` (ours)")
    assert len(cells[2]) < 170


def test_the_overview_lists_what_fails_and_counts_sentences_alone() -> None:
    text = overview({"santos2003": [REPORT]})
    assert "| [santos2003](santos2003.md) | 1 | 0 | 0 | 0 | 1 | 0 | 1 | 1 to 3 |" in text
    failing = text.split("## Sentences that fail")[1].split("## Undecided")[0]
    assert "[santos2003](santos2003.md) `fails`" in failing
    assert text.split("## Undecided sentences")[1].split("##")[0].strip() == "None."
    assert text.endswith("| null | claims | nulls that hold |\n|---|---|---|\n| off | 1 | 0 |\n")


def test_the_page_across_the_papers_has_the_claims_of_a_theme() -> None:
    text = across({"santos2003": [REPORT]})
    window = text.split("## A window of one packet")[1].split("##")[0]
    assert "| No control: 2 flows | 0.2 +-0.25 | **fails** | off: 0.4 fails |" in window
    assert text.count("(santos2003.md)") == 1


def test_a_figure_is_written_again_where_a_value_is_another(tmp_path: Path) -> None:
    run(tmp_path, ["santos2003/window"], seeds=1)
    figure, verdicts = tmp_path / "santos2003/window.png", tmp_path / "santos2003" / VERDICTS
    figure.write_bytes(b"kept")
    run(tmp_path, ["santos2003/window"], seeds=2)
    assert figure.read_bytes() == b"kept"
    (message,) = json.loads(verdicts.read_text())
    assert message["commit"] and re.fullmatch(r"\d{4}-\d\d-\d\d", message["date"])
    assert message["claims"][0]["null"]["is"] == "window = 2" and message["claims"][0]["seeds"] == [1, 2]
    verdicts.write_text(verdicts.read_text().replace("0.9199", "0.8199"))
    run(tmp_path, ["santos2003/window"], seeds=1)
    assert figure.read_bytes() != b"kept"
    run(tmp_path, ["santos2003/window"], seeds=1, cost=0.1)
    assert len(json.loads(verdicts.read_text())) == 1


def test_anchors_are_those_of_git_hosts() -> None:
    assert anchor("fig2: No control, 2 flows (1/6)") == "fig2-no-control-2-flows-16"


@each_paper
def test_pages_are_those_of_the_verdicts(paper: str) -> None:
    assert (DOCS / f"{paper}.md").read_text() == page(paper, read(DOCS, paper)), "write them with --text"


def test_the_overview_is_that_of_the_verdicts() -> None:
    found = {paper: read(DOCS, paper) for paper in JUDGED}
    assert (DOCS / "README.md").read_text() == overview(found)
    assert (DOCS / ACROSS).read_text() == across(found)
    counts = standings([report for reports in found.values() for report in reports])
    said = "[Of {} sentences, {} hold, {} are weak, {} are undecided and {} fail]"
    readme = (DOCS.parents[1] / "README.md").read_text()
    assert said.format(sum(counts.values()), *counts.values()) in readme, counts


@each_paper
def test_verdicts_are_those_of_the_claims(paper: str) -> None:
    stated = {
        f"{item.id}/{each.id}": {
            "quote": each.quote,
            "tolerance": each.expect.tolerance,
            "null": each.null.words if each.null else None,
            **each.remarks.to_json(),
        }
        for item in registry()
        if item.paper == paper
        for each in item.statements
    }
    # Read the file directly, because `read` would insert current remarks.
    judged = {
        f"{figure['id']}/{claim['id']}": {
            key: claim[key] for key in ("quote", "tolerance", *KEPT) if key in claim
        }
        | {"null": claim.get("null", {}).get("is")}
        for figure in json.loads((DOCS / paper / VERDICTS).read_text())
        for claim in figure["claims"]
    }
    assert judged == stated


@each_paper
def test_a_sentence_that_fails_has_a_class_and_a_proof_or_readings(paper: str) -> None:
    bare = [
        claim.id
        for report in read(DOCS, paper)
        for claim in report.claims
        if claim.kind == "paper" and claim.verdict == "fails"
        if not claim.remarks.class_ or not (claim.remarks.proof or claim.remarks.reading)
    ]
    assert not bare


@each_paper
def test_verdicts_come_from_five_seeds_or_no_seed_matters(paper: str) -> None:
    seeded = {item.id: item.seeded for item in registry()}
    for report in read(DOCS, paper):
        for claim in report.claims:
            assert len(claim.seeds) >= (5 if seeded[report.id] else 1), claim.id


@pytest.mark.parametrize(
    "place",
    sorted(
        {
            place
            for item in registry()
            for each in item.statements
            for place in (each.remarks.proof, each.remarks.reading)
            if place
        }
    ),
)
def test_proofs_and_readings_are_there(place: str) -> None:
    path, _, wanted = place.partition("#")
    headings = re.findall(r"(?m)^#+ (.*)$", (DOCS / path).read_text())
    assert wanted in [anchor(heading) for heading in headings]


def test_a_narrow_screen_folds_names_of_claims_and_no_number() -> None:
    (report,) = (each for each in read(DOCS, "santos2003") if each.id == "santos2003/fig4b")
    screen = Console(width=80, no_color=True)
    with screen.capture() as caught:
        screen.print(claims(report))
    words = caught.get().replace("│", " ").split()
    assert {"0.9496", "+-0.0015", "input-triggered", "holds", ">=", "0.83"} <= set(words)
    assert max(map(len, caught.get().splitlines())) <= 80
