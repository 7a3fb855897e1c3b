"""Writes `docs/validation.md`, the evidence for becalm, and `docs/validation.json` with all verdicts.

Every number comes from verdicts. `docs/reproductions/*/verdicts.json` (`make reproduce`) contains those on
papers and laws, and `docs/crosschecks/verdicts.json` (`make crosscheck`) those on other programs. `make docs`
writes both files.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from becalm.crosscheck.entry import FORMULA
from becalm.lab.expect import FAILS, HOLDS, UNDECIDED, WEAK
from becalm.lab.model import CLASSES, Report
from becalm.lab.text import sentences

DOCS = Path(__file__).parents[1] / "docs"
HARDWARE = "gran2010"
"""The paper with measurements of InfiniBand hardware."""
Row = Mapping[str, Any]

TEXT = Path(__file__).with_suffix(".template.md")
"""Template of the page, with a placeholder for each number."""


def read(docs: Path = DOCS) -> dict[str, Any]:
    """Return all verdicts: `papers` by sentence, `theory` by claim, `programs` by quantity."""
    found: dict[str, Any] = {"papers": [], "theory": [], "not_scored": [], "programs": []}
    for file in sorted((docs / "reproductions").glob("*/verdicts.json")):
        figures = json.loads(file.read_text(encoding="utf-8"))
        head = {"source": file.parent.name}
        for sentence in sentences([Report.from_json(figure) for figure in figures]):
            claims = [claim.id for claim in sentence.claims]
            classes = [each.remarks.class_ for each in sentence.claims if each.standing == sentence.standing]
            row = {**head, "claims": claims, "verdict": sentence.standing, "class": classes[0]}
            found["papers"].append(row)
        for figure in figures:
            for claim in figure["claims"]:
                kept = {
                    key: claim[key] for key in ("verdict", "kind", "class", "paper", "mean") if key in claim
                }
                row = {**head, "claims": [f"{figure['id']}/{claim['id']}"], **kept}
                if claim["kind"] != "paper":
                    found["theory" if claim["kind"] == "derived" else "not_scored"].append(row)
    for entry in json.loads((docs / "crosschecks" / "verdicts.json").read_text(encoding="utf-8")):
        head = {key: entry[key] for key in ("entry", "program", "version", "made")}
        found["programs"] += [{**head, **quantity} for quantity in entry["quantities"]]
    return found


def _split(rows: Iterable[Row], key: str) -> dict[str, list[Row]]:
    parts: dict[str, list[Row]] = {}
    for row in rows:
        parts.setdefault(row[key], []).append(row)
    return parts


def _counts(rows: Iterable[Row]) -> tuple[int, int, int, int]:
    count = Counter(row["verdict"] for row in rows)
    return count[HOLDS], count[WEAK], count[UNDECIDED], count[FAILS]


def _claims(rows: list[Row]) -> str:
    lines = [
        f"| [{source}](reproductions/{source}.md) | {len(part)} | {' | '.join(map(str, _counts(part)))} |"
        for source, part in _split(rows, "source").items()
    ]
    return "\n".join([*lines, f"| **all** | {len(rows)} | {' | '.join(map(str, _counts(rows)))} |"])


def _verdict(row: Row) -> str:
    return "agree" if row["agrees"] else "explained" if row["why"] else "differ"


def page(found: Mapping[str, list[Row]]) -> str:
    """Return the text of `docs/validation.md`."""
    papers, theory, programs = (found[part] for part in ("papers", "theory", "programs"))
    hardware = [row for row in papers if row["source"] == HARDWARE]
    verdicts = Counter(map(_verdict, programs))
    failing = Counter(row.get("class", "") for row in (*papers, *theory) if row["verdict"] == FAILS)
    named = {row["program"] for row in programs} - {FORMULA}
    forms = {row["entry"] for row in programs if row["program"] == FORMULA}
    held, weak, undecided, failed = _counts(papers)
    hardware_held, hardware_weak, hardware_open, hardware_failed = _counts(hardware)
    return TEXT.read_text(encoding="utf-8").format(
        sentences=len(papers),
        papers=len({row["source"] for row in papers}),
        held=held,
        weak=weak,
        open=undecided,
        failed=failed,
        derived=len(theory),
        derived_held=_counts(theory)[0],
        derived_failed=_counts(theory)[3],
        quantities=len(programs),
        programs=len(named),
        forms=len(forms),
        scenes=len({row["entry"] for row in programs}),
        agree=verdicts["agree"],
        explained=verdicts["explained"],
        differ=verdicts["differ"],
        theory=_claims(theory),
        hardware=len(hardware),
        hardware_held=hardware_held,
        hardware_weak=hardware_weak,
        hardware_open=hardware_open,
        hardware_failed=hardware_failed,
        classes="\n".join(f"| {name} | {text} | {failing[name]} |" for name, text in CLASSES.items()),
    )


def made() -> dict[str, str]:
    """Return the text of both files by file name."""
    found = read()
    return {"validation.md": page(found), "validation.json": json.dumps(found, indent=1) + "\n"}


def write() -> None:
    """Write both files."""
    for name, text in made().items():
        (DOCS / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
