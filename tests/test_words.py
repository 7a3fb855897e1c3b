"""Pages share no paragraphs, and have one glossary and consistent numbers."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
TERM = re.compile(r"^- \*\*(.+?)\*\*: (.+?)\. \[[^]]+\]\(([^)#]+)(?:#([^)]+))?\)$", re.MULTILINE)
TERMS, WORDS = 60, 25


def paragraphs(text: str) -> set[str]:
    """Return the text of a page's paragraphs and list items, without code and tables."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    parts = re.split(r"\n\s*\n|^(?=\s*[-*] )|^(?=\s*\d+\. )", text, flags=re.MULTILINE)
    words = [
        re.findall(r"[\w']+", re.sub(r"\]\([^)]*\)", "", part).lower()) for part in parts if "|--" not in part
    ]
    return {" ".join(each) for each in words if len(each) >= WORDS}


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_no_two_pages_share_a_paragraph() -> None:
    found: dict[str, list[str]] = defaultdict(list)
    # Pages of papers are generated. Papers of one group contain identical sentences, which both pages quote.
    pages = [page for page in DOCS.rglob("*.md") if "reproductions" not in page.parts]
    for page in (*ROOT.glob("*.md"), *pages):
        for each in paragraphs(page.read_text()):
            found[each].append(str(page.relative_to(ROOT)))
    assert not {each: where for each, where in found.items() if len(where) > 1}


def test_a_shared_paragraph_is_found() -> None:
    said = " ".join(f"word{number}" for number in range(WORDS))
    other = "\n\n".join(["# Title", f"- [{said.replace(' ', chr(10), 3)}](page.md)."])
    assert paragraphs(said) & paragraphs(other)
    assert not paragraphs(f"```\n{said}\n```\n")


def test_the_glossary_is_short_and_its_links_lead_somewhere() -> None:
    text = (DOCS / "glossary.md").read_text()
    terms = TERM.findall(text)
    assert len(terms) == text.count("\n- ") <= TERMS, "a line: `- **term**: one sentence. [link](page)`"
    for name, meaning, page, anchor in terms:
        assert ". " not in meaning, f"{name}: more than one sentence"
        assert (DOCS / page).exists(), f"{name}: {page}"
        assert not anchor or anchor in anchors(DOCS / page), f"{name}: {page}#{anchor}"
    assert len({name for name, *_ in terms}) == len(terms)


def test_the_numbers_of_the_readme_are_those_of_the_validation() -> None:
    readme = (ROOT / "README.md").read_text()
    validation = " ".join((DOCS / "validation.md").read_text().split())
    papers = re.search(
        r"\[Of (\d+) sentences, (\d+) hold, (\d+) are weak, (\d+) are undecided and (\d+) fail\]",
        readme,
    )
    others = re.search(
        r"(\d+) of (\d+) quantities of (\d+) programs( and \d+ closed forms)? in (\d+) scenes agree within "
        r"their tolerances, "
        r"(\d+) differ for a known reason, and (\d+) for an unknown one",
        readme,
    )
    assert papers and others
    of, hold, weak, undecided, fail = papers.groups()
    assert f"Of {of} sentences of 5 papers, {hold} hold, {weak} hold although" in validation
    assert f"{undecided} are undecided and {fail} fail" in validation
    agree, of, programs, forms, scenes, known, unknown = others.groups("")
    assert (
        f"Of {of} quantities from {programs} other programs{forms} in {scenes} scenes, {agree} agree"
        in validation
    )
    assert f"{known} differ for a known reason, and {unknown} for an unknown one" in validation
